//! Tables of jobs, rank by rank, collective by collective, and operation by operation.

use super::definitions::table;
use super::measured::Measured;
use super::outcome::{Column, Table};
use super::texts::Texts;
use crate::model::{CollectiveKind, Measure, Operation, OperationGraph};
use crate::record::stragglers::{straggler, Straggler};
use crate::simulation::RankRecord;

table! {
    /// A row for each rank of each job. Times are means over the iterations that the rank has ended, each from
    /// its own beginning to its own end; NaN if it has ended none. No such table where there is no job.
    JobRanks as "job_ranks" {
        /// The job's number.
        job: Nothing,
        /// The rank.
        rank: Nothing,
        /// The host on which it is.
        host: Nothing,
        /// Iterations that it has ended.
        iterations: Run,
        /// Time of an iteration: what it computes and what is exposed make it up.
        total_us: Run,
        /// Time in which it computes.
        compute_us: Run,
        /// Time in which it exchanges messages while it computes: communication that is hidden.
        hidden_us: Run,
        /// Time in which it only exchanges messages, waiting for them included: communication that is exposed.
        /// The next five make it up.
        exposed_us: Run,
        /// The part in which a pipeline stage exchanges activations, or waits for those of another stage; where
        /// messages of several purposes are under way, the time counts for the first of these columns.
        exposed_pipeline_us: Run,
        /// The part in which ranks that share tensors exchange what they have.
        exposed_tensor_us: Run,
        /// The part in which tokens go to experts and back.
        exposed_expert_us: Run,
        /// The part in which gradients or parameters are exchanged.
        exposed_gradients_us: Run,
        /// The part of all other messages.
        exposed_other_us: Run,
    }
}

table! {
    /// A row for each sort of collective of each job. Its time at a rank is from when the rank begins it to when
    /// it has ended there, waiting for others included. No such table where no job has any.
    Collectives as "collectives" {
        /// The job's number.
        job: Nothing,
        /// The name of the collective.
        name: Nothing,
        /// Its kind.
        kind: Nothing,
        /// Ranks that do it together.
        ranks: Nothing,
        /// Messages that follow each other in it, if none is cut into chunks; in a direct all-to-all the
        /// messages of a rank.
        steps: Nothing,
        /// How often ranks have ended it: each collective counts once for each of its ranks.
        ended: Run,
        /// Mean size of the whole array; NaN if none was ended, as the next five.
        bytes_mean: Run,
        /// Mean time.
        time_mean_us: Run,
        /// The longest time of any rank.
        time_max_us: Run,
        /// Bandwidth of the algorithm: bytes of all arrays over the time of all, in GB/s of 10^9 bytes.
        algbw_gb_per_s: Run,
        /// Bandwidth of the bus: that of the algorithm times the factor that the table `jobs` gives.
        busbw_gb_per_s: Run,
        /// The rank that begins later than the others of its group by the most, on average; 0 where the next
        /// column has no value.
        straggler: Run,
        /// The time by which the straggler begins later than the mean of the others, on average; NaN where the
        /// ranks of no group have ended it equally often.
        straggler_late_us: Run,
    }
}

table! {
    /// A row for each operation of jobs that took time, in the ranks and iterations of which `[record] timeline`
    /// asks. No such table without it.
    Timeline as "timeline" {
        /// The job's number.
        job: Nothing,
        /// The rank.
        rank: Nothing,
        /// The iteration, from 0 on.
        iteration: Nothing,
        /// What the operation is: calc, send or recv.
        kind: Nothing,
        /// What it is called: what a training job does with it, or the label in its file.
        name: Nothing,
        /// The rank with which a message is exchanged; NaN of what is computed.
        peer: Nothing,
        /// The message's size; 0 of what is computed.
        bytes: Nothing,
        /// When it started: a receive, when the rank began to wait.
        start_us: Run,
        /// When it ended: a send, when all of the message was acknowledged.
        end_us: Run,
    }
}

/// The table of ranks; none where there is no job.
pub(super) fn ranks(measured: &Measured) -> Option<Table> {
    let jobs: Vec<_> = measured.simulation.jobs().collect();
    let all = || {
        (0..jobs.len())
            .flat_map(|job| (0_u64..).zip(measured.simulation.job_ranks(job)).map(move |of| (job, of)))
    };
    let integers = |value: &dyn Fn(usize, u64, &RankRecord) -> u64| {
        Column::Integers(all().map(|(job, (rank, record))| value(job, rank, &record)).collect())
    };
    let mean = |of: &dyn Fn(&RankRecord) -> clearway_proto::units::Span| {
        let mean = |record: &RankRecord| match record.iterations {
            0 => f64::NAN,
            count => of(record).as_us_f64() / f64::from(count),
        };
        Column::Floats(all().map(|(_, (_, record))| mean(&record)).collect())
    };
    let exposed = |part: usize| mean(&move |record| record.spent.exposed[part]);
    let columns = JobRanks {
        job: integers(&|job, _, _| job as u64),
        rank: integers(&|_, rank, _| rank),
        host: integers(&|job, rank, _| u64::from(jobs[job].job.hosts[rank as usize])),
        iterations: integers(&|_, _, record| u64::from(record.iterations)),
        total_us: mean(&|record| record.spent.total()),
        compute_us: mean(&|record| record.spent.compute()),
        hidden_us: mean(&|record| record.spent.both),
        exposed_us: mean(&|record| record.spent.exposed()),
        exposed_pipeline_us: exposed(0),
        exposed_tensor_us: exposed(1),
        exposed_expert_us: exposed(2),
        exposed_gradients_us: exposed(3),
        exposed_other_us: exposed(4),
    };
    (!jobs.is_empty()).then(|| columns.table())
}

