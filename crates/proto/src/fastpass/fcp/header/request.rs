//! The bytes of a request.

use super::super::message::{PathReport, Request, MOST_DEMANDS, MOST_REPORTS};
use super::bytes::{signed_form, Reader, Writer};
use super::counts::{self, count_length};
use super::error::{DecodeError, EncodeError};
use super::numbers::Numbers;
use super::REQUEST;

impl Request {
    fn numbers(&self) -> Numbers {
        Numbers {
            term: self.term,
            incarnation: self.incarnation,
            seq: self.seq,
            heard: self.heard,
            slot: self.slot,
        }
    }

    /// The form of how far the arbiter is ahead: 0 for none, or 1 more than that of the number.
    fn ahead_form(&self) -> u8 {
        self.arbiter_ahead.map_or(0, |ahead| 1 + signed_form(i64::from(ahead)))
    }

    pub(super) fn bytes(&self) -> usize {
        let (ahead, demand) = (1 << self.ahead_form() >> 1, 2 + count_length(&self.demands));
        8 + self.numbers().bytes() + ahead + self.demands.len() * demand + self.reports.len() * 8
    }

    pub(super) fn encode(&self, mut to: Writer) -> Result<usize, EncodeError> {
        if let Some(destination) = counts::repeated(&self.demands) {
            return Err(EncodeError::Repeated(destination));
        }
        let len = count_length(&self.demands);
        to.put([REQUEST, (self.demands.len() << 4 | self.reports.len()) as u8, 0, 0]);
        to.put(self.source.to_be_bytes());
        self.numbers().put(&mut to, self.ahead_form() << 2 | (len - 1) as u8, None);
        if let Some(ahead) = self.arbiter_ahead {
            to.signed(i64::from(ahead));
        }
        counts::put(&mut to, &self.demands, len);
        for (bytes, report) in to.room(8 * self.reports.len()).chunks_exact_mut(8).zip(self.reports.iter()) {
            let fields = [report.destination, report.path, report.sent, report.lost];
            for (bytes, field) in bytes.chunks_exact_mut(2).zip(fields) {
                bytes.copy_from_slice(&field.to_be_bytes());
            }
        }
        Ok(to.finish())
    }

    /// Reads a request in place of this one. After an error it is some request.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Result<(), DecodeError> {
        let (demands, reports) = (usize::from(bytes[1] >> 4), usize::from(bytes[1] & 15));
        if demands > MOST_DEMANDS || reports > MOST_REPORTS {
            return Err(DecodeError::Limit(1));
        }
        self.source = u16::from_be_bytes([bytes[4], bytes[5]]);
        let mut from = Reader::new(bytes, 8);
        let Numbers { term, incarnation, seq, heard, slot } = Numbers::take(&mut from, bytes[6], bytes[7])?;
        (self.term, self.incarnation, self.seq, self.heard, self.slot) =
            (term, incarnation, seq, heard, slot);
        self.arbiter_ahead = match bytes[7] >> 2 & 3 {
            0 => None,
            form => Some(from.signed(form - 1)? as i32),
        };
        counts::take(&mut from, &mut self.demands, demands, usize::from(bytes[7] & 3) + 1)?;
        let bytes = from.slice(8 * reports)?;
        for (report, bytes) in self.reports.resized(reports).iter_mut().zip(bytes.chunks_exact(8)) {
            let field = |i: usize| u16::from_be_bytes([bytes[i], bytes[i + 1]]);
            *report = PathReport { destination: field(0), path: field(2), sent: field(4), lost: field(6) };
        }
        from.end()
    }
}
