//! The one question a sender asks a congestion control: how much may be under way, and how closely spaced. And what
//! a scheme says of itself beside that.

use std::fmt::Debug;

use super::{Ask, Data, Telemetry};
use crate::units::{Span, Time};

/// What one acknowledgement tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSample {
    /// The time from the packet's sending to its acknowledgement's processing, t6 - t1 (Swift §3.2).
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

/// The news of a packet of which only the header has arrived, as a switch has cut its payload off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrimSample {
    /// The time from the packet's sending to the processing of what its receiver says of it.
    pub rtt: Span,
    /// The part of `rtt` spent in hosts.
    pub endpoint_delay: Span,
    /// The switch that cut it was the last on its way.
    pub last_hop: bool,
    /// Every packet before this one is acknowledged.
    pub cumulative: u32,
    /// The next packet never sent before.
    pub next: u32,
}

/// What a congestion control is told beside what an acknowledgement says to all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The receiver misses a packet and asks for everything from there on again (a NACK of go-back-N).
    Nack {
        /// The packet that it misses: every one before it is acknowledged.
        cumulative: u32,
        /// The next packet never sent before.
        next: u32,
    },
    /// The receiver, or the network, says that the flow's packets meet congestion (a congestion notification packet).
    Congestion,
    /// The receiver has granted this much credit since the flow began, in the quanta of [`PullTerms`](super::PullTerms).
    Pull(u64),
    /// From now on the flow's packets have timeslots of their own (Fastpass).
    Scheduled,
    /// From now on the flow's packets have no timeslots, as no arbiter answers.
    Unscheduled,
}

/// What a sender has to send, and has under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets never sent, whether or not they may be yet.
    pub fresh: u64,
    /// Their payload, in bytes.
    pub payload: u64,
    /// Packets that wait to be sent again.
    pub lost: u32,
    /// Packets under way.
    pub under_way: u32,
}

/// A congestion control, as far as it differs from flow to flow. Windows are in packets and may be fractions of one.
///
/// State that all flows of a transport share is handed to every call, so that a flow's own state stays small: a
/// simulator holds one for each flow, and takes another one up with every packet.
///
/// Most have no use for `on_telemetry`, `on_sent`, `on_notice` and a timer. These do nothing unless they are defined, and then cost
/// nothing.
pub trait CongestionControl: Clone {
    /// What the flows of one transport share: the parameters, and what follows from them.
    type Shared: Clone + Debug;

    /// What switches write into each data packet for this control; `()` where they write nothing.
    type Telemetry: Telemetry;

    /// The state of a new flow.
    fn new(shared: &Self::Shared) -> Self;

    /// An acknowledgement arrived.
    fn on_ack(&mut self, shared: &Self::Shared, now: Time, sample: &AckSample);

    /// An acknowledgement gives back what switches have written into its packet. Comes before [`Self::on_ack`] of the same
    /// acknowledgement, which acknowledges every packet before `cumulative`; `next` is the next packet never sent before.
    fn on_telemetry(
        &mut self,
        _shared: &Self::Shared,
        _now: Time,
        _telemetry: &Self::Telemetry,
        _cumulative: u32,
        _next: u32,
    ) {
    }

    /// An acknowledgement showed packets to be lost. `cumulative` and `next` bound what is under way.
    fn on_loss(&mut self, shared: &Self::Shared, now: Time, cumulative: u32, next: u32);

    /// Takes the news that only the header of a packet under way has arrived. Unless a control does otherwise, that is a loss.
    fn on_trim(&mut self, shared: &Self::Shared, now: Time, sample: &TrimSample) {
        self.on_loss(shared, now, sample.cumulative, sample.next);
    }

    /// The retransmission timer ran out.
    fn on_timeout(&mut self, shared: &Self::Shared, now: Time, timeout: &Timeout);

    /// A packet leaves, for the first time or again.
    fn on_sent(&mut self, _shared: &Self::Shared, _now: Time, _data: &Data) {}

    /// Something was said that is no acknowledgement. A NACK comes after [`Self::on_ack`] of what it acknowledges, and
    /// before [`Self::on_loss`].
    fn on_notice(&mut self, _shared: &Self::Shared, _now: Time, _notice: Notice) {}

    /// Returns when [`Self::handle_timer`] is wanted; `None` while the control waits for no time of its own. Asked anew after
    /// every call, as all that a driver asks.
    fn poll_timer(&self, _shared: &Self::Shared) -> Option<Time> {
        None
    }

    /// The time of [`Self::poll_timer`] has come. Afterwards that is later than `now`, or none.
    fn handle_timer(&mut self, _shared: &Self::Shared, _now: Time) {}

    /// Packets that may be under way. Below one, a single packet may be, spaced by [`Self::pacing_gap`].
    fn window(&self, shared: &Self::Shared) -> f64;

    /// Returns whether there is leave for a packet beside the window's, such as credit that the receiver has granted.
    #[inline]
    fn may_send(&self, _shared: &Self::Shared) -> bool {
        true
    }

    /// Returns whether a lost packet may be sent again on that leave. Where it may not, new packets go ahead of it.
    #[inline]
    fn may_send_again(&self, _shared: &Self::Shared) -> bool {
        true
    }

    /// The application has more to send after all that it had offered before was sent once.
    #[inline]
    fn on_more(&mut self, _shared: &Self::Shared) {}

    /// What a packet that has just left asks the receiver for, when the sender has this to send beside it and `senders` flows of
    /// its host, itself among them, are ready to send. Panics where no receiver
    /// [grants credit](crate::transport::Scheme::pull_terms).
    fn ask(&self, _shared: &Self::Shared, _backlog: &Backlog, _senders: u32) -> Ask {
        unreachable!("no receiver of this scheme grants credit")
    }

    /// Least time between the starts of two packets; `None` where acknowledgements are the clock.
    #[inline]
    fn pacing_gap(&self, _shared: &Self::Shared) -> Option<Span> {
        None
    }

    /// Returns how long to wait for an acknowledgement before everything under way counts as lost, when the timer has run out
    /// `timeouts` times since the last acknowledgement.
    fn retransmission_timeout(&self, shared: &Self::Shared, timeouts: u32) -> Span;

    /// The retransmission timer has run out, and `timeout` is what this would be. A control that rather waits on answers until
    /// when, which is later than `now`, and is asked again then.
    fn postpone(&mut self, _shared: &Self::Shared, _now: Time, _timeout: &Timeout) -> Option<Time> {
        None
    }

    /// Returns what there is to look at; beside the window, nothing.
    fn windows(&self, shared: &Self::Shared) -> Windows {
        Windows::new(self.window(shared), Span::ZERO)
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
    /// The rate at which a rate-based control lets packets leave, in bits per second.
    pub rate: f64,
}

impl Windows {
    /// The window and the smoothed round-trip time of a control that has nothing else to look at.
    pub fn new(cwnd: f64, srtt: Span) -> Windows {
        Windows { cwnd, fcwnd: f64::NAN, ecwnd: f64::NAN, srtt, rate: f64::NAN }
    }
}
