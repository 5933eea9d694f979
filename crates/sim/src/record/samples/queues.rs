//! The bytes waiting at every switch port that ever queued.

use clearway_proto::units::Time;

use super::contract::{column, Sampled};
use crate::model::Scenario;
use crate::net::port::Port;
use crate::net::shape;
use crate::record::definitions::table;
use crate::record::footprint::{link_text_bytes, switch_ports, NUMBER};
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::record::texts::Texts;
use crate::simulation::Simulation;

table! {
    /// The bytes at switch ports every `record.queues`: rows by time and then by link. A port without a row
    /// at an instant has nothing waiting. No such table without that key.
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
    time_us: Vec<f64>,
    link: Vec<u32>,
    bytes: Vec<u64>,
    /// Whether the link's last sample was not zero, so that the first zero after it is kept.
    busy: Vec<bool>,
}

impl QueueSamples {
    /// The memory that these samples take: each row has the time, the link's number and its name, and the bytes.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let shape = shape::of(&scenario.network.topology);
        let (ports, row_bytes) = (switch_ports(&*shape), NUMBER * 2.5 + link_text_bytes(&*shape));
        Sampled::every("record.queues", scenario.record.queues, ports, row_bytes, scenario)
    }

    /// No samples yet, and room for so many.
    pub(super) fn new(simulation: &Simulation, rows: usize) -> QueueSamples {
        let busy = vec![false; simulation.links() as usize];
        QueueSamples { time_us: column(rows), link: column(rows), bytes: column(rows), busy }
    }

    /// Samples the ports of switches. Empty queues are left out, save the first sample after a queue has drained.
    pub(super) fn sample(&mut self, simulation: &Simulation, now: Time) {
        for link in 0..simulation.links() {
            if simulation.port(link).intersects(Port::NIC) {
                continue;
            }
            let bytes = u64::from(simulation.port_figures(link).waiting_bytes);
            let busy = bytes > 0;
            if busy || std::mem::replace(&mut self.busy[link as usize], busy) {
                self.busy[link as usize] = busy;
                self.time_us.push(now.as_us_f64());
                self.link.push(link);
                self.bytes.push(bytes);
            }
        }
    }

    pub(super) fn into_table(self, measured: &Measured) -> Table {
        let links = Texts::new(measured.simulation.graph().link_names(), self.link);
        Queues {
            time_us: Column::Floats(self.time_us),
            link: Column::Texts(links),
            queue_bytes: Column::Integers(self.bytes),
        }
        .table()
    }
}
