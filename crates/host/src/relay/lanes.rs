//! The frames that wait in a relay, and what it says: the machine of `clearway-proto` with frames as bytes. No I/O, no clock.
//!
//! A *lane* is a lossless priority in one direction. Whoever drives this passes the frames of open lanes on by itself and hands over
//! those of closed ones, with every PFC frame; a PAUSE has closed its lane before its PFC frame is handed over. A lane is opened again
//! when nothing of it waits and its port may send ([`Lanes::openable`]).
//!
//! What waited leaves at the rate of the link, as the next port holds no more than one link can bring.

use std::collections::VecDeque;

use clearway_proto::pfc::frame::BYTES;
use clearway_proto::pfc::quanta::{lasting, LONGEST};
use clearway_proto::swing::relay::{Admission, Port, Relay, RelayParams};
use clearway_proto::units::{Bytes, Rate, Span, Time};

use super::figures::{LaneFigures, PortFigures};
use allowance::Allowance;
use egress::{before, Egress, FREE};
use telling::Telling;
use watchdog::Watchdog;

mod allowance;
mod egress;
mod handover;
mod signals;
mod telling;
mod watchdog;

/// The bytes that a frame takes on the wire besides its own: check sequence, preamble and gap.
const AROUND: u64 = 24;
/// The bytes of the shortest frame, without its check sequence.
const SHORTEST: u64 = 60;
/// The longest frame that a relay takes, in bytes.
pub const LONGEST_FRAME: usize = 65_600;
/// A lane is opened when nothing of it has waited for this long: not in each gap between two PAUSEs.
const LINGERS: Span = Span::from_ms(1);

/// Both ports.
pub const PORTS: [Port; 2] = [Port::Local, Port::Remote];

/// The other port.
pub fn across(port: Port) -> Port {
    match port {
        Port::Local => Port::Remote,
        Port::Remote => Port::Local,
    }
}

/// A request to the kernel about a closed lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// It notes whether anything goes to the process, or a PAUSE comes, from here on.
    Note,
    /// It opens the lane if nothing has come since the note.
    Open,
    /// It closes the lane.
    Close,
}

#[derive(Debug)]
struct Lane {
    waiting: VecDeque<Vec<u8>>,
    is_closed: bool,
    /// Whether it is never opened, as its frames come faster than they leave.
    stays_closed: bool,
    /// Since when it could be open; none while it could not.
    idle_since: Option<Time>,
    watchdog: Watchdog,
    /// The time for which the port that its frames leave on may send.
    allowance: Allowance,
    /// What the far relay is told of that, if they leave on L.
    telling: Telling,
    peak: u64,
}

impl Lane {
    fn new(stays_closed: bool) -> Lane {
        Lane {
            waiting: VecDeque::new(),
            is_closed: stays_closed,
            stays_closed,
            idle_since: None,
            watchdog: Watchdog::default(),
            allowance: Allowance::default(),
            telling: Telling::from(Time::ZERO),
            peak: 0,
        }
    }
}

/// A relay's lanes. The `in` of a name is the port that frames come in on.
#[derive(Debug)]
pub struct Lanes {
    relay: Relay,
    /// The time that a PAUSE of the most quanta lasts at least, on either port.
    longest_pause: Span,
    storm_after: Span,
    /// The priority of each lane of a direction.
    priorities: Vec<u8>,
    /// The rates of both ports.
    rates: [Rate; 2],
    /// The lanes of each direction, by the port that their frames come in on.
    directions: [Vec<Lane>; 2],
    egress: [Egress; 2],
    /// The time at which both neighbours are told again to pause, as the relay is about to leave; none while it is not.
    leaves: Option<Time>,
    /// Whether nothing but PFC frames is sent, as another process is about to take this one's place.
    is_frozen: bool,
}

/// The bytes of a frame as the link counts them.
pub fn on_the_wire(length: usize) -> Bytes {
    Bytes::new((length as u64).max(SHORTEST) + AROUND)
}

/// Returns whether what comes in on a port comes faster than it leaves: its lanes are closed from the start and are never opened.
pub fn stays_closed(params: &RelayParams, port: Port) -> bool {
    params.rate_of(port) > params.rate_of(across(port))
}

impl Lanes {
    /// Lanes of these priorities, open unless they stay closed. A port that is paused without an end is given up after `storm_after`; a PAUSE may
    /// take `response` to work. `sources` are the addresses of the ports, L and R. Panics on parameters that conflict, or that are for another number of priorities.
    pub fn new(
        params: &RelayParams,
        priorities: &[u8],
        storm_after: Span,
        response: Span,
        sources: [[u8; 6]; 2],
    ) -> Lanes {
        assert_eq!(params.priorities, priorities.len());
        let lanes = |port| {
            let stays_closed = stays_closed(params, port);
            priorities.iter().map(|_| Lane::new(stays_closed)).collect()
        };
        let rates = PORTS.map(|port| params.rate_of(port));
        // L sends no more than R brings: so the far relay, which is granted the time that the switch takes, sends what the switch took.
        let paced = [rates[0].min(rates[1]), rates[1]];
        let egress = |port: Port| Egress::new(sources[port as usize], paced[port as usize], response);
        Lanes {
            relay: Relay::new(params),
            longest_pause: lasting(LONGEST, rates[0].max(rates[1])),
            storm_after,
            priorities: priorities.to_vec(),
            rates,
            directions: PORTS.map(lanes),
            egress: PORTS.map(egress),
            leaves: None,
            is_frozen: false,
        }
    }

