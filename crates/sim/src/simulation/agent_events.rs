//! What happens to agents: frames come for them, and their timers run out.

use clearway_proto::machine::Readiness;
use clearway_proto::units::Time;

use super::domain::Domain;
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind, Meta};
use crate::host::agent::Agent;
use crate::host::message::Message;
use crate::net::routes::Next;

impl Domain {
    /// A frame has come for the agent in a seat.
    pub(super) fn tell_agent(&mut self, plan: &Plan, seat: u32, frame: &Frame) {
        if frame.meta.contains(Meta::POOLED) {
            return self.take_control(plan, seat, frame);
        }
        let now = self.out.time();
        let at = &mut self.agents.seats[seat as usize];
        let message = Message {
            seq: frame.seq(),
            stamp: Time::from_ps(frame.stamp),
            bytes: frame.meta.size(),
            answers: frame.meta.contains(Meta::ACK),
        };
        let reading = at.reading(now);
        at.agent.handle_message(reading, &message);
        self.ask_agent(plan, seat);
    }

    /// An agent's timer runs out.
    pub(super) fn wake_agent(&mut self, plan: &Plan, seat: u32) {
        let now = self.out.time();
        let at = &mut self.agents.seats[seat as usize];
        if at.runs_out(now) {
            match at.agent {
                Agent::Prober(_) | Agent::Responder(_) => self.ask_agent(plan, seat),
                Agent::Endpoint(_) | Agent::Arbiter(_) => self.wake_fastpass(plan, seat),
            }
        }
    }

    /// Lets an agent send all that it has to send, and sets its timer.
    fn ask_agent(&mut self, plan: &Plan, seat: u32) {
        let now = self.out.time();
        loop {
            let at = &mut self.agents.seats[seat as usize];
            match at.agent.readiness(at.local(now)) {
                Readiness::Ready => {
                    let reading = at.reading(now);
                    let message = at.agent.transmit(reading);
                    at.sent.push(now);
                    let conversation = at.conversation;
                    self.send_message(plan, conversation, &message);
                }
                Readiness::At(local) => return self.arm_agent(seat, local),
                Readiness::Idle => return,
            }
        }
    }

    fn arm_agent(&mut self, seat: u32, local: Time) {
        let now = self.out.time();
        let at = &mut self.agents.seats[seat as usize];
        let due = at.simulated(local).max(now);
        if due < at.timer_at {
            at.timer_at = due;
            self.out.schedule(Event::bare(due.as_ps(), Kind::Act, seat));
        }
    }

    fn send_message(&mut self, plan: &Plan, conversation: u32, message: &Message) {
        let (route, _) = plan.routes.of(conversation);
        let meta = Meta::new(message.bytes, if message.answers { Meta::ACK } else { 0 });
        let Next::Port(port) = plan.routes.next(route, meta) else {
            unreachable!("a conversation has two ends, apart from each other");
        };
        let route_seq = u64::from(route) << 32 | u64::from(message.seq);
        self.offer_of_agent(plan, port, Frame { stamp: message.stamp.as_ps(), route_seq, meta });
    }
}
