//! What may be seen of a simulation from outside, at an instant up to which everything has happened.

use clearway_proto::fastpass::endpoint::Endpoint;
use clearway_proto::units::{Bytes, Span, Time};

use super::counters::TransportCounters;
use super::domain::Domain;
use super::hosts::NONE;
use super::operations::OperationRecord;
use super::plan::sized;
use super::simulator::Simulation;
use crate::host::agent::{Agent, Seat};
use crate::host::arbiter::ArbiterHost;
use crate::host::ends::{Losses, ReceivingEnd, SendingEnd};
use crate::host::processor::ProcessorCounters;
use crate::host::slots::Slots;
use crate::net::counters::PortCounters;
use crate::net::ideal::ideal_over_paths;
use crate::net::port::{Port, PortFigures};
use crate::net::rules::ClassQueue;
use crate::net::served::Served;
use crate::topology::Graph;
use crate::traffic::FlowSpec;

impl Simulation {
    /// The flows as they were asked for.
    pub fn specs(&self) -> &[FlowSpec] {
        &self.plan.specs
    }

    /// Nodes and links.
    pub fn graph(&self) -> &Graph {
        &self.plan.graph
    }

    /// Returns how many transports there are.
    pub fn transports(&self) -> usize {
        self.plan.makers.len()
    }

    /// Returns how many traffic classes there are; 0 where the network knows none.
    pub fn classes(&self) -> usize {
        self.plan.classes
    }

    /// A flow's sending end.
    pub fn sender(&self, flow: u32) -> &SendingEnd {
        let place = self.plan.senders[flow as usize];
        &self.domains[place.domain as usize].hosts.senders[place.at as usize]
    }

    /// A flow's receiving end.
    pub fn receiver(&self, flow: u32) -> &ReceivingEnd {
        let place = self.plan.receivers[flow as usize];
        &self.domains[place.domain as usize].hosts.receivers[place.at as usize]
    }

    /// Returns what a conversation, such as the flow of this number, has lost.
    pub fn losses(&self, conversation: u32) -> Losses {
        let each = self.domains.iter().map(|domain| domain.out.losses[conversation as usize]);
        each.fold(Losses::default(), |all, one| Losses {
            data: all.data + one.data,
            acks: all.acks + one.acks,
        })
    }

    /// Returns how many ports there are: one a directed link, by whose number they go.
    pub fn links(&self) -> u32 {
        self.plan.graph.links().len() as u32
    }

    pub(super) fn domain_of_port(&self, link: u32) -> (&Domain, u32) {
        let place = self.plan.partition.port(link);
        (&self.domains[place.domain as usize], place.at)
    }

    /// The port that feeds a link.
    pub fn port(&self, link: u32) -> &Port {
        let (domain, at) = self.domain_of_port(link);
        domain.fabric.ports.port(at)
    }

    /// Returns what a port has sent so far, and what waits at it.
    pub fn port_figures(&self, link: u32) -> PortFigures {
        let (domain, at) = self.domain_of_port(link);
        domain.fabric.ports.figures(at, self.time.as_ps(), domain.out.calendar.slots())
    }

    /// Returns what a port has counted of losses and marks.
    pub fn port_counters(&self, link: u32) -> PortCounters {
        let (domain, at) = self.domain_of_port(link);
        domain.fabric.ports.counters(at, self.time.as_ps())
    }

    /// The classes at a port; nothing where the network knows none.
    pub fn port_classes(&self, link: u32) -> &[ClassQueue] {
        let (domain, at) = self.domain_of_port(link);
        let rules = domain.fabric.ports.rules_if_any(at).filter(|_| self.plan.classes > 0);
        rules.map_or(&[], |rules| &rules.queues()[..self.plan.classes])
    }

    /// The queue of headers of a port that cuts packets.
    pub(super) fn header_queue(&self, link: u32) -> Option<&ClassQueue> {
        let (domain, at) = self.domain_of_port(link);
        domain.fabric.ports.rules_if_any(at)?.queues().get(self.plan.queues())
    }

    /// Bytes that a port has put on its link: of the frame in transmission only what has left.
    pub fn transmitted(&self, link: u32) -> f64 {
        let (domain, at) = self.domain_of_port(link);
        let figures = self.port_figures(link);
        let left_ps = figures.busy_until.saturating_sub(self.time.as_ps());
        let rate = domain.fabric.ports.rate_under_way(at, figures.busy_until);
        figures.sent_bytes as f64 - left_ps as f64 * rate.as_bps() as f64 / 8e12
    }

