//! The bytes of an allocation.

use super::super::message::{Allocation, MOST_GRANTED, MOST_GRANTS};
use super::bytes::{signed_form, Reader, Writer};
use super::counts::{self, count_length};
use super::error::{DecodeError, EncodeError};
use super::grants::{self, Form};
use super::numbers::Numbers;
use super::ALLOCATION;

/// The bit beside the number of grants that says that a path for requests follows.
const BACK: u8 = 0x80;
const _: () = assert!(MOST_GRANTS < BACK as usize, "seven bits count the grants");

impl Allocation {
    fn numbers(&self) -> Numbers {
        Numbers {
            term: self.term,
            incarnation: self.incarnation,
            seq: self.seq,
            heard: self.heard,
            slot: self.slot,
        }
    }

    /// Returns how many slots the first grant is ahead of the slot in which the packet is sent; nothing without a grant.
    // A slot that is behind is far ahead in 2^64, and meant to wrap.
    #[allow(clippy::cast_possible_wrap)]
    fn ahead(&self) -> Option<i64> {
        self.grants.first().map(|first| first.wrapping_sub(self.slot) as i64)
    }

    pub(super) fn bytes(&self) -> usize {
        let granted = self.granted.len() * (2 + count_length(&self.granted));
        let ahead = self.ahead().map_or(0, |ahead| 1 << signed_form(ahead));
        let grants = Form::of_grants(&self.grants).bytes(self.grants.len());
        let back = if self.back.is_some() { 2 } else { 0 };
        9 + self.numbers().bytes() + back + granted + ahead + grants
    }

    pub(super) fn encode(&self, mut to: Writer) -> Result<usize, EncodeError> {
        if let Some(destination) = counts::repeated(&self.granted) {
            return Err(EncodeError::Repeated(destination));
        }
        let (len, form) = (count_length(&self.granted), Form::of_grants(&self.grants));
        let back = if self.back.is_some() { BACK } else { 0 };
        to.put([ALLOCATION, back | self.grants.len() as u8, 0, 0]);
        to.put(self.to.to_be_bytes());
        let ahead = self.ahead();
        let low = ahead.map_or(0, signed_form) << 2 | (len - 1) as u8;
        self.numbers().put(&mut to, low, Some((self.granted.len() << 4) as u8 | form.number()));
        if let Some(back) = self.back {
            to.put(back.to_be_bytes());
        }
        counts::put(&mut to, &self.granted, len);
        if let Some(ahead) = ahead {
            to.signed(ahead);
        }
        grants::put(&mut to, &self.grants, form, self.granted.len())?;
        Ok(to.finish())
    }

    /// Reads an allocation in place of this one. After an error it is some allocation.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let mut from = Reader::new(bytes, 4);
        self.to = from.u16()?;
        let [lengths, widths, destinations] = from.take()?;
        let count = usize::from(bytes[1] & !BACK);
        if count > MOST_GRANTS {
            return Err(DecodeError::Limit(1));
        }
        let form = Form::from_number(destinations & 15).ok_or(DecodeError::Limit(8))?;
        let Numbers { term, incarnation, seq, heard, slot } = Numbers::take(&mut from, lengths, widths)?;
        (self.term, self.incarnation, self.seq, self.heard, self.slot) =
            (term, incarnation, seq, heard, slot);
        self.back = if bytes[1] & BACK != 0 { Some(from.u16()?) } else { None };
        const { assert!(MOST_GRANTED == 15, "four bits count the destinations") };
        let len = usize::from(widths & 3) + 1;
        let listed = usize::from(destinations >> 4);
        counts::take(&mut from, &mut self.granted, listed, len)?;
        let ahead_form = widths >> 2 & 3;
        let mut base = 0;
        if count > 0 {
            base = slot.wrapping_add(from.signed(ahead_form)? as u64);
        } else if ahead_form > 0 {
            return Err(DecodeError::Longer(7));
        }
        grants::take(&mut from, &mut self.grants, (count, form), base, listed)
    }
}
