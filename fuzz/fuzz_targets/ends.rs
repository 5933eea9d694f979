//! Two ends under any sequence of datagrams and times; see [`clearway_fuzz::ends`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| clearway_fuzz::ends(bytes));
