//! The options of a relay.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "doc comments are help texts, in which a bracket is no link"
)]

use std::path::PathBuf;

use clap::Args;

use super::testbed::LogForm;
use crate::daemon::address::HostPort;

/// The options of `clearwayd relay`.
#[derive(Args, Clone, Debug, PartialEq)]
#[group(skip)]
pub struct RelayArgs {
    /// The interface to the local switch.
    #[arg(long, value_name = "INTERFACE")]
    pub local: String,
    /// The interface to the long link.
    #[arg(long, value_name = "INTERFACE")]
    pub remote: String,
    /// The TOML file of the relay: one table, [relay], with the rate, the delay and the lossless priorities.
    #[arg(long, value_name = "FILE", required_unless_present_any = ["remove", "status", "measure"])]
    pub config: Option<PathBuf>,
    /// Take the place of the relay that is at work between these interfaces, if there is one: what waits in it is handed over, and nothing passes by.
    #[arg(long, requires = "config")]
    pub replace: bool,
    /// Take from both interfaces what a relay has left there. Without a relay, nothing passes between them from then on.
    #[arg(long, conflicts_with = "config")]
    pub remove: bool,
    /// Tell what the relay between these interfaces is doing.
    #[arg(long, conflicts_with_all = ["config", "remove"])]
    pub status: bool,
    /// Measure the delay of the long link: the relay between these interfaces sends probes, and the one at the other end turns them around. Ends with
    /// 1 where nothing comes back, or the link is longer than the relay's file says.
    #[arg(long, conflicts_with_all = ["config", "remove", "status"])]
    pub measure: bool,
    /// With --status or --measure: print one JSON object and nothing else.
    #[arg(long, conflicts_with_all = ["config", "remove"])]
    pub json: bool,
    /// The address at which Prometheus reads /metrics by HTTP. Without it: nowhere.
    #[arg(long, value_name = "HOST:PORT")]
    pub metrics: Option<HostPort>,
    /// How the log is written to standard error [default: text].
    #[arg(long, value_name = "FORM")]
    pub log: Option<LogForm>,
}
