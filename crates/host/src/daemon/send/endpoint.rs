//! The sending end as the loop of a transfer drives it.

use std::io;
use std::net::SocketAddr;

use clearway_proto::machine::Readiness;
use clearway_proto::units::Time;
use rustix::io::Errno;

use super::{SendError, Sending, Stage, RETRY};
use crate::daemon::driver::{Arrival, Endpoint};
use crate::daemon::packet::{Body, Finish, Open, PREFIX_BYTES};

impl Endpoint for Sending {
    const ANSWERS_EACH: bool = false;

    fn handle_datagram(&mut self, now: Time, arrival: &Arrival, bytes: &[u8]) {
        let Some((datagram, _)) = self.sent.ignored.decoded(bytes) else { return };
        if !self.sent.ignored.of_connection(
            datagram.connection == self.task.connection,
            arrival.from,
            self.task.peer,
        ) {
            return;
        }
        match datagram.body {
            Body::Accept => self.accepted(now),
            Body::Flow(id, packet) => self.acknowledged(now, arrival, id, packet),
            Body::Finished(finished) => self.finished(now, finished),
            Body::Close(reason) if self.stage != Stage::Over => {
                self.fail(SendError::Closed(reason), Stage::Over);
            }
            Body::Open(_) | Body::Finish(_) | Body::Close(_) => self.sent.ignored.unexpected += 1,
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.stage == Stage::Over {
            return;
        }
        if now.since(self.last_progress) >= self.patience() {
            let error = match self.stage {
                Stage::Opening => SendError::NoAnswer(self.attempts),
                _ => SendError::Stopped(self.task.idle_timeout),
            };
            self.fail(error, Stage::Over);
            return;
        }
        if self.stage == Stage::Transferring {
            self.flows.iter_mut().for_each(|flow| flow.sender.handle_timeout(now));
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        let idle = self.last_progress + self.patience();
        match self.stage {
            Stage::Over => None,
            Stage::Transferring => {
                let timers = self.flows.iter().filter_map(|flow| flow.sender.poll_timeout());
                timers.chain([idle]).min()
            }
            Stage::Opening | Stage::Finishing | Stage::Closing(_) => Some(idle),
        }
    }

    fn readiness(&self, now: Time) -> Readiness {
        match self.stage {
            Stage::Opening | Stage::Finishing if now < self.retry => Readiness::At(self.retry),
            Stage::Opening | Stage::Finishing | Stage::Closing(_) => Readiness::Ready,
            Stage::Transferring => self.next_flow(now).map_or_else(|not| not, |_| Readiness::Ready),
            Stage::Over => Readiness::Idle,
        }
    }

    fn transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        match self.stage {
            Stage::Opening => {
                self.retry = now + RETRY;
                self.attempts += 1;
                let open = Open { layout: self.task.layout, reach: self.task.swift.reach };
                Some(self.control(Body::Open(open), PREFIX_BYTES + self.task.layout.mtu as usize, buffer))
            }
            Stage::Transferring => self.transmit_data(now, buffer),
            Stage::Finishing => {
                self.retry = now + RETRY;
                let sent = self.flows.iter().map(|flow| flow.sender.flight().sent).sum();
                let finish = Finish { sent, digest: self.digest.value() };
                Some(self.control(Body::Finish(finish), PREFIX_BYTES, buffer))
            }
            Stage::Closing(reason) => {
                self.stage = Stage::Over;
                Some(self.control(Body::Close(reason), PREFIX_BYTES, buffer))
            }
            Stage::Over => None,
        }
    }

    /// Before the peer has answered, an error ends the transfer unless it may pass; afterwards the datagram counts as
    /// lost, as others may be.
    fn handle_send_error(&mut self, _now: Time, error: &io::Error) {
        self.sent.unsendable += 1;
        let passes = [Errno::NOBUFS, Errno::NOMEM].map(Some).contains(&Errno::from_io_error(error));
        if self.stage == Stage::Opening && !passes {
            let error =
                error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error);
            self.fail(SendError::Unsendable(error), Stage::Over);
        }
    }
}
