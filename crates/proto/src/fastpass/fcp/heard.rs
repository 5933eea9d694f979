//! Which packets have come, by number: the last 33 of them exactly.

use super::message::Heard;

/// Whether a packet of some number had come before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// It has not, and no later one has.
    Latest,
    /// It has not, but a later one has.
    Late,
    /// It has.
    Duplicate,
    /// It is so old that nobody knows.
    Forgotten,
}

/// Packets before the latest of which it is known whether they came.
const KNOWN_BEFORE: u32 = 32;

impl Heard {
    /// Notes that a packet of this number, from 1 on, has come.
    pub fn note(&mut self, seq: u32) -> News {
        if seq > self.latest {
            let ahead = seq - self.latest;
            // The latest so far becomes one of those before; number 0 never came.
            let latest_too = self.before.checked_shl(1).unwrap_or(0) | u32::from(self.latest > 0);
            self.before = latest_too.checked_shl(ahead - 1).unwrap_or(0);
            self.latest = seq;
            return News::Latest;
        }
        match self.latest - seq {
            0 => News::Duplicate,
            behind if behind > KNOWN_BEFORE => News::Forgotten,
            behind if self.before >> (behind - 1) & 1 == 1 => News::Duplicate,
            behind => {
                self.before |= 1 << (behind - 1);
                News::Late
            }
        }
    }

    /// Returns whether it is known that the packet of this number has come.
    pub fn contains(self, seq: u32) -> bool {
        match self.latest.checked_sub(seq) {
            Some(0) => seq > 0,
            Some(behind) => behind <= KNOWN_BEFORE && self.before >> (behind - 1) & 1 == 1,
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_known_by_their_numbers() {
        let mut heard = Heard::default();
        assert_eq!(heard.note(1), News::Latest);
        assert_eq!(heard.note(4), News::Latest);
        assert_eq!(
            (heard.note(2), heard.note(2), heard.note(4)),
            (News::Late, News::Duplicate, News::Duplicate)
        );
        let known: Vec<_> = (0..6).filter(|&seq| heard.contains(seq)).collect();
        assert_eq!(known, [1, 2, 4]);
    }

    #[test]
    fn what_is_older_than_the_last_33_is_forgotten() {
        let mut heard = Heard::default();
        for seq in 1..=33 {
            assert_eq!(heard.note(seq), News::Latest);
        }
        assert!(heard.contains(1));
        assert_eq!(heard.note(34), News::Latest);
        assert_eq!((heard.contains(1), heard.note(1)), (false, News::Forgotten));
        assert_eq!(heard.note(1000), News::Latest);
        assert_eq!((heard.before, heard.note(u32::MAX)), (0, News::Latest));
    }
}
