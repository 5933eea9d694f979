//! Samples of every link in each interval, hosts' links too, of which the page of `clearway replay` is made.

use clearway_proto::units::{Span, Time};

use super::contract::{column, Sampled};
use super::replay_timeslots::TimeslotSamples;
use crate::model::{Replay, Scenario};
use crate::record::definitions::table;
use crate::record::footprint::NUMBER;
use crate::record::measured::Measured;
use crate::record::outcome::{Column, Table};
use crate::simulation::Simulation;
use crate::topology::shape;

table! {
    /// Samples of each direction of each link, every `record.replay`: at each instant a row for each at
    /// which anything was sent, dropped, lost, marked or paused since the instant before, or at which bytes
    /// wait. Where there is no row there was nothing of this. The last row may be of a shorter interval, until
    /// the run ended. No such table without that key.
    ReplaySeries as "replay" {
        /// The instant of the sample.
        time_us: Nothing,
        /// The number of the link: that of its row in the table `links`, from 0 on.
        link_number: Nothing,
        /// Bytes that were put on the link, with headers and what the link adds; of a frame in transmission what
        /// has left, to the nearest byte.
        sent_bytes: Step,
        /// Bytes that wait at the port that feeds the link at that instant, without the frame in transmission.
        queue_bytes: Nothing,
        /// Frames dropped as there was no room for them.
        dropped_frames: Step,
        /// Frames lost on the link by a `[[fault]]`.
        lost_frames: Step,
        /// Frames that the port marked with ECN.
        marked_frames: Step,
        /// The time for which flow control paused the link, in the class that was paused longest.
        paused_us: Step,
    }
}

/// The samples so far, and the counters at the last one.
#[derive(Debug)]
pub(super) struct ReplaySamples {
    /// The times that are asked for; `None` where no replay is.
    asked: Option<Replay>,
    /// The instants at which samples were taken.
    instants: Vec<Time>,
    rows: Vec<Row>,
    /// The counts of each link at the last sample.
    last: Vec<Counted>,
    /// The picoseconds for which each class of each link had been paused at the last sample.
    paused: Vec<u64>,
    /// The samples of timeslots, at the same instants; `None` without a replay or an arbiter.
    timeslots: Option<TimeslotSamples>,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The index of the instant.
    instant: u32,
    link: u32,
    queue_bytes: u32,
    since: Counted,
    /// Picoseconds for which the class that was paused longest was.
    paused: u64,
}

/// Counts of a link: so far, or since the last sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    sent_bytes: u64,
    dropped_frames: u32,
    lost_frames: u32,
    marked_frames: u32,
}

/// Returns the most rows that there can be: one for each direction of each link at each instant.
pub fn most_rows(scenario: &Scenario) -> f64 {
    let Some(asked) = &scenario.record.replay else { return 0.0 };
    2.0 * shape::of(&scenario.network.topology).links() * asked.most_instants(scenario.duration)
}

impl ReplaySamples {
    /// The memory that these samples take: a row as it is kept, and as it stands in the table.
    pub(super) fn footprint(scenario: &Scenario) -> Option<Sampled> {
        let asked = scenario.record.replay?;
        let row_bytes = size_of::<Row>() as f64 + NUMBER * 8.0;
        Some(Sampled { key: "record.replay", interval: asked.interval, rows: most_rows(scenario), row_bytes })
    }

    /// Returns an empty set of samples, with room for `rows` rows of links and `slot_rows` of timeslots.
    pub(super) fn new(
        asked: Option<Replay>,
        simulation: &Simulation,
        rows: usize,
        slot_rows: usize,
    ) -> ReplaySamples {
        let links = if asked.is_some() { simulation.links() as usize } else { 0 };
        ReplaySamples {
            asked,
            instants: Vec::new(),
            rows: column(rows),
            last: vec![Counted::default(); links],
            paused: vec![0; links * simulation.classes().max(1)],
            timeslots: asked.and_then(|_| TimeslotSamples::new(simulation, slot_rows)),
        }
    }

