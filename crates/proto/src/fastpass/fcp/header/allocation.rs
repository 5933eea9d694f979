//! The bytes of an allocation.

use super::super::message::{Allocation, MOST_GRANTED, MOST_GRANTS};
use super::bytes::{length, Reader, Writer};
use super::counts::{self, count_length};
use super::error::{DecodeError, EncodeError};
use super::grants::{self, PathWidth};
use super::numbers::Numbers;
use super::{ALLOCATION, MASK};

impl Allocation {
    fn numbers(&self) -> Numbers {
        Numbers { term: self.term, incarnation: self.incarnation, seq: self.seq, heard: self.heard }
    }

    pub(super) fn bytes(&self) -> usize {
        let granted = self.granted.len() * (2 + count_length(&self.granted));
        let base = self.grants.first().map_or(0, |grant| length(grant.slot));
        let paths = PathWidth::of(&self.grants).bytes(self.grants.len());
        9 + self.numbers().bytes() + granted + base + paths + grants::slot_bytes(&self.grants)
    }

    pub(super) fn encode(&self, mut to: Writer) -> Result<usize, EncodeError> {
        let (numbers, len) = (self.numbers(), count_length(&self.granted));
        let base = self.grants.first().map_or(0, |grant| grant.slot);
        to.put([ALLOCATION, self.grants.len() as u8, 0, 0]);
        to.put(self.to.to_be_bytes());
        to.put([numbers.lengths(), 0, (self.granted.len() << 4 | (length(base) - 1)) as u8]);
        numbers.put(&mut to);
        counts::put(&mut to, &self.granted, len);
        if !self.grants.is_empty() {
            to.number(base, length(base));
        }
        let width = grants::put_slots(&mut to, &self.granted, &self.grants)?;
        to.set(7, numbers.mask() | width.number() << 2 | (len - 1) as u8);
        grants::put_paths(&mut to, &self.grants, width);
        Ok(to.finish())
    }

    /// Reads an allocation in place of this one. After an error it is some allocation.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut from = Reader::new(bytes, 4);
        self.to = from.u16()?;
        let [lengths, widths, destinations] = from.take()?;
        let count = usize::from(bytes[1]);
        if count > MOST_GRANTS {
            return Err(DecodeError::Limit(1));
        }
        let width = PathWidth::from_number(widths >> 2 & 31).ok_or(DecodeError::Limit(7))?;
        let base = usize::from(destinations & 15);
        if base > 7 {
            return Err(DecodeError::Limit(8));
        }
        Numbers { term: self.term, incarnation: self.incarnation, seq: self.seq, heard: self.heard } =
            Numbers::take(&mut from, lengths, widths & MASK != 0)?;
        const { assert!(MOST_GRANTED == 15, "four bits count the destinations") };
        let len = usize::from(widths & 3) + 1;
        counts::take(&mut from, &mut self.granted, usize::from(destinations >> 4), len)?;
        let slots = self.grants.resized(count);
        if count > 0 {
            let base = from.shortest(base + 1)?;
            return grants::take(from, &self.granted, base, width, slots);
        }
        if base > 0 || width.number() > 0 {
            return Err(DecodeError::Longer(if base > 0 { 8 } else { 7 }));
        }
        from.end()
    }
}
