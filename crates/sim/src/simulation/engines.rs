//! Hosts whose work takes time: what happens between a host's NIC and the machines in it.

use clearway_proto::machine::Readiness;
use clearway_proto::units::{Bytes, Time};

use super::Simulation;
use crate::engine::event::{Class, Event, Frame, Meta};
use crate::model::{HostModel, SnapHost};
use crate::net::classes::{Classes, Scheduler};
use crate::net::engine::{Engine, EngineCounters, Received};

/// The engines of all hosts; none where hosts are ideal.
#[derive(Debug)]
pub(super) struct Engines(Option<Box<Snap>>);

#[derive(Debug)]
struct Snap {
    model: SnapHost,
    /// By host.
    engines: Vec<Engine>,
    /// By host, the order among the classes of its flows.
    schedulers: Vec<Scheduler>,
    /// By flow, when its last data frame and its last acknowledgement reached their NICs: the way from the stack
    /// keeps a flow's order.
    departed: Vec<[u64; 2]>,
}

impl Engines {
    pub(super) fn new(model: &HostModel, seed: u64, hosts: u32, flows: usize, classes: &Classes) -> Engines {
        let HostModel::Snap(model) = model else { return Engines(None) };
        let engines = (0..hosts).map(|host| Engine::new(seed, host, model)).collect();
        let schedulers = vec![Scheduler::new(classes.rules()); hosts as usize];
        let departed = vec![[0; 2]; flows];
        Engines(Some(Box::new(Snap { model: model.clone(), engines, schedulers, departed })))
    }

    /// Hosts take no time for their work.
    #[inline(always)]
    pub(super) fn are_ideal(&self) -> bool {
        self.0.is_none()
    }

    /// Every frame that waits for an engine.
    pub(super) fn received(&self) -> impl Iterator<Item = Frame> + '_ {
        self.0.iter().flat_map(|snap| snap.engines.iter().flat_map(Engine::received))
    }

    /// By host.
    pub(super) fn counters(&self) -> impl Iterator<Item = EngineCounters> + '_ {
        self.0.iter().flat_map(|snap| snap.engines.iter().map(|engine| engine.counters))
    }

    fn snap(&mut self) -> &mut Snap {
        self.0.as_mut().expect("only hosts that are not ideal have engines")
    }
}

impl Simulation {
    /// A frame has reached its destination's NIC.
    pub(super) fn receive(&mut self, frame: &Frame) {
        let flow = frame.flow() as usize;
        let spec = &self.specs[flow];
        let host = if frame.meta.has(Meta::ACK) { spec.from } else { spec.to };
        let now = self.queue.now();
        let snap = self.engines.snap();
        if snap.engines[host as usize].receive(now, *frame, &snap.model) {
            self.attend(host);
        } else {
            self.lose(frame);
        }
    }

    /// The frame that a host's engine has served: the stack takes it.
    pub(super) fn served(&mut self, host: u32) -> Received {
        let received = self.engines.snap().engines[host as usize].finish();
        if !received.frame.meta.has(Meta::ACK) {
            let waited = self.now().since(Time::from_ps(received.at));
            let transport = self.flows[received.frame.flow() as usize].transport;
            self.counters[transport as usize].nic_delay.record(waited);
        }
        received
    }

    /// A frame comes to its host's NIC from the stack.
    pub(super) fn reach_nic(&mut self, event: &Event) {
        let flow = event.id();
        let link = match event.class() {
            Class::DepartAck => self.paths.first_back(flow),
            _ => self.flows[flow as usize].nic,
        };
        self.offer(link, event.frame());
    }

    /// A host's engine may send.
    pub(super) fn grant(&mut self, host: u32, time: u64) {
        let engine = &mut self.engines.snap().engines[host as usize];
        if engine.grant_at == time {
            engine.grant_at = u64::MAX;
            self.attend(host);
        }
    }

    /// A flow has something to send: its host's engine will see to it.
    pub(super) fn wait_for_engine(&mut self, flow: u32) {
        self.wait(flow);
        self.attend(self.specs[flow as usize].from);
    }

