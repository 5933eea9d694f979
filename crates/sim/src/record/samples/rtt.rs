//! The mean and the largest round-trip time of every transport in each interval, and how many there were.

use clearway_proto::units::Time;

use super::contract::{column, Sampled};
use super::round_trips::RoundTrips;
use super::series::Series;
use crate::model::Scenario;
use crate::record::definitions::table;
use crate::record::footprint::NUMBER;
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::simulation::Simulation;

table! {
    /// Round-trip times in each `record.rtt`: a row for each transport at each instant. No such table without that
    /// key.
    RttSeries as "rtt_series" {
        /// The instant of the sample.
        time_us: Nothing,
        /// The name of the transport.
        transport: Nothing,
        /// Mean of the round-trip times of the acknowledgements that came, from when the packet was sent; NaN
        /// where none came.
        rtt_mean_us: Step,
        /// The longest of them; NaN where none came.
        rtt_max_us: Step,
        /// Acknowledgements that came.
        count: Step,
    }
}

/// The samples so far.
#[derive(Debug)]
pub(super) struct RttSamples {
    series: Series<2>,
    counts: Vec<u64>,
    pub(super) round_trips: RoundTrips,
}

impl RttSamples {
    /// The memory that these samples take.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let (rows, row_bytes) = (scenario.transports.len() as f64, Series::<2>::row_bytes(scenario) + NUMBER);
        Sampled::every("record.rtt", scenario.record.rtt, rows, row_bytes, scenario)
    }

    /// Returns an empty set of samples, with room for `rows` rows.
    pub(super) fn new(simulation: &Simulation, rows: usize) -> RttSamples {
        RttSamples {
            series: Series::new(rows),
            counts: column(rows),
            round_trips: RoundTrips::new(simulation),
        }
    }

    /// Samples every transport. One that has measured no round trip since the last sample has no mean and no largest.
    pub(super) fn sample(&mut self, simulation: &Simulation, now: Time) {
        for transport in 0..simulation.transports() {
            let times = self.round_trips.take(simulation, transport);
            self.series.push(now, transport, times.mean_and_max_us());
            self.counts.push(times.count);
        }
    }

    pub(super) fn into_table(self, measured: &Measured) -> Table {
        let (time_us, transport, [rtt_mean_us, rtt_max_us]) = self.series.into_columns(measured);
        let count = Column::Integers(self.counts);
        RttSeries { time_us, transport, rtt_mean_us, rtt_max_us, count }.table()
    }
}
