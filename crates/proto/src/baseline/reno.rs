//! Reno (RFC 5681) with recovery by selective acknowledgement (RFC 6675): one packet more a round trip, half the window
//! for a loss.
//!
//! Which packets are lost, and when they go out again, is the shared scoreboard's; here is what a loss costs: once a
//! window of data, and the window stands until that window is acknowledged.

use std::sync::Arc;

use super::tcp::{self, TcpWindow};
use crate::transport::{AckPolicy, AckSample, CongestionControl, Scheme, Windows};
use crate::units::{Bytes, Span, Time};

/// Reno's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct RenoParams {
    /// Window in packets of a new flow. 10 (RFC 6928).
    pub initial_cwnd: f64,
    /// Smallest window in packets, and the one after a timeout. 1 (RFC 5681 §3.1).
    pub min_cwnd: f64,
    /// Largest window in packets. 1024.
    pub max_cwnd: f64,
    /// Packets for one delayed acknowledgement. 1; RFC 5681 §4.2 asks for 2.
    pub ack_every: u32,
    /// Longest that a delayed acknowledgement waits. 1 ms (RFC 1122: at most 500 ms; Linux: 40 ms).
    pub ack_delay: Span,
    /// Packets received above a hole before it counts as lost. 3 (RFC 6675).
    pub dup_threshold: u32,
    /// Least retransmission timeout. 10 ms, as of every baseline here (RFC 6298: 1 s; Linux: 200 ms).
    pub min_rto: Span,
    /// Retransmission timeout before the first round-trip sample. 10 ms (RFC 6298: 1 s).
    pub initial_rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two; 2048.
    pub reach: u32,
}

impl Default for RenoParams {
    fn default() -> RenoParams {
        RenoParams {
            initial_cwnd: 10.0,
            min_cwnd: 1.0,
            max_cwnd: 1024.0,
            ack_every: 1,
            ack_delay: Span::from_ms(1),
            dup_threshold: 3,
            min_rto: Span::from_ms(10),
            initial_rto: Span::from_ms(10),
            reach: 2048,
        }
    }
}

impl Scheme for RenoParams {
    type Control = Reno;

    /// IPv4 20, TCP 20, timestamps 12.
    const HEADER: Bytes = Bytes::new(52);

    fn control(&self, _frame: Bytes) -> Reno {
        Reno::new(Arc::new(self.clone()))
    }

    fn reach(&self) -> u32 {
        self.reach
    }

    fn max_window(&self) -> f64 {
        self.max_cwnd
    }

    fn ack_policy(&self) -> AckPolicy {
        tcp::ack_policy(self.ack_every, self.ack_delay, false)
    }
}

/// Reno's congestion control of one flow.
#[derive(Clone, Debug)]
pub struct Reno {
    params: Arc<RenoParams>,
    tcp: TcpWindow,
}

impl Reno {
    /// For a new flow. Flows share their parameters.
    pub fn new(params: Arc<RenoParams>) -> Reno {
        Reno { tcp: TcpWindow::new(params.initial_cwnd, params.max_cwnd), params }
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        self.tcp.on_ack(sample);
        if !self.tcp.recovering && self.tcp.is_limiting(sample) {
            self.tcp.grow(sample.newly_acked, 1.0, self.params.max_cwnd);
        }
    }

    /// RFC 5681, eq. 4.
    fn on_loss(&mut self, _now: Time, cumulative: u32, next: u32) {
        if self.tcp.is_new_loss(cumulative) {
            let half = self.tcp.flight_size(next) / 2.0;
            self.tcp.recover(half, self.params.min_cwnd, next);
        }
    }

    fn on_timeout(&mut self, _now: Time, next: u32) {
        self.tcp.on_timeout(self.tcp.flight_size(next) / 2.0, self.params.min_cwnd, next);
    }

    #[inline]
    fn window(&self) -> f64 {
        self.tcp.cwnd
    }

    /// Acknowledgements are the clock.
    #[inline]
    fn pacing_gap(&self) -> Option<Span> {
        None
    }

    #[inline]
    fn retransmission_timeout(&self) -> Span {
        self.tcp.rto.timeout(self.params.min_rto, self.params.initial_rto)
    }

    fn dup_threshold(&self) -> u32 {
        self.params.dup_threshold
    }

    fn windows(&self) -> Windows {
        Windows { cwnd: self.tcp.cwnd, fcwnd: f64::NAN, ecwnd: f64::NAN, srtt: self.tcp.rto.srtt }
    }
}
