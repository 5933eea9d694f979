//! The grants of a batch, by slot: what the allocator gives, and meanwhile the younger part of its queue. The queue itself lies
//! behind them, as the list of the pairs that find no slot.

use std::ops::Range;

use super::pair::Pair;

/// A batch of timeslots with the pairs that send in each.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// A row for each slot, and then the queue. There is room for the longest queue, but it begins only as long as it has been.
    pairs: Vec<Pair>,
    /// Where each slot's pairs end, and where the queue does.
    ends: [usize; LISTS],
    stride: usize,
    slots: u32,
}

/// Lists of a schedule: one for each slot that there can be, and the queue.
const LISTS: usize = QUEUE + 1;
/// The queue's number: no free slot is the 64th.
const QUEUE: usize = 64;

/// Pairs in a line of the cache. Rows are apart by one more than they need, as rows of a power of two, written to at
/// equal places, would compete for the same few lines of the cache.
const LINE: usize = 8;

/// Pairs that are settled together: few enough for the nearest cache, and a power of two.
const SETTLED: usize = 256;

/// Pairs that are served at once.
const AT_ONCE: usize = 4;

impl Schedule {
    /// An empty schedule of `slots` slots with at most `most_granted` pairs each, and a queue of at most `most_waiting`.
    pub(super) fn new(slots: u32, most_granted: usize, most_waiting: usize) -> Schedule {
        let stride = most_granted.next_multiple_of(LINE) + LINE;
        let rows = stride * slots as usize;
        let mut pairs = Vec::with_capacity(rows + most_waiting);
        pairs.resize(rows, Pair::new(0, 0, 1));
        let mut schedule = Schedule { pairs, ends: [rows; LISTS], stride, slots };
        schedule.clear();
        schedule
    }

    /// Slots in a batch.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// The pairs that send in a slot of the batch, `slot` counted from 0, in the order in which they were served.
    ///
    /// Panics if the batch has no such slot.
    pub fn slot(&self, slot: u32) -> &[Pair] {
        assert!(slot < self.slots, "slot {slot} of a batch of {}", self.slots);
        &self.pairs[self.places(slot)]
    }

    /// Packets granted in the batch.
    pub fn packets(&self) -> usize {
        (0..self.slots).map(|slot| self.slot(slot).len()).sum()
    }

    /// Forgets the batch. The queue stays.
    pub(super) fn clear(&mut self) {
        for slot in 0..self.slots {
            self.ends[slot as usize] = slot as usize * self.stride;
        }
    }

    /// The pairs that wait, those at the head first.
    pub(super) fn queue(&self) -> &[Pair] {
        &self.pairs[self.start_of_queue()..self.ends[QUEUE]]
    }

    /// The pairs that wait, to be changed in place.
    pub(super) fn queue_mut(&mut self) -> &mut [Pair] {
        let start = self.start_of_queue();
        &mut self.pairs[start..self.ends[QUEUE]]
    }

    /// Forgets the pairs that wait.
    pub(super) fn empty_queue(&mut self) {
        self.ends[QUEUE] = self.start_of_queue();
    }

    /// Puts a pair at the queue's tail.
    #[inline(always)]
    pub(super) fn put_at_tail(&mut self, pair: Pair) {
        let tail = self.ends[QUEUE];
        self.ends[QUEUE] = tail + 1;
        match self.pairs.get_mut(tail) {
            Some(place) => *place = pair,
            None => self.pairs.push(pair),
        }
    }

    /// The lists, and where the pairs of a slot are among them.
    #[inline(always)]
    pub(super) fn served_in(&mut self, slot: u32) -> (Range<usize>, Lists<'_>) {
        (self.places(slot), Lists { pairs: &mut self.pairs, ends: &mut self.ends })
    }

    /// The lists, without those that wait, and where they were among them. They are appended anew.
    pub(super) fn take_queue(&mut self) -> (Range<usize>, Lists<'_>) {
        let start = self.start_of_queue();
        let end = std::mem::replace(&mut self.ends[QUEUE], start);
        (start..end, Lists { pairs: &mut self.pairs, ends: &mut self.ends })
    }

