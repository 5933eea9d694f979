//! The relay (section 5): a box at each end of a long link, between the fibre and the external switch.
//!
//! Port L faces the local switch, port R the fibre; both have the same rate, unless [`RelayParams::local_rate`] is another. For each
//! priority:
//!
//! | | what happens |
//! |---|---|
//! | PAUSE or RESUME comes in on L | L obeys, **and it goes out of R** as it is, repetitions included: this is all that differs from PFC |
//! | PAUSE or RESUME comes in on R | R obeys |
//! | a frame comes in on L | waits to leave on R; above XOFF the switch is told to pause, at XON to resume |
//! | a frame comes in on R | waits to leave on L; no threshold: a little over one BDP of room is enough |
//!
//! So the far relay sends what the local switch took one delay ago, and no loss of throughput hides in the round trip. Each
//! PFC frame goes out for itself: PAUSE and RESUME are not merged, as their distance is the message (`signals` has
//! the bound).
//!
//! That one BDP is enough takes it that both relays count alike. They do not where one clock is faster, where a PAUSE gets
//! lost, or where a PAUSE waits behind a frame and its RESUME does not: each time the far relay sends more than L does, and as
//! R has no threshold the difference stays. Beyond the paper, and off by default, are two reasons to *hold* the far relay,
//! whatever the switch says:
//! - [`RelayParams::safety`]: what waits and what may yet come of what was granted in the last round trip exceed this
//!   ([`super::holding`] has the arithmetic);
//! - [`RelayParams::virtual_queue`]: they exceed what left in the last round trip by more than a target. It takes down
//!   the queue of (1-α) BDP that the relay otherwise keeps at a constant drain.
//!
//! Beyond the paper, too, are ports of different rates. A PAUSE of the switch goes on for as long as it lasts on L: as other quanta, and
//! repeated where those of R cannot last that long. Whoever drives the relay sends on L no faster than R brings, so that the far relay
//! sends what the switch took; where L is slower than R, the far relay is granted more than L takes, and `safety` must hold it.
//!
//! The relay sees no frame, only that one came or left: whoever drives it holds the frames, asks [`Relay::may_begin`] before it
//! begins one, and after every call sends what [`Relay::poll_pfc`] has, ahead of all frames.

use super::grants::Sliding;
use super::signals::Signals;
use crate::pfc::account::{Account, Charged, Thresholds};
use crate::pfc::quanta::{covering, lasting};
use crate::units::{Bytes, Rate, Span, Time};

mod hold;
mod params;

pub use super::signals::Pfc;
pub use params::{RelayParams, VirtualQueue};

/// A port of the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// L: to the local switch.
    Local,
    /// R: to the fibre.
    Remote,
}

impl Port {
    /// The name of the port: `local` or `remote`.
    pub fn name(self) -> &'static str {
        match self {
            Port::Local => "local",
            Port::Remote => "remote",
        }
    }
}

const PORTS: [Port; 2] = [Port::Local, Port::Remote];

/// Whether there was room for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits for the other port.
    Accepted,
    /// It was dropped.
    Dropped,
}

impl RelayParams {
    /// Returns the rate of a port.
    pub fn rate_of(&self, port: Port) -> Rate {
        match port {
            Port::Local => self.local_rate.unwrap_or(self.rate),
            Port::Remote => self.rate,
        }
    }
}

/// What the relay knows of one priority.
#[derive(Clone, Debug)]
struct Priority {
    /// What came in on L and waits for R.
    local: Account,
    /// Bytes that came in on R and wait for L.
    remote: u64,
    /// Until when each port pauses.
    paused_until: [Time; 2],
    /// When the local switch is to be told again to pause; none: it was told to resume.
    refresh_switch: Option<Time>,
    /// When the far relay is to be told again that it is held; none: it is not.
    refresh_hold: Option<Time>,
    /// When the far relay is to be told again of the switch's PAUSE; none: what it was told covers that. Over a faster fibre the
    /// longest PAUSE is shorter.
    refresh_passed: Option<Time>,
    /// Time for which the far relay was allowed to send, until `granted_until`.
    granted: Sliding,
    granted_until: Time,
    /// The overruns of grants that have ended, in bytes.
    overruns: Sliding,
    /// When to look whether it must be held, or held no longer, if nothing comes and nothing leaves; for `safety`.
    look_at: Time,
    /// Bytes that left on L.
    sent: Sliding,
}

