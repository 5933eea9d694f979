//! The sending end: opens a connection, lets Swift's machines send what there is, and asks the peer whether all of it
//! arrived.

mod endpoint;

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;

use clearway_proto::machine::Readiness;
use clearway_proto::swift::header::Packet;
use clearway_proto::swift::{SwiftParams, Variant};
use clearway_proto::transport::{Path, Scheme, SenderOf};
use clearway_proto::units::{Bytes, Span, Time, RATES};

use crate::daemon::content::{Digest, Source};
use crate::daemon::driver::Arrival;
use crate::daemon::layout::Layout;
use crate::daemon::packet::{Body, Datagram, Finished, Reason, Verdict, PREFIX_BYTES};
use crate::daemon::report::{Delays, Sent};

/// The time between two attempts to open or to finish a connection.
const RETRY: Span = Span::from_ms(50);

/// What to send, to whom, and how.
#[derive(Debug)]
pub struct Task {
    /// The receiver's address.
    pub peer: SocketAddr,
    /// The number of the connection, drawn at random.
    pub connection: u64,
    /// Which packets there are; must pass [`Layout::check`].
    pub layout: Layout,
    /// How many operations each flow may have under way at once.
    pub outstanding: u32,
    /// Where the operations' bytes come from.
    pub source: Source,
    /// The Swift parameters of each flow.
    pub swift: SwiftParams,
    /// The longest time without an answer before no receiver is believed to be there.
    pub answer_timeout: Span,
    /// The longest time without progress before the transfer is given up.
    pub idle_timeout: Span,
}

/// Why a transfer failed.
#[derive(Debug)]
pub enum SendError {
    /// The peer did not answer this many attempts to open the connection.
    NoAnswer(u32),
    /// The peer was silent, or made no progress, for this long.
    Stopped(Span),
    /// The peer ended the connection.
    Closed(Reason),
    /// The peer has received other bytes than were sent.
    Differs,
    /// The peer could not store what it received.
    NotKept,
    /// The source could not be read.
    Source(io::Error),
    /// The first datagrams could not be sent at all.
    Unsendable(io::Error),
    /// The transfer was interrupted here.
    Interrupted,
}

/// A delay target below what an empty path takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The option that sets the target.
    pub option: &'static str,
    /// The value of that option.
    pub base: Span,
    /// The largest value that the target can have, with what the path and the smallest window add to it.
    pub target: Span,
    /// The smallest delay that was measured.
    pub least: Span,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Opening,
    Transferring,
    Finishing,
    /// The connection has failed and tells the peer why, once.
    Closing(Reason),
    Over,
}

/// One of the connection's flows.
#[derive(Debug)]
struct Flow {
    sender: SenderOf<SwiftParams>,
    /// Operations not yet handed to the machine.
    waiting: u64,
    /// When each operation that is under way was handed to the machine.
    issued: VecDeque<Time>,
    /// Every packet before this one has been acknowledged.
    cumulative: u32,
    packets: u32,
    /// Every packet before this one has been sent at least once.
    digested: u32,
}

/// A sending end.
#[derive(Debug)]
pub struct Sending {
    task: Task,
    stage: Stage,
    flows: Vec<Flow>,
    /// The flow that is asked first whether it has something to send.
    turn: usize,
    /// When to try again to open or to finish the connection.
    retry: Time,
    attempts: u32,
    last_progress: Time,
    digest: Digest,
    error: Option<SendError>,
    sent: Sent,
}

impl Sending {
    /// A sending end whose connection begins `now`.
    pub fn new(now: Time, task: Task) -> Sending {
        let mtu = task.layout.mtu;
        // Any rate will do: Swift uses it only together with the round trip of the empty path, which nobody knows here.
        let path = Path::new(Bytes::new(u64::from(mtu)), *RATES.end());
        let sender = task.swift.sender(mtu, path);
        let flows = (0..task.layout.flows)
            .map(|flow| Flow {
                sender: sender.clone(),
                waiting: task.layout.operations_of(flow),
                issued: VecDeque::new(),
                cumulative: 0,
                packets: task.layout.packets_of(flow),
                digested: 0,
            })
            .collect();
        Sending {
            task,
            stage: Stage::Opening,
            flows,
            turn: 0,
            retry: now,
            attempts: 0,
            last_progress: now,
            digest: Digest::default(),
            error: None,
            sent: Sent::default(),
        }
    }

