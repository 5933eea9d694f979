//! The events of one window, dealt out into batches, each of which is simulated in one go.
//!
//! In a window the nodes need no order among each other. Where there are many events, those of one node are a batch, so
//! that what belongs to the node is fetched once; nodes that are visited and have few events share one, node by node, as a
//! batch costs something by itself. Where there are few events, at most [`FEW`], two batches do: one of the nodes that go first,
//! switches of one kind, and one of all others.

use super::calendar::{node_of, part_of, Entry, MAX_NODES};
use super::order::{deal, FEW};
use super::windows::PARTS;

/// Numbers of events that are dealt out by the part of the window, too. With more it does not pay: dealt out by time, the events
/// of a node come from everywhere, and the lines of memory to which they go do not stay in a cache.
const MANY: std::ops::Range<usize> = 1024..HUGE;

/// With at least this many events, the ruled ports that a window touches do not all stay in a core's own caches.
const LARGE: usize = 4096;

/// With at least this many events, what a window touches does not stay in a core's caches until the next.
const HUGE: usize = 100_000;

/// A batch that nodes share is complete once it has this many events.
const ENOUGH: usize = 64;

/// How many entries can be read behind a batch, of events to be prefetched.
pub const AHEAD: usize = 16;

/// A window's events; room that every window uses anew.
#[derive(Debug, Default)]
pub struct Batches {
    /// How many events there are.
    count: usize,
    /// The events as they came, or in the order of the parts of the window; behind them anything.
    entries: Vec<Entry>,
    /// The events batch by batch; behind them anything.
    dealt: Vec<Entry>,
    /// Where each batch ends in `dealt`.
    ends: Vec<usize>,
    /// For each node how many events it has, then where they end in `dealt`; zero between windows.
    of_node: Vec<u32>,
    /// The nodes that have events; behind them anything.
    active: Vec<u32>,
    /// Room in which they are put in order.
    spare: Vec<u32>,
}

impl Batches {
    /// Batches of a network with this many nodes.
    pub fn new(nodes: usize) -> Batches {
        assert!(nodes <= MAX_NODES, "a domain of more than {MAX_NODES} nodes");
        Batches { of_node: vec![0; nodes], ..Batches::default() }
    }

    /// A new window's events, to be filled in.
    pub fn begin(&mut self) -> &mut Vec<Entry> {
        self.entries.clear();
        &mut self.entries
    }

    /// The window's events before they are dealt out.
    pub fn entries(&mut self) -> &mut Vec<Entry> {
        &mut self.entries
    }

    /// Returns how many events the window has.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Deals the events out. `forwards` says of a node whether it only forwards frames, and `goes_first` whether its events come
    /// before those of all others where there are few.
    #[inline(always)]
    pub fn deal(&mut self, goes_first: impl Fn(u32) -> bool, forwards: impl Fn(u32) -> bool) {
        self.ends.clear();
        self.count = self.entries.len();
        self.make_room();
        if self.are_few() {
            self.part(goes_first);
        } else {
            self.group(forwards);
        }
    }

    /// Returns whether there are few events, at most [`FEW`]: each is read before memory would be there that is asked for now.
    pub fn are_few(&self) -> bool {
        self.count <= FEW
    }

    /// Returns whether what the events need of ruled ports is more than a core's own caches hold.
    pub fn are_large(&self) -> bool {
        self.count >= LARGE
    }

    /// Returns whether what will be touched had better be asked for ahead of its time.
    pub fn are_huge(&self) -> bool {
        self.count >= HUGE
    }

    /// Returns whether the events of each batch stand in the order of the parts of the window in which they happen.
    pub fn are_near_their_places(&self) -> bool {
        MANY.contains(&self.count)
    }

    /// Returns where batch number `batch` ends in what was dealt out; `None` if there are fewer. The next begins there, the first
    /// at 0.
    pub fn end_of(&self, batch: usize) -> Option<usize> {
        self.ends.get(batch).copied()
    }

