//! The counters at the end of the warm-up, from which steady-state figures count.

use clearway_proto::units::Time;

use crate::net::classes::ClassCounters;
use crate::net::engine::EngineCounters;
use crate::net::port::PortCounters;
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
    /// Per link: byte-picoseconds of waiting, and bytes transmitted.
    pub waited: Vec<u128>,
    pub transmitted: Vec<f64>,
    pub ports: Vec<PortCounters>,
    /// Per link and class.
    pub classes: Vec<ClassCounters>,
    pub sent_bytes: Vec<u64>,
    pub sent_frames: Vec<u64>,
    /// Per host, where hosts are not ideal.
    pub engines: Vec<EngineCounters>,
}

impl Baseline {
    /// The counters as they are now.
    pub fn of(simulation: &Simulation) -> Baseline {
        let time = simulation.time();
        let fabric = simulation.fabric();
        let links = 0..fabric.len() as u32;
        let flights = simulation.flows().iter().map(|flow| flow.sender.flight());
        Baseline {
            time,
            payload: simulation.landings().iter().map(|l| l.receiver.payload()).collect(),
            sent: flights.clone().map(|f| f.sent).collect(),
            retransmissions: flights.map(|f| u64::from(f.retransmissions)).collect(),
            lost_data: simulation.counters().iter().map(|c| c.lost_data).collect(),
            waited: links.clone().map(|link| fabric.waited(link, time.as_ps())).collect(),
            transmitted: links.clone().map(|link| fabric.transmitted(link, time.as_ps())).collect(),
            ports: links.clone().map(|link| fabric.counters(link).clone()).collect(),
            classes: links
                .clone()
                .flat_map(|link| fabric.classes().queues(link))
                .map(|q| q.counters)
                .collect(),
            sent_bytes: links.clone().map(|link| fabric.port(link).sent_bytes).collect(),
            sent_frames: links.map(|link| fabric.port(link).sent_frames).collect(),
            engines: simulation.engines().collect(),
        }
    }
}
