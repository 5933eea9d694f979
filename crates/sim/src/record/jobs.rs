//! The figures of jobs: how long each iteration took, and the bandwidth of collectives.

use clearway_proto::units::{Span, Time};

use super::definitions::table;
use super::measured::Measured;
use super::outcome::{Column, Table, Value};
use crate::model::Job;
use crate::simulation::{IterationRecord, JobRecord};

table! {
    /// A row for each `[[job]]`. No such table where there is none.
    Jobs as "jobs" {
        /// The job's number, from 0 on.
        job: Nothing,
        /// Its name.
        name: Nothing,
        /// How many ranks it has.
        ranks: Nothing,
        /// On how many hosts these are.
        hosts: Nothing,
        /// Iterations that all ranks have ended.
        iterations: Run,
        /// Iterations that it was to have.
        asked: Nothing,
        /// When its ranks began.
        start_us: Nothing,
        /// When the last rank ended the last iteration; NaN if the run ended before that.
        end_us: Run,
        /// Mean time of its iterations, as the table `iterations` has it; NaN if none was ended.
        iteration_mean_us: Run,
        /// The longest of these times; NaN if none was ended.
        iteration_max_us: Run,
        /// Bandwidth of the algorithm: bytes of the whole array over the mean time, in GB/s of 10^9 bytes; NaN
        /// for a job that is no collective, or a barrier.
        algbw_gb_per_s: Run,
        /// Bandwidth of the bus: that of the algorithm times what each link has to carry of the array at
        /// least, 2(n-1)/n for an all-reduce of n ranks, (n-1)/n for a reduce-scatter, an all-gather or an
        /// all-to-all, and 1 for a broadcast or a reduce, as nccl-tests has it; NaN where that has none.
        busbw_gb_per_s: Run,
        /// Mean time in an iteration in which a rank computes, over all ranks and all iterations that each has
        /// ended; NaN if none was ended, as the next two.
        compute_mean_us: Run,
        /// Mean time in which a rank only exchanges messages, waiting for them included: communication that is
        /// exposed. With the time in which it computes, it is all of its time.
        exposed_mean_us: Run,
        /// Mean time in which a rank exchanges messages while it computes: communication that is hidden.
        hidden_mean_us: Run,
        /// Mean time of its iterations in a run of it alone; NaN without `[record] alone`, or if none was ended.
        alone_us: Run,
        /// The slowdown: `iteration_mean_us` over `alone_us`; NaN where that is.
        slowdown: Run,
        /// Bytes of messages that ranks handed to their transport; a message without bytes counts as one.
        network_bytes: Run,
        /// Bytes of messages between ranks on one host.
        local_bytes: Run,
    }
}

table! {
    /// A row for each job and each iteration that any of its ranks has begun. No such table where there is no
    /// job.
    Iterations as "iterations" {
        /// The job's number.
        job: Nothing,
        /// The iteration's number, from 0 on.
        iteration: Nothing,
        /// When the first rank began it.
        began_us: Run,
        /// When the last rank ended it; NaN if the run ended before that.
        ended_us: Run,
        /// Time from the end of the iteration before, or of the first from the job's start, to the end of this
        /// one; NaN if the run ended before that. A rank begins its next iteration when it has ended this one
        /// and waits for no other, so iterations overlap; these times make up the whole.
        iteration_us: Run,
        /// Bandwidth of the algorithm in this time, as the table `jobs` has it.
        algbw_gb_per_s: Run,
        /// Bandwidth of the bus in this time, as the table `jobs` has it.
        busbw_gb_per_s: Run,
        /// Mean time in which a rank computes, over the ranks that have ended the iteration, each from its own
        /// beginning to its own end of it; NaN if none has, as the next five.
        compute_mean_us: Run,
        /// The longest such time of any rank.
        compute_max_us: Run,
        /// Mean time in which a rank only exchanges messages: communication that is exposed.
        exposed_mean_us: Run,
        /// The longest such time of any rank.
        exposed_max_us: Run,
        /// Mean time in which a rank exchanges messages while it computes: communication that is hidden.
        hidden_mean_us: Run,
        /// The longest such time of any rank.
        hidden_max_us: Run,
    }
}

/// How long each iteration of a job took that all ranks have ended, from the end of the one before.
pub(super) struct Times {
    start: Time,
    /// When each iteration was ended.
    pub(super) ended: Vec<Time>,
}

impl Times {
    pub(super) fn of(measured: &Measured, number: usize, record: &JobRecord) -> Times {
        let ended = record.ended().collect();
        let table = measured.scenario.jobs().nth(number).map_or(0, |(table, _)| table);
        Times { start: measured.scenario.traffic[table as usize].start.0, ended }
    }

