//! What `clearwayd tcp` is asked for.

use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use clearway_proto::parameter::Parameters;
use clearway_proto::swift::SwiftParams;

use super::options::{option, Definitions, Given, STATUS};
use crate::daemon::output::Problem;
use crate::tcp::parameters::{defaults, read};

/// The subcommands of `clearwayd tcp`: Swift in the kernel's TCP.
#[derive(Clone, Debug, PartialEq, Subcommand)]
pub enum TcpCommand {
    /// Load Swift into the kernel and offer it to all sockets, until it is removed or the machine restarts.
    #[command(after_help = STATUS)]
    Install(InstallArgs),
    /// Show what is installed, and each socket that has Swift.
    #[command(after_help = STATUS)]
    Status(StatusArgs),
    /// Change parameters while sockets use them; what is not named stays.
    #[command(after_help = STATUS)]
    Set(KernelSwift),
    /// Take Swift out of the kernel. Sockets that have it keep it until they are closed.
    #[command(after_help = STATUS)]
    Remove,
}

/// How Swift is installed.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct InstallArgs {
    /// Tell the other end of each new connection, in an option of TCP's header, how long acknowledgements waited here, and take that
    /// from the delay that it tells. Both ends have to.
    #[arg(long)]
    pub echo: bool,
    /// The parameters.
    #[command(flatten)]
    pub swift: KernelSwift,
}

/// How `clearwayd tcp status` is to look.
#[derive(Args, Clone, Debug, PartialEq)]
pub struct StatusArgs {
    /// Print one JSON object and nothing else.
    #[arg(long)]
    pub json: bool,
    /// Print the same in the text format that Prometheus reads.
    #[arg(long, conflicts_with = "json")]
    pub metrics: bool,
}

/// Swift's parameters for a kernel's TCP, as they were given.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelSwift(ArgMatches);

impl KernelSwift {
    /// Returns the parameters; what was not given is as in `otherwise`.
    pub fn params(&self, otherwise: &SwiftParams) -> Result<SwiftParams, Vec<Problem>> {
        let mut given = Given::new(&self.0);
        let params = read(&mut given, otherwise);
        for conflict in params.conflicts() {
            let message = conflict.message(|name| format!("--{}", option(name)));
            given.problems.push(Problem::new(message, "change one of them"));
        }
        if given.problems.is_empty() {
            Ok(params)
        } else {
            Err(given.problems)
        }
    }

    /// Returns whether any parameter was given.
    pub fn says_anything(&self) -> bool {
        self.0.ids().next().is_some()
    }
}

impl Args for KernelSwift {
    fn augment_args(command: clap::Command) -> clap::Command {
        let mut definitions = Definitions::default();
        read(&mut definitions, &defaults());
        command.next_help_heading("Swift").args(definitions.args)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for KernelSwift {
    fn from_arg_matches(matches: &ArgMatches) -> Result<KernelSwift, clap::Error> {
        Ok(KernelSwift(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
