//! The demand not yet granted: the queue of pairs, and the counts by which requests are checked.
//!
//! A request of a pair that is not in the queue is put at its tail. A top-up must find its pair, wherever that has got to:
//! so it is only counted, in a table by pair, and the pair takes account of it when the next batch walks the queue.

use std::fmt;

use super::pair::Pair;

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

/// The queue and the counts.
#[derive(Clone, Debug)]
pub(super) struct Demand {
    queue: Vec<Pair>,
    /// Where the queue is sorted into; empty if it never is.
    spare: Vec<Pair>,
    /// Of each pair, source by source: what it waited for when that was last counted anew, or when it joined, and what
    /// it asked for since. So what it waits for is no more. Zero when it is not in the queue.
    asked: Box<[u16]>,
    nodes: usize,
    limit: u16,
    topped: Topped,
    /// Whether `asked` is what pairs wait for, exactly: nothing was granted since that was counted.
    exact: bool,
}

impl Demand {
    /// No demand between so many nodes; `sorted` if the queue is going to be sorted.
    pub(super) fn new(nodes: usize, limit: u16, sorted: bool) -> Demand {
        let pairs = nodes * (nodes - 1);
        Demand {
            queue: Vec::with_capacity(pairs),
            spare: Vec::with_capacity(if sorted { pairs } else { 0 }),
            asked: vec![0; nodes * nodes].into_boxed_slice(),
            nodes,
            limit,
            topped: Topped::default(),
            exact: true,
        }
    }

    /// See [`Allocator::request`](super::Allocator::request).
    #[inline]
    pub(super) fn request(&mut self, source: usize, destination: usize, slots: u32) -> Result<(), Refusal> {
        if source >= self.nodes {
            return Err(Refusal::UnknownSource);
        }
        if destination >= self.nodes {
            return Err(Refusal::UnknownDestination);
        }
        if source == destination {
            return Err(Refusal::OwnAddress);
        }
        if slots == 0 {
            return Err(Refusal::NoSlots);
        }
        if slots > u32::from(self.limit) {
            return Err(Refusal::OverLimit);
        }
        let pair = Pair::new(source as u16, destination as u16, slots as u16);
        let asked = &mut self.asked[source * self.nodes + destination];
        if *asked == 0 {
            *asked = slots as u16;
            self.queue.push(pair);
            return Ok(());
        }
        self.top_up(pair)
    }

    /// Adds what `pair` waits for to what this pair of the queue waits for.
    fn top_up(&mut self, pair: Pair) -> Result<(), Refusal> {
        let at = self.place(pair);
        let room = self.limit - pair.remaining();
        if self.asked[at] > room && !self.exact {
            self.count_anew();
        }
        if self.asked[at] > room {
            return Err(Refusal::TooManyOutstanding);
        }
        self.asked[at] += pair.remaining();
        self.topped.insert(pair);
        Ok(())
    }

    /// Forgets what a source has asked for. How many slots that was.
    pub(super) fn forget(&mut self, source: usize) -> u64 {
        let row = source * self.nodes..(source + 1) * self.nodes;
        if self.asked[row.clone()].iter().all(|&asked| asked == 0) {
            return 0;
        }
        self.count_anew();
        let forgotten = self.asked[row.clone()].iter().map(|&asked| u64::from(asked)).sum();
        self.asked[row].fill(0);
        self.queue.retain(|pair| usize::from(pair.source()) != source);
        forgotten
    }

    /// Makes `asked` what each pair waits for.
    pub(super) fn count_anew(&mut self) {
        if self.exact && self.topped.is_empty() {
            return;
        }
        for pair in &mut self.queue {
            let place = usize::from(pair.source()) * self.nodes + usize::from(pair.destination());
            let asked = &mut self.asked[place];
            *asked = pair.remaining() + (*asked - pair.known());
            *pair = pair.waiting_for(*asked, *asked);
        }
        self.topped.clear();
        self.exact = true;
    }

    /// The pairs that wait, those at the head first.
    pub(super) fn queue(&self) -> &[Pair] {
        &self.queue
    }

    /// Where each list is, and how much it can hold.
    #[cfg(test)]
    pub(super) fn tables(&self) -> Vec<(*const Pair, usize)> {
        [&self.queue, &self.spare].map(|list| (list.as_ptr(), list.capacity())).to_vec()
    }