/// A relay. Its rules are those of the table at the head of this module.
#[derive(Clone, Debug)]
pub struct Relay {
    params: RelayParams,
    /// When port L pauses the local switch.
    thresholds: Thresholds,
    /// The time from one PAUSE of the relay's own to the next, by port.
    refresh: [Span; 2],
    priorities: Box<[Priority]>,
    /// PFC frames to send, by port.
    pending: [Signals; 2],
}

impl Relay {
    /// A relay through which nothing has gone. Panics on parameters that conflict.
    pub fn new(params: &RelayParams) -> Relay {
        assert!(params.conflicts().is_empty(), "{:?}", params.conflicts());
        // Nobody has told the far relay to pause before.
        let granted = match params.safety {
            Some(_) => Sliding::of_all_time(params.round_trip),
            None => Sliding::new(params.round_trip),
        };
        let priority = Priority {
            local: Account::default(),
            remote: 0,
            paused_until: [Time::ZERO; 2],
            refresh_switch: None,
            refresh_hold: None,
            refresh_passed: None,
            granted,
            granted_until: Time::ZERO,
            overruns: Sliding::new(params.round_trip),
            look_at: Time::NEVER,
            sent: Sliding::new(params.round_trip),
        };
        Relay {
            refresh: PORTS.map(|port| lasting(params.quanta, params.rate_of(port)) / 2),
            priorities: vec![priority; params.priorities].into(),
            pending: [Signals::new(params.priorities), Signals::new(params.priorities)],
            thresholds: params.thresholds(),
            params: params.clone(),
        }
    }

    /// Returns a relay with the same parameters that has heard nothing, though frames wait in it: `waiting` has the bytes that
    /// came in on a port, of a priority.
    #[must_use]
    pub fn anew(&self, waiting: impl Fn(Port, usize) -> Bytes, now: Time) -> Relay {
        let mut relay = Relay::new(&self.params);
        for priority in 0..relay.priorities.len() {
            let state = &mut relay.priorities[priority];
            state.local.take(&relay.thresholds, waiting(Port::Local, priority).get());
            state.remote = waiting(Port::Remote, priority).get();
            if state.local.pauses_if_above() {
                relay.pause_switch(priority, now);
            }
            relay.reconsider_hold(priority, now);
        }
        relay
    }

    /// A frame's last bit came in on `port`.
    pub fn frame_arrived(&mut self, port: Port, priority: usize, size: Bytes, now: Time) -> Admission {
        let state = &mut self.priorities[priority];
        match port {
            Port::Local => match state.local.charge(&self.thresholds, size.get(), None) {
                Charged::Overflow => return Admission::Dropped,
                Charged::Taken { pauses: true, .. } => self.pause_switch(priority, now),
                Charged::Taken { .. } => (),
            },
            Port::Remote if state.remote + size.get() > self.params.remote_buffer.get() => {
                return Admission::Dropped;
            }
            Port::Remote => {
                state.remote += size.get();
                self.reconsider_hold(priority, now);
            }
        }
        Admission::Accepted
    }

    /// A frame's last bit left on `port`.
    pub fn frame_left(&mut self, port: Port, priority: usize, size: Bytes, now: Time) {
        let state = &mut self.priorities[priority];
        match port {
            Port::Remote => {
                state.local.release(size.get());
                if state.local.resume_if_below(&self.thresholds, None) {
                    state.refresh_switch = None;
                    self.pending[Port::Local as usize].push(Pfc { priority, quanta: 0 });
                }
            }
            Port::Local => {
                state.remote -= size.get();
                if self.params.virtual_queue.is_some() {
                    state.sent.add(now, size.get());
                }
                self.reconsider_hold(priority, now);
            }
        }
    }

    /// Bytes that came in on R have left on L past this relay, whoever took them there: the virtual queue counts them.
    pub fn passed(&mut self, priority: usize, size: Bytes, now: Time) {
        if self.params.virtual_queue.is_some() {
            self.priorities[priority].sent.add(now, size.get());
            self.reconsider_hold(priority, now);
        }
    }

