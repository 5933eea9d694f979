//! The simulator proper: takes events in order and lets ports, senders and receivers act on them.

mod audit;
mod build;
mod class_audit;
mod classes;
mod engines;
mod flows;
mod operations;
mod view;

use std::ops::ControlFlow;

use clearway_proto::machine::Readiness;
use clearway_proto::transport::Ack;
use clearway_proto::units::{Bytes, Time};

use crate::engine::event::{Class, Event, Frame, Meta};
use crate::engine::prefetch::prefetch;
use crate::engine::queue::{EventQueue, LaneId};
use crate::net::fabric::{Fabric, Lost, Woken};
use crate::net::host::{Host, NO_FLOW};
use crate::net::port::Port;
use crate::net::topology::Graph;
use crate::record::counters::TransportCounters;
use crate::traffic::{Demand, FlowSpec};

use engines::Engines;
use flows::END;
pub use flows::{Flow, FlowLosses, Landing, Paths};
pub use operations::{OperationRecord, Operations};

/// Events between two looks at whether to go on.
const CHECK_EVERY: u32 = 8192;

/// How many places ahead of its time an event's destination is looked up, and how many ahead it is asked for.
const FAR: usize = 12;
const NEAR: usize = 6;

/// A network with its traffic, at some instant.
#[derive(Debug)]
pub struct Simulation {
    queue: EventQueue,
    fabric: Fabric,
    graph: Graph,
    /// By host, and with classes by host and class.
    hosts: Vec<Host>,
    /// Of hosts whose work takes time.
    engines: Engines,
    /// What a flow is, what its sending end is, and what its receiving end is, by flow number.
    specs: Vec<FlowSpec>,
    flows: Vec<Flow>,
    landings: Vec<Landing>,
    paths: Paths,
    losses: Vec<FlowLosses>,
    operations: Operations,
    counters: Vec<TransportCounters>,
    /// Acknowledgements that say more than that all up to their packet has arrived.
    particular_acks: AckPool,
    /// Sized flows that are not complete.
    incomplete: usize,
    /// When the last of the flows without a size stops.
    last_stop: Time,
    packet_hops: u64,
    /// Events until the caller is asked whether to go on.
    countdown: u32,
}

impl Simulation {
    /// Lets everything before `limit` happen. `proceed` is asked every few thousand events, with the time
    /// reached in picoseconds and the packet-hops so far.
    pub fn run_until(
        &mut self,
        limit: Time,
        proceed: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        while let Some((event, lane)) = self.queue.pop(limit.as_ps()) {
            self.expect(lane);
            self.happen(&event);
            self.countdown -= 1;
            if self.countdown == 0 {
                self.countdown = CHECK_EVERY;
                proceed(self.queue.now(), self.packet_hops)?;
            }
        }
        self.queue.advance_to(limit.as_ps());
        ControlFlow::Continue(())
    }

    #[inline(always)]
    fn happen(&mut self, event: &Event) {
        if event.is_arrival() {
            self.arrive(&event.frame());
            return;
        }
        match event.class() {
            Class::Arrival => (),
            Class::Wake => self.wake(event.id()),
            Class::Start => self.start(event.id()),
            Class::Stop => self.stop(event.id()),
            Class::Pace => self.pace(event.id(), event.time),
            Class::Timeout => self.time_out(event.id(), event.time),
            Class::AckDelay => self.delayed_ack(event.id(), event.time),
            Class::Process => self.process(event.id()),
            Class::Grant => self.grant(event.id(), event.time),
            Class::Depart => self.offer(self.flows[event.id() as usize].nic, event.frame()),
            Class::DepartAck => self.offer(self.paths.first_back(event.id()), event.frame()),
            Class::Issue => self.issue_next(event.id()),
        }
    }

    /// Hints at what the events a few places ahead will touch: first what says where they lead, then that.
    #[inline(always)]
    fn expect(&self, lane: LaneId) {
        if lane == LaneId::NONE {
            self.expect_from_heap();
            return;
        }
        let [far, near] = self.queue.peek(lane, [FAR, NEAR]);
        if let Some(event) = far {
            if event.is_arrival() {
                self.paths.expect(event.frame().flow());
            } else if event.class() == Class::Wake {
                self.fabric.expect(event.id());
            }
        }
        if let Some(event) = near {
            if event.is_arrival() {
                self.expect_arrival(&event.frame());
            } else if event.class() == Class::Wake {
                self.expect_wake(event.id());
            }
        }
    }

