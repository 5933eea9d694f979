//! Flows as a file lists them.

use clearway_proto::units::{Span, Time};

use super::contract::TrafficPattern;
use crate::model::TraceFlow;
use crate::traffic::flow::{Demand, FlowSpec};
use crate::traffic::table::Table;

/// Memory in bytes for a line of a trace.
const LINE: f64 = 24.0;

/// See [`Pattern::Trace`](crate::model::Pattern::Trace).
pub(super) struct Trace<'a> {
    pub(super) flows: &'a [TraceFlow],
}

impl TrafficPattern for Trace<'_> {
    fn generate(&self, table: &Table<'_>, flows: &mut Vec<FlowSpec>) {
        flows.extend(self.flows.iter().zip(0..).map(|(flow, index)| {
            let start = table.start(index) + self.delay(index);
            FlowSpec { start, ..table.flow(index, flow.from, flow.to, Demand::Sized(flow.bytes)) }
        }));
    }

    fn flows(&self, _: &Table<'_>) -> f64 {
        self.flows.len() as f64
    }

    fn delay(&self, member: u32) -> Span {
        self.flows[member as usize].start.since(Time::ZERO)
    }

    fn largest_bytes(&self) -> u64 {
        self.flows.iter().map(|flow| flow.bytes.get()).max().unwrap_or(0)
    }

    fn list_bytes(&self) -> f64 {
        self.flows.len() as f64 * LINE
    }

    fn blame(&self) -> (&'static str, &'static str) {
        ("file", "shorten the trace")
    }

    fn some_pairs(&self, most: usize) -> Vec<(u32, u32)> {
        self.flows.iter().take(most).map(|flow| (flow.from, flow.to)).collect()
    }

    fn endless(&self) -> Option<&'static str> {
        None
    }
}