    /// An engine that is not serving a frame sends, if it may, and goes on to the next frame.
    pub(super) fn attend(&mut self, host: u32) {
        let now = self.queue.now();
        if self.engines.snap().engines[host as usize].is_serving() {
            return;
        }
        while let Some(round) = self.next_round(host) {
            let at = self.engines.snap().engines[host as usize].sends_at(now);
            if at <= now {
                self.send_one(round);
                continue;
            }
            let engine = &mut self.engines.snap().engines[host as usize];
            if at < engine.grant_at {
                engine.grant_at = at;
                self.queue.push_odd(Event::bare(at, Class::Grant, host));
            }
            break;
        }
        let (flows, landings) = (&self.flows, &self.landings);
        let payload = |frame: &Frame| {
            let flow = frame.flow() as usize;
            let overhead =
                if frame.meta.has(Meta::ACK) { landings[flow].ack_frame } else { flows[flow].overhead };
            frame.meta.size() - overhead
        };
        let snap = self.engines.0.as_mut().expect("only hosts that are not ideal have engines");
        if let Some(done) = snap.engines[host as usize].begin(now, payload, &snap.model) {
            self.queue.push_odd(Event::bare(done, Class::Process, host));
        }
    }

    /// The round of flows that sends next: with classes as their order has it.
    fn next_round(&mut self, host: u32) -> Option<u32> {
        let classes = self.fabric.classes();
        let count = self.rounds_a_host();
        let first = host as usize * count;
        let class = if classes.count() == 0 {
            self.hosts[first].has_waiting().then_some(0)
        } else {
            let asking = Classes::asking(&self.hosts[first..first + count]);
            self.engines.snap().schedulers[host as usize].choose(classes.rules(), asking)
        };
        class.map(|class| (first + class) as u32)
    }

    /// The next flow of a round sends, if it is still ready.
    fn send_one(&mut self, round: u32) {
        let now = self.now();
        let Some(flow) = self.take_turn(round) else { return };
        match self.flows[flow as usize].sender.readiness(now) {
            Readiness::Ready => (),
            Readiness::At(at) => return self.arm_pace(flow, at),
            Readiness::Idle => return,
        }
        self.transmit(flow);
        match self.flows[flow as usize].sender.readiness(now) {
            Readiness::Ready => self.wait(flow),
            Readiness::At(at) => self.arm_pace(flow, at),
            Readiness::Idle => (),
        }
        self.arm_timer(flow);
    }

    /// A data frame leaves its host's stack.
    pub(super) fn send_off(&mut self, flow: u32, frame: &Frame) {
        let host = self.specs[flow as usize].from;
        let size = frame.meta.size();
        let wire = self.fabric.rate(self.flows[flow as usize].nic).transmission(Bytes::new(u64::from(size)));
        let snap = self.engines.snap();
        let reaches = snap.engines[host as usize].send(self.queue.now(), wire.as_ps(), &snap.model);
        let classes = self.fabric.classes();
        if classes.count() > 0 {
            snap.schedulers[host as usize].serve(classes.rules(), classes.of(frame), size);
        }
        self.depart(Class::Depart, flow, reaches, frame);
    }

    /// An acknowledgement leaves its host's stack; its engine's work was done with the packet's.
    pub(super) fn release_ack(&mut self, flow: u32, ack: &Frame) {
        let host = self.specs[flow as usize].to;
        let now = self.queue.now();
        let snap = self.engines.snap();
        let reaches = now + snap.engines[host as usize].delay(&snap.model);
        self.depart(Class::DepartAck, flow, reaches, ack);
    }

    fn depart(&mut self, class: Class, flow: u32, reaches: u64, frame: &Frame) {
        let last = &mut self.engines.snap().departed[flow as usize][usize::from(class == Class::DepartAck)];
        *last = reaches.max(*last + 1);
        self.queue.push_odd(Event::carrying(*last, class, flow, frame));
    }
}
