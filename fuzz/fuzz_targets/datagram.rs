//! Any bytes are a datagram or an error; see [`clearway_fuzz::datagram`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::datagram(bytes));
