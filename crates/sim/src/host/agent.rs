//! Agents: entities at a node that are neither sender nor receiver of a flow, and exchange frames with others.
//!
//! An agent is a machine like those of flows: it is told what has come and what time it is, and asked whether it has
//! something to send. It sits in a seat, which knows its node, its clock and its conversation; the machine only ever
//! sees local time.

use clearway_proto::machine::Readiness;
use clearway_proto::units::Time;

use super::arbiter::ArbiterHost;
use super::clock::LocalClock;
use super::endpoint::EndpointHost;
use super::message::Message;
use super::prober::{Prober, Responder};

/// Why an agent of Fastpass is not asked for messages.
const NO_MESSAGES: &str = "Fastpass's agents exchange control packets, see simulation::control";

/// The kinds of agent.
#[derive(Debug)]
pub enum Agent {
    /// Measures a path's round-trip time.
    Prober(Prober),
    /// Sends a prober's packets back.
    Responder(Responder),
    /// Asks for timeslots, and says when they come.
    Endpoint(Box<EndpointHost>),
    /// Allocates timeslots.
    Arbiter(Box<ArbiterHost>),
}

impl Agent {
    /// A message has come.
    pub fn handle_message(&mut self, now: Time, message: &Message) {
        match self {
            Agent::Prober(prober) => prober.handle_message(now, message),
            Agent::Responder(responder) => responder.handle_message(message),
            Agent::Endpoint(_) | Agent::Arbiter(_) => unreachable!("{NO_MESSAGES}"),
        }
    }

    /// Returns whether it has something to send, or when.
    pub fn readiness(&self, now: Time) -> Readiness {
        match self {
            Agent::Prober(prober) => prober.readiness(now),
            Agent::Responder(responder) => responder.readiness(),
            Agent::Endpoint(_) | Agent::Arbiter(_) => unreachable!("{NO_MESSAGES}"),
        }
    }

    /// The message that is ready.
    pub fn transmit(&mut self, now: Time) -> Message {
        match self {
            Agent::Prober(prober) => prober.transmit(now),
            Agent::Responder(responder) => responder.transmit(),
            Agent::Endpoint(_) | Agent::Arbiter(_) => unreachable!("{NO_MESSAGES}"),
        }
    }
}

/// Where an agent sits.
#[derive(Debug)]
pub struct Seat {
    /// The agent.
    pub agent: Agent,
    /// The conversation that a probe's agent takes part in; the first of an endpoint's or arbiter's.
    pub conversation: u32,
    /// Its clock; none where that is exact.
    clock: Option<LocalClock>,
    /// The pending entry of its timer, in simulated time.
    pub timer_at: Time,
    /// The local time that the pending entry of its timer stands for; of Fastpass's agents.
    timer_for: Time,
    /// The latest local time that one of Fastpass's agents was told.
    told: Time,
    /// When each of its messages was sent, in simulated time.
    pub sent: Vec<Time>,
}

impl Seat {
    /// A seat for an agent with this clock.
    pub fn new(agent: Agent, conversation: u32, clock: Option<LocalClock>) -> Seat {
        Seat {
            agent,
            conversation,
            clock,
            timer_at: Time::NEVER,
            timer_for: Time::ZERO,
            told: Time::ZERO,
            sent: Vec::new(),
        }
    }

    /// A reading of the clock at `now`.
    pub fn reading(&mut self, now: Time) -> Time {
        match &mut self.clock {
            Some(clock) => Time::from_ps(clock.read(now.as_ps()).max(0) as u64),
            None => now,
        }
    }

    /// The local time by which timers go: what the clock shows at `now`, without the error of a reading.
    pub fn local(&self, now: Time) -> Time {
        self.clock.as_ref().map_or(now, |clock| clock.local(now))
    }

    /// The simulated time at which the clock shows `local`.
    pub fn simulated(&self, local: Time) -> Time {
        self.clock.as_ref().map_or(local, |clock| clock.simulated(local))
    }

    /// The local time that a machine is told at `now`, which never goes back.
    pub fn tell(&mut self, now: Time) -> Time {
        self.told = self.told.max(self.local(now));
        self.told
    }

    /// Sets the timer for the local time `local`, unless it is set for an earlier one. Returns whether it was set. It runs out
    /// when a reading of the clock, with its error, shows that time.
    pub fn set_timer(&mut self, now: Time, local: Time) -> bool {
        if self.simulated(local).max(now) >= self.timer_at {
            return false;
        }
        let due = self.clock.as_mut().map_or(local, |clock| clock.wake(local)).max(now);
        let sooner = due < self.timer_at;
        if sooner {
            (self.timer_at, self.timer_for) = (due, local);
        }
        sooner
    }

    /// Sets the timer for a simulated time, unless it is set for an earlier one. Returns whether it was set.
    pub fn set_timer_at(&mut self, at: Time) -> bool {
        let sooner = at < self.timer_at;
        if sooner {
            (self.timer_at, self.timer_for) = (at, Time::ZERO);
        }
        sooner
    }

    /// Returns whether the timer runs out at `now`. Then the time for which it was set has come, as far as the machine can tell.
    pub fn runs_out(&mut self, now: Time) -> bool {
        if self.timer_at != now {
            return false;
        }
        self.timer_at = Time::NEVER;
        self.told = self.told.max(self.timer_for);
        true
    }
}
