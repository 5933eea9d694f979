//! A congestion control to which the receiver's credit is added: a packet leaves when both allow it. What RCCC does at a sender is
//! in [`super::credit`]; here it is told of what happens.

use std::fmt::Debug;

use super::credit::{Credit, CreditTerms};
use crate::transport::{
    AckSample, Ask, Backlog, CongestionControl, Data, Notice, Timeout, TrimSample, Windows,
};
use crate::units::{Span, Time};

/// What flows share: what the other congestion control shares, and the terms of credit.
#[derive(Clone, Debug)]
pub struct CreditedShared<S> {
    /// See [`CongestionControl::Shared`].
    pub control: S,
    /// The terms of credit.
    pub terms: CreditTerms,
}

/// Credit beside the congestion control `C`, of one flow. Boxed, as it is larger than all controls of which a simulator keeps one
/// for each flow.
#[derive(Clone, Debug)]
pub struct Credited<C>(Box<Both<C>>);

#[derive(Clone, Debug)]
struct Both<C> {
    control: C,
    credit: Credit,
}

impl<C> Credited<C> {
    /// The other congestion control, to be looked at.
    pub fn control(&self) -> &C {
        &self.0.control
    }

    /// The credit, to be looked at.
    pub fn credit(&self) -> &Credit {
        &self.0.credit
    }
}

impl<C: CongestionControl> CongestionControl for Credited<C> {
    type Shared = CreditedShared<C::Shared>;
    type Telemetry = C::Telemetry;

    fn new(shared: &Self::Shared) -> Self {
        Credited(Box::new(Both { control: C::new(&shared.control), credit: Credit::new(&shared.terms) }))
    }

    fn on_ack(&mut self, shared: &Self::Shared, now: Time, sample: &AckSample) {
        self.0.credit.stop_trusting(&shared.terms, now);
        self.0.control.on_ack(&shared.control, now, sample);
    }

    fn on_telemetry(
        &mut self,
        shared: &Self::Shared,
        now: Time,
        telemetry: &Self::Telemetry,
        cumulative: u32,
        next: u32,
    ) {
        self.0.control.on_telemetry(&shared.control, now, telemetry, cumulative, next);
    }

    fn on_loss(&mut self, shared: &Self::Shared, now: Time, cumulative: u32, next: u32) {
        self.0.control.on_loss(&shared.control, now, cumulative, next);
    }

    fn on_trim(&mut self, shared: &Self::Shared, now: Time, sample: &TrimSample) {
        self.0.credit.stop_trusting(&shared.terms, now);
        self.0.control.on_trim(&shared.control, now, sample);
    }

    fn on_timeout(&mut self, shared: &Self::Shared, now: Time, timeout: &Timeout) {
        self.0.credit.handle_loss(&shared.terms, now);
        self.0.control.on_timeout(&shared.control, now, timeout);
    }

    fn on_sent(&mut self, shared: &Self::Shared, now: Time, data: &Data) {
        self.0.credit.handle_sent(&shared.terms, now, data.payload);
        self.0.control.on_sent(&shared.control, now, data);
    }

    fn on_notice(&mut self, shared: &Self::Shared, now: Time, notice: Notice) {
        match notice {
            Notice::Pull(granted) => self.0.credit.handle_pull(&shared.terms, now, granted),
            other => self.0.control.on_notice(&shared.control, now, other),
        }
    }

    fn poll_timer(&self, shared: &Self::Shared) -> Option<Time> {
        let (of_credit, other) = (self.0.credit.poll_timer(), self.0.control.poll_timer(&shared.control));
        [of_credit, other].into_iter().flatten().min()
    }

    fn handle_timer(&mut self, shared: &Self::Shared, now: Time) {
        self.0.credit.handle_timer(now);
        if self.0.control.poll_timer(&shared.control).is_some_and(|at| at <= now) {
            self.0.control.handle_timer(&shared.control, now);
        }
    }

    fn window(&self, shared: &Self::Shared) -> f64 {
        self.0.control.window(&shared.control)
    }

    fn may_send(&self, shared: &Self::Shared) -> bool {
        self.0.credit.may_send() && self.0.control.may_send(&shared.control)
    }

    /// No more is asked for than the window lets be sent, and a packet.
    fn ask(&self, shared: &Self::Shared, backlog: &Backlog, senders: u32) -> Ask {
        let window = (self.window(shared) + 1.0) * shared.terms.frame as f64;
        self.0.credit.ask(&shared.terms, backlog, window, senders)
    }

    fn pacing_gap(&self, shared: &Self::Shared) -> Option<Span> {
        self.0.control.pacing_gap(&shared.control)
    }

    fn retransmission_timeout(&self, shared: &Self::Shared, timeouts: u32) -> Span {
        self.0.control.retransmission_timeout(&shared.control, timeouts)
    }

    fn postpone(&mut self, shared: &Self::Shared, now: Time, timeout: &Timeout) -> Option<Time> {
        self.0.control.postpone(&shared.control, now, timeout)
    }

    fn windows(&self, shared: &Self::Shared) -> Windows {
        self.0.control.windows(&shared.control)
    }
}
