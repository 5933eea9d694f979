//! Fastpass: a centralized "zero-queue" datacenter network (SIGCOMM 2014).
//!
//! An arbiter says of every packet in which timeslot it leaves and which path it takes, so that no queue forms. What the
//! paper's figure 2 shows as boxes are modules here: [`allocator`] is the timeslot allocation (§3, figures 3 and 4), [`paths`]
//! the path selection (§4), [`fcp`] the control protocol (§5). [`timeslots`] says how time is cut. [`endpoint`] and
//! [`arbiter`] are the two machines that speak FCP; [`isolator`] finds failed links from what endpoints lose (§6).

pub mod allocator;
pub mod arbiter;
pub mod endpoint;
pub mod endpoint_parameters;
pub mod fcp;
pub mod isolator;
pub mod paths;
mod recent;
pub mod timeslots;
pub mod transport;
