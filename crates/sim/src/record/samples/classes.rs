//! Samples of traffic classes: payload delivered, bytes sent and round-trip times in each interval.

use clearway_proto::units::{Span, Time};

use super::contract::{column, gbps, Sampled};
use super::round_trips::{RoundTrips, Times};
use crate::model::Scenario;
use crate::net::port::Port;
use crate::record::definitions::table;
use crate::record::footprint::{class_text_bytes, NUMBER};
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::record::texts::Texts;
use crate::simulation::Simulation;

table! {
    /// The traffic of each class in each `record.classes`: a row for each class at each instant; one for the
    /// whole network where there are no classes. No such table without that key.
    ClassSeries as "classes_series" {
        /// The instant of the sample.
        time_us: Nothing,
        /// The name of the traffic class; empty where there are none.
        class: Nothing,
        /// Payload that receivers took of flows whose data is of the class, each byte counted once, over the
        /// length of the step.
        goodput_gbps: Step,
        /// Bytes of frames of the class whose transmission began at hosts' NICs, with headers and what the link
        /// adds, over the length of the step: data and acknowledgements, and those of probes and arbiters.
        sent_gbps: Step,
        /// Mean of the round-trip times of the acknowledgements that came of data of the class, from when the
        /// packet was sent; NaN where none came.
        rtt_mean_us: Step,
        /// The longest of them; NaN where none came.
        rtt_max_us: Step,
        /// Acknowledgements that came of data of the class.
        count: Step,
    }
}

/// The samples so far.
#[derive(Debug)]
pub(super) struct ClassSamples {
    /// The class of each transport's data.
    class_of: Vec<usize>,
    pub(super) round_trips: RoundTrips,
    /// The payload that each class had delivered, and the bytes that it had sent, at the last sample.
    last: Vec<[u64; 2]>,
    time_us: Vec<f64>,
    class: Vec<u32>,
    values: [Vec<f64>; 4],
    counts: Vec<u64>,
}

impl ClassSamples {
    /// The memory that these samples take: each row has the time, the class's number and name, and five values.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let rows = scenario.classes.len().max(1) as f64;
        let row_bytes = NUMBER * 7.0 + class_text_bytes(scenario);
        Sampled::every("record.classes", scenario.record.classes, rows, row_bytes, scenario)
    }

    /// Returns an empty set of samples, with room for `rows` rows.
    pub(super) fn new(scenario: &Scenario, simulation: &Simulation, rows: usize) -> ClassSamples {
        ClassSamples {
            class_of: scenario.transports.iter().map(|transport| transport.class).collect(),
            round_trips: RoundTrips::new(simulation),
            last: vec![[0; 2]; simulation.classes().max(1)],
            time_us: column(rows),
            class: column(rows),
            values: std::array::from_fn(|_| column(rows)),
            counts: column(rows),
        }
    }

    /// Samples every class, `step` after the last sample.
    pub(super) fn sample(&mut self, simulation: &Simulation, now: Time, step: Span) {
        let mut times = vec![Times::default(); self.last.len()];
        for (transport, &class) in self.class_of.iter().enumerate() {
            times[class] = times[class].with(self.round_trips.take(simulation, transport));
        }
        let so_far = self.so_far(simulation);
        for (class, (times, so_far)) in times.into_iter().zip(so_far).enumerate() {
            let last = std::mem::replace(&mut self.last[class], so_far);
            let [delivered, sent] = [0, 1].map(|which| gbps(so_far[which] - last[which], step));
            let [mean, longest] = times.mean_and_max_us();
            self.time_us.push(now.as_us_f64());
            self.class.push(class as u32);
            self.counts.push(times.count);
            for (column, value) in self.values.iter_mut().zip([delivered, sent, mean, longest]) {
                column.push(value);
            }
        }
    }

    /// Returns the payload that each class has delivered, and the bytes that hosts have sent of it.
    fn so_far(&self, simulation: &Simulation) -> Vec<[u64; 2]> {
        let mut so_far = vec![[0; 2]; self.last.len()];
        for (flow, spec) in (0..).zip(simulation.specs()) {
            let class = self.class_of[spec.transport as usize];
            so_far[class][0] += simulation.receiver(flow).receiver.payload();
        }
        for link in (0..simulation.links()).filter(|&link| simulation.port(link).intersects(Port::NIC)) {
            let queues = simulation.port_classes(link);
            if queues.is_empty() {
                so_far[0][1] += simulation.port_figures(link).sent_bytes;
            }
            for (of, queue) in so_far.iter_mut().zip(queues) {
                of[1] += queue.counters.sent_bytes;
            }
        }
        so_far
    }

    pub(super) fn into_table(self, measured: &Measured) -> Table {
        let [goodput_gbps, sent_gbps, rtt_mean_us, rtt_max_us] = self.values.map(Column::Floats);
        ClassSeries {
            time_us: Column::Floats(self.time_us),
            class: Column::Texts(Texts::of_classes(measured.scenario, self.class)),
            goodput_gbps,
            sent_gbps,
            rtt_mean_us,
            rtt_max_us,
            count: Column::Integers(self.counts),
        }
        .table()
    }
}
