//! The account of a link in a lossless class: when what it has brought makes the port pause it.
//!
//! Up to a threshold, XOFF, an account takes *common* room; above it, *headroom*. As soon as it takes headroom, the port tells
//! the link's other end to PAUSE; when it takes none any more, and is so far below XOFF as the hysteresis says, to RESUME. What
//! finds no headroom either is dropped. A frame that leaves gives headroom back first.

/// When an account pauses its link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Above this.
    pub xoff: Threshold,
    /// It is to go on when the account is this far below, or empty; in bytes.
    pub hysteresis: u64,
    /// Room for what comes afterwards, in bytes; see [`super::headroom`].
    pub headroom: u64,
}

/// The bytes of common room that an account may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// This many bytes, of its own.
    Static(u64),
    /// This many times the bytes that are free of the switch's memory.
    Dynamic(f64),
}

impl Threshold {
    /// Returns the threshold in bytes while `free` bytes of the switch's memory are free; `free` is `None` for a switch without a
    /// memory of which a threshold is a share. Panics if it is `None` and the threshold is such a share.
    #[inline]
    pub fn now(self, free: Option<u64>) -> u64 {
        match (self, free) {
            (Threshold::Static(bytes), _) => bytes,
            (Threshold::Dynamic(alpha), Some(free)) => (alpha * free as f64) as u64,
            (Threshold::Dynamic(_), None) => unreachable!("a dynamic threshold is one of a shared memory"),
        }
    }

    /// Returns whether it depends on what else is at the switch.
    #[inline]
    pub fn is_dynamic(self) -> bool {
        matches!(self, Threshold::Dynamic(_))
    }
}

impl Thresholds {
    /// Room of an account where that does not depend on what else is at the switch, in bytes; else the most there can be.
    pub fn room(&self) -> u64 {
        match self.xoff {
            Threshold::Static(xoff) => xoff + self.headroom,
            Threshold::Dynamic(_) => u64::MAX,
        }
    }

    /// Returns XON: the bytes in common room at which an account tells its link to go on, while `free` bytes of the switch's
    /// memory are free.
    #[inline]
    pub fn resumes_at(&self, free: Option<u64>) -> u64 {
        self.xoff.now(free).saturating_sub(self.hysteresis)
    }
}

/// What has come over a link in a class and is still here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Bytes in common room.
    pub common: u64,
    /// Bytes in headroom.
    pub headroom: u64,
    /// The link was told to pause, and not yet to go on.
    pub pausing: bool,
    /// Most bytes it ever had.
    pub peak: u64,
    /// Most bytes it ever had in headroom.
    pub peak_headroom: u64,
}

/// What an account did with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charged {
    /// It has room.
    Taken {
        /// Bytes of the frame in common room.
        common: u64,
        /// The link is to be told to pause.
        pauses: bool,
    },
    /// It has none.
    Overflow,
}

impl Account {
    /// Bytes that are on it.
    #[inline]
    pub fn held(&self) -> u64 {
        self.common + self.headroom
    }

    /// Charges a frame of `size` bytes that has come over the link; `free` bytes of the switch's memory are free, if thresholds
    /// are shares of one.
    #[inline]
    pub fn charge(&mut self, thresholds: &Thresholds, size: u64, free: Option<u64>) -> Charged {
        let common = self.common_of(thresholds, size, free).min(free.unwrap_or(u64::MAX));
        if self.headroom + size - common > thresholds.headroom {
            return Charged::Overflow;
        }
        self.count(size, common);
        Charged::Taken { common, pauses: self.pauses_if_above() }
    }

    /// Takes a frame for which somebody else has found room.
    pub fn take(&mut self, thresholds: &Thresholds, size: u64) {
        self.count(size, self.common_of(thresholds, size, None));
    }

    /// Returns whether the link is to be told to pause after [`Self::take`].
    #[inline]
    pub fn pauses_if_above(&mut self) -> bool {
        let pauses = self.headroom > 0 && !self.pausing;
        self.pausing |= pauses;
        pauses
    }

    /// The bytes of a frame for which the threshold leaves common room.
    #[inline]
    fn common_of(&self, thresholds: &Thresholds, size: u64, free: Option<u64>) -> u64 {
        size.min(thresholds.xoff.now(free).saturating_sub(self.common))
    }

    #[inline]
    fn count(&mut self, size: u64, common: u64) {
        self.common += common;
        self.headroom += size - common;
        self.peak = self.peak.max(self.held());
        self.peak_headroom = self.peak_headroom.max(self.headroom);
    }

    /// A frame of `size` bytes that had come over the link has left the switch: how much of that was in common room.
    #[inline]
    pub fn release(&mut self, size: u64) -> u64 {
        let headroom = size.min(self.headroom);
        self.headroom -= headroom;
        self.common -= size - headroom;
        size - headroom
    }

