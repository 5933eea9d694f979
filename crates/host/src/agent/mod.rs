//! An agent: it waits for a controller, sources and sinks the flows that this tells it of, and reports.
//!
//! [`Agent::serve`] is its work. It has one controller at a time, talks with it in the thread of the control channels, and gives its
//! run threads of its own: some that move bytes, one that paces flows by a [`schedule`], one that samples. A controller
//! that falls silent or goes away takes its run with it.

mod drops;
mod expected;
mod fastpass;
mod flows;
mod limits;
mod metrics;
mod pace;
mod probe;
mod quic;
mod refusal;
mod run;
pub mod schedule;
mod serve;
mod session;
mod state;
mod tcp;
mod ticket;
mod totals;
mod udp;

pub use serve::{Agent, Reloaded, Settings};
