//! A sender's wait for credit. Grants get lost with links, and a flow of which nothing is under way hears of that in no other way
//! than by its own timer: when that has run out, one packet may leave without credit, and asks again.

use crate::units::{Span, Time};

/// The most times that the wait for credit is doubled while no answer comes.
const MOST_DOUBLINGS: u32 = 6;

/// The wait of one flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    /// The instant at which the flow will have waited in vain.
    deadline: Time,
    /// Times that the flow has waited in vain, or lost a packet, since the last grant.
    unanswered: u32,
    /// A packet may leave without credit.
    may_ask: bool,
}

impl Waiting {
    /// A flow that waits for nothing.
    pub const NOT: Waiting = Waiting { deadline: Time::NEVER, unanswered: 0, may_ask: false };

    /// Returns whether a packet may leave without credit.
    #[inline]
    pub fn may_ask(&self) -> bool {
        self.may_ask
    }

    /// Returns whether the next packet asks the receiver to say again what it has granted.
    pub fn asks_again(&self) -> bool {
        self.unanswered > 0
    }

    /// Returns the instant at which the flow will have waited in vain; [`Time::NEVER`] where it does not wait.
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// A packet leaves. The flow waits from `now` on if it has no credit left.
    pub fn handle_sent(&mut self, has_credit: bool, now: Time, timeout: Span) {
        self.may_ask = false;
        self.wait(has_credit, now, timeout);
    }

    /// A grant has come.
    pub fn handle_grant(&mut self, has_credit: bool, now: Time, timeout: Span) {
        self.unanswered = 0;
        self.wait(has_credit, now, timeout);
    }

    /// A packet was not acknowledged in time: what was granted for others may be lost too.
    pub fn handle_loss(&mut self) {
        self.unanswered += 1;
    }

    /// The flow has waited in vain: the next packet may leave without credit.
    pub fn run_out(&mut self) {
        self.may_ask = true;
        self.unanswered += 1;
    }

    /// Begins to wait for credit, if there is none, for longer the more often that was in vain.
    pub fn wait(&mut self, has_credit: bool, now: Time, timeout: Span) {
        let doubled = || timeout * (1 << self.unanswered.min(MOST_DOUBLINGS));
        self.deadline = if has_credit { Time::NEVER } else { now + doubled() };
    }
}
