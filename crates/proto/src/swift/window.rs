//! Algorithm 1: one congestion window moved by delay. The listing's line numbers stand beside the code.

use super::SwiftParams;
use crate::units::{Span, Time};

/// A congestion window, in packets; a fraction of one is a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    cwnd: f64,
}

/// What decides whether a window may be decreased.
#[derive(Debug)]
pub struct Moment<'a> {
    /// The present.
    pub now: Time,
    /// The last round trip.
    pub rtt: Span,
    /// When this window was last decreased. [`Time::ZERO`] stands for never: no acknowledgement comes within a round
    /// trip of the clock's start. Kept apart from the window because it is needed far more seldom.
    pub last_decrease: &'a mut Time,
}

/// The delay that a window watches, and what it is aimed at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// As measured.
    pub delay: Span,
    /// Aim.
    pub target: Span,
}

/// How a window moves, and between which bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowRules {
    /// Additive increase, in packets a round trip.
    pub ai: f64,
    /// Reaction to the relative excess of the delay (`β`).
    pub beta: f64,
    /// Largest decrease in one round trip.
    pub max_mdf: f64,
    /// Smallest window, in packets.
    pub min_cwnd: f64,
    /// Largest window, in packets.
    pub max_cwnd: f64,
    /// Timeouts in a row after which the window falls to its floor.
    pub retx_reset_threshold: u32,
}

impl WindowRules {
    /// Returns the rules of the fabric's window.
    pub fn fabric(params: &SwiftParams) -> WindowRules {
        WindowRules {
            ai: params.ai,
            beta: params.beta,
            max_mdf: params.max_mdf,
            min_cwnd: if params.cwnd_below_one { params.min_cwnd } else { params.min_cwnd.max(1.0) },
            max_cwnd: params.max_cwnd,
            retx_reset_threshold: params.retx_reset_threshold,
        }
    }

    /// Returns the rules of the endpoint's window: another reaction, and a floor that may be higher.
    pub fn endpoint(params: &SwiftParams) -> WindowRules {
        let fabric = WindowRules::fabric(params);
        let min_cwnd = fabric.min_cwnd.max(params.endpoint_min_cwnd);
        WindowRules { beta: params.endpoint_beta, min_cwnd, ..fabric }
    }
}

impl Window {
    /// A window of `cwnd` packets.
    pub fn new(cwnd: f64) -> Window {
        Window { cwnd }
    }

    /// Its size in packets.
    #[inline]
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Lines 4 to 14: an acknowledgement for `num_acked` new packets, with the delay that this window watches.
    #[inline]
    pub fn on_ack(
        &mut self,
        mut moment: Moment,
        &Reading { delay, target }: &Reading,
        num_acked: u32,
        rules: &WindowRules,
    ) {
        let cwnd_prev = self.cwnd; // 1
        if delay < target {
            // 7
            let increase = rules.ai * f64::from(num_acked);
            self.cwnd += if self.cwnd >= 1.0 { increase / self.cwnd } else { increase };
        // 8-11
        } else if moment.can_decrease() {
            // 13
            let excess = (delay - target).as_ps_f64() / delay.as_ps_f64();
            self.cwnd *= (1.0 - rules.beta * excess).max(1.0 - rules.max_mdf);
            // 14
        }
        self.finish(&mut moment, cwnd_prev, rules);
    }

    /// Lines 15 to 21: the retransmission timer ran out for the `retransmit_cnt`th time in a row.
    pub fn on_timeout(&mut self, mut moment: Moment, retransmit_cnt: u32, rules: &WindowRules) {
        let cwnd_prev = self.cwnd;
        if retransmit_cnt >= rules.retx_reset_threshold {
            self.cwnd = rules.min_cwnd;
        } else if moment.can_decrease() {
            self.cwnd *= 1.0 - rules.max_mdf;
        }
        self.finish(&mut moment, cwnd_prev, rules);
    }

    /// Lines 22 to 25: a hole in the acknowledged packets.
    pub fn on_fast_recovery(&mut self, mut moment: Moment, rules: &WindowRules) {
        let cwnd_prev = self.cwnd;
        if moment.can_decrease() {
            self.cwnd *= 1.0 - rules.max_mdf;
        }
        self.finish(&mut moment, cwnd_prev, rules);
    }

    /// Lines 26 to 28. The listing prints `cwnd <= cwnd_prev`; taken literally, an acknowledgement over target
    /// that changes nothing would put the next decrease off for ever. Strictly less is meant.
    #[inline]
    fn finish(&mut self, moment: &mut Moment, cwnd_prev: f64, rules: &WindowRules) {
        self.cwnd = self.cwnd.clamp(rules.min_cwnd, rules.max_cwnd);
        if self.cwnd < cwnd_prev {
            *moment.last_decrease = moment.now;
        }
    }
}

