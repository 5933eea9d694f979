//! What limits an RDMA sender: a window that nothing changes, and the rate that DCQCN leaves it, if it is there.

use super::dcqcn::{DcqcnParams, DcqcnSet};
use super::reaction_point::{DcqcnConfig, ReactionPoint};
use super::receiver::RdmaReceiver;
use crate::parameter::{Conflict, ParameterReader};
use crate::transport::{AckSample, CongestionControl, Data, Notice, Path, Timeout, Windows};
use crate::units::{Span, Time};

/// Who slows an RDMA sender down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Nobody.
    None,
    /// DCQCN.
    Dcqcn,
}

const CONGESTIONS: &[(&str, Congestion)] = &[("none", Congestion::None), ("dcqcn", Congestion::Dcqcn)];

/// Parameters of the congestion control of an RDMA sender.
#[derive(Clone, Debug, PartialEq)]
pub struct CongestionParams {
    /// Who slows the sender down. Nobody.
    pub congestion: Congestion,
    /// DCQCN's parameters: the paper's.
    pub dcqcn: DcqcnParams,
    /// The window shrinks with DCQCN's rate: it is the given one times the rate over the NIC's. No.
    pub scale_window: bool,
}

impl Default for CongestionParams {
    fn default() -> CongestionParams {
        let dcqcn = DcqcnSet::Paper.params();
        CongestionParams { congestion: Congestion::None, dcqcn, scale_window: false }
    }
}

const CONGESTION: &str =
    "Who slows the sender down: nobody, or DCQCN, which needs switches that mark (ecn_min, ecn_max and \
                          ecn_pmax, or ecn_threshold).";
const SCALE_WINDOW: &str = "Whether the window shrinks with DCQCN's rate, as its share of the NIC's.";

impl CongestionParams {
    /// Asks for each parameter.
    pub(super) fn read(r: &mut impl ParameterReader, d: &CongestionParams) -> CongestionParams {
        CongestionParams {
            congestion: r.choice("congestion", CONGESTION, CONGESTIONS, d.congestion),
            scale_window: r.flag("scale_window", SCALE_WINDOW, d.scale_window),
            dcqcn: DcqcnParams::read(r, &d.dcqcn),
        }
    }

    /// Returns what does not go together.
    pub(super) fn conflicts(&self) -> Vec<Conflict> {
        let (scale, congestion) = (("scale_window", true), ("congestion", "none"));
        let alone = self.scale_window && self.congestion == Congestion::None;
        alone
            .then(|| Conflict::between(scale, "has no rate to follow with", congestion))
            .into_iter()
            .collect()
    }

    /// Returns whether packets may be marked.
    pub(super) fn ecn_capable(&self) -> bool {
        self.congestion == Congestion::Dcqcn
    }

    /// Returns whether a parameter of DCQCN is set that nothing reads.
    pub fn is_unread(&self) -> bool {
        self.congestion == Congestion::None && self.dcqcn != DcqcnSet::Paper.params()
    }

    /// A receiver with DCQCN's notification point, if there is DCQCN.
    pub(super) fn notifying(&self, receiver: RdmaReceiver) -> RdmaReceiver {
        match self.congestion {
            Congestion::None => receiver,
            Congestion::Dcqcn => receiver.notifying(self.dcqcn.cnp_interval),
        }
    }

    fn config(&self, path: Path) -> Option<DcqcnConfig> {
        self.ecn_capable().then(|| DcqcnConfig::new(&self.dcqcn, path))
    }
}

/// How long a sender waits for an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Patience {
    /// The first timeout.
    pub(super) rto: Span,
    /// With more packets than this from the lowest unacknowledged one on, it waits longer.
    pub(super) few: u32,
    /// How much longer it then waits.
    pub(super) longer: Span,
}

/// What the flows of one transport and NIC share.
#[derive(Clone, Debug)]
pub struct RdmaShared {
    window: f64,
    scale_window: bool,
    patience: Patience,
    dcqcn: Option<DcqcnConfig>,
}

