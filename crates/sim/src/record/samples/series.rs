//! Values of each transport at each instant.

use clearway_proto::units::Time;

use super::contract::column;
use crate::model::Scenario;
use crate::record::footprint::{text_bytes, NUMBER};
use crate::record::measured::Measured;
use crate::record::outcome::Column;

/// `N` values of each transport at each instant.
#[derive(Debug)]
pub(super) struct Series<const N: usize> {
    time_us: Vec<f64>,
    transport: Vec<u32>,
    values: [Vec<f64>; N],
}

impl<const N: usize> Series<N> {
    /// Returns an empty series, with room for `rows` rows.
    pub(super) fn new(rows: usize) -> Series<N> {
        let values = std::array::from_fn(|_| column(rows));
        Series { time_us: column(rows), transport: column(rows), values }
    }

    pub(super) fn push(&mut self, now: Time, transport: usize, values: [f64; N]) {
        self.time_us.push(now.as_us_f64());
        self.transport.push(transport as u32);
        for (column, value) in self.values.iter_mut().zip(values) {
            column.push(value);
        }
    }

    /// Memory in bytes for a row: the time, the transport's number and its name, and the values.
    pub(super) fn row_bytes(scenario: &Scenario) -> f64 {
        let longest = scenario.transports.iter().map(|transport| transport.name.len()).max();
        NUMBER * (2 + N) as f64 + text_bytes(longest.unwrap_or(0))
    }

    /// The columns of times, of transports' names, and of each value.
    pub(super) fn into_columns(self, measured: &Measured) -> (Column, Column, [Column; N]) {
        let transports = measured.transport_names(self.transport);
        (Column::Floats(self.time_us), Column::Texts(transports), self.values.map(Column::Floats))
    }
}
