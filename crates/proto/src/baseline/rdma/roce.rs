//! RoCE, version 2, as network adapters send it: at the rate of the NIC, with no window or a given one, and after a loss from
//! the lost packet on again (go-back-N) or only what is lost (selective repeat). The timer is InfiniBand's, which nothing
//! lengthens.
//!
//! With go-back-N the receiver is an [`InOrderReceiver`], whose NACK speaks once of a gap; with selective repeat it is a
//! [`SelectiveReceiver`].

use super::control::{CongestionParams, Patience, RdmaControl, RdmaShared};
use super::receiver::RdmaReceiver;
use crate::parameter::{Conflict, ParameterReader, Parameters};
use crate::transport::{
    common, Ack, AckPolicy, Change, GoBackN, InOrderReceiver, Path, Recovery, Scheme, SelectiveReceiver,
    SelectiveRepeat,
};
use crate::units::{Bytes, Span, Time};

/// How a RoCE sender recovers from loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryKind {
    /// Everything from the lost packet on is sent again.
    GoBackN,
    /// Only the packets that were lost are sent again.
    SelectiveRepeat,
}

pub(super) const RECOVERIES: &[(&str, RecoveryKind)] =
    &[("go_back_n", RecoveryKind::GoBackN), ("selective_repeat", RecoveryKind::SelectiveRepeat)];

impl RecoveryKind {
    /// How far ahead of the lowest unacknowledged packet a sender may be; `reach` with selective repeat.
    pub(super) fn reach(self, reach: u32) -> u32 {
        match self {
            RecoveryKind::GoBackN => MOST_AHEAD,
            RecoveryKind::SelectiveRepeat => reach,
        }
    }

    /// See [`Scheme::noted`].
    pub(super) fn tracked_packets(self, reach: u32) -> u32 {
        match self {
            RecoveryKind::GoBackN => 0,
            RecoveryKind::SelectiveRepeat => reach,
        }
    }

    /// The conflict of a threshold that nothing reads.
    pub(super) fn check_threshold(self, dup_threshold: u32) -> Option<Conflict> {
        let unread = self == RecoveryKind::GoBackN && dup_threshold != 1;
        let (threshold, recovery) = (("dup_threshold", dup_threshold), ("recovery", "go_back_n"));
        unread.then(|| Conflict::between(threshold, "needs selective_repeat in place of", recovery))
    }

    /// The conflict of a window that reaches further than what is noted of packets.
    pub(super) fn check_window(self, window: Option<u32>, reach: u32) -> Option<Conflict> {
        let is_selective = self == RecoveryKind::SelectiveRepeat;
        let window = window.filter(|window| is_selective && *window > reach)?;
        Some(Conflict::between(("window", window), "is above", ("reach", reach)))
    }

    /// The recovery of a sender whose packets are all under way.
    pub(super) fn recovery(self, reach: u32, dup_threshold: u32) -> RoceRecovery {
        match self {
            RecoveryKind::GoBackN => RoceRecovery::GoBackN(GoBackN::default()),
            RecoveryKind::SelectiveRepeat => {
                RoceRecovery::SelectiveRepeat(SelectiveRepeat::new(reach, dup_threshold))
            }
        }
    }

    /// A receiver that answers as this recovery wants.
    pub(super) fn receiver(self, reach: u32) -> RdmaReceiver {
        match self {
            RecoveryKind::GoBackN => RdmaReceiver::from(InOrderReceiver::new()),
            RecoveryKind::SelectiveRepeat => {
                RdmaReceiver::from(SelectiveReceiver::new(AckPolicy::EveryPacket, reach))
            }
        }
    }
}

/// How far a sender may be ahead with go-back-N: half of InfiniBand's packet sequence numbers, which have 24 bits.
const MOST_AHEAD: u32 = 1 << 23;

/// Parameters of RoCE.
#[derive(Clone, Debug, PartialEq)]
pub struct RoceParams {
    /// How it recovers from loss. Go-back-N, as all adapters can.
    pub recovery: RecoveryKind,
    /// Packets under way at most; none: no limit.
    pub window: Option<u32>,
    /// Retransmission timeout, which nothing lengthens. 67.108864 ms: 4.096 us times 2 to the 14th, a common setting of
    /// InfiniBand's local ACK timeout.
    pub rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets, with selective repeat. A power of two;
    /// 65536.
    pub reach: u32,
    /// Packets that must have arrived above a hole before it counts as lost, with selective repeat. 1, as a flow keeps to one path;
    /// more where its packets take several.
    pub dup_threshold: u32,
    /// The congestion control.
    pub congestion: CongestionParams,
}

