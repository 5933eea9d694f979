//! A congestion control that uses all that one may: it paces by a gap, which notices lengthen and a timer of its own brings
//! back. In outline that is DCQCN.

use std::marker::PhantomData;

use clearway_proto::transport::{
    AckPolicy, AckSample, CongestionControl, Data, GoBackN, InOrderReceiver, Notice, Path, Receiver,
    Recovery, Scheme, SelectiveReceiver, SelectiveRepeat, Timeout,
};
use clearway_proto::units::{Bytes, Span, Time};

/// A way of recovering with the receiver that goes with it.
pub trait Ends {
    type Recovery: Recovery;
    type Receiver: Receiver;
    fn recovery() -> Self::Recovery;
    fn receiver() -> Self::Receiver;
}

/// Go-back-N.
#[derive(Debug)]
pub struct Back;

impl Ends for Back {
    type Recovery = GoBackN;
    type Receiver = InOrderReceiver;
    fn recovery() -> GoBackN {
        GoBackN::default()
    }
    fn receiver() -> InOrderReceiver {
        InOrderReceiver::new()
    }
}

/// Selective repeat.
#[derive(Debug)]
pub struct Selective;

impl Ends for Selective {
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;
    fn recovery() -> SelectiveRepeat {
        SelectiveRepeat::new(REACH, 1)
    }
    fn receiver() -> SelectiveReceiver {
        SelectiveReceiver::new(AckPolicy::EveryPacket, REACH)
    }
}

const REACH: u32 = 64;
/// Between packets, as long as nothing is wrong.
const GAP: Span = Span::from_us(1);
/// Longest time between packets.
const LONGEST_GAP: Span = Span::from_us(64);
/// After this time the gap is halved, until it is [`GAP`].
const PERIOD: Span = Span::from_us(50);

/// A window of 64 packets, paced.
#[derive(Clone, Debug)]
pub struct RateParams<E>(PhantomData<E>);

impl<E> Default for RateParams<E> {
    fn default() -> RateParams<E> {
        RateParams(PhantomData)
    }
}

impl<E: Ends> Scheme for RateParams<E> {
    type Control = RateControl;
    type Recovery = E::Recovery;
    type Receiver = E::Receiver;

    const HEADER: Bytes = Bytes::new(44);

    fn shared(&self, _path: Path) {}

    fn reach(&self) -> u32 {
        REACH
    }

    fn recovery(&self) -> E::Recovery {
        E::recovery()
    }

    fn receiver(&self) -> E::Receiver {
        E::receiver()
    }
}

/// What it was told, and the gap that follows from it.
#[derive(Clone, Debug)]
pub struct RateControl {
    pub gap: Span,
    /// When the gap is halved; [`Time::NEVER`] while it is [`GAP`].
    timer: Time,
    /// Payload that has left.
    pub sent: u64,
    pub congested: u32,
    /// The packet of the last NACK, and how many packets were not acknowledged then.
    pub nack: Option<(u32, u32)>,
    /// Halvings of the gap.
    pub ticks: u32,
    /// What it was told last of an acknowledgement (1), a NACK (2) and a loss (3): a digit each, in their order.
    pub order: u32,
}

impl RateControl {
    fn slow_down(&mut self, now: Time) {
        self.gap = (self.gap * 2).min(LONGEST_GAP);
        self.timer = now + PERIOD;
    }

    fn note(&mut self, what: u32) {
        self.order = self.order % 100 * 10 + what;
    }
}

impl CongestionControl for RateControl {
    type Shared = ();
    type Telemetry = ();

    fn new(_shared: &()) -> RateControl {
        let timer = Time::NEVER;
        RateControl { gap: GAP, timer, sent: 0, congested: 0, nack: None, ticks: 0, order: 0 }
    }

    fn on_sent(&mut self, _shared: &(), now: Time, data: &Data) {
        assert_eq!(data.sent, now);
        self.sent += u64::from(data.payload);
    }

    fn on_ack(&mut self, _shared: &(), _now: Time, _sample: &AckSample) {
        self.note(1);
    }

    fn on_notice(&mut self, _shared: &(), now: Time, notice: Notice) {
        match notice {
            Notice::Pull(_) | Notice::Scheduled | Notice::Unscheduled => return,
            Notice::Congestion => self.congested += 1,
            Notice::Nack { cumulative, next } => {
                self.note(2);
                self.nack = Some((cumulative, next - cumulative));
            }
        }
        self.slow_down(now);
    }

    fn on_loss(&mut self, _shared: &(), _now: Time, _cumulative: u32, _next: u32) {
        self.note(3);
    }

    fn on_timeout(&mut self, _shared: &(), now: Time, _timeout: &Timeout) {
        self.slow_down(now);
    }

    fn poll_timer(&self, _shared: &()) -> Option<Time> {
        (self.timer != Time::NEVER).then_some(self.timer)
    }

    fn handle_timer(&mut self, _shared: &(), now: Time) {
        assert!(now >= self.timer, "the time has not come");
        self.ticks += 1;
        self.gap = (self.gap / 2).max(GAP);
        self.timer = if self.gap == GAP { Time::NEVER } else { now + PERIOD };
    }

    fn window(&self, _shared: &()) -> f64 {
        f64::from(REACH)
    }

    fn pacing_gap(&self, _shared: &()) -> Option<Span> {
        Some(self.gap)
    }

    fn retransmission_timeout(&self, _shared: &(), _timeouts: u32) -> Span {
        Span::from_us(200)
    }
}
