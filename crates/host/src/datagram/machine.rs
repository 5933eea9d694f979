//! An endpoint without clock or socket: sessions, flows, and which of them has something to send.

mod schedule;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::SocketAddr;

use clearway_proto::histogram::Histogram;
use clearway_proto::machine::Readiness;
use clearway_proto::swift::header::{Packet, HEADER_BYTES};
use clearway_proto::transport::Ack;
use clearway_proto::units::{Span, Time};

use self::schedule::Schedule;
use super::driver::{Arrival, Endpoint};
use super::figures::{Ignored, ReceivedFlow, SentFlow};
use super::flow::{FlowId, Incoming, Outgoing};
use super::measured::Measured;
use super::receiving::{Receiving, Taken};
use super::seal::{OpenError, TAG_BYTES};
use super::sending::Sending;
use super::session::{Head, Peer, Session, HEAD_BYTES};

/// What a data packet has before and behind its payload, in bytes.
pub const OVERHEAD_BYTES: usize = HEAD_BYTES + HEADER_BYTES as usize + TAG_BYTES;
/// Text of acknowledgements in one datagram, in bytes: with everything around it, it fits an Ethernet frame of 1500 bytes.
const ACKS_BYTES: usize = 38 * HEADER_BYTES as usize;
/// The longest time that one key is used.
const KEY_LIFETIME: Span = Span::from_secs(600);

/// What happened at an endpoint.
#[derive(Debug)]
pub enum Event {
    /// Everything of a flow is acknowledged; the flow is gone.
    Sent(FlowId, Box<SentFlow>),
    /// Everything of a flow has come. The flow goes on to be acknowledged until its session is closed.
    Received(FlowId, ReceivedFlow),
    /// A flow's bytes could not be read; the flow is gone.
    Unreadable(FlowId, io::Error),
    /// A flow's bytes could not be kept; the flow is no longer acknowledged.
    Unkept(FlowId, io::Error),
    /// Datagrams of this length, headers not counted, are too long for the path: from here on they leave in fragments.
    Fragmented(usize),
}

/// One session, and the flows that come in it.
struct Line {
    session: Session,
    receiving: Receiving,
    /// Our number of each flow that goes out.
    outgoing: BTreeMap<u32, usize>,
    /// Whether the session is in the queue of those that owe acknowledgements.
    owing: bool,
    /// When the next key is due.
    rotate: Time,
}

/// What an endpoint has counted beside its flows.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// What arrived and was ignored.
    pub ignored: Ignored,
    /// Acknowledgements sent.
    pub acks_sent: u64,
    /// Acknowledgements taken.
    pub acks: u64,
    /// Datagrams that the kernel refused to send.
    pub unsendable: u64,
    /// Switches on the way to the peer, by the latest acknowledgement; none before the first one.
    pub hops: Option<u8>,
}

/// An endpoint.
pub struct Machine {
    id: u32,
    lines: Vec<Option<Box<Line>>>,
    flows: Vec<Option<Box<Sending>>>,
    /// Places in `flows` that are free.
    free: Vec<usize>,
    schedule: Schedule,
    /// Sessions that have acknowledgements to send, each once.
    owing: VecDeque<u32>,
    events: VecDeque<Event>,
    counted: Counted,
    /// Round trips and windows of all flows together, where they are wanted.
    measured: Option<Box<Measured>>,
    latency: Histogram,
}

impl Machine {
    /// An endpoint of this number, which is drawn at random, without sessions. With `measure`, round trips and windows of all flows
    /// together are kept.
    pub fn new(id: u32, measure: bool) -> Machine {
        Machine {
            id,
            lines: Vec::new(),
            flows: Vec::new(),
            free: Vec::new(),
            schedule: Schedule::default(),
            owing: VecDeque::new(),
            events: VecDeque::new(),
            counted: Counted::default(),
            measured: measure.then(Box::default),
            latency: Histogram::default(),
        }
    }

    /// Opens session `number`, or replaces what had that number.
    pub fn open(&mut self, now: Time, number: u32, peer: &Peer) {
        self.close(number);
        let place = number as usize;
        if self.lines.len() <= place {
            self.lines.resize_with(place + 1, || None);
        }
        self.lines[place] = Some(Box::new(Line {
            session: Session::new(peer),
            receiving: Receiving::default(),
            outgoing: BTreeMap::new(),
            owing: false,
            rotate: now + KEY_LIFETIME,
        }));
    }

    /// Closes a session: its flows are gone, and what still comes of it is ignored.
    pub fn close(&mut self, number: u32) {
        let Some(line) = self.lines.get_mut(number as usize).and_then(Option::take) else { return };
        for place in line.outgoing.into_values() {
            self.flows[place] = None;
            self.free.push(place);
        }
        self.owing.retain(|&session| session != number);
    }

    fn line(&mut self, number: u32) -> Option<&mut Line> {
        self.lines.get_mut(number as usize)?.as_deref_mut()
    }

