//! The size that a replay may come to: refused above a bound, and warned of where the page is large.

use super::memory::rounded;
use crate::model::Scenario;
use crate::record::samples::most_replay_rows;
use crate::scenario::key::Shown;
use crate::scenario::reader::Section;

/// The most rows that a replay may have: their page is at most 120 MB large, which a browser still opens.
const MOST_ROWS: f64 = 15e6;

/// Bytes of a page that a row takes at most: packed, compressed and in base64 it takes 3.4 to 5.2 in the runs of docs/REPLAY.md,
/// and one of timeslots less.
const PAGE_BYTES: f64 = 8.0;

/// A page above this size, in bytes, gets a warning.
const LARGE: f64 = 20e6;

/// Checks that a replay begins within the run, and has no more rows than a page can hold.
pub(super) fn check(r: &Section, scenario: &Scenario) {
    let Some(asked) = &scenario.record.replay else { return };
    if asked.from >= scenario.duration {
        let (from, duration) = (asked.from.shown(), scenario.duration.shown());
        let message = format!("found {from}, expected less than duration, {duration}");
        return r.conflict_at("record.replay_from", message);
    }
    let rows = most_replay_rows(scenario);
    if rows <= MOST_ROWS {
        return;
    }
    let (interval, remedy) = (asked.interval.shown(), remedy(rows / MOST_ROWS * asked.interval.as_us_f64()));
    r.conflict_at(
        "record.replay",
        format!(
            "found {interval}, with which there may be {rows:.0} rows; the most is {MOST_ROWS:.0}: {remedy}"
        ),
    );
}

/// Warns of a replay whose page may be large.
pub(super) fn warning(scenario: &Scenario) -> Option<String> {
    let bytes = page_bytes(scenario).filter(|bytes| *bytes > LARGE)?;
    let asked = scenario.record.replay?;
    let remedy = remedy(bytes / LARGE * asked.interval.as_us_f64());
    Some(format!("record.replay: its page may become {} large; for a smaller one {remedy}", rounded(bytes)))
}

/// Returns how large the page of the replay becomes at most, in bytes; `None` where there is no replay.
pub fn page_bytes(scenario: &Scenario) -> Option<f64> {
    scenario.record.replay.map(|_| most_replay_rows(scenario) * PAGE_BYTES)
}

/// Returns a way to make a replay smaller: an interval of `us` microseconds is long enough.
fn remedy(us: f64) -> String {
    format!(
        "sample every {:.0}us or less often, or set replay_from and replay_until around what is to be seen",
        us.ceil()
    )
}
