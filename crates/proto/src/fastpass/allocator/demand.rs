//! The demand not yet granted: which pairs stand in the queue, and whether they may ask for more.
//!
//! A request of a pair that is not in the queue is put at its tail, and a bit says that it is there. A top-up must find its pair,
//! wherever that has got to: so it is only tallied, in a table by pair, and the pair takes account of it when the next batch
//! walks the queue. With thousands of endpoints that table is larger than the caches, so nothing else touches it: a pair has a
//! tally only once it has been topped up, or has asked at once for enough slots that its grants pay for it.

use std::fmt;

use super::pair::Pair;
use super::schedule::Schedule;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no endpoint of the source's address.
    UnknownSource,
    /// There is no endpoint of the destination's address.
    UnknownDestination,
    /// The destination is the source.
    OwnAddress,
    /// The request is for no slots.
    NoSlots,
    /// The request is for more slots than a pair may wait for.
    OverLimit,
    /// With the request the pair would wait for more slots than it may.
    TooManyOutstanding,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::UnknownSource => "the source's address is unknown",
            Refusal::UnknownDestination => "the destination's address is unknown",
            Refusal::OwnAddress => "the destination is the source",
            Refusal::NoSlots => "no slots are asked for",
            Refusal::OverLimit => "more slots than a pair may wait for",
            Refusal::TooManyOutstanding => "with what the pair waits for, more slots than it may wait for",
        })
    }
}

impl std::error::Error for Refusal {}

/// Which pairs have demand, and what is needed to answer requests.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    /// A bit for each pair, source by source: whether it is in the queue.
    queued: Box<[u64]>,
    /// The tally of each pair, source by source.
    tallies: Box<[Tally]>,
    nodes: usize,
    limit: u16,
    /// A pair without a tally waits for no more.
    untallied: u16,
    topped: Topped,
    /// Whether every pair in the queue has a tally, and waits for exactly what it says.
    exact: bool,
}

/// What a pair may wait for, and which part of that the queue does not know of yet. The first is zero if it has not been tallied.
///
/// (An array, as memory for arrays of zeros is not touched before it is used.)
type Tally = [u16; 2];
const MOST: usize = 0;
const MORE: usize = 1;

impl Demand {
    /// Returns an empty demand matrix for `nodes` nodes, of at most `limit` slots a pair.
    pub(super) fn new(nodes: usize, limit: u16) -> Demand {
        let pairs = nodes * nodes;
        let mut demand = Demand {
            queued: vec![0; pairs.div_ceil(64)].into_boxed_slice(),
            tallies: vec![Tally::default(); pairs].into_boxed_slice(),
            nodes,
            limit,
            untallied: 0,
            topped: Topped::new(nodes),
            exact: false,
        };
        demand.end_batch();
        demand
    }

    /// See [`Allocator::request`](super::Allocator::request).
    #[inline]
    pub(super) fn request(
        &mut self,
        source: usize,
        destination: usize,
        slots: u32,
        schedule: &mut Schedule,
    ) -> Result<(), Refusal> {
        let known = source < self.nodes && destination < self.nodes && source != destination;
        if !known || slots.wrapping_sub(1) >= u32::from(self.limit) {
            return Err(self.refusal(source, destination, slots));
        }
        let pair = Pair::new(source as u16, destination as u16, slots as u16);
        let at = self.place(pair);
        let queued = &mut self.queued[at / 64];
        let bit = 1 << (at % 64);
        if *queued & bit != 0 || pair.remaining() > self.untallied {
            return self.request_tallied(pair, schedule);
        }
        *queued |= bit;
        schedule.put_at_tail(pair);
        Ok(())
    }

    /// Says why a request is refused.
    #[cold]
    fn refusal(&self, source: usize, destination: usize, slots: u32) -> Refusal {
        match (source, destination, slots) {
            _ if source >= self.nodes => Refusal::UnknownSource,
            _ if destination >= self.nodes => Refusal::UnknownDestination,
            _ if source == destination => Refusal::OwnAddress,
            (.., 0) => Refusal::NoSlots,
            _ => Refusal::OverLimit,
        }
    }

    /// Takes a request of a pair that is in the queue, or one for enough slots that it is tallied at once.
    #[inline(never)]
    fn request_tallied(&mut self, pair: Pair, schedule: &mut Schedule) -> Result<(), Refusal> {
        let at = self.place(pair);
        if self.queued[at / 64] >> (at % 64) & 1 == 0 {
            self.queued[at / 64] |= 1 << (at % 64);
            self.tallies[at] = [pair.remaining(), 0];
            schedule.put_at_tail(pair.topped_up(0));
            return Ok(());
        }
        let room = self.limit - pair.remaining();
        if self.most(at) > room && !self.exact {
            self.tally(schedule);
        }
        if self.most(at) > room {
            return Err(Refusal::TooManyOutstanding);
        }
        self.tallies[at][MOST] = self.most(at) + pair.remaining();
        self.tallies[at][MORE] += pair.remaining();
        self.topped.insert(pair);
        Ok(())
    }

