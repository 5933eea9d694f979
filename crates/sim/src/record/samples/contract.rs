//! The memory that each kind of samples takes, known before a run.

use clearway_proto::units::Span;

use crate::model::Scenario;

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

impl Sampled {
    /// Samples with at most `rows` rows at each instant; none where there is no interval.
    pub(in crate::record) fn every(
        key: &'static str,
        interval: Option<Span>,
        rows: f64,
        row_bytes: f64,
        scenario: &Scenario,
    ) -> Option<Sampled> {
        let interval = interval?;
        let instants = scenario.duration.as_secs_f64() / interval.as_secs_f64();
        Some(Sampled { key, interval, rows: rows * instants, row_bytes })
    }
}
