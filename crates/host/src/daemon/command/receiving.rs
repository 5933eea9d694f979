//! Transfers received, one after the other, each with its report.

use std::net::SocketAddr;

use clearway_proto::units::Span;
use serde_json::{json, Map};
use tokio::task::JoinSet;

use super::channels::{identity, runtime};
use super::outcome::{addresses, file_problem, spell, told, trouble, Outcome, FAILED};
use crate::control::{Caller, Channel, Listener, Patience};
use crate::daemon::address::HostPort;
use crate::daemon::args::ReceiveArgs;
use crate::daemon::destination::{Destination, FileError};
use crate::daemon::output::{print, write_error, Problem, Progress};
use crate::daemon::report::received_figures;
use crate::daemon::stops;
use crate::datagram::Snapshot;
use crate::keys::Identity;
use crate::processor;
use crate::transfer::receiving::{self, ReceiveError, Task, Watcher};
use crate::transfer::sending::{duration, silence};
use crate::transfer::Reason;

/// How often signals are looked for while nobody sends.
const LOOK: std::time::Duration = std::time::Duration::from_millis(50);

/// Receives transfers until one has come, where `args` say so, or a signal does.
pub(super) fn receive(args: &ReceiveArgs) -> Result<u8, Problem> {
    if let Some(path) = &args.out {
        Destination::find(path).map_err(|error| file_problem(&error))?;
    }
    let identity = identity(&args.keys)?;
    runtime()?.block_on(serve(args, &identity))
}

async fn serve(args: &ReceiveArgs, identity: &Identity) -> Result<u8, Problem> {
    let listener = listen(args, identity)?;
    let local = listener.local_address().map_err(|e| trouble("the socket", &e))?;
    if !args.json {
        print(&format!("listening at {local}\n"))?;
    }
    let task = Task {
        bind: SocketAddr::new(local.ip(), args.data_port),
        out: args.out.clone(),
        idle_timeout: duration(args.idle_timeout),
    };
    let mut door = Door { listener, answering: JoinSet::new() };
    let mut before = Span::ZERO;
    loop {
        let Some(channel) = door.wait().await else {
            Problem::bare("interrupted").show();
            return Ok(stops::status().unwrap_or(FAILED));
        };
        let mut shown = Shown { progress: Progress::new(args.json) };
        let mut outcome = tokio::select! {
            // Who comes at the instant at which a transfer ends is not turned away for it.
            biased;
            outcome = receiving::receive(&task, channel, &mut shown) => outcome,
            never = door.turn_away() => never,
        };
        shown.progress.clear();
        if matches!(outcome.error, Some(ReceiveError::Closed(Reason::Interrupted)))
            && stops::status().is_some()
        {
            // Both ends were told to stop, and the other one was quicker.
            outcome.error = Some(ReceiveError::Interrupted);
        }
        let cpu = processor::process_time();
        let status = show(&outcome, cpu.saturating_sub(before), args)?;
        before = cpu;
        if args.once || matches!(outcome.error, Some(ReceiveError::Interrupted)) {
            let _ = outcome.farewell.await;
            return Ok(status);
        }
    }
}

/// Shows a transfer while it goes on.
struct Shown {
    progress: Progress,
}

impl Watcher for Shown {
    fn is_stopped(&mut self) -> bool {
        stops::status().is_some()
    }

    fn progress(&mut self, bytes: u64, of: u64, seen: &Snapshot) {
        if self.progress.is_due(seen.at) {
            self.progress.show(seen.at, bytes, of, "");
        }
    }
}

/// A listener at the first address of a host that can be had.
fn listen(args: &ReceiveArgs, identity: &Identity) -> Result<Listener, Problem> {
    let at: &HostPort = &args.listen;
    let patience = Patience { silence: silence(duration(args.idle_timeout)), ..Patience::default() };
    let mut problem = None;
    for address in addresses("--listen", at)? {
        match Listener::bind(identity, address, patience) {
            Ok(listener) => return Ok(listener),
            Err(Problem { message, .. }) => {
                let remedy = "--listen takes an address of this host and a port that is free";
                problem = Some(Problem::new(message, remedy));
            }
        }
    }
    Err(problem.unwrap_or_else(|| Problem::bare(format!("{at}: no address"))))
}

/// Where senders come in. Each is answered beside the others, so that nobody waits for one that is slow.
struct Door {
    listener: Listener,
    answering: JoinSet<Option<Channel>>,
}

impl Door {
    /// The next sender that has shown who it is.
    async fn enter(&mut self) -> Channel {
        loop {
            tokio::select! {
                Some(caller) = self.listener.accept() => {
                    self.answering.spawn(answer(caller));
                }
                Some(answered) = self.answering.join_next() => {
                    if let Ok(Some(channel)) = answered {
                        return channel;
                    }
                }
                else => std::future::pending().await,
            }
        }
    }

    /// The next sender; none after a signal.
    async fn wait(&mut self) -> Option<Channel> {
        loop {
            match tokio::time::timeout(LOOK, self.enter()).await {
                Ok(channel) => return Some(channel),
                Err(_) if stops::status().is_some() => return None,
                Err(_) => {}
            }
        }
    }

    /// Tells whoever comes that there is another sender, for ever.
    async fn turn_away<T>(&mut self) -> T {
        loop {
            let channel = self.enter().await;
            tokio::spawn(receiving::refuse(channel));
        }
    }
}

async fn answer(caller: Caller) -> Option<Channel> {
    let address = caller.address();
    match caller.answer().await {
        Ok((channel, hello)) if hello.purpose == "transfer" => Some(channel),
        Ok((channel, hello)) => {
            write_error(&format!(
                "warning: {address} wants {:?}, which this end does not do\n",
                hello.purpose
            ));
            channel.close().await;
            None
        }
        Err(failure) => {
            write_error(&format!("warning: {address} dialed: {failure}\n"));
            None
        }
    }
}

fn show(outcome: &receiving::Outcome, cpu: Span, args: &ReceiveArgs) -> Result<u8, Problem> {
    let received = &outcome.received;
    let mut head = Map::new();
    head.insert("role".into(), json!("receive"));
    head.insert("peer".into(), json!(received.peer.to_string()));
    head.insert("name".into(), json!(outcome.peer));
    let result = Outcome {
        head,
        began: received.began.is_some(),
        figures: received_figures(received, cpu),
        problem: outcome.error.as_ref().map(|error| problem(error, outcome, args)),
    };
    result.show(args.json)
}

fn problem(error: &ReceiveError, outcome: &receiving::Outcome, args: &ReceiveArgs) -> Problem {
    let received = &outcome.received;
    let peer = received.peer;
    match error {
        ReceiveError::Stopped(_) => Problem::new(
            format!("{peer} made no progress for {}", spell(args.idle_timeout)),
            "--idle-timeout waits longer",
        ),
        ReceiveError::Channel(failure) => {
            Problem { message: format!("{peer}: {failure}"), remedy: failure.remedy() }
        }
        ReceiveError::Closed(reason) => {
            Problem::bare(format!("{peer} ended the transfer: {}", told(*reason)))
        }
        ReceiveError::Layout(what) => Problem::bare(format!("{peer} offered {what}")),
        ReceiveError::Short => Problem::bare(format!(
            "{peer} says that it is done, and {} of {} bytes have come",
            received.payload,
            received.layout.bytes()
        )),
        ReceiveError::Socket(error) => Problem::new(
            format!("a UDP socket for the data: {error}"),
            "--data-port takes a port that is free",
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