    /// Most of what is in the heap and comes soon are wakes.
    fn expect_from_heap(&self) {
        for (at, event) in self.queue.peek_heap().enumerate() {
            if event.class() == Class::Wake {
                self.fabric.expect(event.id());
                if at == 0 {
                    self.expect_wake(event.id());
                }
            }
        }
    }

    #[inline(always)]
    fn expect_arrival(&self, frame: &Frame) {
        let flow = frame.flow();
        let next = self.paths.link(flow, frame.meta);
        if next != END {
            self.fabric.expect(next);
        } else if frame.meta.has(Meta::ACK) {
            prefetch(&self.flows, flow as usize);
        } else {
            prefetch(&self.landings, flow as usize);
        }
    }

    #[inline]
    fn expect_wake(&self, link: u32) {
        self.fabric.expect_wake(link);
        if self.fabric.port(link).has(Port::NIC) {
            if let Some(host) = self.paths.host_of_nic(link) {
                prefetch(&self.flows, self.hosts[host as usize].first as usize);
            }
        }
    }

    fn now(&self) -> Time {
        Time::from_ps(self.queue.now())
    }

    #[inline(always)]
    fn arrive(&mut self, frame: &Frame) {
        self.packet_hops += 1;
        let flow = frame.flow();
        let next = self.paths.link(flow, frame.meta);
        if next != END {
            self.offer(next, *frame);
        } else if self.engines.are_ideal() {
            self.take(frame, self.now());
        } else {
            self.receive(frame);
        }
    }

    /// A host's stack takes a frame that arrived at its NIC at `received`.
    #[inline(always)]
    fn take(&mut self, frame: &Frame, received: Time) {
        if frame.meta.has(Meta::ACK) {
            self.acknowledge(frame.flow(), frame, received);
        } else {
            self.land(frame.flow(), frame, received);
        }
    }

    #[inline(always)]
    fn offer(&mut self, link: u32, frame: Frame) {
        if let Err(Lost(frame)) = self.fabric.offer(&mut self.queue, link, frame) {
            self.lose(&frame);
        }
    }

    #[cold]
    fn lose(&mut self, frame: &Frame) {
        let flow = frame.flow() as usize;
        let counters = &mut self.counters[self.flows[flow].transport as usize];
        if frame.meta.has(Meta::ACK) {
            self.losses[flow].acks += 1;
            if frame.meta.has(Meta::POOLED) {
                self.particular_acks.take(frame.seq());
            }
        } else {
            self.losses[flow].data += 1;
            counters.lost_data += 1;
        }
    }

    /// A data packet has reached its destination.
    fn land(&mut self, flow: u32, frame: &Frame, received: Time) {
        let now = self.now();
        let landing = &mut self.landings[flow as usize];
        let completed = landing.handle(now, received, frame);
        if completed > 0 {
            self.complete(flow, now);
        }
        self.send_acks(flow, frame.meta.last());
        if completed > 0 {
            self.take_messages(flow, completed);
        }
    }

    /// A message has arrived whole; for a sized flow that is all of it.
    fn complete(&mut self, flow: u32, now: Time) {
        let landing = &mut self.landings[flow as usize];
        if landing.sized && landing.completed_at == Time::NEVER {
            landing.completed_at = now;
            self.incomplete -= 1;
        }
    }

    /// What is due. `last` is the flag of a packet just taken that ends a message.
    fn send_acks(&mut self, flow: u32, last: u32) {
        let now = self.now();
        while let Some(ack) = self.landings[flow as usize].acknowledgement(now) {
            let landing = &self.landings[flow as usize];
            let flags = Meta::ACK | last | if ack.congestion_experienced { Meta::CE } else { 0 };
            let meta = Meta::new(landing.ack_frame, flags).echoing(u32::from(ack.hops));
            let (seq, meta) = if ack.cumulative == ack.seq + 1 && ack.sack == 0 && ack.remote_queuing_us == 0
            {
                (ack.seq, meta)
            } else {
                (self.particular_acks.put(ack), meta.with(Meta::POOLED))
            };
            let flow_seq = u64::from(flow) << 32 | u64::from(seq);
            self.release(flow, Frame { stamp: ack.echo.as_ps(), flow_seq, meta });
        }
        let landing = &mut self.landings[flow as usize];
        if let Some(at) = landing.receiver.poll_timeout() {
            if at < landing.timer_at {
                landing.timer_at = at;
                self.queue.push_odd(Event::bare(at.as_ps(), Class::AckDelay, flow));
            }
        }
    }

