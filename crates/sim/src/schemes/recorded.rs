//! The sender of a flow that is to be explained, or metered. It does what the sender within it does. Where it keeps a log, it
//! writes down what that answered whenever it was asked whether it would send. A driver asks after all that happens to a sender,
//! and the answer is a function of the sender's state, so this is when the window held the flow back, when its pacing did, and
//! when neither. Where it keeps a meter, it counts the bytes that were given out, and round-trip times.

use std::cell::RefCell;

use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

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

/// The counts of what a sender gave out, and of the round-trip times of its acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// Packets given out.
    pub packets: u64,
    /// Bytes of their payload.
    pub payload: u64,
    /// Bytes of the payload of those that had been given out before.
    pub again: u64,
    /// Sum of the round-trip times, in picoseconds.
    pub rtt_sum_ps: u128,
    /// The number of round-trip times.
    pub round_trips: u64,
    /// The longest since it was last forgotten, in picoseconds.
    pub rtt_longest_ps: u64,
    /// First packet never given out.
    next: u32,
}

impl Meter {
    fn note_sent(&mut self, seq: u32, payload: u32) {
        self.packets += 1;
        self.payload += u64::from(payload);
        self.again += if seq < self.next { payload.into() } else { 0 };
        self.next = self.next.max(seq + 1);
    }

    fn note_round_trip(&mut self, rtt: Span) {
        self.rtt_sum_ps += u128::from(rtt.as_ps());
        self.round_trips += 1;
        self.rtt_longest_ps = self.rtt_longest_ps.max(rtt.as_ps());
    }
}

/// A sender with its log, its meter, or both.
#[derive(Clone, Debug)]
pub struct Recorded<S> {
    /// The sender.
    pub sender: S,
    /// The log, if it is kept. It is written to when the sender is asked, too, which changes nothing of the sender.
    log: Option<RefCell<SendingLog>>,
    /// The meter, if it is kept.
    meter: Option<Meter>,
}

impl<S> Recorded<S> {
    /// This sender, with nothing kept yet.
    pub fn new(sender: S) -> Recorded<S> {
        Recorded { sender, log: None, meter: None }
    }

    /// Keeps a log from now on.
    pub fn keep_log(&mut self) {
        self.log.get_or_insert_default();
    }

    /// Keeps a meter from now on.
    pub fn keep_meter(&mut self) {
        self.meter.get_or_insert_default();
    }

    /// Returns a copy of the log, if it is kept.
    pub fn log(&self) -> Option<SendingLog> {
        self.log.as_ref().map(|log| log.borrow().clone())
    }

    /// Returns the meter, if it is kept.
    pub fn meter(&self) -> Option<&Meter> {
        self.meter.as_ref()
    }

    /// Forgets the longest round-trip time.
    pub fn forget_longest(&mut self) {
        self.meter.iter_mut().for_each(|meter| meter.rtt_longest_ps = 0);
    }

    /// An acknowledgement has come after this time.
    pub fn note_round_trip(&mut self, rtt: Span) {
        self.meter.iter_mut().for_each(|meter| meter.note_round_trip(rtt));
    }

    /// The sender has answered whether it would send.
    #[cold]
    #[inline(never)]
    pub fn note(&self, now: Time, readiness: Readiness) {
        self.log.iter().for_each(|log| log.borrow_mut().note(now, readiness));
    }

    /// The sender has given a packet out.
    #[cold]
    #[inline(never)]
    pub fn note_sent(&mut self, seq: u32, payload: u32, at: Time) {
        self.meter.iter_mut().for_each(|meter| meter.note_sent(seq, payload));
        let Some(log) = &mut self.log else { return };
        let log = log.get_mut();
        log.sent.push(Sent { seq, at, payload, again: seq < log.next });
        log.next = log.next.max(seq + 1);
    }
}

/// Panics: a method was called of a sender within a log, and that has no log itself.
#[cold]
pub(super) fn within() -> ! {
    unreachable!("a recorded sender is not recorded again")
}
