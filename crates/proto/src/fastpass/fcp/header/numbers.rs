//! What a request and an allocation both begin with: four numbers and a mask.

use super::super::message::Heard;
use super::bytes::{length, Reader, Writer};
use super::error::DecodeError;
use super::MASK;

/// What a request and an allocation both begin with, but for the fixed part.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub(super) term: u32,
    pub(super) incarnation: u32,
    pub(super) seq: u32,
    pub(super) heard: Heard,
}

/// The mask of the numbers heard if none is missing: of those from 1 on, as many as the mask has bits for.
fn none_missing(latest: u32) -> u32 {
    match latest.saturating_sub(1) {
        before @ 0..32 => (1 << before) - 1,
        _ => u32::MAX,
    }
}

impl Numbers {
    fn each(&self) -> [u64; 4] {
        [self.term, self.incarnation, self.seq, self.heard.latest].map(u64::from)
    }

    /// Bit 7 of byte 7.
    pub(super) fn mask(&self) -> u8 {
        if self.heard.before == none_missing(self.heard.latest) {
            0
        } else {
            MASK
        }
    }

    /// Byte 6.
    pub(super) fn lengths(&self) -> u8 {
        self.each().iter().fold(0, |lengths, &number| lengths << 2 | (length(number) - 1) as u8)
    }

    pub(super) fn bytes(&self) -> usize {
        self.each().into_iter().map(length).sum::<usize>() + usize::from(self.mask()) / 32
    }

    pub(super) fn put(&self, to: &mut Writer) {
        for number in self.each() {
            to.number(number, length(number));
        }
        if self.mask() != 0 {
            to.put(self.heard.before.to_be_bytes());
        }
    }

    pub(super) fn take(from: &mut Reader, lengths: u8, mask: bool) -> Result<Numbers, DecodeError> {
        let [term, incarnation, seq, latest] =
            [6, 4, 2, 0].map(|shift| usize::from(lengths >> shift & 3) + 1);
        let (term, incarnation) = (from.shortest(term)? as u32, from.shortest(incarnation)? as u32);
        let (seq, latest) = (from.shortest(seq)? as u32, from.shortest(latest)? as u32);
        let full = none_missing(latest);
        let before = if mask { from.u32()? } else { full };
        if mask && before == full {
            return Err(DecodeError::Longer(from.at() - 4));
        }
        Ok(Numbers { term, incarnation, seq, heard: Heard { latest, before } })
    }
}
