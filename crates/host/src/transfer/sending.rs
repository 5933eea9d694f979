//! The sending end of a transfer.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clearway_proto::swift::SwiftParams;
use clearway_proto::transport::Scheme;
use clearway_proto::units::Span;

use super::{Line, Message, Reason, SESSION};
use crate::control::{dial, Channel, Failure, Patience};
use crate::daemon::report::Sent;
use crate::datagram::figures::SentFlow;
use crate::datagram::flow::{Carried, Content, FlowId, Outgoing};
use crate::datagram::layout::Layout;
use crate::datagram::machine::Event;
use crate::datagram::measured::Unmet;
use crate::datagram::scheme::AnyScheme;
use crate::datagram::{Settings, Snapshot};
use crate::keys::Identity;

/// How often progress, signals and warnings are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What to send, to whom, and how.
pub struct Task<'a> {
    /// This host's certificate.
    pub identity: &'a Identity,
    /// The receiver's control channel.
    pub to: SocketAddr,
    /// The name in the receiver's certificate; none for any peer.
    pub name: Option<&'a str>,
    /// Which packets there are; must pass [`Layout::check`].
    pub layout: Layout,
    /// How many operations each flow may have under way at once.
    pub outstanding: u32,
    /// The bytes of each flow.
    pub contents: Vec<Box<dyn Content>>,
    /// The Swift parameters of each flow.
    pub swift: SwiftParams,
    /// The longest time without an answer before no receiver is believed to be there.
    pub answer_timeout: Duration,
    /// The longest time without progress before the transfer is given up.
    pub idle_timeout: Duration,
}

/// Why a transfer failed.
#[derive(Debug)]
pub enum SendError {
    /// There is no control channel.
    Unreached(Failure),
    /// The control channel failed.
    Channel(Failure),
    /// Nothing was acknowledged for this long.
    Stopped(Duration),
    /// The peer ended the transfer.
    Closed(Reason),
    /// The source could not be read.
    Source(io::Error),
    /// No socket could be had, or it failed.
    Socket(io::Error),
    /// The transfer was interrupted here.
    Interrupted,
}

/// What goes on meanwhile.
pub trait Watcher {
    /// Returns whether the transfer is to be given up.
    fn is_stopped(&mut self) -> bool;
    /// `bytes` bytes have been acknowledged; `seen` is what was measured so far.
    fn progress(&mut self, bytes: u64, seen: &Snapshot);
    /// No packet meets a target, however little is sent. Told once.
    fn unmet(&mut self, unmet: &Unmet);
    /// Datagrams of this length leave in fragments, as the path carries less.
    fn fragmented(&mut self, length: usize);
}

/// A transfer that is over.
#[derive(Debug)]
pub struct Outcome {
    /// The measurements of the transfer.
    pub sent: Sent,
    /// The name in the receiver's certificate, if it showed one.
    pub peer: Option<String>,
    /// Why it failed, if it did.
    pub error: Option<SendError>,
}

/// The state of a transfer under way.
struct Transfer<'a, W> {
    task: Task<'a>,
    watcher: &'a mut W,
    line: Line,
    /// What finished flows measured.
    done: Vec<SentFlow>,
    progress: (u64, Instant),
    warned: bool,
}

/// Sends, and returns what came of it.
pub async fn send<W: Watcher>(task: Task<'_>, watcher: &mut W) -> Outcome {
    let mut outcome = Outcome { sent: Sent::default(), peer: None, error: None };
    let patience = Patience { answer: task.answer_timeout, silence: silence(task.idle_timeout) };
    let dialing = dial(task.identity, task.to, task.name, "transfer", patience);
    let mut channel = match unless_stopped(watcher, dialing).await {
        Some(Ok(channel)) => channel,
        Some(Err(failure)) => {
            outcome.error = Some(SendError::Unreached(failure));
            return outcome;
        }
        None => {
            // The peer, which may have heard the hello, is told by what was dropped just now.
            tokio::time::sleep(LOOK).await;
            outcome.error = Some(SendError::Interrupted);
            return outcome;
        }
    };
    outcome.peer = Some(channel.peer_name());
    let any = if task.to.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
    match Line::start(Settings { bind: any, measure: true }) {
        Err(error) => outcome.error = Some(SendError::Socket(error)),
        Ok(line) => {
            let progress = (0, now());
            let mut transfer = Transfer { task, watcher, line, done: Vec::new(), progress, warned: false };
            let ended = transfer.run(&mut channel, &mut outcome.sent).await;
            transfer.measure(&mut outcome.sent);
            if let Err(error) = ended {
                let reason = match &error {
                    SendError::Interrupted => Some(Reason::Interrupted),
                    SendError::Source(_) => Some(Reason::File),
                    SendError::Stopped(_) => Some(Reason::Idle),
                    SendError::Socket(_) => Some(Reason::Socket),
                    SendError::Unreached(_) | SendError::Channel(_) | SendError::Closed(_) => None,
                };
                if let Some(reason) = reason {
                    // Who cannot be told finds out by the channel's end.
                    let _ = channel.send(&Message::Close { reason }).await;
                }
                outcome.error = Some(error);
            }
        }
    }
    channel.close().await;
    outcome
}

#[allow(clippy::disallowed_methods, reason = "progress is held against the clock")]
fn now() -> Instant {
    Instant::now()
}

/// Does something unless the transfer is to be given up meanwhile.
async fn unless_stopped<T>(watcher: &mut impl Watcher, work: impl Future<Output = T>) -> Option<T> {
    let mut work = std::pin::pin!(work);
    loop {
        match tokio::time::timeout(LOOK, &mut work).await {
            Ok(done) => return Some(done),
            Err(_) if watcher.is_stopped() => return None,
            Err(_) => {}
        }
    }
}

