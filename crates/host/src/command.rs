//! What the daemon does with a command line: one transfer sent, or transfers received, each with its report.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::net::SocketAddr;
use std::path::Path;

use clearway_proto::quantity;
use clearway_proto::units::{Span, Time};
use serde_json::{json, Map, Value};

use crate::args::{self, ArgError, Command, ReceiveArgs, SendArgs};
use crate::clock::Clock;
use crate::content::Source;
use crate::driver::drive;
use crate::layout::Layout;
use crate::packet::{Reason, IP_UDP_BYTES, PREFIX_BYTES};
use crate::receive::{Place, ReceiveError, Receiving, Transfer};
use crate::report::{goodput_gbps, received_figures, sent_figures, Effort, Figures};
use crate::send::{SendError, Sending, Task, Unmet};
use crate::socket::{self, Socket};

const FAILED: u8 = 1;
const BAD_INPUT: u8 = 2;
/// The exit status after a signal, as shells have it: 128 and the signal's number.
const INTERRUPTED: u8 = 130;
/// The time between two lines of progress.
const PROGRESS: Span = Span::from_ms(200);

/// Runs a command line, without the program's name, and returns the exit status.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let done = match args::read(args) {
        Ok(Command::Show(text)) => {
            print(&text);
            Ok(0)
        }
        Ok(Command::Send(args)) => send(&args),
        Ok(Command::Receive(args)) => receive(&args),
        Err(errors) => {
            errors.iter().for_each(show_error);
            return BAD_INPUT;
        }
    };
    done.unwrap_or_else(|error| {
        show_error(&error);
        BAD_INPUT
    })
}

fn send(args: &SendArgs) -> Result<u8, ArgError> {
    let (source, layout) = content(args)?;
    let any: SocketAddr = if args.to.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
    let mut socket = Socket::bind(any).map_err(|e| trouble("a UDP socket", &e, None))?;
    let mut clock = Clock::start();
    let task = Task {
        peer: args.to,
        connection: connection().map_err(|e| trouble("/dev/urandom", &e, None))?,
        layout,
        outstanding: args.outstanding,
        source,
        swift: args.swift.clone(),
        idle_timeout: args.idle_timeout,
    };
    let name = json!(format!("{:016x}", task.connection));
    let mut sending = Sending::new(clock.now(), task);
    let mut progress = Progress::new(args.json);
    let mut warned = false;
    socket::note_stops();
    drive(&mut socket, &mut clock, &mut sending, |sending, now| {
        if let Some(unmet) = sending.unmet_target().filter(|_| !warned) {
            warned = true;
            progress.clear();
            show_unmet(&unmet);
        }
        if progress.is_due(now) {
            let sent = sending.report();
            let delays = sent.delays.latest().map_or(String::new(), |latest| {
                format!(", RTT {:.0} us, cwnd {:.1}", latest.rtt.as_us_f64(), latest.windows.cwnd)
            });
            progress.show(now, sent.bytes, layout.bytes(), &delays);
        }
        sending.is_over() || socket::told_to_stop()
    })
    .map_err(|e| trouble("the socket", &e, None))?;
    progress.clear();
    let interrupted = !sending.is_over();
    let (sent, error) = sending.into_report();
    let effort = Effort { cpu: socket::processor_time(), overflow: socket.overflow() };
    let mut head = Map::new();
    head.insert("role".into(), json!("send"));
    head.insert("peer".into(), json!(args.to.to_string()));
    head.insert("connection".into(), name);
    let error = match error {
        _ if interrupted => Some(ArgError {
            message: format!("interrupted: {} of {} bytes are acknowledged", sent.bytes, layout.bytes()),
            remedy: Some("the receiver gives up after its --idle-timeout".into()),
        }),
        error => error.map(|error| send_error(&error, args)),
    };
    show(&sent_figures(&sent, &layout, &effort), head, error.as_ref(), args.json);
    let failed = if interrupted { INTERRUPTED } else { FAILED };
    Ok(error.map_or(0, |_| failed))
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
    // Nowhere to say that it cannot be said.
    let _ = writeln!(
        io::stderr(),
        "warning: the smallest delay so far is {least}; the target, {}{sum} with all scaling, is below it,\n  \
         so the window falls to its floor and the transfer crawls: raise --{option}",
        spell(base)
    );
}

