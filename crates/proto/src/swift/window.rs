//! Algorithm 1: one congestion window moved by delay. The listing's line numbers stand beside the code.

use super::SwiftParams;
use crate::units::{Span, Time};

/// A congestion window, in packets; a fraction of one is a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    cwnd: f64,
    last_decrease: Option<Time>,
}

impl Window {
    /// A window of `cwnd` packets that has never been cut.
    pub fn new(cwnd: f64) -> Window {
        Window { cwnd, last_decrease: None }
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
        now: Time,
        rtt: Span,
        delay: Span,
        target: Span,
        num_acked: u32,
        params: &SwiftParams,
    ) {
        let cwnd_prev = self.cwnd; // 1
        if delay < target {
            // 7
            let increase = params.ai * f64::from(num_acked);
            self.cwnd += if self.cwnd >= 1.0 { increase / self.cwnd } else { increase };
        // 8-11
        } else if self.can_decrease(now, rtt) {
            // 13
            let excess = (delay.as_ps() - target.as_ps()) as f64 / delay.as_ps() as f64;
            self.cwnd *= (1.0 - params.beta * excess).max(1.0 - params.max_mdf);
            // 14
        }
        self.finish(now, cwnd_prev, params);
    }

    /// Lines 15 to 21: the retransmission timer ran out for the `retransmit_cnt`th time in a row.
    pub fn on_timeout(&mut self, now: Time, rtt: Span, retransmit_cnt: u32, params: &SwiftParams) {
        let cwnd_prev = self.cwnd;
        if retransmit_cnt >= params.retx_reset_threshold {
            self.cwnd = params.min_cwnd;
        } else if self.can_decrease(now, rtt) {
            self.cwnd *= 1.0 - params.max_mdf;
        }
        self.finish(now, cwnd_prev, params);
    }

    /// Lines 22 to 25: a hole in the acknowledged packets.
    pub fn on_fast_recovery(&mut self, now: Time, rtt: Span, params: &SwiftParams) {
        let cwnd_prev = self.cwnd;
        if self.can_decrease(now, rtt) {
            self.cwnd *= 1.0 - params.max_mdf;
        }
        self.finish(now, cwnd_prev, params);
    }

    /// Line 3: at most one decrease a round trip.
    #[inline]
    fn can_decrease(&self, now: Time, rtt: Span) -> bool {
        self.last_decrease.is_none_or(|at| now.since(at) >= rtt)
    }

    /// Lines 26 to 28. The listing prints `cwnd <= cwnd_prev`; taken literally, an acknowledgement over target
    /// that changes nothing would put the next decrease off for ever. Strictly less is meant.
    #[inline]
    fn finish(&mut self, now: Time, cwnd_prev: f64, params: &SwiftParams) {
        self.cwnd = self.cwnd.clamp(params.min_cwnd, params.max_cwnd);
        if self.cwnd < cwnd_prev {
            self.last_decrease = Some(now);
        }
    }
}