    /// PAUSE, or with no quanta RESUME, came in on `port`.
    pub fn pause_received(&mut self, port: Port, priority: usize, quanta: u16, now: Time) {
        self.count_grants(priority, now);
        let grants = self.grants(priority, now);
        let until = if quanta == 0 { Time::ZERO } else { now + lasting(quanta, self.params.rate_of(port)) };
        self.priorities[priority].paused_until[port as usize] = until;
        if port == Port::Local {
            self.note_end_of_grant(priority, grants, now);
            // Whoever is held hears of the switch when that is over.
            self.reconsider_hold(priority, now);
            if self.priorities[priority].refresh_hold.is_none() {
                match self.params.local_rate {
                    None => self.pending[Port::Remote as usize].push(Pfc { priority, quanta }),
                    Some(_) => self.pass_pause_on(priority, now),
                }
            }
        }
    }

    /// Returns whether `port` may begin a frame.
    pub fn may_begin(&self, port: Port, priority: usize, now: Time) -> bool {
        self.priorities[priority].paused_until[port as usize] <= now
    }

    /// Returns until when `port` is paused; a time that has passed: it is not.
    pub fn paused_until(&self, port: Port, priority: usize) -> Time {
        self.priorities[priority].paused_until[port as usize]
    }

    /// The PFC frame to send next out of `port`, if there is one; they come in the order in which they were decided.
    pub fn poll_pfc(&mut self, port: Port) -> Option<Pfc> {
        self.pending[port as usize].pop()
    }

    /// Returns when `handle_timeout` is wanted: a PAUSE is to be repeated, a port's pause runs out, or the far relay is to be
    /// held.
    pub fn poll_timeout(&self) -> Time {
        let of_priority = |state: &Priority| {
            let pauses = state.paused_until.iter().copied().filter(|&until| until > Time::ZERO);
            let repeated =
                pauses.chain(state.refresh_switch).chain(state.refresh_hold).chain(state.refresh_passed);
            repeated.min().unwrap_or(Time::NEVER).min(state.look_at)
        };
        self.priorities.iter().map(of_priority).min().unwrap_or(Time::NEVER)
    }

    /// Repeats each PAUSE of the relay itself that is due, forgets pauses that have run out, and holds the far relay if it is
    /// time.
    pub fn handle_timeout(&mut self, now: Time) {
        for priority in 0..self.priorities.len() {
            self.count_grants(priority, now);
            let state = &mut self.priorities[priority];
            let ends = |until: Time| until > Time::ZERO && until <= now;
            let looks = state.look_at <= now || ends(state.paused_until[Port::Local as usize]);
            for until in &mut state.paused_until {
                if *until <= now {
                    *until = Time::ZERO;
                }
            }
            let due = [(Port::Local, &mut state.refresh_switch), (Port::Remote, &mut state.refresh_hold)];
            for (port, refresh) in due {
                if refresh.is_some_and(|at| at <= now) {
                    *refresh = Some(now + self.refresh[port as usize]);
                    self.pending[port as usize].push(Pfc { priority, quanta: self.params.quanta });
                }
            }
            if state.refresh_passed.take_if(|at| *at <= now).is_some() && state.refresh_hold.is_none() {
                self.pass_pause_on(priority, now);
            }
            if looks && self.params.safety.is_some() {
                self.reconsider_hold(priority, now);
            }
        }
    }

    /// The bytes that came in on `port` and wait for the other.
    pub fn waiting(&self, port: Port, priority: usize) -> Bytes {
        let state = &self.priorities[priority];
        Bytes::new(match port {
            Port::Local => state.local.held(),
            Port::Remote => state.remote,
        })
    }

    /// Returns whether the far relay is held for a reason beyond the paper.
    pub fn holds(&self, priority: usize) -> bool {
        self.priorities[priority].refresh_hold.is_some()
    }

    /// The bytes above which the far relay is held; `None`: it is not.
    pub fn safety(&self) -> Option<Bytes> {
        self.params.safety
    }

    /// Tells the far relay what is left of the switch's PAUSE; nothing is a RESUME.
    fn pass_pause_on(&mut self, priority: usize, now: Time) {
        let state = &mut self.priorities[priority];
        let left = state.paused_until[Port::Local as usize].since(now);
        let quanta = covering(left, self.params.rate);
        let lasts = lasting(quanta, self.params.rate);
        state.refresh_passed = (lasts < left).then(|| now + lasts / 2);
        self.pending[Port::Remote as usize].push(Pfc { priority, quanta });
    }

    /// Tells the local switch to pause.
    fn pause_switch(&mut self, priority: usize, now: Time) {
        self.priorities[priority].refresh_switch = Some(now + self.refresh[Port::Local as usize]);
        self.pending[Port::Local as usize].push(Pfc { priority, quanta: self.params.quanta });
    }
}

#[cfg(test)]
mod tests;
