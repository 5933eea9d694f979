//! Pacing (§3.6): a window below one packet means one packet every `rtt / cwnd`, counted from the last sending.
//! At one packet and above, acknowledgements are the clock.

use crate::units::Span;

/// Least time between the starts of two packets; `None` where acknowledgements are the clock.
#[inline]
pub fn pacing_gap(rtt: Span, cwnd: f64) -> Option<Span> {
    (cwnd < 1.0).then(|| Span::from_ps_f64(rtt.as_ps_f64() / cwnd))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_packet_is_one_every_two_round_trips() {
        assert_eq!(pacing_gap(Span::from_us(50), 0.5), Some(Span::from_us(100)));
    }

    #[test]
    fn a_whole_packet_is_not_paced() {
        assert_eq!(pacing_gap(Span::from_us(50), 1.0), None);
    }
}
