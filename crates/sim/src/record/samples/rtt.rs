//! The mean and the largest round-trip time of every transport in each interval.

use clearway_proto::units::Time;

use super::contract::Sampled;
use super::series::Series;
use crate::model::Scenario;
use crate::record::definitions::table;
use crate::record::measured::Measured;
use crate::record::outcome::Table;
use crate::simulation::Simulation;

table! {
    /// Round-trip times in each `record.rtt`: a row for each transport of which an acknowledgement came. No
    /// such table without that key.
    RttSeries as "rtt_series" {
        /// The end of the step, which began at the sample before or, if later, at the end of the warm-up.
        time_us: Nothing,
        /// The name of the transport.
        transport: Nothing,
        /// Mean of the round-trip times of the acknowledgements that came, from when the packet was sent.
        rtt_mean_us: Step,
        /// The longest of them.
        rtt_max_us: Step,
    }
}

/// The samples so far.
#[derive(Debug)]
pub(super) struct RttSamples {
    series: Series<2>,
    /// For each transport the sum and the count of its round-trip times at the last sample.
    last: Vec<(u128, u64)>,
}

impl RttSamples {
    /// The memory that these samples take.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let rows = scenario.transports.len() as f64;
        Sampled::every("record.rtt", scenario.record.rtt, rows, Series::<2>::row_bytes(scenario), scenario)
    }

    /// No samples yet, and room for so many.
    pub(super) fn new(simulation: &Simulation, rows: usize) -> RttSamples {
        RttSamples { series: Series::new(rows), last: vec![(0, 0); simulation.transports()] }
    }

    /// The round-trip times so far have been forgotten.
    pub(super) fn restart(&mut self) {
        self.last.fill((0, 0));
    }

    /// Samples every transport that has measured any round trip since the last sample.
    pub(super) fn sample(&mut self, simulation: &mut Simulation, now: Time) {
        for transport in 0..simulation.transports() {
            let (sum, count) = self.last[transport];
            let (new_sum, new_count) = simulation.rtt_so_far(transport);
            let max = simulation.take_recent_max_rtt(transport);
            self.last[transport] = (new_sum, new_count);
            if new_count > count {
                let mean = (new_sum - sum) as f64 / (new_count - count) as f64;
                self.series.push(now, transport, [mean / 1e6, max as f64 / 1e6]);
            }
        }
    }

    pub(super) fn into_table(self, measured: &Measured) -> Table {
        let (time_us, transport, [rtt_mean_us, rtt_max_us]) = self.series.into_columns(measured);
        RttSeries { time_us, transport, rtt_mean_us, rtt_max_us }.table()
    }
}