    fn delayed_ack(&mut self, flow: u32, time: u64) {
        let now = self.now();
        let landing = &mut self.landings[flow as usize];
        if landing.timer_at == Time::from_ps(time) {
            landing.timer_at = Time::NEVER;
        }
        landing.receiver.handle_timeout(now);
        self.send_acks(flow, 0);
    }

    /// An acknowledgement leaves its host's stack.
    #[inline(always)]
    fn release(&mut self, flow: u32, ack: Frame) {
        if self.engines.are_ideal() {
            self.offer(self.paths.first_back(flow), ack);
        } else {
            self.release_ack(flow, &ack);
        }
    }

    /// An acknowledgement has reached the sender.
    fn acknowledge(&mut self, flow: u32, frame: &Frame, received: Time) {
        let now = self.now();
        let meta = frame.meta;
        let ack = if meta.has(Meta::POOLED) {
            self.particular_acks.take(frame.seq())
        } else {
            Ack {
                seq: frame.seq(),
                cumulative: frame.seq() + 1,
                sack: 0,
                echo: Time::from_ps(frame.stamp),
                congestion_experienced: meta.has(Meta::CE),
                hops: meta.echoed_hops() as u8,
                remote_queuing_us: 0,
            }
        };
        let state = &mut self.flows[flow as usize];
        let counters = &mut self.counters[state.transport as usize];
        let rtt = now.since(ack.echo);
        counters.rtt.record(rtt);
        if !self.engines.are_ideal() {
            counters.split_rtt(rtt, ack.remote_queuing() + now.since(received));
        }
        state.acks += 1;
        state.sender.handle_ack(now, received, &ack);
        let completed = state.sender.poll_completed();
        if completed > 0 && state.writes {
            self.end_operations(flow, completed);
        }
        self.serve(flow);
    }

    fn start(&mut self, flow: u32) {
        match self.specs[flow as usize].demand {
            Demand::Sized(bytes) => self.flows[flow as usize].sender.handle_message(bytes),
            Demand::Endless => self.flows[flow as usize].sender.handle_endless(),
            Demand::ClosedLoop(_) => self.start_loop(flow),
            Demand::OpenLoop(_) => {}
        }
        self.serve(flow);
    }

    fn stop(&mut self, flow: u32) {
        self.flows[flow as usize].sender.handle_stop();
        self.serve(flow);
    }

    fn pace(&mut self, flow: u32, time: u64) {
        let state = &mut self.flows[flow as usize];
        if state.pace_at == Time::from_ps(time) {
            state.pace_at = Time::NEVER;
            self.serve(flow);
        }
    }

    /// Timers are lazy: one entry a flow, which comes back when the time has moved on meanwhile.
    fn time_out(&mut self, flow: u32, time: u64) {
        let now = self.now();
        let state = &mut self.flows[flow as usize];
        if state.timer_at != Time::from_ps(time) {
            return;
        }
        state.timer_at = Time::NEVER;
        match state.sender.poll_timeout() {
            Some(at) if at <= now => {
                state.sender.handle_timeout(now);
                self.serve(flow);
            }
            _ => self.arm_timer(flow),
        }
    }

    /// Asks a sender anew whether it has something to send, and when it wants its timer.
    #[inline]
    fn serve(&mut self, flow: u32) {
        let now = self.now();
        let state = &mut self.flows[flow as usize];
        if !state.waiting {
            match state.sender.readiness(now) {
                Readiness::Ready if !self.engines.are_ideal() => self.wait_for_engine(flow),
                Readiness::Ready => {
                    let link = state.nic;
                    let nic = self.fabric.port(link);
                    // A free NIC with flows waiting is about to wake: they go first.
                    if nic.is_idle(now.as_ps()) && !nic.has(Port::ARMED) {
                        let lane = self.transmit(flow);
                        self.serve_again(flow, lane);
                    } else {
                        self.wait(flow);
                        self.fabric.arm(&mut self.queue, link, LaneId::NONE);
                    }
                }
                Readiness::At(at) => self.arm_pace(flow, at),
                Readiness::Idle => (),
            }
        }
        self.arm_timer(flow);
    }

    /// After a transmission that began in this instant, whose end has this lane.
    #[inline]
    fn serve_again(&mut self, flow: u32, lane: LaneId) {
        let now = self.now();
        let state = &mut self.flows[flow as usize];
        match state.sender.readiness(now) {
            Readiness::Ready => {
                let link = state.nic;
                self.wait(flow);
                self.fabric.arm(&mut self.queue, link, lane);
            }
            Readiness::At(at) => self.arm_pace(flow, at),
            Readiness::Idle => (),
        }
    }

