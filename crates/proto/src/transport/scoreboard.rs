//! Selective acknowledgement, seen from the sender: which packets above the cumulative acknowledgement have
//! arrived, and which are given up for lost (Swift §3.6; the rule is RFC 6675's with a threshold of one).
//!
//! Every transmission of a packet is judged once: when enough packets above it have arrived for the first time
//! since it was sent. A retransmission that is lost too is found by the timer, not by a second judgement.

/// A set of packet numbers within a window that moves up, as a ring of bits.
#[derive(Clone, Debug)]
pub(super) struct SequenceSet {
    words: Box<[u64]>,
    len: u32,
}

impl SequenceSet {
    /// For windows of up to `reach` packets, a power of two and at least 64.
    pub(super) fn new(reach: u32) -> SequenceSet {
        assert!(reach.is_power_of_two() && reach >= u64::BITS, "a reach that no ring of bits has");
        SequenceSet { words: vec![0; (reach / u64::BITS) as usize].into_boxed_slice(), len: 0 }
    }

    fn place(&self, seq: u32) -> (usize, u64) {
        ((seq / u64::BITS) as usize & (self.words.len() - 1), 1 << (seq % u64::BITS))
    }

    pub(super) fn contains(&self, seq: u32) -> bool {
        let (word, bit) = self.place(seq);
        self.words[word] & bit != 0
    }

    /// Adds a number; whether it is new.
    pub(super) fn insert(&mut self, seq: u32) -> bool {
        let (word, bit) = self.place(seq);
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.len += u32::from(new);
        new
    }

    /// Takes a number out; whether it was in.
    pub(super) fn remove(&mut self, seq: u32) -> bool {
        let (word, bit) = self.place(seq);
        let had = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        self.len -= u32::from(had);
        had
    }

    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// The lowest member in `from..to`.
    pub(super) fn first(&self, from: u32, to: u32) -> Option<u32> {
        let mut seq = from;
        while self.len > 0 && seq < to {
            let (word, bit) = self.place(seq);
            let above = self.words[word] & !(bit - 1);
            if above != 0 {
                let found = seq - seq % u64::BITS + above.trailing_zeros();
                return (found < to).then_some(found);
            }
            seq = (seq - seq % u64::BITS).checked_add(u64::BITS)?;
        }
        None
    }

    /// The highest member in `from..to`.
    fn last(&self, from: u32, to: u32) -> Option<u32> {
        let mut end = to;
        while self.len > 0 && from < end {
            let top = end - 1;
            let (word, bit) = self.place(top);
            let below = self.words[word] & (bit | (bit - 1));
            if below != 0 {
                let found = top - top % u64::BITS + below.ilog2();
                return (found >= from).then_some(found);
            }
            end = top - top % u64::BITS;
        }
        None
    }
}

/// The state of the packets from `una`, the lowest not cumulatively acknowledged, up to the highest sent.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    sacked: SequenceSet,
    lost: SequenceSet,
    /// Packets below this have been judged.
    judged: u32,
    /// One above the highest packet known to have arrived.
    top: u32,
}

/// What an acknowledgement changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Change {
    /// Packets known for the first time to have arrived.
    pub acked: u32,
    /// Packets newly given up.
    pub lost: u32,
}

impl Scoreboard {
    pub(super) fn new(reach: u32) -> Scoreboard {
        Scoreboard { sacked: SequenceSet::new(reach), lost: SequenceSet::new(reach), judged: 0, top: 0 }
    }

    /// Every packet above the cumulative acknowledgement is under way, as far as is known.
    pub(super) fn is_empty(&self) -> bool {
        self.sacked.len() == 0 && self.lost.len() == 0
    }

    /// Packets of `una..next` that are under way: neither known to have arrived nor given up.
    pub(super) fn under_way(&self, una: u32, next: u32) -> u32 {
        next - una - self.sacked.len() - self.lost.len()
    }

    /// Moves the cumulative acknowledgement from `una` to `cumulative`.
    pub(super) fn advance(&mut self, una: u32, cumulative: u32) -> Change {
        let mut change = Change::default();
        for seq in una..cumulative {
            if !self.sacked.remove(seq) {
                change.acked += 1;
                self.lost.remove(seq);
            }
        }
        self.top = self.top.max(cumulative);
        change
    }

    /// Packet `seq`, above the cumulative acknowledgement, has arrived.
    pub(super) fn arrived(&mut self, seq: u32, change: &mut Change) {
        if self.sacked.insert(seq) {
            change.acked += 1;
            self.lost.remove(seq);
            self.top = self.top.max(seq + 1);
        }
    }

