//! Endpoints and arbiters in one process: a scripted clock, a network that delays, loses, duplicates and reorders control
//! packets, and machines that crash, pause or are cut off. Each machine has a clock of its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use clearway_proto::fastpass::arbiter::{Arbiter, ArbiterOutput, ArbiterParams, Role};
use clearway_proto::fastpass::endpoint::{Endpoint, EndpointOutput, EndpointParams, Mode};
use clearway_proto::fastpass::fcp::header::MAX_BYTES;
use clearway_proto::fastpass::fcp::{Grant, Packet, PathReport};
use clearway_proto::fastpass::receipts::SlotHeader;
use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

/// Real time begins when clocks without offset show this, so that no clock has to show less than zero.
const START: Span = Span::from_ms(10);

pub const fn us(us: u64) -> Time {
    Time::from_ps(us * 1_000_000)
}

/// Random numbers: `SplitMix64`.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Returns whether something of this many percent happens.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What the network does to control packets.
#[derive(Clone, Copy, Debug)]
pub struct Mischief {
    /// The least delay, and what is drawn on top of it.
    pub delay: Span,
    pub jitter: Span,
    /// Percent of packets lost, and of those that come twice.
    pub lost: u64,
    pub doubled: u64,
}

pub const PLAIN: Mischief = Mischief { delay: Span::from_us(3), jitter: Span::ZERO, lost: 0, doubled: 0 };

/// A packet that an endpoint sent in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub at: Time,
    pub source: u16,
    pub grant: Grant,
}

/// A machine: endpoints first, then arbiters.
type Machine = usize;

#[derive(Clone, Debug, PartialEq)]
enum Event {
    Wake(Machine),
    Deliver(Machine, Box<Packet>),
    Arrived { to: Machine, from: u16, header: SlotHeader },
    Offer { source: u16, destination: u16, packets: u32 },
    Crash(Machine),
    Restart(Machine),
    Resume(Machine),
    Cut(Machine, bool),
}

pub struct Net {
    pub endpoints: Vec<Endpoint>,
    pub arbiters: Vec<Option<Arbiter>>,
    pub mischief: Mischief,
    pub random: Random,
    pub now: Time,
    /// Picoseconds by which each machine's clock is ahead.
    pub offsets: Vec<i64>,
    /// Packets that wait at each endpoint, by destination.
    pub queues: Vec<Vec<u32>>,
    pub sent: Vec<Sent>,
    /// Slots that came when there was nothing to send in them.
    pub unused: u64,
    /// Packets sent while an endpoint was without an arbiter.
    pub unscheduled: u64,
    /// Whether an endpoint without an arbiter sends its packets by other means.
    pub drains: bool,
    /// Packets on this path do not arrive.
    pub dead_path: Option<u16>,
    /// All that endpoints have reported of paths.
    pub reports: Vec<PathReport>,
    /// Whether arbiters do not hear each other.
    pub arbiters_apart: bool,
    /// Packets in slots that have come.
    taken: u64,
    pub requests: u64,
    pub allocations: u64,
    params: (EndpointParams, ArbiterParams),
    /// Nanoseconds of an agreed clock at which one without offset showed zero, if slots are counted by it.
    agreed: Option<u64>,
    events: BinaryHeap<Reverse<(Time, u64)>>,
    what: BTreeMap<u64, Event>,
    order: u64,
    /// When each machine is to be woken.
    woken_at: Vec<Time>,
    paused: Vec<Option<Vec<Event>>>,
    cut: Vec<bool>,
    /// The newest term that each arbiter knew when it crashed.
    terms: Vec<u32>,
}

impl Net {
    pub fn new(endpoint: EndpointParams, arbiter: ArbiterParams, seed: u64) -> Net {
        Net::with_clocks(endpoint, arbiter, seed, &[])
    }