    /// Ends the transfer here, unless it has ended; the peer is told once.
    pub fn interrupt(&mut self) {
        match self.stage {
            Stage::Opening if self.attempts == 0 => self.fail(SendError::Interrupted, Stage::Over),
            Stage::Opening | Stage::Transferring | Stage::Finishing => {
                self.fail(SendError::Interrupted, Stage::Closing(Reason::Interrupted));
            }
            Stage::Closing(_) | Stage::Over => {}
        }
    }

    /// Returns whether nothing more will happen.
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// The report of a transfer that has ended, and what went wrong.
    pub fn into_report(mut self) -> (Sent, Option<SendError>) {
        self.measure();
        (self.sent, self.error)
    }

    /// The report so far.
    pub fn report(&mut self) -> &Sent {
        self.measure();
        &self.sent
    }

    /// A target that no packet has met, which keeps the window at its minimum: its name, how it is made up, and the
    /// smallest delay.
    pub fn unmet_target(&self) -> Option<Unmet> {
        let swift = &self.task.swift;
        let least = self.sent.delays.least()?;
        let hops = if swift.topology_scaling { u64::from(self.sent.hops.unwrap_or(0)) } else { 0 };
        let scaling = if swift.flow_scaling { swift.fs_range } else { Span::ZERO };
        let target = swift.base_target + swift.hop_scaling * hops + scaling;
        let watched = match swift.variant {
            Variant::Swift => least.fabric,
            Variant::V0 => least.rtt,
        };
        if watched > target {
            return Some(Unmet { option: "base-target", base: swift.base_target, target, least: watched });
        }
        let (target, least) = (swift.endpoint_target, least.endpoint);
        let unmet = swift.watches_endpoint() && least > target;
        unmet.then_some(Unmet { option: "endpoint-target", base: target, target, least })
    }

    fn measure(&mut self) {
        let flights: Vec<_> = self.flows.iter().map(|flow| flow.sender.flight()).collect();
        self.sent.packets = flights.iter().map(|flight| flight.sent).sum();
        self.sent.retransmissions = flights.iter().map(|flight| u64::from(flight.retransmissions)).sum();
        self.sent.timeouts = flights.iter().map(|flight| u64::from(flight.timeouts)).sum();
        let layout = &self.task.layout;
        self.sent.bytes = self.flows.iter().map(|flow| layout.bytes_before(flow.cumulative)).sum();
        self.sent.completed = self.flows.iter().filter(|flow| flow.cumulative == flow.packets).count() as u64;
    }

    /// The longest time without progress at this stage.
    fn patience(&self) -> Span {
        match self.stage {
            Stage::Opening => self.task.answer_timeout,
            _ => self.task.idle_timeout,
        }
    }

    fn fail(&mut self, error: SendError, stage: Stage) {
        self.error.get_or_insert(error);
        self.stage = stage;
    }

    fn accepted(&mut self, now: Time) {
        if self.stage != Stage::Opening {
            return;
        }
        self.last_progress = now;
        self.stage = Stage::Transferring;
        self.sent.began = Some(now);
        for flow in &mut self.flows {
            flow.issue(now, self.task.outstanding, self.task.layout.size);
        }
        self.finish_if_all_arrived(now);
    }

    fn finish_if_all_arrived(&mut self, now: Time) {
        if self.flows.iter().all(|flow| flow.cumulative == flow.packets) {
            self.stage = Stage::Finishing;
            self.sent.ended.get_or_insert(now);
            self.retry = now;
        }
    }