    /// Returns when the next sample is taken: the first where the window begins, the last where it ends.
    pub(super) fn next_look(&self) -> Time {
        let Some(asked) = self.asked else { return Time::NEVER };
        let next = match self.instants.last() {
            None if asked.from == Span::ZERO => Time::ZERO + asked.interval,
            None => Time::ZERO + asked.from,
            Some(last) if asked.is_over(*last) => Time::NEVER,
            Some(last) => *last + asked.interval,
        };
        if next == Time::NEVER {
            return next;
        }
        asked.until.map_or(next, |until| next.min(Time::ZERO + until))
    }

    /// Samples every link, and every host that sends in timeslots. At the beginning of a later window only what was counted
    /// by then is kept.
    pub(super) fn sample(&mut self, simulation: &Simulation, now: Time) {
        let Some(asked) = self.asked else { return };
        let opens = self.instants.is_empty() && asked.from > Span::ZERO;
        let (instant, classes) = (self.instants.len() as u32, simulation.classes().max(1));
        self.instants.push(now);
        for (link, last) in (0..).zip(&mut self.last) {
            let counted = Counted::of(simulation, link);
            let since = counted.since(std::mem::replace(last, counted));
            let of_classes = &mut self.paused[link as usize * classes..][..classes];
            let paused = paused_since(simulation, link, of_classes);
            let queue_bytes = simulation.port_figures(link).waiting_bytes;
            if !opens && (since != Counted::default() || paused > 0 || queue_bytes > 0) {
                self.rows.push(Row { instant, link, queue_bytes, since, paused });
            }
        }
        if let Some(timeslots) = &mut self.timeslots {
            timeslots.sample(simulation, instant, opens);
        }
    }

    /// Returns the table of links and that of timeslots. What happened after the last sample is in rows of the end of the run.
    pub(super) fn into_tables(mut self, measured: &Measured) -> [Option<Table>; 2] {
        let Some(asked) = self.asked else { return [None, None] };
        let over = self.instants.last().is_some_and(|last| *last >= measured.end || asked.is_over(*last));
        if !over && Time::ZERO + asked.from < measured.end {
            self.sample(measured.simulation, measured.end);
        }
        let integers = |value: fn(&Row) -> u64| Column::Integers(self.rows.iter().map(value).collect());
        let time = |row: &Row| self.instants[row.instant as usize].as_us_f64();
        let series = ReplaySeries {
            time_us: Column::Floats(self.rows.iter().map(time).collect()),
            link_number: integers(|row| row.link.into()),
            sent_bytes: integers(|row| row.since.sent_bytes),
            queue_bytes: integers(|row| row.queue_bytes.into()),
            dropped_frames: integers(|row| row.since.dropped_frames.into()),
            lost_frames: integers(|row| row.since.lost_frames.into()),
            marked_frames: integers(|row| row.since.marked_frames.into()),
            paused_us: Column::Floats(self.rows.iter().map(|row| row.paused as f64 / 1e6).collect()),
        };
        [Some(series.table()), self.timeslots.map(|timeslots| timeslots.into_table(&self.instants))]
    }
}

impl Counted {
    /// Returns the counts of a link so far.
    fn of(simulation: &Simulation, link: u32) -> Counted {
        let counters = simulation.port_counters(link);
        Counted {
            sent_bytes: simulation.transmitted(link).round() as u64,
            dropped_frames: counters.dropped_frames as u32,
            lost_frames: counters.lost_frames as u32,
            marked_frames: counters.marked_frames as u32,
        }
    }

    /// Returns the counts since `last`. Counts of frames may pass the largest of their type; differences do not.
    fn since(self, last: Counted) -> Counted {
        Counted {
            sent_bytes: self.sent_bytes.saturating_sub(last.sent_bytes),
            dropped_frames: self.dropped_frames.wrapping_sub(last.dropped_frames),
            lost_frames: self.lost_frames.wrapping_sub(last.lost_frames),
            marked_frames: self.marked_frames.wrapping_sub(last.marked_frames),
        }
    }
}

/// Returns the picoseconds for which a link was paused since the last sample, in the class for which that is most.
fn paused_since(simulation: &Simulation, link: u32, last: &mut [u64]) -> u64 {
    let Some(pfc) = simulation.flow_control(link) else { return 0 };
    let since = last.iter_mut().enumerate().map(|(class, last)| {
        let so_far = pfc.paused_for(class, simulation.time().as_ps()).as_ps();
        so_far.saturating_sub(std::mem::replace(last, so_far))
    });
    since.max().unwrap_or(0)
}
