//! What endpoints and arbiters tell each other (FCP, the Fastpass control protocol, §5): meaning only.
//!
//! A packet that is lost is not sent again as it was: the next one says what holds now. So every count is cumulative, and
//! any packet may come late, twice or not at all.

use super::grants::{Grant, Grants, GAP_BITS, MOST_GAP};
use super::list::List;
pub use super::numbers::{Address, Path, MOST_DEMANDS, MOST_GRANTED, MOST_GRANTS, MOST_REPORTS};

/// From an endpoint, to every arbiter: what it wants to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The endpoint.
    pub source: Address,
    /// Which life of the endpoint this is: higher after every restart.
    pub incarnation: u32,
    /// The term in which `demands` and `heard` count: that of the primary arbiter whose packets the endpoint follows; 0
    /// before it has heard one.
    pub term: u32,
    /// The number of this request in this incarnation, from 1 on.
    pub seq: u32,
    /// The slot that the endpoint's clock shows when it sends this.
    pub slot: u64,
    /// How many slots the clock of the primary arbiter of this term is ahead of the endpoint's, at least: the most that
    /// the slot in one of its packets of late was ahead of the slot in which that came. `None` if none came of late.
    pub arbiter_ahead: Option<i32>,
    /// The allocations of this term that have come.
    pub heard: Heard,
    /// The demands; destinations not listed are as they were said to be before.
    pub demands: List<Demand, MOST_DEMANDS>,
    /// What became of packets, path by path.
    pub reports: List<PathReport, MOST_REPORTS>,
}

/// Timeslots demanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Where to.
    pub destination: Address,
    /// Slots demanded so far in this term and incarnation, modulo 2^32.
    pub demanded: u32,
}

/// What became of data packets on a path since the last report on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathReport {
    /// Where they went.
    pub destination: Address,
    /// Which way.
    pub path: Path,
    /// Packets of which it is known whether they arrived.
    pub sent: u16,
    /// Packets of these that did not arrive.
    pub lost: u16,
}

/// Which packets of the other side have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The highest number that has come; 0 before the first.
    pub latest: u32,
    /// Bit `i` is set if number `latest - 1 - i` has come, too.
    pub before: u32,
}

/// From the primary arbiter to an endpoint: when it may send, and where to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// The endpoint.
    pub to: Address,
    /// The endpoint's incarnation that this is for.
    pub incarnation: u32,
    /// The arbiter's term.
    pub term: u32,
    /// The number of this allocation to this endpoint in this term and incarnation, from 1 on.
    pub seq: u32,
    /// The slot that the arbiter's clock shows when it sends this.
    pub slot: u64,
    /// The endpoint's requests that have come.
    pub heard: Heard,
    /// The path that its requests are to take; `None` for the one by which this comes.
    pub back: Option<Path>,
    /// What has been granted altogether; every destination of `grants` is among them.
    pub granted: List<Granted, MOST_GRANTED>,
    /// The slots granted by this packet, in rising order.
    pub grants: Grants,
}

impl Allocation {
    /// Adds a grant and, if its destination is not listed, that with a count of 0. Returns whether that was possible: there are
    /// bounds to the number of grants ([`MOST_GRANTS`]) and of destinations ([`MOST_GRANTED`]), and no slot may be before that of
    /// the last grant, or more than [`MOST_GAP`] after it. What is impossible changes nothing.
    pub fn grant(&mut self, Grant { slot, destination, path }: Grant) -> bool {
        let listed = self.granted.iter().position(|granted| granted.destination == destination);
        let place = listed.unwrap_or(self.granted.len());
        if place == MOST_GRANTED || !self.grants.push(slot, place + 1, path) {
            return false;
        }
        if listed.is_none() {
            self.granted.push(Granted { destination, granted: 0 });
        }
        true
    }

    /// The slots granted by this packet, in rising order.
    ///
    /// Panics if the list of destinations has become shorter since they were granted.
    pub fn grants(&self) -> impl ExactSizeIterator<Item = Grant> + '_ {
        let mut slot = self.grants.first;
        self.grants.steps().iter().zip(self.grants.paths()).map(move |(step, &path)| {
            slot += u64::from(*step) & MOST_GAP;
            let place = usize::from(step >> GAP_BITS) - 1;
            Grant { slot, destination: self.granted[place].destination, path }
        })
    }
}

/// Timeslots granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    /// Where to.
    pub destination: Address,
    /// Slots granted so far in this term and incarnation, this packet's included, modulo 2^32. What this says beyond the
    /// grants that came has been lost on the way.
    pub granted: u32,
}

/// From a new primary arbiter to an endpoint: what it knew of the endpoint's demands is gone, or it never knew them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reset {
    /// The endpoint.
    pub to: Address,
    /// The slot that the arbiter's clock shows when it sends this.
    pub slot: u64,
    /// The new term; endpoints follow the highest that they have heard.
    pub term: u32,
    /// The first slot that the new primary may grant: grants of older terms from this slot on are void.
    pub first_slot: u64,
    /// The path that its requests are to take; `None` for the one by which this comes.
    pub back: Option<Path>,
}

/// From the primary arbiter to the others: it is alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watchdog {
    /// Its term.
    pub term: u32,
    /// Its rank.
    pub rank: u8,
    /// The slot up to which batches begin that it has allocated when it sends this: the slot that its clock shows plus
    /// those that it allocates ahead.
    pub horizon: u64,
}

/// From an arbiter to an endpoint: a packet that tries links, for which nobody waits. The endpoint answers it, or sends it on to
/// another, which answers it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// The endpoint.
    pub to: Address,
    /// The arbiter's rank.
    pub rank: u8,
    /// The endpoint that this one is to send it on to, and by which path; `None` if it is to answer.
    pub on: Option<(Address, Path)>,
    /// The path of the answer.
    pub back: Path,
    /// What the answer repeats.
    pub token: u32,
}

/// From an endpoint to an arbiter: a trial has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The endpoint.
    pub source: Address,
    /// The rank of the arbiter that it is for.
    pub rank: u8,
    /// The trial's.
    pub token: u32,
}

/// A control packet.
// An allocation is the most frequent of them, so there is little to gain from another size for the others.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// From an endpoint to every arbiter.
    Request(Request),
    /// From an arbiter to an endpoint.
    Allocation(Allocation),
    /// From an arbiter to an endpoint.
    Reset(Reset),
    /// From an arbiter to another.
    Watchdog(Watchdog),
    /// From an arbiter to an endpoint.
    Trial(Trial),
    /// From an endpoint to an arbiter.
    Answer(Answer),
}
