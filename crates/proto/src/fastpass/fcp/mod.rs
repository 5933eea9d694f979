//! FCP, the Fastpass control protocol (§5): requests from endpoints, allocations and resets from the arbiter, and the watchdogs
//! by which arbiters know of each other. [`message`] says what each packet means, [`header`] how it is written in bytes.

mod grants;
pub mod header;
mod heard;
mod list;
pub mod message;
mod numbers;

pub use grants::{Grant, Grants, MOST_GAP};
pub use heard::News;
pub use list::List;
pub use message::{
    Address, Allocation, Demand, Granted, Heard, Packet, Path, PathReport, Request, Reset, Watchdog,
};
