//! Conservation: every frame and byte that was sent has arrived, is lost, waits, or is under way. Checked at the
//! end of every run, over all domains, from counters that are kept apart.

use clearway_proto::units::Time;

use super::domain::Domain;
use super::exchanged::{Amount, Exchanged};
use super::plan::sized;
use super::simulator::Simulation;
use crate::engine::event::{Event, Frame, Kind, Meta};
use crate::topology::NodeKind;

impl Simulation {
    /// Panics, naming the flow or node, when the simulator has lost track of something.
    pub fn assert_conservation(&self) {
        self.assert_flows_balance();
        self.assert_nodes_balance();
        self.assert_classes_balance();
        self.assert_pauses_balance();
        self.assert_payload_is_whole();
        self.assert_operations_balance();
        self.assert_jobs_balance();
        let pooled = self.frames_under_way().filter(|frame| frame.meta.contains(Meta::POOLED)).count();
        let parcels: usize = self.domains.iter().map(|domain| domain.out.parcels.len()).sum();
        assert_eq!(parcels, pooled, "what frames carry has leaked from its pool");
        for domain in &self.domains {
            domain.fabric.ports.assert_memories_balance(domain.out.calendar.slots());
            let in_use = domain.events().count() + domain.waiting_frames().count();
            assert_eq!(domain.out.calendar.slots_in_use(), in_use, "slots of events have been lost");
        }
    }

    /// For each flow, data sent = arrived + lost + under way, and so for acknowledgements; and for what agents send.
    fn assert_flows_balance(&self) {
        let flows = self.plan.specs.len();
        let mut under_way = vec![[0_u64; 2]; self.plan.conversations()];
        for frame in self.frames_under_way() {
            let conversation = self.plan.routes.conversation(frame.route());
            under_way[conversation as usize][usize::from(frame.meta.contains(Meta::ACK))] += 1;
        }
        let of_control = under_way.split_off(flows + self.plan.probes.len());
        let of_probes = under_way.split_off(flows);
        for (probe, [out, home]) in of_probes.into_iter().enumerate() {
            self.assert_probe_balances(probe, [out, home]);
        }
        for (number, under_way) in of_control.into_iter().enumerate() {
            self.assert_control_balances(number, under_way);
        }
        for (flow, [data, acks]) in (0..).zip(under_way) {
            let (sender, receiver) = (self.sender(flow), self.receiver(flow));
            let (sent, lost) = (sender.sender.flight().sent, self.losses(flow));
            assert_eq!(sent, receiver.arrived + lost.data + data, "flow {flow} has lost count of its data");
            assert_eq!(
                receiver.acks,
                sender.acks + lost.acks + acks,
                "flow {flow} has lost count of its ACKs"
            );
        }
    }

    /// Packets sent = answered + lost + on their way out, and answers sent = come back + lost + on their way home.
    fn assert_probe_balances(&self, probe: usize, [out, home]: [u64; 2]) {
        let lost = self.losses((self.plan.specs.len() + probe) as u32);
        let [sent, answered] = [0, 1].map(|which| self.seat(probe, which).sent.len() as u64);
        let back =
            self.probes().nth(probe).into_iter().flatten().filter(|(_, rtt)| rtt.is_some()).count() as u64;
        assert_eq!(sent, answered + lost.data + out, "probe {probe} has lost count of its packets");
        assert_eq!(answered, back + lost.acks + home, "probe {probe} has lost count of its answers");
    }

    /// Control packets sent = taken + lost + under way, there and back.
    fn assert_control_balances(&self, number: usize, under_way: [u64; 2]) {
        let lost = self.losses(self.plan.control().first + number as u32);
        let exchanged = self.exchanged(number);
        for (way, (out, lost)) in under_way.into_iter().zip([lost.data, lost.acks]).enumerate() {
            let Exchanged { sent, taken } = exchanged[way];
            assert_eq!(
                sent.frames,
                taken.frames + lost + out,
                "conversation {number} of control packets has lost count of them"
            );
        }
    }

    /// Returns what was sent and taken on a conversation of control packets, by its number among these, there and back.
    pub(super) fn exchanged(&self, number: usize) -> [Exchanged; 2] {
        let each = self.domains.iter().map(|domain| domain.agents.exchanged[number]);
        each.fold([Exchanged::default(); 2], |all, one| [0, 1].map(|way| all[way].and(one[way])))
    }

    /// Returns what agents of Fastpass whose class is meant have sent and taken at their nodes.
    fn by_control(&self, meant: impl Fn(usize) -> bool) -> Vec<(u32, Amount, Amount)> {
        let mut all = Vec::new();
        let Some(control) = self.plan.control.as_ref().filter(|c| meant(self.plan.class_of_data(c.first)))
        else {
            return all;
        };
        for (number, ([one, other], _)) in control.ends().enumerate() {
            let [there, back] = self.exchanged(number);
            all.push((one, there.sent, back.taken));
            all.push((other, back.sent, there.taken));
        }
        all
    }

