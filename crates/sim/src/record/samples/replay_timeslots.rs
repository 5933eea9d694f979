//! Samples of every host that sends in timeslots of Fastpass, at the instants of a replay's samples of links.

use clearway_proto::units::Time;

use super::contract::{column, Sampled};
use crate::model::Scenario;
use crate::net::served::Served;
use crate::record::definitions::table;
use crate::record::footprint::NUMBER;
use crate::record::outcome::{Column, Table};
use crate::simulation::Simulation;

table! {
    /// Samples of each host that sends in timeslots, every `record.replay`: at each instant a row for each of which
    /// a timeslot was used, left unused or refused since the instant before, or at which anything waits for one.
    /// Where there is no row there was nothing of this. The last row may be of a shorter interval, until the run
    /// ended. No such table without that key, or without an `[arbiter]`.
    ReplayTimeslots as "replay_timeslots" {
        /// The instant of the sample.
        time_us: Nothing,
        /// The host's number.
        host: Nothing,
        /// Timeslots in which something left: packets, acknowledgements or both.
        slots_used: Step,
        /// Timeslots whose turn came and in which nothing left, as nothing waited any more.
        slots_unused: Step,
        /// Grants refused as their timeslots were over, when they came or when their turn came.
        refused_late: Step,
        /// Timeslots that what waits at the host at that instant needs, granted or not.
        slots_waiting: Nothing,
    }
}

/// The samples so far, and the counters at the last one.
#[derive(Debug)]
pub(super) struct TimeslotSamples {
    rows: Vec<Row>,
    /// The counts of each endpoint at the last sample.
    last: Vec<Counted>,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The index of the instant.
    instant: u32,
    host: u32,
    since: Counted,
    waiting: u32,
}

/// Counts of an endpoint: so far, or since the last sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    used: u32,
    unused: u32,
    refused_late: u32,
}

/// Returns the most rows that there can be: one for each host that is served at each instant; none without an arbiter or
/// where no replay is asked.
pub fn most_rows(scenario: &Scenario) -> f64 {
    let (Some(asked), Some(arbiters)) = (&scenario.record.replay, &scenario.arbiters) else { return 0.0 };
    Served::by(arbiters, &scenario.network).hosts.len() as f64 * asked.most_instants(scenario.duration)
}

impl TimeslotSamples {
    /// The memory that these samples take: a row as it is kept, and as it stands in the table.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let asked = scenario.record.replay?;
        scenario.arbiters.as_ref()?;
        let row_bytes = size_of::<Row>() as f64 + NUMBER * 6.0;
        Some(Sampled { key: "record.replay", interval: asked.interval, rows: most_rows(scenario), row_bytes })
    }

    /// Returns an empty set of samples, with room for `rows` rows; `None` where there is no arbiter.
    pub(super) fn new(simulation: &Simulation, rows: usize) -> Option<TimeslotSamples> {
        simulation.arbiters().next()?;
        let last = vec![Counted::default(); simulation.endpoints().count()];
        Some(TimeslotSamples { rows: column(rows), last })
    }

    /// Samples every endpoint at the instant of this index. Where the window `opens` only what was counted by then is kept.
    pub(super) fn sample(&mut self, simulation: &Simulation, instant: u32, opens: bool) {
        for ((host, endpoint, slots), last) in simulation.endpoints().zip(&mut self.last) {
            let counted = Counted {
                used: slots.filling.used() as u32,
                unused: slots.filling.unused() as u32,
                refused_late: endpoint.counters().refused_late as u32,
            };
            let since = counted.since(std::mem::replace(last, counted));
            let waiting = u32::try_from(slots.filling.whole_backlog()).unwrap_or(u32::MAX);
            if !opens && (since != Counted::default() || waiting > 0) {
                self.rows.push(Row { instant, host, since, waiting });
            }
        }
    }

    /// Returns the table; `instants` are those that rows have the indices of.
    pub(super) fn into_table(self, instants: &[Time]) -> Table {
        let integers = |value: fn(&Row) -> u32| {
            Column::Integers(self.rows.iter().map(|row| value(row).into()).collect())
        };
        let time = |row: &Row| instants[row.instant as usize].as_us_f64();
        let series = ReplayTimeslots {
            time_us: Column::Floats(self.rows.iter().map(time).collect()),
            host: integers(|row| row.host),
            slots_used: integers(|row| row.since.used),
            slots_unused: integers(|row| row.since.unused),
            refused_late: integers(|row| row.since.refused_late),
            slots_waiting: integers(|row| row.waiting),
        };
        series.table()
    }
}

impl Counted {
    /// Returns the counts since `last`. They may pass the largest of their type; differences do not.
    fn since(self, last: Counted) -> Counted {
        Counted {
            used: self.used.wrapping_sub(last.used),
            unused: self.unused.wrapping_sub(last.unused),
            refused_late: self.refused_late.wrapping_sub(last.refused_late),
        }
    }
}