    /// Walks the queue, and keeps of each pair what `served` makes of it, if that is something.
    #[inline(always)]
    pub(super) fn retain(&mut self, mut served: impl FnMut(&mut Lists, Pair) -> Option<Pair>) {
        let (places, mut lists) = self.take_queue();
        let mut kept = places.start;
        for place in places {
            let pair = lists.pairs[place];
            if let Some(pair) = served(&mut lists, pair) {
                lists.pairs[kept] = pair;
                kept += 1;
            }
        }
        lists.ends[QUEUE] = kept;
    }

    /// Settles the queue, which all its pairs were appended to in this batch: those that wait for something stay, and `leave` is
    /// told the others. Before the place `from` there are none of these.
    ///
    /// It cannot be foretold which stay, so they are parted without a branch.
    pub(super) fn settle(&mut self, from: usize, mut leave: impl FnMut(Pair)) {
        let head = self.start_of_queue();
        let queue = &mut self.pairs[head..self.ends[QUEUE]];
        queue[..from].iter_mut().for_each(|pair| *pair = pair.granted_none());
        let mut parts = [[Pair::new(0, 0, 1); SETTLED]; 2];
        let mut kept = from;
        for start in (from..queue.len()).step_by(SETTLED) {
            let some = start..queue.len().min(start + SETTLED);
            let [staying, gone] = &mut parts;
            let mut stay = 0;
            for (i, pair) in queue[some.clone()].iter().enumerate() {
                let pair = pair.granted_none();
                staying[stay % SETTLED] = pair;
                gone[(i - stay) % SETTLED] = pair;
                stay += pair.waits_as_number();
            }
            queue[kept..kept + stay].copy_from_slice(&staying[..stay]);
            kept += stay;
            gone[..some.len() - stay].iter().for_each(|&pair| leave(pair));
        }
        self.ends[QUEUE] = head + kept;
    }

    /// Returns where the pairs of a slot are.
    #[inline(always)]
    fn places(&self, slot: u32) -> Range<usize> {
        slot as usize * self.stride..self.ends[slot as usize % QUEUE]
    }

    fn start_of_queue(&self) -> usize {
        self.slots as usize * self.stride
    }
}

/// The pairs that send in each slot, and the queue.
pub(super) struct Lists<'a> {
    pairs: &'a mut [Pair],
    ends: &'a mut [usize; LISTS],
}

impl Lists<'_> {
    /// Serves each pair at these places with a slot that `take` names, or 64, which is the queue. A place of the queue must not
    /// be before as many as are appended to it meanwhile.
    ///
    /// Four pairs are served at a time, one after the other: a processor waits with reading where a list ends until it knows all
    /// places that are still to be written to, and so it waits a quarter as often.
    #[inline(always)]
    pub(super) fn serve(&mut self, places: Range<usize>, mut take: impl FnMut(&mut Pair) -> u32) {
        let mut place = places.start;
        while places.end - place >= AT_ONCE {
            let mut pairs: [Pair; AT_ONCE] = self.pairs[place..place + AT_ONCE].try_into().expect("as many");
            let slots = std::array::from_fn(|i| take(&mut pairs[i]));
            self.append(slots, pairs.map(Pair::granted_one));
            place += AT_ONCE;
        }
        while place < places.end {
            let mut pair = self.pairs[place];
            self.append([take(&mut pair)], [pair.granted_one()]);
            place += 1;
        }
    }

    /// Appends each pair to those that send in a slot, or to the queue if its slot is 64: as it is after a grant, also in the
    /// queue, until [`Schedule::settle`] has passed.
    #[inline(always)]
    pub(super) fn append<const N: usize>(&mut self, slots: [u32; N], pairs: [Pair; N]) {
        let places = slots.map(|slot| {
            let end = &mut self.ends[slot as usize];
            *end += 1;
            *end - 1
        });
        for (place, pair) in places.into_iter().zip(pairs) {
            self.pairs[place] = pair;
        }
    }
}
