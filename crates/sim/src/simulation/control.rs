//! Fastpass's control packets in a domain: what arbiters and endpoints send each other, as ordinary frames.

use clearway_proto::fastpass::arbiter::ArbiterOutput;
use clearway_proto::fastpass::fcp::header::MAX_BYTES;
use clearway_proto::fastpass::fcp::{self, Answer, Packet, Path, Request, Trial};

use super::domain::Domain;
use super::parcels::Parcel;
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind, Meta};
use crate::host::agent::Agent;
use crate::model::MOST_CONTROL;
use crate::net::routes::Next;

impl Domain {
    /// A control packet has come for the agent in a seat.
    pub(super) fn take_control(&mut self, plan: &Plan, seat: u32, frame: &Frame) {
        let packet = self.out.parcels.take_control(frame.seq());
        let control = plan.control();
        let conversation = plan.routes.conversation(frame.route()) - control.first;
        let back = usize::from(frame.meta.contains(Meta::ACK));
        self.agents.exchanged[conversation as usize][back].taken.add(1, frame.meta.size().into());
        let now = self.out.time();
        let index = frame.route() - plan.routes.of(conversation + control.first).0;
        let at = &mut self.agents.seats[seat as usize];
        let local = at.tell(now);
        match &mut at.agent {
            Agent::Arbiter(arbiter) => {
                arbiter.handle_packet(now, packet);
                self.run_arbiter(plan, seat);
            }
            Agent::Endpoint(endpoint) => {
                let host = endpoint.host;
                let back = match &packet {
                    Packet::Allocation(allocation) => allocation.back,
                    Packet::Reset(reset) => reset.back,
                    Packet::Request(_) | Packet::Watchdog(_) | Packet::Trial(_) | Packet::Answer(_) => None,
                };
                if !matches!(packet, Packet::Trial(_)) {
                    let count = plan.routes.of(conversation + control.first).1;
                    let back = back.map_or(index, |path| control.route_index(path, count));
                    self.agents.rotations[conversation as usize][0].hear(now, back);
                }
                match packet {
                    Packet::Allocation(allocation) => endpoint.machine.handle_allocation(local, &allocation),
                    Packet::Reset(reset) => endpoint.machine.handle_reset(local, &reset),
                    Packet::Trial(trial) => endpoint.machine.handle_trial(&trial),
                    Packet::Request(_) | Packet::Watchdog(_) | Packet::Answer(_) => {
                        unreachable!("no arbiter sends these to endpoints")
                    }
                }
                self.ask_endpoint(plan, host);
            }
            Agent::Prober(_) | Agent::Responder(_) => unreachable!("probes send no control packets"),
        }
    }

    /// Sends a control packet on a conversation, `back` against its direction, by the route of this index among its own.
    fn send_control(&mut self, plan: &Plan, conversation: u32, back: bool, index: u32, packet: Box<Packet>) {
        let bytes = packet.wire_bytes();
        assert!(bytes <= MOST_CONTROL, "a control packet of {bytes} bytes");
        if cfg!(debug_assertions) {
            check_format(&packet);
        }
        let first = plan.control().first;
        let sent = &mut self.agents.exchanged[(conversation - first) as usize][usize::from(back)].sent;
        sent.add(1, bytes.into());
        let place = self.out.parcels.put(Parcel::Control(packet));
        let route = plan.routes.of(conversation).0 + index;
        let meta = Meta::new(bytes, Meta::POOLED | if back { Meta::ACK } else { 0 });
        let Next::Port(port) = plan.routes.next(route, meta) else {
            unreachable!("a conversation has two ends, apart from each other");
        };
        let route_seq = u64::from(route) << 32 | u64::from(place);
        self.offer(plan, port, Frame { stamp: self.out.now, route_seq, meta });
    }

    /// Returns the index of the route of the next packet on a conversation, `back` against its direction.
    fn next_route(&mut self, plan: &Plan, conversation: u32, back: bool) -> u32 {
        let count = plan.routes.of(conversation).1;
        let now = self.out.time();
        let rotations = &mut self.agents.rotations[(conversation - plan.control().first) as usize];
        rotations[usize::from(back)].choose(now, count)
    }

    /// An endpoint's request leaves for every arbiter.
    pub(super) fn send_request(&mut self, plan: &Plan, endpoint: usize, request: &Request) {
        let control = plan.control();
        for rank in 0..control.arbiters.len() {
            let conversation = control.of_endpoint(endpoint, rank);
            let index = self.next_route(plan, conversation, false);
            self.send_control(plan, conversation, false, index, Box::new(Packet::Request(*request)));
        }
    }

    /// An endpoint's answer to a trial leaves on its path.
    pub(super) fn send_answer(&mut self, plan: &Plan, endpoint: usize, answer: Answer, path: Path) {
        let control = plan.control();
        let conversation = control.of_endpoint(endpoint, answer.rank.into());
        let index = control.route_index(path, plan.routes.of(conversation).1);
        self.send_control(plan, conversation, false, index, Box::new(Packet::Answer(answer)));
    }