/// What the peer says instead of what was asked.
fn instead(message: Message) -> SendError {
    match message {
        Message::Close { reason } => SendError::Closed(reason),
        other => SendError::Channel(Failure::Senseless(format!("{other:?} out of turn"))),
    }
}

impl<W: Watcher> Transfer<'_, W> {
    async fn run(&mut self, channel: &mut Channel, sent: &mut Sent) -> Result<(), SendError> {
        let (layout, reach) = (self.task.layout, self.task.swift.reach());
        let offer = Message::Offer { layout, reach, place: self.line.place() };
        // A receiver that has another sender says so and is gone before it has heard what is offered.
        let _ = channel.send(&offer).await;
        let place = match self.hear(channel).await? {
            Message::Accept { place } => place,
            other => return Err(instead(other)),
        };
        self.line.open(channel, place, true);
        let sender = AnyScheme::Swift(self.task.swift.clone()).sender(layout.mtu);
        let contents = std::mem::take(&mut self.task.contents);
        for (part, content) in (0..layout.flows).zip(contents) {
            self.line.endpoint.send(Outgoing {
                id: FlowId { session: SESSION, flow: part },
                carried: Carried { layout, part },
                outstanding: self.task.outstanding,
                content: Some(content),
                sender: sender.clone(),
                shown: Arc::default(),
            });
        }
        let seen = self.look()?;
        sent.began = Some(seen.at);
        self.progress.1 = now();
        self.flows(channel).await?;
        self.measure(sent);
        channel.send(&Message::Finish { packets: sent.packets }).await.map_err(SendError::Channel)?;
        match self.hear(channel).await? {
            Message::Finished { packets } => sent.arrived = Some(packets),
            other => return Err(instead(other)),
        }
        Ok(())
    }

    /// Hears the peer's next message.
    async fn hear(&mut self, channel: &mut Channel) -> Result<Message, SendError> {
        let idle = self.task.idle_timeout;
        let heard = tokio::time::timeout(idle, channel.receive());
        match unless_stopped(self.watcher, heard).await {
            None => Err(SendError::Interrupted),
            Some(Err(_)) => Err(SendError::Stopped(idle)),
            Some(Ok(heard)) => heard.map_err(SendError::Channel),
        }
    }

    fn look(&self) -> Result<Snapshot, SendError> {
        self.line.endpoint.look().ok_or_else(|| SendError::Socket(io::Error::other("the socket failed")))
    }

    /// Waits until all flows are acknowledged.
    async fn flows(&mut self, channel: &mut Channel) -> Result<(), SendError> {
        let mut look = tokio::time::interval(LOOK);
        while self.done.len() < self.task.layout.flows as usize {
            tokio::select! {
                event = self.line.events.recv() => match event {
                    Some(Event::Sent(_, figures)) => self.done.push(*figures),
                    Some(Event::Unreadable(_, error)) => return Err(SendError::Source(error)),
                    Some(Event::Fragmented(length)) => self.watcher.fragmented(length),
                    Some(Event::Received(..) | Event::Unkept(..)) => {}
                    None => return Err(SendError::Socket(io::Error::other("the socket failed"))),
                },
                message = channel.receive() => return Err(message.map_or_else(SendError::Channel, instead)),
                _ = look.tick() => self.watch()?,
            }
        }
        Ok(())
    }

    /// Looks how far it is.
    fn watch(&mut self) -> Result<(), SendError> {
        if self.watcher.is_stopped() {
            return Err(SendError::Interrupted);
        }
        let seen = self.look()?;
        let (now, bytes) = (now(), self.bytes(&seen));
        if bytes > self.progress.0 {
            self.progress = (bytes, now);
        } else if now - self.progress.1 >= self.task.idle_timeout {
            return Err(SendError::Stopped(self.task.idle_timeout));
        }
        let hops = seen.counted.hops.unwrap_or(0);
        let unmet = seen.measured.as_ref().and_then(|measured| measured.unmet_target(&self.task.swift, hops));
        if let Some(unmet) = unmet.filter(|_| !self.warned) {
            self.warned = true;
            self.watcher.unmet(&unmet);
        }
        self.watcher.progress(bytes, &seen);
        Ok(())
    }

    fn bytes(&self, seen: &Snapshot) -> u64 {
        let sending = seen.sending.iter().map(|(_, figures)| figures.bytes);
        sending.chain(self.done.iter().map(|figures| figures.bytes)).sum()
    }

    /// Puts what was measured so far into the report.
    fn measure(&self, sent: &mut Sent) {
        let Some(seen) = self.line.endpoint.look() else { return };
        let all = || seen.sending.iter().map(|(_, figures)| figures).chain(&self.done);
        sent.bytes = self.bytes(&seen);
        sent.completed = self.done.len() as u64;
        sent.packets = all().map(|figures| figures.packets).sum();
        sent.retransmissions = all().map(|figures| figures.retransmissions).sum();
        sent.timeouts = all().map(|figures| figures.timeouts).sum();
        sent.ended =
            all().filter_map(|figures| figures.ended).max().or(sent.began.filter(|_| sent.completed > 0));
        sent.acks = seen.counted.acks;
        sent.hops = seen.counted.hops;
        sent.unsendable = seen.counted.unsendable;
        sent.ignored = seen.counted.ignored;
        sent.socket_drops = seen.socket_drops;
        sent.delays = seen.measured.unwrap_or_default();
        sent.latency = seen.latency.unwrap_or_default();
    }
}

/// How long a peer may be silent on the control channel. What shows first that it is gone is that no data comes or goes.
pub fn silence(idle: Duration) -> Duration {
    idle + Duration::from_secs(1)
}

/// A time of the daemon's options, as the runtime takes it.
pub fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_ps() / 1000)
}