    /// Returns whether the link is to be told to go on, after something has left; `free` bytes of the switch's memory are free.
    #[inline]
    pub fn resume_if_below(&mut self, thresholds: &Thresholds, free: Option<u64>) -> bool {
        let resumes = self.pausing && self.headroom == 0 && self.common <= thresholds.resumes_at(free);
        self.pausing &= !resumes;
        resumes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(xoff: Threshold, hysteresis: u64, headroom: u64) -> Thresholds {
        Thresholds { xoff, hysteresis, headroom }
    }

    #[test]
    fn an_account_takes_its_headroom_to_the_byte_and_no_more() {
        let thresholds = of(Threshold::Static(3000), 1500, 2000);
        for (size, last, one_more) in [(1000_u64, 1000_u64, 1), (1000, 999, 2), (300, 1, 1)] {
            let (mut account, mut held, mut told) = (Account::default(), 0, 0);
            while held + size <= 5000 - last {
                let Charged::Taken { pauses, .. } = account.charge(&thresholds, size, None) else {
                    panic!("there is room for {size} beside {held}")
                };
                held += size;
                told += u32::from(pauses);
                assert_eq!(account.pausing, held > 3000, "{held}");
            }
            let rest = 5000 - held;
            assert_eq!(account.charge(&thresholds, rest + one_more, None), Charged::Overflow);
            assert_eq!(account.held(), held, "what is dropped is on no account");
            assert!(matches!(account.charge(&thresholds, rest, None), Charged::Taken { .. }));
            assert_eq!(account.charge(&thresholds, 1, None), Charged::Overflow);
            assert_eq!((account.common, account.headroom), (3000, 2000));
            assert_eq!((account.peak, account.peak_headroom), (5000, 2000));
            assert!(told <= 1, "PAUSE is said once");
            assert_eq!(thresholds.room(), 5000);
        }
    }

    #[test]
    fn it_goes_on_at_xon_to_the_byte() {
        for hysteresis in [0, 700, 1500, 2999, 3000, 4000] {
            let thresholds = of(Threshold::Static(3000), hysteresis, 2000);
            let mut account = Account::default();
            (0..40).for_each(|_| assert_ne!(account.charge(&thresholds, 100, None), Charged::Overflow));
            let xon = 3000_u64.saturating_sub(hysteresis);
            for left in (0..4000).rev() {
                account.release(1);
                assert_eq!(account.resume_if_below(&thresholds, None), left == xon, "{left} of XON {xon}");
                assert_eq!((account.held(), account.pausing), (left, left > xon));
            }
            assert_eq!(account.peak_headroom, 1000);
        }
    }

    #[test]
    fn a_dynamic_threshold_is_a_share_of_what_is_free_now() {
        let thresholds = of(Threshold::Dynamic(0.5), 1000, 500);
        let mut account = Account::default();
        // Half of 8000 bytes, and then half of what is left each time.
        let taken = account.charge(&thresholds, 3000, Some(8000));
        assert_eq!(taken, Charged::Taken { common: 3000, pauses: false });
        let taken = account.charge(&thresholds, 500, Some(5000));
        assert_eq!(taken, Charged::Taken { common: 0, pauses: true }, "2500 are fewer than the 3000 it has");
        assert_eq!(account.charge(&thresholds, 1, Some(5000)), Charged::Overflow);
        // What leaves is of its headroom first.
        assert_eq!(account.release(600), 100);
        assert_eq!(thresholds.resumes_at(Some(5100)), 1550);
        assert!(!account.resume_if_below(&thresholds, Some(5100)));
        assert_eq!(account.release(900), 900);
        // It may go on at 4000 now, though it has 2000.
        assert!(account.resume_if_below(&thresholds, Some(10_000)));
        assert_eq!(thresholds.room(), u64::MAX);
    }

    #[test]
    fn what_somebody_else_found_room_for_is_counted_and_may_pause() {
        let thresholds = of(Threshold::Static(3000), 1000, 500);
        let mut account = Account::default();
        account.take(&thresholds, 2900);
        assert_eq!((account.common, account.headroom, account.pauses_if_above()), (2900, 0, false));
        account.take(&thresholds, 700);
        assert_eq!((account.common, account.headroom, account.held()), (3000, 600, 3600));
        assert_eq!((account.peak, account.peak_headroom), (3600, 600));
        assert!(account.pauses_if_above() && !account.pauses_if_above(), "PAUSE is said once");
        assert!(!Threshold::Static(1).is_dynamic() && Threshold::Dynamic(1.0).is_dynamic());
    }
}
