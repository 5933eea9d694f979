//! Virtual time: events, the queue that orders them, and the digest of what happened.

pub mod digest;
pub mod event;
mod heap;
mod lane;
pub mod prefetch;
pub mod queue;
