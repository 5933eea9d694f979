//! Receipts: what endpoints tell each other of the slots in which packets came, so that the sender knows of every packet whether
//! it arrived, whatever becomes of acknowledgements (§6: endpoints report losses, as these mean faults).
//!
//! Every packet sent in a slot carries a [`SlotHeader`]: a number, one higher with each slot used for this destination, and the
//! numbers of the last 128 slots of the other side that have come. A header that is lost is made good by the next one, and what
//! no header can speak of any more is not known, and counted neither as arrived nor as lost.

use std::collections::VecDeque;

use super::fcp::Path;
use crate::units::{Span, Time};

/// Numbers of which it is known whether they came.
const KNOWN: u32 = u128::BITS;
/// A number that is so far behind the latest is of another life of the sender, which has begun anew.
const ANOTHER_LIFE: u32 = 1 << 16;
/// A packet that this many later ones have overtaken is lost: as many as the transport's threshold (16), for the same reason.
const OVERTAKEN_BY: u32 = 16;
/// Packets of one destination whose fate is awaited; the oldest are given up for unknown if there are more.
const MOST_FLYING: usize = 4096;

/// What a packet sent in a slot carries for the endpoint that it goes to. All packets of a slot carry the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotHeader {
    /// The number of this slot among those used for the destination, modulo 2^32.
    pub number: u32,
    /// The slots of the destination that have come.
    pub heard: Arrivals,
}

impl SlotHeader {
    /// Bytes that it takes in a packet: two numbers and a set of 128 bits.
    pub const BYTES: u32 = 24;

    /// The header as it goes in a packet, in network byte order: the number (bytes 0 to 3), the latest number heard (4 to 7), and
    /// the set (8 to 23), of which bit `i` says that the number `i` before the latest has come.
    pub fn to_bytes(&self) -> [u8; Self::BYTES as usize] {
        let mut bytes = [0; Self::BYTES as usize];
        bytes[..4].copy_from_slice(&self.number.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.heard.latest.to_be_bytes());
        bytes[8..].copy_from_slice(&self.heard.known.to_be_bytes());
        bytes
    }

    /// Reads what [`SlotHeader::to_bytes`] has written. Any bytes are a header.
    pub fn from_bytes(bytes: &[u8; Self::BYTES as usize]) -> SlotHeader {
        let word = |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let known = (8..24).step_by(4).fold(0, |known, at| known << 32 | u128::from(word(at)));
        SlotHeader { number: word(0), heard: Arrivals { latest: word(4), known } }
    }
}

/// Which of the last 128 numbers have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// The latest number; meaningless while `known` is 0.
    latest: u32,
    /// Bit `i` says that number `latest - i` has come.
    known: u128,
}

impl Arrivals {
    /// Notes that a number has come.
    pub fn note(&mut self, number: u32) {
        let ahead = number.wrapping_sub(self.latest);
        let behind = self.latest.wrapping_sub(number);
        if self.known == 0 || (behind > ANOTHER_LIFE && ahead > ANOTHER_LIFE) {
            *self = Arrivals { latest: number, known: 1 };
        } else if behind < KNOWN {
            self.known |= 1 << behind;
        } else if ahead <= ANOTHER_LIFE {
            *self = Arrivals { latest: number, known: self.known.checked_shl(ahead).unwrap_or(0) | 1 };
        }
    }

    /// Takes the word of another header from the same side: what was known is not forgotten.
    fn merge(&mut self, other: &Arrivals) {
        if other.known == 0 {
            return;
        }
        let ahead = other.latest.wrapping_sub(self.latest);
        if self.known == 0 || ahead > u32::MAX / 2 {
            if self.known == 0 {
                *self = *other;
            }
            return;
        }
        let before = self.known.checked_shl(ahead).unwrap_or(0);
        *self = Arrivals { latest: other.latest, known: other.known | before };
    }

