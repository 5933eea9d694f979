//! The one question a sender asks a congestion control: how much may be under way, and how closely spaced. And what
//! a scheme says of itself beside that.

use std::fmt::Debug;
use std::sync::Arc;

use super::{AckPolicy, Common, Sender};
use crate::units::{Bytes, Span, Time};

/// What one acknowledgement tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSample {
    /// From the packet's sending to its acknowledgement's processing, t6 - t1 (Swift §3.2).
    pub rtt: Span,
    /// The part of `rtt` spent in hosts: remote queuing (t4 - t2) and local receive queue (t6 - t5).
    pub endpoint_delay: Span,
    /// Switches on the forward path.
    pub hops: u8,
    /// Packets acknowledged for the first time.
    pub newly_acked: u32,
    /// The packet had been marked.
    pub congestion_experienced: bool,
    /// Every packet before this one is acknowledged.
    pub cumulative: u32,
    /// The next packet never sent before.
    pub next: u32,
}

/// What the retransmission timer found when it ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// Timeouts since the last acknowledgement, with this one.
    pub in_a_row: u32,
    /// Every packet before this one is acknowledged.
    pub cumulative: u32,
    /// The next packet never sent before.
    pub next: u32,
}

impl Timeout {
    /// Packets from the lowest unacknowledged one on, selectively acknowledged ones too.
    pub fn outstanding(&self) -> f64 {
        f64::from(self.next - self.cumulative)
    }
}

/// A congestion control, as far as it differs from flow to flow. Windows are in packets and may be fractions of one.
///
/// What is the same for all flows of a transport is handed to every call, so that a flow's own state stays small: a
/// simulator holds one for each flow, and takes another one up with every packet.
pub trait CongestionControl: Clone {
    /// What the flows of one transport share: the parameters, and what follows from them.
    type Shared: Clone + Debug;

    /// The state of a new flow.
    fn new(shared: &Self::Shared) -> Self;

    /// An acknowledgement arrived.
    fn on_ack(&mut self, shared: &Self::Shared, now: Time, sample: &AckSample);

    /// An acknowledgement showed packets to be lost. `cumulative` and `next` bound what is under way.
    fn on_loss(&mut self, shared: &Self::Shared, now: Time, cumulative: u32, next: u32);

    /// The retransmission timer ran out.
    fn on_timeout(&mut self, shared: &Self::Shared, now: Time, timeout: &Timeout);

    /// Packets that may be under way. Below one, a single packet may be, spaced by [`Self::pacing_gap`].
    fn window(&self, shared: &Self::Shared) -> f64;

    /// Least time between the starts of two packets; none where acknowledgements are the clock.
    fn pacing_gap(&self, shared: &Self::Shared) -> Option<Span>;

    /// How long to wait for an acknowledgement before everything under way counts as lost, when the timer has run out
    /// `timeouts` times since the last acknowledgement.
    fn retransmission_timeout(&self, shared: &Self::Shared, timeouts: u32) -> Span;

    /// What there is to look at; beside the window, nothing.
    fn windows(&self, shared: &Self::Shared) -> Windows {
        Windows { cwnd: self.window(shared), fcwnd: f64::NAN, ecwnd: f64::NAN, srtt: Span::ZERO }
    }
}

/// What a congestion control lets be seen. Windows are in packets; NaN where the scheme has none of that name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// The one that rules.
    pub cwnd: f64,
    /// Swift's fabric window.
    pub fcwnd: f64,
    /// Swift's endpoint window.
    pub ecwnd: f64,
    /// Smoothed round-trip time; zero before the first sample, and where none is kept.
    pub srtt: Span,
}

/// A scheme, by its parameters: its congestion control, and what the two ends of a flow have to know beside it.
pub trait Scheme {
    /// The congestion control of one flow.
    type Control: CongestionControl;

    /// What a data frame carries beside payload and framing, unless a scenario says otherwise.
    const HEADER: Bytes;

    /// Data may be marked where it would be dropped early (ECN).
    const ECN_CAPABLE: bool = false;

    /// What flows share whose full packet, with everything that takes time on the wire, weighs `frame`.
    fn shared(&self, frame: Bytes) -> <Self::Control as CongestionControl>::Shared;

    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two from 64 on.
    fn reach(&self) -> u32;

    /// The largest that the window can be, in packets.
    fn max_window(&self) -> f64 {
        f64::from(self.reach())
    }

    /// Packets that must have arrived above a hole before it counts as lost. One where a flow keeps to one path.
    fn dup_threshold(&self) -> u32 {
        1
    }

    /// How the receiving side acknowledges.
    fn ack_policy(&self) -> AckPolicy {
        AckPolicy::EveryPacket
    }

    /// A sender with nothing to send yet, of packets with up to `mtu` bytes of payload and of frames as for
    /// [`Self::shared`]. Flows of one transport are clones of one sender: they share what [`Self::shared`] gives.
    fn sender(&self, mtu: u32, frame: Bytes) -> Sender<Self::Control> {
        let (reach, dup_threshold) = (self.reach(), self.dup_threshold());
        Sender::new(Arc::new(Common { mtu, reach, dup_threshold, control: self.shared(frame) }))
    }
}
