//! How much better a link with a fault explains losses than chance does, in whole numbers, so that all machines agree.

/// Binary digits after the point.
const POINT: u32 = 16;

/// The binary logarithm of a number, 1 or more, with [`POINT`] digits after the point, rounded down.
fn log2(number: u64) -> i128 {
    let whole = number.ilog2();
    // The number between 1 and 2 that is left, with 62 digits after the point.
    let mut rest = u128::from(number) << (62 - whole.min(62)) >> (whole.saturating_sub(62));
    let mut log = i128::from(whole) << POINT;
    for digit in (0..POINT).rev() {
        rest = (rest * rest) >> 62;
        if rest >> 63 == 1 {
            rest >>= 1;
            log += 1 << digit;
        }
    }
    log
}

/// Returns by how many bits the losses on a link are likelier if it loses packets at just this rate than if it loses one in
/// `background`, where that is the lower rate (the likelihood ratio of two binomial distributions; 10 bits are odds of about 1000
/// to 1). 0 where the link loses no more than that.
pub(super) fn bits(lost: u64, sent: u64, background: u32) -> u64 {
    let (lost, sent) = (lost.min(sent), sent);
    if lost == 0 || lost * u64::from(background) <= sent {
        return 0;
    }
    let arrived = sent - lost;
    let of_lost = i128::from(lost) * (log2(lost) - log2(sent) + log2(background.into()));
    let of_arrived = if arrived == 0 { 0 } else { i128::from(arrived) * (log2(arrived) - log2(sent)) };
    // -log2(1 - 1/background) is 1/background of log2(e), 1.4427, for all that this is used for.
    let background_arrived = i128::from(arrived) * (94_548 / i128::from(background).max(1));
    u64::try_from((of_lost + of_arrived + background_arrived) >> POINT).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_floating_point() {
        for number in [1, 2, 3, 5, 10, 1000, 12_345, 1 << 40, u64::from(u32::MAX), u64::MAX] {
            let found = log2(number) as f64 / f64::from(1 << POINT);
            assert!((found - (number as f64).log2()).abs() < 1e-4, "{number}: {found}");
        }
    }

    #[test]
    fn bits_are_those_of_the_likelihood_ratio() {
        for (lost, sent) in [(1, 1), (3, 3), (10, 4000), (40, 4000), (207, 4140), (4000, 4000), (5, 100_000)]
        {
            let (k, n, rate) = (lost as f64, sent as f64, 1e-4_f64);
            let q = k / n;
            let arrived = if lost == sent { 0.0 } else { (n - k) * ((1.0 - q) / (1.0 - rate)).log2() };
            let wanted = if q <= rate { 0.0 } else { k * (q / rate).log2() + arrived };
            let found = bits(lost, sent, 10_000) as f64;
            assert!((found - wanted).abs() <= 1.0 + wanted * 1e-3, "{lost} of {sent}: {found}, not {wanted}");
        }
        assert_eq!((bits(0, 100, 10_000), bits(0, 0, 10_000)), (0, 0));
    }
}
