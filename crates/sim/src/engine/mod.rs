//! Virtual time: events, the calendar that keeps them, the order of one node's, and the digest of what happened.

pub mod agenda;
pub mod batches;
pub mod calendar;
pub mod digest;
pub mod event;
mod heap;
pub mod order;
pub mod windows;
