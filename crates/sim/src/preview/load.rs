//! The load that a scenario's traffic will put on each link, as far as it is known before a run.
//!
//! A flow's bytes cross the links of its own routes; those of a flow with several are spread evenly over them, which packets drawn
//! at random do on average. What is counted is data with its headers, sent once.

use std::collections::BTreeMap;

use clearway_proto::units::Time;

use crate::model::{Operation, OperationGraph, OperationKind, Pattern, Scenario};
use crate::simulation::DataRoutes;
use crate::traffic::{Demand, FlowSpec, Part};

/// The expected load of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkLoad {
    /// Bytes on the wire, in the whole run.
    pub bytes: f64,
    /// Flows that offer as much as the network takes: of no size, or of a closed loop. One with several routes counts on each in
    /// part.
    pub greedy: f64,
}

/// The expected load of all links, and the flows that it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// Each directed link, by number.
    pub links: Vec<LinkLoad>,
    /// Flows whose bytes are counted.
    pub counted_flows: u64,
    /// Their payload in bytes.
    pub payload_bytes: f64,
    /// Flows that offer as much as the network takes, whose bytes nobody knows.
    pub greedy_flows: u64,
    /// Flows that start when the run is over.
    pub late_flows: u64,
}

/// The payload in bytes, and the packets, that a flow offers in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Offer {
    payload: f64,
    packets: f64,
}

/// Returns what the known traffic of a scenario will ask of each link.
pub fn expected(scenario: &Scenario, routes: &DataRoutes) -> Expected {
    let mut all = Expected {
        links: vec![LinkLoad::default(); routes.graph().links().len()],
        counted_flows: 0,
        payload_bytes: 0.0,
        greedy_flows: 0,
        late_flows: 0,
    };
    let offers = Offers::new(scenario, routes);
    for (flow, spec) in (0..).zip(routes.flows()) {
        if spec.start >= Time::ZERO + scenario.duration {
            all.late_flows += 1;
            continue;
        }
        let part = 1.0 / f64::from(routes.count(flow));
        if let Some(Offer { payload, packets }) = offers.of(flow, spec) {
            let bytes = payload + packets * f64::from(routes.maker(spec.transport).overhead);
            routes.each_link(flow, |link| all.links[link as usize].bytes += bytes * part);
            all.counted_flows += 1;
            all.payload_bytes += payload;
        } else {
            routes.each_link(flow, |link| all.links[link as usize].greedy += part);
            all.greedy_flows += 1;
        }
    }
    all
}

/// Counts over all flows that the offer of a single flow depends on.
struct Offers<'a> {
    scenario: &'a Scenario,
    routes: &'a DataRoutes,
    /// The number of flows that carry the same part of an open loop's operations, by table, initiator and part.
    turns: BTreeMap<(u32, u32, bool), u32>,
    /// The packets of each pair of ranks in an iteration, by the table of a job.
    packets: BTreeMap<u32, Vec<u64>>,
}

impl Offers<'_> {
    fn new<'a>(scenario: &'a Scenario, routes: &'a DataRoutes) -> Offers<'a> {
        let mut turns = BTreeMap::new();
        for spec in routes.flows() {
            if let Demand::OpenLoop(part) = spec.demand {
                *turns.entry(turn(spec, part)).or_insert(0) += 1;
            }
        }
        let mtu = scenario.network.mtu;
        let packets =
            scenario.jobs().map(|(table, job)| (table, packets_of_pairs(&job.graph, mtu))).collect();
        Offers { scenario, routes, turns, packets }
    }

    /// Returns the offer of a flow; `None` where it is as much as the network takes.
    fn of(&self, flow: u32, spec: &FlowSpec) -> Option<Offer> {
        match spec.demand {
            Demand::Sized(bytes) => Some(self.times(1.0, bytes.get())),
            Demand::Endless | Demand::ClosedLoop(_) => None,
            Demand::OpenLoop(part) => Some(self.open_loop(spec, part)),
            Demand::Messages => Some(self.messages(flow, spec.table)),
        }
    }

    /// Returns what `count` messages of `bytes` bytes each come to.
    fn times(&self, count: f64, bytes: u64) -> Offer {
        let packets = bytes.div_ceil(u64::from(self.scenario.network.mtu));
        Offer { payload: count * bytes as f64, packets: count * packets as f64 }
    }

    /// Returns a flow's part of the mean that its initiator issues; all flows of the initiator carry operations in turn.
    fn open_loop(&self, spec: &FlowSpec, part: Part) -> Offer {
        let Pattern::OpenLoop { operations, offered, .. } =
            &self.scenario.traffic[spec.table as usize].pattern
        else {
            unreachable!("a flow of an open loop is of such a table");
        };
        let rate = self.routes.graph().link(self.routes.graph().nic(initiator(spec, part))).rate;
        let end = Time::ZERO + self.scenario.duration;
        let active = spec.stop.map_or(end, |stop| stop.min(end)).since(spec.start);
        let issued = active.as_ps() as f64 / offered.gap_ps(operations.bytes, rate);
        let bytes = match (part, operations.kind) {
            (Part::Requests, OperationKind::Read(request)) => request,
            _ => operations.bytes,
        };
        self.times(issued / f64::from(self.turns[&turn(spec, part)]), bytes.get())
    }

    /// All messages of a pair of ranks, in all iterations.
    fn messages(&self, flow: u32, table: u32) -> Offer {
        let Pattern::Job(job) = &self.scenario.traffic[table as usize].pattern else {
            unreachable!("messages are a job's");
        };
        let pair = self.routes.pair_of(flow) as usize;
        let times = f64::from(job.iterations);
        Offer {
            payload: times * job.graph.pairs[pair].bytes as f64,
            packets: times * self.packets[&table][pair] as f64,
        }
    }
}

fn initiator(spec: &FlowSpec, part: Part) -> u32 {
    if part == Part::Answers {
        spec.to
    } else {
        spec.from
    }
}

fn turn(spec: &FlowSpec, part: Part) -> (u32, u32, bool) {
    (spec.table, initiator(spec, part), part == Part::Answers)
}

/// The packets of each pair of ranks in an iteration; a message of no bytes takes one.
fn packets_of_pairs(graph: &OperationGraph, mtu: u32) -> Vec<u64> {
    let mut packets = vec![0; graph.pairs.len()];
    for operation in &graph.operations {
        if let Operation::Send { channel, bytes } = *operation {
            let pair = graph.pair_of[channel as usize] as usize;
            packets[pair] += bytes.max(1).div_ceil(u64::from(mtu));
        }
    }
    packets
}