    fn finished(&mut self, now: Time, finished: Finished) {
        if self.stage != Stage::Finishing {
            self.sent.ignored.unexpected += 1;
            return;
        }
        self.sent.arrived = Some(finished.arrived);
        self.last_progress = now;
        self.stage = Stage::Closing(Reason::Done);
        match finished.verdict {
            Verdict::Whole if finished.digest == self.digest.value() => {}
            Verdict::Whole | Verdict::Differs => self.error = Some(SendError::Differs),
            Verdict::NotKept => self.error = Some(SendError::NotKept),
        }
    }

    fn acknowledged(&mut self, now: Time, arrival: &Arrival, id: u32, packet: Packet) {
        let (Packet::Ack(ack), Some(flow)) = (packet, self.flows.get_mut(id as usize)) else {
            self.sent.ignored.unexpected += 1;
            return;
        };
        // An echo of the future is of no packet of ours either.
        if !flow.sender.believes(&ack) || ack.echo > now {
            self.sent.ignored.sequence += 1;
            return;
        }
        // The acknowledgement cannot have come before the packet went; a wall clock that is set may say so.
        let received = arrival.received.max(ack.echo);
        flow.sender.handle_ack(now, received, &ack);
        let (rtt, endpoint) = (now.since(ack.echo), ack.remote_queuing() + now.since(received));
        self.sent.delays.record(&Delays { rtt, endpoint, windows: flow.sender.windows() });
        self.sent.acks += 1;
        self.sent.hops = Some(ack.hops);
        if ack.cumulative > flow.cumulative {
            flow.cumulative = ack.cumulative;
            self.last_progress = now;
            self.sent.ended = Some(now);
        }
        for _ in 0..flow.sender.poll_completed() {
            if let Some(issued) = flow.issued.pop_front() {
                self.sent.latency.record(now.since(issued));
            }
        }
        flow.issue(now, self.task.outstanding, self.task.layout.size);
        if flow.cumulative == flow.packets && self.stage == Stage::Transferring {
            self.finish_if_all_arrived(now);
        }
    }

    /// The next flow in turn that may send now, or the time at which one may.
    fn next_flow(&self, now: Time) -> Result<usize, Readiness> {
        let mut at = Time::NEVER;
        for step in 0..self.flows.len() {
            let id = (self.turn + step) % self.flows.len();
            match self.flows[id].sender.readiness(now) {
                Readiness::Ready => return Ok(id),
                Readiness::At(then) => at = at.min(then),
                Readiness::Idle => {}
            }
        }
        Err(if at == Time::NEVER { Readiness::Idle } else { Readiness::At(at) })
    }

    fn control(&self, body: Body, length: usize, buffer: &mut [u8]) -> (usize, SocketAddr) {
        buffer[..length].fill(0);
        Datagram { connection: self.task.connection, body }.encode(buffer);
        (length, self.task.peer)
    }

    fn transmit_data(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let id = self.next_flow(now).ok()?;
        self.turn = (id + 1) % self.flows.len();
        let flow = &mut self.flows[id];
        let data = flow.sender.transmit(now);
        let place = self.task.layout.place(id as u32, data.seq).expect("the machine sends what it was given");
        let end = PREFIX_BYTES + data.payload as usize;
        let body = Body::Flow(id as u32, Packet::Data(data));
        let payload = &mut buffer[PREFIX_BYTES..end];
        if let Err(error) = self.task.source.read(place.offset, payload) {
            self.fail(SendError::Source(error), Stage::Closing(Reason::File));
            return None;
        }
        if data.seq == flow.digested {
            flow.digested += 1;
            self.digest.add(place.offset, payload);
        }
        Datagram { connection: self.task.connection, body }.encode(buffer);
        Some((end, self.task.peer))
    }
}

impl Flow {
    /// Hands operations to the machine until `outstanding` are under way.
    fn issue(&mut self, now: Time, outstanding: u32, size: u64) {
        while self.waiting > 0 && self.issued.len() < outstanding as usize {
            self.waiting -= 1;
            self.issued.push_back(now);
            self.sender.handle_message(Bytes::new(size));
        }
    }
}
