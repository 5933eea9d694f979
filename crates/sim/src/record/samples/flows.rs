//! Series of chosen flows: payload delivered, bytes sent, window, rate and round-trip times of each.

use clearway_proto::units::{Span, Time};

use super::contract::{column, gbps, Sampled};
use crate::model::Scenario;
use crate::record::definitions::table;
use crate::record::footprint::NUMBER;
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::simulation::{Metered, Simulation};
use crate::traffic::{chosen, most_chosen};

table! {
    /// Series of chosen flows, every `every` of `[record.flows]`: at each instant a row for each of them that was
    /// under way in the step, which is from its start until it is complete, or until it has stopped and all that
    /// it sent is acknowledged. The last step ends with the run, and may be shorter. No such table without
    /// `[record.flows]`.
    FlowsSeries as "flows_series" {
        /// The end of the step.
        time_us: Nothing,
        /// The flow's number.
        flow: Nothing,
        /// Payload that its receiver took, each byte counted once and in whatever order they came, over the
        /// length of the step.
        goodput_gbps: Step,
        /// Bytes of the packets that its sender gave to its NIC or its host's stack, those that it sent again
        /// among them, with headers and what the link adds, over the length of the step.
        sent_gbps: Step,
        /// Payload of the packets among them that it had sent before.
        retransmitted_bytes: Step,
        /// The congestion window that rules; NaN where the scheme has none.
        cwnd_packets: Nothing,
        /// Packets that it has sent and that are neither acknowledged nor known to be lost.
        inflight_packets: Nothing,
        /// The rate at which a rate-based scheme lets packets leave; NaN of others.
        rate_gbps: Nothing,
        /// The smoothed round-trip time; NaN before the first, and of a scheme that keeps none.
        srtt_us: Nothing,
        /// Mean of the round-trip times of the acknowledgements that came, from when the packet was sent; NaN
        /// where none came.
        rtt_mean_us: Step,
        /// The longest of them; NaN where none came.
        rtt_max_us: Step,
        /// Acknowledgements that came.
        count: Step,
    }
}

/// Columns of numbers that are measured: those of the table between flow and count, without the two that are counted.
const MEASURED: usize = 7;

/// The samples so far.
#[derive(Debug)]
pub(super) struct FlowSamples {
    flows: Vec<u32>,
    /// The counts of each flow at the last sample; `None` for one that is over.
    last: Vec<Option<Done>>,
    /// The instant of the last sample.
    sampled: Time,
    time_us: Vec<f64>,
    flow: Vec<u64>,
    measured: [Vec<f64>; MEASURED],
    counted: [Vec<u64>; 3],
}

/// The counts of a flow at an instant.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    /// Payload that its receiver had taken, in bytes.
    delivered: u64,
    /// The counts of its sender.
    sender: Metered,
}

impl FlowSamples {
    /// The memory that these samples take: each row has the time, the flow, and ten values.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let every = scenario.record.flows.as_ref().map(|series| series.every);
        Sampled::every("record.flows", every, most_chosen(scenario), NUMBER * 12.0, scenario)
    }

    /// Returns an empty set of samples, with room for `rows` rows.
    pub(super) fn new(scenario: &Scenario, simulation: &Simulation, rows: usize) -> FlowSamples {
        let flows = chosen(scenario, simulation.specs());
        FlowSamples {
            last: vec![Some(Done::default()); flows.len()],
            flows,
            sampled: Time::ZERO,
            time_us: column(rows),
            flow: column(rows),
            measured: std::array::from_fn(|_| column(rows)),
            counted: std::array::from_fn(|_| column(rows)),
        }
    }

    /// The flows that have series.
    pub(super) fn flows(&self) -> &[u32] {
        &self.flows
    }

    /// Samples the flows that were under way since the last sample.
    pub(super) fn look(&mut self, simulation: &mut Simulation, now: Time) {
        self.sample(simulation, now);
        simulation.forget_longest(&self.flows);
    }

    fn sample(&mut self, simulation: &Simulation, now: Time) {
        let step = now.since(self.sampled);
        for at in 0..self.flows.len() {
            let flow = self.flows[at];
            let Some(last) = self.last[at].filter(|_| simulation.specs()[flow as usize].start < now) else {
                continue;
            };
            let done = Done {
                delivered: simulation.receiver(flow).receiver.payload(),
                sender: simulation.metered(flow),
            };
            self.push(simulation, (now, step), flow, [last, done]);
            self.last[at] = (!simulation.flow_is_over(flow)).then_some(done);
        }
        self.sampled = now;
    }

    /// Adds a row for a flow: what it has done since the last sample.
    fn push(
        &mut self,
        simulation: &Simulation,
        (now, step): (Time, Span),
        flow: u32,
        [last, done]: [Done; 2],
    ) {
        let sender = &simulation.sender(flow).sender;
        let (windows, flight) = (sender.windows(), sender.flight());
        let acks = done.sender.round_trips - last.sender.round_trips;
        let us = |ps: f64| if acks > 0 { ps / 1e6 } else { f64::NAN };
        let rtt_sum = (done.sender.rtt_sum_ps - last.sender.rtt_sum_ps) as f64;
        let srtt = if windows.srtt == Span::ZERO { f64::NAN } else { windows.srtt.as_us_f64() };
        let measured = [
            gbps(done.delivered - last.delivered, step),
            gbps(done.sender.sent_bytes - last.sender.sent_bytes, step),
            windows.cwnd,
            windows.rate / 1e9,
            srtt,
            us(rtt_sum / acks as f64),
            us(done.sender.rtt_longest_ps as f64),
        ];
        let again = done.sender.retransmitted_bytes - last.sender.retransmitted_bytes;
        self.time_us.push(now.as_us_f64());
        self.flow.push(flow.into());
        for (column, value) in self.measured.iter_mut().zip(measured) {
            column.push(value);
        }
        for (column, value) in self.counted.iter_mut().zip([again, flight.inflight.into(), acks]) {
            column.push(value);
        }
    }

    pub(super) fn into_table(mut self, measured: &Measured) -> Table {
        if measured.end > self.sampled {
            self.sample(measured.simulation, measured.end);
        }
        let [goodput_gbps, sent_gbps, cwnd_packets, rate_gbps, srtt_us, rtt_mean_us, rtt_max_us] =
            self.measured.map(Column::Floats);
        let [retransmitted_bytes, inflight_packets, count] = self.counted.map(Column::Integers);
        FlowsSeries {
            time_us: Column::Floats(self.time_us),
            flow: Column::Integers(self.flow),
            goodput_gbps,
            sent_gbps,
            retransmitted_bytes,
            cwnd_packets,
            inflight_packets,
            rate_gbps,
            srtt_us,
            rtt_mean_us,
            rtt_max_us,
            count,
        }
        .table()
    }
}
