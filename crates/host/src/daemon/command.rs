//! What the daemon does with a command line: one transfer sent, or transfers received, each with its report.

mod outcome;
mod receiving;
#[cfg(feature = "tcp")]
mod tcp;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;

use clearway_proto::units::{Bytes, Span, Time};
use serde_json::{json, Map};

use crate::daemon::args::{self, Command, SendArgs};
use crate::daemon::clock::Clock;
use crate::daemon::content::Source;
use crate::daemon::destination::{self};
use crate::daemon::driver::drive;
use crate::daemon::layout::Layout;
use crate::daemon::output::{print, write_error, Problem, Progress};
use crate::daemon::packet::{Reason, IP_UDP_BYTES, PREFIX_BYTES};
use crate::daemon::report::{sent_figures, Effort, Sent};
use crate::daemon::send::{SendError, Sending, Task, Unmet};
use crate::daemon::socket::Socket;
use crate::daemon::stops;
use crate::processor;
use outcome::{addresses, file_problem, spell, told, trouble, Outcome};
use receiving::receive;

const BAD_INPUT: u8 = 2;
/// The longest wait for an answer from one of several addresses, before the next is tried.
const ONE_OF_SEVERAL: Span = Span::from_secs(1);

/// Runs a command line, without the program's name, and returns the exit status. A closed standard output is an error,
/// because nothing could be said.
pub fn run(args: impl IntoIterator<Item = OsString>, closed: bool) -> u8 {
    if closed {
        Problem::new("standard output: closed", "redirect it to a file or to /dev/null").show();
        return BAD_INPUT;
    }
    if let Err(error) = stops::listen() {
        trouble("signals", &error).show();
        return BAD_INPUT;
    }
    let done = match args::read(args) {
        Ok(Command::Show(text)) => print(&text).map(|()| 0),
        Ok(Command::Send(args)) => send(&args),
        Ok(Command::Receive(args)) => receive(&args),
        #[cfg(feature = "tcp")]
        Ok(Command::Tcp(command)) => tcp::tcp(&command),
        #[cfg(not(feature = "tcp"))]
        Ok(Command::Tcp(_)) => Err(Problem::new(
            "this clearwayd was built without TCP, for want of libelf",
            "install libelf and zlib with their headers, and pkg-config (Debian and Ubuntu: apt-get install libelf-dev zlib1g-dev pkg-config), and build it anew",
        )),
        Err(problems) => {
            problems.iter().for_each(Problem::show);
            return BAD_INPUT;
        }
    };
    done.unwrap_or_else(|problem| {
        problem.show();
        stops::status().unwrap_or(BAD_INPUT)
    })
}

fn send(args: &SendArgs) -> Result<u8, Problem> {
    send_to(args, &addresses("--to", &args.to)?)
}

/// Sends to the first of a receiver's addresses that answers.
fn send_to(args: &SendArgs, peers: &[SocketAddr]) -> Result<u8, Problem> {
    let (last, others) = peers.split_last().expect("a name without an address is an error");
    for peer in others {
        // An error that all addresses share is the last one's, too.
        let Ok(attempt) = attempt(args, *peer, args.idle_timeout.min(ONE_OF_SEVERAL)) else { continue };
        if !attempt.met_nobody() || stops::status().is_some() {
            return attempt.show(args, others);
        }
    }
    attempt(args, *last, args.idle_timeout)?.show(args, others)
}

/// A transfer to one address of the receiver that is over.
struct Attempt {
    peer: SocketAddr,
    connection: u64,
    layout: Layout,
    sent: Sent,
    error: Option<SendError>,
    effort: Effort,
}

fn attempt(args: &SendArgs, peer: SocketAddr, answer_timeout: Span) -> Result<Attempt, Problem> {
    let (source, layout) = content(args)?;
    let any: SocketAddr = if peer.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
    let mut socket = Socket::bind(any).map_err(|e| trouble("a UDP socket", &e))?;
    let mut clock = Clock::start();
    let connection = connection().map_err(|e| trouble("/dev/urandom", &e))?;
    let task = Task {
        peer,
        connection,
        layout,
        outstanding: args.outstanding,
        source,
        swift: args.swift().clone(),
        answer_timeout,
        idle_timeout: args.idle_timeout,
    };
    let mut sending = Sending::new(clock.now(), task);
    let mut progress = Progress::new(args.json);
    let mut warned = false;
    drive(&mut socket, &mut clock, &mut sending, |sending, now| {
        if let Some(unmet) = sending.unmet_target().filter(|_| !warned) {
            warned = true;
            progress.clear();
            show_unmet(&unmet);
        }
        if progress.is_due(now) {
            show_progress(&mut progress, now, sending, &layout);
        }
        if stops::status().is_some() {
            sending.interrupt();
        }
        sending.is_over()
    })
    .map_err(|e| trouble("the socket", &e))?;
    progress.clear();
    let (sent, mut error) = sending.into_report();
    if matches!(error, Some(SendError::Closed(Reason::Interrupted))) && stops::status().is_some() {
        // Both ends were told to stop, and the other one was quicker.
        error = Some(SendError::Interrupted);
    }
    let effort = Effort { cpu: processor::process_time(), overflow: socket.overflow() };
    Ok(Attempt { peer, connection, layout, sent, error, effort })
}

