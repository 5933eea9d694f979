//! The memory of probes and samples.

use super::share::Share;
use crate::model::{Job, Probe, Scenario};
use crate::record::fairness;
use crate::record::job_parts::TIMELINE_ROW;
use crate::record::packets::packet_row_bytes;
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

/// The share of the timeline of jobs; none where there is none.
pub(super) fn timeline_share(scenario: &Scenario) -> Option<Share> {
    let asked = scenario.record.timeline?;
    let rows = |job: &Job| {
        let ranks = asked.ranks.min(job.graph.ranks());
        let operations = job.graph.first_operation.get(ranks as usize).map_or(0, |&first| first);
        f64::from(operations) * f64::from(asked.iterations.min(job.iterations))
    };
    let rows: f64 = scenario.jobs().map(|(_, job)| rows(job)).sum();
    Some(Share {
        bytes: rows * TIMELINE_ROW,
        what: format!("{rows:.0} rows of the timeline"),
        key: "record.timeline".into(),
        remedy: "lower timeline_iterations or timeline_ranks",
    })
}

/// The share of the packets that are recorded; none where none are.
pub(super) fn packets_share(scenario: &Scenario) -> Option<Share> {
    let limit = scenario.record.packets.as_ref()?.limit;
    Some(Share {
        bytes: limit as f64 * packet_row_bytes(scenario),
        what: format!("{limit} packets"),
        key: "record.packets.limit".into(),
        remedy: "lower limit",
    })
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
