//! The machine of an endpoint, driven over FCP's socket, with the carriage of the host's traffic.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;

use clearway_proto::fastpass::endpoint::{Endpoint, EndpointCounters, EndpointOutput, EndpointParams, Mode};
use clearway_proto::fastpass::fcp::{Address, Packet, Request, Watchdog};
use clearway_proto::fastpass::receipts::Fate;
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};
use tracing::{error, info, warn};

use crate::daemon::output::Problem;
use crate::datagram::driver::{self, Arrival};
use crate::fastpass::carriage::{Carriage, Figures};
use crate::fastpass::kept::Kept;
use crate::fastpass::link::node::{sooner, Node, Start};
use crate::fastpass::link::wire::{Ignored, LinkFigures, Peer, Wire};
use crate::realtime;

/// The time between two looks at the clocks.
const LOOK: Span = Span::from_secs(1);

/// The parts that an endpoint's node is made of.
pub struct Make {
    /// The machine's parameters; their slots are replaced by those of the driver's clock.
    pub params: EndpointParams,
    /// Its address.
    pub address: Address,
    /// The number of arbiters.
    pub arbiters: u8,
    /// The incarnation that its earlier lives have come to.
    pub kept: Kept,
    /// Carries the host's traffic.
    pub carriage: Box<dyn Carriage>,
    /// How long before a slot the driver wakes up to be on time.
    pub spin: Span,
    /// The part of a slot that is left empty whatever the clocks say.
    pub guard: Span,
}

/// An endpoint, its sessions, and what carries its traffic.
pub struct EndpointNode {
    wire: Wire,
    machine: Endpoint,
    arbiters: u8,
    carriage: Box<dyn Carriage>,
    kept: Kept,
    slot: Span,
    spin: Span,
    guards: Guards,
    mode: Mode,
    /// A request, and the arbiters that it has not been sent to.
    request: (Request, VecDeque<Peer>),
    packet: Packet,
    started: Time,
    look_at: Time,
    unscheduled_ns: (u64, Option<Time>),
    unused: u64,
    lost: u64,
    send_errors: u64,
}

/// The part of each slot that is left empty.
#[derive(Clone, Copy, Debug)]
struct Guards {
    /// At least.
    least: Span,
    /// Now, with what clocks may be apart.
    now: Span,
    warned: bool,
}

/// An endpoint as it is seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Whether it sends in slots.
    pub mode: Mode,
    /// The term that it follows; 0 for none.
    pub term: u32,
    /// How long it has been running, in nanoseconds.
    pub uptime_ns: u64,
    /// How long of that it has sent without slots, in nanoseconds.
    pub unscheduled_ns: u64,
    /// The part of each slot that is left empty, in nanoseconds.
    pub guard_ns: u64,
    /// The counts of the machine.
    pub counters: EndpointCounters,
    /// Slots in whose time nothing waited any more.
    pub unused: u64,
    /// Slots used in which nothing arrived, as their destinations say.
    pub lost: u64,
    /// The counts of the carriage.
    pub figures: Figures,
    /// Its sessions.
    pub links: Vec<LinkFigures>,
    /// Datagrams of FCP that were ignored.
    pub ignored: Ignored,
    /// Datagrams that the kernel dropped at FCP's socket.
    pub socket_drops: u32,
    /// Datagrams of FCP that could not be sent.
    pub send_errors: u64,
}

