//! How long a PAUSE holds: a PFC frame carries, for each priority, a 16-bit number of quanta of 512 bit times
//! (IEEE 802.1Qbb, 802.3 annex 31B). Zero quanta are a RESUME.
//!
//! The longest PAUSE is shorter than a long link: 335.5 us at 100 Gb/s and 83.9 us at 400 Gb/s, where 80 km are 400 us.
//! Whoever stays congested repeats its PAUSE.

use crate::units::{Bytes, Rate, Span};

/// A PFC frame on the wire: 64 bytes, and the 20 of preamble and gap.
pub const PFC_FRAME: Bytes = Bytes::new(84);

/// The most quanta that a PFC frame holds.
pub const LONGEST: u16 = u16::MAX;

const BITS: u128 = 512;
const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// Returns how long `quanta` last on a link of this rate, rounded down: a PAUSE that is repeated by then is repeated in time.
pub const fn lasting(quanta: u16, rate: Rate) -> Span {
    Span::from_ps((quanta as u128 * BITS * PS_PER_SECOND / rate.as_bps() as u128) as u64)
}

/// The fewest quanta that last for `span` on a link of this rate; the most that there are, where those do not.
pub const fn covering(span: Span, rate: Rate) -> u16 {
    let bits = (span.as_ps() as u128 * rate.as_bps() as u128).div_ceil(PS_PER_SECOND);
    let quanta = bits.div_ceil(BITS);
    if quanta > LONGEST as u128 {
        LONGEST
    } else {
        quanta as u16
    }
}

/// Returns the longest time from one PAUSE to its repetition such that the second is there before the first has run out; `wait`
/// is the longest that a PAUSE may stand behind other frames before it goes out, as the second may wait and the first not.
/// `None`: no interval will do, as a PAUSE of `quanta` runs out within `wait`.
pub fn refresh_interval(quanta: u16, rate: Rate, wait: Span) -> Option<Span> {
    let left = lasting(quanta, rate).saturating_sub(wait);
    (left > Span::ZERO).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pause_is_shorter_than_80_km() {
        assert_eq!(lasting(LONGEST, Rate::from_gbps(100)), Span::from_ps(335_539_200));
        assert_eq!(lasting(LONGEST, Rate::from_gbps(400)), Span::from_ps(83_884_800));
        assert_eq!(lasting(1, Rate::from_gbps(400)), Span::from_ps(1_280));
        assert_eq!(lasting(0, Rate::from_gbps(400)), Span::ZERO);
    }

    #[test]
    fn quanta_cover_a_time_and_one_less_does_not() {
        for gbps in [1, 10, 25, 100, 400, 800] {
            let rate = Rate::from_gbps(gbps);
            for span in [Span::from_ps(1), Span::from_ns(999), Span::from_us(10), Span::from_us(41)] {
                let quanta = covering(span, rate);
                assert!(lasting(quanta, rate) >= span, "{quanta} quanta at {rate} are not {span}");
                assert!(
                    lasting(quanta - 1, rate) < span,
                    "{quanta} quanta at {rate} are more than {span} needs"
                );
            }
        }
        assert_eq!(covering(Span::from_ms(1), Rate::from_gbps(400)), LONGEST);
    }

    #[test]
    fn a_repetition_allows_for_the_wait_behind_other_frames() {
        let rate = Rate::from_gbps(400);
        let jumbo = rate.transmission(Bytes::new(9_000));
        let interval = refresh_interval(LONGEST, rate, jumbo).expect("a jumbo frame is short");
        assert_eq!(interval + jumbo, lasting(LONGEST, rate));
        assert_eq!(refresh_interval(100, rate, jumbo), None);
    }
}
