//! How a transfer ended, as it is shown, and the words for what went wrong.

use std::io;
use std::net::SocketAddr;

use clearway_proto::quantity;
use clearway_proto::units::Span;
use serde_json::{json, Map, Value};

use crate::daemon::address::HostPort;
use crate::daemon::destination::FileError;
use crate::daemon::output::{print, Problem};
use crate::daemon::report::Figures;
use crate::daemon::stops;
use crate::transfer::Reason;

/// The exit status of what failed.
pub(super) const FAILED: u8 = 1;
/// The exit status of bad input.
pub(super) const BAD_INPUT: u8 = 2;

/// A transfer that is over, as it is shown.
pub(super) struct Outcome {
    /// What JSON says of the transfer before its figures.
    pub head: Map<String, Value>,
    /// Whether there was a connection, so that there is more than a problem to show.
    pub began: bool,
    pub figures: Figures,
    pub problem: Option<Problem>,
}

impl Outcome {
    /// Writes the figures and the problem, and returns the exit status. To be unable to write the figures of a transfer
    /// that went well is an error.
    pub fn show(mut self, json: bool) -> Result<u8, Problem> {
        let printed = if json {
            self.head.insert("ok".into(), json!(self.problem.is_none()));
            self.head.insert("error".into(), json!(self.problem.as_ref().map(|problem| &problem.message)));
            print(&format!("{:#}\n", self.figures.json(self.head)))
        } else if self.began {
            let role = self.head["role"].as_str().unwrap_or("");
            let (verb, peer) = (if role == "send" { "sent to" } else { "received from" }, &self.head["peer"]);
            let how = if self.problem.is_none() { "" } else { " (failed)" };
            print(&format!("{verb} {}{how}\n{}", peer.as_str().unwrap_or(""), self.figures.table()))
        } else {
            Ok(())
        };
        let Some(problem) = self.problem else { return printed.map(|()| 0) };
        problem.show();
        if let Err(problem) = printed {
            problem.show();
        }
        Ok(stops::status().unwrap_or(FAILED))
    }
}

/// The addresses of a host, in the order in which they are to be tried.
pub(super) fn addresses(option: &str, host: &HostPort) -> Result<Vec<SocketAddr>, Problem> {
    stops::unless_stopped(|| host.addresses()).map_err(|error| {
        Problem::new(
            format!("{option}: {host}: {error}"),
            "is the name right? An address such as 10.0.0.2 needs no name service",
        )
    })
}

/// The address of `--metrics`, if it is given.
pub(super) fn metrics_address(metrics: Option<&HostPort>) -> Result<Option<SocketAddr>, Problem> {
    metrics.map(|metrics| Ok(addresses("--metrics", metrics)?[0])).transpose()
}

pub(super) fn file_problem(error: &FileError) -> Problem {
    Problem::new(format!("{}: {}", error.named.display(), error.what), error.remedy)
}

pub(super) fn told(reason: Reason) -> &'static str {
    match reason {
        Reason::Busy => "it has another sender, and takes one at a time",
        Reason::Layout => "it does not take this many bytes, or packets of this size",
        Reason::File => "it could not read or write its file",
        Reason::Idle => "it saw no progress",
        Reason::Interrupted => "it was interrupted",
        Reason::Socket => "its socket failed",
    }
}

pub(super) fn spell(span: Span) -> String {
    quantity::spell(span.as_ps(), quantity::TIME)
}

pub(super) fn trouble(what: &str, error: &io::Error) -> Problem {
    Problem::bare(format!("{what}: {error}"))
}
