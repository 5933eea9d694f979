//! How a sender of any kind is recorded: its answers are written down as its driver hears them. What a sender does is written once
//! for those with a log and those without, in [`AnySender`]: with two places that call it, the compiler would inline it in neither.

use clearway_proto::machine::Readiness;
use clearway_proto::transport::Data;
use clearway_proto::units::{Span, Time};

use super::recorded::{Meter, Recorded, SendingLog};
use super::AnySender;

impl AnySender {
    /// Keeps a log from now on of what this sender answers and gives out.
    pub fn keep_log(&mut self) {
        self.recorded().keep_log();
    }

    /// Counts from now on what this sender gives out, and its round-trip times.
    pub fn keep_meter(&mut self) {
        self.recorded().keep_meter();
    }

    /// This sender as one that is recorded.
    fn recorded(&mut self) -> &mut Recorded<AnySender> {
        if !matches!(self, AnySender::Recorded(_)) {
            *self = AnySender::Recorded(Box::new(Recorded::new(self.clone())));
        }
        match self {
            AnySender::Recorded(recorded) => recorded,
            _ => unreachable!("it has just become one"),
        }
    }

    /// Returns the log of a sender that has one.
    pub fn log(&self) -> Option<SendingLog> {
        match self {
            AnySender::Recorded(sender) => sender.log(),
            _ => None,
        }
    }

    /// Returns the meter of a sender that has one.
    pub fn meter(&self) -> Option<&Meter> {
        match self {
            AnySender::Recorded(sender) => sender.meter(),
            _ => None,
        }
    }

    /// Forgets the longest round-trip time of a sender that has a meter.
    pub fn forget_longest(&mut self) {
        if let AnySender::Recorded(recorded) = self {
            recorded.forget_longest();
        }
    }

    /// An acknowledgement has come after this time, which a sender with a meter counts.
    pub fn note_round_trip(&mut self, rtt: Span) {
        if let AnySender::Recorded(recorded) = self {
            recorded.note_round_trip(rtt);
        }
    }

    /// The sender itself, without its log.
    #[inline(always)]
    pub(super) fn inner(&self) -> &AnySender {
        match self {
            AnySender::Recorded(recorded) => &recorded.sender,
            other => other,
        }
    }

    /// The sender itself, without its log.
    #[inline(always)]
    pub(super) fn inner_mut(&mut self) -> &mut AnySender {
        match self {
            AnySender::Recorded(recorded) => &mut recorded.sender,
            other => other,
        }
    }

    /// The sender has answered whether it would send.
    #[inline(always)]
    pub(super) fn note(&self, now: Time, readiness: Readiness) {
        if let AnySender::Recorded(recorded) = self {
            recorded.note(now, readiness);
        }
    }

    /// The sender has given a packet out, and answered whether it would send another one. Only numbers are handed on: a packet whose
    /// address is taken has to be in memory, which costs eight instructions a hop.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, now: Time, data: &Data, readiness: Readiness) {
        if let AnySender::Recorded(recorded) = self {
            recorded.note_sent(data.seq, data.payload, data.sent);
            recorded.note(now, readiness);
        }
    }
}