    /// A network whose machines' clocks are ahead by `offsets`, in picoseconds, or not if they are fewer.
    pub fn with_clocks(endpoint: EndpointParams, arbiter: ArbiterParams, seed: u64, offsets: &[i64]) -> Net {
        Net::of(endpoint, arbiter, seed, offsets, None)
    }

    /// A network whose machines' drivers started `started` nanoseconds before real time began, each at another time: so their
    /// clocks have nothing in common, but each knows what an agreed clock showed when its own began. That shows `agreed`
    /// nanoseconds when a clock without offset would show zero.
    pub fn with_epoch(
        endpoint: EndpointParams,
        arbiter: ArbiterParams,
        seed: u64,
        started: &[u64],
        agreed: u64,
    ) -> Net {
        let offsets: Vec<i64> =
            started.iter().map(|ns| i64::try_from(ns * 1000).expect("some days")).collect();
        Net::of(endpoint, arbiter, seed, &offsets, Some(agreed))
    }

    fn of(
        endpoint: EndpointParams,
        arbiter: ArbiterParams,
        seed: u64,
        offsets: &[i64],
        agreed: Option<u64>,
    ) -> Net {
        let (nodes, arbiters) = (usize::from(endpoint.nodes), usize::from(arbiter.arbiters));
        let machines = nodes + arbiters;
        let mut all = offsets.to_vec();
        all.resize(machines, 0);
        let mut net = Net {
            endpoints: Vec::new(),
            arbiters: vec![None; arbiters],
            mischief: PLAIN,
            random: Random(seed),
            now: Time::ZERO,
            offsets: all,
            queues: vec![vec![0; nodes]; nodes],
            sent: Vec::new(),
            unused: 0,
            unscheduled: 0,
            drains: false,
            dead_path: None,
            reports: Vec::new(),
            taken: 0,
            arbiters_apart: false,
            requests: 0,
            allocations: 0,
            params: (endpoint, arbiter),
            agreed,
            events: BinaryHeap::new(),
            what: BTreeMap::new(),
            order: 0,
            woken_at: vec![Time::NEVER; machines],
            paused: vec![None; machines],
            cut: vec![false; machines],
            terms: vec![0; arbiters],
        };
        for address in 0..nodes {
            let endpoint = Endpoint::new(&net.of_endpoint(address), address as u16, 1);
            net.endpoints.push(endpoint);
        }
        for rank in 0..arbiters {
            let params = net.of_arbiter(rank);
            let now = net.clock(nodes + rank);
            net.arbiters[rank] = Some(Arbiter::new(&params, now).expect("parameters that go together"));
        }
        (0..machines).for_each(|machine| net.pump(machine));
        net
    }

    /// Returns how a machine counts slots.
    fn timeslots(&self, machine: Machine) -> Timeslots {
        let timeslots = self.params.0.timeslots;
        self.agreed.map_or(timeslots, |ns| {
            timeslots.agreed(ns.checked_add_signed(-self.offsets[machine] / 1000).expect("an epoch long ago"))
        })
    }

    fn of_endpoint(&self, address: usize) -> EndpointParams {
        EndpointParams { timeslots: self.timeslots(address), ..self.params.0 }
    }

    fn of_arbiter(&self, rank: usize) -> ArbiterParams {
        let timeslots = self.timeslots(usize::from(self.params.0.nodes) + rank);
        ArbiterParams { rank: rank as u8, timeslots, ..self.params.1.clone() }
    }

    fn nodes(&self) -> usize {
        self.endpoints.len()
    }

    /// Returns what a machine's clock shows.
    pub fn clock(&self, machine: Machine) -> Time {
        Time::from_ps((self.now + START).as_ps().saturating_add_signed(self.offsets[machine]))
    }

    /// Returns when a machine's clock will show `local`, but not before now.
    fn real(&self, machine: Machine, local: Time) -> Time {
        let real = local.as_ps().saturating_add_signed(-self.offsets[machine]);
        Time::from_ps(real.saturating_sub(START.as_ps())).max(self.now)
    }

