//! Any bytes are a header or an error; see [`clearway_fuzz::header`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::header(bytes));
