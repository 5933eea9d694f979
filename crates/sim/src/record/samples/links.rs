//! What every switch port and class sent and dropped in each interval, and how much of the link that took.

use clearway_proto::units::{Span, Time};

use super::contract::{column, Sampled};
use crate::model::Scenario;
use crate::net::port::Port;
use crate::record::definitions::table;
use crate::record::footprint::{class_text_bytes, link_text_bytes, switch_ports, NUMBER};
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::record::texts::Texts;
use crate::simulation::Simulation;
use crate::topology::shape;

table! {
    /// What switch ports sent and dropped in each `record.links`: at each instant a row for each class at each
    /// port that sent or dropped anything in the run. No such table without that key.
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
    /// When the samples were taken.
    time_us: Vec<f64>,
    /// The samples of each link.
    links: Vec<OfLink>,
    /// How many instants there may be.
    instants: usize,
    /// For each link, the bytes on the wire at the last sample.
    transmitted: Vec<f64>,
    /// For each link and class, the counters at the last sample.
    last: Vec<[u64; 3]>,
}

/// The samples of a link: none while it has never sent or dropped anything.
#[derive(Clone, Debug, Default)]
struct OfLink {
    /// The utilisation at each instant.
    utilisation: Vec<f64>,
    /// Sent bytes, dropped bytes and dropped frames of each class at each instant.
    counts: Vec<[u64; 3]>,
}

impl LinkSamples {
    /// The memory that these samples take: each row has the time, numbers and names of link and class, and four values. The
    /// values are held twice while the table is made, and the names only afterwards.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let shape = shape::of(&scenario.network.topology);
        let names = link_text_bytes(&*shape) + class_text_bytes(scenario);
        let row_bytes = NUMBER * 6.0 + names.max(NUMBER * 4.0);
        let rows = switch_ports(&*shape) * scenario.classes.len().max(1) as f64;
        Sampled::every("record.links", scenario.record.links, rows, row_bytes, scenario)
    }

    /// Returns an empty set of samples, with room for `instants` instants.
    pub(super) fn new(simulation: &Simulation, instants: usize) -> LinkSamples {
        let links = simulation.links() as usize;
        LinkSamples {
            time_us: column(instants),
            links: vec![OfLink::default(); links],
            instants,
            transmitted: vec![0.0; links],
            last: vec![[0; 3]; links * simulation.classes().max(1)],
        }
    }

    /// Samples the ports of switches that have ever sent or dropped anything: before, there was nothing.
    pub(super) fn sample(&mut self, simulation: &Simulation, now: Time, step: Span) {
        let (classes, before) = (simulation.classes().max(1), self.time_us.len());
        self.time_us.push(now.as_us_f64());
        for (link, of) in (0..).zip(&mut self.links) {
            if simulation.port(link).intersects(Port::NIC) {
                continue;
            }
            let (at, transmitted) = (link as usize, simulation.transmitted(link));
            let bytes = transmitted - std::mem::replace(&mut self.transmitted[at], transmitted);
            let utilisation =
                bytes * 8.0 / (simulation.graph().link(link).rate.as_bps() as f64 * step.as_secs_f64());
            let counts = (0..classes).map(|class| counts(simulation, link, class));
            let last = &mut self.last[at * classes..(at + 1) * classes];
            if of.utilisation.is_empty() {
                if utilisation == 0.0 && counts.clone().eq(last.iter().copied()) {
                    continue;
                }
                *of = OfLink { utilisation: column(self.instants), counts: column(self.instants * classes) };
                of.utilisation.resize(before, 0.0);
                of.counts.resize(before * classes, [0; 3]);
            }
            of.utilisation.push(utilisation);
            for (counts, last) in counts.zip(last) {
                let then = std::mem::replace(last, counts);
                of.counts.push(std::array::from_fn(|at| counts[at] - then[at]));
            }
        }
    }

    /// The table: at each instant a row for each class at each port that has ever sent or dropped anything, idle or not.
    pub(super) fn into_table(self, measured: &Measured) -> Table {
        let classes = measured.simulation.classes().max(1);
        let ports: Vec<(u32, &OfLink)> =
            (0..).zip(&self.links).filter(|(_, of)| !of.utilisation.is_empty()).collect();
        let rows = self.time_us.len() * ports.len() * classes;
        let (mut time_us, mut utilisation) = (column(rows), column(rows));
        let (mut link, mut class_of) = (column(rows), column(rows));
        let mut counts: [Vec<u64>; 3] = std::array::from_fn(|_| column(rows));
        for (instant, at) in self.time_us.iter().enumerate() {
            for &(port, of) in &ports {
                for (class, row) in (0..).zip(&of.counts[instant * classes..][..classes]) {
                    time_us.push(*at);
                    link.push(port);
                    class_of.push(class);
                    utilisation.push(of.utilisation[instant]);
                    counts.iter_mut().zip(row).for_each(|(column, &count)| column.push(count));
                }
            }
        }
        let links = Texts::new(measured.simulation.graph().link_names(), link);
        let classes = Texts::of_classes(measured.scenario, class_of);
        let [sent_bytes, dropped_bytes, dropped_frames] = counts.map(Column::Integers);
        LinksSeries {
            time_us: Column::Floats(time_us),
            link: Column::Texts(links),
            class: Column::Texts(classes),
            utilisation: Column::Floats(utilisation),
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
