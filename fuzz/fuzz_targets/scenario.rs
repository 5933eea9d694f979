//! Any text is a scenario or is refused; see [`clearway_fuzz::scenario`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::scenario(bytes));
