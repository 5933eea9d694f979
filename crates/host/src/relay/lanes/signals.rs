//! What PFC frames say to a relay's lanes, and what those say.

use clearway_proto::pfc::frame::{NotPfc, PfcFrame};
use clearway_proto::pfc::quanta::{lasting, LONGEST};
use clearway_proto::swing::relay::Port;
use clearway_proto::units::{Span, Time};

use super::allowance::Used;
use super::telling::Telling;
use super::{across, Lane, Lanes, PORTS};

impl Lanes {
    /// A MAC control frame came in on `port` at the time `arrived`, and is read now.
    pub fn obey(&mut self, port: Port, frame: &[u8], arrived: Time, now: Time) {
        let figures = &mut self.egress[port as usize].figures;
        let said = match PfcFrame::parse(frame) {
            Ok(said) => said,
            Err(NotPfc::LinkPause | NotPfc::Opcode(_) | NotPfc::Traffic) => {
                figures.refused.not_pfc += 1;
                return;
            }
            Err(NotPfc::Truncated | NotPfc::Elsewhere) => {
                figures.refused.malformed += 1;
                return;
            }
        };
        let quanta = said.quanta.iter().enumerate();
        for (priority, quanta) in quanta.filter_map(|(priority, quanta)| Some((priority, (*quanta)?))) {
            let Some(number) = self.priorities.iter().position(|own| usize::from(*own) == priority) else {
                self.egress[port as usize].figures.refused.not_lossless += 1;
                continue;
            };
            let figures = &mut self.egress[port as usize].figures;
            if quanta == 0 {
                figures.resumes_received += 1;
            } else {
                figures.pauses_received += 1;
                // What came in on the other port goes out of this one.
                let lane = &mut self.directions[across(port) as usize][number];
                (lane.is_closed, lane.idle_since) = (true, None);
            }
            self.heed(port, number, quanta, arrived, now);
        }
    }

    /// PAUSE, or with no quanta RESUME, of the lane of this number that leaves on a port came at the time `arrived`.
    pub(super) fn heed(&mut self, port: Port, number: usize, quanta: u16, arrived: Time, now: Time) {
        self.note_run_out(port, number, arrived);
        if quanta == 0 {
            self.leaving(port, number).0.allowance.resume(arrived);
        } else {
            let egress = &self.egress[port as usize];
            let lane = &mut self.directions[across(port) as usize][number];
            let used = Used { free_at: egress.free_at, waits: !lane.waiting.is_empty() };
            lane.allowance.pause(
                arrived,
                now + lasting(quanta, self.rates[port as usize]),
                used,
                egress.made_up,
            );
        }
        match port {
            Port::Remote => self.relay.pause_received(port, number, quanta, now),
            Port::Local => {
                let (lane, at_most) = self.leaving(port, number);
                if lane.telling.hear(quanta, arrived, now, at_most) {
                    self.relay.pause_received(port, number, quanta, now);
                }
                self.tell(number, now);
            }
        }
        self.watch(across(port), number, now);
    }

    /// Tells the far relay of the switch's PAUSEs, if it is time.
    pub(super) fn tell(&mut self, number: usize, now: Time) {
        let (lane, at_most) = self.leaving(Port::Local, number);
        if let Some(quanta) = lane.telling.poll(now, at_most) {
            self.relay.pause_received(Port::Local, number, quanta, now);
        }
    }

    /// Returns the lane of this number that leaves on a port, and the time that the port makes up for.
    fn leaving(&mut self, port: Port, number: usize) -> (&mut Lane, Span) {
        (&mut self.directions[across(port) as usize][number], self.egress[port as usize].made_up)
    }

    /// A PAUSE that has run out is over from its end on.
    pub(super) fn note_run_out(&mut self, port: Port, number: usize, now: Time) {
        let (lane, _) = self.leaving(port, number);
        let until = lane.allowance.paused_until();
        if until > now || until == Time::ZERO {
            return;
        }
        // The far relay's PAUSE has run out as well.
        lane.telling = Telling::from(now);
        lane.allowance.resume(until);
    }

    /// The next PFC frame out of a port.
    pub(super) fn poll_pfc(&mut self, port: Port) -> Option<PfcFrame> {
        if let Some(farewell) = self.egress[port as usize].farewell.take() {
            return Some(farewell);
        }
        let pfc = self.relay.poll_pfc(port)?;
        if self.leaves.is_some() {
            // Both neighbours are paused for the longest time, which nothing else is to shorten.
            return self.poll_pfc(port);
        }
        Some(PfcFrame::of(usize::from(self.priorities[pfc.priority]), pfc.quanta))
    }

    /// Both neighbours are told to pause all lanes from here on, so that these run empty.
    pub fn leave(&mut self, now: Time) {
        self.leaves = Some(now + self.longest_pause / 2);
        let mut frame = PfcFrame::default();
        self.priorities.iter().for_each(|priority| frame.quanta[usize::from(*priority)] = Some(LONGEST));
        self.egress.iter_mut().for_each(|egress| egress.farewell = Some(frame));
    }

    /// Neighbours may go on where the port across is not paused: those hear the PAUSE of the other end of the wire from here on.
    pub fn left(&mut self, now: Time) {
        for port in PORTS {
            let mut frame = PfcFrame::default();
            for (number, priority) in self.priorities.iter().enumerate() {
                if !self.is_paused(across(port), number, now) {
                    frame.quanta[usize::from(*priority)] = Some(0);
                }
            }
            self.egress[port as usize].farewell = (frame != PfcFrame::default()).then_some(frame);
        }
    }
}
