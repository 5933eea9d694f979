//! The sender of a flow that is to be explained. It does what the sender within it does, and writes down what that answered
//! whenever it was asked whether it would send. A driver asks after all that happens to a sender, and the answer is a function
//! of the sender's state, so this is when the window held the flow back, when its pacing did, and when neither.

use std::cell::RefCell;

use clearway_proto::machine::Readiness;
use clearway_proto::units::Time;

/// A packet that a sender gave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its sequence number.
    pub seq: u32,
    /// The instant at which it was given out.
    pub at: Time,
    /// Bytes of its payload.
    pub payload: u32,
    /// It had been given out before.
    pub again: bool,
}

/// The answers of a sender and the packets that it gave out, in the order of time.
#[derive(Clone, Debug, Default)]
pub struct SendingLog {
    /// Each answer that is not the one before it, and since when it holds.
    pub asked: Vec<(Time, Readiness)>,
    /// The packets.
    pub sent: Vec<Sent>,
    /// First packet never given out.
    next: u32,
}

impl SendingLog {
    fn note(&mut self, now: Time, readiness: Readiness) {
        match self.asked.last_mut() {
            Some((_, before)) if *before == readiness => (),
            Some((since, before)) if *since == now => *before = readiness,
            _ => self.asked.push((now, readiness)),
        }
    }
}

/// A sender with its log.
#[derive(Clone, Debug)]
pub struct Recorded<S> {
    /// The sender.
    pub sender: S,
    /// The log. It is written to when the sender is asked, too, which changes nothing of the sender.
    log: RefCell<SendingLog>,
}

impl<S> Recorded<S> {
    /// This sender, with an empty log.
    pub fn new(sender: S) -> Recorded<S> {
        Recorded { sender, log: RefCell::default() }
    }

    /// Returns a copy of the log.
    pub fn log(&self) -> SendingLog {
        self.log.borrow().clone()
    }

    /// The sender has answered whether it would send.
    #[cold]
    #[inline(never)]
    pub fn note(&self, now: Time, readiness: Readiness) {
        self.log.borrow_mut().note(now, readiness);
    }

    /// The sender has given a packet out.
    #[cold]
    #[inline(never)]
    pub fn note_sent(&mut self, seq: u32, payload: u32, at: Time) {
        let log = self.log.get_mut();
        log.sent.push(Sent { seq, at, payload, again: seq < log.next });
        log.next = log.next.max(seq + 1);
    }
}

/// Panics: a method was called of a sender within a log, and that has no log itself.
#[cold]
pub(super) fn within() -> ! {
    unreachable!("a recorded sender is not recorded again")
}
