//! Every flow's windows.

use clearway_proto::units::Time;

use super::contract::{column, Sampled};
use crate::model::Scenario;
use crate::record::definitions::table;
use crate::record::footprint::NUMBER;
use crate::record::outcome::{Column, Table};
use crate::simulation::Simulation;
use crate::traffic::most_flows;

table! {
    /// What flows' congestion controls hold, every `record.windows`: a row for each flow that has started and
    /// is not complete. No such table without that key.
    Windows as "windows" {
        /// The instant of the sample.
        time_us: Nothing,
        /// The flow's number.
        flow: Nothing,
        /// The congestion window that rules; NaN where the scheme has none.
        cwnd_packets: Nothing,
        /// Swift's window for the fabric; NaN of other schemes.
        fcwnd_packets: Nothing,
        /// Swift's window for the endpoints; NaN of other schemes.
        ecwnd_packets: Nothing,
        /// The smoothed round-trip time; 0 before the first, and of a scheme that keeps none.
        srtt_us: Nothing,
        /// The rate at which a rate-based scheme lets packets leave; NaN of others.
        rate_gbps: Nothing,
    }
}

/// The samples so far.
#[derive(Debug)]
pub(super) struct WindowSamples {
    time_us: Vec<f64>,
    flow: Vec<u64>,
    windows: [Vec<f64>; 5],
}

impl WindowSamples {
    /// The memory that these samples take: each row has the time, the flow, and five values.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let (rows, row_bytes) = (most_flows(scenario), NUMBER * 7.0);
        Sampled::every("record.windows", scenario.record.windows, rows, row_bytes, scenario)
    }

    /// Returns an empty set of samples, with room for `rows` rows.
    pub(super) fn new(rows: usize) -> WindowSamples {
        let windows = std::array::from_fn(|_| column(rows));
        WindowSamples { time_us: column(rows), flow: column(rows), windows }
    }

    /// Samples the windows of every flow that has begun and is not complete.
    pub(super) fn sample(&mut self, simulation: &Simulation, now: Time) {
        for (flow, spec) in (0..).zip(simulation.specs()) {
            if spec.start > now || simulation.receiver(flow).completed_at <= now {
                continue;
            }
            let windows = simulation.sender(flow).sender.windows();
            self.time_us.push(now.as_us_f64());
            self.flow.push(u64::from(flow));
            let srtt = windows.srtt.as_us_f64();
            let values = [windows.cwnd, windows.fcwnd, windows.ecwnd, srtt, windows.rate / 1e9];
            for (column, value) in self.windows.iter_mut().zip(values) {
                column.push(value);
            }
        }
    }

    pub(super) fn into_table(self) -> Table {
        let [cwnd, fcwnd, ecwnd, srtt, rate] = self.windows.map(Column::Floats);
        Windows {
            time_us: Column::Floats(self.time_us),
            flow: Column::Integers(self.flow),
            cwnd_packets: cwnd,
            fcwnd_packets: fcwnd,
            ecwnd_packets: ecwnd,
            srtt_us: srtt,
            rate_gbps: rate,
        }
        .table()
    }
}