/// What all ranks of a job have done of one measure.
struct Row {
    job: usize,
    measure: Measure,
    kind: CollectiveKind,
    ended: u64,
    bytes: u64,
    sum_us: f64,
    longest_us: f64,
    last: Option<Straggler>,
}

/// The table of collectives; none where no job has one.
pub(super) fn collectives(measured: &Measured) -> Option<Table> {
    let mut rows = Vec::new();
    for (job, record) in measured.simulation.jobs().enumerate() {
        let ranks: Vec<RankRecord> = measured.simulation.job_ranks(job).collect();
        for (at, measure) in record.job.measures().into_iter().enumerate() {
            let Some(kind) = measure.collective else { continue };
            let mut row =
                Row { job, kind, ended: 0, bytes: 0, sum_us: 0.0, longest_us: 0.0, last: None, measure };
            for taken in ranks.iter().map(|rank| &rank.taken[at]) {
                row.ended += taken.count;
                row.bytes += taken.bytes;
                row.sum_us += taken.sum.as_us_f64();
                row.longest_us = row.longest_us.max(taken.longest.as_us_f64());
            }
            row.last = straggler(&record.job.graph, &row.measure, at, &ranks);
            rows.push(row);
        }
    }
    let integers = |value: &dyn Fn(&Row) -> u64| Column::Integers(rows.iter().map(value).collect());
    let floats = |value: &dyn Fn(&Row) -> f64| Column::Floats(rows.iter().map(value).collect());
    let per = |sum: f64, of: f64| if of > 0.0 { sum / of } else { f64::NAN };
    let algbw = |row: &Row| per(row.bytes as f64, row.sum_us * 1e3);
    let busbw =
        |row: &Row| row.kind.bus_factor(row.measure.ranks).map_or(f64::NAN, |factor| algbw(row) * factor);
    let columns = Collectives {
        job: integers(&|row| row.job as u64),
        name: Column::Texts(rows.iter().map(|row| row.measure.name).collect()),
        kind: Column::Texts(rows.iter().map(|row| row.kind.name()).collect()),
        ranks: integers(&|row| u64::from(row.measure.ranks)),
        steps: integers(&|row| u64::from(row.measure.steps)),
        ended: integers(&|row| row.ended),
        bytes_mean: floats(&|row| per(row.bytes as f64, row.ended as f64)),
        time_mean_us: floats(&|row| per(row.sum_us, row.ended as f64)),
        time_max_us: floats(&|row| if row.ended > 0 { row.longest_us } else { f64::NAN }),
        algbw_gb_per_s: floats(&algbw),
        busbw_gb_per_s: floats(&busbw),
        straggler: integers(&|row| row.last.as_ref().map_or(0, |last| u64::from(last.rank))),
        straggler_late_us: floats(&|row| row.last.as_ref().map_or(f64::NAN, |last| last.late_us)),
    };
    (!rows.is_empty()).then(|| columns.table())
}

/// What an operation is called: by its label, or else in its file.
fn name(graph: &OperationGraph, operation: u32) -> &str {
    match (graph.labels.of(operation), graph.origins.get(operation as usize)) {
        (Some(label), _) => label.name,
        (None, Some(origin)) if !origin.label.is_empty() => &origin.label,
        _ => kind(graph, operation),
    }
}

fn kind(graph: &OperationGraph, operation: u32) -> &'static str {
    match graph.operations[operation as usize] {
        Operation::Calc { .. } => "calc",
        Operation::Send { .. } => "send",
        Operation::Recv { .. } => "recv",
    }
}

/// The other rank of a message, and its size; NaN and none of what is computed.
fn message(graph: &OperationGraph, operation: u32) -> (f64, u64) {
    match graph.operations[operation as usize] {
        Operation::Calc { .. } => (f64::NAN, 0),
        Operation::Send { channel, bytes } => (graph.channels[channel as usize].to.into(), bytes),
        Operation::Recv { channel, bytes } => (graph.channels[channel as usize].from.into(), bytes),
    }
}

/// The table of operations one by one; none where nobody asks for it, or no job is there.
pub(super) fn timeline(measured: &Measured) -> Option<Table> {
    measured.scenario.record.timeline?;
    let jobs: Vec<_> = measured.simulation.jobs().collect();
    let spans = measured.simulation.job_spans();
    let graph = |job: u32| &*jobs[job as usize].job.graph;
    let messages: Vec<_> = spans.iter().map(|span| message(graph(span.job), span.operation)).collect();
    let texts = |of: fn(&OperationGraph, u32) -> &str| {
        Column::Texts(spans.iter().map(|span| of(graph(span.job), span.operation)).collect::<Texts>())
    };
    let columns = Timeline {
        job: Column::Integers(spans.iter().map(|span| span.job.into()).collect()),
        rank: Column::Integers(spans.iter().map(|span| span.rank.into()).collect()),
        iteration: Column::Integers(spans.iter().map(|span| span.iteration.into()).collect()),
        kind: texts(|graph, operation| kind(graph, operation)),
        name: texts(name),
        peer: Column::Floats(messages.iter().map(|message| message.0).collect()),
        bytes: Column::Integers(messages.iter().map(|message| message.1).collect()),
        start_us: Column::Floats(spans.iter().map(|span| span.start.as_us_f64()).collect()),
        end_us: Column::Floats(spans.iter().map(|span| span.end.as_us_f64()).collect()),
    };
    (!jobs.is_empty()).then(|| columns.table())
}

/// Memory in bytes for a row of the timeline, as it is recorded and while it is sorted.
pub const TIMELINE_ROW: f64 = 9.0 * 8.0 + 2.0 * size_of::<crate::simulation::JobSpan>() as f64;
