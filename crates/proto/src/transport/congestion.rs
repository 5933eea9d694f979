//! The one question a sender asks a congestion control: how much may be under way, and how closely spaced.

use crate::units::{Span, Time};

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
}