    /// A frame of the closed lane of this priority came in on `port`. Panics if there is no such lane.
    pub fn store(&mut self, port: Port, priority: u8, frame: &[u8], now: Time) {
        let number = self.number(priority);
        let none_waits = !self.waits_for(across(port));
        let lane = &mut self.directions[port as usize][number];
        (lane.is_closed, lane.idle_since) = (true, None);
        let figures = &mut self.egress[port as usize].figures;
        if lane.watchdog.has_given_up {
            figures.refused.given_up += 1;
            return;
        }
        match self.relay.frame_arrived(port, number, on_the_wire(frame.len()), now) {
            Admission::Dropped => figures.refused.overflow += 1,
            Admission::Accepted => {
                figures.stored += 1;
                let egress = &mut self.egress[across(port) as usize];
                if lane.waiting.is_empty() {
                    lane.allowance.begin(before(now, FREE));
                }
                if none_waits {
                    egress.begin(now);
                }
                lane.waiting.push_back(frame.to_vec());
                lane.peak = lane.peak.max(self.relay.waiting(port, number).get());
            }
        }
    }

    /// Hands what may leave on `port` to `send`, PFC frames first, and returns whether there was anything. What `send` refuses, by
    /// returning `false`, stays. Of the time that has passed [`Lanes::handle_timeout`] must have been told.
    pub fn transmit(&mut self, port: Port, now: Time, mut send: impl FnMut(&[u8]) -> bool) -> bool {
        if let Some(said) = self.poll_pfc(port) {
            let bytes: [u8; BYTES] = said.to_bytes(self.egress[port as usize].source);
            // One that is refused is lost, as the link may lose one; the next repeats it.
            if !send(&bytes) {
                return true;
            }
            let figures = &mut self.egress[port as usize].figures;
            for quanta in said.quanta.iter().flatten() {
                match quanta {
                    0 => figures.resumes_sent += 1,
                    _ => figures.pauses_sent += 1,
                }
            }
            return true;
        }
        if self.is_frozen {
            return false;
        }
        let Some((from, number)) = self.next(port, now).filter(|(from, _)| *from <= now) else {
            return false;
        };
        let lane = &mut self.directions[across(port) as usize][number];
        let frame = lane.waiting.front().expect("one waits");
        if !send(frame) {
            return false;
        }
        let size = on_the_wire(frame.len());
        lane.waiting.pop_front();
        let egress = &mut self.egress[port as usize];
        lane.allowance.sent(egress.sent(size, from), egress.free_at);
        egress.next = number + 1;
        self.relay.frame_left(port, number, size, now);
        true
    }

    /// Returns when the next frame begins on a port, and the number of its lane; lanes that may begin at the same time have turns.
    fn next(&self, port: Port, now: Time) -> Option<(Time, usize)> {
        let (egress, lanes) = (&self.egress[port as usize], &self.directions[across(port) as usize]);
        let turns = (0..lanes.len()).map(|turn| (egress.next + turn) % lanes.len());
        let waiting = turns.filter(|&number| {
            !lanes[number].waiting.is_empty() && lanes[number].allowance.may_begin(now, egress.made_up)
        });
        waiting
            .map(|number| (egress.begins(lanes[number].allowance.since(), now), number))
            .min_by_key(|(from, _)| *from)
    }

    /// Returns whether the lane of this number that leaves on a port is paused there.
    fn is_paused(&self, port: Port, number: usize, now: Time) -> bool {
        self.directions[across(port) as usize][number].allowance.paused_until() > now
    }

    /// Returns whether anything waits for a port: what the kernel passes out of it is of interest then.
    pub fn waits_for(&self, port: Port) -> bool {
        self.directions[across(port) as usize].iter().any(|lane| !lane.waiting.is_empty())
    }

    /// The kernel has passed this out of a port since it was last told, all priorities together: what waits leaves later by that.
    pub fn passed(&mut self, port: Port, size: Bytes, now: Time) {
        self.egress[port as usize].passed(size, now);
    }

