//! What every switch port and class sent and dropped in each interval, and how much of the link that took.

use clearway_proto::units::{Span, Time};

use super::contract::{column, Sampled};
use crate::model::Scenario;
use crate::net::port::Port;
use crate::net::shape;
use crate::record::definitions::table;
use crate::record::footprint::{link_text_bytes, switch_ports, text_bytes, NUMBER};
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::record::texts::Texts;
use crate::simulation::Simulation;

table! {
    /// What switch ports sent and dropped in each `record.links`: a row for each class at each port where
    /// anything was sent, on its way or dropped. No such table without that key.
    LinksSeries as "links_series" {
        /// The instant of the sample.
        time_us: Nothing,
        /// The name of the link that the port feeds.
        link: Nothing,
        /// The name of the traffic class; empty where there are none.
        class: Nothing,
        /// Bytes of all classes that were put on the link over what its rate allows.
        utilisation: Step,
        /// Bytes of frames of the class whose transmission began, with headers and what the link adds.
        sent_bytes: Step,
        /// Bytes of frames of the class dropped as there was no room for them.
        dropped_bytes: Step,
        /// Frames of the class dropped as there was no room for them.
        dropped_frames: Step,
    }
}

/// The samples so far, and the counters at the last sample.
#[derive(Debug)]
pub(super) struct LinkSamples {
    time_us: Vec<f64>,
    link: Vec<u32>,
    class: Vec<u32>,
    utilisation: Vec<f64>,
    /// Sent bytes, dropped bytes, dropped frames.
    counts: [Vec<u64>; 3],
    /// For each link, the bytes on the wire at the last sample.
    transmitted: Vec<f64>,
    /// For each link and class, the counters at the last sample.
    last: Vec<[u64; 3]>,
}

impl LinkSamples {
    /// The memory that these samples take: each row has the time, numbers and names of link and class, and four values.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let shape = shape::of(&scenario.network.topology);
        let longest = scenario.classes.iter().map(|class| class.name.len()).max().unwrap_or(0);
        let row_bytes = NUMBER * 6.0 + link_text_bytes(&*shape) + text_bytes(longest);
        let rows = switch_ports(&*shape) * scenario.classes.len().max(1) as f64;
        Sampled::every("record.links", scenario.record.links, rows, row_bytes, scenario)
    }

    /// No samples yet, and room for so many.
    pub(super) fn new(simulation: &Simulation, rows: usize) -> LinkSamples {
        let links = simulation.links() as usize;
        LinkSamples {
            time_us: column(rows),
            link: column(rows),
            class: column(rows),
            utilisation: column(rows),
            counts: std::array::from_fn(|_| column(rows)),
            transmitted: vec![0.0; links],
            last: vec![[0; 3]; links * simulation.classes().max(1)],
        }
    }

    /// Samples the ports of switches. Those at which nothing was sent, under way or dropped for `step` are left out.
    pub(super) fn sample(&mut self, simulation: &Simulation, now: Time, step: Span) {
        let classes = simulation.classes().max(1);
        let links = 0..simulation.links();
        for link in links.filter(|&link| !simulation.port(link).intersects(Port::NIC)) {
            let (at, transmitted) = (link as usize, simulation.transmitted(link));
            let bytes = transmitted - std::mem::replace(&mut self.transmitted[at], transmitted);
            let utilisation =
                bytes * 8.0 / (simulation.graph().link(link).rate.as_bps() as f64 * step.as_secs_f64());
            let counts: Vec<[u64; 3]> = (0..classes).map(|class| counts(simulation, link, class)).collect();
            let last = &mut self.last[at * classes..(at + 1) * classes];
            if utilisation == 0.0 && counts == *last {
                continue;
            }
            for (class, (counts, last)) in counts.iter().zip(last).enumerate() {
                self.time_us.push(now.as_us_f64());
                self.link.push(link);
                self.class.push(class as u32);
                self.utilisation.push(utilisation);
                for (column, (now, then)) in self.counts.iter_mut().zip(counts.iter().zip(*last)) {
                    column.push(now - then);
                }
                *last = *counts;
            }
        }
    }

    pub(super) fn into_table(self, measured: &Measured) -> Table {
        let links = Texts::new(measured.simulation.graph().link_names(), self.link);
        let names = measured.scenario.classes.iter().map(|class| class.name.clone()).collect::<Vec<_>>();
        let classes = Texts::new(if names.is_empty() { vec![String::new()] } else { names }, self.class);
        let [sent_bytes, dropped_bytes, dropped_frames] = self.counts.map(Column::Integers);
        LinksSeries {
            time_us: Column::Floats(self.time_us),
            link: Column::Texts(links),
            class: Column::Texts(classes),
            utilisation: Column::Floats(self.utilisation),
            sent_bytes,
            dropped_bytes,
            dropped_frames,
        }
        .table()
    }
}

/// Sent bytes, dropped bytes and dropped frames of a class, or of a port without classes.
fn counts(simulation: &Simulation, link: u32, class: usize) -> [u64; 3] {
    if let Some(queue) = simulation.port_classes(link).get(class) {
        let counters = &queue.counters;
        return [counters.sent_bytes, counters.dropped_bytes, counters.dropped_frames];
    }
    let counters = simulation.port_counters(link);
    [simulation.port_figures(link).sent_bytes, counters.dropped_bytes, counters.dropped_frames]
}
