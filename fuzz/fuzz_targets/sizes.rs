//! Any bytes are a distribution of sizes or are refused; see [`clearway_fuzz::sizes`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::sizes(bytes));
