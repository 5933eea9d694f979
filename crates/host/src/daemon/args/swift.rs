//! Swift's parameters as options: names, meanings and ranges are Swift's own, as in a scenario.

use clap::{ArgMatches, Args, FromArgMatches};
use clearway_proto::parameter::Parameters;
use clearway_proto::swift::SwiftParams;

use super::options::{option, Definitions, Given};
use crate::daemon::output::Problem;
use crate::datagram::flow::defaults;

/// Swift's parameters as they were given, and what is wrong with them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Swift {
    pub(super) params: SwiftParams,
    pub(super) problems: Vec<Problem>,
}

impl Args for Swift {
    fn augment_args(command: clap::Command) -> clap::Command {
        let mut definitions = Definitions::default();
        SwiftParams::read(&mut definitions, &defaults());
        command.next_help_heading("Swift").args(definitions.args)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Swift {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Swift, clap::Error> {
        let mut given = Given::new(matches);
        let params = SwiftParams::read(&mut given, &defaults());
        for conflict in params.conflicts() {
            let message = conflict.message(|name| format!("--{}", option(name)));
            given.problems.push(Problem::new(message, "change one of them"));
        }
        Ok(Swift { params, problems: given.problems })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
