//! What the baselines take from TCP: slow start, congestion avoidance and recovery (RFC 5681, 6675), the retransmission
//! timer (RFC 6298), and delayed acknowledgements (RFC 1122, 5681).
//!
//! Counted in packets, of which a window may hold fractions. What an acknowledgement counts for is the packets that it
//! tells of for the first time, selectively or not: byte counting (RFC 3465), without that RFC's limit L, as Linux.

use std::fmt::Debug;

use crate::parameter::{Conflict, Parameter, ParameterReader};
use crate::transport::common;
use crate::transport::{
    AckPolicy, AckSample, CongestionControl, Path, Scheme, SelectiveReceiver, SelectiveRepeat, Timeout,
};
use crate::units::{Bytes, Span};

/// Longest that backing off makes the retransmission timeout: the least that RFC 6298 (2.5) allows as a limit.
const MAX_RTO: Span = Span::from_secs(60);

/// Least slow start threshold after a loss, in packets (RFC 5681, eq. 4).
pub(super) const LEAST_SSTHRESH: f64 = 2.0;

/// What all of them let be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpParams {
    /// Window in packets of a new flow. 10 (RFC 6928).
    pub initial_cwnd: f64,
    /// Smallest window in packets, and the one after a timeout. 1 (RFC 5681 §3.1); Linux's DCTCP has 2.
    pub min_cwnd: f64,
    /// Largest window in packets. 1024.
    pub max_cwnd: f64,
    /// Packets for one delayed acknowledgement. 1; RFC 5681 §4.2 asks for 2.
    pub ack_every: u32,
    /// Longest that a delayed acknowledgement waits. 1 ms (RFC 1122: at most 500 ms; Linux: 40 ms).
    pub ack_delay: Span,
    /// Packets received above a hole before it counts as lost. 3 (RFC 6675).
    pub dup_threshold: u32,
    /// Least retransmission timeout. 10 ms, as of every baseline here (RFC 6298: 1 s; Linux: 200 ms;
    /// RFC 8257 §5 advises the data center's scale).
    pub min_rto: Span,
    /// Retransmission timeout before the first round-trip sample. 10 ms (RFC 6298: 1 s).
    pub initial_rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two; 2048.
    pub reach: u32,
}