    fn at(&mut self, at: Time, event: Event) {
        self.order += 1;
        self.what.insert(self.order, event);
        self.events.push(Reverse((at, self.order)));
    }

    /// `packets` more to send from one endpoint to another.
    pub fn offer(&mut self, at: Time, source: u16, destination: u16, packets: u32) {
        self.at(at, Event::Offer { source, destination, packets });
    }

    pub fn crash(&mut self, at: Time, rank: usize) {
        self.at(at, Event::Crash(self.nodes() + rank));
    }

    pub fn restart(&mut self, at: Time, rank: usize) {
        self.at(at, Event::Restart(self.nodes() + rank));
    }

    /// An endpoint starts again, now.
    pub fn restart_endpoint(&mut self, endpoint: u16, incarnation: u32) {
        let params = self.of_endpoint(endpoint.into());
        self.endpoints[usize::from(endpoint)] = Endpoint::new(&params, endpoint, incarnation);
    }

    /// A machine stands still for a time: what comes meanwhile waits.
    pub fn pause(&mut self, at: Time, machine: Machine, span: Span) {
        self.run(at);
        self.paused[machine] = Some(Vec::new());
        self.at(at + span, Event::Resume(machine));
    }

    /// From `at` on nothing comes to or from a machine, until `until`.
    pub fn cut(&mut self, at: Time, machine: Machine, until: Time) {
        self.at(at, Event::Cut(machine, true));
        self.at(until, Event::Cut(machine, false));
    }

    /// Lets time pass until `until`.
    pub fn run(&mut self, until: Time) {
        while let Some(&Reverse((at, order))) = self.events.peek() {
            if at > until {
                break;
            }
            self.events.pop();
            self.now = at;
            let event = self.what.remove(&order).expect("an event a number");
            self.happen(event);
        }
        self.now = until;
    }

    fn happen(&mut self, event: Event) {
        let machine = match event {
            Event::Wake(machine) if self.woken_at[machine] > self.now => return,
            Event::Wake(machine) | Event::Deliver(machine, _) | Event::Arrived { to: machine, .. } => machine,
            Event::Offer { source, .. } => usize::from(source),
            Event::Crash(machine) => {
                let arbiter = self.arbiters[machine - self.endpoints.len()].take();
                let rank = machine - self.nodes();
                self.terms[rank] = arbiter.map_or(self.terms[rank], |arbiter| arbiter.term());
                return;
            }
            Event::Restart(machine) => {
                let rank = machine - self.nodes();
                let params = self.of_arbiter(rank);
                let arbiter = Arbiter::restarted(&params, self.clock(machine), self.terms[rank]);
                self.arbiters[rank] = Some(arbiter.expect("parameters that go together"));
                return self.pump(machine);
            }
            Event::Resume(machine) => {
                let waiting = self.paused[machine].take().expect("a machine that was paused");
                for event in waiting {
                    self.happen(event);
                }
                self.woken_at[machine] = Time::NEVER;
                return self.wake(machine);
            }
            Event::Cut(machine, cut) => return self.cut[machine] = cut,
        };
        if let Some(waiting) = &mut self.paused[machine] {
            waiting.push(event);
            return;
        }
        match event {
            Event::Deliver(_, packet) => self.deliver(machine, &packet),
            Event::Arrived { from, header, .. } => self.take_data(machine, from, &header),
            Event::Offer { source, destination, packets } => {
                let now = self.clock(machine);
                let queue = &mut self.queues[usize::from(source)][usize::from(destination)];
                *queue += packets;
                let slots = *queue;
                self.endpoints[machine].handle_backlog(now, destination, slots);
            }
            _ => return self.wake(machine),
        }
        self.pump(machine);
    }