/// The plan of a transfer: what to send, and in which packets.
fn content(args: &SendArgs) -> Result<(Source, Layout), ArgError> {
    let mtu = args.mtu.get() as u32;
    let (source, layout) = if let Some(path) = &args.file {
        let told = |e: &io::Error| {
            trouble(&path.display().to_string(), e, Some("--file takes a file that can be read"))
        };
        let file = File::open(path).map_err(|e| told(&e))?;
        let metadata = file.metadata().map_err(|e| told(&e))?;
        if !metadata.is_file() {
            return Err(told(&io::Error::other("not a regular file, so its length is not known beforehand")));
        }
        let size = metadata.len();
        (Source::file(file), Layout { operations: u64::from(size > 0), size, mtu, flows: 1 })
    } else {
        let layout = Layout { operations: args.operations, size: args.size.get(), mtu, flows: args.flows };
        (Source::Generated, layout)
    };
    let remedy = "raise --mtu or --flows, or send less at once";
    layout.check().map_err(|message| ArgError { message, remedy: Some(remedy.into()) })?;
    Ok((source, layout))
}

fn send_error(error: &SendError, args: &SendArgs) -> ArgError {
    let datagram = PREFIX_BYTES as u64 + args.mtu.get();
    let (message, remedy) = match error {
        SendError::NoAnswer(attempts) => (
            format!("no answer from {} to {attempts} attempts in {}", args.to, spell(args.idle_timeout)),
            format!(
                "is clearwayd receive running there, and does the path carry {}B with headers? (--mtu)",
                datagram + IP_UDP_BYTES as u64
            ),
        ),
        SendError::Stopped(idle) => (
            format!("{} made no progress for {}", args.to, spell(*idle)),
            "--idle-timeout waits longer".into(),
        ),
        SendError::Closed(reason) => {
            (format!("{} ended the connection: {}", args.to, told(*reason)), String::new())
        }
        SendError::Differs => (
            format!("{} has other bytes than were sent", args.to),
            "something between the two changes data, or the file changed meanwhile: send it again".into(),
        ),
        SendError::NotKept => {
            (format!("{} could not keep what it received", args.to), "look at its error".into())
        }
        SendError::Source(error) => {
            let file = args.file.as_ref().map_or("the source".into(), |file| file.display().to_string());
            (format!("{file}: {error}"), "did it become shorter meanwhile?".into())
        }
        SendError::Unsendable(error) => (
            format!("a datagram of {datagram}B to {} cannot be sent: {error}", args.to),
            "is there a route, and is the packet small enough for it? (--mtu)".into(),
        ),
    };
    ArgError { message, remedy: Some(remedy).filter(|remedy| !remedy.is_empty()) }
}

fn told(reason: Reason) -> &'static str {
    match reason {
        Reason::Done => "it needs no more",
        Reason::Busy => "it has another sender, and takes one at a time",
        Reason::Layout => "it does not take so much, or in such packets",
        Reason::File => "it could not read or write its file",
    }
}

fn receive(args: &ReceiveArgs) -> Result<u8, ArgError> {
    if let Some(path) = &args.out {
        check_writable(path)?;
    }
    let remedy = "--listen takes an address of this host and a port that is free";
    let mut socket =
        Socket::bind(args.listen).map_err(|e| trouble(&args.listen.to_string(), &e, Some(remedy)))?;
    let mut clock = Clock::start();
    let local = socket.local_addr().map_err(|e| trouble("the socket", &e, None))?;
    if !args.json {
        print(&format!("listening at {local}\n"));
    }
    let mut receiving = Receiving::new(Place { out: args.out.clone(), idle_timeout: args.idle_timeout });
    let mut progress = Progress::new(args.json);
    let mut effort_before = Span::ZERO;
    socket::note_stops();
    loop {
        let mut ended = None;
        drive(&mut socket, &mut clock, &mut receiving, |receiving, now| {
            if let Some(received) = receiving.report().filter(|_| progress.is_due(now)) {
                progress.show(now, received.payload, received.layout.bytes(), "");
            }
            ended = receiving.poll_transfer();
            ended.is_some() || socket::told_to_stop()
        })
        .map_err(|e| trouble("the socket", &e, None))?;
        progress.clear();
        let Some(transfer) = ended else {
            show_error(&interrupted(&receiving));
            return Ok(INTERRUPTED);
        };
        let cpu = socket::processor_time();
        let effort = Effort { cpu: cpu.saturating_sub(effort_before), overflow: socket.overflow() };
        effort_before = cpu;
        let status = show_transfer(&transfer, &effort, args);
        if args.once {
            // Whoever did not hear that it is done may ask again.
            drive(&mut socket, &mut clock, &mut receiving, |receiving, _| {
                receiving.is_quiet() || socket::told_to_stop()
            })
            .map_err(|e| trouble("the socket", &e, None))?;
            return Ok(status);
        }
    }
}

/// What a receiver that is told to stop says: of a file that has not arrived whole nothing is kept.
fn interrupted(receiving: &Receiving) -> ArgError {
    let Some(received) = receiving.report() else {
        return ArgError { message: "interrupted".into(), remedy: None };
    };
    let (came, of) = (received.payload, received.layout.bytes());
    ArgError { message: format!("interrupted: {came} of {of} bytes had come, nothing is kept"), remedy: None }
}