    /// Begins to send a flow. One of a session that is not open, or whose number is taken, is told by `false`.
    pub fn send(&mut self, now: Time, flow: Outgoing) -> bool {
        let place = self.free.last().copied().unwrap_or(self.flows.len());
        let id = flow.id;
        let Some(line) = self.line(id.session).filter(|line| !line.outgoing.contains_key(&id.flow)) else {
            return false;
        };
        line.outgoing.insert(id.flow, place);
        if self.free.pop().is_none() {
            self.flows.push(None);
        }
        self.flows[place] = Some(Box::new(Sending::new(now, flow)));
        self.settle(now, place);
        true
    }

    /// Expects a flow; `false` where its session is not open.
    pub fn expect(&mut self, flow: Incoming) -> bool {
        let line = self.line(flow.id.session);
        line.map(|line| line.receiving.expect(flow)).is_some()
    }

    /// Returns the oldest event that was not returned before; `None` if there is none.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The counts since it was made.
    pub fn counted(&self) -> &Counted {
        &self.counted
    }

    /// Round trips and windows of all flows together; none unless they are measured.
    pub fn measured(&self) -> Option<&Measured> {
        self.measured.as_deref()
    }

    /// The time from each operation's issue to its last acknowledgement.
    pub fn latency(&self) -> &Histogram {
        &self.latency
    }

    /// What each flow that is being sent has measured.
    pub fn sending(&self) -> impl Iterator<Item = (FlowId, SentFlow)> + '_ {
        self.flows.iter().flatten().map(|flow| (flow.id, flow.figures()))
    }

    /// What each flow that was expected has measured.
    pub fn received(&self) -> impl Iterator<Item = (FlowId, ReceivedFlow)> + '_ {
        let lines = self.lines.iter().enumerate().filter_map(|(number, line)| Some((number, line.as_ref()?)));
        lines.flat_map(|(number, line)| {
            let id = move |flow| FlowId { session: number as u32, flow };
            line.receiving.all_figures().map(move |(flow, figures)| (id(flow), figures))
        })
    }

    /// Switches on the way from the peer of a session, by its latest packet.
    pub fn hops_from(&self, session: u32) -> Option<u8> {
        self.lines.get(session as usize)?.as_ref()?.receiving.hops
    }

    /// Puts a flow where it belongs after something has happened to it: into the queue, under the clock, or out.
    fn settle(&mut self, now: Time, place: usize) {
        let Some(flow) = &mut self.flows[place] else { return };
        if flow.is_done() {
            return self.finish(place);
        }
        match flow.readiness(now) {
            Readiness::Ready if !flow.queued => {
                flow.queued = true;
                self.schedule.queue(place);
            }
            Readiness::At(then) => self.schedule.arm(then, place, &mut flow.armed),
            Readiness::Ready | Readiness::Idle => {}
        }
        if let Some(then) = flow.poll_timeout() {
            self.schedule.arm(then, place, &mut flow.armed);
        }
    }

    fn finish(&mut self, place: usize) {
        if let Some(flow) = self.remove(place) {
            self.events.push_back(Event::Sent(flow.id, Box::new(flow.figures())));
        }
    }

    fn remove(&mut self, place: usize) -> Option<Box<Sending>> {
        let flow = self.flows[place].take()?;
        self.free.push(place);
        if let Some(line) = self.line(flow.id.session) {
            line.outgoing.remove(&flow.id.flow);
        }
        Some(flow)
    }

    fn handle_ack(&mut self, now: Time, arrival: &Arrival, session: u32, flow: u32, ack: &Ack) {
        let place = self.line(session).and_then(|line| line.outgoing.get(&flow).copied());
        // The flow may be done: an acknowledgement of what came twice is late.
        let Some(place) = place else { return };
        let Some(sending) = self.flows[place].as_mut() else { return };
        let Some(delays) = sending.handle_ack(now, arrival, ack, &mut self.latency) else {
            self.counted.ignored.senseless += 1;
            return;
        };
        self.counted.acks += 1;
        self.counted.hops = Some(ack.hops);
        if let Some(measured) = &mut self.measured {
            let under_way = self.flows.len() - self.free.len();
            measured.record(&delays, under_way);
        }
        self.settle(now, place);
    }

    fn handle_text(&mut self, now: Time, arrival: &Arrival, session: u32, text: &[u8]) {
        match Packet::decode(text) {
            Ok((flow, Packet::Data(data))) => self.handle_data(now, arrival, session, flow, &data, text),
            Ok((_, Packet::Ack(_))) => {
                for bytes in text.chunks(HEADER_BYTES as usize) {
                    match Packet::decode(bytes) {
                        Ok((flow, Packet::Ack(ack))) => self.handle_ack(now, arrival, session, flow, &ack),
                        _ => self.counted.ignored.senseless += 1,
                    }
                }
            }
            Err(_) => self.counted.ignored.senseless += 1,
        }
    }

    fn handle_data(
        &mut self,
        now: Time,
        arrival: &Arrival,
        session: u32,
        flow: u32,
        data: &clearway_proto::transport::Data,
        text: &[u8],
    ) {
        let payload = &text[HEADER_BYTES as usize..];
        let Some(line) = self.lines.get_mut(session as usize).and_then(Option::as_deref_mut) else { return };
        let taken = if payload.len() == data.payload as usize {
            line.receiving.handle_data(now, arrival, flow, data, payload)
        } else {
            Taken::Senseless
        };
        if line.receiving.owes() && !line.owing {
            line.owing = true;
            self.owing.push_back(session);
        }
        let id = FlowId { session, flow };
        match taken {
            Taken::Quietly => {}
            Taken::Complete => {
                let figures = line.receiving.figures(flow).unwrap_or_default();
                self.events.push_back(Event::Received(id, figures));
            }
            Taken::Senseless => self.counted.ignored.senseless += 1,
            Taken::Failed(error) => self.events.push_back(Event::Unkept(id, error)),
        }
    }

    /// Writes acknowledgements of the session whose turn it is.
    fn transmit_acks(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let session = *self.owing.front()?;
        let Some(line) = self.line(session) else {
            self.owing.pop_front();
            return None;
        };
        let length = line.receiving.write(now, &mut buffer[HEAD_BYTES..][..ACKS_BYTES]);
        let more = line.receiving.owes();
        line.owing = more;
        let sent = (line.seal(now, buffer, length), line.session.address);
        self.counted.acks_sent += length as u64 / u64::from(HEADER_BYTES);
        self.owing.pop_front();
        if more {
            self.owing.push_back(session);
        }
        Some(sent)
    }

    /// Writes a packet of the flow whose turn it is.
    fn transmit_data(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let place = self.schedule.next()?;
        let Some(flow) = self.flows[place].as_mut() else {
            self.schedule.drop_next();
            return None;
        };
        if flow.readiness(now) != Readiness::Ready {
            self.leave_queue(now, place);
            return None;
        }
        let written = flow.transmit(now, &mut buffer[HEAD_BYTES..]);
        let (id, still) = (flow.id, flow.readiness(now) == Readiness::Ready);
        let length = match written {
            Ok(length) => length,
            Err(error) => {
                self.schedule.drop_next();
                self.remove(place);
                self.events.push_back(Event::Unreadable(id, error));
                return None;
            }
        };
        if still {
            if let Some(then) = flow.poll_timeout() {
                self.schedule.arm(then, place, &mut flow.armed);
            }
            self.schedule.took_turn();
        } else {
            self.leave_queue(now, place);
        }
        let line = self.line(id.session)?;
        Some((line.seal(now, buffer, length), line.session.address))
    }

    /// The flow whose turn it is has nothing more to send now.
    fn leave_queue(&mut self, now: Time, place: usize) {
        self.schedule.drop_next();
        if let Some(flow) = &mut self.flows[place] {
            flow.queued = false;
        }
        self.settle(now, place);
    }
}