    /// The time of each iteration.
    pub(super) fn all(&self) -> impl Iterator<Item = Span> + '_ {
        let before = std::iter::once(&self.start).chain(&self.ended);
        self.ended.iter().zip(before).map(|(ended, before)| ended.since(*before))
    }

    fn mean_us(&self) -> f64 {
        match self.ended.last() {
            Some(last) => last.since(self.start).as_us_f64() / self.ended.len() as f64,
            None => f64::NAN,
        }
    }

    fn max_us(&self) -> f64 {
        self.all().max().map_or(f64::NAN, Span::as_us_f64)
    }
}

/// The bandwidths of a job's algorithm and of its bus if an iteration takes `us` microseconds, in GB/s; NaN where it has none.
fn bandwidths(job: &Job, us: f64) -> [f64; 2] {
    let none = [f64::NAN; 2];
    let Some(collective) = job.collective else { return none };
    let Some(factor) = collective.kind.bus_factor(collective.ranks).filter(|_| us > 0.0) else { return none };
    let of_algorithm = collective.bytes.get() as f64 / us / 1e3;
    [of_algorithm, of_algorithm * factor]
}

/// What ranks have spent an iteration with, in the order of [`Spent`].
const COMPUTE: usize = 0;
const HIDDEN: usize = 1;
const EXPOSED: usize = 2;

/// The mean of a part of iterations, over all ranks that have ended them, in microseconds; NaN where there is none.
fn mean_spent<'a>(iterations: impl IntoIterator<Item = &'a IterationRecord>, part: usize) -> f64 {
    let (mut sum, mut count) = (0_u128, 0_u64);
    for iteration in iterations {
        sum += iteration.spent.sum_ps[part];
        count += u64::from(iteration.ranks);
    }
    if count == 0 {
        return f64::NAN;
    }
    sum as f64 / count as f64 / 1e6
}

/// The longest time that any rank has spent with a part of an iteration, in microseconds; NaN where none has ended it.
fn longest_spent(iteration: &IterationRecord, part: usize) -> f64 {
    if iteration.ranks == 0 {
        return f64::NAN;
    }
    iteration.spent.longest[part].as_us_f64()
}

/// The table of jobs; none where there is none.
pub(super) fn jobs(measured: &Measured) -> Option<Table> {
    let records: Vec<JobRecord> = measured.simulation.jobs().collect();
    let times: Vec<Times> =
        (0..).zip(&records).map(|(number, record)| Times::of(measured, number, record)).collect();
    let integers = |value: &dyn Fn(usize) -> u64| Column::Integers((0..records.len()).map(value).collect());
    let floats = |value: &dyn Fn(usize) -> f64| Column::Floats((0..records.len()).map(value).collect());
    let hosts = |at: usize| {
        let mut hosts = records[at].job.hosts.clone();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.len() as u64
    };
    let end = |at: usize| {
        let is_over = times[at].ended.len() == records[at].job.iterations as usize;
        times[at].ended.last().filter(|_| is_over).map_or(f64::NAN, |end| end.as_us_f64())
    };
    let bandwidth = |at: usize, which: usize| bandwidths(records[at].job, times[at].mean_us())[which];
    let alone = |at: usize| measured.alone.get(at).copied().flatten().map_or(f64::NAN, Span::as_us_f64);
    let columns = Jobs {
        job: integers(&|at| at as u64),
        name: Column::Texts(records.iter().map(|record| record.job.name.as_str()).collect()),
        ranks: integers(&|at| u64::from(records[at].job.graph.ranks())),
        hosts: integers(&hosts),
        iterations: integers(&|at| times[at].ended.len() as u64),
        asked: integers(&|at| u64::from(records[at].job.iterations)),
        start_us: floats(&|at| times[at].start.as_us_f64()),
        end_us: floats(&end),
        iteration_mean_us: floats(&|at| times[at].mean_us()),
        iteration_max_us: floats(&|at| times[at].max_us()),
        algbw_gb_per_s: floats(&|at| bandwidth(at, 0)),
        busbw_gb_per_s: floats(&|at| bandwidth(at, 1)),
        compute_mean_us: floats(&|at| mean_spent(&records[at].iterations, COMPUTE)),
        exposed_mean_us: floats(&|at| mean_spent(&records[at].iterations, EXPOSED)),
        hidden_mean_us: floats(&|at| mean_spent(&records[at].iterations, HIDDEN)),
        alone_us: floats(&alone),
        slowdown: floats(&|at| times[at].mean_us() / alone(at)),
        network_bytes: integers(&|at| records[at].sent_bytes[0]),
        local_bytes: integers(&|at| records[at].sent_bytes[1]),
    };
    (!records.is_empty()).then(|| columns.table())
}

