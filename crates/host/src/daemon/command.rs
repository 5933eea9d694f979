//! What the daemon does with a command line: one transfer sent, or transfers received, each with its report.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;

use clearway_proto::quantity;
use clearway_proto::units::{Bytes, Span, Time};
use serde_json::{json, Map, Value};

use crate::daemon::address::HostPort;
use crate::daemon::args::{self, Command, ReceiveArgs, SendArgs};
use crate::daemon::clock::Clock;
use crate::daemon::content::Source;
use crate::daemon::destination::{self, Destination, FileError};
use crate::daemon::driver::drive;
use crate::daemon::layout::Layout;
use crate::daemon::output::{print, write_error, Problem, Progress};
use crate::daemon::packet::{Reason, IP_UDP_BYTES, PREFIX_BYTES};
use crate::daemon::receive::{Place, ReceiveError, Receiving, Transfer};
use crate::daemon::report::{received_figures, sent_figures, Effort, Figures, Sent};
use crate::daemon::send::{SendError, Sending, Task, Unmet};
use crate::daemon::socket::Socket;
use crate::daemon::stops;
use crate::processor;

const FAILED: u8 = 1;
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

/// The addresses of a host, in the order in which they are to be tried.
fn addresses(option: &str, host: &HostPort) -> Result<Vec<SocketAddr>, Problem> {
    stops::unless_stopped(|| host.addresses()).map_err(|error| {
        Problem::new(
            format!("{option}: {host}: {error}"),
            "is the name right? An address such as 10.0.0.2 needs no name service",
        )
    })
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

fn file_problem(error: &FileError) -> Problem {
    Problem::new(format!("{}: {}", error.named.display(), error.what), error.remedy)
}

fn told(reason: Reason) -> &'static str {
    match reason {
        Reason::Done => "it needs no more",
        Reason::Busy => "it has another sender, and takes one at a time",
        Reason::Layout => "it does not take this many bytes, or packets of this size",
        Reason::File => "it could not read or write its file",
        Reason::Interrupted => "it was interrupted",
    }
}

fn receive(args: &ReceiveArgs) -> Result<u8, Problem> {
    if let Some(path) = &args.out {
        Destination::find(path).map_err(|error| file_problem(&error))?;
    }
    let mut socket = listen(&args.listen)?;
    let mut clock = Clock::start();
    let local = socket.local_addr().map_err(|e| trouble("the socket", &e))?;
    if !args.json {
        print(&format!("listening at {local}\n"))?;
    }
    let mut receiving = Receiving::new(Place { out: args.out.clone(), idle_timeout: args.idle_timeout });
    let mut progress = Progress::new(args.json);
    let mut effort_before = Span::ZERO;
    loop {
        let mut ended = None;
        drive(&mut socket, &mut clock, &mut receiving, |receiving, now| {
            if let Some(received) = receiving.report().filter(|_| progress.is_due(now)) {
                progress.show(now, received.payload, received.layout.bytes(), "");
            }
            ended = receiving.poll_transfer();
            ended.is_some() || stops::status().is_some()
        })
        .map_err(|e| trouble("the socket", &e))?;
        progress.clear();
        let interrupted = ended.is_none();
        if interrupted {
            receiving.interrupt();
            ended = receiving.poll_transfer();
            drive(&mut socket, &mut clock, &mut receiving, |receiving, _| !receiving.has_replies())
                .map_err(|e| trouble("the socket", &e))?;
        }
        let Some(mut transfer) = ended else {
            Problem::bare("interrupted").show();
            return Ok(stops::status().unwrap_or(FAILED));
        };
        if matches!(transfer.error, Some(ReceiveError::Closed(Reason::Interrupted)))
            && stops::status().is_some()
        {
            // Both ends were told to stop, and the other one was quicker.
            transfer.error = Some(ReceiveError::Interrupted);
        }
        let cpu = processor::process_time();
        let effort = Effort { cpu: cpu.saturating_sub(effort_before), overflow: socket.overflow() };
        effort_before = cpu;
        let status = show_transfer(&transfer, &effort, args)?;
        if interrupted {
            return Ok(status);
        }
        if args.once {
            // A sender that did not hear that it is done may ask again.
            drive(&mut socket, &mut clock, &mut receiving, |receiving, _| {
                receiving.is_quiet() || stops::status().is_some()
            })
            .map_err(|e| trouble("the socket", &e))?;
            return Ok(status);
        }
    }
}

/// A socket at the first address of a host that can be had.
fn listen(at: &HostPort) -> Result<Socket, Problem> {
    let remedy = "--listen takes an address of this host and a port that is free";
    let mut problem = None;
    for address in addresses("--listen", at)? {
        match Socket::bind(address) {
            Ok(socket) => return Ok(socket),
            Err(error) => problem = Some(Problem::new(format!("{address}: {error}"), remedy)),
        }
    }
    Err(problem.unwrap_or_else(|| Problem::new(format!("{at}: no address"), remedy)))
}

fn show_transfer(transfer: &Transfer, effort: &Effort, args: &ReceiveArgs) -> Result<u8, Problem> {
    let received = &transfer.received;
    let mut head = Map::new();
    head.insert("role".into(), json!("receive"));
    head.insert("peer".into(), json!(received.peer.to_string()));
    let result = Outcome {
        head,
        began: received.began.is_some(),
        figures: received_figures(received, effort),
        problem: transfer.error.as_ref().map(|error| receive_problem(error, transfer, args)),
    };
    result.show(args.json)
}

fn receive_problem(error: &ReceiveError, transfer: &Transfer, args: &ReceiveArgs) -> Problem {
    let received = &transfer.received;
    let peer = received.peer;
    match error {
        ReceiveError::Stopped(idle) => Problem::new(
            format!("{peer} made no progress for {}", spell(*idle)),
            "--idle-timeout waits longer",
        ),
        ReceiveError::Closed(reason) => {
            Problem::bare(format!("{peer} ended the connection: {}", told(*reason)))
        }
        ReceiveError::Differs => Problem::new(
            format!("other bytes came from {peer} than it sent"),
            "something between the two changes data, or the file changed meanwhile",
        ),
        ReceiveError::Sink(error) => {
            let file = args.out.as_ref().map_or("nowhere".into(), |out| out.display().to_string());
            let named = error.get_ref().and_then(|inner| inner.downcast_ref::<FileError>());
            let remedy = named.map_or("is there room, and may this user write there?", |named| named.remedy);
            Problem::new(format!("{file}: {error}"), remedy)
        }
        ReceiveError::Interrupted => {
            let (came, of) = (received.payload, received.layout.bytes());
            Problem::bare(format!("interrupted: {came} of {of} bytes had come, nothing is kept"))
        }
    }
}

/// A random number that nobody can guess.
fn connection() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

fn spell(span: Span) -> String {
    quantity::spell(span.as_ps(), quantity::TIME)
}

fn trouble(what: &str, error: &io::Error) -> Problem {
    Problem::bare(format!("{what}: {error}"))
}

/// A transfer that is over, as it is shown.
struct Outcome {
    /// What JSON says of the transfer before its figures.
    head: Map<String, Value>,
    /// Whether there was a connection, so that there is more than a problem to show.
    began: bool,
    figures: Figures,
    problem: Option<Problem>,
}

impl Outcome {
    /// Writes the figures and the problem, and returns the exit status. To be unable to write the figures of a transfer
    /// that went well is an error.
    fn show(mut self, json: bool) -> Result<u8, Problem> {
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

#[cfg(test)]
mod tests;
