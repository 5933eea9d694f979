//! Any script of frames, PAUSEs and time leaves a relay's frames in order and accounted for; see [`clearway_fuzz::relay`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::relay(bytes));
