//! HPCC (Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019), a window and a rate from in-band telemetry.
//!
//! Each switch writes the state of its port into a data packet as that leaves. From two acknowledgements the sender knows
//! how many bytes are in flight on each link of its path, as a share of what the link and a base round trip hold, and sets
//! its window so that the fullest of them comes to the share `eta` (section 3, algorithm 1). Loss changes nothing: the
//! paper's network is lossless, and loss is repaired as RoCE does ([`super::roce`]).

use super::receiver::RdmaReceiver;
use super::roce::{RecoveryKind, RoceParams, RoceRecovery, RECOVERIES, RECOVERY};
use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters};
use crate::transport::{
    common, AckSample, CongestionControl, HopRecords, Path, PortState, Scheme, Timeout, Windows,
};
use crate::units::{Bytes, Span, Time};

/// Parameters of HPCC.
#[derive(Clone, Debug, PartialEq)]
pub struct HpccParams {
    /// Share of a link that flows are to use (η). 0.95 (section 5.1).
    pub eta: f64,
    /// Additive steps in a row before a multiplicative one (maxStage). 5 (section 5.1). The authors said later that their
    /// simulations ran with 0.
    pub max_stage: u32,
    /// Additive increase of the window in each step (`W_AI`). 80 B (section 5.1).
    pub wai: Bytes,
    /// Base round-trip time of the network (T), the same for all flows. The paper has 13 us; none: that of each flow's own
    /// path.
    pub base_rtt: Option<Span>,
    /// How it recovers from loss. Go-back-N.
    pub recovery: RecoveryKind,
    /// Retransmission timeout, which nothing lengthens. RoCE's.
    pub rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets, with selective repeat. RoCE's.
    pub reach: u32,
    /// Packets that must have arrived above a hole before it counts as lost, with selective repeat. RoCE's.
    pub dup_threshold: u32,
}

impl Default for HpccParams {
    fn default() -> HpccParams {
        let RoceParams { recovery, rto, reach, dup_threshold, .. } = RoceParams::default();
        HpccParams {
            eta: 0.95,
            max_stage: 5,
            wai: Bytes::new(80),
            base_rtt: None,
            recovery,
            rto,
            reach,
            dup_threshold,
        }
    }
}

/// The base round trip where nobody knows the path's: the paper's (section 5.1).
const PAPERS_BASE_RTT: Span = Span::from_us(13);

const BASE_RTT: &str = "Base round-trip time of the network, the same for all flows (T).";

impl Parameters for HpccParams {
    fn read(r: &mut impl ParameterReader, d: &HpccParams) -> HpccParams {
        let eta = Parameter::new("eta", "Share of a link that flows are to use (η).", 0.01..=1.0);
        let stages = "Additive steps in a row before a multiplicative one (maxStage).";
        let wai = "Additive increase of the window in each step (W_AI).";
        let wai = Parameter::new("wai", wai, Bytes::new(1)..=Bytes::new(1_000_000));
        let base_rtt = Parameter::new("base_rtt", BASE_RTT, Span::from_ns(1)..=Span::from_secs(1));
        HpccParams {
            eta: r.value(&eta, d.eta),
            max_stage: r.value(&Parameter::new("max_stage", stages, 0..=1000), d.max_stage),
            wai: r.value(&wai, d.wai),
            base_rtt: r.optional(&base_rtt, "that of each flow's path").or(d.base_rtt),
            recovery: r.choice("recovery", RECOVERY, RECOVERIES, d.recovery),
            rto: r.value(&common::rto(), d.rto),
            reach: r.value(&common::reach(), d.reach),
            dup_threshold: r.value(&common::dup_threshold(), d.dup_threshold),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = common::check_reach(self.reach);
        conflicts.extend(self.recovery.check_threshold(self.dup_threshold));
        conflicts
    }
}

impl Scheme for HpccParams {
    type Control = Hpcc;
    type Recovery = RoceRecovery;
    type Receiver = RdmaReceiver;

    /// RoCE's 44, and 42 of telemetry: 2, and 8 for each of five switches (section 4.1). All of it leaves the sender, and
    /// switches fill it in.
    const HEADER: Bytes = Bytes::new(44 + 2 + 5 * 8);

    fn shared(&self, path: Path) -> HpccShared {
        let base_rtt = self.base_rtt.or(path.base_rtt).unwrap_or(PAPERS_BASE_RTT);
        let path = path.with_base_rtt(base_rtt);
        let frame = path.frame.get() as f64;
        HpccShared {
            eta: self.eta,
            max_stage: self.max_stage,
            wai: self.wai.get() as f64 / frame,
            base_rtt: path.base_rtt.unwrap_or(base_rtt),
            initial: path.bdp().map_or(1.0, |bdp| bdp.max(1.0)),
            frame,
            rto: self.rto,
        }
    }

    fn reach(&self) -> u32 {
        self.recovery.reach(self.reach)
    }

    fn tracked_packets(&self) -> u32 {
        self.recovery.tracked_packets(self.reach)
    }

    fn dup_threshold(&self) -> u32 {
        self.dup_threshold
    }

    fn recovery(&self) -> RoceRecovery {
        self.recovery.recovery(self.reach, self.dup_threshold())
    }

