//! The relay (section 5): a box at each end of a long link, between the fibre and the external switch.
//!
//! Port L faces the local switch, port R the fibre; both have the same rate. For each priority:
//!
//! | | what happens |
//! |---|---|
//! | PAUSE or RESUME comes in on L | L obeys, **and it goes out of R** as it is, repetitions included: this is all that differs from PFC |
//! | PAUSE or RESUME comes in on R | R obeys |
//! | a frame comes in on L | waits to leave on R; above XOFF the switch is told to pause, at XON to resume |
//! | a frame comes in on R | waits to leave on L; no threshold: a little over one BDP of room is enough |
//!
//! So the far relay sends what the local switch took one delay ago, and no loss of throughput hides in the round trip. Each
//! PFC frame goes out for itself: PAUSE and RESUME are never merged, as their distance is the message.
//!
//! That one BDP is enough takes it that both relays count alike. They do not where one clock is faster, where a PAUSE gets
//! lost, or where a PAUSE waits behind a frame and its RESUME does not: each time the far relay sends more than L does, and as
//! R has no threshold the difference stays. Beyond the paper, and off by default, are two reasons to *hold* the far relay,
//! whatever the switch says:
//! - [`RelayParams::safety`]: what waits and what was granted in the last round trip, and may yet come, exceed this;
//! - [`RelayParams::virtual_queue`]: they exceed what left in the last round trip by more than a target. It takes down
//!   the queue of (1-α) BDP that the relay otherwise keeps at a constant drain.
//!
//! The relay sees no frame, only that one came or left: whoever drives it holds the frames, asks [`Relay::may_begin`] before it
//! begins one, and after every call sends what [`Relay::poll_pfc`] has, ahead of all frames.

use super::grants::Sliding;
use super::quanta::{covering, lasting, LONGEST};
use crate::parameter::{Conflict, Shown};
use crate::units::{Bytes, Rate, Span, Time};

/// A port of the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// L: to the local switch.
    Local,
    /// R: to the fibre.
    Remote,
}

/// Whether there was room for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits for the other port.
    Accepted,
    /// It was dropped.
    Dropped,
}

/// A PFC frame of one priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pfc {
    /// The number of the priority, from 0.
    pub priority: usize,
    /// How long to pause; zero: resume.
    pub quanta: u16,
}

/// The virtual queue beyond the paper: what waits and what is granted may exceed what left, over a round trip, by a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualQueue {
    /// The length at which that queue is held (q*). A larger one answers faster when the drain grows.
    pub target: Bytes,
    /// Only while more than this waits.
    pub above: Bytes,
}

/// What a relay is set to, for each priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayParams {
    /// The rate of both ports.
    pub rate: Rate,
    /// Lossless priorities, 1 to 8.
    pub priorities: usize,
    /// What came in on L may wait up to this before the local switch is told to pause. 198 kB (section 6.1).
    pub xoff: Bytes,
    /// The local switch is told to resume when no more than this waits. 3 kB below XOFF (HPCC's code).
    pub xon: Bytes,
    /// Room for what came in on L. 318 kB (section 6.1).
    pub local_buffer: Bytes,
    /// Room for what came in on R. 41 MB (section 6.1: a BDP of 80 km at 400 Gb/s and a little).
    pub remote_buffer: Bytes,
    /// What a PAUSE of the relay itself asks for; it is repeated when half of that has passed. The most there is.
    pub quanta: u16,
    /// The long link's round trip, with what PFC frames may wait for at both ends. Read for what is beyond the paper only.
    /// 800 us.
    pub round_trip: Span,
    /// Hold the far relay while what waits at R and what was granted in the last round trip exceed this. Off.
    pub safety: Option<Bytes>,
    /// Hold the far relay for a short queue. Off.
    pub virtual_queue: Option<VirtualQueue>,
    /// How far below its threshold a reason to hold must fall to end. 3 kB.
    pub hysteresis: Bytes,
}

impl Default for RelayParams {
    fn default() -> Self {
        Self {
            rate: Rate::from_gbps(400),
            priorities: 1,
            xoff: Bytes::new(198_000),
            xon: Bytes::new(195_000),
            local_buffer: Bytes::new(318_000),
            remote_buffer: Bytes::new(41_000_000),
            quanta: LONGEST,
            round_trip: Span::from_us(800),
            safety: None,
            virtual_queue: None,
            hysteresis: Bytes::new(3_000),
        }
    }
}