impl Attempt {
    /// Returns whether there seems to be no receiver at this address.
    fn met_nobody(&self) -> bool {
        matches!(self.error, Some(SendError::NoAnswer(_) | SendError::Unsendable(_)))
    }

    /// Shows the transfer, before which `others` may have been tried; returns the exit status.
    fn show(self, args: &SendArgs, others: &[SocketAddr]) -> Result<u8, Problem> {
        let problem = self.error.as_ref().map(|error| self.problem(error, args, others));
        let mut head = Map::new();
        head.insert("role".into(), json!("send"));
        head.insert("peer".into(), json!(self.peer.to_string()));
        head.insert("connection".into(), json!(format!("{:016x}", self.connection)));
        let began = self.sent.began.is_some();
        let figures = sent_figures(&self.sent, &self.layout, &self.effort);
        Outcome { head, began, figures, problem }.show(args.json)
    }

    fn problem(&self, error: &SendError, args: &SendArgs, others: &[SocketAddr]) -> Problem {
        let peer = self.peer;
        let before: Vec<String> = others.iter().map(ToString::to_string).collect();
        let before = if before.is_empty() {
            String::new()
        } else {
            format!(", nor before from {}", before.join(", "))
        };
        let datagram = PREFIX_BYTES as u64 + args.mtu.get();
        let (message, remedy) = match error {
            SendError::NoAnswer(attempts) => (
                format!(
                    "no answer from {peer} to {attempts} attempts in {}{before}",
                    spell(args.idle_timeout)
                ),
                if self.sent.ignored.address > 0 {
                    "it was answered from another address: let the receiver --listen at this one".into()
                } else {
                    format!(
                        "is clearwayd receive running there, and does the path carry {}B with headers? (--mtu)",
                        datagram + IP_UDP_BYTES as u64
                    )
                },
            ),
            SendError::Stopped(idle) => (
                format!("{peer} made no progress for {}", spell(*idle)),
                "--idle-timeout waits longer".into(),
            ),
            SendError::Closed(reason) => {
                (format!("{peer} ended the connection: {}", told(*reason)), String::new())
            }
            SendError::Differs => (
                format!("{peer} has other bytes than were sent"),
                "something between the two changes data, or the file changed meanwhile: send it again".into(),
            ),
            SendError::NotKept => {
                (format!("{peer} could not keep what it received"), "look at its error".into())
            }
            SendError::Interrupted => (
                format!("interrupted: {} of {} bytes are acknowledged", self.sent.bytes, self.layout.bytes()),
                String::new(),
            ),
            SendError::Source(error) => {
                let file = args.file.as_ref().map_or("the source".into(), |file| file.display().to_string());
                (format!("{file}: {error}"), "did it become shorter meanwhile?".into())
            }
            SendError::Unsendable(error) => (
                format!("a datagram of {datagram}B to {peer} cannot be sent: {error}"),
                "is there a route, and is the packet small enough for it? (--mtu)".into(),
            ),
        };
        Problem { message, remedy: Some(remedy).filter(|remedy| !remedy.is_empty()) }
    }
}

fn show_progress(progress: &mut Progress, now: Time, sending: &mut Sending, layout: &Layout) {
    let sent = sending.report();
    let delays = sent.delays.latest().map_or(String::new(), |latest| {
        format!(", RTT {:.0} us, cwnd {:.1}", latest.rtt.as_us_f64(), latest.windows.cwnd)
    });
    progress.show(now, sent.bytes, layout.bytes(), &delays);
}

fn show_unmet(unmet: &Unmet) {
    let Unmet { option, base, target, least } = *unmet;
    let scaling = target.saturating_sub(base);
    let sum = if scaling > Span::ZERO {
        format!(" + {} = {}", spell(scaling), spell(target))
    } else {
        String::new()
    };
    let least = format!("{:.1}us", least.as_us_f64());
    write_error(&format!(
        "warning: the smallest delay so far is {least}; the target, {}{sum} with all scaling, is below it,\n  \
         so the window falls to its floor and the transfer crawls: raise --{option}\n",
        spell(base)
    ));
}

/// The plan of a transfer: what to send, and in which packets.
fn content(args: &SendArgs) -> Result<(Source, Layout), Problem> {
    let mtu = args.mtu.get() as u32;
    let (source, layout) = if let Some(path) = &args.file {
        let (file, size) = destination::open_source(path).map_err(|error| file_problem(&error))?;
        (Source::file(file), Layout { operations: u64::from(size > 0), size, mtu, flows: 1 })
    } else {
        let (operations, size) = (args.operations.unwrap_or(0), args.size.map_or(0, Bytes::get));
        let layout = Layout { operations, size, mtu, flows: args.flows };
        (Source::Generated, layout)
    };
    layout
        .check()
        .map_err(|message| Problem::new(message, "raise --mtu or --flows, or send less at once"))?;
    Ok((source, layout))
}

/// A random number that nobody can guess.
fn connection() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests;
