//! Links that lose frames for some time, damage them, or are dead.

use clearway_proto::units::Time;

use crate::random::Stream;

/// What a link does to frames in a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damage {
    /// It loses a frame whose transmission begins in that time with this probability.
    Loss(f64),
    /// Each bit of a frame whose transmission begins in that time is right with this probability, and a frame with a wrong one is
    /// dropped where it arrives.
    RightBits(f64),
    /// It is dead: it loses all frames of which any part is on it in that time.
    Dead,
}

/// A time in which a link loses frames, and what it has lost.
#[derive(Clone, Copy, Debug)]
pub struct LossWindow {
    /// The number of the fault.
    pub fault: u32,
    /// The first instant.
    pub from: Time,
    /// The instant after the last.
    pub until: Time,
    /// The effect on frames.
    pub damage: Damage,
    /// Frames that it has lost.
    pub frames: u64,
    /// Bytes of the frames that it has lost.
    pub bytes: u64,
}

impl LossWindow {
    /// A time from one instant to another in which a link does this to frames, by the fault of this number.
    pub fn new(fault: u32, from: Time, until: Time, damage: Damage) -> LossWindow {
        LossWindow { fault, from, until, damage, frames: 0, bytes: 0 }
    }
}

/// When a link loses frames, and which.
#[derive(Debug)]
pub struct Loss {
    /// The times in which it loses frames; they may overlap.
    pub windows: Vec<LossWindow>,
    /// The random stream that decides.
    pub stream: Stream,
}

impl Loss {
    /// Returns the index of the window that loses a frame of `size` bytes whose transmission begins at the first of these instants,
    /// in picoseconds, and which would arrive at the second; `None` if none does. Of several it is the first.
    fn strikes(&mut self, size: u32, (begins, arrives): (u64, u64)) -> Option<usize> {
        let (begins, arrives) = (Time::from_ps(begins), Time::from_ps(arrives));
        let mut struck = None;
        for (index, window) in self.windows.iter().enumerate() {
            let begins_within = window.from <= begins && begins < window.until;
            let lost = match window.damage {
                Damage::Dead => begins < window.until && window.from < arrives,
                _ if !begins_within => false,
                // Certain loss draws nothing, so a link that is down does not disturb one that is lossy.
                Damage::Loss(probability) => probability >= 1.0 || self.stream.unit() < probability,
                Damage::RightBits(right) => self.stream.unit() >= power(right, 8 * size),
            };
            if lost {
                struck.get_or_insert(index);
            }
        }
        struck
    }

    /// Returns whether a frame of `size` bytes is lost whose transmission begins at the first of these instants, in picoseconds, and
    /// which would arrive at the second. Counts it if so, with the first fault that loses it.
    pub fn takes_frame(&mut self, size: u32, times: (u64, u64)) -> bool {
        let Some(index) = self.strikes(size, times) else { return false };
        let window = &mut self.windows[index];
        window.frames += 1;
        window.bytes += u64::from(size);
        true
    }

    /// Returns whether a PAUSE or RESUME of `size` bytes is lost that begins to leave at the first of these instants, in picoseconds, and
    /// would arrive at the second. Flow control counts these itself.
    pub fn takes_signal(&mut self, size: u32, times: (u64, u64)) -> bool {
        self.strikes(size, times).is_some()
    }
}

/// A whole power, by multiplications alone, so that every machine has the same.
fn power(base: f64, exponent: u32) -> f64 {
    let (mut product, mut square, mut left) = (1.0, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            product *= square;
        }
        square *= square;
        left >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Entity;

    fn loss(windows: &[(u64, u64, Damage)]) -> Loss {
        let window =
            |&(from, until, damage)| LossWindow::new(0, Time::from_ps(from), Time::from_ps(until), damage);
        Loss { windows: windows.iter().map(window).collect(), stream: Stream::new(1, Entity::LinkLoss, 0) }
    }

    #[test]
    fn a_dead_link_loses_what_is_on_it_at_any_time() {
        for (begins, arrives, lost) in
            [(0, 10, false), (0, 11, true), (15, 16, true), (19, 40, true), (20, 40, false), (0, 40, true)]
        {
            let mut dead = loss(&[(10, 20, Damage::Dead)]);
            assert_eq!(dead.takes_frame(64, (begins, arrives)), lost, "{begins} to {arrives}");
            assert_eq!(
                (dead.windows[0].frames, dead.windows[0].bytes),
                (u64::from(lost), 64 * u64::from(lost))
            );
        }
    }

    #[test]
    fn a_loss_counts_once_with_the_first_fault_that_it_is_of() {
        let mut twice = loss(&[(0, 5, Damage::Loss(1.0)), (0, 10, Damage::Dead)]);
        assert!(
            twice.takes_frame(100, (3, 8))
                && twice.takes_frame(100, (7, 8))
                && !twice.takes_frame(1, (10, 12))
        );
        assert_eq!([0, 1].map(|window: usize| twice.windows[window].frames), [1, 1]);
    }

    /// A share of exp(-0.8) of 10 000 frames of 1000 bytes comes through where one bit in 10 000 is wrong on average.
    #[test]
    fn wrong_bits_strike_frames_by_their_length() {
        for (size, right) in [(1000, 0.449_31_f64), (100, 0.923_11)] {
            let mut noisy = loss(&[(0, 10, Damage::RightBits(1.0 - 1e-4))]);
            let lost = (0..10_000).filter(|_| noisy.takes_frame(size, (3, 8))).count() as f64;
            let error = (10_000.0 * right * (1.0 - right)).sqrt();
            assert!((lost - 10_000.0 * (1.0 - right)).abs() < 4.0 * error, "{lost} of {size} bytes each");
        }
        assert_eq!(power(0.5, 10), 1.0 / 1024.0);
        assert_eq!(power(0.3, 0), 1.0);
    }
}
