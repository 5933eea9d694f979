//! Transfers received, one after the other, each with its report.

use clearway_proto::units::Span;
use serde_json::{json, Map};

use super::outcome::{addresses, file_problem, spell, told, trouble, Outcome, FAILED};
use crate::daemon::address::HostPort;
use crate::daemon::args::ReceiveArgs;
use crate::daemon::clock::Clock;
use crate::daemon::destination::{Destination, FileError};
use crate::daemon::driver::drive;
use crate::daemon::output::{print, Problem, Progress};
use crate::daemon::packet::Reason;
use crate::daemon::receive::{Place, ReceiveError, Receiving, Transfer};
use crate::daemon::report::{received_figures, Effort};
use crate::daemon::socket::Socket;
use crate::daemon::stops;
use crate::processor;

/// Receives transfers until one has come, where `args` say so, or a signal does.
pub(super) fn receive(args: &ReceiveArgs) -> Result<u8, Problem> {
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