impl Default for RoceParams {
    fn default() -> RoceParams {
        RoceParams {
            recovery: RecoveryKind::GoBackN,
            window: None,
            rto: Span::from_ns(4096 << 14),
            reach: 65_536,
            dup_threshold: 1,
            congestion: CongestionParams::default(),
        }
    }
}

pub(super) const RECOVERY: &str =
    "What is sent again after a loss: everything from there on, or only what is lost.";

impl Parameters for RoceParams {
    fn read(r: &mut impl ParameterReader, d: &RoceParams) -> RoceParams {
        RoceParams {
            recovery: r.choice("recovery", RECOVERY, RECOVERIES, d.recovery),
            window: r.optional(&common::fixed_window(), "no limit").or(d.window),
            rto: r.value(&common::rto(), d.rto),
            reach: r.value(&common::reach(), d.reach),
            dup_threshold: r.value(&common::dup_threshold(), d.dup_threshold),
            congestion: CongestionParams::read(r, &d.congestion),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = common::check_reach(self.reach);
        conflicts.extend(self.recovery.check_window(self.window, self.reach));
        conflicts.extend(self.recovery.check_threshold(self.dup_threshold));
        if self.congestion.scale_window && self.window.is_none() {
            conflicts.push(Conflict::alone("scale_window", &true, "needs a window"));
        }
        conflicts.extend(self.congestion.conflicts());
        conflicts
    }
}

impl Scheme for RoceParams {
    type Control = RdmaControl;
    type Recovery = RoceRecovery;
    type Receiver = RdmaReceiver;

    /// IPv4 20, UDP 8, base transport header 12, checksum 4.
    const HEADER: Bytes = Bytes::new(44);

    fn ecn_capable(&self) -> bool {
        self.congestion.ecn_capable()
    }

    fn shared(&self, path: Path) -> RdmaShared {
        let patience = Patience { rto: self.rto, few: 0, longer: Span::ZERO };
        RdmaShared::new(self.window.unwrap_or(self.reach()), patience, &self.congestion, path)
    }

    fn reach(&self) -> u32 {
        self.recovery.reach(self.reach)
    }

    fn tracked_packets(&self) -> u32 {
        self.recovery.tracked_packets(self.reach)
    }

    fn max_window(&self) -> f64 {
        f64::from(self.window.unwrap_or(self.reach()))
    }

    fn dup_threshold(&self) -> u32 {
        self.dup_threshold
    }

    fn recovery(&self) -> RoceRecovery {
        self.recovery.recovery(self.reach, self.dup_threshold)
    }

    fn receiver(&self) -> RdmaReceiver {
        self.congestion.notifying(self.recovery.receiver(self.reach))
    }
}

/// The recovery of a RoCE sender: one of the two.
#[derive(Clone, Debug)]
pub enum RoceRecovery {
    /// See [`GoBackN`].
    GoBackN(GoBackN),
    /// See [`SelectiveRepeat`].
    SelectiveRepeat(SelectiveRepeat),
}

/// Asks the recovery that there is.
macro_rules! either {
    ($one:expr, $recovery:ident => $call:expr) => {
        match $one {
            RoceRecovery::GoBackN($recovery) => $call,
            RoceRecovery::SelectiveRepeat($recovery) => $call,
        }
    };
}

impl Recovery for RoceRecovery {
    fn handle_ack(&mut self, una: u32, next: u32, ack: &Ack) -> Change {
        either!(self, recovery => recovery.handle_ack(una, next, ack))
    }

    /// Network adapters do not ask first: everything that is not acknowledged is sent again.
    fn give_up(&mut self, now: Time, una: u32, next: u32) {
        match self {
            RoceRecovery::GoBackN(recovery) => recovery.give_up(now, una, next),
            RoceRecovery::SelectiveRepeat(recovery) => recovery.give_up_all(una, next),
        }
    }

    fn take_lost(&mut self, una: u32, next: u32) -> Option<u32> {
        either!(self, recovery => recovery.take_lost(una, next))
    }

    fn lost(&self, next: u32) -> u32 {
        either!(self, recovery => recovery.lost(next))
    }

    fn under_way(&self, una: u32, next: u32) -> u32 {
        either!(self, recovery => recovery.under_way(una, next))
    }

    fn is_over(&self) -> bool {
        either!(self, recovery => recovery.is_over())
    }
}
