//! One experiment: everything a run is made from.

use clearway_proto::units::{Bytes, Span};

use super::arbiter::{Arbiters, MOST_CONTROL};
use super::class::TrafficClass;
use super::fault::{Bypass, Fault, FaultTable, Outage, Routing};
use super::host::HostKinds;
use super::job::Job;
use super::network::Network;
use super::probe::Probe;
use super::record::Record;
use super::switch::SwitchKinds;
use super::traffic::{Pattern, Traffic};
use super::transport::Transport;

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The experiment's name.
    pub name: String,
    /// The root of every random stream.
    pub seed: u64,
    /// When the run ends at the latest.
    pub duration: Span,
    /// How much of the start is left out of steady-state figures.
    pub warmup: Span,
    /// When steady-state figures end, from the run's start: above `warmup` and at most `duration`.
    pub measure_until: Span,
    /// Whether the run ends on the first point of a 10 us grid at which every sized flow is complete.
    pub stop_when_complete: bool,
    /// Whether a run goes on when a frame of a lossless class is dropped.
    pub allow_loss: bool,
    /// Nodes and links.
    pub network: Network,
    /// What the ports of each role of switch do; looked up with [`SwitchKinds::of`].
    pub switches: SwitchKinds,
    /// What hosts are; looked up with [`HostKinds::of`].
    pub hosts: HostKinds,
    /// The traffic classes, in the file's order; transports refer to them by index. Without any, ports have one queue.
    pub classes: Vec<TrafficClass>,
    /// The transports, in the file's order; traffic refers to them by index.
    pub transports: Vec<Transport>,
    /// The traffic tables, in the file's order, and behind them the jobs.
    pub traffic: Vec<Traffic>,
    /// What measures the round-trip times of paths, in the file's order.
    pub probes: Vec<Probe>,
    /// Fastpass's arbiters; there are some exactly where a transport is Fastpass's.
    pub arbiters: Option<Arbiters>,
    /// What goes wrong with links, and when.
    pub faults: Vec<Fault>,
    /// Which relays fail, and when.
    pub bypasses: Vec<Bypass>,
    /// Which links are dead, and when; there are some only where switches route around them.
    pub outages: Vec<Outage>,
    /// The tables of all faults, in the file's order.
    pub fault_tables: Vec<FaultTable>,
    /// How switches route around dead links; `None` where routes are fixed.
    pub routing: Option<Routing>,
    /// The quantities that the run samples.
    pub record: Record,
}

impl Scenario {
    /// Returns how many classes switches with flow control keep lossless: those that are said to be, or the only one that there
    /// is.
    pub fn lossless_classes(&self) -> usize {
        self.classes.iter().filter(|class| class.lossless).count().max(1)
    }

    /// Returns whether switches write telemetry into the packets of any transport.
    pub fn has_telemetry(&self) -> bool {
        self.transports.iter().any(|transport| transport.protocol.has_telemetry())
    }

    /// Takes away all that goes wrong, with links, nodes, relays and arbiters, and what the network does about it.
    pub fn clear_faults(&mut self) {
        self.faults.clear();
        self.bypasses.clear();
        self.outages.clear();
        self.fault_tables.clear();
        self.routing = None;
        if let Some(arbiters) = &mut self.arbiters {
            arbiters.crashes.clear();
        }
    }

    /// The jobs, each with the number of its table among those of traffic.
    pub fn jobs(&self) -> impl Iterator<Item = (u32, &Job)> {
        (0..).zip(&self.traffic).filter_map(|(number, table)| match &table.pattern {
            Pattern::Job(job) => Some((number, job)),
            _ => None,
        })
    }

    /// The path of a traffic table in the file: `traffic[0]`, or of a job `job[0]`.
    pub fn path_of_table(&self, number: u32) -> String {
        match self.jobs().position(|(table, _)| table == number) {
            Some(job) => format!("job[{job}]"),
            None => format!("traffic[{number}]"),
        }
    }

    /// The longest frame that anybody sends, on the wire: a transport without traffic sends none.
    pub fn longest_frame(&self) -> Bytes {
        let network = &self.network;
        let sending = self.traffic.iter().map(|traffic| &self.transports[traffic.transport]);
        let of_flows = sending.map(|of| (network.mtu + of.header).max(of.ack) + network.framing);
        let of_probes = self.probes.iter().map(|probe| probe.bytes.get());
        let of_control = self.arbiters.iter().map(|_| u64::from(MOST_CONTROL));
        Bytes::new(of_flows.map(u64::from).chain(of_probes).chain(of_control).max().unwrap_or(0))
    }
}