impl RdmaShared {
    pub(super) fn new(window: u32, patience: Patience, params: &CongestionParams, path: Path) -> RdmaShared {
        RdmaShared {
            window: f64::from(window),
            scale_window: params.scale_window,
            patience,
            dcqcn: params.config(path),
        }
    }
}

/// The control of one RDMA flow.
#[derive(Clone, Debug)]
pub struct RdmaControl {
    /// Made at the first notification.
    reaction: Option<ReactionPoint>,
    /// The retransmission timer ran out while many packets were under way, and waits longer.
    postponed: bool,
}

impl RdmaControl {
    /// DCQCN's rate and what moves it; `None` before the flow's first notification.
    pub fn reaction(&self) -> Option<&ReactionPoint> {
        self.reaction.as_ref()
    }
}

impl CongestionControl for RdmaControl {
    type Shared = RdmaShared;
    type Telemetry = ();

    fn new(_shared: &RdmaShared) -> RdmaControl {
        RdmaControl { reaction: None, postponed: false }
    }

    #[inline]
    fn on_ack(&mut self, _shared: &RdmaShared, _now: Time, sample: &AckSample) {
        self.postponed &= sample.newly_acked == 0;
    }

    /// Neither loss nor a timeout changes the rate: the paper's network is lossless.
    fn on_loss(&mut self, _shared: &RdmaShared, _now: Time, _cumulative: u32, _next: u32) {}

    fn on_timeout(&mut self, _shared: &RdmaShared, _now: Time, _timeout: &Timeout) {
        self.postponed = false;
    }

    #[inline]
    fn on_sent(&mut self, shared: &RdmaShared, _now: Time, data: &Data) {
        if let (Some(reaction), Some(config)) = (&mut self.reaction, &shared.dcqcn) {
            reaction.on_sent(config, data.payload);
        }
    }

    fn on_notice(&mut self, shared: &RdmaShared, now: Time, notice: Notice) {
        if let (Notice::Congestion, Some(config)) = (notice, &shared.dcqcn) {
            let reaction = self.reaction.get_or_insert_with(|| ReactionPoint::new(config, now));
            reaction.on_notification(config, now);
        }
    }

    #[inline]
    fn poll_timer(&self, _shared: &RdmaShared) -> Option<Time> {
        self.reaction.as_ref()?.poll_timer()
    }

    fn handle_timer(&mut self, shared: &RdmaShared, now: Time) {
        if let (Some(reaction), Some(config)) = (&mut self.reaction, &shared.dcqcn) {
            reaction.advance(config, now);
        }
    }

    #[inline]
    fn window(&self, shared: &RdmaShared) -> f64 {
        match (&self.reaction, &shared.dcqcn) {
            (Some(reaction), Some(config)) if shared.scale_window => {
                shared.window * (reaction.rate() / config.line)
            }
            _ => shared.window,
        }
    }

    #[inline]
    fn pacing_gap(&self, _shared: &RdmaShared) -> Option<Span> {
        self.reaction.as_ref().map(ReactionPoint::gap)
    }

    #[inline]
    fn retransmission_timeout(&self, shared: &RdmaShared, _timeouts: u32) -> Span {
        shared.patience.rto
    }

    /// Asks whether packets are few when the shorter time is over, as the paper of IRN has it in hardware.
    fn postpone(&mut self, shared: &RdmaShared, now: Time, timeout: &Timeout) -> Option<Time> {
        let Patience { few, longer, .. } = shared.patience;
        let many = timeout.next - timeout.cumulative > few;
        let waits = many && !self.postponed && longer > Span::ZERO;
        self.postponed |= waits;
        waits.then(|| now + longer)
    }

    fn windows(&self, shared: &RdmaShared) -> Windows {
        let rate = shared
            .dcqcn
            .as_ref()
            .map_or(f64::NAN, |config| self.reaction.as_ref().map_or(config.line, ReactionPoint::rate));
        Windows { rate, ..Windows::new(self.window(shared), Span::ZERO) }
    }
}