impl EndpointNode {
    /// An endpoint that has heard of no arbiter.
    pub fn new(make: Make, start: &Start) -> io::Result<EndpointNode> {
        let Make { params, address, arbiters, mut kept, mut carriage, spin, guard } = make;
        let params = EndpointParams { timeslots: start.timeslots, ..params };
        let incarnation = kept.number().wrapping_add(1);
        kept.write(incarnation)?;
        carriage.set_guard(guard);
        let (id, unix_ns) = start.wire;
        Ok(EndpointNode {
            wire: Wire::new(id, unix_ns),
            machine: Endpoint::new(&params, address, incarnation),
            arbiters,
            carriage,
            kept,
            slot: params.timeslots.length(),
            spin,
            guards: Guards { least: guard, now: guard, warned: false },
            mode: Mode::Scheduled,
            request: (Request::default(), VecDeque::new()),
            packet: Packet::Watchdog(Watchdog::default()),
            started: start.now,
            look_at: start.now + LOOK,
            unscheduled_ns: (0, None),
            unused: 0,
            lost: 0,
            send_errors: 0,
        })
    }

    /// Tells the machine what waits and what has come, and the carriage whether there is an arbiter.
    fn exchange(&mut self, now: Time) {
        let EndpointNode { machine, carriage, lost, .. } = self;
        carriage.headers(&mut |from, header| machine.handle_header_at(now, from, &header));
        carriage.receipts(&mut |from, header| machine.handle_receipt(from, &header));
        // Of a lost packet the kernel's own TCP learns from the other end; here it is but counted, for reports of failed paths.
        while let Some((_, settled)) = machine.poll_settled() {
            *lost += u64::from(settled.fate == Fate::Lost);
        }
        carriage.backlog(now, &mut |destination, slots| machine.handle_backlog(now, destination, slots));
        self.follow_up(now);
        self.probe(now);
    }

    /// Sends what is due beside the slots.
    fn probe(&mut self, now: Time) {
        while let Some(probe) = self.machine.probe(now) {
            self.carriage.probe(&probe);
        }
    }

    /// Does what follows when something has happened to the machine.
    fn follow_up(&mut self, now: Time) {
        if self.machine.incarnation() != self.kept.number() {
            if let Err(error) = self.kept.write(self.machine.incarnation()) {
                error!(%error, "the incarnation cannot be kept: after a restart arbiters may refuse this endpoint");
            }
        }
        if self.machine.mode() == self.mode {
            return;
        }
        self.mode = self.machine.mode();
        self.carriage.mode(now, self.mode);
        match self.mode {
            Mode::Scheduled => {
                let spent = self.unscheduled_ns.1.take().map_or(0, |since| now.since(since).as_ps() / 1000);
                self.unscheduled_ns.0 += spent;
                info!(term = self.machine.term(), "an arbiter is heard: packets leave in timeslots");
            }
            Mode::Unscheduled => {
                self.unscheduled_ns.1 = Some(now);
                warn!("no arbiter is heard: packets leave without timeslots");
            }
        }
    }

    /// Sets the part of a slot that is left empty to what this host's clock may be from the primary's.
    fn mind_clocks(&mut self) {
        // Terms go around the ranks: the first is of rank 0.
        let primary = self.machine.term().checked_sub(1).map(|term| term % u32::from(self.arbiters));
        let offset = primary.and_then(|rank| self.wire.offset(Peer::Arbiter(rank as u8)));
        let apart = offset.map_or(Span::ZERO, |offset| Span::from_ns(offset.most_ns()));
        let guard = self.guards.least.max(apart.min(self.slot / 2));
        if guard != self.guards.now {
            self.guards.now = guard;
            self.carriage.set_guard(guard);
        }
        let (slot_ns, apart_ns) = (self.slot.as_ps() / 1000, apart.as_ps() / 1000);
        let eats = apart > self.slot / 4;
        if eats && !self.guards.warned {
            warn!(apart_ns, slot_ns, "clocks are apart by more than a quarter of a timeslot: synchronise them (PTP, NTP), or use longer timeslots");
        }
        self.guards.warned = eats;
    }

    /// Writes the request for the next arbiter.
    fn write_request(&mut self, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let peer = self.request.1.pop_front()?;
        let packet = Packet::Request(self.request.0);
        self.wire.write(peer, &packet, buffer)
    }
}