impl Default for TcpParams {
    fn default() -> TcpParams {
        TcpParams {
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

/// What a delayed acknowledgement counts, where a mark changes nothing about it.
pub(super) const PACKETS_AN_ACK: &str = "Packets for one delayed acknowledgement.";

impl TcpParams {
    /// Asks for each parameter; `ack_every` says what that counts.
    pub(super) fn read(r: &mut impl ParameterReader, d: &TcpParams, ack_every: &'static str) -> TcpParams {
        let ack_every = Parameter::new("ack_every", ack_every, 1..=1000);
        let longest = "Longest that a delayed acknowledgement waits.";
        let ack_delay = Parameter::new("ack_delay", longest, Span::from_ns(1)..=Span::from_secs(10));
        TcpParams {
            initial_cwnd: r.value(&common::initial_cwnd(), d.initial_cwnd),
            min_cwnd: r.value(&common::min_cwnd(), d.min_cwnd),
            max_cwnd: r.value(&common::max_cwnd(), d.max_cwnd),
            ack_every: r.value(&ack_every, d.ack_every),
            ack_delay: r.value(&ack_delay, d.ack_delay),
            dup_threshold: r.value(&common::dup_threshold(), d.dup_threshold),
            min_rto: r.value(&common::min_rto(), d.min_rto),
            initial_rto: r.value(&common::initial_rto(), d.initial_rto),
            reach: r.value(&common::reach(), d.reach),
        }
    }

    /// Returns what does not go together.
    pub(super) fn conflicts(&self) -> Vec<Conflict> {
        common::check_windows([self.min_cwnd, self.initial_cwnd, self.max_cwnd], self.reach)
    }
}

/// A scheme that is TCP but for what moves its window.
pub trait TcpScheme: Clone + Debug {
    /// The congestion control of one flow.
    type Control: CongestionControl<Shared = Self>;

    /// See [`Scheme::ecn_capable`].
    const ECN_CAPABLE: bool = false;
    /// Whether a packet with a mark is acknowledged without delay.
    const MARKED_AT_ONCE: bool = false;

    /// What every TCP has.
    fn tcp(&self) -> &TcpParams;
}

impl<P: TcpScheme> Scheme for P {
    type Control = P::Control;
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;

    /// IPv4 20, TCP 20, timestamps 12.
    const HEADER: Bytes = Bytes::new(52);

    fn ecn_capable(&self) -> bool {
        P::ECN_CAPABLE
    }

    fn shared(&self, _path: Path) -> P {
        self.clone()
    }

    fn reach(&self) -> u32 {
        self.tcp().reach
    }

    fn max_window(&self) -> f64 {
        self.tcp().max_cwnd
    }

    fn dup_threshold(&self) -> u32 {
        self.tcp().dup_threshold
    }

    fn recovery(&self) -> SelectiveRepeat {
        SelectiveRepeat::new(self.reach(), self.dup_threshold())
    }

    /// It acknowledges every packet at once, or every `ack_every` packets and at the latest after `ack_delay`.
    fn receiver(&self) -> SelectiveReceiver {
        SelectiveReceiver::new(ack_policy(self.tcp(), P::MARKED_AT_ONCE), self.reach())
    }
}

fn ack_policy(params: &TcpParams, marked_at_once: bool) -> AckPolicy {
    if params.ack_every > 1 {
        AckPolicy::Delayed {
            every: params.ack_every,
            delay: params.ack_delay,
            marked_at_once,
            any_order: false,
        }
    } else {
        AckPolicy::EveryPacket
    }
}

/// The window of one flow and what moves it in every TCP.
#[derive(Clone, Copy, Debug)]
pub(super) struct TcpWindow {
    /// The congestion window in packets.
    pub(super) cwnd: f64,
    /// Slow start ends here, in packets.
    pub(super) ssthresh: f64,
    /// A loss of a packet before this one was answered already.
    recovery_end: u32,
    /// Fast recovery: the window stands still until `recovery_end` is acknowledged.
    pub(super) recovering: bool,
    /// The next packet when the window was last seen full; 0 before.
    full_until: u32,
    pub(super) rto: RetransmissionTimeout,
}

impl TcpWindow {
    /// The window of a new flow: slow start, without a threshold.
    pub(super) fn new(initial_cwnd: f64, max_cwnd: f64) -> TcpWindow {
        TcpWindow {
            cwnd: initial_cwnd,
            ssthresh: max_cwnd,
            recovery_end: 0,
            recovering: false,
            full_until: 0,
            rto: RetransmissionTimeout::default(),
        }
    }

    /// An acknowledgement arrived. To be called before anything else of it.
    #[inline]
    pub(super) fn on_ack(&mut self, sample: &AckSample) {
        self.rto.sample(sample.rtt);
        if sample.newly_acked > 0 {
            self.rto.backoff = 0;
        }
        self.recovering &= sample.cumulative < self.recovery_end;
    }

    /// Returns whether the window, and not the application or the NIC, has kept the sender back within this window of data:
    /// else an acknowledgement proves nothing of a larger one (RFC 7661 §4.3, RFC 9438 §5.8). Not only now, as a host
    /// may process several acknowledgements before its next packet leaves.
    #[inline]
    pub(super) fn is_limiting(&mut self, sample: &AckSample) -> bool {
        let before = sample.next - sample.cumulative + sample.newly_acked;
        if f64::from(before) + 1.0 > self.cwnd {
            self.full_until = sample.next;
        }
        sample.cumulative <= self.full_until
    }

    /// Slow start for `acked` packets, up to the threshold; returns how many are left for congestion avoidance.
    #[inline]
    pub(super) fn slow_start(&mut self, acked: f64, max_cwnd: f64) -> f64 {
        let grown = (self.ssthresh - self.cwnd).clamp(0.0, acked);
        self.cwnd = (self.cwnd + grown).min(max_cwnd);
        acked - grown
    }

    /// Slow start up to the threshold, then `ai` packets a round trip (RFC 5681 §3.1). That is for windows of a packet
    /// and more; smaller ones, of which TCP knows nothing, have a packet in each round trip too.
    #[inline]
    pub(super) fn grow(&mut self, newly_acked: u32, ai: f64, max_cwnd: f64) {
        let acked = self.slow_start(f64::from(newly_acked), max_cwnd);
        self.cwnd = (self.cwnd + ai * acked / self.cwnd.max(1.0)).min(max_cwnd);
    }

    /// Returns whether this is the first loss in its window of data.
    pub(super) fn is_new_loss(&self, cumulative: u32) -> bool {
        cumulative >= self.recovery_end
    }

    /// The number of packets that a loss shows to have been too many: those from the lowest unacknowledged one on,
    /// selectively acknowledged ones too (RFC 5681's `FlightSize`), but no more than the window allowed. More are out when those
    /// above a hole have arrived and let new ones go; RFC 5681 §3.2, step 2, leaves these out. Counted in, they would set the
    /// threshold after a timeout above the window that overflowed the path.
    pub(super) fn flight_size(&self, cumulative: u32, next: u32) -> f64 {
        f64::from(next - cumulative).min(self.cwnd)
    }

    /// Fast recovery begins with `ssthresh` packets (RFC 5681 §3.2, RFC 6675 §5).
    pub(super) fn recover(&mut self, ssthresh: f64, min_cwnd: f64, next: u32) {
        self.ssthresh = ssthresh.max(LEAST_SSTHRESH);
        self.cwnd = self.cwnd.min(self.ssthresh.max(min_cwnd));
        (self.recovery_end, self.recovering) = (next, true);
    }

    /// Slow start from `min_cwnd` to `ssthresh` (RFC 5681 §3.1, RFC 6298 §5.5). The threshold is set once for timeouts
    /// in a row: a second one finds only the single packet of the first under way.
    pub(super) fn on_timeout(&mut self, ssthresh: f64, min_cwnd: f64, timeout: &Timeout) {
        if self.rto.backoff == 0 {
            self.ssthresh = ssthresh.max(LEAST_SSTHRESH);
        }
        self.cwnd = min_cwnd;
        self.rto.backoff = self.rto.backoff.saturating_add(1);
        (self.recovery_end, self.recovering) = (timeout.next, false);
    }
}

/// RFC 6298. Packets carry the time of their sending, so a retransmission gives a sample like any other, and Karn's
/// rule (take none of a retransmission) is not needed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RetransmissionTimeout {
    /// Zero before the first sample.
    pub(super) srtt: Span,
    rttvar: Span,
    /// Timeouts since the last new acknowledgement.
    backoff: u8,
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

    #[inline]
    pub(super) fn timeout(&self, min_rto: Span, initial_rto: Span) -> Span {
        let once =
            if self.srtt == Span::ZERO { initial_rto } else { (self.srtt + self.rttvar * 4).max(min_rto) };
        // Never below `once`: a limit on backing off must not shorten a timeout that was set longer.
        (once * (1 << self.backoff.min(32))).min(MAX_RTO).max(once)
    }
}
