//! Flow sizes: the draw, and its exact mean, from which the rate of arrivals follows.

use crate::model::Sizes;
use crate::random::Stream;
use clearway_proto::units::Bytes;

/// An exponential draw from 53 random bits is at most this many times the mean.
const EXPONENTIAL_TAIL: f64 = 37.0;

impl Sizes {
    /// The largest size that can be drawn, in bytes.
    pub fn largest(&self) -> u64 {
        match self {
            Sizes::Fixed(size) => size.get(),
            Sizes::Exponential(mean) => (mean.get() as f64 * EXPONENTIAL_TAIL) as u64,
            Sizes::Distribution { points, .. } => points.last().map_or(0, |(size, _)| size.ceil() as u64),
        }
    }

    /// The mean size in bytes, at least one. For a distribution it is the mean of its lines, which rounding to whole
    /// bytes changes by less than a byte.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(size) => size.get() as f64,
            // What is drawn is rounded up, hence geometric: 1 / (1 - exp(-1 / mean)).
            Sizes::Exponential(mean) => -1.0 / libm::expm1(-1.0 / mean.get() as f64),
            Sizes::Distribution { points, .. } => mean_of_lines(points).max(1.0),
        }
    }

    /// Draws a size; at least a byte.
    pub(super) fn draw(&self, stream: &mut Stream) -> Bytes {
        let bytes = match self {
            Sizes::Fixed(size) => size.get(),
            Sizes::Exponential(mean) => libm::ceil(stream.exponential(mean.get() as f64)) as u64,
            Sizes::Distribution { points, .. } => libm::round(inverse(points, stream.unit())) as u64,
        };
        Bytes::new(bytes.max(1))
    }
}

/// Each line contributes its share of the flows times its middle; the first point's fraction is a mass there.
fn mean_of_lines(points: &[(f64, f64)]) -> f64 {
    let mass = points[0].0 * points[0].1;
    let line = |ends: &[(f64, f64)]| (ends[1].1 - ends[0].1) * (ends[0].0 + ends[1].0) * 0.5;
    points.windows(2).fold(mass, |mean, ends| mean + line(ends))
}

