//! Any bytes are a plan, or refused; see [`clearway_fuzz::plan`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::plan(bytes));
