//! The options of a testbed's commands.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "doc comments are help texts, in which a bracket is no link"
)]

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::keys::KeysArgs;
use crate::daemon::address::HostPort;

/// Where an agent's control channel is unless another place is named.
const LISTEN: &str = "[::]:7400";
/// The agent of this host.
const HERE: &str = "127.0.0.1:7400";

/// What `clearwayd agent` is to do. Each option may stand in its file instead; the command line goes before.
#[derive(Args, Clone, Debug, Default, PartialEq)]
#[group(skip)]
pub struct AgentArgs {
    /// The directory with this host's certificate and key, and the authority's certificate (clearwayd keys).
    #[arg(long, value_name = "DIR", required_unless_present = "config")]
    pub keys: Option<PathBuf>,
    /// Which of the certificates there is this host's. Without it: the only one, or that of the host's name.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The address to wait for controllers at [default: [::]:7400, which is all addresses].
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<HostPort>,
    /// The address of this host that traffic comes to and leaves from. Without it: what the controller's hosts.toml says.
    #[arg(long, value_name = "ADDRESS")]
    pub data: Option<IpAddr>,
    /// The address at which Prometheus reads /metrics by HTTP. Without it: nowhere.
    #[arg(long, value_name = "HOST:PORT")]
    pub metrics: Option<HostPort>,
    /// How the log is written to standard error [default: text].
    #[arg(long, value_name = "FORM")]
    pub log: Option<LogForm>,
    /// The user to become, for good, once everything is open. Needs root.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// A TOML file with these options as keys, such as listen = "[::]:7400". It is read again at SIGHUP, as the certificates are.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The form of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogForm {
    /// Lines for people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

impl AgentArgs {
    /// The address to wait for controllers at.
    pub fn listen(&self) -> HostPort {
        self.listen.clone().unwrap_or_else(|| LISTEN.parse().expect("an address"))
    }
}

/// What `clearwayd testbed` is to do.
#[derive(Args, Clone, Debug, PartialEq)]
#[group(skip)]
pub struct TestbedArgs {
    /// The plan, as clearway testbed run writes it.
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// A TOML file with a table [[host]] for each host: name, control and, where it differs, data.
    #[arg(long, value_name = "FILE")]
    pub hosts: PathBuf,
    /// Whose certificate it shows.
    #[command(flatten)]
    pub keys: KeysArgs,
}

/// What `clearwayd status` is to do.
#[derive(Args, Clone, Debug, PartialEq)]
#[group(skip)]
pub struct AgentStatusArgs {
    /// The agent.
    #[arg(long, value_name = "HOST:PORT", default_value = HERE)]
    pub agent: HostPort,
    /// Whose certificate is shown to it.
    #[command(flatten)]
    pub keys: KeysArgs,
    /// Print one JSON object and nothing else.
    #[arg(long)]
    pub json: bool,
}