    /// Returns the events of one window, batch by batch, padded with [`AHEAD`] events of any kind for the prefetcher. Return it
    /// with [`Self::give_back`].
    pub fn take_dealt(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.dealt)
    }

    /// Gives back what [`Self::take_dealt`] took.
    pub fn give_back(&mut self, dealt: Vec<Entry>) {
        self.dealt = dealt;
    }

    /// Nodes that go first, then all others, whose events stay in the order in which they came: mostly, those of one node are in
    /// the order of time.
    fn part(&mut self, goes_first: impl Fn(u32) -> bool) {
        let count = self.count;
        let (mut first, mut last) = (0, count);
        for &entry in self.entries[..self.count].iter().rev() {
            // Which it is cannot be predicted: it is written at both ends, and the next overwrites it at one of them.
            self.dealt[first] = entry;
            self.dealt[last - 1] = entry;
            let here = usize::from(goes_first(node_of(entry)));
            first += here;
            last -= 1 - here;
        }
        if first > 0 {
            self.ends.push(first);
        }
        if first < count {
            self.ends.push(count);
        }
    }

    /// Node by node. Not inlined, as a function that does more has no register left for what these loops need.
    #[inline(never)]
    fn group(&mut self, forwards: impl Fn(u32) -> bool) {
        // Whether a node is new here cannot be predicted: each is noted, and the next overwrites it where it is not new.
        let mut found = 0;
        if self.active.len() <= self.count {
            self.active.resize(self.count + 1, 0);
        }
        for &entry in &self.entries[..self.count] {
            let count = &mut self.of_node[node_of(entry) as usize];
            self.active[found] = node_of(entry);
            found += usize::from(*count == 0);
            *count += 1;
        }
        if self.are_near_their_places() {
            self.deal_by_part();
        }
        let sharing = self.put_in_order(found, forwards);
        let active = &self.active[..found];
        let mut from = 0;
        for &node in active {
            let count = &mut self.of_node[node as usize];
            from += std::mem::replace(count, from);
        }
        for &entry in &self.entries[..self.count] {
            let end = &mut self.of_node[node_of(entry) as usize];
            let at = *end as usize;
            *end += 1;
            if let Some(place) = self.dealt.get_mut(at) {
                *place = entry;
            }
        }
        let of_node = &mut self.of_node;
        let mut ends = active.iter().map(|&node| std::mem::take(&mut of_node[node as usize]) as usize);
        let (mut begin, mut end) = (0, 0);
        for last in ends.by_ref().take(sharing) {
            end = last;
            if end - begin >= ENOUGH {
                self.ends.push(end);
                begin = end;
            }
        }
        if end > begin {
            self.ends.push(end);
        }
        self.ends.extend(ends);
    }

    /// Puts those of the first `count` active nodes that are to share batches before all others. Returns how many these are. So
    /// what is ahead of a visit is mostly another.
    fn put_in_order(&mut self, count: usize, forwards: impl Fn(u32) -> bool) -> usize {
        if self.spare.len() < count {
            self.spare.resize(count, 0);
        }
        // Which it is cannot be predicted: each is noted in both places, and the next overwrites it in one of them.
        let (mut sharing, mut others) = (0, 0);
        for at in 0..count {
            let node = self.active[at];
            self.active[sharing] = node;
            self.spare[others] = node;
            let shares = !forwards(node) && self.of_node[node as usize] as usize <= FEW;
            sharing += usize::from(shares);
            others += usize::from(!shares);
        }
        self.active[sharing..count].copy_from_slice(&self.spare[..others]);
        sharing
    }

    /// Brings the entries into the order of the parts of the window.
    #[inline(never)]
    fn deal_by_part(&mut self) {
        deal::<_, PARTS>(&self.entries[..self.count], &mut self.dealt, |&entry| part_of(entry));
        std::mem::swap(&mut self.entries, &mut self.dealt);
        self.make_room();
    }

    fn make_room(&mut self) {
        if self.dealt.len() < self.count + AHEAD {
            self.dealt.resize(self.count + AHEAD, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::calendar::entry;
    use super::*;
    use crate::random::{Entity, Stream};

    /// Nothing is lost, and every batch is of one node, of nodes that are alike where there are few events, or node by node of
    /// nodes that are visited and have few. Where there are many events, a node's stand in the order of their parts of the
    /// window.
    #[test]
    fn every_event_is_in_a_batch_of_its_own_kind() {
        let mut stream = Stream::new(1, Entity::TrafficTable, 0);
        let mut batches = Batches::new(200);
        let forwards = |node: u32| node < 4;
        let goes_first = |node: u32| node < 8;
        let (mut shared, mut apart) = (0, 0);
        for round in 0..500 {
            let nodes = [10, 40, 200][round % 3];
            let count = if round == 7 {
                HUGE
            } else if round % 10 > 7 {
                MANY.start + round
            } else {
                round % 60
            };
            let mut draw = |slot| entry(stream.below(nodes) as u32, stream.below(PARTS as u64), slot as u32);
            let mut entries: Vec<Entry> = (0..count).map(&mut draw).collect();
            batches.begin().extend_from_slice(&entries);
            batches.deal(goes_first, forwards);
            assert_eq!(batches.count(), count);
            assert_eq!(batches.are_near_their_places(), MANY.contains(&count));
            let mut found = Vec::new();
            let dealt = batches.take_dealt();
            let mut from = 0;
            for to in (0..).map_while(|number| batches.end_of(number)) {
                let batch = &dealt[std::mem::replace(&mut from, to)..to];
                assert!(dealt.len() >= to + AHEAD);
                assert!(!batch.is_empty());
                let kind = |&entry: &Entry| {
                    let node = node_of(entry);
                    if count > FEW {
                        forwards(node)
                    } else {
                        goes_first(node)
                    }
                };
                assert!(batch.iter().all(|entry| kind(entry) == kind(&batch[0])));
                let of_nodes: Vec<&[Entry]> = batch.chunk_by(|a, b| node_of(*a) == node_of(*b)).collect();
                if count > FEW && of_nodes.len() > 1 {
                    shared += 1;
                    assert!(!forwards(node_of(batch[0])) && batch.len() < ENOUGH + FEW);
                    assert!(of_nodes.iter().all(|events| events.len() <= FEW));
                    let nodes: std::collections::BTreeSet<u32> = batch.iter().copied().map(node_of).collect();
                    assert_eq!(nodes.len(), of_nodes.len(), "a node's events stand apart");
                } else if count > FEW {
                    apart += 1;
                }
                let in_order = |events: &&[Entry]| events.iter().map(|&entry| part_of(entry)).is_sorted();
                assert!(!MANY.contains(&count) || of_nodes.iter().all(in_order));
                found.extend_from_slice(batch);
            }
            batches.give_back(dealt);
            entries.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, entries);
        }
        assert!(shared > 500 && apart > 500, "{shared} shared, {apart} apart");
    }
}