    fn receiver(&self) -> RdmaReceiver {
        self.recovery.receiver(self.reach)
    }
}

/// What the flows of one transport on such paths share. Windows are in full packets.
#[derive(Clone, Debug)]
pub struct HpccShared {
    eta: f64,
    max_stage: u32,
    /// `W_AI`.
    wai: f64,
    /// T.
    base_rtt: Span,
    /// `W_init`, what the NIC transmits in T. No window is larger.
    initial: f64,
    /// Bytes of a full packet.
    frame: f64,
    rto: Span,
}

/// HPCC of one flow.
#[derive(Clone, Debug)]
pub struct Hpcc {
    /// W.
    window: f64,
    /// Packets that may be under way: the window rounded up. A packet may leave while less than W is under way, as in a window of
    /// bytes: what is left of W need not hold all of it.
    allowed: f64,
    /// The reference window, which changes once a round trip (`W_c`).
    reference: f64,
    /// Bytes in flight on the fullest link as a share of what it holds, smoothed over a round trip (U).
    utilization: f64,
    /// Additive steps since the last multiplicative one (incStage).
    stage: u32,
    /// The reference window changes when the packets before this one are acknowledged, and one more (lastUpdateSeq).
    last_update: u32,
    /// Time from packet to packet at the rate W/T; zero at the NIC's own rate, where packets need no spacing.
    gap: Span,
    /// What the last acknowledgement gave back (L); none before the first.
    last: Option<Box<HopRecords>>,
}

impl Hpcc {
    /// U: bytes in flight on the fullest link as a share of what it holds.
    pub fn utilization(&self) -> f64 {
        self.utilization
    }

    /// The reference window (`W_c`), in packets.
    pub fn reference(&self) -> f64 {
        self.reference
    }

    /// Additive steps since the last multiplicative one (incStage).
    pub fn stage(&self) -> u32 {
        self.stage
    }

    /// `ComputeWind` of algorithm 1.
    fn compute_window(&mut self, shared: &HpccShared, update_reference: bool) {
        let (window, stage) = if self.utilization >= shared.eta || self.stage >= shared.max_stage {
            (self.reference / (self.utilization / shared.eta) + shared.wai, 0)
        } else {
            (self.reference + shared.wai, self.stage + 1)
        };
        self.window = window.min(shared.initial);
        self.allowed = self.window.ceil();
        let spaced = self.window < shared.initial;
        self.gap = if spaced { shared.base_rtt.scaled(1.0 / self.window) } else { Span::ZERO };
        if update_reference {
            (self.reference, self.stage) = (self.window, stage);
        }
    }
}

/// The loop of `MeasureInflight` of algorithm 1: the share of the fullest link, and the time over which it was
/// measured. None if any link's record is no later than the one before: packets have overtaken each other.
fn fullest_link(base_rtt: Span, before: &[PortState], now: &[PortState]) -> Option<(f64, Span)> {
    let (mut fullest, mut measured) = (0.0, Span::ZERO);
    for (old, new) in before.iter().zip(now) {
        let span = new.time.since(old.time);
        if span == Span::ZERO {
            return None;
        }
        // Bytes that the link carries in the time that was measured, and in a base round trip.
        let carries = |span: Span| new.rate.as_bps() as f64 * span.as_secs_f64() / 8.0;
        let queued = new.queued.min(old.queued).get() as f64;
        let sent = new.sent.get().saturating_sub(old.sent.get()) as f64;
        let share = queued / carries(base_rtt) + sent / carries(span);
        if share > fullest {
            (fullest, measured) = (share, span);
        }
    }
    Some((fullest, measured))
}

impl CongestionControl for Hpcc {
    type Shared = HpccShared;
    type Telemetry = HopRecords;

    fn new(shared: &HpccShared) -> Hpcc {
        Hpcc {
            window: shared.initial,
            allowed: shared.initial.ceil(),
            reference: shared.initial,
            utilization: 1.0,
            stage: 0,
            last_update: 0,
            gap: Span::ZERO,
            last: None,
        }
    }

    /// `NewAck` of algorithm 1. Of a path whose state is not known yet the first acknowledgement only says it.
    fn on_telemetry(
        &mut self,
        shared: &HpccShared,
        _now: Time,
        telemetry: &HopRecords,
        cumulative: u32,
        next: u32,
    ) {
        let Some(last) = &mut self.last else {
            self.last = Some(Box::new(*telemetry));
            self.last_update = next;
            return;
        };
        if !last.is_same_path(telemetry) {
            **last = *telemetry;
            return;
        }
        let Some((fullest, measured)) = fullest_link(shared.base_rtt, last.ports(), telemetry.ports()) else {
            return;
        };
        **last = *telemetry;
        let weight = measured.min(shared.base_rtt).as_ps_f64() / shared.base_rtt.as_ps_f64();
        self.utilization = (1.0 - weight) * self.utilization + weight * fullest;
        let update_reference = cumulative > self.last_update;
        self.compute_window(shared, update_reference);
        if update_reference {
            self.last_update = next;
        }
    }

    /// All that counts is in the telemetry.
    fn on_ack(&mut self, _shared: &HpccShared, _now: Time, _sample: &AckSample) {}

    fn on_loss(&mut self, _shared: &HpccShared, _now: Time, _cumulative: u32, _next: u32) {}

    fn on_timeout(&mut self, _shared: &HpccShared, _now: Time, _timeout: &Timeout) {}

    fn window(&self, _shared: &HpccShared) -> f64 {
        self.allowed
    }

    fn pacing_gap(&self, _shared: &HpccShared) -> Option<Span> {
        Some(self.gap)
    }

    fn retransmission_timeout(&self, shared: &HpccShared, _timeouts: u32) -> Span {
        shared.rto
    }

    fn windows(&self, shared: &HpccShared) -> Windows {
        Windows {
            cwnd: self.window,
            fcwnd: f64::NAN,
            ecwnd: f64::NAN,
            srtt: Span::ZERO,
            rate: self.window * shared.frame * 8.0 / shared.base_rtt.as_secs_f64(),
        }
    }
}
