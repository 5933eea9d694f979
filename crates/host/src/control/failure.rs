//! Why a channel did not come about, or ended.

use std::fmt;
use std::io;

use quinn::{ConnectionError, ReadError, WriteError};

use super::hello::VERSION;
use crate::daemon::output::Problem;

/// Reasons for which a control channel is refused or does not come about, as metrics name them: those of [`Failure::reason`], and two
/// of agents.
pub const REASONS: [&str; 10] = [
    "no_answer",
    "silent",
    "closed",
    "certificate",
    "own_certificate",
    "version",
    "malformed",
    "other",
    "busy",
    "purpose",
];

/// Why there is no channel, or no longer.
#[derive(Debug)]
pub enum Failure {
    /// Nobody answered in time.
    NoAnswer,
    /// The peer has not been heard for too long.
    Silent,
    /// The peer has closed the channel.
    Closed,
    /// The peer does not believe this end's certificate; what it says of it.
    Refused(&'static str),
    /// The peer's certificate is not believed; why.
    Disbelieved(String),
    /// The peer speaks another version of this.
    Version {
        /// The version that it speaks.
        theirs: u32,
        /// The Clearway that it is of.
        clearway: String,
    },
    /// A message of this many bytes is longer than any may be.
    TooLong(usize),
    /// A message that is none; why.
    Senseless(String),
    /// No socket could be had.
    Socket(io::Error),
    /// Something is wrong at this end.
    Problem(Problem),
    /// Anything else.
    Other(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NoAnswer => write!(f, "no answer"),
            Failure::Silent => write!(f, "it fell silent"),
            Failure::Closed => write!(f, "it closed the control channel"),
            Failure::Refused(why) => write!(f, "it refuses this host's certificate: {why}"),
            Failure::Disbelieved(why) => write!(f, "its certificate is refused: {why}"),
            Failure::Version { theirs, clearway } => {
                write!(
                    f,
                    "it is Clearway {clearway} and speaks version {theirs}, where this one speaks {VERSION}"
                )
            }
            Failure::TooLong(length) => write!(f, "a message of {length} bytes"),
            Failure::Senseless(why) => write!(f, "a message that makes no sense: {why}"),
            Failure::Socket(error) => write!(f, "{error}"),
            Failure::Problem(problem) => write!(f, "{}", problem.message),
            Failure::Other(what) => write!(f, "{what}"),
        }
    }
}

impl Failure {
    /// The reason's name, one of [`REASONS`].
    pub fn reason(&self) -> &'static str {
        match self {
            Failure::NoAnswer => "no_answer",
            Failure::Silent => "silent",
            Failure::Closed => "closed",
            Failure::Disbelieved(_) => "certificate",
            Failure::Refused(_) => "own_certificate",
            Failure::Version { .. } => "version",
            Failure::TooLong(_) | Failure::Senseless(_) => "malformed",
            Failure::Socket(_) | Failure::Problem(_) | Failure::Other(_) => "other",
        }
    }

    /// What a person can do about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        let text = match self {
            Failure::NoAnswer => "is it running there, and does the network let UDP through to that port?",
            Failure::Refused(_) | Failure::Disbelieved(_) => {
                "both need certificates that clearwayd keys made in one directory, and clocks that are right"
            }
            Failure::Version { .. } => "install the same Clearway at both",
            Failure::Problem(problem) => return problem.remedy.clone(),
            _ => return None,
        };
        Some(text.into())
    }

    /// The failure as a problem of the peer called `whom`.
    pub fn problem(self, whom: &str) -> Problem {
        match self {
            Failure::Problem(problem) => problem,
            other => Problem { message: format!("{whom}: {other}"), remedy: other.remedy() },
        }
    }
}

/// TLS's alerts (RFC 8446 §6.2) as QUIC carries them (RFC 9001 §4.8).
fn alert(code: u64) -> Option<&'static str> {
    Some(match code.checked_sub(0x100)? {
        42 => "it is not one",
        45 => "it has expired, or does not hold yet",
        48 => "another authority has signed it",
        49 => "it may not do this",
        51 => "another authority has signed it, or somebody has changed it",
        116 => "there is none",
        120 => "this is no control channel of Clearway",
        _ => return None,
    })
}

/// Why a connection ended.
pub(super) fn of(error: &ConnectionError) -> Failure {
    match error {
        ConnectionError::TimedOut => Failure::Silent,
        ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed | ConnectionError::Reset => {
            Failure::Closed
        }
        ConnectionError::ConnectionClosed(close) => match alert(close.error_code.into()) {
            Some(why) => Failure::Refused(why),
            None => Failure::Other(close.to_string()),
        },
        // What this end says of the peer's certificate.
        ConnectionError::TransportError(said) => match alert(said.code.into()) {
            Some(why) => Failure::Disbelieved(why.into()),
            None => Failure::Other(said.to_string()),
        },
        other => Failure::Other(other.to_string()),
    }
}

/// Why a connection that was dialed did not come about.
pub(super) fn of_dialing(error: &ConnectionError, name: Option<&str>) -> Failure {
    match error {
        ConnectionError::TimedOut => Failure::NoAnswer,
        // What this end says of the peer's certificate.
        ConnectionError::TransportError(said) if said.reason.contains("not valid for name") => {
            Failure::Disbelieved(format!("it is not that of {}", name.unwrap_or("a peer")))
        }
        other => of(other),
    }
}

/// Why nothing more can be read.
pub(super) fn of_reading(error: &ReadError) -> Failure {
    match error {
        ReadError::ConnectionLost(lost) => of(lost),
        ReadError::Reset(_) | ReadError::ClosedStream => Failure::Closed,
        other => Failure::Other(other.to_string()),
    }
}

/// Why nothing more can be written.
pub(super) fn of_writing(error: &WriteError) -> Failure {
    match error {
        WriteError::ConnectionLost(lost) => of(lost),
        WriteError::Stopped(_) | WriteError::ClosedStream => Failure::Closed,
        WriteError::ZeroRttRejected => Failure::Other(error.to_string()),
    }
}