fn show_transfer(transfer: &Transfer, effort: &Effort, args: &ReceiveArgs) -> u8 {
    let mut head = Map::new();
    head.insert("role".into(), json!("receive"));
    head.insert("peer".into(), json!(transfer.received.peer.to_string()));
    let peer = transfer.received.peer;
    let error = transfer.error.as_ref().map(|error| {
        let (message, remedy) = match error {
            ReceiveError::Stopped(idle) => {
                (format!("{peer} made no progress for {}", spell(*idle)), Some("--idle-timeout waits longer"))
            }
            ReceiveError::Closed(reason) => (format!("{peer} ended the connection: {}", told(*reason)), None),
            ReceiveError::Differs => (
                format!("other bytes came from {peer} than it sent"),
                Some("something between the two changes data, or the file changed meanwhile"),
            ),
            ReceiveError::Sink(error) => {
                let file = args.out.as_ref().map_or("nowhere".into(), |out| out.display().to_string());
                (format!("{file}: {error}"), Some("--out takes a file that can be written"))
            }
        };
        ArgError { message, remedy: remedy.map(str::to_string) }
    });
    show(&received_figures(&transfer.received, effort), head, error.as_ref(), args.json);
    error.map_or(0, |_| FAILED)
}

/// A transfer replaces what is at its target; only a file may be replaced.
fn check_writable(path: &Path) -> Result<(), ArgError> {
    let name = path.display().to_string();
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.file_name().is_none() || path.exists() && !path.is_file() {
        let message = format!("{name}: not a file that could be replaced");
        return Err(ArgError { message, remedy: Some("--discard keeps nothing".into()) });
    }
    if parent.is_dir() {
        Ok(())
    } else {
        let message = format!("{name}: {} is no directory", parent.display());
        Err(ArgError { message, remedy: Some("make it first".into()) })
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

fn trouble(what: &str, error: &io::Error, remedy: Option<&str>) -> ArgError {
    ArgError { message: format!("{what}: {error}"), remedy: remedy.map(str::to_string) }
}

fn show(figures: &Figures, mut head: Map<String, Value>, error: Option<&ArgError>, json: bool) {
    if json {
        head.insert("ok".into(), json!(error.is_none()));
        head.insert("error".into(), json!(error.map(|error| &error.message)));
        print(&format!("{:#}\n", figures.json(head)));
    } else {
        let role = head["role"].as_str().unwrap_or("");
        let (verb, peer) = (if role == "send" { "sent to" } else { "received from" }, head["peer"].as_str());
        let how = if error.is_none() { "" } else { " (failed)" };
        print(&format!("{verb} {}{how}\n{}", peer.unwrap_or(""), figures.table()));
    }
    if let Some(error) = error {
        show_error(error);
    }
}

fn show_error(error: &ArgError) {
    let remedy = error.remedy.as_ref().map_or(String::new(), |remedy| format!("  {remedy}\n"));
    // Nowhere to say that it cannot be said.
    let _ = write!(io::stderr(), "error: {}\n{remedy}", error.message);
}

/// Writes a line to standard output and flushes it, as a reader at a pipe wants it at once. A reader that has gone away
/// is no error.
fn print(text: &str) {
    let mut out = io::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Shows one line of progress on a terminal, over the one before; shows nothing elsewhere.
struct Progress {
    shown: bool,
    next: Time,
    last: (Time, u64),
    drawn: bool,
}

impl Progress {
    fn new(json: bool) -> Progress {
        let shown = !json && io::stdout().is_terminal() && io::stderr().is_terminal();
        Progress { shown, next: Time::ZERO, last: (Time::ZERO, 0), drawn: false }
    }

    fn is_due(&self, now: Time) -> bool {
        self.shown && now >= self.next
    }

    fn show(&mut self, now: Time, bytes: u64, of: u64, more: &str) {
        let speed = goodput_gbps(bytes.saturating_sub(self.last.1), now.since(self.last.0)).unwrap_or(0.0);
        let (done, whole) = (bytes as f64 / 1e6, of as f64 / 1e6);
        let _ = write!(io::stderr(), "\r\x1b[K{done:.0} of {whole:.0} MB, {speed:.2} Gb/s{more}");
        let _ = io::stderr().flush();
        (self.last, self.next, self.drawn) = ((now, bytes), now + PROGRESS, true);
    }

    fn clear(&mut self) {
        if self.drawn {
            let _ = write!(io::stderr(), "\r\x1b[K");
            self.drawn = false;
        }
    }
}
