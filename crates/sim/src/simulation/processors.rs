//! Hosts whose work takes time: what happens between a host's NIC and the machines in it.

use clearway_proto::machine::Readiness;
use clearway_proto::units::Time;

use super::domain::Domain;
use super::loss::{Lost, Reason};
use super::plan::Plan;
use crate::engine::event::{key, Event, Frame, Kind, Meta};
use crate::host::processor::{Processor, Received};
use crate::host::processors::Processors;
use crate::net::routes::Next;

impl Domain {
    fn processor(&mut self, host: u32) -> &mut Processor {
        let at = self.hosts.all[host as usize].processor;
        &mut self.hosts.processors.all[at as usize]
    }

    /// A frame has reached its destination's NIC.
    pub(super) fn receive(&mut self, plan: &Plan, host: u32, frame: &Frame) {
        let now = self.out.now;
        if self.processor(host).receive(now, *frame) {
            self.attend(plan, host);
        } else {
            let node = plan.partition.nodes_in(self.number)[self.out.node as usize];
            let lost = Lost { at: now, link: plan.graph.downlink(node), reason: Reason::AtHost };
            self.out.lose(plan, frame, lost);
        }
    }

    /// A host's processor has served a frame, which the stack takes, and goes on.
    pub(super) fn process(&mut self, plan: &Plan, host: u32) {
        let Received { frame, at } = self.processor(host).finish();
        match plan.routes.next(frame.route(), frame.meta) {
            Next::Here(end) => {
                let received = Time::from_ps(at);
                if !frame.meta.contains(Meta::ACK) {
                    let waited = self.out.time().since(received);
                    let transport = self.hosts.receivers[end as usize].transport;
                    self.out.counters[transport as usize].nic_delay.record(waited);
                }
                self.take(plan, host, end, &frame, received);
            }
            next => self.pass_to_agent(plan, next, &frame),
        }
        self.attend(plan, host);
    }

    /// A host's processor may send.
    pub(super) fn grant(&mut self, plan: &Plan, host: u32) {
        let now = self.out.now;
        let processor = self.processor(host);
        if processor.grant_at == now {
            processor.grant_at = u64::MAX;
            self.attend(plan, host);
        }
    }

    /// A processor sends, if it may, and goes on to the next received frame.
    pub(super) fn attend(&mut self, plan: &Plan, host: u32) {
        let now = self.out.now;
        let at = self.hosts.all[host as usize].processor;
        if self.processor(host).is_occupied() {
            return;
        }
        while let Some(round) = self.next_round(plan, host) {
            let sends_at = self.processor(host).sends_at(now);
            if sends_at <= now {
                self.send_one(plan, host, round);
                continue;
            }
            let processor = self.processor(host);
            if sends_at < processor.grant_at {
                processor.grant_at = sends_at;
                self.out.schedule(Event::bare(sends_at, Kind::Grant, at));
            }
            break;
        }
        let payload = |frame: &Frame| {
            let flow = plan.flow_of(frame);
            flow.map_or(0, |flow| plan.payload(plan.specs[flow as usize].transport as usize, frame))
        };
        if let Some(done) = self.processor(host).begin(now, payload) {
            self.out.schedule(Event::bare(done, Kind::Process, at));
        }
    }

    /// The round of flows that sends next: with classes as their order has it.
    fn next_round(&mut self, plan: &Plan, host: u32) -> Option<usize> {
        let first = self.hosts.all[host as usize].rounds as usize;
        // What would wait for a class that is paused is not sent yet.
        let asking =
            self.hosts.asking(plan, host) & !self.fabric.ports.paused(self.hosts.all[host as usize].nic);
        if plan.classes == 0 {
            return (asking != 0).then_some(first);
        }
        let at = self.hosts.all[host as usize].processor as usize;
        let Processors { schedulers, classes, .. } = &mut self.hosts.processors;
        schedulers[at].choose(classes, asking).map(|class| first + class)
    }

