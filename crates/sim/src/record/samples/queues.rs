//! The bytes waiting at every switch port at which anything ever waits.

use clearway_proto::units::Time;

use super::contract::{column, Sampled};
use crate::model::Scenario;
use crate::net::port::Port;
use crate::record::definitions::table;
use crate::record::footprint::{link_text_bytes, switch_ports, NUMBER};
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::record::texts::Texts;
use crate::simulation::Simulation;
use crate::topology::shape;

table! {
    /// The bytes at switch ports every `record.queues`: at each instant a row for each port at which anything
    /// waited in the run. At all other ports nothing ever did. No such table without that key.
    Queues as "queues" {
        /// The instant of the sample.
        time_us: Nothing,
        /// The name of the link that the port feeds.
        link: Nothing,
        /// Bytes that wait at the port at that instant, without the frame in transmission.
        queue_bytes: Nothing,
    }
}

/// The samples so far.
#[derive(Debug)]
pub(super) struct QueueSamples {
    /// When the samples were taken.
    time_us: Vec<f64>,
    /// For each link the bytes at each of these instants. While nothing has ever waited there, nothing is kept.
    bytes: Vec<Vec<u32>>,
    /// How many instants there may be.
    instants: usize,
}

impl QueueSamples {
    /// The memory that these samples take: each row has the time, the link's number and its name, and the bytes. What is kept
    /// of a row before there is a table takes less than the name.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let shape = shape::of(&scenario.network.topology);
        let (ports, row_bytes) = (switch_ports(&*shape), NUMBER * 2.5 + link_text_bytes(&*shape));
        Sampled::every("record.queues", scenario.record.queues, ports, row_bytes, scenario)
    }

    /// Returns an empty set of samples, with room for `instants` instants.
    pub(super) fn new(simulation: &Simulation, instants: usize) -> QueueSamples {
        let bytes = vec![Vec::new(); simulation.links() as usize];
        QueueSamples { time_us: column(instants), bytes, instants }
    }

    /// Samples the ports of switches at which anything has ever waited: before, there was nothing.
    pub(super) fn sample(&mut self, simulation: &Simulation, now: Time) {
        let before = self.time_us.len();
        self.time_us.push(now.as_us_f64());
        for (link, samples) in (0..).zip(&mut self.bytes) {
            if simulation.port(link).intersects(Port::NIC) {
                continue;
            }
            let port = simulation.port_figures(link);
            if samples.is_empty() {
                if port.waited == 0 && port.waiting_bytes == 0 {
                    continue;
                }
                *samples = column(self.instants);
                samples.resize(before, 0);
            }
            samples.push(port.waiting_bytes);
        }
    }

    /// The table: at each instant a row for each port at which anything has ever waited, empty or not.
    pub(super) fn into_table(self, measured: &Measured) -> Table {
        let ports: Vec<u32> =
            (0..).zip(&self.bytes).filter(|(_, samples)| !samples.is_empty()).map(|(link, _)| link).collect();
        let rows = self.time_us.len() * ports.len();
        let (mut time_us, mut link, mut bytes) = (column(rows), column(rows), column(rows));
        for (instant, at) in self.time_us.iter().enumerate() {
            for &port in &ports {
                time_us.push(*at);
                link.push(port);
                bytes.push(u64::from(self.bytes[port as usize][instant]));
            }
        }
        let links = Texts::new(measured.simulation.graph().link_names(), link);
        Queues {
            time_us: Column::Floats(time_us),
            link: Column::Texts(links),
            queue_bytes: Column::Integers(bytes),
        }
        .table()
    }
}