    /// The kernel has passed this of a priority from R to L.
    pub fn passed_of_lane(&mut self, priority: u8, size: Bytes, now: Time) {
        if let Some(number) = self.priorities.iter().position(|own| *own == priority) {
            self.relay.passed(number, size, now);
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Time) {
        for port in PORTS {
            (0..self.priorities.len()).for_each(|number| self.note_run_out(port, number, now));
        }
        (0..self.priorities.len()).for_each(|number| self.tell(number, now));
        if self.relay.poll_timeout() <= now {
            self.relay.handle_timeout(now);
        }
        if self.leaves.is_some_and(|at| at <= now) {
            self.leave(now);
        }
        for port in PORTS {
            (0..self.priorities.len()).for_each(|number| self.watch(port, number, now));
        }
    }

    /// Looks after the lane of this number that comes in on a port.
    fn watch(&mut self, port: Port, number: usize, now: Time) {
        let is_paused = self.is_paused(across(port), number, now);
        let lane = &mut self.directions[port as usize][number];
        let watchdog = &mut lane.watchdog;
        match watchdog.since {
            Some((_, was)) if was == is_paused => {}
            None if !is_paused => return,
            _ => watchdog.since = Some((now, is_paused)),
        }
        let (since, _) = watchdog.since.expect("it was set");
        if watchdog.has_given_up == is_paused || now.since(since) < self.storm_after {
            return;
        }
        watchdog.has_given_up = is_paused;
        let dropped = std::mem::take(&mut lane.waiting);
        self.egress[port as usize].figures.refused.given_up += dropped.len() as u64;
        for frame in dropped {
            self.relay.frame_left(across(port), number, on_the_wire(frame.len()), now);
        }
    }

    /// Returns when to ask again for what may leave, if no frame comes before.
    pub fn poll_timeout(&self, now: Time) -> Time {
        let mut next = self.relay.poll_timeout().min(self.leaves.unwrap_or(Time::NEVER));
        for port in PORTS {
            if let Some((from, _)) = self.next(port, now).filter(|_| !self.is_frozen) {
                next = next.min(from);
            }
            for lane in &self.directions[across(port) as usize] {
                let until = lane.allowance.paused_until();
                next = next.min(if until > Time::ZERO { until } else { Time::NEVER });
                next = next.min(lane.telling.poll_timeout(self.egress[port as usize].made_up));
                next = next.min(lane.idle_since.map_or(Time::NEVER, |since| since + LINGERS));
                if let Some((since, is_paused)) = lane.watchdog.since {
                    if lane.watchdog.has_given_up != is_paused {
                        next = next.min(since + self.storm_after);
                    }
                }
            }
        }
        next
    }

    /// The closed lanes of which nothing waits, as the port that they come in on, their priority, and what is wanted of the kernel:
    /// first a note, and when nothing has come since then that it opens them.
    pub fn openable(&mut self, now: Time) -> Vec<(Port, u8, Want)> {
        let mut found = Vec::new();
        for port in PORTS {
            for (number, lane) in self.directions[port as usize].iter_mut().enumerate() {
                let is_busy = !lane.waiting.is_empty() || lane.watchdog.has_given_up || self.is_frozen;
                let is_paused = lane.allowance.paused_until() > now;
                if !lane.is_closed || lane.stays_closed || is_busy || is_paused {
                    lane.idle_since = None;
                    continue;
                }
                let want = match lane.idle_since {
                    None => Want::Note,
                    Some(since) if now.since(since) >= LINGERS => Want::Open,
                    Some(_) => continue,
                };
                lane.idle_since.get_or_insert(now);
                found.push((port, self.priorities[number], want));
            }
        }
        found
    }

    /// Notes the kernel's answer to [`Want::Open`]: a lane that was not opened has frames or a PAUSE on their way here.
    pub fn opened(&mut self, port: Port, priority: u8, is_open: bool) {
        let number = self.number(priority);
        let lane = &mut self.directions[port as usize][number];
        (lane.is_closed, lane.idle_since) = (!is_open, None);
    }

    fn number(&self, priority: u8) -> usize {
        self.priorities.iter().position(|own| *own == priority).expect("a lane of this relay")
    }

    /// Returns whether nothing waits, and the kernel passes on whatever comes.
    pub fn are_open(&self) -> bool {
        self.directions.iter().flatten().all(|lane| !lane.is_closed && lane.waiting.is_empty())
    }

    /// Returns the counts of a port.
    pub fn port(&self, port: Port) -> PortFigures {
        self.egress[port as usize].figures
    }

    /// Returns the priority and the state of each lane that comes in on a port.
    pub fn lanes(&self, port: Port, now: Time) -> impl Iterator<Item = (u8, LaneFigures)> + '_ {
        self.priorities.iter().zip(&self.directions[port as usize]).enumerate().map(
            move |(number, (priority, lane))| {
                let figures = LaneFigures {
                    waiting: self.relay.waiting(port, number).get(),
                    peak: lane.peak,
                    frames: lane.waiting.len() as u64,
                    is_paused: self.is_paused(across(port), number, now),
                    is_held: port == Port::Remote && self.relay.holds(number),
                    is_given_up: lane.watchdog.has_given_up,
                    drift: (port == Port::Remote)
                        .then(|| self.relay.drift(number, now))
                        .flatten()
                        .map(Bytes::get),
                };
                (*priority, figures)
            },
        )
    }
}

#[cfg(test)]
mod tests;
