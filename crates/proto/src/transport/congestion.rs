//! The one question a sender asks a congestion control: how much may be under way, and how closely spaced. And what
//! a scheme says of itself beside that.

use super::AckPolicy;
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

/// A congestion control. Windows are in packets and may be fractions of one.
pub trait CongestionControl {
    /// An acknowledgement arrived.
    fn on_ack(&mut self, now: Time, sample: &AckSample);

    /// An acknowledgement showed packets to be lost. `cumulative` and `next` bound what is under way.
    fn on_loss(&mut self, now: Time, cumulative: u32, next: u32);

    /// The retransmission timer ran out.
    fn on_timeout(&mut self, now: Time, next: u32);

    /// Packets that may be under way. Below one, a single packet may be, spaced by [`Self::pacing_gap`].
    fn window(&self) -> f64;

    /// Least time between the starts of two packets; none where acknowledgements are the clock.
    fn pacing_gap(&self) -> Option<Span>;

    /// How long to wait for an acknowledgement before everything under way counts as lost.
    fn retransmission_timeout(&self) -> Span;

    /// Packets that must have arrived above a hole before it counts as lost.
    fn dup_threshold(&self) -> u32;

    /// What there is to look at; beside the window, nothing.
    fn windows(&self) -> Windows {
        Windows { cwnd: self.window(), fcwnd: f64::NAN, ecwnd: f64::NAN, srtt: Span::ZERO }
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
    /// The congestion control of one flow. A clone of a new one serves another flow: share what is large.
    type Control: CongestionControl + Clone;

    /// What a data frame carries beside payload and framing, unless a scenario says otherwise.
    const HEADER: Bytes;

    /// Data may be marked where it would be dropped early (ECN).
    const ECN_CAPABLE: bool = false;

    /// For a new flow whose full packet, with everything that takes time on the wire, weighs `frame`.
    fn control(&self, frame: Bytes) -> Self::Control;

    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two from 64 on.
    fn reach(&self) -> u32;

    /// The largest that the window can be, in packets.
    fn max_window(&self) -> f64 {
        f64::from(self.reach())
    }

    /// How the receiving side acknowledges.
    fn ack_policy(&self) -> AckPolicy {
        AckPolicy::EveryPacket
    }
}
