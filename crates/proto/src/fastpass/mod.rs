//! Fastpass: a centralized "zero-queue" datacenter network (SIGCOMM 2014).
//!
//! An arbiter says of every packet in which timeslot it leaves and which path it takes, so that no queue forms. What the
//! paper's figure 2 shows as boxes are modules here: [`allocator`] is the timeslot allocation (§3, figures 3 and 4), [`paths`]
//! the path selection (§4), [`fcp`] the Fastpass control protocol, FCP (§5). [`timeslots`] says how time is cut. The endpoint
//! (§5, §6), in each host, and the arbiter are the two machines that speak FCP: [`endpoint`] and [`arbiter`]. [`isolator`] finds
//! failed links from the losses that endpoints report (§6), and [`transport`] is the reliable transport above an endpoint.
//! [`filling`] is the queues in a host from which slots are filled.

pub mod allocator;
pub mod arbiter;
pub mod endpoint;
pub mod endpoint_parameters;
pub mod fcp;
pub mod filling;
pub mod isolator;
pub mod paths;
pub mod receipts;
mod recent;
pub mod rotation;
pub mod timeslots;
pub mod transport;
