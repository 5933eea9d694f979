//! A traffic table while its flows are made: when its members start, and what they draw.

use clearway_proto::units::{Span, Time};

use super::flow::{Demand, FlowSpec};
use crate::model::{Scenario, Traffic};
use crate::random::{in_table, Entity, Stream};

/// A traffic table, its number, and the scenario that it is of.
pub struct Table<'a> {
    /// The whole scenario.
    pub scenario: &'a Scenario,
    /// The table's index.
    pub number: u32,
    /// The table.
    pub traffic: &'a Traffic,
}

impl Table<'_> {
    /// All tables of a scenario, in their order.
    pub fn all(scenario: &Scenario) -> impl Iterator<Item = Table<'_>> {
        scenario.traffic.iter().zip(0..).map(move |(traffic, number)| Table { scenario, number, traffic })
    }

    /// The path of the table in the file.
    pub fn path(&self) -> String {
        self.scenario.path_of_table(self.number)
    }

    /// The random stream of this member of the table.
    pub(super) fn stream(&self, kind: Entity, index: u32) -> Stream {
        Stream::new(self.scenario.seed, kind, in_table(self.number, index))
    }

    /// Returns when member `index` of the table starts.
    pub fn start(&self, index: u32) -> Time {
        let (earliest, latest) = self.traffic.start;
        let range = latest.since(earliest).as_ps();
        let drawn = if range == 0 { 0 } else { self.stream(Entity::FlowStart, index).below(range) };
        earliest + Span::from_ps(drawn) + self.traffic.stagger * u64::from(index)
    }

    /// A flow that starts as member `index` of the table.
    pub(super) fn flow(&self, index: u32, from: u32, to: u32, demand: Demand) -> FlowSpec {
        FlowSpec {
            table: self.number,
            transport: self.traffic.transport as u32,
            from,
            to,
            start: self.start(index),
            stop: self.traffic.stop,
            demand,
        }
    }

    /// Appends `flows_per_pair` flows of each pair.
    pub(super) fn add_pairs(
        &self,
        pairs: impl Iterator<Item = (u32, u32)>,
        flows_per_pair: u32,
        demand: Demand,
        flows: &mut Vec<FlowSpec>,
    ) {
        let each = pairs.flat_map(|pair| (0..flows_per_pair).map(move |_| pair));
        flows.extend(each.zip(0..).map(|((from, to), index)| self.flow(index, from, to, demand)));
    }
}
