//! Which packets left in which slots, until they are acknowledged.

use std::collections::BTreeMap;

/// Packets that are remembered until they are acknowledged.
const REMEMBERED: usize = 1 << 16;

/// The packets of a host that left in slots and are not acknowledged.
#[derive(Debug, Default)]
pub struct Receipts {
    /// The slot in which a packet left that is not acknowledged, by sending end and sequence number.
    sent: BTreeMap<(u32, u32), u64>,
}

impl Receipts {
    /// A packet left in a slot. Whether that is remembered: not if too many others are.
    pub fn remember(&mut self, end: u32, seq: u32, slot: u64) -> bool {
        let room = self.sent.len() < REMEMBERED;
        if room {
            self.sent.insert((end, seq), slot);
        }
        room
    }

    /// The slot of a packet that is acknowledged, if it is remembered: that of packet `seq`, or of any before `cumulative`. To
    /// be asked until there is none.
    pub fn acknowledged(&mut self, end: u32, seq: u32, cumulative: u32) -> Option<u64> {
        if let Some(slot) = self.sent.remove(&(end, seq)) {
            return Some(slot);
        }
        let (&first, _) = self.sent.range((end, 0)..(end, cumulative)).next()?;
        self.sent.remove(&first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_acknowledged_is_forgotten() {
        let mut receipts = Receipts::default();
        for seq in 0..5 {
            assert!(receipts.remember(7, seq, 100 + u64::from(seq)));
        }
        assert!(receipts.remember(8, 0, 200));
        let all = |receipts: &mut Receipts, seq, cumulative| {
            std::iter::from_fn(|| receipts.acknowledged(7, seq, cumulative)).collect::<Vec<_>>()
        };
        assert_eq!(all(&mut receipts, 3, 0), [103]);
        assert_eq!(all(&mut receipts, 1, 2), [101, 100]);
        assert_eq!(all(&mut receipts, 9, 9), [102, 104]);
        assert_eq!(receipts.acknowledged(8, 0, 1), Some(200));
    }
}
