//! The receiving end: takes one sender at a time, keeps what is new, and says at the end whether all of it came.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clearway_proto::transport::common::REACH;
use tokio::task::JoinHandle;

use super::{Line, Message, Place, Reason, SESSION};
use crate::control::{Channel, Failure};
use crate::daemon::content::Sink;
use crate::daemon::report::Received;
use crate::datagram::flow::{Carried, FlowId, Incoming, Keep};
use crate::datagram::layout::Layout;
use crate::datagram::machine::Event;
use crate::datagram::scheme::AnyReceiver;
use crate::datagram::{Settings, Snapshot};

/// How often progress and signals are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Where to put what comes, and how long to wait for it.
#[derive(Clone, Debug)]
pub struct Task {
    /// The address of the socket that takes the datagrams; port 0 for any.
    pub bind: SocketAddr,
    /// The file to write; none to discard what arrives.
    pub out: Option<PathBuf>,
    /// The longest time without progress before the transfer is given up.
    pub idle_timeout: Duration,
}

/// Why a transfer failed.
#[derive(Debug)]
pub enum ReceiveError {
    /// The control channel failed.
    Channel(Failure),
    /// Nothing came for this long.
    Stopped(Duration),
    /// The sender ended the transfer.
    Closed(Reason),
    /// What it offered is not taken.
    Layout(String),
    /// It says that it is done, and not all has come.
    Short,
    /// The file could not be written.
    Sink(io::Error),
    /// No socket could be had, or it failed.
    Socket(io::Error),
    /// The transfer was interrupted here.
    Interrupted,
}

/// A transfer that has ended, well or not.
#[derive(Debug)]
pub struct Outcome {
    /// The figures that this end measured.
    pub received: Received,
    /// The name in the sender's certificate.
    pub peer: String,
    /// The reason why the transfer failed, if it did.
    pub error: Option<ReceiveError>,
    /// Ends when the sender has heard of it, or never will.
    pub farewell: JoinHandle<()>,
}

/// What goes on meanwhile.
pub trait Watcher {
    /// Returns whether the transfer is to be given up.
    fn is_stopped(&mut self) -> bool;
    /// `bytes` of `of` bytes have come.
    fn progress(&mut self, bytes: u64, of: u64, seen: &Snapshot);
}

/// A file that several flows write.
#[derive(Clone)]
struct Shared(Arc<Mutex<Option<Sink>>>);

impl Keep for Shared {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut sink = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sink.as_mut().map_or(Ok(()), |sink| sink.write(offset, bytes))
    }
}

impl Shared {
    /// Gives the file its name.
    fn keep(&self) -> io::Result<()> {
        let mut sink = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sink.take().map_or(Ok(()), Sink::keep)
    }
}

/// Tells a sender that another one is being served.
pub async fn refuse(mut channel: Channel) {
    // Who does not hear it hears the channel's end.
    let _ = channel.send(&Message::Close { reason: Reason::Busy }).await;
    channel.close().await;
}

/// Receives what one sender has.
pub async fn receive(task: &Task, mut channel: Channel, watcher: &mut impl Watcher) -> Outcome {
    let nothing = Layout { operations: 0, size: 0, mtu: 1, flows: 1 };
    let mut received = Received::new(channel.remote_address(), nothing);
    let (peer, mut failed) = (channel.peer_name(), None);
    if let Err(error) = transfer(task, &mut channel, watcher, &mut received).await {
        let reason = match &error {
            ReceiveError::Channel(_) | ReceiveError::Closed(_) => None,
            ReceiveError::Stopped(_) => Some(Reason::Idle),
            ReceiveError::Layout(_) | ReceiveError::Short => Some(Reason::Layout),
            ReceiveError::Sink(_) => Some(Reason::File),
            ReceiveError::Socket(_) => Some(Reason::Socket),
            ReceiveError::Interrupted => Some(Reason::Interrupted),
        };
        if let Some(reason) = reason {
            let _ = channel.send(&Message::Close { reason }).await;
        }
        failed = Some(error);
    }
    Outcome { received, peer, error: failed, farewell: tokio::spawn(channel.close()) }
}

#[allow(clippy::disallowed_methods, reason = "progress is held against the clock")]
fn now() -> Instant {
    Instant::now()
}

