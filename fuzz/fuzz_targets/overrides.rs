//! Any lines are overrides of a scenario or are refused; see [`clearway_fuzz::overrides`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::overrides(bytes));
