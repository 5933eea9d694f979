//! A transfer sent, with its report.

use std::net::SocketAddr;

use clearway_proto::units::{Bytes, Span, Time};
use serde_json::{json, Map};

use super::channels::{identity, runtime};
use super::outcome::{addresses, file_problem, spell, told, Outcome};
use crate::daemon::args::SendArgs;
use crate::daemon::content::Source;
use crate::daemon::destination;
use crate::daemon::output::{write_error, Problem, Progress};
use crate::daemon::report::sent_figures;
use crate::daemon::stops;
use crate::datagram::flow::Content;
use crate::datagram::layout::Layout;
use crate::datagram::machine::OVERHEAD_BYTES;
use crate::datagram::measured::Unmet;
use crate::datagram::socket::IP_UDP_BYTES;
use crate::datagram::Snapshot;
use crate::keys::Identity;
use crate::processor;
use crate::transfer::sending::{self, duration, SendError, Task, Watcher};
use crate::transfer::Reason;

/// The longest wait for an answer from one of several addresses, before the next is tried.
const ONE_OF_SEVERAL: Span = Span::from_secs(1);

pub(super) fn send(args: &SendArgs) -> Result<u8, Problem> {
    let identity = identity(&args.keys)?;
    send_to(args, &identity, &addresses("--to", &args.to)?)
}

/// Sends to the first of a receiver's addresses that answers.
fn send_to(args: &SendArgs, identity: &Identity, peers: &[SocketAddr]) -> Result<u8, Problem> {
    let (last, others) = peers.split_last().expect("a name without an address is an error");
    for peer in others {
        let attempt = attempt(args, identity, *peer, args.idle_timeout.min(ONE_OF_SEVERAL))?;
        if !attempt.met_nobody() || stops::status().is_some() {
            return attempt.show(args, others);
        }
    }
    attempt(args, identity, *last, args.idle_timeout)?.show(args, others)
}

/// A transfer to one address of the receiver that is over.
struct Attempt {
    peer: SocketAddr,
    layout: Layout,
    outcome: sending::Outcome,
    cpu: Span,
}

fn attempt(args: &SendArgs, identity: &Identity, peer: SocketAddr, answer: Span) -> Result<Attempt, Problem> {
    let (contents, layout) = content(args)?;
    let task = Task {
        identity,
        to: peer,
        name: args.peer.as_deref(),
        layout,
        outstanding: args.outstanding,
        contents,
        swift: args.swift().clone(),
        answer_timeout: duration(answer),
        idle_timeout: duration(args.idle_timeout),
    };
    let mut shown = Shown { progress: Progress::new(args.json), layout };
    let mut outcome = runtime()?.block_on(sending::send(task, &mut shown));
    shown.progress.clear();
    if matches!(outcome.error, Some(SendError::Closed(Reason::Interrupted))) && stops::status().is_some() {
        // Both ends were told to stop, and the other one was quicker.
        outcome.error = Some(SendError::Interrupted);
    }
    Ok(Attempt { peer, layout, outcome, cpu: processor::process_time() })
}

/// Shows a transfer while it goes on.
struct Shown {
    progress: Progress,
    layout: Layout,
}

impl Watcher for Shown {
    fn is_stopped(&mut self) -> bool {
        stops::status().is_some()
    }

    fn progress(&mut self, bytes: u64, seen: &Snapshot) {
        let now = seen.at;
        if self.progress.is_due(now) {
            self.show(now, bytes, seen);
        }
    }

    fn unmet(&mut self, unmet: &Unmet) {
        self.progress.clear();
        show_unmet(unmet);
    }

    fn fragmented(&mut self, length: usize) {
        self.progress.clear();
        write_error(&format!(
            "warning: the path does not carry datagrams of {length}B: they leave in fragments, of which the loss of one is\n  \
             the loss of all: lower --mtu\n"
        ));
    }
}

impl Shown {
    fn show(&mut self, now: Time, bytes: u64, seen: &Snapshot) {
        let latest = seen.measured.as_ref().and_then(|measured| measured.latest);
        let delays = latest.map_or(String::new(), |latest| {
            format!(", RTT {:.0} us, cwnd {:.1}", latest.rtt.as_us_f64(), latest.windows.cwnd)
        });
        self.progress.show(now, bytes, self.layout.bytes(), &delays);
    }
}

