//! A histogram of times with a constant relative error, cheap enough for every acknowledgement. Not a protocol's part,
//! but what every driver measures with.

use crate::units::Span;

/// Buckets to each doubling, as a power of two: values are told apart to one part in 256.
const PRECISION_BITS: u32 = 8;
const BUCKETS: usize = ((64 - PRECISION_BITS) as usize + 1) << PRECISION_BITS;

/// Counts of spans by size; sum and extremes are exact.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    sum: u128,
    max: u64,
    /// Largest since [`Histogram::take_recent_max`] was last called.
    recent_max: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; BUCKETS].into(), count: 0, sum: 0, max: 0, recent_max: 0 }
    }
}

impl Histogram {
    /// Adds a span.
    #[inline]
    pub fn record(&mut self, span: Span) {
        let ps = span.as_ps();
        self.counts[bucket(ps)] += 1;
        self.count += 1;
        self.sum += u128::from(ps);
        self.max = self.max.max(ps);
        self.recent_max = self.recent_max.max(ps);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Histogram::default();
    }

    /// Adds all that another has.
    pub fn merge(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Returns how many spans there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum, in picoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the mean in picoseconds; `None` for an empty histogram.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The largest since this was last asked, in picoseconds.
    pub fn take_recent_max(&mut self) -> u64 {
        std::mem::take(&mut self.recent_max)
    }

    /// The value that a `fraction` of all do not exceed, in picoseconds, at most one part in 256 too large; `None`
    /// for an empty histogram.
    pub fn quantile(&self, fraction: f64) -> Option<u64> {
        let rank = self.rank(fraction);
        let mut seen = 0;
        for (upper, count) in self.buckets() {
            seen += count;
            if seen >= rank {
                return Some(upper.min(self.max));
            }
        }
        None
    }

    /// The place, from 1 on, of the quantile of a fraction among all spans in ascending order.
    pub fn rank(&self, fraction: f64) -> u64 {
        ((self.count as f64 * fraction).ceil() as u64).clamp(1, self.count.max(1))
    }

    /// Returns how many spans are in the bucket of this value, in picoseconds, or in one below.
    pub fn count_at_most(&self, value: u64) -> u64 {
        self.counts[..=bucket(value)].iter().sum()
    }

    /// The buckets that are not empty: largest value in picoseconds, and count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, &count)| count > 0).map(|(at, &count)| (upper(at), count))
    }
}

/// The bucket of a value: its exponent, and the bits behind its first.
#[inline]
fn bucket(value: u64) -> usize {
    let shift = (u64::BITS - PRECISION_BITS - 1).saturating_sub(value.leading_zeros());
    ((shift as usize) << PRECISION_BITS) + (value >> shift) as usize
}

/// The largest value of a bucket.
fn upper(bucket: usize) -> u64 {
    let shift = (bucket >> PRECISION_BITS).saturating_sub(1) as u32;
    let leading = (bucket - ((shift as usize) << PRECISION_BITS)) as u64;
    (leading << shift) + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_its_bucket_and_next_to_its_bound() {
        for value in (0..100_000).chain((20..63).flat_map(|s| [(1 << s) - 1, 1 << s, (1 << s) + 1])) {
            let bound = upper(bucket(value));
            assert!(bound >= value, "{value} above {bound}");
            assert!(bound - value <= value / 256, "{value} far from {bound}");
            assert!(bucket(value + 1) >= bucket(value));
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn quantiles_of_a_ramp_are_its_fractions() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|us| histogram.record(Span::from_us(us)));
        for (fraction, us) in [(0.5, 500.0), (0.99, 990.0), (0.999, 999.0), (1.0, 1000.0)] {
            let found = histogram.quantile(fraction).unwrap() as f64 / 1e6;
            assert!((found / us - 1.0).abs() < 1.0 / 256.0, "{fraction}: {found}");
        }
        assert_eq!(histogram.mean(), Some(500.5e6));
        assert_eq!(Histogram::default().quantile(0.5), None);
    }
}
