//! DCTCP (RFC 8257): the fraction of marked packets, smoothed over windows, scales the cut.
//!
//! Counted in packets where the RFC counts bytes. What is not about marks is conventional TCP: slow start and
//! the reaction to loss (RFC 5681, 6675), the retransmission timer (RFC 6298).

use std::sync::Arc;

use crate::transport::{AckPolicy, AckSample, CongestionControl, Scheme, Windows};
use crate::units::{Bytes, Span, Time};

/// Longest that backing off makes the retransmission timeout: the least that RFC 6298 (2.5) allows as a limit.
const MAX_RTO: Span = Span::from_secs(60);

/// Least slow start threshold after a loss, in packets (RFC 5681, eq. 4).
const LEAST_SSTHRESH: f64 = 2.0;

/// DCTCP's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct DctcpParams {
    /// Weight of a new window's marked fraction (`g`). 1/16 (RFC 8257 §4.2).
    pub gain: f64,
    /// Estimate of the marked fraction before the first window ends (`DCTCP.Alpha`). 1 (RFC 8257 §3.3).
    pub initial_alpha: f64,
    /// Window in packets of a new flow. 10 (RFC 6928).
    pub initial_cwnd: f64,
    /// Smallest window in packets. 1; Linux has 2.
    pub min_cwnd: f64,
    /// Largest window in packets. 1024.
    pub max_cwnd: f64,
    /// Packets for one delayed acknowledgement; a change of the congestion mark is acknowledged at once. 1.
    pub ack_every: u32,
    /// Longest that a delayed acknowledgement waits. 1 ms.
    pub ack_delay: Span,
    /// Packets received above a hole before it counts as lost. 3 (RFC 6675).
    pub dup_threshold: u32,
    /// Least retransmission timeout. 10 ms (RFC 8257 §5 advises lowering it to the data center's scale).
    pub min_rto: Span,
    /// Retransmission timeout before the first round-trip sample. 10 ms (RFC 6298: 1 s).
    pub initial_rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two; 2048.
    pub reach: u32,
}