impl Attempt {
    /// Returns whether there seems to be no receiver at this address.
    fn met_nobody(&self) -> bool {
        matches!(self.outcome.error, Some(SendError::Unreached(_)))
    }

    /// Shows the transfer, before which `others` may have been tried; returns the exit status.
    fn show(self, args: &SendArgs, others: &[SocketAddr]) -> Result<u8, Problem> {
        let problem = self.outcome.error.as_ref().map(|error| self.problem(error, args, others));
        let mut head = Map::new();
        head.insert("role".into(), json!("send"));
        head.insert("peer".into(), json!(self.peer.to_string()));
        head.insert("name".into(), json!(self.outcome.peer));
        let began = self.outcome.sent.began.is_some();
        let figures = sent_figures(&self.outcome.sent, &self.layout, self.cpu);
        Outcome { head, began, figures, problem }.show(args.json)
    }

    fn problem(&self, error: &SendError, args: &SendArgs, others: &[SocketAddr]) -> Problem {
        let peer = self.peer;
        let datagram = IP_UDP_BYTES as u64 + OVERHEAD_BYTES as u64 + args.mtu.get();
        match error {
            SendError::Unreached(failure) => {
                let before: Vec<String> = others.iter().map(ToString::to_string).collect();
                let before = if before.is_empty() {
                    String::new()
                } else {
                    format!(", nor before {}", before.join(", "))
                };
                Problem { message: format!("{peer}{before}: {failure}"), remedy: failure.remedy() }
            }
            SendError::Channel(failure) => {
                Problem { message: format!("{peer}: {failure}"), remedy: failure.remedy() }
            }
            SendError::Stopped(_) => {
                Problem {
                    message: format!("{peer} made no progress for {}", spell(args.idle_timeout)),
                    remedy: Some(if self.outcome.sent.bytes == 0 {
                        format!("does the path carry UDP, to any port there, and {datagram}B with headers? (--mtu)")
                    } else {
                        "--idle-timeout waits longer".into()
                    }),
                }
            }
            SendError::Closed(reason) => {
                Problem::bare(format!("{peer} ended the transfer: {}", told(*reason)))
            }
            SendError::Interrupted => Problem::bare(format!(
                "interrupted: {} of {} bytes are acknowledged",
                self.outcome.sent.bytes,
                self.layout.bytes()
            )),
            SendError::Source(error) => {
                let file = args.file.as_ref().map_or("the source".into(), |file| file.display().to_string());
                Problem::new(format!("{file}: {error}"), "did it become shorter meanwhile?")
            }
            SendError::Socket(error) => Problem::new(format!("a UDP socket: {error}"), "is there a route?"),
        }
    }
}

fn show_unmet(unmet: &Unmet) {
    let Unmet { option, base, target, median, remedy } = *unmet;
    let scaling = target.saturating_sub(base);
    let sum = if scaling > Span::ZERO {
        format!(" + {} = {}", spell(scaling), spell(target))
    } else {
        String::new()
    };
    write_error(&format!(
        "warning: with one packet on the way, half of them took {:.0}us and more; the target, {}{sum} with all scaling, is\n  \
         below that, so the window falls to its floor and the transfer crawls: --{option} {} would do on this path\n",
        median.as_us_f64(),
        spell(base),
        spell(remedy)
    ));
}

/// The plan of a transfer: the bytes of each flow, and in which packets they go.
fn content(args: &SendArgs) -> Result<(Vec<Box<dyn Content>>, Layout), Problem> {
    let mtu = args.mtu.get() as u32;
    let (source, layout) = if let Some(path) = &args.file {
        let (file, size) = destination::open_source(path).map_err(|error| file_problem(&error))?;
        (Some(Source::file(file)), Layout { operations: u64::from(size > 0), size, mtu, flows: 1 })
    } else {
        let (operations, size) = (args.operations.unwrap_or(0), args.size.map_or(0, Bytes::get));
        (None, Layout { operations, size, mtu, flows: args.flows })
    };
    layout
        .check()
        .map_err(|message| Problem::new(message, "raise --mtu or --flows, or send less at once"))?;
    let contents = match source {
        Some(source) => vec![Box::new(source) as Box<dyn Content>],
        None => (0..layout.flows).map(|_| Box::new(Source::Generated) as Box<dyn Content>).collect(),
    };
    Ok((contents, layout))
}
