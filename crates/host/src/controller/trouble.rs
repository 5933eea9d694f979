//! Why a run with an agent did not come about.

use super::hosts::Host;
use crate::control::Failure;
use crate::daemon::output::Problem;

/// Why there is no run with an agent.
#[derive(Debug)]
pub enum Trouble {
    /// The control channel did not come about, or ended.
    Channel(Failure),
    /// It has another controller.
    Busy(String),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Channel(failure)
    }
}

impl Trouble {
    /// The trouble as a problem of a host.
    pub fn problem(self, host: &Host) -> Problem {
        let whom = format!("{} at {}", host.name, host.control);
        match self {
            Trouble::Channel(failure) => failure.problem(&whom),
            Trouble::Busy(with) => Problem::new(
                format!("{whom}: it is busy with a run of {with}"),
                "wait until that is over: clearwayd status tells how far it is",
            ),
        }
    }
}
