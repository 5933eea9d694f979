//! What an arbiter knows of one endpoint, beside its counts.

use std::collections::VecDeque;

use crate::fastpass::fcp::message::MOST_GRANTED;
use crate::fastpass::fcp::{Address, Grant, Heard, List};
use crate::units::{Span, Time};

use super::pace::Pace;
use super::params::ArbiterParams;

/// Grants that wait until an endpoint may be told of them: those of several batches. Older ones are dropped.
const MOST_PENDING: usize = 256;
/// Allocations of which it is remembered what they said: as many as an acknowledgement can speak of.
const MOST_UNACKNOWLEDGED: usize = 32;
/// An endpoint that is silent is not told its counts more often than this without a word from it.
const MOST_REPEATED: u8 = 16;

/// An endpoint as the arbiter knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    /// Its incarnation.
    pub(super) incarnation: u32,
    /// Requests of this incarnation that have come.
    pub(super) heard: Heard,
    /// The number of the last allocation to it in this term and incarnation.
    pub(super) seq: u32,
    /// The highest number of an allocation of another primary that it is known to have.
    pub(super) of_primary: u32,
    /// Grants of which it has not been told.
    pub(super) pending: VecDeque<Grant>,
    /// Destinations of which it has to be told the counts again.
    pub(super) untold: Vec<Address>,
    /// Allocations that it is not known to have, oldest first.
    unacknowledged: VecDeque<Sent>,
    /// When the first request with demands came that has not been acknowledged.
    pub(super) owed: Option<Time>,
    /// Whether it has to be sent a reset.
    pub(super) reset: bool,
    /// When it may be sent the next reset.
    pub(super) reset_at: Time,
    /// Counts said again since it was last heard.
    repeated: u8,
    /// Paces allocations to it.
    pub(super) pace: Pace,
    /// Paces requests from it.
    pub(super) requests: Pace,
}

/// An allocation that is not known to have come.
#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: u32,
    at: Time,
    destinations: List<Address, MOST_GRANTED>,
}

impl Client {
    /// Forgets everything but how often it may speak and be spoken to: it has started anew, or this arbiter's term has.
    pub(super) fn start_over(&mut self) {
        *self = Client {
            incarnation: self.incarnation,
            reset_at: self.reset_at,
            pace: self.pace,
            requests: self.requests,
            ..Client::default()
        };
    }

    /// Adds a grant of which the endpoint has to be told. The grant that had to make room for it, if any.
    pub(super) fn grant(&mut self, grant: Grant) -> Option<Grant> {
        let dropped = (self.pending.len() == MOST_PENDING).then(|| self.pending.pop_front()).flatten();
        self.pending.push_back(grant);
        dropped
    }

    /// Has the endpoint told the count of a destination again.
    pub(super) fn tell(&mut self, destination: Address) {
        if !self.untold.contains(&destination) {
            self.untold.push(destination);
        }
    }

    /// Takes the endpoint's word of which allocations have come.
    pub(super) fn acknowledge(&mut self, heard: Heard) {
        self.repeated = 0;
        self.unacknowledged.retain(|sent| !heard.contains(sent.seq));
    }

    /// Notes an allocation that leaves now.
    pub(super) fn sent(
        &mut self,
        now: Time,
        destinations: List<Address, MOST_GRANTED>,
        params: &ArbiterParams,
    ) {
        self.owed = None;
        self.pace.note(now, &params.pacer);
        if destinations.is_empty() {
            return;
        }
        if self.unacknowledged.len() == MOST_UNACKNOWLEDGED {
            self.give_up_oldest();
        }
        self.unacknowledged.push_back(Sent { seq: self.seq, at: now, destinations });
    }

    /// Takes the oldest allocation for lost.
    fn give_up_oldest(&mut self) {
        let Some(sent) = self.unacknowledged.pop_front() else { return };
        sent.destinations.iter().for_each(|&destination| self.tell(destination));
    }

    /// Takes the allocations for lost that have not been acknowledged in time. Whether there were any.
    pub(super) fn give_up(&mut self, now: Time, after: Span) -> bool {
        let mut any = false;
        while self.unacknowledged.front().is_some_and(|sent| sent.at + after <= now) {
            self.give_up_oldest();
            any = true;
        }
        self.repeated = self.repeated.saturating_add(u8::from(any));
        any
    }

    /// When the endpoint is to be sent something next, if nothing happens meanwhile.
    pub(super) fn wake_at(&self, params: &ArbiterParams) -> Time {
        if self.reset {
            return self.reset_at;
        }
        let mut want = Time::NEVER;
        if !self.pending.is_empty() {
            want = Time::ZERO;
        }
        if let Some(owed) = self.owed {
            want = want.min(owed + params.acknowledge);
        }
        if self.repeated < MOST_REPEATED {
            if !self.untold.is_empty() {
                want = Time::ZERO;
            }
            if let Some(sent) = self.unacknowledged.front() {
                want = want.min(sent.at + params.retransmit);
            }
        }
        if want == Time::NEVER {
            want
        } else {
            want.max(self.pace.next(&params.pacer))
        }
    }
}
