//! Times of which some were not over when the run ended: right-censored samples.
//!
//! The age of an unfinished flow or operation is all that is known of its time, which is at least that. So a quantile over the times and the ages
//! together is a lower bound of the true one. It is the true one where enough *finished* times are as short: then it does
//! not matter how long the others will take.

use clearway_proto::histogram::Histogram;

/// A figure of a censored sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounded {
    pub value: f64,
    /// The true figure may be larger, as it depends on what is unfinished.
    pub at_least: bool,
}

/// A sample of which some times were not over.
pub(super) trait Censored {
    /// Returns the mean, a lower bound as soon as anything is unfinished; `None` for an empty sample.
    fn mean(&self) -> Option<Bounded>;
    /// Returns the value that a `fraction` of all do not exceed; `None` for an empty sample.
    fn quantile(&self, fraction: f64) -> Option<Bounded>;
}

/// A sample with every value.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// The times that are over, then the ages of those that are not. Sorted apart by [`Values::new`].
    finished: Vec<f64>,
    all: Vec<f64>,
}

impl Values {
    pub fn new(mut finished: Vec<f64>, unfinished: &[f64]) -> Values {
        finished.sort_unstable_by(f64::total_cmp);
        let mut all = [&finished, unfinished].concat();
        all.sort_unstable_by(f64::total_cmp);
        Values { finished, all }
    }
}

impl Censored for Values {
    fn mean(&self) -> Option<Bounded> {
        let value = self.all.iter().sum::<f64>() / self.all.len() as f64;
        (!self.all.is_empty()).then_some(Bounded { value, at_least: self.finished.len() < self.all.len() })
    }

    fn quantile(&self, fraction: f64) -> Option<Bounded> {
        let rank = ((self.all.len() as f64 * fraction).ceil() as usize).max(1);
        let value = *self.all.get(rank - 1)?;
        let as_short = self.finished.partition_point(|time| *time <= value);
        Some(Bounded { value, at_least: as_short < rank })
    }
}

/// A sample in buckets, in picoseconds. What lies in one bucket counts as equally long.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    finished: Histogram,
    all: Histogram,
}

impl Buckets {
    pub fn new(finished: Histogram, unfinished: &Histogram) -> Buckets {
        let mut all = finished.clone();
        all.merge(unfinished);
        Buckets { finished, all }
    }
}

impl Censored for Buckets {
    fn mean(&self) -> Option<Bounded> {
        let at_least = self.finished.count() < self.all.count();
        self.all.mean().map(|value| Bounded { value, at_least })
    }

    fn quantile(&self, fraction: f64) -> Option<Bounded> {
        let value = self.all.quantile(fraction)?;
        let at_least = self.finished.count_at_most(value) < self.all.rank(fraction);
        Some(Bounded { value: value as f64, at_least })
    }
}

#[cfg(test)]
mod tests {
    use clearway_proto::units::Span;

    use super::*;

    /// Both kinds of sample, in microseconds.
    fn of(finished: &[u64], unfinished: &[u64]) -> [Box<dyn Censored>; 2] {
        let floats = |us: &[u64]| us.iter().map(|&us| us as f64 * 1e6).collect::<Vec<_>>();
        let histogram = |us: &[u64]| {
            let mut histogram = Histogram::default();
            for &us in us {
                histogram.record(Span::from_us(us));
            }
            histogram
        };
        [
            Box::new(Values::new(floats(finished), &floats(unfinished))),
            Box::new(Buckets::new(histogram(finished), &histogram(unfinished))),
        ]
    }

    fn assert_quantile(sample: &dyn Censored, fraction: f64, us: f64, at_least: bool) {
        let found = sample.quantile(fraction).expect("there are times");
        assert!((found.value / 1e6 / us - 1.0).abs() < 1.0 / 256.0, "{fraction}: {found:?}");
        assert_eq!(found.at_least, at_least, "{fraction}");
    }

    #[test]
    fn a_sample_that_is_over_is_exact() {
        for sample in of(&[4, 1, 3, 2], &[]) {
            assert_quantile(&*sample, 0.5, 2.0, false);
            assert_quantile(&*sample, 0.99, 4.0, false);
            assert_eq!(sample.mean(), Some(Bounded { value: 2.5e6, at_least: false }));
        }
        for nothing in of(&[], &[]) {
            assert_eq!((nothing.mean(), nothing.quantile(0.5)), (None, None));
        }
    }

    /// The eighth of ten times is at least as long as the second of the old ones.
    #[test]
    fn a_quantile_among_the_unfinished_is_at_least_an_age() {
        for sample in of(&[1, 2, 3, 4, 5, 6], &[70, 80, 90, 100]) {
            assert_quantile(&*sample, 0.6, 6.0, false);
            assert_quantile(&*sample, 0.8, 80.0, true);
            assert_quantile(&*sample, 1.0, 100.0, true);
            assert_eq!(sample.mean(), Some(Bounded { value: 36.1e6, at_least: true }));
        }
        for sample in of(&[], &[7]) {
            assert_quantile(&*sample, 0.5, 7.0, true);
        }
    }

    /// What has just begun may take any time, so it can move a quantile, but not where the finished ones are alike.
    #[test]
    fn a_young_one_counts_where_it_makes_a_difference() {
        for sample in of(&[10, 20, 30, 40], &[1]) {
            assert_quantile(&*sample, 0.2, 1.0, true);
            assert_quantile(&*sample, 0.6, 20.0, true);
        }
        for sample in of(&[10; 9], &[1]) {
            assert_quantile(&*sample, 0.5, 10.0, false);
            assert_quantile(&*sample, 0.99, 10.0, true);
        }
    }
}
