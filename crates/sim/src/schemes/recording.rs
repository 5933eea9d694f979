//! How a sender of any kind is recorded: its answers are written down as its driver hears them. What a sender does is written once
//! for those with a log and those without, in [`AnySender`]: with two places that call it, the compiler would inline it in neither.

use clearway_proto::machine::Readiness;
use clearway_proto::transport::Data;
use clearway_proto::units::Time;

use super::recorded::{Recorded, SendingLog};
use super::AnySender;

impl AnySender {
    /// This sender, with a log of what it answers and gives out.
    pub fn recorded(sender: AnySender) -> AnySender {
        AnySender::Recorded(Box::new(Recorded::new(sender)))
    }

    /// Returns the log of a sender that has one.
    pub fn log(&self) -> Option<SendingLog> {
        match self {
            AnySender::Recorded(sender) => Some(sender.log()),
            _ => None,
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