    /// The `threshold`th highest packet that arrived, or `una`: so many have overtaken what lies below it.
    fn overtaken(&self, una: u32, threshold: u32) -> u32 {
        let mut edge = self.top;
        for _ in 0..threshold {
            match self.sacked.last(una, edge) {
                Some(seq) => edge = seq,
                None => return una,
            }
        }
        edge
    }

    /// Gives up the packets from `una` on that `threshold` or more later ones have overtaken.
    pub(super) fn judge(&mut self, una: u32, threshold: u32, change: &mut Change) {
        let edge = self.overtaken(una, threshold);
        for seq in self.judged.max(una)..edge {
            if !self.sacked.contains(seq) && self.lost.insert(seq) {
                change.lost += 1;
            }
        }
        self.judged = self.judged.max(edge);
    }

    /// Gives up everything in `una..next` that has not arrived, retransmissions too.
    pub(super) fn give_up(&mut self, una: u32, next: u32) {
        for seq in una..next {
            if !self.sacked.contains(seq) {
                self.lost.insert(seq);
            }
        }
        self.judged = self.judged.max(next);
    }

    pub(super) fn lost(&self) -> u32 {
        self.lost.len()
    }

    /// The lowest lost packet from `una` on, which is under way from now.
    pub(super) fn take_lost(&mut self, una: u32, next: u32) -> Option<u32> {
        let seq = self.lost.first(una, next)?;
        self.lost.remove(seq);
        Some(seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_finds_members_across_its_words() {
        let mut set = SequenceSet::new(128);
        for seq in [63, 64, 190] {
            assert!(set.insert(seq));
        }
        assert!(!set.insert(64));
        assert_eq!(set.first(63, 191), Some(63));
        assert_eq!(set.first(64, 191), Some(64));
        assert_eq!(set.first(65, 191), Some(190));
        assert_eq!(set.first(65, 190), None);
        assert!(set.remove(190));
        assert!(!set.remove(190));
        assert_eq!(set.len(), 2);
    }

    #[test]
    fn a_hole_is_judged_once() {
        let mut board = Scoreboard::new(64);
        let mut change = Change::default();
        board.arrived(1, &mut change);
        board.judge(0, 1, &mut change);
        assert_eq!(change, Change { acked: 1, lost: 1 });
        assert_eq!(board.under_way(0, 5), 3);
        assert_eq!(board.take_lost(0, 5), Some(0));
        let mut change = Change::default();
        board.arrived(2, &mut change);
        board.judge(0, 1, &mut change);
        assert_eq!(change, Change { acked: 1, lost: 0 });
        assert_eq!(board.under_way(0, 5), 3);
    }

    #[test]
    fn a_threshold_of_three_waits_for_three_later_packets() {
        let mut board = Scoreboard::new(64);
        let mut change = Change::default();
        for seq in [1, 2] {
            board.arrived(seq, &mut change);
            board.judge(0, 3, &mut change);
        }
        assert_eq!(change.lost, 0);
        board.arrived(3, &mut change);
        board.judge(0, 3, &mut change);
        assert_eq!(change.lost, 1);
    }

    #[test]
    fn a_threshold_counts_arrivals_not_positions() {
        // Packets 0, 1 and 2 are missing: one arrival above them is one, however high it is (RFC 6675).
        let mut board = Scoreboard::new(64);
        let mut lost = Vec::new();
        for seq in [3, 5, 9] {
            let mut change = Change::default();
            board.arrived(seq, &mut change);
            board.judge(0, 3, &mut change);
            lost.push(change.lost);
        }
        assert_eq!(lost, [0, 0, 3]);
    }

    #[test]
    fn a_set_searches_up_to_the_last_packet_a_flow_can_have() {
        let mut set = SequenceSet::new(64);
        let end = u32::MAX;
        set.insert(end - 60);
        assert_eq!(set.first(end - 60, end), Some(end - 60));
        assert_eq!(set.first(end - 59, end), None);
        assert_eq!(set.last(end - 63, end), Some(end - 60));
    }

    #[test]
    fn what_arrives_after_it_was_given_up_leaves_the_flight_once() {
        let mut board = Scoreboard::new(64);
        let mut change = Change::default();
        board.arrived(1, &mut change);
        board.judge(0, 1, &mut change);
        assert_eq!(board.under_way(0, 5), 3);
        let change = board.advance(0, 2);
        assert_eq!(change, Change { acked: 1, lost: 0 });
        assert_eq!(board.under_way(2, 5), 3);
        assert!(board.is_empty());
    }

    mod against_an_oracle {
        use std::collections::BTreeSet;

        use proptest::collection::vec;
        use proptest::prelude::*;

        use super::super::*;

        const REACH: u32 = 128;

        proptest! {
            /// The ring against a tree, in a window that moves up as far as a flow can go.
            #[test]
            fn a_set_is_a_set(
                start in prop_oneof![0..1000_u32, u32::MAX - 1000..u32::MAX - 928],
                steps in vec((0..4_u32, 0..REACH, 0..REACH, 0..=REACH), 1..200),
            ) {
                let (mut ring, mut tree, mut base) = (SequenceSet::new(REACH), BTreeSet::new(), start);
                for (kind, at, from, to) in steps {
                    let (seq, from, to) = (base + at, base + from, base + to);
                    match kind {
                        0 | 1 => prop_assert_eq!(ring.insert(seq), tree.insert(seq)),
                        2 => prop_assert_eq!(ring.remove(seq), tree.remove(&seq)),
                        _ => {
                            let up = base + at % 5;
                            (base..up).for_each(|gone| { ring.remove(gone); tree.remove(&gone); });
                            base = up;
                            continue;
                        }
                    }
                    let within = || tree.iter().copied().filter(|&seq| from <= seq && seq < to);
                    prop_assert_eq!(ring.first(from, to), within().next());
                    prop_assert_eq!(ring.last(from, to), within().next_back());
                    prop_assert_eq!(ring.contains(seq), tree.contains(&seq));
                    prop_assert_eq!(ring.len() as usize, tree.len());
                }
            }
        }

        /// What each packet from 0 on is known to be, in the plainest way.
        #[derive(Clone, Copy, PartialEq, Debug)]
        enum Is {
            UnderWay,
            Arrived,
            Lost,
        }

        /// Gives up, once, what `threshold` packets above `una` have overtaken.
        fn judge(packets: &mut [Is], judged: &mut [bool], una: usize, threshold: usize) {
            for seq in una..packets.len() {
                let overtaken =
                    packets[seq + 1..].iter().filter(|&&is| is == Is::Arrived).count() >= threshold;
                if overtaken && !judged[seq] {
                    judged[seq] = true;
                    if packets[seq] == Is::UnderWay {
                        packets[seq] = Is::Lost;
                    }
                }
            }
        }

        fn count(packets: &[Is], what: Is) -> u32 {
            packets.iter().filter(|&&is| is == what).count() as u32
        }

        proptest! {
            #[test]
            fn a_scoreboard_knows_what_a_list_knows(
                threshold in 1..5_u32,
                steps in vec((0..10_u32, 0..REACH), 1..150),
            ) {
                let mut board = Scoreboard::new(REACH);
                let mut packets = vec![Is::UnderWay; REACH as usize];
                let mut judged = vec![false; REACH as usize];
                let mut una = 0;
                for (kind, at) in steps {
                    let before = packets.clone();
                    let mut change = Change::default();
                    if kind == 9 {
                        board.give_up(una, REACH);
                        judged.fill(true);
                        packets.iter_mut().filter(|is| **is == Is::UnderWay).for_each(|is| *is = Is::Lost);
                    } else if kind >= 7 {
                        let expected = packets.iter().position(|&is| is == Is::Lost);
                        prop_assert_eq!(board.take_lost(una, REACH), expected.map(|seq| seq as u32));
                        if let Some(seq) = expected {
                            packets[seq] = Is::UnderWay;
                        }
                    } else {
                        if at > una {
                            packets[at as usize] = Is::Arrived;
                            board.arrived(at, &mut change);
                        } else {
                            // The lowest missing one: the acknowledgement moves up to the next hole.
                            packets[una as usize] = Is::Arrived;
                            let hole = packets.iter().position(|&is| is != Is::Arrived);
                            let cumulative = hole.map_or(REACH, |seq| seq as u32);
                            change = board.advance(una, cumulative);
                            una = cumulative;
                        }
                        judge(&mut packets, &mut judged, una as usize, threshold as usize);
                        board.judge(una, threshold, &mut change);
                        let acked = count(&packets, Is::Arrived) - count(&before, Is::Arrived);
                        prop_assert_eq!(change.acked, acked);
                        let lost = (0..packets.len()).filter(|&at| packets[at] == Is::Lost && before[at] != Is::Lost);
                        prop_assert_eq!(change.lost as usize, lost.count());
                    }
                    prop_assert_eq!(board.lost(), count(&packets, Is::Lost));
                    prop_assert_eq!(board.under_way(una, REACH), count(&packets, Is::UnderWay));
                    let known = packets[una as usize..].iter().any(|&is| is != Is::UnderWay);
                    prop_assert_eq!(board.is_empty(), !known);
                    if una == REACH {
                        break;
                    }
                }
            }
        }
    }
}
