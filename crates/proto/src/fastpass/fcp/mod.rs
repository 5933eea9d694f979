//! FCP, the Fastpass control protocol (§5): requests from endpoints, allocations from the arbiter, and what arbiters tell
//! each other. [`message`] is what is said, [`header`] how it is written.

pub mod header;
mod heard;
mod list;
pub mod message;

pub use heard::News;
pub use list::List;
pub use message::{
    Address, Allocation, Demand, Grant, Granted, Heard, Packet, Path, PathReport, Request, Reset, Watchdog,
};