    /// The pair at this place of the tables, which is in the queue, waits for no more.
    fn most(&self, at: usize) -> u16 {
        match self.tallies[at][MOST] {
            0 => self.untallied,
            most => most,
        }
    }

    /// Tallies what each pair waits for.
    fn tally(&mut self, schedule: &mut Schedule) {
        for pair in schedule.queue_mut() {
            let at = self.place(*pair);
            *pair = pair.topped_up(self.tallies[at][MORE]);
            self.tallies[at] = [pair.remaining(), 0];
        }
        self.topped.clear();
        self.exact = true;
        self.untallied = 0;
    }

    /// Adds to each pair of the queue what it has asked for since it stands there.
    pub(super) fn top_up(&mut self, schedule: &mut Schedule) {
        if self.topped.is_empty() {
            return;
        }
        for pair in schedule.queue_mut() {
            *pair = self.up_to_date(*pair);
        }
        self.topped.clear();
    }

    /// The pair with what it has asked for since it stands in the queue. To be asked once of each pair, in a walk of the queue.
    #[inline(always)]
    pub(super) fn up_to_date(&mut self, pair: Pair) -> Pair {
        if !self.topped.may_contain(pair) {
            return pair;
        }
        self.take_more(pair)
    }

    #[inline(never)]
    fn take_more(&mut self, pair: Pair) -> Pair {
        match std::mem::take(&mut self.tallies[self.place(pair)][MORE]) {
            0 => pair,
            more => pair.topped_up(more),
        }
    }

    /// Notes that a pair that was taken out of the queue waits for nothing more.
    #[inline(always)]
    pub(super) fn leave(&mut self, pair: Pair) {
        let at = self.place(pair);
        self.queued[at / 64] &= !(1 << (at % 64));
        if pair.is_tallied() {
            self.tallies[at] = Tally::default();
        }
    }

    /// Does what [`Self::leave`] does, but is not inlined, for a loop whose own variables it would drive out of the registers.
    #[inline(never)]
    pub(super) fn leave_outlined(&mut self, pair: Pair) {
        self.leave(pair);
    }

    /// Notes that a batch has been granted, of what was asked until now.
    pub(super) fn end_batch(&mut self) {
        self.topped.clear();
        self.exact = false;
        self.untallied = self.limit / UNTALLIED;
    }

    /// See [`Allocator::forget`](super::Allocator::forget).
    pub(super) fn forget(&mut self, source: usize, schedule: &mut Schedule) -> u64 {
        if source >= self.nodes {
            return 0;
        }
        self.top_up(schedule);
        let mut forgotten = 0;
        schedule.retain(|_, pair| {
            if usize::from(pair.source()) != source {
                return Some(pair);
            }
            forgotten += u64::from(pair.remaining());
            self.leave(pair);
            None
        });
        forgotten
    }

    /// See [`Allocator::forget_all`](super::Allocator::forget_all).
    pub(super) fn forget_all(&mut self, schedule: &mut Schedule) -> u64 {
        self.top_up(schedule);
        let mut forgotten = 0;
        for &pair in schedule.queue() {
            forgotten += u64::from(pair.remaining());
            self.leave(pair);
        }
        schedule.empty_queue();
        self.end_batch();
        forgotten
    }

    /// Returns where the tables tell of the pair.
    #[inline(always)]
    fn place(&self, pair: Pair) -> usize {
        usize::from(pair.source()) * self.nodes + usize::from(pair.destination())
    }
}

/// A pair that asks for no more than this part of the limit has no tally.
const UNTALLIED: u16 = 8;

/// Which pairs have asked for more since the last batch: certainly those, and perhaps a few others. So walking the queue
/// looks up the tallies of few pairs, and this set stays in the nearest cache.
#[derive(Clone, Debug)]
struct Topped {
    /// A word for each source, in which every 32nd destination shares a bit. There is one for each number that a `u16` can be, so
    /// that no index needs a check.
    members: Box<[u64; ADDRESSES]>,
    nodes: usize,
    empty: bool,
}

const ADDRESSES: usize = 1 << 16;

impl Topped {
    fn new(nodes: usize) -> Topped {
        let members = vec![0; ADDRESSES].try_into().expect("as many as asked for");
        Topped { members, nodes, empty: true }
    }

    #[inline(always)]
    fn may_contain(&self, pair: Pair) -> bool {
        self.members[usize::from(pair.source())] >> (pair.receiver() % 64) & 1 != 0
    }

    fn insert(&mut self, pair: Pair) {
        self.members[usize::from(pair.source())] |= 1 << (pair.receiver() % 64);
        self.empty = false;
    }

    fn is_empty(&self) -> bool {
        self.empty
    }

    fn clear(&mut self) {
        if !self.empty {
            self.members[..self.nodes].fill(0);
            self.empty = true;
        }
    }
}
