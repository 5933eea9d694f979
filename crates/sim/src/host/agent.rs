//! Agents: entities at a node that are neither sender nor receiver of a flow, and exchange frames with others.
//!
//! An agent is a machine like those of flows: it is told what has come and what time it is, and asked whether it has
//! something to send. It sits in a seat, which knows its node, its clock and its conversation; the machine only ever
//! sees local time.

use clearway_proto::machine::Readiness;
use clearway_proto::units::Time;

use super::clock::LocalClock;
use super::message::Message;
use super::prober::{Prober, Responder};

/// The kinds of agent.
#[derive(Debug)]
pub enum Agent {
    /// Measures a path's round-trip time.
    Prober(Prober),
    /// Sends a prober's packets back.
    Responder(Responder),
}

impl Agent {
    /// A message has come.
    pub fn handle_message(&mut self, now: Time, message: &Message) {
        match self {
            Agent::Prober(prober) => prober.handle_message(now, message),
            Agent::Responder(responder) => responder.handle_message(message),
        }
    }

    /// Whether it has something to send, or when.
    pub fn readiness(&self, now: Time) -> Readiness {
        match self {
            Agent::Prober(prober) => prober.readiness(now),
            Agent::Responder(responder) => responder.readiness(),
        }
    }

    /// The message that is ready.
    pub fn transmit(&mut self, now: Time) -> Message {
        match self {
            Agent::Prober(prober) => prober.transmit(now),
            Agent::Responder(responder) => responder.transmit(),
        }
    }
}

/// Where an agent sits.
#[derive(Debug)]
pub struct Seat {
    /// The agent.
    pub agent: Agent,
    /// The conversation that it takes part in.
    pub conversation: u32,
    /// Its clock; none where that is exact.
    clock: Option<LocalClock>,
    /// The pending entry of its timer, in simulated time.
    pub timer_at: Time,
    /// When each of its messages was sent, in simulated time.
    pub sent: Vec<Time>,
}

impl Seat {
    /// A seat for an agent with this clock.
    pub fn new(agent: Agent, conversation: u32, clock: Option<LocalClock>) -> Seat {
        Seat { agent, conversation, clock, timer_at: Time::NEVER, sent: Vec::new() }
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
}