impl Default for DctcpParams {
    fn default() -> DctcpParams {
        DctcpParams {
            gain: 1.0 / 16.0,
            initial_alpha: 1.0,
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

impl Scheme for DctcpParams {
    type Control = Dctcp;

    /// IPv4 20, TCP 20, timestamps 12.
    const HEADER: Bytes = Bytes::new(52);

    const ECN_CAPABLE: bool = true;

    fn control(&self, _frame: Bytes) -> Dctcp {
        Dctcp::new(Arc::new(self.clone()))
    }

    fn reach(&self) -> u32 {
        self.reach
    }

    fn max_window(&self) -> f64 {
        self.max_cwnd
    }

    fn ack_policy(&self) -> AckPolicy {
        if self.ack_every > 1 {
            AckPolicy::Delayed { every: self.ack_every, delay: self.ack_delay }
        } else {
            AckPolicy::EveryPacket
        }
    }
}

/// DCTCP's congestion control of one flow.
#[derive(Clone, Debug)]
pub struct Dctcp {
    params: Arc<DctcpParams>,
    /// Window in packets.
    cwnd: f64,
    /// Slow start ends here, in packets.
    ssthresh: f64,
    marks: MarkedFraction,
    /// A mark on a packet before this one was answered already.
    cut_end: u32,
    /// A loss of a packet before this one was answered already.
    recovery_end: u32,
    /// Fast recovery: the window stands still until `recovery_end` is acknowledged.
    recovering: bool,
    /// Every packet before this one is acknowledged.
    una: u32,
    rto: RetransmissionTimeout,
}

/// Estimate of the fraction of packets that are marked (`DCTCP.Alpha`), moved once a window of data.
#[derive(Clone, Copy, Debug)]
struct MarkedFraction {
    alpha: f64,
    acked: u32,
    marked: u32,
    /// The next packet when the window of data began (`DCTCP.WindowEnd`).
    window_end: u32,
}

impl MarkedFraction {
    /// RFC 8257 §3.3, steps 1 to 8. The RFC passes over selective acknowledgements; here every packet counts
    /// once, with the mark of the acknowledgement that first told of it.
    #[inline]
    fn update(&mut self, sample: &AckSample, gain: f64) {
        self.acked += sample.newly_acked;
        if sample.congestion_experienced {
            self.marked += sample.newly_acked;
        }
        if sample.cumulative <= self.window_end {
            return;
        }
        let fraction = f64::from(self.marked) / f64::from(self.acked.max(1));
        self.alpha = (1.0 - gain) * self.alpha + gain * fraction;
        (self.acked, self.marked, self.window_end) = (0, 0, sample.next);
    }
}

/// RFC 6298. Packets carry the time of their sending, so a retransmission gives a sample like any other.
#[derive(Clone, Copy, Debug, Default)]
struct RetransmissionTimeout {
    /// Zero before the first sample.
    srtt: Span,
    rttvar: Span,
    /// Timeouts since the last new acknowledgement.
    backoff: u32,
}

impl RetransmissionTimeout {
    #[inline]
    fn sample(&mut self, rtt: Span) {
        if self.srtt == Span::ZERO {
            (self.srtt, self.rttvar) = (rtt, rtt / 2);
            return;
        }
        let error = self.srtt.saturating_sub(rtt) + rtt.saturating_sub(self.srtt);
        self.rttvar = (self.rttvar * 3 + error) / 4;
        self.srtt = (self.srtt * 7 + rtt) / 8;
    }

    fn timeout(&self, params: &DctcpParams) -> Span {
        let once = if self.srtt == Span::ZERO {
            params.initial_rto
        } else {
            (self.srtt + self.rttvar * 4).max(params.min_rto)
        };
        // Never below `once`: a limit on backing off must not shorten a timeout that was set longer.
        (once * (1 << self.backoff.min(32))).min(MAX_RTO).max(once)
    }
}

impl Dctcp {
    /// For a new flow. Flows share their parameters.
    pub fn new(params: Arc<DctcpParams>) -> Dctcp {
        let alpha = params.initial_alpha;
        Dctcp {
            cwnd: params.initial_cwnd,
            ssthresh: params.max_cwnd,
            marks: MarkedFraction { alpha, acked: 0, marked: 0, window_end: 0 },
            cut_end: 0,
            recovery_end: 0,
            recovering: false,
            una: 0,
            rto: RetransmissionTimeout::default(),
            params,
        }
    }

    /// The smoothed fraction of marked packets (`DCTCP.Alpha`), 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.marks.alpha
    }

    /// Slow start up to the threshold, then one packet a round trip (RFC 5681 §3.1).
    #[inline]
    fn grow(&mut self, newly_acked: u32) {
        let acked = f64::from(newly_acked);
        let slow_start = (self.ssthresh - self.cwnd).clamp(0.0, acked);
        self.cwnd += slow_start;
        self.cwnd += (acked - slow_start) / self.cwnd;
        self.cwnd = self.cwnd.min(self.params.max_cwnd);
    }

    /// RFC 8257 §3.3, step 9: `cwnd * (1 - α/2)`.
    fn cut(&mut self, next: u32) {
        self.cwnd = (self.cwnd * (1.0 - self.marks.alpha / 2.0)).max(self.params.min_cwnd);
        self.ssthresh = self.cwnd;
        self.cut_end = next;
    }
}

impl CongestionControl for Dctcp {
    #[inline]
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        self.una = sample.cumulative;
        self.rto.sample(sample.rtt);
        if sample.newly_acked > 0 {
            self.rto.backoff = 0;
        }
        self.recovering &= sample.cumulative < self.recovery_end;
        self.marks.update(sample, self.params.gain);
        if sample.congestion_experienced {
            // Once a window of data, and never growing on a marked acknowledgement (RFC 3168 §6.1.2). A flow's
            // first packets may be marked too, so packet 0 has no earlier cut to wait for.
            if sample.cumulative > self.cut_end || self.cut_end == 0 {
                self.cut(sample.next);
            }
        } else if !self.recovering {
            self.grow(sample.newly_acked);
        }
    }

    /// As conventional TCP (RFC 8257 §3.5): half, once a window of data. A cut for a mark in the same window
    /// does not spare it; after it, marks in the same window cut no more.
    fn on_loss(&mut self, _now: Time, cumulative: u32, next: u32) {
        if cumulative < self.recovery_end {
            return;
        }
        self.ssthresh = (self.cwnd / 2.0).max(LEAST_SSTHRESH);
        self.cwnd = self.cwnd.min(self.ssthresh.max(self.params.min_cwnd));
        (self.recovery_end, self.cut_end, self.recovering) = (next, next, true);
    }

    /// RFC 5681 §3.1, RFC 6298 §5.5. The threshold is set once for timeouts in a row: a second one finds only
    /// the single packet of the first under way.
    fn on_timeout(&mut self, _now: Time, next: u32) {
        if self.rto.backoff == 0 {
            self.ssthresh = (f64::from(next - self.una) / 2.0).max(LEAST_SSTHRESH);
        }
        self.cwnd = self.params.min_cwnd;
        self.rto.backoff = self.rto.backoff.saturating_add(1);
        (self.recovery_end, self.cut_end, self.recovering) = (next, next, false);
    }

    #[inline]
    fn window(&self) -> f64 {
        self.cwnd
    }

    /// Acknowledgements are the clock.
    #[inline]
    fn pacing_gap(&self) -> Option<Span> {
        None
    }

    #[inline]
    fn retransmission_timeout(&self) -> Span {
        self.rto.timeout(&self.params)
    }

    fn dup_threshold(&self) -> u32 {
        self.params.dup_threshold
    }

    fn windows(&self) -> Windows {
        Windows { cwnd: self.cwnd, fcwnd: f64::NAN, ecwnd: f64::NAN, srtt: self.rto.srtt }
    }
}