    /// Walks the queue, and keeps those pairs of which `stays` says so.
    #[inline(always)]
    pub(super) fn retain(&mut self, mut stays: impl FnMut(Pair) -> bool) {
        let mut kept = 0;
        for place in 0..self.queue.len() {
            let pair = self.up_to_date(self.queue[place]);
            if stays(pair) {
                self.queue[kept] = pair;
                kept += 1;
            }
        }
        self.queue.truncate(kept);
    }

    /// Walks the queue, replaces each pair by what `served` makes of it, and lets go of those that wait for nothing more.
    #[inline(always)]
    pub(super) fn retain_or_leave(&mut self, mut served: impl FnMut(Pair) -> Pair) {
        let mut kept = 0;
        for place in 0..self.queue.len() {
            let pair = served(self.queue[place]);
            if pair.remaining() == 0 {
                self.leave(pair);
            } else {
                self.queue[kept] = pair;
                kept += 1;
            }
        }
        self.queue.truncate(kept);
    }

    /// Puts a pair that was taken out of the queue at its tail.
    #[inline(always)]
    pub(super) fn put_at_tail(&mut self, pair: Pair) {
        self.queue.push(pair);
    }

    /// Notes that a pair that was taken out of the queue waits for nothing more.
    #[inline(always)]
    pub(super) fn leave(&mut self, pair: Pair) {
        let at = self.place(pair);
        self.asked[at] = 0;
    }

    /// Notes that a batch has been granted, of what was asked until now.
    pub(super) fn end_batch(&mut self) {
        self.topped.clear();
        self.exact = false;
    }

    /// Sorts the queue by what pairs wait for; those that wait for equally many keep their order.
    pub(super) fn sort(&mut self) {
        let mut most = 0;
        for place in 0..self.queue.len() {
            let pair = self.up_to_date(self.queue[place]);
            self.queue[place] = pair;
            most |= pair.remaining();
        }
        self.sort_by_digit(0);
        if most >> DIGIT != 0 {
            self.sort_by_digit(DIGIT);
        }
    }

    /// Sorts the queue by eight bits of what pairs wait for, from bit `shift` on.
    fn sort_by_digit(&mut self, shift: u32) {
        let digit = |pair: Pair| usize::from(pair.remaining() >> shift) % (1 << DIGIT);
        let mut ends = [0; 1 << DIGIT];
        for &pair in &self.queue {
            ends[digit(pair)] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        self.spare.clone_from(&self.queue);
        for &pair in &self.queue {
            let end = &mut ends[digit(pair)];
            self.spare[*end] = pair;
            *end += 1;
        }
        std::mem::swap(&mut self.queue, &mut self.spare);
    }

    /// The pair with what it has asked for since it stands in the queue.
    #[inline(always)]
    fn up_to_date(&self, pair: Pair) -> Pair {
        if !self.topped.may_contain(pair) {
            return pair;
        }
        let asked = self.asked[self.place(pair)];
        pair.waiting_for(pair.remaining() + (asked - pair.known()), asked)
    }

    /// Where the pair's count is.
    #[inline(always)]
    fn place(&self, pair: Pair) -> usize {
        usize::from(pair.source()) * self.nodes + usize::from(pair.destination())
    }
}

/// Bits by which the queue is sorted at once.
const DIGIT: u32 = 8;

/// Which pairs have asked for more since the last batch: certainly those, and perhaps a few others. So walking the queue
/// looks up the counts of few pairs, and this set stays in the nearest cache.
#[derive(Clone, Debug)]
struct Topped {
    members: [bool; 1 << HASH],
    empty: bool,
}

/// Bits of a pair's hash.
const HASH: u32 = 12;

impl Topped {
    #[inline(always)]
    fn may_contain(&self, pair: Pair) -> bool {
        self.members[Topped::hash(pair)]
    }

    fn insert(&mut self, pair: Pair) {
        self.members[Topped::hash(pair)] = true;
        self.empty = false;
    }

    fn is_empty(&self) -> bool {
        self.empty
    }

    fn clear(&mut self) {
        if !self.empty {
            *self = Topped::default();
        }
    }

    /// A multiplicative hash, with Knuth's factor.
    #[inline(always)]
    fn hash(pair: Pair) -> usize {
        (pair.ends().wrapping_mul(0x9E37_79B1) >> (32 - HASH)) as usize
    }
}

impl Default for Topped {
    fn default() -> Topped {
        Topped { members: [false; 1 << HASH], empty: true }
    }
}