impl driver::Endpoint for EndpointNode {
    fn handle_datagram(&mut self, now: Time, arrival: &Arrival, bytes: &mut [u8]) {
        let Some((_, text)) = self.wire.receive(now, arrival, bytes) else { return };
        if self.packet.decode_into(text).is_err() {
            self.wire.refuse();
            return;
        }
        // Clocks are compared by when a packet came.
        match &self.packet {
            Packet::Allocation(allocation) => self.machine.handle_allocation(arrival.received, allocation),
            Packet::Reset(reset) => self.machine.handle_reset(arrival.received, reset),
            _ => {
                self.wire.refuse();
                return;
            }
        }
        self.follow_up(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.carriage.poll_timeout().is_some_and(|at| at <= now) {
            self.carriage.handle_timeout(now);
        }
        if self.look_at <= now {
            self.look_at = now + LOOK;
            self.mind_clocks();
        }
        self.probe(now);
        if self.machine.poll_timeout().is_some_and(|at| at <= now) {
            self.machine.handle_timeout(now);
            self.follow_up(now);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        let of_machine = self.machine.poll_timeout().unwrap_or(Time::NEVER);
        let of_carriage = self.carriage.poll_timeout().unwrap_or(Time::NEVER);
        Some(of_machine.min(of_carriage).min(self.look_at).min(self.machine.probe_timeout()))
    }

    fn readiness(&self, now: Time) -> Readiness {
        if !self.request.1.is_empty() {
            return Readiness::Ready;
        }
        sooner(self.machine.readiness(now), self.wire.readiness(now))
    }

    fn transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        if !self.request.1.is_empty() {
            return self.write_request(buffer);
        }
        if self.machine.readiness(now) != Readiness::Ready {
            return self.wire.transmit(now, buffer);
        }
        match self.machine.transmit(now) {
            EndpointOutput::Request(request) => {
                self.request = (request, self.wire.peers().collect());
                self.write_request(buffer)
            }
            EndpointOutput::Slot(grant) => {
                let EndpointNode { machine, carriage, .. } = self;
                let left = carriage.slot(now, &grant, &mut || machine.stamp(now, &grant));
                self.unused += u64::from(!left);
                None
            }
            // Arbiters of hosts send no trials, so that there are none to be answered or sent on.
            EndpointOutput::Answer(..) | EndpointOutput::Trial(..) => None,
        }
    }

    fn handle_send_error(&mut self, _now: Time, count: usize, _error: &io::Error) {
        self.send_errors += count as u64;
    }

    fn handle_fragmentation(&mut self, length: usize) {
        warn!(
            length,
            "the path to an arbiter does not carry datagrams of this many bytes: they leave in fragments"
        );
    }

    fn handle_wake(&mut self, now: Time) {
        self.exchange(now);
    }

    fn spin(&self) -> Span {
        self.spin
    }
}

impl Node for EndpointNode {
    const PRIORITY: u8 = realtime::OF_ENDPOINTS;

    type Seen = Seen;

    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn look(&mut self, now: Time, drops: u32) -> Seen {
        let going_on = self.unscheduled_ns.1.map_or(0, |since| now.since(since).as_ps() / 1000);
        Seen {
            mode: self.machine.mode(),
            term: self.machine.term(),
            uptime_ns: now.since(self.started).as_ps() / 1000,
            unscheduled_ns: self.unscheduled_ns.0 + going_on,
            guard_ns: self.guards.now.as_ps() / 1000,
            counters: *self.machine.counters(),
            unused: self.unused,
            lost: self.lost,
            figures: self.carriage.figures(),
            links: self.wire.figures(now),
            ignored: self.wire.ignored(),
            socket_drops: drops,
            send_errors: self.send_errors,
        }
    }

    fn trouble(&self) -> Option<Problem> {
        self.carriage.trouble()
    }

    fn end(&mut self, now: Time) {
        // What limits the host's sockets is lifted.
        self.carriage.mode(now, Mode::Unscheduled);
    }
}