    /// Returns what the processor of each host that has one has counted, with the host's number, by host.
    pub fn processors(&self) -> impl Iterator<Item = (u32, ProcessorCounters)> + '_ {
        (0..self.plan.graph.host_count()).filter_map(|host| {
            let place = self.plan.partition.node(host);
            let domain = &self.domains[place.domain as usize];
            let at = domain.hosts.all[domain.nodes[place.at as usize].host as usize].processor;
            (at != NONE).then(|| (host, domain.hosts.processors.counters(at)))
        })
    }

    /// Returns what each probe has measured: for each of its packets when it was sent, and its round trip as the prober's clock
    /// had it, if its answer has come.
    pub fn probes(&self) -> impl Iterator<Item = Vec<(Time, Option<Span>)>> + '_ {
        (0..self.plan.probes.len()).map(|probe| {
            let seat = self.seat(probe, 0);
            let Agent::Prober(prober) = &seat.agent else {
                unreachable!("a probe's first seat is its prober's")
            };
            seat.sent.iter().copied().zip(prober.round_trips().iter().copied()).collect()
        })
    }

    /// The seat of a probe's prober (0) or responder (1).
    pub(super) fn seat(&self, probe: usize, which: usize) -> &Seat {
        let place = self.plan.probes[probe].seats[which];
        &self.domains[place.domain as usize].agents.seats[place.at as usize]
    }

    /// Every endpoint, by host: its host's number, the machine, and what its host has done in slots.
    pub fn endpoints(&self) -> impl Iterator<Item = (u32, &Endpoint, &Slots)> + '_ {
        self.plan
            .control
            .iter()
            .flat_map(|control| control.endpoints.iter().zip(&control.endpoint_seats))
            .map(|(&host, place)| {
                let domain = &self.domains[place.domain as usize];
                let Agent::Endpoint(endpoint) = &domain.agents.seats[place.at as usize].agent else {
                    unreachable!("an endpoint's seat is its own")
                };
                let slots = domain.hosts.all[endpoint.host as usize].slots;
                (host, &endpoint.machine, &domain.hosts.slots[slots as usize])
            })
    }

    /// Returns what arbiters serve; nothing where there are none.
    pub fn served(&self) -> Option<&Served> {
        self.plan.control.as_ref().map(|control| &control.served)
    }

    /// Every arbiter, by rank, with its node.
    pub fn arbiters(&self) -> impl Iterator<Item = (u32, &ArbiterHost)> + '_ {
        self.plan.control.iter().flat_map(|control| control.arbiters.iter().zip(&control.arbiter_seats)).map(
            |(&node, place)| match &self.domains[place.domain as usize].agents.seats[place.at as usize].agent
            {
                Agent::Arbiter(arbiter) => (node, &**arbiter),
                _ => unreachable!("an arbiter's seat is its own"),
            },
        )
    }

    /// Bytes on the wire of all control packets sent so far: from endpoints, to endpoints, and between arbiters. A request
    /// counts once for each arbiter.
    pub fn control_bytes(&self) -> [u64; 3] {
        let Some(control) = &self.plan.control else { return [0; 3] };
        let with_endpoints = control.endpoints.len() * control.arbiters.len();
        (0..control.conversations() as usize).fold([0; 3], |[requests, allocations, between], number| {
            let [there, back] = self.exchanged(number).map(|way| way.sent.bytes);
            if number < with_endpoints {
                [requests + there, allocations + back, between]
            } else {
                [requests, allocations, between + there + back]
            }
        })
    }

    /// The counters of a transport.
    pub fn counters(&self, transport: usize) -> TransportCounters {
        let mut all = self.domains[0].out.counters[transport].clone();
        self.domains[1..].iter().for_each(|domain| all.merge(&domain.out.counters[transport]));
        all
    }

    /// The sum in picoseconds and the number of a transport's round-trip times so far.
    pub fn rtt_so_far(&self, transport: usize) -> (u128, u64) {
        let each = self.domains.iter().map(|domain| &domain.out.counters[transport].rtt);
        each.fold((0, 0), |(sum, count), rtt| (sum + rtt.sum(), count + rtt.count()))
    }

    /// The largest of a transport's round-trip times since this was last asked, in picoseconds.
    pub fn take_recent_max_rtt(&mut self, transport: usize) -> u64 {
        let each = self.domains.iter_mut().map(|domain| domain.out.counters[transport].rtt.take_recent_max());
        each.max().unwrap_or(0)
    }

    /// Begins to measure anew: forgets all times and losses of packets so far, and all operations.
    pub fn measure_anew(&mut self) {
        for domain in &mut self.domains {
            domain.out.measured.start = self.time;
            domain.out.counters.iter_mut().for_each(TransportCounters::restart);
        }
    }

    /// Ends the measurement: packets and operations that begin from now on are not counted as measured.
    pub fn end_measurement(&mut self) {
        for domain in &mut self.domains {
            domain.out.measured.end = self.time;
        }
    }

    /// The operations that are complete, in the order of completion, if each is recorded.
    pub fn operation_records(&self) -> Option<Vec<OperationRecord>> {
        let mut all = Vec::new();
        for domain in &self.domains {
            all.extend_from_slice(domain.hosts.operations.records()?);
        }
        all.sort_by_key(|record| (record.done, record.flow, record.number));
        Some(all)
    }

    /// The operations that are open, by flow and then as issued.
    pub fn open_operations(&self) -> Vec<OperationRecord> {
        let mut all: Vec<_> =
            self.domains.iter().flat_map(|domain| domain.hosts.operations.all_open()).collect();
        all.sort_by_key(|record| (record.flow, record.number));
        all
    }

    /// For each flow with an open operation: the flow, and since when it has one open and none has been done on it.
    pub fn operation_waits(&self) -> Vec<(u32, Time)> {
        self.domains.iter().flat_map(|domain| domain.hosts.operations.waits()).collect()
    }

    /// For each flow of an initiator: the flow, how many operations are done on it, and a hash of when.
    pub fn operation_traces(&self) -> Vec<(u32, u32, u64)> {
        let mut all: Vec<_> =
            self.domains.iter().flat_map(|domain| domain.hosts.operations.traces()).collect();
        all.sort_unstable();
        all
    }

    /// For each initiator of an open loop, by its first flow: operations that it could not issue for its backlog.
    pub fn refused_operations(&self) -> Vec<u64> {
        let mut all: Vec<_> =
            self.domains.iter().flat_map(|domain| domain.hosts.operations.refused()).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, refused)| refused).collect()
    }

    /// Returns whether an operation has failed by now: it was not done in time.
    pub fn is_late(&self, operation: &OperationRecord) -> bool {
        let spec = &self.plan.specs[operation.flow as usize];
        self.domains[0].hosts.operations.is_late(spec, operation, self.time)
    }

    /// Returns how many bytes an operation of a flow moves.
    pub fn operation_bytes(&self, flow: u32) -> Bytes {
        self.domains[0].hosts.operations.bytes(&self.plan.specs[flow as usize])
    }

    /// Returns whether what happened at `time` is within the measurement.
    pub fn is_measured(&self, time: Time) -> bool {
        self.domains[0].out.is_measured(time)
    }

    /// Returns how many packet-hops there have been so far.
    pub fn packet_hops(&self) -> u64 {
        self.domains.iter().map(|domain| domain.out.packet_hops).sum()
    }

    /// The simulated time that has been reached.
    pub fn time(&self) -> Time {
        self.time
    }

    /// Returns whether every sized flow has arrived whole, every other has stopped, no operation is open, and
    /// all jobs are over.
    pub fn all_complete(&self) -> bool {
        self.time >= self.no_end_before
            && self.jobs_are_over()
            && self
                .domains
                .iter()
                .all(|domain| domain.hosts.incomplete == 0 && domain.hosts.operations.open_count() == 0)
    }

    /// Returns an instant before which [`Self::all_complete`] cannot hold, so that a run need not ask until then. The first flow
    /// that is not complete has yet to send what it has not sent.
    pub fn not_complete_before(&mut self) -> Time {
        let flows = self.awaited..self.plan.specs.len() as u32;
        let awaited = flows.clone().find_map(|flow| Some((flow, self.unsent(flow)?)));
        self.awaited = awaited.map_or(flows.end, |(flow, _)| flow);
        let Some((flow, unsent)) = awaited else { return self.no_end_before };
        let spec = &self.plan.specs[flow as usize];
        let rate = self.plan.graph.link(self.plan.graph.nic(spec.from)).rate;
        self.no_end_before.max(self.time.max(spec.start) + rate.transmission(unsent))
    }

    /// The payload that a sized flow which is not complete has never sent; `None` if it is complete, or has no size.
    fn unsent(&self, flow: u32) -> Option<Bytes> {
        let spec = &self.plan.specs[flow as usize];
        let bytes = sized(spec)?.get();
        if self.receiver(flow).completed_at != Time::NEVER {
            return None;
        }
        let maker = &self.plan.makers[spec.transport as usize];
        let flight = self.sender(flow).sender.flight();
        let packets = flight.sent - u64::from(flight.retransmissions);
        Some(Bytes::new(bytes.saturating_sub(packets * u64::from(maker.data_frame - maker.overhead))))
    }

    /// Returns how long a sized flow would take at least, alone and never held back, over all paths that it may take: first bit
    /// at its NIC to last bit at its destination.
    pub fn ideal_completion(&self, flow: u32, mtu: u32) -> Option<Span> {
        let spec = &self.plan.specs[flow as usize];
        let bytes = sized(spec)?.get();
        let mtu = u64::from(mtu);
        let overhead = u64::from(self.plan.makers[spec.transport as usize].overhead);
        let frames = bytes.div_ceil(mtu);
        let tail = bytes - (frames - 1) * mtu;
        let paths: Vec<Vec<_>> = self.plan.paths_there(flow).collect();
        Some(ideal_over_paths(&paths, Bytes::new(mtu + overhead), Bytes::new(tail + overhead), frames))
    }
}
