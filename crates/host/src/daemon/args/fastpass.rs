//! The options of an arbiter and of an endpoint.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "doc comments are help texts, in which a bracket is no link"
)]

use std::path::PathBuf;

use clap::Args;

use super::keys::KeysArgs;
use super::testbed::LogForm;
use crate::daemon::address::HostPort;

/// The options of `clearwayd arbiter` and `clearwayd endpoint`.
#[derive(Args, Clone, Debug, PartialEq)]
#[group(skip)]
pub struct FastpassArgs {
    /// The TOML file of the deployment, the same for all: the network, the timeslots, and a table [[host]] for each.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Whose certificate it shows: the name is that of a [[host]].
    #[command(flatten)]
    pub keys: KeysArgs,
    /// The directory where it keeps what must outlive it: the newest term, or the number of its lives.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/clearway")]
    pub state: PathBuf,
    /// The address at which Prometheus reads /metrics by HTTP. Without it: nowhere.
    #[arg(long, value_name = "HOST:PORT")]
    pub metrics: Option<HostPort>,
    /// Ends when the process of this number does, which has started it.
    #[arg(long, value_name = "PID", hide = true)]
    pub with_parent: Option<i32>,
    /// How the log is written to standard error [default: text].
    #[arg(long, value_name = "FORM")]
    pub log: Option<LogForm>,
}
