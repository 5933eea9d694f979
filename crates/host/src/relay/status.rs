//! What a relay says of itself to `clearwayd relay --status`: over a socket without a file, whose name is that of its interfaces. Whoever
//! is in the same network namespace reads it; a second relay between the same interfaces finds the name taken.

use std::fmt::{self, Write as _};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::Duration;

use clearway_proto::parameter::Shown;
use clearway_proto::units::{Bytes, Span};
use serde_json::{json, Value};

use super::handle::Handle;
use super::lanes::PORTS;
use super::sockets::{accept, address, pause};
use super::work::{Lane, Seen};
use crate::daemon::output::Problem;

/// The time that one who asks has to read the answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a name is tried that another still has.
const ATTEMPTS: u32 = 50;
/// The kind of the socket.
const KIND: &str = "clearway-relay";

/// Takes the name of the relay between two interfaces, which one that has handed over may still have for a moment.
pub fn listen(local: &str, remote: &str, has_handed_over: bool) -> Result<UnixListener, Problem> {
    if let Some(problem) = other_way_round(local, remote) {
        return Err(problem);
    }
    let bind = || address(KIND, local, remote).and_then(|address| UnixListener::bind_addr(&address));
    let mut bound = bind();
    for _ in 0..ATTEMPTS {
        let is_taken = bound.as_ref().is_err_and(|error| error.kind() == ErrorKind::AddrInUse);
        if !is_taken || !has_handed_over {
            break;
        }
        pause();
        bound = bind();
    }
    bound.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => Problem::new(
            format!("there is a relay between {local} and {remote} already"),
            "take its place with --replace, or end it first; clearwayd relay --status tells how it is",
        ),
        _ => Problem::bare(format!("the socket of the status: {error}")),
    })
}

/// The problem that a relay is between these interfaces, and has them the other way round.
fn other_way_round(local: &str, remote: &str) -> Option<Problem> {
    let found =
        local != remote && address(KIND, remote, local).and_then(|it| UnixStream::connect_addr(&it)).is_ok();
    let message =
        format!("the relay that is at work here has {remote} as its local and {local} as its remote port");
    found.then(|| Problem::new(message, &format!("write --local {remote} --remote {local}")))
}

/// Answers whoever asks, for as long as the process lives.
pub fn serve(listener: UnixListener, handle: Arc<Handle>) -> io::Result<()> {
    let work = move || {
        loop {
            let mut client = accept(&listener);
            let Some(seen) = handle.look() else { return };
            let _ = client.set_write_timeout(Some(PATIENCE));
            // Who does not read it has gone.
            let _ = client.write_all(object(&seen).to_string().as_bytes());
        }
    };
    std::thread::Builder::new().name("status".into()).spawn(work).map(|_| ())
}

/// Asks the relay between two interfaces.
pub fn ask(local: &str, remote: &str) -> Result<Value, Problem> {
    let asked = address(KIND, local, remote).and_then(|address| UnixStream::connect_addr(&address));
    let mut relay = asked.map_err(|_| {
        let message = format!("there is no relay between {local} and {remote}");
        let none = Problem::new(message, "start one, or name its interfaces as it was given them");
        other_way_round(local, remote).unwrap_or(none)
    })?;
    let mut text = String::new();
    let read = relay.set_read_timeout(Some(PATIENCE)).and_then(|()| relay.read_to_string(&mut text));
    let silent = |what: &dyn fmt::Display| {
        let message = format!("the relay between {local} and {remote} does not answer: {what}");
        Problem::new(message, "if it stands still, the kernel passes everything on")
    };
    read.map_err(|error| silent(&error))?;
    serde_json::from_str(&text).map_err(|error| silent(&error))
}

/// The status of a relay as one object.
fn object(seen: &Seen) -> Value {
    let ports = PORTS.map(|port| {
        let mut of_port = json!(seen.ports[port as usize]);
        of_port["state"] = json!(seen.states[port as usize]);
        (port.name().to_string(), of_port)
    });
    let lane = |(port, priority, of_process, of_kernel): &Lane| json!({ "from": port.name(), "priority": priority, "process": of_process, "kernel": of_kernel });
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "uptime_ns": seen.uptime_ns,
        "ports": ports.into_iter().collect::<serde_json::Map<_, _>>(),
        "lanes": seen.lanes.iter().map(lane).collect::<Vec<_>>(),
        "link": seen.link,
        "send_errors": seen.send_errors,
    })
}

/// The status of a relay as text.
pub fn table(told: &Value) -> String {
    let count = |of: &Value, name: &str| of[name].as_u64().unwrap_or(0);
    let bytes = |of: &Value, name: &str| Bytes::new(count(of, name)).shown();
    let mut text = format!("running for {:.1} s\n", count(told, "uptime_ns") as f64 / 1e9);
    for port in PORTS {
        let of = &told["ports"][port.name()];
        let refused = &of["refused"];
        let state = of["state"].as_str().unwrap_or_default();
        let state =
            if state == "up" { String::new() } else { format!(" (port is {})", state.replace('_', " ")) };
        let _ = writeln!(
            text,
            "{}{state}: {} PAUSE and {} RESUME came, {} and {} were sent; {} frames stored, {} without room, {} given up",
            port.name(),
            count(of, "pauses_received"),
            count(of, "resumes_received"),
            count(of, "pauses_sent"),
            count(of, "resumes_sent"),
            count(of, "stored"),
            count(refused, "overflow"),
            count(refused, "given_up"),
        );
    }
    text += &long_link(&told["link"]);
    for lane in told["lanes"].as_array().into_iter().flatten() {
        let (process, kernel) = (&lane["process"], &lane["kernel"]);
        let states = [
            (&process["is_given_up"], "given up"),
            (&process["is_paused"], "paused"),
            (&process["is_held"], "far relay held"),
            (&kernel["is_closed"], "stored by the process"),
        ];
        let states: Vec<&str> =
            states.into_iter().filter(|(is, _)| **is == Value::Bool(true)).map(|(_, word)| word).collect();
        let drift = match process["drift"].as_u64() {
            Some(drift) if drift > 0 => format!(", {} more than was granted", Bytes::new(drift).shown()),
            _ => String::new(),
        };
        let state = if states.is_empty() { "passed on by the kernel".into() } else { states.join(", ") };
        let _ = writeln!(
            text,
            "priority {} from {}: {state}; {} wait, {} at most{drift}; {} frames passed, {} stored, {} past a relay that stood still",
            lane["priority"],
            lane["from"].as_str().unwrap_or_default(),
            bytes(process, "waiting"),
            bytes(process, "peak"),
            count(kernel, "passed"),
            count(kernel, "stored"),
            count(kernel, "passed_dead"),
        );
    }
    text
}

/// The text of what probes have told of the long link.
pub fn long_link(told: &Value) -> String {
    let count = |name: &str| told[name].as_u64().unwrap_or(0);
    let span = |ns: u64| Span::from_ns(ns).shown();
    if count("every_ns") == 0 {
        return "long link: no probes are sent\n".into();
    }
    let measured =
        told["delay_ns"].as_u64().map_or("nothing answers".into(), |ns| format!("{} one way", span(ns)));
    let verdict = match told["finding"].as_str() {
        Some("longer") => ", longer than planned: write its delay in the files of both relays",
        Some("silent") => "; is there a relay at its other end, and is the link its remote port?",
        _ => "",
    };
    format!(
        "long link: {measured}, {} planned; {} of {} probes came back{verdict}\n",
        span(count("planned_delay_ns")),
        count("answers"),
        count("probes"),
    )
}