/// Takes an offer; what it cannot be is an error.
async fn offer(channel: &mut Channel, idle: Duration) -> Result<(Layout, u32, Place), ReceiveError> {
    let heard = tokio::time::timeout(idle, channel.receive()).await;
    match heard.map_err(|_| ReceiveError::Stopped(idle))?.map_err(ReceiveError::Channel)? {
        Message::Offer { layout, reach, place } => {
            layout.check().map_err(ReceiveError::Layout)?;
            if !reach.is_power_of_two() || !REACH.contains(&reach) {
                return Err(ReceiveError::Layout(format!("a reach of {reach} packets")));
            }
            Ok((layout, reach, place))
        }
        other => Err(instead(other)),
    }
}

fn instead(message: Message) -> ReceiveError {
    match message {
        Message::Close { reason } => ReceiveError::Closed(reason),
        other => ReceiveError::Channel(Failure::Senseless(format!("{other:?} out of turn"))),
    }
}

async fn transfer(
    task: &Task,
    channel: &mut Channel,
    watcher: &mut impl Watcher,
    received: &mut Received,
) -> Result<(), ReceiveError> {
    let (layout, reach, theirs) = offer(channel, task.idle_timeout).await?;
    received.layout = layout;
    let sink =
        task.out.as_ref().map_or(Ok(Sink::Discard), |path| Sink::file(path)).map_err(ReceiveError::Sink)?;
    let shared = Shared(Arc::new(Mutex::new(Some(sink))));
    let mut line = Line::start(Settings { bind: task.bind, measure: false }).map_err(ReceiveError::Socket)?;
    line.open(channel, theirs, false);
    for part in 0..layout.flows {
        let (id, carried) = (FlowId { session: SESSION, flow: part }, Carried { layout, part });
        let keep = task.out.is_some().then(|| Box::new(shared.clone()) as Box<dyn Keep>);
        let receiver = AnyReceiver::selective(reach);
        line.endpoint.expect(Incoming { id, carried, receiver, keep });
    }
    let seen = look(&line)?;
    received.began = Some(seen.at);
    channel.send(&Message::Accept { place: line.place() }).await.map_err(ReceiveError::Channel)?;
    let ended = flows(task, channel, watcher, &mut line, received).await;
    if let Some(seen) = line.endpoint.look() {
        measure(received, &seen);
    }
    received.sent = Some(ended?);
    if received.payload != layout.bytes() {
        return Err(ReceiveError::Short);
    }
    shared.keep().map_err(ReceiveError::Sink)?;
    let finished = Message::Finished { packets: received.packets };
    channel.send(&finished).await.map_err(ReceiveError::Channel)
}

fn look(line: &Line) -> Result<Snapshot, ReceiveError> {
    line.endpoint.look().ok_or_else(|| ReceiveError::Socket(io::Error::other("the socket failed")))
}

/// Takes what comes until the sender says that it is done, and returns how many packets it says that it sent.
async fn flows(
    task: &Task,
    channel: &mut Channel,
    watcher: &mut impl Watcher,
    line: &mut Line,
    received: &mut Received,
) -> Result<u64, ReceiveError> {
    let mut tick = tokio::time::interval(LOOK);
    let mut progress = (0, now());
    loop {
        tokio::select! {
            event = line.events.recv() => match event {
                Some(Event::Unkept(_, error)) => return Err(ReceiveError::Sink(error)),
                Some(_) => {}
                None => return Err(ReceiveError::Socket(io::Error::other("the socket failed"))),
            },
            message = channel.receive() => return match message.map_err(ReceiveError::Channel)? {
                Message::Finish { packets } => Ok(packets),
                other => Err(instead(other)),
            },
            _ = tick.tick() => {
                if watcher.is_stopped() {
                    return Err(ReceiveError::Interrupted);
                }
                let seen = look(line)?;
                measure(received, &seen);
                if received.payload > progress.0 {
                    progress = (received.payload, now());
                } else if now() - progress.1 >= task.idle_timeout {
                    return Err(ReceiveError::Stopped(task.idle_timeout));
                }
                watcher.progress(received.payload, received.layout.bytes(), &seen);
            }
        }
    }
}

/// Puts what was measured so far into the report.
fn measure(received: &mut Received, seen: &Snapshot) {
    let all = || seen.received.iter().map(|(_, figures)| figures);
    received.payload = all().map(|figures| figures.bytes).sum();
    received.packets = all().map(|figures| figures.packets).sum();
    received.duplicates = all().map(|figures| figures.duplicates).sum();
    received.messages = all().map(|figures| figures.operations).sum();
    received.ended = all().filter_map(|figures| figures.ended).max().or(received.began);
    received.acks = seen.counted.acks_sent;
    received.hops = seen.hops_from;
    received.unsendable = seen.counted.unsendable;
    received.ignored = seen.counted.ignored;
    received.socket_drops = seen.socket_drops;
}