    /// Returns how far a number is behind the latest; `None` if it is ahead of it, or nothing has come.
    fn behind(&self, number: u32) -> Option<u32> {
        let behind = self.latest.wrapping_sub(number);
        (self.known != 0 && behind <= u32::MAX / 2).then_some(behind)
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrived.
    Arrived,
    /// It did not, and later ones did.
    Lost,
    /// Nobody knows: nothing was heard of it.
    Unknown,
}

/// A packet sent in a slot, whose fate is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Its number, as its header had it.
    pub number: u32,
    /// Which way it went.
    pub path: Path,
    /// What became of it.
    pub fate: Fate,
}

/// A packet under way.
#[derive(Clone, Copy, Debug)]
struct Flying {
    at: Time,
    path: Path,
}

/// What one endpoint knows of the slots between it and another.
#[derive(Clone, Debug, Default)]
pub(super) struct Receipts {
    /// The slots of the other side that have come here.
    heard: Arrivals,
    /// What the other side has said of those of this side.
    theirs: Arrivals,
    /// Packets under way, oldest first, with consecutive numbers.
    flying: VecDeque<Flying>,
    /// The number of the first of them, or of the next packet; none before the first.
    first: Option<u32>,
}

impl Receipts {
    /// The header of a packet that leaves now. `seed` is the number of the first packet: higher than any of an earlier life of
    /// the endpoint.
    pub(super) fn send(&mut self, now: Time, path: Path, seed: u32) -> SlotHeader {
        let first = *self.first.get_or_insert(seed);
        let number = first.wrapping_add(self.flying.len() as u32);
        self.flying.push_back(Flying { at: now, path });
        SlotHeader { number, heard: self.heard }
    }

    /// Takes the header of a packet that has come.
    pub(super) fn handle(&mut self, header: &SlotHeader) {
        self.heard.note(header.number);
        self.theirs.merge(&header.heard);
    }

    /// The header of a packet that only says what has come; its number means nothing.
    pub(super) fn receipt(&self) -> SlotHeader {
        SlotHeader { number: 0, heard: self.heard }
    }

    /// Takes such a header.
    pub(super) fn handle_receipt(&mut self, header: &SlotHeader) {
        self.theirs.merge(&header.heard);
    }

    /// When the oldest packet was sent whose fate is awaited.
    pub(super) fn waits_since(&self) -> Option<Time> {
        self.flying.front().map(|oldest| oldest.at)
    }

    /// The oldest packet if its fate is known, or if too many wait for theirs. It is lost, too, once one that was sent
    /// `overtaken_after` later has come.
    pub(super) fn poll_settled(&mut self, overtaken_after: Span) -> Option<Settled> {
        let number = self.first?;
        let Flying { at, path } = *self.flying.front()?;
        let fate = match self.theirs.behind(number) {
            Some(behind) if behind >= KNOWN => Fate::Unknown,
            Some(behind) if self.theirs.known >> behind & 1 == 1 => Fate::Arrived,
            Some(behind) if behind >= OVERTAKEN_BY || self.is_overtaken(behind, at + overtaken_after) => {
                Fate::Lost
            }
            _ if self.flying.len() > MOST_FLYING => Fate::Unknown,
            _ => return None,
        };
        self.flying.pop_front();
        self.first = Some(number.wrapping_add(1));
        Some(Settled { number, path, fate })
    }

