//! Any bytes are a control packet of Fastpass or an error; see [`clearway_fuzz::fcp`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::fcp(bytes));