impl RelayParams {
    /// What does not go together.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut found = Vec::new();
        let mut at_most = |name: (&'static str, Bytes), other: (&'static str, Bytes)| {
            if name.1 > other.1 {
                found.push(Conflict::between(
                    (name.0, name.1.shown()),
                    "is above",
                    (other.0, other.1.shown()),
                ));
            }
        };
        at_most(("xon", self.xon), ("xoff", self.xoff));
        at_most(("xoff", self.xoff), ("local_buffer", self.local_buffer));
        if let Some(safety) = self.safety {
            at_most(("safety", safety), ("remote_buffer", self.remote_buffer));
            if safety < self.least_safety() {
                let rule = format!(
                    "is less than what may be granted in a round trip, {}: an idle link would be held",
                    self.least_safety().shown()
                );
                found.push(Conflict::alone("safety", &safety.shown(), rule));
            }
        }
        if !(1..=8).contains(&self.priorities) {
            found.push(Conflict::alone("priorities", &self.priorities, "is not from 1 to 8"));
        }
        if self.quanta < 2 {
            found.push(Conflict::alone(
                "quanta",
                &self.quanta,
                "is less than 2: no PAUSE could be repeated in time",
            ));
        }
        found
    }

    /// The lowest `safety` that lets an idle link send at once: a round trip as the relay measures it, and the hysteresis.
    pub fn least_safety(&self) -> Bytes {
        let measured = Sliding::new(self.round_trip).length();
        Bytes::new(self.rate.sent_in(measured).get() + self.hysteresis.get())
    }
}

/// What the relay knows of one priority.
#[derive(Clone, Debug)]
struct Priority {
    /// Bytes that wait, by the port they came in on.
    waiting: [u64; 2],
    /// Until when each port pauses.
    paused_until: [Time; 2],
    /// When the local switch is to be told again to pause; none: it was told to resume.
    refresh_switch: Option<Time>,
    /// When the far relay is to be told again that it is held; none: it is not.
    refresh_hold: Option<Time>,
    /// Time for which the far relay was allowed to send, until `granted_until`.
    granted: Sliding,
    granted_until: Time,
    /// Bytes that left on L.
    sent: Sliding,
}

/// A relay. Its rules are those of the table at the head of this module.
#[derive(Clone, Debug)]
pub struct Relay {
    params: RelayParams,
    refresh: Span,
    priorities: Box<[Priority]>,
    /// Quanta of the PFC frame to send, by port and priority.
    pending: [[Option<u16>; 8]; 2],
}

impl Relay {
    /// A relay through which nothing has gone. Panics on parameters that conflict.
    pub fn new(params: &RelayParams) -> Relay {
        assert!(params.conflicts().is_empty(), "{:?}", params.conflicts());
        let priority = Priority {
            waiting: [0; 2],
            paused_until: [Time::ZERO; 2],
            refresh_switch: None,
            refresh_hold: None,
            granted: Sliding::new(params.round_trip),
            granted_until: Time::ZERO,
            sent: Sliding::new(params.round_trip),
        };
        Relay {
            refresh: lasting(params.quanta, params.rate) / 2,
            priorities: vec![priority; params.priorities].into(),
            pending: [[None; 8]; 2],
            params: params.clone(),
        }
    }

    /// A relay with the same parameters that has heard nothing, though so much waits in it: what came in on each port, by priority.
    #[must_use]
    pub fn anew(&self, waiting: impl Fn(Port, usize) -> Bytes, now: Time) -> Relay {
        let mut relay = Relay::new(&self.params);
        for priority in 0..relay.priorities.len() {
            for port in [Port::Local, Port::Remote] {
                relay.priorities[priority].waiting[port as usize] = waiting(port, priority).get();
            }
            relay.compare_with_thresholds(priority, now);
            relay.reconsider_hold(priority, now);
        }
        relay
    }

    /// A frame's last bit came in on `port`.
    pub fn frame_arrived(&mut self, port: Port, priority: usize, size: Bytes, now: Time) -> Admission {
        let room = match port {
            Port::Local => self.params.local_buffer,
            Port::Remote => self.params.remote_buffer,
        };
        let count = &mut self.priorities[priority].waiting[port as usize];
        if *count + size.get() > room.get() {
            return Admission::Dropped;
        }
        *count += size.get();
        match port {
            Port::Local => self.compare_with_thresholds(priority, now),
            Port::Remote => self.reconsider_hold(priority, now),
        }
        Admission::Accepted
    }

    /// A frame's last bit left on `port`.
    pub fn frame_left(&mut self, port: Port, priority: usize, size: Bytes, now: Time) {
        let came_in_on = match port {
            Port::Local => Port::Remote,
            Port::Remote => Port::Local,
        };
        let state = &mut self.priorities[priority];
        state.waiting[came_in_on as usize] -= size.get();
        match port {
            Port::Remote => self.compare_with_thresholds(priority, now),
            Port::Local => {
                if self.params.virtual_queue.is_some() {
                    state.sent.add(now, size.get());
                }
                self.reconsider_hold(priority, now);
            }
        }
    }

    /// PAUSE, or with no quanta RESUME, came in on `port`.
    pub fn pause_received(&mut self, port: Port, priority: usize, quanta: u16, now: Time) {
        self.count_grants(priority, now);
        let until = if quanta == 0 { Time::ZERO } else { now + lasting(quanta, self.params.rate) };
        self.priorities[priority].paused_until[port as usize] = until;
        if port == Port::Local {
            // Whoever is held hears of the switch when that is over.
            self.reconsider_hold(priority, now);
            if self.priorities[priority].refresh_hold.is_none() {
                self.pending[Port::Remote as usize][priority] = Some(quanta);
            }
        }
    }

