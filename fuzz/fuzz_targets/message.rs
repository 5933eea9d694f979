//! Any bytes are a message of a control channel or an error; see [`clearway_fuzz::message`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::message(bytes));
