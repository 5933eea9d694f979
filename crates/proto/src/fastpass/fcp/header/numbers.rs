//! What a request and an allocation both begin with: five numbers and a mask.

use super::super::message::Heard;
use super::bytes::{length, Reader, Writer};
use super::error::DecodeError;
use super::MASK;

/// What a request and an allocation both have behind their fixed part.
pub(super) struct Numbers {
    pub(super) term: u32,
    pub(super) incarnation: u32,
    pub(super) seq: u32,
    pub(super) heard: Heard,
    pub(super) slot: u64,
}

/// The mask of the numbers heard if none is missing: of those from 1 on, as many as the mask has bits for.
fn none_missing(latest: u32) -> u32 {
    match latest.saturating_sub(1) {
        before @ 0..32 => (1 << before) - 1,
        _ => u32::MAX,
    }
}

impl Numbers {
    /// The numbers and how long they are, in bytes.
    fn each(&self) -> [(u64, usize); 5] {
        let Numbers { term, incarnation, seq, heard, slot } = *self;
        let numbers =
            [u64::from(term), u64::from(incarnation), u64::from(seq), u64::from(heard.latest), slot];
        numbers.map(|number| (number, length(number)))
    }

    fn has_mask(&self) -> bool {
        self.heard.before != none_missing(self.heard.latest)
    }

    /// Bytes of them all.
    pub(super) fn bytes(&self) -> usize {
        self.each().iter().map(|&(_, len)| len).sum::<usize>() + if self.has_mask() { 4 } else { 0 }
    }

    /// Writes bytes 6 and 7, with `low` in the four lowest bits; if `more` is given, that as byte 8; and the numbers.
    #[inline]
    pub(super) fn put(&self, to: &mut Writer, low: u8, more: Option<u8>) {
        let [term, incarnation, seq, latest, slot] = self.each();
        let lengths = [term, incarnation, seq, latest].iter().fold(0, |all, (_, len)| all << 2 | (len - 1));
        let mask = if self.has_mask() { MASK } else { 0 };
        to.put([lengths as u8, mask | ((slot.1 - 1) << 4) as u8 | low]);
        if let Some(byte) = more {
            to.put([byte]);
        }
        for (number, len) in [term, incarnation, seq, latest, slot] {
            to.number(number, len);
        }
        if mask != 0 {
            to.put(self.heard.before.to_be_bytes());
        }
    }

    /// Reads the numbers, whose lengths bytes 6 and 7 give.
    #[inline]
    pub(super) fn take(from: &mut Reader, lengths: u8, widths: u8) -> Result<Numbers, DecodeError> {
        let mut number =
            |shift: u32| from.shortest(usize::from(lengths >> shift & 3) + 1).map(|number| number as u32);
        let (term, incarnation, seq, latest) = (number(6)?, number(4)?, number(2)?, number(0)?);
        let slot = from.shortest(usize::from(widths >> 4 & 7) + 1)?;
        let full = none_missing(latest);
        let mut before = full;
        if widths & MASK != 0 {
            before = from.u32()?;
            if before == full {
                return Err(DecodeError::Longer(from.at() - 4));
            }
        }
        Ok(Numbers { term, incarnation, seq, heard: Heard { latest, before }, slot })
    }
}
