//! What an endpoint demands (§5): cumulative counts for each destination, and which of them the arbiter is known to have.
//!
//! A destination's packets *need* a number of slots. The endpoint *has* those demanded and not granted yet, and those granted
//! and not used yet; what is missing is demanded. So slots that were granted in a lost packet, or refused, are demanded again by
//! themselves.

use std::collections::VecDeque;

use crate::fastpass::fcp::message::MOST_DEMANDS;
use crate::fastpass::fcp::{Address, Demand, Heard, List, Request};
use crate::units::{Span, Time};

/// The demands of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct Demands {
    of: Box<[Destination]>,
    limit: u32,
    /// Destinations for which the next request has something to say, longest waiting first.
    unsaid: VecDeque<Address>,
    /// When each destination was spoken of and not acknowledged, oldest first.
    unacknowledged: VecDeque<(Time, Address)>,
    /// The demands of the last requests, by number modulo the length.
    said: Box<[Said; KEPT]>,
    /// Destinations with packets.
    needy: usize,
}

/// Requests whose contents are remembered: as many as an acknowledgement can speak of.
const KEPT: usize = 64;

/// A destination, with what is known of it. Counts are of this term and modulo 2^32.
#[derive(Clone, Copy, Debug, Default)]
struct Destination {
    /// Slots that the packets waiting for it need.
    needed: u32,
    /// Slots demanded.
    demanded: u32,
    /// Slots demanded as the arbiter is known to have heard.
    acknowledged: u32,
    /// Slots granted, as the arbiter has said.
    granted: u32,
    /// Grants held.
    held: u32,
    /// Whether it stands in `unsaid`.
    unsaid: bool,
    /// When it was last spoken of.
    said_at: Time,
}

/// The demands of a request that is not known to have come.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    /// The request's number; 0 if it is known to have come, or never was.
    seq: u32,
    demands: List<Demand, MOST_DEMANDS>,
}

/// What a count of granted slots meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// This many slots more than were known.
    More(u32),
    /// An older count than the one known.
    Old,
    /// More than was demanded: nonsense.
    Nonsense,
}

impl Demands {
    /// Returns the demands of an endpoint that has none yet, among `nodes` endpoints.
    pub(super) fn new(nodes: u16, limit: u32) -> Demands {
        Demands {
            of: vec![Destination::default(); usize::from(nodes)].into_boxed_slice(),
            limit,
            unsaid: VecDeque::new(),
            unacknowledged: VecDeque::new(),
            said: Box::new([Said::default(); KEPT]),
            needy: 0,
        }
    }

    /// Returns whether there is an endpoint of this address.
    pub(super) fn knows(&self, destination: Address) -> bool {
        usize::from(destination) < self.of.len()
    }

    /// Returns whether any packets wait.
    pub(super) fn is_needy(&self) -> bool {
        self.needy > 0
    }

    /// Notes how many slots the packets for a destination need.
    pub(super) fn need(&mut self, destination: Address, slots: u32) {
        let of = &mut self.of[usize::from(destination)];
        self.needy = self.needy + usize::from(slots > 0) - usize::from(of.needed > 0);
        of.needed = slots;
    }

    /// Demands what is missing. Returns how many slots that is.
    pub(super) fn demand(&mut self, destination: Address) -> u32 {
        let of = &mut self.of[usize::from(destination)];
        let outstanding = of.demanded.wrapping_sub(of.granted);
        let missing = of.needed.saturating_sub(outstanding.saturating_add(of.held));
        let more = missing.min(self.limit.saturating_sub(outstanding));
        if more > 0 {
            of.demanded = of.demanded.wrapping_add(more);
            self.say(destination);
        }
        more
    }

    /// Has the next request speak of a destination.
    fn say(&mut self, destination: Address) {
        let of = &mut self.of[usize::from(destination)];
        if !of.unsaid {
            of.unsaid = true;
            self.unsaid.push_back(destination);
        }
    }

    /// Notes that a grant of a destination is held.
    pub(super) fn hold(&mut self, destination: Address) {
        self.of[usize::from(destination)].held += 1;
    }

    /// Notes that a grant of a destination is no longer held.
    pub(super) fn release(&mut self, destination: Address) {
        self.of[usize::from(destination)].held -= 1;
    }

