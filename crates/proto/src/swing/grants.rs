//! A sum over the last while: what a relay granted, and what it sent, in a round trip.

use crate::units::{Span, Time};

/// Parts that the while is divided into. The oldest part counts as a whole, so that the sum is never of less than the while.
const PARTS: usize = 256;

/// A sum over the last while, which is rounded up by at most one part in 256 and two picoseconds a part.
#[derive(Clone, Debug)]
pub(super) struct Sliding {
    part_ps: u64,
    sums: Box<[u64]>,
    total: u64,
    /// The latest part that was added to or asked for, from the start of time.
    newest: u64,
}

impl Sliding {
    /// An empty sum over the last `length`.
    pub(super) fn new(length: Span) -> Sliding {
        let part_ps = length.as_ps() / PARTS as u64 + 1;
        Sliding { part_ps, sums: vec![0; PARTS + 1].into(), total: 0, newest: 0 }
    }

    /// The sum over the last `length` of the time that passes, as though it had always been added to.
    pub(super) fn of_all_time(length: Span) -> Sliding {
        let mut sliding = Sliding::new(length);
        // The first is the part that begins now.
        sliding.sums[1..].fill(sliding.part_ps);
        sliding.total = sliding.sums.iter().sum();
        sliding
    }

    /// The longest time that the sum is ever of.
    pub(super) fn length(&self) -> Span {
        Span::from_ps(self.part_ps * self.sums.len() as u64)
    }

    /// Adds `amount` at `now`.
    pub(super) fn add(&mut self, now: Time, amount: u64) {
        self.forget_until(now);
        self.sums[(self.newest % self.sums.len() as u64) as usize] += amount;
        self.total += amount;
    }

    /// Adds the picoseconds from `from` to `to`, each where it belongs; `to` is not before the last time that was asked for.
    pub(super) fn add_time(&mut self, from: Time, to: Time) {
        let mut at = from.as_ps().max(to.as_ps().saturating_sub(self.length().as_ps()));
        while at < to.as_ps() {
            let end = (at / self.part_ps + 1) * self.part_ps;
            let until = end.min(to.as_ps());
            self.add(Time::from_ps(at), until - at);
            at = until;
        }
    }

    /// Returns what was added in the last while before `now`.
    pub(super) fn sum(&mut self, now: Time) -> u64 {
        self.forget_until(now);
        self.total
    }

    /// Returns when the oldest part is forgotten, after the last time that was added to or asked for.
    pub(super) fn next_part(&self) -> Time {
        Time::from_ps((self.newest + 1) * self.part_ps)
    }

    fn forget_until(&mut self, now: Time) {
        let part = now.as_ps() / self.part_ps;
        let parts = self.sums.len() as u64;
        for passed in 1..=part.saturating_sub(self.newest).min(parts) {
            let oldest = &mut self.sums[((self.newest + passed) % parts) as usize];
            self.total -= *oldest;
            *oldest = 0;
        }
        self.newest = self.newest.max(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_of_the_last_while_and_at_most_a_part_more() {
        let length = Span::from_us(800);
        let mut sliding = Sliding::new(length);
        let end = Time::ZERO + Span::from_ms(5);
        // In pieces of no round length, with a gap from 4.2 ms to 4.5 ms.
        let mut at = Time::ZERO;
        while at < end {
            let next = (at + Span::from_ps(1_234_567)).min(end);
            let in_gap = |t: Time| (4_200_000_000..4_500_000_000).contains(&t.as_ps());
            if !in_gap(at) && !in_gap(next) {
                sliding.add_time(at, next);
            }
            at = next;
        }
        let part = length / 256;
        let sum = Span::from_ps(sliding.sum(end));
        assert!(sum + Span::from_us(3) >= Span::from_us(500), "{sum}");
        assert!(sum <= Span::from_us(500) + part * 2, "{sum}");
        assert!(sliding.length() <= length + part * 2);
        assert_eq!(sliding.sum(end + Span::from_ms(2)), 0);
        assert_eq!(sliding.sums.iter().sum::<u64>(), 0);
    }

    #[test]
    fn what_was_always_added_to_is_full_from_the_start_and_is_forgotten_in_time() {
        let length = Span::from_us(10);
        let mut sliding = Sliding::of_all_time(length);
        for ns in [0, 17, 40, 5_000, 9_999] {
            let now = Time::ZERO + Span::from_ns(ns);
            let left = Span::from_ps(sliding.sum(now)) + Span::from_ns(ns);
            assert!(left >= length && left <= length + length / 250, "{left} after {ns} ns");
        }
        assert_eq!(sliding.sum(Time::ZERO + length + length / 250), 0);
    }

    #[test]
    fn a_time_longer_than_the_while_fills_it_and_no_more() {
        let mut sliding = Sliding::new(Span::from_us(10));
        sliding.add_time(Time::ZERO, Time::ZERO + Span::from_secs(3));
        let sum = Span::from_ps(sliding.sum(Time::ZERO + Span::from_secs(3)));
        assert!(sum >= Span::from_us(10) && sum <= sliding.length(), "{sum}");
    }
}
