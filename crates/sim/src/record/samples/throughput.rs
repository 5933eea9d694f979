//! The payload that every transport delivered in each interval.

use clearway_proto::units::{Span, Time};

use super::contract::{gbps, Sampled};
use super::series::Series;
use crate::model::Scenario;
use crate::record::definitions::table;
use crate::record::measured::Measured;
use crate::record::outcome::Table;
use crate::simulation::Simulation;

table! {
    /// Goodput in each `record.throughput`: a row for each transport at each instant. No such table without
    /// that key.
    Throughput as "throughput" {
        /// The instant of the sample.
        time_us: Nothing,
        /// The name of the transport.
        transport: Nothing,
        /// Payload that receivers took, each byte counted once, over the length of the step.
        goodput_gbps: Step,
    }
}

/// The samples so far.
#[derive(Debug)]
pub(super) struct ThroughputSamples {
    series: Series<1>,
    /// For each transport the payload that it had delivered at the last sample, in bytes.
    last: Vec<u64>,
}

impl ThroughputSamples {
    /// The memory that these samples take.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let (rows, row_bytes) = (scenario.transports.len() as f64, Series::<1>::row_bytes(scenario));
        Sampled::every("record.throughput", scenario.record.throughput, rows, row_bytes, scenario)
    }

    /// Returns an empty set of samples, with room for `rows` rows.
    pub(super) fn new(simulation: &Simulation, rows: usize) -> ThroughputSamples {
        ThroughputSamples { series: Series::new(rows), last: vec![0; simulation.transports()] }
    }

    /// Samples every transport, `step` after the last sample.
    pub(super) fn sample(&mut self, simulation: &Simulation, now: Time, step: Span) {
        let mut payload = vec![0; self.last.len()];
        for (flow, spec) in (0..).zip(simulation.specs()) {
            payload[spec.transport as usize] += simulation.receiver(flow).receiver.payload();
        }
        for (transport, &bytes) in payload.iter().enumerate() {
            self.series.push(now, transport, [gbps(bytes - self.last[transport], step)]);
        }
        self.last = payload;
    }

    pub(super) fn into_table(self, measured: &Measured) -> Table {
        let (time_us, transport, [goodput_gbps]) = self.series.into_columns(measured);
        Throughput { time_us, transport, goodput_gbps }.table()
    }
}
