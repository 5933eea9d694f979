//! The memory of probes and samples.

use super::share::Share;
use crate::model::{Probe, Scenario};
use crate::record::fairness;
use crate::record::samples::{footprints, Sampled};
use crate::record::tables::probe_row_bytes;
use crate::scenario::key::Shown;
use crate::simulation::footprint::probe_bytes;
use crate::topology::shape;

/// The share of each probe.
pub(super) fn probe_shares(scenario: &Scenario) -> Vec<Share> {
    let row_bytes = probe_row_bytes(&*shape::of(&scenario.network.topology));
    let share = |(i, probe): (usize, &Probe)| {
        let packets = probe.packets(scenario.duration);
        Share {
            bytes: probe_bytes(packets as f64) + packets as f64 * row_bytes,
            what: format!("{packets} rows of samples every {}", probe.interval.shown()),
            key: format!("probe[{i}].interval"),
            remedy: "probe less often, or for a shorter time",
        }
    };
    scenario.probes.iter().enumerate().map(share).collect()
}

/// The share of each kind of samples.
pub(super) fn sample_shares(scenario: &Scenario) -> Vec<Share> {
    let share = |Sampled { key, interval, rows, row_bytes }| Share {
        bytes: rows * row_bytes,
        what: format!("{rows:.0} rows of samples every {}", interval.shown()),
        key: key.into(),
        remedy: "sample less often, or shorten duration",
    };
    footprints(scenario).into_iter().chain(fairness::footprint(scenario)).map(share).collect()
}