    /// Returns whether the latest packet known to have come, which the oldest under way is so far behind, was sent at this time
    /// or later.
    fn is_overtaken(&self, behind: u32, at: Time) -> bool {
        self.flying.get(behind as usize).is_some_and(|latest| latest.at >= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn settled(receipts: &mut Receipts) -> Vec<(u32, Fate)> {
        std::iter::from_fn(|| receipts.poll_settled(Span::from_us(50)))
            .map(|it| (it.number, it.fate))
            .collect()
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let mut heard = Arrivals::default();
        (0..200).filter(|number| number % 3 != 0).for_each(|number| heard.note(number));
        let header = SlotHeader { number: 0x0102_0304, heard };
        let bytes = header.to_bytes();
        assert_eq!(bytes[..8], [1, 2, 3, 4, 0, 0, 0, 199]);
        assert_eq!((bytes[23] & 1, SlotHeader::from_bytes(&bytes)), (1, header));
    }

    #[test]
    fn one_header_makes_good_for_127_that_are_lost() {
        let (mut here, mut there) = (Receipts::default(), Receipts::default());
        for slot in 0..128 {
            let header = here.send(us(slot), 0, 70);
            there.handle(&header);
        }
        let answer = there.send(us(200), 0, 5);
        assert_eq!(settled(&mut here), []);
        here.handle(&answer);
        let all: Vec<_> = (70..198).map(|number| (number, Fate::Arrived)).collect();
        assert_eq!(settled(&mut here), all);
    }

    #[test]
    fn a_packet_that_sixteen_have_overtaken_is_lost_and_one_that_no_header_can_speak_of_is_not() {
        let (mut here, mut there) = (Receipts::default(), Receipts::default());
        for slot in 0..300 {
            let header = here.send(us(0), 0, u32::MAX - 20);
            if slot != 0 && slot != 280 && slot != 290 {
                there.handle(&header);
            }
        }
        here.handle(&there.send(us(1), 0, 0));
        let settled = settled(&mut here);
        let of = |fate| settled.iter().filter(|(_, other)| *other == fate).count();
        assert_eq!((of(Fate::Unknown), of(Fate::Lost), of(Fate::Arrived)), (172, 1, 117));
        assert_eq!(settled[280], ((u32::MAX - 20).wrapping_add(280), Fate::Lost));
        // Nine have overtaken packet 290: it may come yet.
        assert_eq!(settled.len(), 290);
    }

    #[test]
    fn so_is_one_that_was_overtaken_by_a_much_later_one() {
        let (mut here, mut there) = (Receipts::default(), Receipts::default());
        here.send(us(0), 3, 1);
        for at in [49, 50] {
            let header = here.send(us(at), 0, 1);
            there.handle(&header);
            here.handle(&there.send(us(at), 0, 1));
            let wanted =
                if at == 49 { vec![] } else { vec![(1, Fate::Lost), (2, Fate::Arrived), (3, Fate::Arrived)] };
            assert_eq!(settled(&mut here), wanted);
        }
    }

    #[test]
    fn what_nobody_speaks_of_is_unknown_when_there_is_too_much_of_it() {
        let mut here = Receipts::default();
        for at in 0..5000 {
            here.send(us(at), 3, 1);
        }
        let all: Vec<_> = (1..=5000 - 4096).map(|number| (number, Fate::Unknown)).collect();
        assert_eq!(settled(&mut here), all);
    }

    #[test]
    fn numbers_come_late_and_twice_and_begin_anew() {
        let mut heard = Arrivals::default();
        for number in [u32::MAX, 1, 0, 1] {
            heard.note(number);
        }
        assert_eq!(heard, Arrivals { latest: 1, known: 0b111 });
        heard.note(200);
        assert_eq!(heard, Arrivals { latest: 200, known: 1 });
        heard.note(2);
        assert_eq!(heard, Arrivals { latest: 200, known: 1 }, "too old to be known");
        heard.note(1 << 31);
        assert_eq!(heard, Arrivals { latest: 1 << 31, known: 1 });
        let mut theirs = Arrivals { latest: 10, known: 0b1011 };
        theirs.merge(&Arrivals { latest: 8, known: 0b11 });
        theirs.merge(&Arrivals::default());
        assert_eq!(theirs, Arrivals { latest: 10, known: 0b1011 }, "an older word says nothing new");
        theirs.merge(&Arrivals { latest: 12, known: 0b1 });
        assert_eq!(theirs, Arrivals { latest: 12, known: 0b10_1101 });
    }
}