    /// A trial leaves an endpoint for another, on its path. One for a host without an endpoint goes nowhere, as it would on a
    /// wire.
    pub(super) fn send_trial_on(&mut self, plan: &Plan, endpoint: usize, trial: Trial, path: Path) {
        let control = plan.control();
        let other = control.endpoint_of(trial.to);
        let Some((conversation, back)) = other.and_then(|other| control.of_neighbours(endpoint, other))
        else {
            return;
        };
        let index = control.route_index(path, plan.routes.of(conversation).1);
        self.send_control(plan, conversation, back, index, Box::new(Packet::Trial(trial)));
    }

    /// Lets an arbiter do what is due, and sets its timer.
    pub(super) fn run_arbiter(&mut self, plan: &Plan, seat: u32) {
        let now = self.out.time();
        loop {
            let at = &mut self.agents.seats[seat as usize];
            let local = at.tell(now);
            let Agent::Arbiter(arbiter) = &mut at.agent else { unreachable!("the seat is an arbiter's") };
            arbiter.run(now, local);
            let rank = arbiter.rank;
            if let Some(output) = arbiter.output(now) {
                self.send_output(plan, rank, &output);
                continue;
            }
            let (simulated, wanted) = arbiter.wanted(local);
            let mut set = at.set_timer(now, wanted);
            set |= at.set_timer_at(simulated);
            if set {
                let due = at.timer_at.as_ps();
                self.out.schedule(Event::bare(due, Kind::Act, seat));
            }
            return;
        }
    }

    fn send_output(&mut self, plan: &Plan, rank: usize, output: &ArbiterOutput) {
        let control = plan.control();
        match *output {
            ArbiterOutput::Allocation(allocation, path) => {
                let packet = Box::new(Packet::Allocation(allocation));
                self.send_to_endpoint(plan, rank, allocation.to, path, packet);
            }
            ArbiterOutput::Reset(reset, path) => {
                self.send_to_endpoint(plan, rank, reset.to, path, Box::new(Packet::Reset(reset)));
            }
            ArbiterOutput::Trial(trial, path) => {
                self.send_to_endpoint(plan, rank, trial.to, Some(path), Box::new(Packet::Trial(trial)));
            }
            ArbiterOutput::Watchdog(watchdog) => {
                for other in (0..control.arbiters.len()).filter(|&other| other != rank) {
                    let conversation = control.of_arbiters(rank.min(other), rank.max(other));
                    let index = self.next_route(plan, conversation, other < rank);
                    let packet = Box::new(Packet::Watchdog(watchdog));
                    self.send_control(plan, conversation, other < rank, index, packet);
                }
            }
        }
    }

    /// A packet of an arbiter leaves for an endpoint, on this path or one in its turn. What is for a host without an endpoint, as
    /// a new primary tells all whose addresses it knows, goes nowhere.
    fn send_to_endpoint(
        &mut self,
        plan: &Plan,
        rank: usize,
        to: fcp::Address,
        path: Option<Path>,
        packet: Box<Packet>,
    ) {
        let control = plan.control();
        let Some(endpoint) = control.endpoint_of(to) else { return };
        let conversation = control.of_endpoint(endpoint, rank);
        let count = plan.routes.of(conversation).1;
        let index = match path {
            Some(path) => control.route_index(path, count),
            None => self.next_route(plan, conversation, true),
        };
        self.send_control(plan, conversation, true, index, packet);
    }

    /// The timer of an endpoint or an arbiter runs out.
    pub(super) fn wake_fastpass(&mut self, plan: &Plan, seat: u32) {
        let now = self.out.time();
        let at = &mut self.agents.seats[seat as usize];
        let local = at.tell(now);
        match &mut at.agent {
            Agent::Arbiter(_) => self.run_arbiter(plan, seat),
            Agent::Endpoint(endpoint) => {
                let host = endpoint.host;
                endpoint.machine.handle_timeout(local);
                self.ask_endpoint(plan, host);
            }
            Agent::Prober(_) | Agent::Responder(_) => unreachable!("these are asked by themselves"),
        }
    }
}

/// Checks that a control packet is the same once it has been written and read, and as long as it says: so a run without
/// optimization tests the format, too.
fn check_format(packet: &Packet) {
    let mut buffer = [0; MAX_BYTES];
    let len = packet.encode(&mut buffer).unwrap_or_else(|error| panic!("{packet:?}: {error}"));
    assert_eq!(packet.bytes() as usize, len, "the length of {packet:?}");
    assert_eq!(
        Packet::decode(&buffer[..len]).as_ref(),
        Ok(packet),
        "what is read of a packet that was written"
    );
}
