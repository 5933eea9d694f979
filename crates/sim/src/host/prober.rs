//! A prober: it sends a packet along a path at a constant interval and takes the time until the answer is back. What
//! answers is at the other end.

use std::collections::VecDeque;

use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

use super::message::Message;

/// Sends probes, and measures.
#[derive(Debug)]
pub struct Prober {
    interval: Span,
    bytes: u32,
    /// When the next probe leaves, and from when on none does, on the prober's clock.
    next: Time,
    stop: Time,
    /// The round trip of each probe; none for one whose answer has not come.
    round_trips: Vec<Option<Span>>,
}

impl Prober {
    /// A prober that sends `bytes` every `interval` from `start` until before `stop`, on its own clock.
    pub fn new(interval: Span, bytes: u32, start: Time, stop: Time) -> Prober {
        Prober { interval, bytes, next: start, stop, round_trips: Vec::new() }
    }

    /// An answer has come.
    pub fn handle_message(&mut self, now: Time, answer: &Message) {
        if let Some(place) = self.round_trips.get_mut(answer.seq as usize) {
            *place = Some(now.since(answer.stamp));
        }
    }

    /// Returns whether a probe is due.
    pub fn readiness(&self, now: Time) -> Readiness {
        if self.next >= self.stop {
            Readiness::Idle
        } else if now >= self.next {
            Readiness::Ready
        } else {
            Readiness::At(self.next)
        }
    }

    /// The probe that is due.
    pub fn transmit(&mut self, now: Time) -> Message {
        let seq = self.round_trips.len() as u32;
        self.round_trips.push(None);
        self.next = self.next + self.interval;
        Message { seq, stamp: now, bytes: self.bytes, answers: false }
    }

    /// The round trip of each probe as the prober's clock had it; none for one whose answer has not come.
    pub fn round_trips(&self) -> &[Option<Span>] {
        &self.round_trips
    }
}

/// Sends every probe back as it comes.
#[derive(Debug, Default)]
pub struct Responder {
    due: VecDeque<Message>,
    answered: u64,
}

impl Responder {
    /// A probe has come.
    pub fn handle_message(&mut self, probe: &Message) {
        self.due.push_back(Message { answers: true, ..*probe });
    }

    /// Returns whether an answer is due.
    pub fn readiness(&self) -> Readiness {
        if self.due.is_empty() {
            Readiness::Idle
        } else {
            Readiness::Ready
        }
    }

    /// The answer that is due. Panics when none is.
    pub fn transmit(&mut self) -> Message {
        self.answered += 1;
        self.due.pop_front().expect("an answer is due")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_leave_at_the_interval_and_answers_are_timed() {
        let at = |us| Time::ZERO + Span::from_us(us);
        let mut prober = Prober::new(Span::from_us(10), 64, at(5), at(25));
        assert_eq!(prober.readiness(at(4)), Readiness::At(at(5)));
        let probe = prober.transmit(at(5));
        assert_eq!(prober.readiness(at(5)), Readiness::At(at(15)));
        let mut responder = Responder::default();
        assert_eq!(responder.readiness(), Readiness::Idle);
        responder.handle_message(&probe);
        let answer = responder.transmit();
        assert!(answer.answers && !probe.answers);
        prober.handle_message(at(12), &answer);
        // A late one leaves at once, and the next at its own time.
        assert_eq!(prober.transmit(at(16)).seq, 1);
        assert_eq!(prober.readiness(at(16)), Readiness::Idle);
        assert_eq!(prober.round_trips(), [Some(Span::from_us(7)), None]);
    }
}