    /// For the agents whose class is meant, their node, and what they have sent and taken there.
    pub(super) fn by_agents(&self, meant: impl Fn(usize) -> bool) -> Vec<(u32, Amount, Amount)> {
        let mut all = self.by_control(&meant);
        for (number, probe) in self.plan.probes.iter().enumerate() {
            let conversation = (self.plan.specs.len() + number) as u32;
            if !meant(self.plan.class_of_data(conversation)) {
                continue;
            }
            let amount = |frames: u64| Amount { frames, bytes: frames * u64::from(probe.bytes) };
            let [sent, answered] = [0, 1].map(|which| self.seat(number, which).sent.len() as u64);
            let packets = self.probes().nth(number).into_iter().flatten();
            let back = packets.filter(|(_, round_trip)| round_trip.is_some()).count() as u64;
            all.push((probe.nodes[0], amount(sent), amount(back)));
            all.push((probe.nodes[1], amount(answered), amount(answered)));
        }
        all
    }

    /// A sized flow that is complete has delivered its size, and none has delivered more.
    fn assert_payload_is_whole(&self) {
        for (flow, spec) in (0..).zip(&self.plan.specs) {
            let Some(bytes) = sized(spec) else { continue };
            let receiver = self.receiver(flow);
            let payload = receiver.receiver.payload();
            if receiver.completed_at == Time::NEVER {
                assert!(payload < bytes.get(), "flow {flow} has all its bytes and is not complete");
            } else {
                assert_eq!(payload, bytes.get(), "flow {flow} is complete without all its bytes");
            }
        }
    }

    /// Every operation that is done has arrived whole, and no more has arrived than was issued.
    fn assert_operations_balance(&self) {
        for domain in &self.domains {
            let operations = &domain.hosts.operations;
            for channel in &operations.channels {
                let done = u64::from(channel.done);
                let issued = done + channel.issued.len() as u64;
                let table = operations.table(&self.plan.specs[channel.flow as usize]);
                let flows = (channel.flow..).zip([table.request, table.answer]);
                for (flow, bytes) in flows.take(table.flows_each as usize) {
                    let payload = self.receiver(flow).receiver.payload();
                    assert!(
                        (done * bytes.get()..=issued * bytes.get()).contains(&payload),
                        "flow {flow} has lost count of its operations"
                    );
                }
            }
            let open: u64 = operations.channels.iter().map(|channel| channel.issued.len() as u64).sum();
            assert_eq!(operations.open_count(), open, "operations have been lost count of");
        }
    }

    /// Returns what faults have taken from queues or kept from finding a way, by fault, node and class.
    pub(super) fn taken(&self) -> impl Iterator<Item = (&(u32, u32, u8), &Amount)> {
        self.domains.iter().flat_map(|domain| &domain.out.taken.by_fault)
    }

    /// Every event to come that carries a frame.
    pub(super) fn carriers(&self) -> impl Iterator<Item = &Event> + '_ {
        let events = self.domains.iter().flat_map(Domain::events);
        events.filter(|event| event.carries())
    }

    /// Every arrival to come of a frame that is on its link, not still in the queue before it.
    pub(super) fn on_links(&self) -> impl Iterator<Item = &Event> + '_ {
        self.carriers().filter(|event| event.kind() == Kind::Arrival && !self.still_waits(event))
    }

    fn still_waits(&self, event: &Event) -> bool {
        let (domain, at) = self.domain_of_port(event.id());
        domain.fabric.ports.still_waits(at, &event.frame(), event.time, self.time.as_ps())
    }

    fn frames_under_way(&self) -> impl Iterator<Item = Frame> + '_ {
        let waiting = self.domains.iter().flat_map(|domain| {
            let slotted = domain.hosts.slots.iter().flat_map(|slots| slots.filling.acks()).copied();
            domain.waiting_frames().chain(domain.hosts.processors.frames()).chain(slotted)
        });
        self.carriers().map(Event::frame).chain(waiting)
    }

    /// For each switch, what came in over its links has left, is dropped, or waits.
    fn assert_nodes_balance(&self) {
        let mut in_flight = vec![Amount::default(); self.links() as usize];
        for event in self.on_links() {
            in_flight[event.id() as usize].add(1, u64::from(event.meta().size()));
        }
        let mut came = vec![Amount::default(); self.plan.graph.nodes().len()];
        let mut went = came.clone();
        for (id, link) in (0..).zip(self.plan.graph.links()) {
            let (port, counters) = (self.port_figures(id), self.port_counters(id));
            let flying = in_flight[id as usize];
            came[link.to as usize].add(
                port.sent_frames - flying.frames - counters.lost_frames,
                port.sent_bytes - flying.bytes - counters.lost_bytes,
            );
            went[link.from as usize].add(
                port.sent_frames + counters.dropped_frames + port.waiting_frames,
                port.sent_bytes
                    + counters.dropped_bytes
                    + counters.trimmed_bytes
                    + u64::from(port.waiting_bytes),
            );
        }
        for (node, sent, taken) in self.by_agents(|_| true) {
            came[node as usize].add(sent.frames, sent.bytes);
            went[node as usize].add(taken.frames, taken.bytes);
        }
        for (&(_, node, _), taken) in self.taken() {
            went[node as usize].add(taken.frames, taken.bytes);
        }
        for (node, (came, went)) in self.plan.graph.nodes().iter().zip(came.iter().zip(&went)) {
            if matches!(node.kind, NodeKind::Switch(_)) {
                assert_eq!(came, went, "{} has lost count of its frames", node.name);
            }
        }
    }
}
