//! The mean and the largest round-trip time of every transport in each interval, and how many there were.

use clearway_proto::units::Time;

use super::contract::{column, Sampled};
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
    /// For each transport the round-trip times that the simulation had counted at the last sample.
    last: Vec<Times>,
    /// For each transport the round-trip times since the last sample that the simulation has forgotten.
    kept: Vec<Times>,
}

/// Some round-trip times, in picoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    sum: u128,
    count: u64,
    max: u64,
}

impl RttSamples {
    /// The memory that these samples take.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let (rows, row_bytes) = (scenario.transports.len() as f64, Series::<2>::row_bytes(scenario) + NUMBER);
        Sampled::every("record.rtt", scenario.record.rtt, rows, row_bytes, scenario)
    }

    /// Returns an empty set of samples, with room for `rows` rows.
    pub(super) fn new(simulation: &Simulation, rows: usize) -> RttSamples {
        let none = vec![Times::default(); simulation.transports()];
        RttSamples { series: Series::new(rows), counts: column(rows), last: none.clone(), kept: none }
    }

    /// Keeps what there was since the last sample, as the simulation is about to forget it.
    pub(super) fn keep(&mut self, simulation: &mut Simulation) {
        for transport in 0..self.kept.len() {
            self.kept[transport] = self.since_last(simulation, transport);
        }
        self.last.fill(Times::default());
    }

    /// Samples every transport. One that has measured no round trip since the last sample has no mean and no largest.
    pub(super) fn sample(&mut self, simulation: &mut Simulation, now: Time) {
        for transport in 0..self.kept.len() {
            let Times { sum, count, max } = self.since_last(simulation, transport);
            self.kept[transport] = Times::default();
            let us = |ps: f64| if count > 0 { ps / 1e6 } else { f64::NAN };
            self.series.push(now, transport, [us(sum as f64 / count as f64), us(max as f64)]);
            self.counts.push(count);
        }
    }

    /// The round-trip times since the last sample. Those until now are not among the next ones.
    fn since_last(&mut self, simulation: &mut Simulation, transport: usize) -> Times {
        let (last, kept) = (&mut self.last[transport], self.kept[transport]);
        let (sum, count) = simulation.rtt_so_far(transport);
        let since = Times {
            sum: kept.sum + sum - last.sum,
            count: kept.count + count - last.count,
            max: kept.max.max(simulation.take_recent_max_rtt(transport)),
        };
        *last = Times { sum, count, max: 0 };
        since
    }

    pub(super) fn into_table(self, measured: &Measured) -> Table {
        let (time_us, transport, [rtt_mean_us, rtt_max_us]) = self.series.into_columns(measured);
        let count = Column::Integers(self.counts);
        RttSeries { time_us, transport, rtt_mean_us, rtt_max_us, count }.table()
    }
}
