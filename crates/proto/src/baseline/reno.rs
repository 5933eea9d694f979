//! Reno (RFC 5681) with recovery by selective acknowledgement (RFC 6675): one packet more a round trip, half the window
//! for a loss.
//!
//! Which packets are lost, and when they go out again, is the shared scoreboard's; here is what a loss costs: once a
//! window of data, and the window stands until that window is acknowledged.

use super::tcp::{self, TcpParams, TcpScheme, TcpWindow};
use crate::parameter::{Conflict, ParameterReader, Parameters};
use crate::transport::{AckSample, CongestionControl, Timeout, Windows};
use crate::units::{Span, Time};

/// Reno's parameters.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RenoParams {
    /// What every TCP has.
    pub tcp: TcpParams,
}

impl Parameters for RenoParams {
    fn read(r: &mut impl ParameterReader, d: &RenoParams) -> RenoParams {
        RenoParams { tcp: TcpParams::read(r, &d.tcp, tcp::PACKETS_AN_ACK) }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        self.tcp.conflicts()
    }
}

impl TcpScheme for RenoParams {
    type Control = Reno;

    fn tcp(&self) -> &TcpParams {
        &self.tcp
    }
}

/// Reno's congestion control of one flow.
#[derive(Clone, Debug)]
pub struct Reno {
    tcp: TcpWindow,
}

impl CongestionControl for Reno {
    type Shared = RenoParams;
    type Telemetry = ();

    fn new(params: &RenoParams) -> Reno {
        Reno { tcp: TcpWindow::new(params.tcp.initial_cwnd, params.tcp.max_cwnd) }
    }

    #[inline]
    fn on_ack(&mut self, params: &RenoParams, _now: Time, sample: &AckSample) {
        self.tcp.on_ack(sample);
        if !self.tcp.recovering && self.tcp.is_limiting(sample) {
            self.tcp.grow(sample.newly_acked, 1.0, params.tcp.max_cwnd);
        }
    }

    /// RFC 5681, eq. 4.
    fn on_loss(&mut self, params: &RenoParams, _now: Time, cumulative: u32, next: u32) {
        if self.tcp.is_new_loss(cumulative) {
            let half = self.tcp.flight_size(cumulative, next) / 2.0;
            self.tcp.recover(half, params.tcp.min_cwnd, next);
        }
    }

    fn on_timeout(&mut self, params: &RenoParams, _now: Time, timeout: &Timeout) {
        let half = self.tcp.flight_size(timeout.cumulative, timeout.next) / 2.0;
        self.tcp.on_timeout(half, params.tcp.min_cwnd, timeout);
    }

    #[inline]
    fn window(&self, _params: &RenoParams) -> f64 {
        self.tcp.cwnd
    }

    #[inline]
    fn retransmission_timeout(&self, params: &RenoParams, _timeouts: u32) -> Span {
        self.tcp.rto.timeout(params.tcp.min_rto, params.tcp.initial_rto)
    }

    fn windows(&self, _params: &RenoParams) -> Windows {
        Windows::new(self.tcp.cwnd, self.tcp.rto.srtt)
    }
}
