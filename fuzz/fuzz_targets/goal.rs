//! Any bytes are a job in GOAL's format or are refused; see [`clearway_fuzz::goal`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::goal(bytes));
