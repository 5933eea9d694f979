//! Any bytes are datagrams to an endpoint, which takes them or counts them; see [`clearway_fuzz::datagram`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::datagram(bytes));