/// The table of iterations; none where there is no job.
pub(super) fn iterations(measured: &Measured) -> Option<Table> {
    let (mut jobs, mut numbers, mut began, mut ended) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut took, mut algbw, mut busbw) = (Vec::new(), Vec::new(), Vec::new());
    let (mut means, mut longest) = ([(); 3].map(|()| Vec::new()), [(); 3].map(|()| Vec::new()));
    for (job, record) in measured.simulation.jobs().enumerate() {
        let times = Times::of(measured, job, &record);
        let mut spans = times.all();
        for (number, iteration) in record.iterations.iter().enumerate() {
            let us = spans.next().map_or(f64::NAN, Span::as_us_f64);
            let [of_algorithm, of_bus] = bandwidths(record.job, us);
            jobs.push(job as u64);
            numbers.push(number as u64);
            began.push(iteration.began.as_us_f64());
            ended.push(times.ended.get(number).map_or(f64::NAN, |ended| ended.as_us_f64()));
            took.push(us);
            algbw.push(of_algorithm);
            busbw.push(of_bus);
            for part in [COMPUTE, HIDDEN, EXPOSED] {
                means[part].push(mean_spent([iteration], part));
                longest[part].push(longest_spent(iteration, part));
            }
        }
    }
    let [compute, hidden, exposed] = means.map(Column::Floats);
    let [longest_compute, longest_hidden, longest_exposed] = longest.map(Column::Floats);
    let columns = Iterations {
        job: Column::Integers(jobs),
        iteration: Column::Integers(numbers),
        began_us: Column::Floats(began),
        ended_us: Column::Floats(ended),
        iteration_us: Column::Floats(took),
        algbw_gb_per_s: Column::Floats(algbw),
        busbw_gb_per_s: Column::Floats(busbw),
        compute_mean_us: compute,
        compute_max_us: longest_compute,
        exposed_mean_us: exposed,
        exposed_max_us: longest_exposed,
        hidden_mean_us: hidden,
        hidden_max_us: longest_hidden,
    };
    measured.scenario.jobs().next().map(|_| columns.table())
}

const NONE_ENDED: &str = "no iteration of a job was ended";
const NONE_ENDED_BY_RANK: &str = "no rank of a job ended an iteration";
const NO_COLLECTIVE: &str = "no iteration of a collective that moves anything was ended";

/// The figures of all jobs together, where there are any.
pub(super) fn figures(measured: &Measured) -> Vec<(String, Value)> {
    let records: Vec<JobRecord> = measured.simulation.jobs().collect();
    if records.is_empty() {
        return Vec::new();
    }
    let times: Vec<Times> =
        (0..).zip(&records).map(|(number, record)| Times::of(measured, number, record)).collect();
    let unfinished = records
        .iter()
        .zip(&times)
        .filter(|(record, times)| times.ended.len() < record.job.iterations as usize);
    let all: Vec<f64> = times.iter().flat_map(Times::all).map(Span::as_us_f64).collect();
    let bandwidths =
        records.iter().zip(&times).map(|(record, times)| bandwidths(record.job, times.mean_us())[1]);
    let bandwidths: Vec<f64> = bandwidths.filter(|bandwidth| bandwidth.is_finite()).collect();
    let spent = |part: usize| {
        let mean = mean_spent(records.iter().flat_map(|record| &record.iterations), part);
        if mean.is_nan() {
            Value::Missing(NONE_ENDED_BY_RANK)
        } else {
            Value::Float(mean)
        }
    };
    let slowdowns: Vec<f64> = (0..records.len())
        .filter_map(|at| Some(times[at].mean_us() / measured.alone.get(at).copied().flatten()?.as_us_f64()))
        .filter(|slowdown| slowdown.is_finite())
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let float = |values: &[f64], of: &dyn Fn(&[f64]) -> f64, otherwise| match values {
        [] => Value::Missing(otherwise),
        values => Value::Float(of(values)),
    };
    let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let entry = |name: &str, value: Value| (name.to_string(), value);
    let mut figures = vec![
        entry("unfinished_jobs", Value::Integer(unfinished.count() as u64)),
        entry("iterations", Value::Integer(all.len() as u64)),
        entry("iteration_mean_us", float(&all, &mean, NONE_ENDED)),
        entry("iteration_max_us", float(&all, &largest, NONE_ENDED)),
        entry("compute_mean_us", spent(COMPUTE)),
        entry("exposed_mean_us", spent(EXPOSED)),
        entry("hidden_mean_us", spent(HIDDEN)),
        entry("busbw_gb_per_s", float(&bandwidths, &mean, NO_COLLECTIVE)),
    ];
    if measured.scenario.record.alone {
        figures.push(entry("job_slowdown_mean", float(&slowdowns, &mean, NONE_ENDED)));
        figures.push(entry("job_slowdown_max", float(&slowdowns, &largest, NONE_ENDED)));
    }
    figures
}
