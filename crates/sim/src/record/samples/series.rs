//! Values of each transport at each instant.

use clearway_proto::units::Time;

use crate::model::Scenario;
use crate::record::footprint::{text_bytes, NUMBER};
use crate::record::outcome::{Column, Table};

/// `N` values of each transport at each instant.
#[derive(Debug)]
pub(super) struct Series<const N: usize> {
    time_us: Vec<f64>,
    transport: Vec<usize>,
    values: [Vec<f64>; N],
}

impl<const N: usize> Series<N> {
    pub(super) fn new() -> Series<N> {
        Series { time_us: Vec::new(), transport: Vec::new(), values: std::array::from_fn(|_| Vec::new()) }
    }

    pub(super) fn push(&mut self, now: Time, transport: usize, values: [f64; N]) {
        self.time_us.push(now.as_us_f64());
        self.transport.push(transport);
        for (column, value) in self.values.iter_mut().zip(values) {
            column.push(value);
        }
    }

    /// Memory in bytes for a row: the time, the transport's number and its name, and the values.
    pub(super) fn row_bytes(scenario: &Scenario) -> f64 {
        let longest = scenario.transports.iter().map(|transport| transport.name.len()).max();
        NUMBER * (2 + N) as f64 + text_bytes(longest.unwrap_or(0))
    }

    pub(super) fn into_table(
        self,
        name: &'static str,
        columns: [&'static str; N],
        scenario: &Scenario,
    ) -> Table {
        let name_of = |index: usize| scenario.transports[index].name.clone();
        let names = Column::Texts(self.transport.into_iter().map(name_of).collect());
        let mut all = vec![("time_us", Column::Floats(self.time_us)), ("transport", names)];
        all.extend(columns.into_iter().zip(self.values.map(Column::Floats)));
        Table { name, columns: all }
    }
}