    /// A packet sent in a slot has come. Every eighth is answered by a packet in no slot, so that headers go both ways.
    fn take_data(&mut self, machine: Machine, from: u16, header: &SlotHeader) {
        let now = self.clock(machine);
        self.endpoints[machine].handle_header(from, header);
        while self.endpoints[machine].poll_settled().is_some() {}
        self.taken += 1;
        if self.taken % 8 == 0 {
            let answer = Grant { slot: 0, destination: from, path: 0 };
            let header = self.endpoints[machine].stamp(now, &answer);
            self.endpoints[usize::from(from)].handle_header(machine as u16, &header);
            while self.endpoints[usize::from(from)].poll_settled().is_some() {}
        }
    }

    fn wake(&mut self, machine: Machine) {
        let now = self.clock(machine);
        self.woken_at[machine] = Time::NEVER;
        if machine < self.nodes() {
            self.endpoints[machine].handle_timeout(now);
        } else if let Some(arbiter) = &mut self.arbiters[machine - self.endpoints.len()] {
            arbiter.handle_timeout(now);
        }
        self.pump(machine);
    }

    fn deliver(&mut self, machine: Machine, packet: &Packet) {
        let now = self.clock(machine);
        if let Some(endpoint) = self.endpoints.get_mut(machine) {
            match packet {
                Packet::Allocation(allocation) => endpoint.handle_allocation(now, allocation),
                Packet::Reset(reset) => endpoint.handle_reset(now, reset),
                Packet::Trial(trial) => endpoint.handle_trial(trial),
                other => panic!("{other:?} to an endpoint"),
            }
        } else if let Some(arbiter) = &mut self.arbiters[machine - self.endpoints.len()] {
            match packet {
                Packet::Request(request) => arbiter.handle_request(now, request),
                Packet::Watchdog(watchdog) => arbiter.handle_watchdog(now, watchdog),
                Packet::Answer(answer) => arbiter.handle_answer(now, answer),
                other => panic!("{other:?} to an arbiter"),
            }
        }
    }

    /// Sends all that a machine has to send now, and notes when it is to be woken.
    fn pump(&mut self, machine: Machine) {
        let now = self.clock(machine);
        let (ready, timeout) = loop {
            let (readiness, timeout) = if let Some(endpoint) = self.endpoints.get(machine) {
                (endpoint.readiness(now), endpoint.poll_timeout())
            } else if let Some(arbiter) = &self.arbiters[machine - self.endpoints.len()] {
                (arbiter.readiness(now), arbiter.poll_timeout())
            } else {
                return;
            };
            match readiness {
                Readiness::Ready => self.transmit(machine, now),
                Readiness::At(at) => break (at, timeout),
                Readiness::Idle => break (Time::NEVER, timeout),
            }
        };
        if machine < self.nodes() && self.drains && self.endpoints[machine].mode() == Mode::Unscheduled {
            self.drain(machine, now);
        }
        let first = ready.min(timeout.unwrap_or(Time::NEVER));
        if first != Time::NEVER {
            let at = self.real(machine, first);
            if at < self.woken_at[machine] || self.woken_at[machine] <= self.now {
                self.woken_at[machine] = at;
                self.at(at, Event::Wake(machine));
            }
        }
    }

    /// Sends a packet of each queue of an endpoint by other means.
    fn drain(&mut self, machine: Machine, now: Time) {
        for destination in 0..self.nodes() {
            if self.queues[machine][destination] > 0 {
                self.queues[machine][destination] -= 1;
                self.unscheduled += 1;
                let slots = self.queues[machine][destination];
                self.endpoints[machine].handle_backlog(now, destination as u16, slots);
            }
        }
    }

