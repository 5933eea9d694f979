//! DCTCP (RFC 8257): the fraction of marked packets, smoothed over windows, scales the cut.
//!
//! Counted in packets where the RFC counts bytes. What is not about marks is conventional TCP: slow start and
//! the reaction to loss (RFC 5681, 6675), the retransmission timer (RFC 6298).

use super::tcp::{TcpParams, TcpScheme, TcpWindow};
use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters};
use crate::transport::{AckSample, CongestionControl, Timeout, Windows};
use crate::units::{Span, Time};

/// DCTCP's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct DctcpParams {
    /// Weight of a new window's marked fraction (`g`). 1/16 (RFC 8257 §4.2).
    pub gain: f64,
    /// Estimate of the marked fraction before the first window ends (`DCTCP.Alpha`). 1 (RFC 8257 §3.3).
    pub initial_alpha: f64,
    /// What every TCP has; a change of the congestion mark is acknowledged at once.
    pub tcp: TcpParams,
}

impl Default for DctcpParams {
    fn default() -> DctcpParams {
        DctcpParams { gain: 1.0 / 16.0, initial_alpha: 1.0, tcp: TcpParams::default() }
    }
}

const ACK_EVERY: &str =
    "Packets for one delayed acknowledgement; a change of the mark is acknowledged at once.";

impl Parameters for DctcpParams {
    fn read(r: &mut impl ParameterReader, d: &DctcpParams) -> DctcpParams {
        let gain = Parameter::new("gain", "Weight of a new window's marked fraction (g).", 1e-6..=1.0);
        let estimate = "Estimate of the marked fraction before the first window ends.";
        let initial_alpha = Parameter::new("initial_alpha", estimate, 0.0..=1.0);
        DctcpParams {
            gain: r.value(&gain, d.gain),
            initial_alpha: r.value(&initial_alpha, d.initial_alpha),
            tcp: TcpParams::read(r, &d.tcp, ACK_EVERY),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        self.tcp.conflicts()
    }
}

impl TcpScheme for DctcpParams {
    type Control = Dctcp;

    const ECN_CAPABLE: bool = true;

    fn tcp(&self) -> &TcpParams {
        &self.tcp
    }
}

/// DCTCP's congestion control of one flow.
#[derive(Clone, Debug)]
pub struct Dctcp {
    tcp: TcpWindow,
    marks: MarkedFraction,
    /// The smoothed fraction of marked packets.
    alpha: f64,
    /// A mark on a packet before this one was answered already.
    cut_end: u32,
}

/// The fraction of packets that are marked, counted over one window of data after another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MarkedFraction {
    acked: u32,
    marked: u32,
    /// The next packet when the window of data began (`DCTCP.WindowEnd`).
    window_end: u32,
}

impl MarkedFraction {
    /// RFC 8257 §3.3, steps 1 to 6 and 8: the fraction of the window of data that this acknowledgement ends. The RFC
    /// passes over selective acknowledgements; here every packet counts once, with the mark of the acknowledgement
    /// that first told of it.
    #[inline]
    pub(super) fn update(&mut self, sample: &AckSample) -> Option<f64> {
        self.acked += sample.newly_acked;
        if sample.congestion_experienced {
            self.marked += sample.newly_acked;
        }
        if sample.cumulative <= self.window_end {
            return None;
        }
        let fraction = f64::from(self.marked) / f64::from(self.acked.max(1));
        *self = MarkedFraction { acked: 0, marked: 0, window_end: sample.next };
        Some(fraction)
    }

    /// Begins a window that ends with the last packet before `next`.
    pub(super) fn restart(&mut self, next: u32) {
        *self = MarkedFraction { acked: 0, marked: 0, window_end: next.saturating_sub(1) };
    }
}

impl Dctcp {
    /// The smoothed fraction of marked packets (`DCTCP.Alpha`), 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// RFC 8257 §3.3, step 9: `cwnd * (1 - α/2)`.
    fn cut(&mut self, params: &DctcpParams, next: u32) {
        let tcp = &mut self.tcp;
        tcp.cwnd = (tcp.cwnd * (1.0 - self.alpha / 2.0)).max(params.tcp.min_cwnd);
        tcp.ssthresh = tcp.cwnd;
        self.cut_end = next;
    }
}

impl CongestionControl for Dctcp {
    type Shared = DctcpParams;
    type Telemetry = ();

    fn new(params: &DctcpParams) -> Dctcp {
        Dctcp {
            tcp: TcpWindow::new(params.tcp.initial_cwnd, params.tcp.max_cwnd),
            marks: MarkedFraction::default(),
            alpha: params.initial_alpha,
            cut_end: 0,
        }
    }

    #[inline]
    fn on_ack(&mut self, params: &DctcpParams, _now: Time, sample: &AckSample) {
        self.tcp.on_ack(sample);
        if let Some(fraction) = self.marks.update(sample) {
            // Step 7.
            self.alpha = (1.0 - params.gain) * self.alpha + params.gain * fraction;
        }
        if sample.congestion_experienced {
            // Once a window of data, and never growing on a marked acknowledgement (RFC 3168 §6.1.2). A flow's
            // first packets may be marked too, so packet 0 has no earlier cut to wait for.
            if sample.cumulative > self.cut_end || self.cut_end == 0 {
                self.cut(params, sample.next);
            }
        } else if !self.tcp.recovering {
            self.tcp.grow(sample.newly_acked, 1.0, params.tcp.max_cwnd);
        }
    }

    /// Halves the window once a window of data, as conventional TCP does (RFC 8257 §3.5). A cut for a mark in the same window
    /// does not spare it; after it, marks in the same window cut no more.
    fn on_loss(&mut self, params: &DctcpParams, _now: Time, cumulative: u32, next: u32) {
        if self.tcp.is_new_loss(cumulative) {
            self.tcp.recover(self.tcp.cwnd / 2.0, params.tcp.min_cwnd, next);
            self.cut_end = next;
        }
    }

    fn on_timeout(&mut self, params: &DctcpParams, _now: Time, timeout: &Timeout) {
        self.tcp.on_timeout(timeout.outstanding() / 2.0, params.tcp.min_cwnd, timeout);
        self.cut_end = timeout.next;
    }

    #[inline]
    fn window(&self, _params: &DctcpParams) -> f64 {
        self.tcp.cwnd
    }

    #[inline]
    fn retransmission_timeout(&self, params: &DctcpParams, _timeouts: u32) -> Span {
        self.tcp.rto.timeout(params.tcp.min_rto, params.tcp.initial_rto)
    }

    fn windows(&self, _params: &DctcpParams) -> Windows {
        Windows::new(self.tcp.cwnd, self.tcp.rto.srtt)
    }
}
