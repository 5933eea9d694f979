//! The counters at the end of the warm-up, from which steady-state figures count.

use clearway_proto::units::Time;

use crate::host::processor::ProcessorCounters;
use crate::net::port::{PortCounters, PortFigures};
use crate::net::rules::ClassCounters;
use crate::simulation::Simulation;

/// Counters at the end of the warm-up.
#[derive(Clone, Debug)]
pub(super) struct Baseline {
    pub time: Time,
    /// Payload delivered, per flow.
    pub payload: Vec<u64>,
    /// Data packets sent, and sent again, per flow.
    pub sent: Vec<u64>,
    pub retransmissions: Vec<u64>,
    /// Data packets lost, per transport.
    pub lost_data: Vec<u64>,
    /// Per link.
    pub figures: Vec<PortFigures>,
    /// Bytes transmitted, per link.
    pub transmitted: Vec<f64>,
    pub ports: Vec<PortCounters>,
    /// Per link and class.
    pub classes: Vec<ClassCounters>,
    /// Per host whose work takes time.
    pub processors: Vec<ProcessorCounters>,
}

impl Baseline {
    /// The counters as they are now.
    pub fn of(simulation: &Simulation) -> Baseline {
        let links = 0..simulation.links();
        let flows = 0..simulation.specs().len() as u32;
        let flights = flows.clone().map(|flow| simulation.sender(flow).sender.flight());
        let classes = links.clone().flat_map(|link| simulation.port_classes(link));
        Baseline {
            time: simulation.time(),
            payload: flows.map(|flow| simulation.receiver(flow).receiver.payload()).collect(),
            sent: flights.clone().map(|f| f.sent).collect(),
            retransmissions: flights.map(|f| u64::from(f.retransmissions)).collect(),
            lost_data: (0..simulation.transports()).map(|t| simulation.lost_data(t)).collect(),
            figures: links.clone().map(|link| simulation.port_figures(link)).collect(),
            transmitted: links.clone().map(|link| simulation.transmitted(link)).collect(),
            classes: classes.map(|queue| queue.counters).collect(),
            ports: links.map(|link| simulation.port_counters(link).clone()).collect(),
            processors: simulation.processors().map(|(_, counters)| counters).collect(),
        }
    }
}
