//! What an arbiter would have to do, by letting its allocator do it: messages come to endpoints as a Poisson process between
//! hosts drawn uniformly, endpoints ask as [`clearway_proto::fastpass::endpoint`] does, at most once in an interval, and the allocator
//! grants batch by batch. Nothing is lost, and nothing but these rules takes time.
//!
//! Packets that arrive are acknowledged in slots of their own: an acknowledgement asks for one, and takes along those for the same
//! sender that come until then, as many as fit.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams, ParamsError, Schedule};
use clearway_proto::fastpass::fcp::message::{MOST_DEMANDS, MOST_GRANTED};
use clearway_proto::histogram::Histogram;
use clearway_proto::units::Span;

use super::workload::{Requests, Sizes};

/// Parts of a slot in which times are counted.
const SLOT: u64 = 1 << 12;

/// The load and the delays that a rehearsal runs. Times are in slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RehearsalParams {
    /// Endpoints.
    pub hosts: u16,
    /// Slots of a batch.
    pub batch: u32,
    /// Slots from a batch's allocation to its first one.
    pub ahead: u32,
    /// The share of the slots in which an endpoint sends data.
    pub load: f64,
    /// Slots of a message.
    pub message: u32,
    /// The least time between two requests of an endpoint.
    pub interval: f64,
    /// Acknowledgements that share a slot.
    pub acks_a_slot: u32,
    /// The time from an endpoint to the arbiter, and from a slot to the receiver.
    pub way: f64,
    /// How many slots pass.
    pub slots: u64,
}

/// The counts of a rehearsal, since a fifth of its time had passed.
#[derive(Clone, Debug, Default)]
pub struct Rehearsal {
    /// The slots that have passed.
    pub slots: u64,
    /// Requests.
    pub requests: u64,
    /// Demands in them.
    pub demands: u64,
    /// Allocations with grants.
    pub allocations: u64,
    /// Destinations in them.
    pub destinations: u64,
    /// Slots that were granted.
    pub granted: u64,
    /// Slots that were granted for data.
    pub data: u64,
    /// Times from a message's coming to its first slot, in units of which a slot has [`SLOT`].
    first: Histogram,
    /// Times from a message's coming to its last slot, in the same units.
    last: Histogram,
    /// Slots of data asked for and not granted at the end, and when half of the time had passed.
    waiting: [u64; 2],
}

impl Rehearsal {
    /// Returns mean and 99th percentile in slots of the time from a message's coming to its first slot; `None` without a message.
    pub fn first_slot(&self) -> Option<[f64; 2]> {
        in_slots(&self.first)
    }

    /// Returns mean and 99th percentile in slots of the time from a message's coming to its last slot; `None` without a message.
    pub fn last_slot(&self) -> Option<[f64; 2]> {
        in_slots(&self.last)
    }

    /// Returns whether more is asked for than granted, all the time: nearly every slot of `hosts` hosts is granted, or more waits
    /// at the end than chance explains for messages of `message` slots.
    pub fn falls_behind(&self, hosts: u16, message: u32) -> bool {
        let full = self.granted as f64 > FULL * (f64::from(hosts) * self.slots as f64);
        let [end, half] = self.waiting.map(|slots| slots as f64);
        let chance = 4.0 * (self.data as f64 * f64::from(message)).sqrt();
        full || end - half > chance.max(0.02 * self.data as f64)
    }
}

/// The share of slots from which on they are as good as all.
const FULL: f64 = 0.97;

fn in_slots(times: &Histogram) -> Option<[f64; 2]> {
    Some([times.mean()? / SLOT as f64, times.quantile(0.99)? as f64 / SLOT as f64])
}

/// What happens at an endpoint, in the order of time and then of these numbers.
type Event = Reverse<(u64, u64, Happens)>;

/// What happens at an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happens {
    /// There is a message to send, or an acknowledgement.
    Needs(Ask),
    /// Demands reach the arbiter.
    Reaches(Ask),
    /// A slot begins that was granted to a source and a destination, for data or for an acknowledgement.
    Slot(Pair, bool),
}

/// A source and a destination.
type Pair = (u16, u16);

/// Slots that a pair asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ask {
    pair: Pair,
    slots: u32,
    data: bool,
}

/// What a pair has to send, and what it was promised.
#[derive(Clone, Debug, Default)]
struct Between {
    /// Messages, the one whose turn is next first, with when they came, the slots that they need still, and whether they have had
    /// one.
    messages: VecDeque<(u64, u32, bool)>,
    /// Acknowledgements that wait, and the slots that they have asked for.
    acknowledgements: u32,
    acknowledging: u32,
    /// The slots that were asked for and not granted, in order, and whether each is for data.
    asked: VecDeque<(u32, bool)>,
}

/// An endpoint's requests.
#[derive(Clone, Debug, Default)]
struct Endpoint {
    /// When the next request may leave.
    free: u64,
    /// What it will ask for.
    pending: Vec<Ask>,
    /// The destinations among that.
    destinations: Vec<u16>,
}