    /// Puts a flow at the end of those that wait for its NIC.
    #[inline]
    fn wait(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        state.waiting = true;
        state.next_waiting = NO_FLOW;
        let host = &mut self.hosts[state.round as usize];
        let before = std::mem::replace(&mut host.last, flow);
        if before == NO_FLOW {
            host.first = flow;
        } else {
            self.flows[before as usize].next_waiting = flow;
        }
    }

    /// The flow whose turn it is at a host's NIC, or with classes in one of its rounds.
    #[inline]
    fn take_turn(&mut self, round: u32) -> Option<u32> {
        let host = &mut self.hosts[round as usize];
        let flow = host.first;
        let state = self.flows.get_mut(flow as usize)?;
        state.waiting = false;
        host.first = state.next_waiting;
        if host.first == NO_FLOW {
            host.last = NO_FLOW;
        }
        Some(flow)
    }

    #[inline]
    fn transmit(&mut self, flow: u32) -> LaneId {
        let now = self.now();
        let state = &mut self.flows[flow as usize];
        let frame = state.transmit(flow, now);
        let (lane, sent) = self.fabric.begin(&mut self.queue, state.nic, frame);
        if let Err(Lost(frame)) = sent {
            self.lose(&frame);
        }
        lane
    }

    fn arm_pace(&mut self, flow: u32, at: Time) {
        let state = &mut self.flows[flow as usize];
        if state.pace_at != at {
            state.pace_at = at;
            self.queue.push_odd(Event::bare(at.as_ps(), Class::Pace, flow));
        }
    }

    #[inline]
    fn arm_timer(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        if let Some(at) = state.sender.poll_timeout() {
            if at < state.timer_at {
                state.timer_at = at;
                self.queue.push_odd(Event::bare(at.as_ps(), Class::Timeout, flow));
            }
        }
    }

    #[inline]
    fn wake(&mut self, link: u32) {
        match self.fabric.wake(&mut self.queue, link) {
            Woken::Sent => self.keep_awake(link),
            Woken::SentAndLost(frame) => {
                self.lose(&frame);
                self.keep_awake(link);
            }
            Woken::Free => self.pull(link),
            Woken::ByClass => self.pull_by_class(link),
        }
    }

    /// A NIC that sends an acknowledgement while flows wait has to come back to them.
    #[inline]
    fn keep_awake(&mut self, link: u32) {
        if !self.fabric.port(link).has(Port::NIC) || !self.engines.are_ideal() {
            return;
        }
        if let Some(host) = self.paths.host_of_nic(link) {
            if self.hosts[host as usize].has_waiting() {
                self.fabric.arm(&mut self.queue, link, LaneId::NONE);
            }
        }
    }

    /// A NIC is free: the next flow that is still ready sends.
    fn pull(&mut self, link: u32) {
        if !self.engines.are_ideal() {
            return;
        }
        let Some(host) = self.paths.host_of_nic(link) else { return };
        while let Some(flow) = self.take_turn(host) {
            if self.flows[flow as usize].sender.readiness(self.now()) != Readiness::Ready {
                self.serve(flow);
                continue;
            }
            let lane = self.transmit(flow);
            self.serve_again(flow, lane);
            self.arm_timer(flow);
            if self.hosts[host as usize].has_waiting() {
                self.fabric.arm(&mut self.queue, link, lane);
            }
            return;
        }
    }
}

/// Acknowledgements that do not fit an event, by index.
#[derive(Debug, Default)]
struct AckPool {
    acks: Vec<Ack>,
    free: Vec<u32>,
}

impl AckPool {
    /// How many are under way.
    fn len(&self) -> usize {
        self.acks.len() - self.free.len()
    }

    fn put(&mut self, ack: Ack) -> u32 {
        if let Some(place) = self.free.pop() {
            self.acks[place as usize] = ack;
            return place;
        }
        self.acks.push(ack);
        (self.acks.len() - 1) as u32
    }

    fn take(&mut self, place: u32) -> Ack {
        self.free.push(place);
        self.acks[place as usize]
    }
}

/// A flow's size where it has one.
fn sized(spec: &FlowSpec) -> Option<Bytes> {
    match spec.demand {
        Demand::Sized(bytes) => Some(bytes),
        _ => None,
    }
}