    /// Notes that a slot was used for a packet, of which the driver is going to say that it needs none any more.
    pub(super) fn send(&mut self, destination: Address) {
        self.release(destination);
        let needed = self.of[usize::from(destination)].needed;
        self.need(destination, needed.saturating_sub(1));
    }

    /// Takes the arbiter's count of slots granted.
    pub(super) fn count(&mut self, destination: Address, granted: u32) -> Count {
        let of = &mut self.of[usize::from(destination)];
        let more = granted.wrapping_sub(of.granted);
        if more <= of.demanded.wrapping_sub(of.granted) {
            of.granted = granted;
            Count::More(more)
        } else if more > u32::MAX / 2 {
            Count::Old
        } else {
            Count::Nonsense
        }
    }

    /// Returns how many destinations the next request has something to say of.
    pub(super) fn unsaid(&self) -> usize {
        self.unsaid.len()
    }

    /// Fills in the demands of a request.
    pub(super) fn fill(&mut self, now: Time, request: &mut Request) {
        while !request.demands.is_full() {
            let Some(destination) = self.unsaid.pop_front() else { break };
            let of = &mut self.of[usize::from(destination)];
            of.unsaid = false;
            of.said_at = now;
            request.demands.push(Demand { destination, demanded: of.demanded });
            self.unacknowledged.push_back((now, destination));
        }
        self.said[request.seq as usize % KEPT] = Said { seq: request.seq, demands: request.demands };
    }

    /// Takes the arbiter's word of which requests have come.
    pub(super) fn acknowledge(&mut self, heard: Heard) {
        for seq in heard.latest.saturating_sub(32).max(1)..=heard.latest {
            let said = &mut self.said[seq as usize % KEPT];
            if said.seq != seq || !heard.contains(seq) {
                continue;
            }
            for demand in said.demands.iter() {
                let of = &mut self.of[usize::from(demand.destination)];
                // Later requests say more: what an older one said may be known already.
                if demand.demanded.wrapping_sub(of.acknowledged) <= u32::MAX / 2 {
                    of.acknowledged = demand.demanded;
                }
            }
            *said = Said::default();
        }
        while let Some(&(at, destination)) = self.unacknowledged.front() {
            if self.is_unacknowledged(at, destination) {
                break;
            }
            self.unacknowledged.pop_front();
        }
    }

    /// Returns whether a destination was last spoken of at this time, and that is not known to have been heard.
    fn is_unacknowledged(&self, at: Time, destination: Address) -> bool {
        let of = &self.of[usize::from(destination)];
        of.said_at == at && of.acknowledged != of.demanded
    }

    /// Returns when the oldest demand that is not acknowledged was said.
    pub(super) fn oldest_unacknowledged(&self) -> Option<Time> {
        self.unacknowledged.front().map(|&(at, _)| at)
    }

    /// Has what was said `after` ago, and is not acknowledged, said again. Returns how many destinations that is.
    pub(super) fn say_again(&mut self, now: Time, after: Span) -> u64 {
        let mut again = 0;
        while let Some(&(at, destination)) = self.unacknowledged.front() {
            if at + after > now {
                break;
            }
            self.unacknowledged.pop_front();
            if self.is_unacknowledged(at, destination) {
                again += u64::from(!self.of[usize::from(destination)].unsaid);
                self.say(destination);
            }
        }
        again
    }

    /// Has the next request speak of a destination with packets, whatever the arbiter has heard, so that it answers.
    pub(super) fn doubt(&mut self) {
        let needy = self.of.iter().position(|of| of.needed > 0);
        if let Some(destination) = needy {
            self.say(destination as Address);
        }
    }

    /// Counts from zero in a new term: only the grants held stay. Returns how many slots are demanded.
    pub(super) fn start_over(&mut self) -> u64 {
        self.unsaid.clear();
        self.unacknowledged.clear();
        self.said.fill(Said::default());
        for of in &mut self.of {
            *of = Destination { needed: of.needed, held: of.held, ..Destination::default() };
        }
        (0..self.of.len()).map(|destination| u64::from(self.demand(destination as Address))).sum()
    }

    /// Forgets the counts of a term that the endpoint no longer follows, and demands nothing.
    pub(super) fn forget(&mut self) {
        self.unsaid.clear();
        self.unacknowledged.clear();
        self.said.fill(Said::default());
    }
}