struct Stage {
    params: RehearsalParams,
    allocator: Allocator,
    endpoints: Vec<Endpoint>,
    events: BinaryHeap<Event>,
    pairs: BTreeMap<Pair, Between>,
    number: u64,
    counts: Rehearsal,
    data_waiting: u64,
}

/// Rehearses with what `seed` draws.
///
/// Errors: as [`Allocator::new`].
pub fn rehearse(params: &RehearsalParams, seed: u64) -> Result<Rehearsal, ParamsError> {
    let allocator = Allocator::new(&AllocatorParams {
        nodes: params.hosts.into(),
        slots: params.batch,
        limit: u16::MAX,
        ..AllocatorParams::default()
    })?;
    let mut stage = Stage {
        params: *params,
        allocator,
        endpoints: vec![Endpoint::default(); params.hosts.into()],
        events: BinaryHeap::new(),
        pairs: BTreeMap::new(),
        number: 0,
        counts: Rehearsal::default(),
        data_waiting: 0,
    };
    let mut messages = Requests::new(seed, params.hosts, params.message, Sizes::Fixed);
    let gap = f64::from(params.message) / (f64::from(params.hosts) * params.load) * SLOT as f64;
    let batches = params.slots.div_ceil(params.batch.into());
    let mut next = messages.gap() * gap;
    for batch in 0..batches {
        let now = batch * u64::from(params.batch) * SLOT;
        while (next as u64) <= now {
            let one = messages.one();
            let ask = Ask { pair: (one.source, one.destination), slots: one.slots, data: true };
            stage.add(next as u64, Happens::Needs(ask));
            next += messages.gap() * gap;
        }
        if batch == batches / 5 {
            stage.counts = Rehearsal::default();
        }
        if batch == batches / 2 {
            stage.counts.waiting[1] = stage.data_waiting;
        }
        stage.counts.slots += u64::from(params.batch);
        stage.run_batch(now);
    }
    stage.counts.waiting[0] = stage.data_waiting;
    Ok(stage.counts)
}

impl Stage {
    fn add(&mut self, at: u64, event: Happens) {
        self.number += 1;
        self.events.push(Reverse((at, self.number, event)));
    }

    fn way(&self) -> u64 {
        (self.params.way * SLOT as f64) as u64
    }

    /// All that happens until a batch is allocated, and that.
    fn run_batch(&mut self, now: u64) {
        self.happen_until(now);
        for number in 0..self.endpoints.len() {
            let endpoint = &self.endpoints[number];
            if !endpoint.pending.is_empty() && endpoint.free <= now {
                self.request(number, endpoint.free);
            }
        }
        // What has left just now may be there already.
        self.happen_until(now);
        self.allocator.allocate();
        self.tell(now);
    }

