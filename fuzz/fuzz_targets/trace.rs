//! Any bytes are a trace or are refused; see [`clearway_fuzz::trace`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::trace(bytes));
