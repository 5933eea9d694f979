//! The counters at the beginning and at the end of the measurement, whose differences steady-state figures are.

use clearway_proto::units::Time;

use crate::host::processor::ProcessorCounters;
use crate::net::counters::PortCounters;
use crate::net::port::PortFigures;
use crate::net::rules::ClassCounters;
use crate::simulation::Simulation;

/// Counters of a link at an instant.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkBaseline {
    pub figures: PortFigures,
    /// Bytes transmitted on the link.
    pub transmitted: f64,
    pub counters: PortCounters,
}

/// Counters at an instant.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    pub time: Time,
    /// Payload delivered, per flow.
    pub payload: Vec<u64>,
    /// Data packets sent, and sent again, per flow.
    pub sent: Vec<u64>,
    pub retransmissions: Vec<u64>,
    /// Packets that arrived again, per flow.
    pub duplicates: Vec<u64>,
    /// The counters of each link; empty where nothing had happened yet, which saves a large network a tenth of its
    /// memory.
    links: Vec<LinkBaseline>,
    /// The counters of each class at each link.
    pub classes: Vec<ClassCounters>,
    /// The counters of each host whose work takes time.
    pub processors: Vec<ProcessorCounters>,
}

impl LinkBaseline {
    /// The counters of a link as they are now.
    pub fn of(simulation: &Simulation, link: u32) -> LinkBaseline {
        LinkBaseline {
            figures: simulation.port_figures(link),
            transmitted: simulation.transmitted(link),
            counters: simulation.port_counters(link),
        }
    }
}

impl Baseline {
    /// The counters as they are now.
    pub fn of(simulation: &Simulation) -> Baseline {
        let links = 0..simulation.links();
        let flows = 0..simulation.specs().len() as u32;
        let flights = flows.clone().map(|flow| simulation.sender(flow).sender.flight());
        let classes = links.clone().flat_map(|link| simulation.port_classes(link));
        let of_link = |link| LinkBaseline::of(simulation, link);
        Baseline {
            time: simulation.time(),
            payload: flows.clone().map(|flow| simulation.receiver(flow).receiver.payload()).collect(),
            duplicates: flows.map(|flow| simulation.receiver(flow).receiver.duplicates()).collect(),
            sent: flights.clone().map(|f| f.sent).collect(),
            retransmissions: flights.map(|f| u64::from(f.retransmissions)).collect(),
            classes: classes.map(|queue| queue.counters).collect(),
            links: links.filter(|_| simulation.time() > Time::ZERO).map(of_link).collect(),
            processors: simulation.processors().map(|(_, counters)| counters).collect(),
        }
    }

    /// The counters of a link as they were.
    pub fn link(&self, link: u32) -> LinkBaseline {
        self.links.get(link as usize).cloned().unwrap_or_default()
    }
}