impl Line {
    fn seal(&mut self, now: Time, datagram: &mut [u8], length: usize) -> usize {
        if now >= self.rotate {
            self.rotate = now + KEY_LIFETIME;
            self.session.rotate();
        }
        self.session.seal(datagram, length)
    }
}

impl Endpoint for Machine {
    fn handle_datagram(&mut self, now: Time, arrival: &Arrival, bytes: &mut [u8]) {
        let Some((head, prefix, sealed)) = Head::split(bytes).filter(|(head, ..)| head.endpoint == self.id)
        else {
            self.counted.ignored.stray += 1;
            return;
        };
        let Some(line) = self.lines.get_mut(head.session as usize).and_then(Option::as_deref_mut) else {
            self.counted.ignored.session += 1;
            return;
        };
        match line.session.open(arrival.from, head.counter, prefix, sealed) {
            Ok(text) => self.handle_text(now, arrival, head.session, text),
            Err(OpenError::Forged) => self.counted.ignored.forged += 1,
            Err(OpenError::Replayed) => self.counted.ignored.replayed += 1,
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some((then, place)) = self.schedule.run_out(now) {
            let Some(flow) = &mut self.flows[place] else { continue };
            if flow.armed != then {
                continue;
            }
            flow.armed = Time::NEVER;
            if flow.poll_timeout().is_some_and(|timeout| timeout <= now) {
                flow.handle_timeout(now);
            }
            self.settle(now, place);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.schedule.first()
    }

    fn readiness(&self, _now: Time) -> Readiness {
        if self.owing.is_empty() && self.schedule.is_empty() {
            Readiness::Idle
        } else {
            Readiness::Ready
        }
    }

    fn transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        if self.owing.is_empty() {
            self.transmit_data(now, buffer)
        } else {
            self.transmit_acks(now, buffer)
        }
    }

    /// A datagram that could not be sent is lost, as others may be.
    fn handle_send_error(&mut self, _now: Time, count: usize, _error: &io::Error) {
        self.counted.unsendable += count as u64;
    }

    fn handle_fragmentation(&mut self, length: usize) {
        self.events.push_back(Event::Fragmented(length));
    }
}
