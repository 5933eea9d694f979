//! Any bytes are what a controller or an agent says; see [`clearway_fuzz::control`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::control(bytes));
