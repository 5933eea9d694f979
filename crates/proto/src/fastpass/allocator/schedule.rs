//! The grants of a batch, by slot: what the allocator gives, and meanwhile the younger part of its queue. The queue itself lies
//! beside them, as the list of the pairs that find no slot.

use super::pair::Pair;

/// A batch of timeslots with the pairs that send in each.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The queue, and then a row for each slot, the last slot first: what is served in a slot finds its place before it.
    pairs: Box<[Pair]>,
    /// Where each slot's pairs end, and where the queue does.
    ends: [usize; LISTS],
    /// Where the row of the last slot begins.
    rows: usize,
    stride: usize,
    slots: u32,
}

/// As many slots as there can be, and the queue.
const LISTS: usize = QUEUE + 1;
/// The queue's number: no free slot is the 64th.
const QUEUE: usize = 64;

/// Pairs in a line of the cache. Rows are apart by one more than they need, as rows of a power of two, written to at
/// equal places, would compete for the same few lines of the cache.
const LINE: usize = 8;

/// Pairs that are settled together: few enough for the nearest cache, and a power of two.
const SETTLED: usize = 256;

impl Schedule {
    /// An empty schedule of `slots` slots with at most `most_granted` pairs each, and a queue of at most `most_waiting`.
    pub(super) fn new(slots: u32, most_granted: usize, most_waiting: usize) -> Schedule {
        let rows = most_waiting.next_multiple_of(LINE);
        let stride = most_granted.next_multiple_of(LINE) + LINE;
        let pairs = vec![Pair::new(0, 0, 1); rows + stride * slots as usize].into_boxed_slice();
        let mut schedule = Schedule { pairs, ends: [0; LISTS], rows, stride, slots };
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
        &self.pairs[self.start(slot)..self.ends[slot as usize]]
    }

    /// Packets granted in the batch.
    pub fn packets(&self) -> usize {
        (0..self.slots).map(|slot| self.slot(slot).len()).sum()
    }

    /// Forgets the batch. The queue stays.
    pub(super) fn clear(&mut self) {
        for slot in 0..self.slots {
            self.ends[slot as usize] = self.start(slot);
        }
    }

    /// The pairs that send in a slot, and the lists of those that are served after them.
    #[inline(always)]
    pub(super) fn split(&mut self, slot: u32) -> (&[Pair], Lists<'_>) {
        let start = self.start(slot);
        let (pairs, row) = self.pairs.split_at_mut(start);
        (&row[..self.ends[slot as usize % QUEUE] - start], Lists { pairs, ends: &mut self.ends })
    }

    /// The pairs that wait, those at the head first.
    pub(super) fn queue(&self) -> &[Pair] {
        &self.pairs[..self.ends[QUEUE]]
    }

    /// The pairs that wait, to be changed in place.
    pub(super) fn queue_mut(&mut self) -> &mut [Pair] {
        &mut self.pairs[..self.ends[QUEUE]]
    }

    /// Puts a pair at the queue's tail.
    #[inline(always)]
    pub(super) fn put_at_tail(&mut self, pair: Pair) {
        self.pairs[self.ends[QUEUE]] = pair;
        self.ends[QUEUE] += 1;
    }

    /// Walks the queue, and keeps of each pair what `served` makes of it, if that is something.
    #[inline(always)]
    pub(super) fn retain(&mut self, mut served: impl FnMut(&mut Lists, Pair) -> Option<Pair>) {
        let mut lists = Lists { pairs: &mut self.pairs, ends: &mut self.ends };
        let mut kept = 0;
        for place in 0..lists.ends[QUEUE] {
            let pair = lists.pairs[place];
            if let Some(pair) = served(&mut lists, pair) {
                lists.pairs[kept] = pair;
                kept += 1;
            }
        }
        lists.ends[QUEUE] = kept;
    }

    /// Takes all pairs out of the queue: how many, and the lists, which they are appended to anew.
    pub(super) fn take_queue(&mut self) -> (usize, Lists<'_>) {
        let waiting = std::mem::take(&mut self.ends[QUEUE]);
        (waiting, Lists { pairs: &mut self.pairs, ends: &mut self.ends })
    }

    /// Settles the queue, which all its pairs were appended to in this batch: those that wait for something stay, and `leave` is
    /// told the others. Before the place `from` there are none of these.
    ///
    /// It cannot be foretold which stay, so they are parted without a branch.
    pub(super) fn settle(&mut self, from: usize, mut leave: impl FnMut(Pair)) {
        let queue = &mut self.pairs[..self.ends[QUEUE]];
        queue[..from].iter_mut().for_each(|pair| *pair = pair.granted_none());
        let mut gone = [Pair::new(0, 0, 1); SETTLED];
        let mut kept = from;
        for start in (from..queue.len()).step_by(SETTLED) {
            let end = queue.len().min(start + SETTLED);
            let left = start - kept;
            for place in start..end {
                let pair = queue[place].granted_none();
                queue[kept] = pair;
                gone[(place - kept) % SETTLED] = pair;
                kept += pair.waits_as_number();
            }
            (left..end - kept).for_each(|place| leave(gone[place % SETTLED]));
        }
        self.ends[QUEUE] = kept;
    }

    /// Where the row of a slot begins.
    #[inline(always)]
    fn start(&self, slot: u32) -> usize {
        self.rows + (self.slots - 1 - slot) as usize * self.stride
    }
}

/// The slots that pairs are granted, and the queue.
pub(super) struct Lists<'a> {
    pairs: &'a mut [Pair],
    ends: &'a mut [usize; LISTS],
}

impl Lists<'_> {
    /// The pair that stood at this place of the queue, if no more than so many have been appended to it since.
    #[inline(always)]
    pub(super) fn pair(&self, place: usize) -> Pair {
        self.pairs[place]
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
