//! What one flow offers, cut into slots: its packets leave in order, so each slot takes as many of the next as fit, and no other
//! cut needs fewer slots.

use std::collections::VecDeque;

/// Packets that leave together in a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bin {
    pub(super) packets: u32,
    pub(super) bytes: u32,
}

/// The packets that a flow offers, in order. Bins that are alike are kept as one: a bulk flow has one entry, whatever it offers.
#[derive(Clone, Debug, Default)]
pub(super) struct Bins {
    /// The first bin, of which a part may have left already; empty if the flow offers nothing.
    first: Bin,
    /// The bins after the first, and how many times each comes in a row.
    rest: VecDeque<(Bin, u32)>,
    count: u32,
    packets: u32,
    bytes: u64,
}

impl Bins {
    /// Slots that the packets need.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Packets in all bins.
    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    /// Bytes in all bins.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The packets of the next slot.
    pub(super) fn first(&self) -> Bin {
        self.first
    }

    /// Adds `packets` packets of `size` bytes, which is at most `room`, the bytes of a slot.
    pub(super) fn push(&mut self, room: u32, size: u32, packets: u32) {
        self.packets += packets;
        self.bytes += u64::from(size) * u64::from(packets);
        let left = packets - self.fill_last(room, size, packets);
        let fit = room / size;
        self.add(Bin { packets: fit, bytes: fit * size }, left / fit);
        if left % fit > 0 {
            self.add(Bin { packets: left % fit, bytes: left % fit * size }, 1);
        }
    }

    /// Fills up the last bin. Returns how many packets that takes.
    fn fill_last(&mut self, room: u32, size: u32, packets: u32) -> u32 {
        let Some((last, times)) = self.rest.back_mut() else {
            let more = if self.count == 0 { 0 } else { packets.min((room - self.first.bytes) / size) };
            self.first = Bin { packets: self.first.packets + more, bytes: self.first.bytes + more * size };
            return more;
        };
        let more = packets.min((room - last.bytes) / size);
        if more > 0 {
            let fuller = Bin { packets: last.packets + more, bytes: last.bytes + more * size };
            *times -= 1;
            if *times == 0 {
                self.rest.pop_back();
            }
            self.append(fuller, 1);
        }
        more
    }

    /// Adds `times` bins like `bin`.
    fn add(&mut self, bin: Bin, times: u32) {
        self.count += times;
        let behind = if self.first.packets == 0 && times > 0 {
            self.first = bin;
            times - 1
        } else {
            times
        };
        self.append(bin, behind);
    }

    fn append(&mut self, bin: Bin, times: u32) {
        match self.rest.back_mut() {
            _ if times == 0 => {}
            Some((last, before)) if *last == bin => *before += times,
            _ => self.rest.push_back((bin, times)),
        }
    }

    /// Takes out the next packet, of `size` bytes.
    pub(super) fn pop(&mut self, size: u32) {
        self.packets -= 1;
        self.bytes = self.bytes.saturating_sub(size.into());
        self.first.packets -= 1;
        self.first.bytes = self.first.bytes.saturating_sub(size);
        if self.first.packets > 0 {
            return;
        }
        self.count -= 1;
        self.first = Bin::default();
        if let Some((bin, times)) = self.rest.front_mut() {
            self.first = *bin;
            *times -= 1;
            if *times == 0 {
                self.rest.pop_front();
            }
        } else {
            self.bytes = 0;
        }
    }

    /// Takes out all packets.
    pub(super) fn clear(&mut self) {
        self.rest.clear();
        *self = Bins { rest: std::mem::take(&mut self.rest), ..Bins::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_cut_in_order_and_alike_bins_are_one_entry() {
        let mut bins = Bins::default();
        bins.push(1000, 1000, 5000);
        assert_eq!((bins.count(), bins.rest.len()), (5000, 1));
        for _ in 0..25 {
            bins.push(1000, 100, 1);
        }
        assert_eq!((bins.count(), bins.rest.len()), (5003, 3));
        bins.push(1000, 600, 1);
        assert_eq!(bins.count(), 5004, "600 bytes do not fit beside 500");
        bins.push(1000, 400, 1);
        assert_eq!(bins.count(), 5004);
    }

    #[test]
    fn a_packet_that_leaves_takes_its_bin_away_if_it_is_the_last() {
        let mut bins = Bins::default();
        bins.push(1000, 400, 5);
        assert_eq!((bins.count(), bins.first()), (3, Bin { packets: 2, bytes: 800 }));
        bins.pop(400);
        assert_eq!((bins.count(), bins.first()), (3, Bin { packets: 1, bytes: 400 }));
        bins.pop(400);
        assert_eq!((bins.count(), bins.first()), (2, Bin { packets: 2, bytes: 800 }));
        bins.clear();
        assert_eq!((bins.count(), bins.packets(), bins.bytes()), (0, 0, 0));
    }
}
