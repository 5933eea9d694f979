//! How a sender of any kind is recorded: its answers are written down as its driver hears them.

use clearway_proto::transport::{Ack, Data};
use clearway_proto::units::Time;

use super::recorded::{Recorded, SendingLog};
use super::{AnySender, Wants};

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
}

/// The methods of [`AnySender`] after which a driver knows anew whether a sender would send.
impl Recorded<AnySender> {
    fn written(&self, now: Time, wants: Wants) -> Wants {
        self.note(now, wants.readiness);
        wants
    }

    #[cold]
    #[inline(never)]
    pub(super) fn handle_ack(&mut self, now: Time, received: Time, ack: &Ack) -> (u32, Wants) {
        let (completed, wants) = self.sender.handle_ack(now, received, ack);
        (completed, self.written(now, wants))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn wants(&self, now: Time) -> Wants {
        self.written(now, self.sender.wants(now))
    }

    #[cold]
    #[inline(never)]
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.sender.poll_timeout()
    }

    #[cold]
    #[inline(never)]
    pub(super) fn transmit(&mut self, now: Time) -> (Data, Wants) {
        let (data, wants) = self.sender.transmit(now);
        self.note_sent(&data);
        (data, self.written(now, wants))
    }
}
