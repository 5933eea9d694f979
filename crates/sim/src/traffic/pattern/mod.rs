//! The patterns of traffic: how many flows each makes, what they need, and who they join.
//!
//! Each pattern is a file and a line of [`of`].

mod all_to_all;
mod closed_loop;
mod contract;
mod incast;
mod job;
mod loops;
mod open_loop;
mod permutation;
mod poisson;
mod trace;

pub use contract::{MostOffered, OfferedLoad, OperationCount, OperationLoop, TrafficPattern};

use crate::model::Pattern;

/// Returns what a pattern of the model does.
pub fn of(pattern: &Pattern) -> Box<dyn TrafficPattern + '_> {
    match pattern {
        Pattern::Incast { from, to, flows_per_pair, bytes } => {
            Box::new(incast::Incast { from, to: *to, flows_per_pair: *flows_per_pair, bytes: *bytes })
        }
        Pattern::Permutation { hosts, flows_per_pair, bytes } => {
            Box::new(permutation::Permutation { hosts, flows_per_pair: *flows_per_pair, bytes: *bytes })
        }
        Pattern::AllToAll { hosts, flows_per_pair, bytes } => {
            Box::new(all_to_all::AllToAll { hosts, flows_per_pair: *flows_per_pair, bytes: *bytes })
        }
        Pattern::Poisson { from, to, load, sizes } => {
            Box::new(poisson::Poisson { from, to, load: *load, sizes })
        }
        Pattern::ClosedLoop { operations, outstanding } => {
            Box::new(closed_loop::ClosedLoop { operations, outstanding: *outstanding })
        }
        Pattern::OpenLoop { operations, arrivals, offered, backlog } => {
            let (arrivals, offered, backlog) = (*arrivals, *offered, *backlog);
            Box::new(open_loop::OpenLoop { operations, arrivals, offered, backlog })
        }
        Pattern::Job(job) => Box::new(job::Messages { job }),
        Pattern::Trace { flows } => Box::new(trace::Trace { flows }),
    }
}
