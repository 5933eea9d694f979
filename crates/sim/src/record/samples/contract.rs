//! The memory that each kind of samples takes, known before a run.

use clearway_proto::units::Span;

use crate::model::Scenario;

/// The most rows for which a column asks for room at once: 2 GB of numbers, which any machine has the addresses for.
const MOST_AT_ONCE: usize = 1 << 28;

/// The samples of one kind that a scenario asks for.
pub struct Sampled {
    /// The key under `record` that asks for them.
    pub key: &'static str,
    /// Time from one sample to the next.
    pub interval: Span,
    /// How many rows there are at most.
    pub rows: f64,
    /// Memory in bytes that a row takes at most.
    pub row_bytes: f64,
}

/// Returns a column with room for `rows` rows. Memory is taken only as they come, whereas a column that grows is copied, and
/// leaves holes behind; which is why only one of more than [`MOST_AT_ONCE`] rows does.
pub(super) fn column<T>(rows: usize) -> Vec<T> {
    Vec::with_capacity(rows.min(MOST_AT_ONCE))
}

impl Sampled {
    /// Samples with at most `rows` rows at each instant; `None` where there is no interval.
    pub(in crate::record) fn every(
        key: &'static str,
        interval: Option<Span>,
        rows: f64,
        row_bytes: f64,
        scenario: &Scenario,
    ) -> Option<Sampled> {
        let interval = interval?;
        Some(Sampled { key, interval, rows: rows * instants(scenario, interval), row_bytes })
    }
}

/// Returns the rate in Gb/s at which this many bytes come in `step`.
pub(super) fn gbps(bytes: u64, step: Span) -> f64 {
    bytes as f64 * 8.0 / step.as_secs_f64() / 1e9
}

/// Returns how often there is a sample at most, one each interval.
pub(super) fn instants(scenario: &Scenario, interval: Span) -> f64 {
    scenario.duration.as_secs_f64() / interval.as_secs_f64()
}