impl Moment<'_> {
    /// Line 3: at most one decrease a round trip.
    #[inline]
    fn can_decrease(&self) -> bool {
        self.now.since(*self.last_decrease) >= self.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Span = Span::from_us(50);

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    const RULES: WindowRules = WindowRules {
        ai: 2.0,
        beta: 0.8,
        max_mdf: 0.5,
        min_cwnd: 0.25,
        max_cwnd: 64.0,
        retx_reset_threshold: 3,
    };

    fn reading(delay: Span) -> Reading {
        Reading { delay, target: TARGET }
    }

    /// A window that has never been decreased, with the memory of its last decrease.
    struct Kept(Window, Time);

    impl Kept {
        fn new(cwnd: f64) -> Kept {
            Kept(Window::new(cwnd), Time::ZERO)
        }

        fn on_ack(&mut self, now: Time, rtt: Span, reading: &Reading, num_acked: u32) -> f64 {
            let moment = Moment { now, rtt, last_decrease: &mut self.1 };
            self.0.on_ack(moment, reading, num_acked, &RULES);
            self.0.cwnd()
        }
    }

    /// A window of `cwnd` after one acknowledgement for `num_acked` packets that were `delay` late.
    fn after_ack(cwnd: f64, delay: u64, num_acked: u32) -> f64 {
        let delay = Span::from_us(delay);
        Kept::new(cwnd).on_ack(us(1000), delay, &reading(delay), num_acked)
    }

    #[test]
    fn lines_8_and_9_from_one_packet_on_the_increase_is_ai_a_round_trip() {
        assert_eq!(after_ack(8.0, 49, 1), 8.25);
        assert_eq!(after_ack(8.0, 49, 3), 8.75);
        assert_eq!(after_ack(1.0, 49, 1), 3.0);
        assert_eq!(after_ack(8.0, 49, 0), 8.0);
    }

    #[test]
    fn lines_10_and_11_below_one_packet_the_increase_is_ai_an_acknowledged_packet() {
        assert_eq!(after_ack(0.5, 49, 1), 2.5);
        assert_eq!(after_ack(0.5, 49, 2), 4.5);
    }

    #[test]
    fn line_7_on_target_is_not_below_it() {
        assert_eq!(after_ack(8.0, 50, 1), 8.0);
    }

    #[test]
    fn line_13_the_decrease_is_in_proportion_to_the_excess() {
        // 1 - 0.8 * (100 - 50) / 100 = 0.6 and 1 - 0.8 * (80 - 50) / 80 = 0.7.
        assert!((after_ack(10.0, 100, 1) - 6.0).abs() < 1e-12);
        assert!((after_ack(10.0, 80, 1) - 7.0).abs() < 1e-12);
    }

    #[test]
    fn line_14_the_decrease_is_at_most_max_mdf() {
        // 1 - 0.8 * 450 / 500 = 0.28.
        assert_eq!(after_ack(10.0, 500, 1), 5.0);
    }

    #[test]
    fn line_3_one_decrease_a_round_trip() {
        let rtt = Span::from_us(500);
        let mut window = Kept::new(40.0);
        let mut cwnd_at = |at| window.on_ack(us(at), rtt, &reading(rtt), 1);
        assert_eq!(cwnd_at(1000), 20.0);
        assert_eq!(cwnd_at(1499), 20.0);
        assert_eq!(cwnd_at(1500), 10.0);
    }

    #[test]
    fn line_28_what_does_not_decrease_does_not_put_off_the_next_decrease() {
        let rtt = Span::from_us(500);
        let mut window = Kept::new(40.0);
        let cwnd = [1000, 1100, 1499, 1500].map(|at| window.on_ack(us(at), rtt, &reading(rtt), 1));
        assert_eq!(cwnd[3], 10.0);
        // Nor does an increase that the ceiling takes back.
        let mut window = Kept::new(64.0);
        window.on_ack(us(1000), rtt, &reading(Span::ZERO), 1);
        assert_eq!(window.on_ack(us(1001), rtt, &reading(rtt), 1), 32.0);
    }

    #[test]
    fn lines_16_to_18_timeouts_in_a_row_end_at_the_floor_whatever_the_round_trip() {
        let rtt = Span::from_us(500);
        let Kept(mut window, mut last_decrease) = Kept::new(40.0);
        let mut cwnd_at = |at, count| {
            let moment = Moment { now: us(at), rtt, last_decrease: &mut last_decrease };
            window.on_timeout(moment, count, &RULES);
            window.cwnd()
        };
        assert_eq!(cwnd_at(1000, 1), 20.0);
        assert_eq!(cwnd_at(1100, 2), 20.0, "at most one decrease a round trip");
        assert_eq!(cwnd_at(1200, 3), 0.25);
    }

    #[test]
    fn lines_23_to_25_a_hole_costs_max_mdf_once_a_round_trip() {
        let rtt = Span::from_us(500);
        let Kept(mut window, mut last_decrease) = Kept::new(40.0);
        let mut cwnd_at = |at| {
            let moment = Moment { now: us(at), rtt, last_decrease: &mut last_decrease };
            window.on_fast_recovery(moment, &RULES);
            window.cwnd()
        };
        assert_eq!(cwnd_at(1000), 20.0);
        assert_eq!(cwnd_at(1499), 20.0);
        assert_eq!(cwnd_at(1500), 10.0);
    }

    #[test]
    fn line_26_the_window_stays_between_floor_and_ceiling() {
        assert_eq!(after_ack(0.3, 500, 1), 0.25);
        assert_eq!(after_ack(63.99, 0, 1), 64.0);
    }
}