/// The size below which a fraction `u` of the flows lies, `u` in [0, 1).
fn inverse(points: &[(f64, f64)], u: f64) -> f64 {
    let above = points.partition_point(|point| point.1 <= u);
    if above == 0 {
        return points[0].0;
    }
    // The last fraction is 1, so some point lies above u.
    let ((low, from), (high, to)) = (points[above - 1], points[above]);
    low + (high - low) * ((u - from) / (to - from))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::random::Entity;

    /// Starts with a mass, has a jump (at 10 kB) and a gap without flows (20 to 50 kB).
    pub(crate) const POINTS: [(f64, f64); 7] = [
        (100.0, 0.15),
        (1_000.0, 0.5),
        (10_000.0, 0.6),
        (10_000.0, 0.7),
        (20_000.0, 0.8),
        (50_000.0, 0.8),
        (1_000_000.0, 1.0),
    ];

    pub(crate) fn distribution() -> Sizes {
        Sizes::Distribution { name: "test".into(), points: POINTS.to_vec() }
    }

    /// `n` draws, sorted.
    fn sample(sizes: &Sizes, n: usize) -> Vec<u64> {
        let mut stream = Stream::new(3, Entity::PoissonSource, 0);
        let mut drawn: Vec<u64> = (0..n).map(|_| sizes.draw(&mut stream).get()).collect();
        drawn.sort_unstable();
        drawn
    }

    /// The share of a sorted sample that is at most `bytes`.
    fn share_up_to(sample: &[u64], bytes: u64) -> f64 {
        sample.partition_point(|&size| size <= bytes) as f64 / sample.len() as f64
    }

    #[test]
    fn a_fixed_size_is_what_it_says() {
        let sizes = Sizes::Fixed(Bytes::new(1234));
        assert_eq!(sizes.mean(), 1234.0);
        assert!(sample(&sizes, 1000).iter().all(|&size| size == 1234));
    }

    #[test]
    fn exponential_sizes_follow_their_law() {
        // Kolmogorov and Smirnov: P(sqrt(n) D > 1.818) = 0.0027, as likely as three standard errors. Rounded
        // up, a size is at most s with probability 1 - exp(-s / mean) at every whole s.
        let (mean, n) = (5000.0, 100_000);
        let sample = sample(&Sizes::Exponential(Bytes::new(5000)), n);
        let distance = (1..60_000u64)
            .map(|s| (share_up_to(&sample, s) - (1.0 - libm::exp(-(s as f64) / mean))).abs())
            .fold(0.0, f64::max);
        assert!(distance * (n as f64).sqrt() < 1.818, "{distance}");
    }

    #[test]
    fn exponential_sizes_have_the_stated_mean_even_where_rounding_matters() {
        for mean in [1, 2, 5000] {
            let (sizes, n) = (Sizes::Exponential(Bytes::new(mean)), 200_000);
            let measured = sample(&sizes, n).iter().sum::<u64>() as f64 / n as f64;
            // A geometric variable's variance is below the square of its mean.
            let standard_error = sizes.mean() / (n as f64).sqrt();
            assert!((measured - sizes.mean()).abs() < 3.0 * standard_error, "{measured} {}", sizes.mean());
        }
    }

    #[test]
    fn a_distribution_passes_through_its_points_and_between() {
        let (sizes, n) = (distribution(), 200_000);
        let sample = sample(&sizes, n);
        let checks = [
            (99, 0.0),
            (100, 0.15),
            (550, 0.15 + 0.35 * 450.5 / 900.0),
            (5_500, 0.5 + 0.1 * 4_500.5 / 9_000.0),
            (9_999, 0.5 + 0.1 * 8_999.5 / 9_000.0),
            (10_000, 0.7),
            (20_000, 0.8),
            (49_999, 0.8),
            (525_000, 0.8 + 0.2 * 475_000.5 / 950_000.0),
            (1_000_000, 1.0),
        ];
        for (bytes, expected) in checks {
            let standard_error = (expected * (1.0 - expected) / n as f64).sqrt();
            let measured = share_up_to(&sample, bytes);
            assert!(
                (measured - expected).abs() <= 3.0 * standard_error,
                "{bytes}: {measured} not {expected}"
            );
        }
    }

    #[test]
    fn a_distribution_has_the_mean_of_its_lines() {
        // 15 of 0.15 at 100, 192.5 of 0.35 around 550, 550 of 0.1, 1000, 1500, 105000.
        let (sizes, n) = (distribution(), 200_000);
        assert!((sizes.mean() - 108_257.5).abs() < 1e-6, "{}", sizes.mean());
        let sample = sample(&sizes, n);
        let measured = sample.iter().sum::<u64>() as f64 / n as f64;
        let square = sample.iter().map(|&size| (size as f64) * (size as f64)).sum::<f64>() / n as f64;
        let standard_error = ((square - measured * measured) / n as f64).sqrt();
        assert!((measured - sizes.mean()).abs() < 3.0 * standard_error, "{measured}");
    }

    #[test]
    fn a_distribution_rounds_to_the_nearest_byte() {
        let (points, n) = (vec![(1.0, 0.0), (3.0, 1.0)], 100_000);
        let sample = sample(&Sizes::Distribution { name: String::new(), points }, n);
        let standard_error = (0.25 * 0.75 / n as f64).sqrt();
        assert!((share_up_to(&sample, 1) - 0.25).abs() < 3.0 * standard_error);
        assert!((share_up_to(&sample, 2) - 0.75).abs() < 3.0 * standard_error);
    }

    #[test]
    fn no_size_is_zero() {
        let points = vec![(0.0, 0.0), (3.0, 1.0)];
        assert_eq!(sample(&Sizes::Distribution { name: String::new(), points }, 1000)[0], 1);
        assert_eq!(sample(&Sizes::Exponential(Bytes::new(1)), 1000)[0], 1);
    }

    #[test]
    fn the_inverse_takes_ends_and_jumps() {
        assert_eq!(inverse(&POINTS, 0.0), 100.0);
        assert_eq!(inverse(&POINTS, 0.15), 100.0);
        assert_eq!(inverse(&POINTS, 0.65), 10_000.0);
        assert_eq!(inverse(&POINTS, 0.8), 50_000.0);
        assert!(inverse(&POINTS, 1.0 - f64::EPSILON / 2.0) <= 1_000_000.0);
        assert_eq!(inverse(&[(7.0, 1.0)], 0.5), 7.0, "a single point is a fixed size");
    }
}
