//! The greatest of the samples of late.

use crate::units::{Span, Time};

/// Samples count for one to two times this long.
const WINDOW: Span = Span::from_ms(1);

/// The greatest sample of this window and of the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    until: Time,
    current: Option<i64>,
    before: Option<i64>,
}

impl Recent {
    /// Takes a sample.
    pub(super) fn note(&mut self, now: Time, sample: i64) {
        if now >= self.until {
            self.before = self.current.take().filter(|_| now < self.until + WINDOW);
            self.until = now + WINDOW;
        }
        self.current = self.current.max(Some(sample));
    }

    /// The greatest sample of late.
    pub(super) fn greatest(&self, now: Time) -> Option<i64> {
        if now >= self.until + WINDOW {
            return None;
        }
        self.current.max(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_count_for_one_to_two_windows() {
        let us = |us| Time::ZERO + Span::from_us(us);
        let mut recent = Recent::default();
        assert_eq!(recent.greatest(us(0)), None);
        recent.note(us(100), 7);
        recent.note(us(200), 3);
        assert_eq!(recent.greatest(us(1000)), Some(7));
        recent.note(us(1100), 4);
        assert_eq!(recent.greatest(us(1100)), Some(7));
        recent.note(us(2200), 2);
        assert_eq!(recent.greatest(us(2200)), Some(4));
        assert_eq!(recent.greatest(us(4300)), None);
        recent.note(us(9000), -5);
        assert_eq!(recent.greatest(us(9000)), Some(-5));
    }
}
