//! Any bytes are a topology file or are refused; see [`clearway_fuzz::topology`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::topology(bytes));