    fn happen_until(&mut self, now: u64) {
        while self.events.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            let Some(Reverse((at, _, event))) = self.events.pop() else { return };
            match event {
                Happens::Needs(ask) => self.need(at, ask),
                Happens::Reaches(ask) => self.join(ask),
                Happens::Slot(pair, data) => self.send(at, pair, data),
            }
        }
    }

    /// A message has come to be sent, or an acknowledgement.
    fn need(&mut self, at: u64, ask: Ask) {
        let between = self.pairs.entry(ask.pair).or_default();
        if ask.data {
            between.messages.push_back((at, ask.slots, false));
        } else {
            between.acknowledgements += 1;
            if between.acknowledgements <= between.acknowledging * self.params.acks_a_slot {
                return;
            }
            between.acknowledging += 1;
        }
        let number = usize::from(ask.pair.0);
        let endpoint = &self.endpoints[number];
        if !endpoint.pending.is_empty() && endpoint.free <= at {
            self.request(number, endpoint.free);
        }
        let endpoint = &mut self.endpoints[number];
        endpoint.pending.push(ask);
        if !endpoint.destinations.contains(&ask.pair.1) {
            endpoint.destinations.push(ask.pair.1);
        }
        // A request that is full does not wait.
        if endpoint.free <= at || endpoint.destinations.len() >= MOST_DEMANDS {
            self.request(number, at);
        }
    }

    /// An endpoint asks for all that it needs.
    fn request(&mut self, number: usize, at: u64) {
        let there = at + self.way();
        let endpoint = &mut self.endpoints[number];
        endpoint.free = at + (self.params.interval * SLOT as f64) as u64;
        self.counts.requests += 1;
        self.counts.demands += endpoint.destinations.len() as u64;
        endpoint.destinations.clear();
        for ask in std::mem::take(&mut endpoint.pending) {
            self.add(there, Happens::Reaches(ask));
        }
    }

    /// A demand reaches the arbiter.
    fn join(&mut self, ask: Ask) {
        let (source, destination) = ask.pair;
        // More than a pair may wait for is asked for only where too much is asked for anyway.
        if self.allocator.request(source.into(), destination.into(), ask.slots).is_ok() {
            self.data_waiting += if ask.data { u64::from(ask.slots) } else { 0 };
            self.pairs.entry(ask.pair).or_default().asked.push_back((ask.slots, ask.data));
        }
    }

    /// The endpoints learn of the slots that were granted.
    fn tell(&mut self, now: u64) {
        let first = now + u64::from(self.params.ahead) * SLOT;
        let granted = slots_of(self.allocator.schedule());
        let mut told: Vec<Pair> = granted.iter().map(|(_, pair)| *pair).collect();
        told.sort_unstable();
        told.dedup();
        self.counts.destinations += told.len() as u64;
        for of_one in told.chunk_by(|a, b| a.0 == b.0) {
            self.counts.allocations += of_one.len().div_ceil(MOST_GRANTED) as u64;
        }
        self.counts.granted += granted.len() as u64;
        for (slot, pair) in granted {
            let asked = &mut self.pairs.get_mut(&pair).expect("a grant is of a demand").asked;
            let oldest = asked.front_mut().expect("a grant is of a demand");
            let data = oldest.1;
            oldest.0 -= 1;
            if oldest.0 == 0 {
                asked.pop_front();
            }
            self.data_waiting -= u64::from(data);
            self.counts.data += u64::from(data);
            self.add(first + u64::from(slot) * SLOT, Happens::Slot(pair, data));
        }
    }

    /// A slot begins: the messages of a pair have theirs in turn, whichever was asked for first.
    fn send(&mut self, at: u64, pair: Pair, data: bool) {
        let between = self.pairs.get_mut(&pair).expect("a slot is of a demand");
        if !data {
            between.acknowledging -= 1;
            between.acknowledgements = between.acknowledgements.saturating_sub(self.params.acks_a_slot);
            return;
        }
        let (came, left, begun) = between.messages.pop_front().expect("a slot is of a message");
        if !begun {
            self.counts.first.record(Span::from_ps(at - came));
        }
        if left == 1 {
            self.counts.last.record(Span::from_ps(at - came));
        } else {
            between.messages.push_back((came, left - 1, true));
        }
        let back = Ask { pair: (pair.1, pair.0), slots: 1, data: false };
        let there = at + SLOT + self.way();
        self.add(there, Happens::Needs(back));
    }
}

/// The grants of a batch, each with its slot.
fn slots_of(schedule: &Schedule) -> Vec<(u32, (u16, u16))> {
    let of = |slot| schedule.slot(slot).iter().map(move |pair| (slot, (pair.source(), pair.destination())));
    (0..schedule.slots()).flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: RehearsalParams = RehearsalParams {
        hosts: 32,
        batch: 16,
        ahead: 40,
        load: 0.02,
        message: 1,
        interval: 27.0,
        acks_a_slot: 15,
        way: 2.0,
        slots: 200_000,
    };

    #[test]
    fn without_load_a_message_waits_for_its_way_its_batch_and_what_is_ahead() {
        let done = rehearse(&QUIET, 1).expect("parameters");
        let [mean, p99] = done.first_slot().expect("messages");
        // Asked at once but for what came less than 27 slots before (some 2 * 0.02 * 27 of all, and 13 slots on average),
        // 2 on the way, 8 for the batch on average, 40 ahead, and the slot is seldom taken.
        assert!((mean - (2.0 + 8.0 + 40.0 + 0.55 * 13.5)).abs() < 5.0, "{mean}");
        assert!(p99 > 2.0 + 16.0 + 40.0 && p99 < 100.0, "{p99}");
        assert_eq!(done.first_slot(), done.last_slot());
        let share = done.data as f64 / (done.slots * 32) as f64;
        assert!((share - 0.02).abs() < 0.001, "{share}");
        // Each is acknowledged in a slot, but for the few that find one for the same sender.
        let acknowledged = done.granted as f64 / done.data as f64 - 1.0;
        assert!(acknowledged > 0.9 && acknowledged < 1.0, "{acknowledged}");
        assert!(!done.falls_behind(32, 1));
    }

    #[test]
    fn no_endpoint_asks_more_often_than_it_may() {
        let busy = RehearsalParams { load: 0.45, message: 10, slots: 20_000, ..QUIET };
        let done = rehearse(&busy, 1).expect("parameters");
        let each = done.requests as f64 / 32.0 / done.slots as f64;
        assert!(each * 27.0 > 0.9 && each * 27.0 < 1.01, "{each}");
    }

    #[test]
    fn what_no_matching_can_grant_is_told() {
        let falls = |load, message| {
            let params = RehearsalParams { load, message, slots: 20_000, ..QUIET };
            rehearse(&params, 1).expect("parameters").falls_behind(32, message)
        };
        // Acknowledgements take their slots, too: of short messages the more.
        let found =
            [(0.3, 1), (0.95, 1), (0.6, 64), (0.8, 64), (0.7, 1000)].map(|(load, slots)| falls(load, slots));
        assert_eq!(found, [false, true, false, false, false]);
        assert!(falls(1.1, 64));
    }
}
