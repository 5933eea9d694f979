//! FCP, the Fastpass control protocol (§5): requests from endpoints, allocations and resets from the arbiter, the watchdogs
//! by which arbiters know of each other, and the trials of failed links. [`message`] says what each packet means, [`header`] how it is written in bytes.

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
    Address, Allocation, Answer, Demand, Granted, Heard, Packet, Path, PathReport, Request, Reset, Trial,
    Watchdog,
};
