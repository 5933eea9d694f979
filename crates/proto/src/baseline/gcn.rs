//! GCN, Google's variant of DCTCP, as far as the Swift paper (§4) tells: the cut follows the marks of the current
//! window of data, not their average over windows, and marked data is acknowledged without delay.
//!
//! A window of data that has marks is answered when it ends, by `fraction / 2`, and then the next one only whose
//! packets were sent after the cut. (DCTCP with a gain of 1 comes close, but cuts at a window's first mark, when it
//! knows the fraction of the window before: mostly none.) All else is DCTCP's. Nobody published the constants.

use super::dctcp::MarkedFraction;
use super::tcp::{TcpParams, TcpScheme, TcpWindow};
use crate::parameter::{Conflict, ParameterReader, Parameters};
use crate::transport::common;
use crate::transport::{AckSample, CongestionControl, Timeout, Windows};
use crate::units::{Span, Time};

/// GCN's parameters. The paper gives none; what is not said to have a source is DCTCP's here, so that the two differ
/// in what the paper names and in nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct GcnParams {
    /// Additive increase, in packets a round trip. 1 (RFC 5681).
    pub ai: f64,
    /// What every TCP has; a packet with a mark is acknowledged at once.
    pub tcp: TcpParams,
}

impl Default for GcnParams {
    fn default() -> GcnParams {
        GcnParams { ai: 1.0, tcp: TcpParams::default() }
    }
}

const ACK_EVERY: &str = "Packets without a mark for one delayed acknowledgement; marked ones do not wait.";

impl Parameters for GcnParams {
    fn read(r: &mut impl ParameterReader, d: &GcnParams) -> GcnParams {
        let ai = r.value(&common::additive_increase(), d.ai);
        GcnParams { ai, tcp: TcpParams::read(r, &d.tcp, ACK_EVERY) }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        self.tcp.conflicts()
    }
}

impl TcpScheme for GcnParams {
    type Control = Gcn;

    const ECN_CAPABLE: bool = true;
    const MARKED_AT_ONCE: bool = true;

    fn tcp(&self) -> &TcpParams {
        &self.tcp
    }
}

/// GCN's congestion control of one flow.
#[derive(Clone, Debug)]
pub struct Gcn {
    tcp: TcpWindow,
    marks: MarkedFraction,
    /// The current window of data was sent before the last cut, so its marks are answered.
    answered: bool,
}

impl Gcn {
    /// A packet sent before `next` that is not acknowledged causes no further cut.
    fn answer(&mut self, cumulative: u32, next: u32) {
        self.marks.restart(next);
        self.answered = cumulative < next;
    }
}

impl CongestionControl for Gcn {
    type Shared = GcnParams;
    type Telemetry = ();

    fn new(params: &GcnParams) -> Gcn {
        Gcn {
            tcp: TcpWindow::new(params.tcp.initial_cwnd, params.tcp.max_cwnd),
            marks: MarkedFraction::default(),
            answered: false,
        }
    }

    #[inline]
    fn on_ack(&mut self, params: &GcnParams, _now: Time, sample: &AckSample) {
        self.tcp.on_ack(sample);
        if sample.congestion_experienced {
            // The first mark ends slow start, and no marked acknowledgement grows the window (RFC 3168 §6.1.2).
            self.tcp.ssthresh = self.tcp.ssthresh.min(self.tcp.cwnd);
        } else if !self.tcp.recovering {
            self.tcp.grow(sample.newly_acked, params.ai, params.tcp.max_cwnd);
        }
        if let Some(fraction) = self.marks.update(sample) {
            if fraction > 0.0 && !self.answered {
                self.tcp.cwnd = (self.tcp.cwnd * (1.0 - fraction / 2.0)).max(params.tcp.min_cwnd);
                self.tcp.ssthresh = self.tcp.cwnd;
                self.answer(sample.cumulative, sample.next);
            } else {
                self.answered = false;
            }
        }
    }

    /// Halves the window once a window of data, as DCTCP and conventional TCP do.
    fn on_loss(&mut self, params: &GcnParams, _now: Time, cumulative: u32, next: u32) {
        if self.tcp.is_new_loss(cumulative) {
            self.tcp.recover(self.tcp.cwnd / 2.0, params.tcp.min_cwnd, next);
            self.answer(cumulative, next);
        }
    }

    fn on_timeout(&mut self, params: &GcnParams, _now: Time, timeout: &Timeout) {
        self.tcp.on_timeout(timeout.outstanding() / 2.0, params.tcp.min_cwnd, timeout);
        self.marks.restart(timeout.next);
        self.answered = true;
    }

    #[inline]
    fn window(&self, _params: &GcnParams) -> f64 {
        self.tcp.cwnd
    }

    #[inline]
    fn retransmission_timeout(&self, params: &GcnParams, _timeouts: u32) -> Span {
        self.tcp.rto.timeout(params.tcp.min_rto, params.tcp.initial_rto)
    }

    fn windows(&self, _params: &GcnParams) -> Windows {
        Windows::new(self.tcp.cwnd, self.tcp.rto.srtt)
    }
}