    /// Whether `port` may begin a frame.
    pub fn may_begin(&self, port: Port, priority: usize, now: Time) -> bool {
        self.priorities[priority].paused_until[port as usize] <= now
    }

    /// A PFC frame to send out of `port`, if there is one.
    pub fn poll_pfc(&mut self, port: Port) -> Option<Pfc> {
        let pending = &mut self.pending[port as usize];
        let priority = pending.iter().position(Option::is_some)?;
        pending[priority].take().map(|quanta| Pfc { priority, quanta })
    }

    /// When `handle_timeout` is wanted: a PAUSE is to be repeated, or a port's pause runs out.
    pub fn poll_timeout(&self) -> Time {
        let of_priority = |state: &Priority| {
            let pauses = state.paused_until.iter().copied().filter(|&until| until > Time::ZERO);
            pauses.chain(state.refresh_switch).chain(state.refresh_hold).min().unwrap_or(Time::NEVER)
        };
        self.priorities.iter().map(of_priority).min().unwrap_or(Time::NEVER)
    }

    /// Repeats each PAUSE of the relay itself that is due, and forgets pauses that have run out.
    pub fn handle_timeout(&mut self, now: Time) {
        for priority in 0..self.priorities.len() {
            self.count_grants(priority, now);
            let state = &mut self.priorities[priority];
            for until in &mut state.paused_until {
                if *until <= now {
                    *until = Time::ZERO;
                }
            }
            let due = [(Port::Local, &mut state.refresh_switch), (Port::Remote, &mut state.refresh_hold)];
            for (port, refresh) in due {
                if refresh.is_some_and(|at| at <= now) {
                    *refresh = Some(now + self.refresh);
                    self.pending[port as usize][priority] = Some(self.params.quanta);
                }
            }
        }
    }

    /// The bytes that came in on `port` and wait for the other.
    pub fn waiting(&self, port: Port, priority: usize) -> Bytes {
        Bytes::new(self.priorities[priority].waiting[port as usize])
    }

    /// Whether the far relay is held for a reason beyond the paper.
    pub fn holds(&self, priority: usize) -> bool {
        self.priorities[priority].refresh_hold.is_some()
    }

    /// Tells the local switch to pause above XOFF and to resume at XON.
    fn compare_with_thresholds(&mut self, priority: usize, now: Time) {
        let state = &mut self.priorities[priority];
        let count = state.waiting[Port::Local as usize];
        let pending = &mut self.pending[Port::Local as usize][priority];
        if state.refresh_switch.is_none() && count > self.params.xoff.get() {
            state.refresh_switch = Some(now + self.refresh);
            *pending = Some(self.params.quanta);
        } else if state.refresh_switch.is_some() && count <= self.params.xon.get() {
            state.refresh_switch = None;
            *pending = Some(0);
        }
    }

    /// Begins or ends to hold the far relay.
    fn reconsider_hold(&mut self, priority: usize, now: Time) {
        if self.params.safety.is_none() && self.params.virtual_queue.is_none() {
            return;
        }
        self.count_grants(priority, now);
        let holds = self.priorities[priority].refresh_hold.is_some();
        if self.has_reason_to_hold(priority, now, holds) == holds {
            return;
        }
        let state = &mut self.priorities[priority];
        let quanta = if holds {
            state.refresh_hold = None;
            // What is left of the switch's PAUSE: nothing is a RESUME.
            covering(state.paused_until[Port::Local as usize].since(now), self.params.rate)
        } else {
            state.refresh_hold = Some(now + self.refresh);
            self.params.quanta
        };
        self.pending[Port::Remote as usize][priority] = Some(quanta);
    }

    fn has_reason_to_hold(&mut self, priority: usize, now: Time, holds: bool) -> bool {
        let state = &mut self.priorities[priority];
        let slack = if holds { self.params.hysteresis.get() } else { 0 };
        let queue = state.waiting[Port::Remote as usize];
        let granted = self.params.rate.sent_in(Span::from_ps(state.granted.sum(now))).get();
        let to_come = queue + granted + slack;
        let unsafe_now = self.params.safety.is_some_and(|limit| to_come > limit.get());
        let too_long = self.params.virtual_queue.is_some_and(|virtual_queue| {
            queue > virtual_queue.above.get() && to_come > state.sent.sum(now) + virtual_queue.target.get()
        });
        unsafe_now || too_long
    }

    /// Counts the time up to `now` for which the far relay was allowed to send.
    fn count_grants(&mut self, priority: usize, now: Time) {
        if self.params.safety.is_none() && self.params.virtual_queue.is_none() {
            return;
        }
        let state = &mut self.priorities[priority];
        if state.refresh_hold.is_none() {
            let from = state.granted_until.max(state.paused_until[Port::Local as usize]);
            state.granted.add_time(from, now);
        }
        state.granted_until = now;
    }
}

#[cfg(test)]
mod tests;