    fn transmit(&mut self, machine: Machine, now: Time) {
        if machine < self.nodes() {
            match self.endpoints[machine].transmit(now) {
                EndpointOutput::Request(request) => {
                    self.requests += 1;
                    self.reports.extend(request.reports.iter());
                    for rank in 0..self.arbiters.len() {
                        self.send(machine, self.nodes() + rank, &Packet::Request(request));
                    }
                }
                EndpointOutput::Slot(grant) => self.use_slot(machine, now, grant),
                EndpointOutput::Answer(answer, path) => {
                    if Some(path) != self.dead_path {
                        let arbiter = self.nodes() + usize::from(answer.rank);
                        self.send(machine, arbiter, &Packet::Answer(answer));
                    }
                }
                EndpointOutput::Trial(trial, path) => {
                    if Some(path) != self.dead_path {
                        self.send(machine, trial.to.into(), &Packet::Trial(trial));
                    }
                }
            }
            return;
        }
        let rank = machine - self.nodes();
        let arbiter = self.arbiters[rank].as_mut().expect("an arbiter that is alive");
        match arbiter.transmit(now) {
            ArbiterOutput::Allocation(allocation, _) => {
                self.allocations += 1;
                self.send(machine, usize::from(allocation.to), &Packet::Allocation(allocation));
            }
            ArbiterOutput::Trial(trial, path) => {
                if Some(path) != self.dead_path {
                    self.send(machine, usize::from(trial.to), &Packet::Trial(trial));
                }
            }
            ArbiterOutput::Reset(reset, _) => {
                self.send(machine, usize::from(reset.to), &Packet::Reset(reset));
            }
            ArbiterOutput::Watchdog(watchdog) => {
                for other in (0..self.arbiters.len()).filter(|&other| other != rank) {
                    self.send(machine, self.nodes() + other, &Packet::Watchdog(watchdog));
                }
            }
        }
    }

    fn use_slot(&mut self, machine: Machine, now: Time, grant: Grant) {
        let queue = &mut self.queues[machine][usize::from(grant.destination)];
        if *queue == 0 {
            self.unused += 1;
        } else {
            *queue -= 1;
            let header = self.endpoints[machine].stamp(now, &grant);
            if Some(grant.path) != self.dead_path {
                let (to, from) = (usize::from(grant.destination), machine as u16);
                self.order += 1;
                self.what.insert(self.order, Event::Arrived { to, from, header });
                self.events.push(Reverse((self.now + Span::from_us(10), self.order)));
            }
            self.sent.push(Sent { at: self.now, source: machine as u16, grant });
        }
        let slots = *queue;
        self.endpoints[machine].handle_backlog(now, grant.destination, slots);
    }

    fn send(&mut self, from: Machine, to: Machine, packet: &Packet) {
        let mut bytes = [0; MAX_BYTES];
        let len = packet.encode(&mut bytes).expect("a packet that can be written");
        assert_eq!(Packet::decode(&bytes[..len]).as_ref(), Ok(packet));
        let between_arbiters = from.min(to) >= self.nodes();
        if self.cut[from] || self.cut[to] || self.arbiters_apart && between_arbiters {
            return;
        }
        let copies = 1 + u32::from(self.random.percent(self.mischief.doubled));
        for _ in 0..copies {
            if self.random.percent(self.mischief.lost) {
                continue;
            }
            let jitter = Span::from_ps(self.random.below(self.mischief.jitter.as_ps() + 1));
            self.at(self.now + self.mischief.delay + jitter, Event::Deliver(to, Box::new(*packet)));
        }
    }

    /// Packets that wait anywhere.
    pub fn waiting(&self) -> u32 {
        self.queues.iter().flatten().sum()
    }

    /// The primary arbiter of the newest term.
    pub fn primary(&self) -> Option<&Arbiter> {
        let primaries = self.arbiters.iter().flatten().filter(|arbiter| arbiter.role() == Role::Primary);
        primaries.max_by_key(|arbiter| arbiter.term())
    }

    /// Slots in which a source or a destination has two packets.
    pub fn slots_used_twice(&self) -> usize {
        let mut used = BTreeMap::new();
        for sent in &self.sent {
            *used.entry((sent.grant.slot, false, sent.source)).or_insert(0) += 1;
            *used.entry((sent.grant.slot, true, sent.grant.destination)).or_insert(0) += 1;
        }
        used.values().filter(|&&packets| packets > 1).count()
    }
}
