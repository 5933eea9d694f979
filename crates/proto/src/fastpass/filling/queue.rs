//! What waits for one destination: acknowledgements, flows in two lanes, and how many slots they need together.

use std::collections::VecDeque;

use super::bins::Bins;
use super::sizes::Sizes;
use crate::units::{Span, Time};

/// Where a flow waits for its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Lane {
    /// Each packet that the flow offers takes at most half a slot: so the packets of all these flows share slots.
    Small,
    /// One of its packets takes more. A flow stays here until it offers nothing.
    #[default]
    Large,
}

/// What goes first in a slot; what room it leaves is for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlotUse {
    /// Packets of flows in this lane.
    Data(Lane),
    Acknowledgements,
}

/// The flows of a lane, in the order of their turns, and what they offer.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// Flows by handle, each once; some may have moved to the other lane or offer nothing by now.
    pub(super) flows: VecDeque<u32>,
    /// The sum of what each flow needs by itself.
    bins: u64,
    packets: u64,
    bytes: u64,
    /// Acknowledgements for which there is room beside the first bins.
    riders: u64,
    /// The size of the largest packet offered since the lane was last empty.
    largest: u32,
}

/// What one flow adds to its lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    bins: u32,
    packets: u32,
    bytes: u64,
    riders: u32,
}

impl Share {
    #[inline]
    pub(super) fn of(bins: &Bins, sizes: &Sizes) -> Share {
        let riders = if bins.count() == 0 { 0 } else { (sizes.room - bins.first().bytes) / sizes.ack };
        Share { bins: bins.count(), packets: bins.packets(), bytes: bins.bytes(), riders }
    }
}

impl Round {
    /// Returns whether no flow offers anything.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.bins == 0
    }

    /// A flow of this lane added one share, and now adds another.
    #[inline]
    pub(super) fn replace(&mut self, before: Share, now: Share) {
        self.bins = self.bins + u64::from(now.bins) - u64::from(before.bins);
        self.packets = self.packets + u64::from(now.packets) - u64::from(before.packets);
        self.bytes = self.bytes + now.bytes - before.bytes;
        self.riders = self.riders + u64::from(now.riders) - u64::from(before.riders);
        if self.bins == 0 {
            self.largest = 0;
        }
    }

    /// Returns whether they fill a slot, so that nothing more may fit.
    fn fills(&self, sizes: &Sizes) -> bool {
        self.bytes > u64::from(sizes.room - self.largest)
    }

    /// Notes that a packet of this size is offered.
    #[inline]
    pub(super) fn grow(&mut self, size: u32) {
        self.largest = self.largest.max(size);
    }
}

/// What waits for one destination.
#[derive(Debug)]
pub(super) struct Queue<A> {
    /// Acknowledgements, oldest first, with the time at which each began to wait and its size.
    pub(super) acks: VecDeque<(Time, u32, A)>,
    ack_bytes: u64,
    pub(super) small: Round,
    pub(super) large: Round,
    /// Since when small packets have waited for a turn, at most.
    pub(super) since: Time,
    /// Whose turn the last slot was.
    last: SlotUse,
    /// Which lane's turn it was last.
    last_lane: Lane,
}

impl<A> Default for Queue<A> {
    fn default() -> Queue<A> {
        Queue {
            acks: VecDeque::new(),
            ack_bytes: 0,
            small: Round::default(),
            large: Round::default(),
            since: Time::ZERO,
            last: SlotUse::Data(Lane::Large),
            last_lane: Lane::Large,
        }
    }
}

impl<A> Queue<A> {
    #[inline]
    pub(super) fn lane(&mut self, lane: Lane) -> &mut Round {
        match lane {
            Lane::Small => &mut self.small,
            Lane::Large => &mut self.large,
        }
    }

    pub(super) fn push_ack(&mut self, now: Time, size: u32, ack: A) {
        self.ack_bytes += u64::from(size);
        self.acks.push_back((now, size, ack));
    }