    /// The next flow of a round sends, if it is still ready.
    fn send_one(&mut self, plan: &Plan, host: u32, round: usize) {
        let now = self.out.time();
        let Some(end) = self.hosts.take_turn(round) else { return };
        match self.hosts.senders[end as usize].sender.readiness(now) {
            Readiness::Ready => (),
            Readiness::At(at) => return self.hosts.arm_pace(&mut self.out, end, at),
            Readiness::Idle => return,
        }
        let frame = self.hosts.next_frame(plan, &mut self.out, host, end);
        self.send_off(plan, host, end, &frame);
        match self.hosts.senders[end as usize].sender.readiness(now) {
            Readiness::Ready => self.hosts.wait_again(plan, host, end),
            Readiness::At(at) => self.hosts.arm_pace(&mut self.out, end, at),
            Readiness::Idle => (),
        }
        self.hosts.arm_timer(&mut self.out, end);
    }

    /// The processor sends a data frame.
    fn send_off(&mut self, plan: &Plan, host: u32, end: u32, frame: &Frame) {
        let (now, state) = (self.out.now, self.hosts.all[host as usize]);
        let wire = self.fabric.ports.transmission(state.nic, frame.meta.size());
        let done = self.processor(host).send(now, frame.meta.size(), wire);
        if plan.classes > 0 {
            let Processors { schedulers, classes, .. } = &mut self.hosts.processors;
            schedulers[state.processor as usize].serve(classes, plan.class_of(frame), frame.meta.size());
        }
        self.leave(plan, host, (Kind::Depart, end), done, frame);
    }

    /// The stack sends an acknowledgement; its processor's work was done with the packet's.
    pub(super) fn release_ack(&mut self, plan: &Plan, host: u32, end: u32, ack: &Frame) {
        self.leave(plan, host, (Kind::DepartAck, end), self.out.now, ack);
    }

    /// A frame of an end can leave its host's stack at `at`. What goes to the NIC in batches and need not wait joins its
    /// batch right here, so that frames of one instant keep their order.
    fn leave(&mut self, plan: &Plan, host: u32, (kind, end): (Kind, u32), at: u64, frame: &Frame) {
        let now = self.out.now;
        let processor = self.processor(host);
        if at == now && processor.has_batches() {
            self.join_batch(host, frame);
        } else if let Some(leaves) = processor.leave(now, at, key(kind, end)) {
            self.out.schedule(Event::carrying(leaves, key(kind, end), frame));
        } else {
            self.offer(plan, self.hosts.all[host as usize].nic, *frame);
        }
    }

    /// A frame leaves its host's stack.
    pub(super) fn depart(&mut self, plan: &Plan, host: u32, frame: &Frame) {
        if self.processor(host).has_batches() {
            self.join_batch(host, frame);
        } else {
            self.offer(plan, self.hosts.all[host as usize].nic, *frame);
        }
    }

    pub(super) fn join_batch(&mut self, host: u32, frame: &Frame) {
        let now = self.out.now;
        if let Some(release) = self.processor(host).join_batch(now, frame) {
            let at = self.hosts.all[host as usize].processor;
            self.out.schedule(Event::bare(release, Kind::Release, at));
        }
    }

    /// Frames on their way from stack to NIC reach it, in the order in which they left the stack.
    pub(super) fn release_batch(&mut self, plan: &Plan, host: u32) {
        let now = self.out.now;
        let mut batch = std::mem::take(&mut self.hosts.processors.spare_batch);
        if let Some(next) = self.processor(host).release_batch(now, &mut batch) {
            let at = self.hosts.all[host as usize].processor;
            self.out.schedule(Event::bare(next, Kind::Release, at));
        }
        let nic = self.hosts.all[host as usize].nic;
        for frame in batch.drain(..) {
            self.offer(plan, nic, frame);
        }
        self.hosts.processors.spare_batch = batch;
    }
}
