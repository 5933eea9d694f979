//! Transfers over loopback, by both libraries.

#[path = "../examples/transfer/mod.rs"]
mod transfer;

mod loopback;