    /// Removes and returns the oldest acknowledgement with its size; `None` if there is none or it is larger than `room` bytes.
    pub(super) fn pop_ack(&mut self, room: u32) -> Option<(u32, A)> {
        self.acks.front().filter(|(_, size, _)| *size <= room)?;
        let (_, size, ack) = self.acks.pop_front()?;
        self.ack_bytes -= u64::from(size);
        Some((size, ack))
    }

    pub(super) fn take_acks(&mut self) -> VecDeque<(Time, u32, A)> {
        self.ack_bytes = 0;
        std::mem::take(&mut self.acks)
    }

    /// Acknowledgements that do not leave in room beside large packets that are next in turn.
    fn own_acks(&self) -> u64 {
        (self.acks.len() as u64).saturating_sub(self.large.riders)
    }

    /// Slots that all of it needs, however it is filled by the rules of [`super`]: each bound holds by itself, as with every
    /// slot that begins with small packets or acknowledgements at least one less is needed by that bound, and with every other
    /// slot one bin less of a flow with large packets.
    pub(super) fn backlog(&self, sizes: &Sizes) -> u64 {
        let acks = self.own_acks();
        let shared = if self.small.is_empty() { acks.div_ceil(sizes.acks) } else { self.shared(sizes, acks) };
        self.large.bins + shared
    }

    /// Returns the slots that the small packets and `acks` acknowledgements need.
    fn shared(&self, sizes: &Sizes, acks: u64) -> u64 {
        let Round { bins, packets, bytes, largest, .. } = self.small;
        let acks_bytes = self.ack_bytes.min(acks * u64::from(sizes.ack));
        // Packets that fit into a slot for certain, and slots by bytes: each but the last leaves less room than the largest
        // packet.
        let at_least = |largest: u32| u64::from(sizes.room / largest);
        let by_bytes = |bytes: u64, largest: u32| {
            1 + bytes.saturating_sub(sizes.room.into()).div_ceil(u64::from(sizes.room - largest) + 1)
        };
        let alone = bins.min(packets.div_ceil(at_least(largest)));
        if acks == 0 {
            return alone.min(by_bytes(bytes, largest));
        }
        let larger = largest.max(sizes.ack);
        let count = (packets + acks).div_ceil(at_least(larger));
        (alone + acks.div_ceil(sizes.acks)).min(count).min(by_bytes(bytes + acks_bytes, larger))
    }

    /// Returns whose turn it is in a slot that begins `now`. Where there are packets of both lanes they take turns, but small
    /// ones only if they fill the slot or have waited for `longest_hold`: else as good as every other slot would go to the few
    /// that came since the last. Acknowledgements go first if they need slots of their own and fill one, or
    /// the oldest has waited for `longest_hold`, or there is no data; but never twice in a row while there is data.
    ///
    /// A full packet leaves no room for an acknowledgement. So if each left as soon as it could, two hosts that send to each
    /// other would spend every other slot on one of them. And where a host acknowledges a stream, a slotful of
    /// acknowledgements waits at any time: if they always went first, its own packets never would.
    pub(super) fn take_turn(&mut self, now: Time, sizes: &Sizes, longest_hold: Span) -> SlotUse {
        let due = |since: Time| since + longest_hold <= now;
        let lane = match (self.small.is_empty(), self.large.is_empty()) {
            (false, true) => Lane::Small,
            (false, false)
                if self.last_lane == Lane::Large && (self.small.fills(sizes) || due(self.since)) =>
            {
                Lane::Small
            }
            _ => Lane::Large,
        };
        let data = !(self.small.is_empty() && self.large.is_empty());
        let turn = match self.acks.front() {
            None => SlotUse::Data(lane),
            Some(_) if !data => SlotUse::Acknowledgements,
            Some((since, ..)) => {
                let first = self.ack_bytes >= sizes.room.into() || due(*since);
                if first && self.last != SlotUse::Acknowledgements && self.own_acks() > 0 {
                    SlotUse::Acknowledgements
                } else {
                    SlotUse::Data(lane)
                }
            }
        };
        self.last = turn;
        if let SlotUse::Data(lane) = turn {
            self.last_lane = lane;
            if lane == Lane::Small {
                self.since = now;
            }
        }
        turn
    }
}
