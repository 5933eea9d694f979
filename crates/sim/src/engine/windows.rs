//! Windows of time, and their parts.

/// The most parts of a window; all but the last are of one length.
pub const PARTS: usize = 256;

/// Cuts time into windows of a fixed length, of which a few are some picoseconds shorter.
///
/// A time's window is the upper half of its product with the reciprocal of the length, which is rounded up. So for the last
/// picoseconds of a late window the quotient comes out one too large. Instead of correcting that for each event, the next
/// window is said to begin there. No window is longer than the length, which is all that the simulation needs.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    length: u64,
    /// 2^64 by the length, rounded up: a multiplication is quicker than a division.
    reciprocal: u64,
    /// The product of the two less 2^64.
    excess: u64,
}

impl Windows {
    /// Windows of `length` picoseconds, which is at least 2.
    pub fn new(length: u64) -> Windows {
        assert!(length >= 2, "a window of less than 2 ps");
        let reciprocal = u64::MAX / length + 1;
        Windows { length, reciprocal, excess: reciprocal.wrapping_mul(length) }
    }

    /// The number of the window that contains `time`.
    #[inline]
    pub fn number(self, time: u64) -> u64 {
        self.find(time).0
    }

    /// The number of the window that contains `time`, and about which of its [`PARTS`] does.
    #[inline(always)]
    pub(super) fn find(self, time: u64) -> (u64, u64) {
        let product = u128::from(time) * u128::from(self.reciprocal);
        // What is left of the product is how much of the window has passed.
        ((product >> 64) as u64, product as u64 >> (u64::BITS - PARTS.trailing_zeros()))
    }

    /// Returns how long a window is at most, in picoseconds.
    #[inline]
    pub fn length(self) -> u64 {
        self.length
    }

    /// The first instant of window `number`.
    #[inline]
    pub fn start(self, number: u64) -> u64 {
        let Some(quotient) = number.checked_mul(self.length) else { return u64::MAX };
        // At that instant the product is larger by this than where the window begins.
        let surplus = number * self.excess;
        // In the first many windows it is less than a picosecond makes: they need no division.
        let early = if surplus < self.reciprocal { 0 } else { surplus / self.reciprocal };
        quotient - early
    }

    /// The first instant after window `number`.
    #[inline]
    pub fn end(self, number: u64) -> u64 {
        self.start(number + 1)
    }
}
