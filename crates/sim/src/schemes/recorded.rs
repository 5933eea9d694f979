//! The sender of a flow that is to be explained. It does what the sender within it does, and writes down what that answered
//! whenever it was asked whether it would send. A driver asks after all that happens to a sender, and the answer is a function
//! of the sender's state, so this is when the window held the flow back, when its pacing did, and when neither.

use std::cell::RefCell;

use clearway_proto::machine::Readiness;
use clearway_proto::transport::{Ack, Data, Nack, Notice};
use clearway_proto::units::Time;

use super::{AnySender, Wants};

/// A packet that a sender gave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its sequence number.
    pub seq: u32,
    /// When it was given out.
    pub at: Time,
    /// Bytes of its payload.
    pub payload: u32,
    /// It had been given out before.
    pub again: bool,
}

/// What a sender answered and gave out, in the order of time.
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
pub struct RecordedSender {
    /// The sender.
    pub sender: AnySender,
    /// The log. It is written to when the sender is asked, too, which changes nothing of the sender.
    log: RefCell<SendingLog>,
}

impl RecordedSender {
    /// This sender, with an empty log.
    pub fn new(sender: AnySender) -> RecordedSender {
        RecordedSender { sender, log: RefCell::default() }
    }

    /// Returns a copy of the log.
    pub fn log(&self) -> SendingLog {
        self.log.borrow().clone()
    }

    fn note(&self, now: Time, wants: Wants) -> Wants {
        self.log.borrow_mut().note(now, wants.readiness);
        wants
    }

    /// See [`AnySender::handle_ack`].
    #[inline(never)]
    pub fn handle_ack(&mut self, now: Time, received: Time, ack: &Ack) -> (u32, Wants) {
        let (completed, wants) = self.sender.handle_ack(now, received, ack);
        (completed, self.note(now, wants))
    }

    /// See [`AnySender::wants`].
    #[inline(never)]
    pub fn wants(&self, now: Time) -> Wants {
        self.note(now, self.sender.wants(now))
    }

    /// See [`AnySender::readiness`].
    #[inline(never)]
    pub fn readiness(&self, now: Time) -> Readiness {
        self.wants(now).readiness
    }

    /// See [`AnySender::poll_timeout`].
    #[inline(never)]
    pub fn poll_timeout(&self) -> Option<Time> {
        self.sender.poll_timeout()
    }

    /// See [`AnySender::transmit`].
    #[inline(never)]
    pub fn transmit(&mut self, now: Time) -> (Data, Wants) {
        let (data, wants) = self.sender.transmit(now);
        let log = self.log.get_mut();
        let Data { seq, payload, sent: at, .. } = data;
        log.sent.push(Sent { seq, at, payload, again: seq < log.next });
        log.next = log.next.max(data.seq + 1);
        (data, self.note(now, wants))
    }

    /// See [`AnySender::handle_timeout`].
    pub fn handle_timeout(&mut self, now: Time) {
        self.sender.handle_timeout(now);
        self.wants(now);
    }

    /// See [`AnySender::handle_notice`].
    pub fn handle_notice(&mut self, now: Time, notice: Notice) {
        self.sender.handle_notice(now, notice);
        self.wants(now);
    }

    /// See [`AnySender::handle_nack`].
    pub fn handle_nack(&mut self, now: Time, received: Time, nack: &Nack) {
        self.sender.handle_nack(now, received, nack);
        self.wants(now);
    }
}
