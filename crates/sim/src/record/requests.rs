//! Requests of storage jobs: how many there were, what they moved, and how long each sort took.

use clearway_proto::histogram::Histogram;
use clearway_proto::units::{Span, Time};

use super::definitions::table;
use super::measured::Measured;
use super::outcome::{Column, Table, Value};
use super::texts::Texts;
use crate::model::RequestSort;
use crate::simulation::{JobRecord, RequestTimes};

table! {
    /// A row for each storage job and each sort of request of which any has begun. No such table without such a
    /// job.
    Requests as "requests" {
        /// The job's number.
        job: Nothing,
        /// The sort of request: `read`; `degraded read`, of which another replica or other blocks were read than
        /// without dead servers; `write`; or `rebuild`, of a block of a dead server.
        sort: Nothing,
        /// Requests that have ended.
        ended: Run,
        /// Requests that had begun and not ended when the run ended.
        unfinished: Run,
        /// Bytes of the requests that have ended: of objects, of blocks where these are read, or of blocks that
        /// were rebuilt.
        bytes: Run,
        /// When the first request of the sort began.
        began_us: Run,
        /// When the last request of the sort ended; NaN if none has.
        ended_us: Run,
        /// Requests that have ended, a second: of clients over the time from the job's first request to the end
        /// of its last one, of whatever sort, and of what is rebuilt over the time that the rebuilding took; NaN
        /// if none has ended, as all that follow.
        requests_per_second: Run,
        /// Bytes in the same time, in GB/s of 10^9 bytes.
        gb_per_s: Run,
        /// Mean time of a request, from when it was begun to when the data or the acknowledgement was there.
        time_mean_us: Run,
        /// The time that half of the requests did not exceed, at most one part in 256 too large.
        time_p50_us: Run,
        /// The time that 99 % of the requests did not exceed, likewise.
        time_p99_us: Run,
        /// The longest time.
        time_max_us: Run,
    }
}

/// What there was of requests, from the beginning of the first to the end of the last.
#[derive(Clone, Copy)]
struct Period {
    first: Time,
    last: Time,
}

impl Period {
    const NONE: Period = Period { first: Time::NEVER, last: Time::ZERO };

    /// The time of all these requests.
    fn of<'a>(requests: impl IntoIterator<Item = &'a RequestTimes>) -> Period {
        let join = |all: Period, of: &RequestTimes| Period {
            first: all.first.min(of.first),
            last: all.last.max(of.last),
        };
        requests.into_iter().fold(Period::NONE, join)
    }

    /// Its length in seconds; `None` where nothing has ended in it.
    fn seconds(self) -> Option<f64> {
        (self.first < self.last).then(|| self.last.since(self.first).as_us_f64() / 1e6)
    }
}

/// The requests of a job, sort by sort.
struct OfJob {
    sorts: Vec<(RequestSort, RequestTimes)>,
    /// Blocks that are to be rebuilt in the whole run.
    to_rebuild: u64,
}

/// The requests of each job.
fn all(measured: &Measured) -> Vec<OfJob> {
    let of_job = |(number, record): (usize, JobRecord)| {
        let times = measured.simulation.job_requests(number);
        let measures = record.job.measures();
        let sorts: Vec<RequestSort> = measures.iter().filter_map(|measure| measure.request).collect();
        let labels = &record.job.graph.labels;
        let begins_rebuild = |label: &&u16| {
            let mark = labels.list[usize::from(**label)].mark.filter(|mark| !mark.is_end);
            mark.is_some_and(|mark| sorts.get(usize::from(mark.measure)) == Some(&RequestSort::Rebuild))
        };
        let blocks = labels.of.iter().filter(begins_rebuild).count() as u64;
        let to_rebuild = blocks * u64::from(record.job.iterations);
        let sorts = sorts.iter().copied().zip(times).filter(|(_, times)| times.begun > 0).collect();
        OfJob { sorts, to_rebuild }
    };
    measured.simulation.jobs().enumerate().map(of_job).collect()
}

/// The requests of clients.
fn of_clients(all: &[(RequestSort, RequestTimes)]) -> impl Iterator<Item = &RequestTimes> {
    all.iter().filter(|(sort, _)| *sort != RequestSort::Rebuild).map(|(_, times)| times)
}

/// A time of a histogram in microseconds; NaN where there is none.
fn us(ps: Option<f64>) -> f64 {
    ps.map_or(f64::NAN, |ps| ps / 1e6)
}

fn quantile_us(times: &Histogram, fraction: f64) -> f64 {
    us(times.quantile(fraction).map(|ps| ps as f64))
}

/// The table of requests; none where no job has any.
pub(super) fn requests(measured: &Measured) -> Option<Table> {
    let all = all(measured);
    let mut rows = Vec::new();
    for (job, OfJob { sorts, .. }) in all.iter().enumerate() {
        for (sort, times) in sorts {
            let period = match sort {
                RequestSort::Rebuild => Period::of([times]),
                _ => Period::of(of_clients(sorts)),
            };
            rows.push((job as u64, *sort, times, period.seconds().unwrap_or(f64::NAN)));
        }
    }
    let integers = |value: &dyn Fn(&RequestTimes) -> u64| {
        Column::Integers(rows.iter().map(|(_, _, times, _)| value(times)).collect())
    };
    let floats = |value: &dyn Fn(&RequestTimes, f64) -> f64| {
        let value = |times: &RequestTimes, seconds| match times.times.count() {
            0 => f64::NAN,
            _ => value(times, seconds),
        };
        Column::Floats(rows.iter().map(|(_, _, times, seconds)| value(times, *seconds)).collect())
    };
    let columns = Requests {
        job: Column::Integers(rows.iter().map(|(job, ..)| *job).collect()),
        sort: Column::Texts(rows.iter().map(|(_, sort, ..)| sort.name()).collect::<Texts>()),
        ended: integers(&|times| times.times.count()),
        unfinished: integers(&|times| times.begun - times.times.count()),
        bytes: integers(&|times| times.bytes),
        began_us: Column::Floats(rows.iter().map(|(_, _, times, _)| times.first.as_us_f64()).collect()),
        ended_us: floats(&|times, _| times.last.as_us_f64()),
        requests_per_second: floats(&|times, seconds| times.times.count() as f64 / seconds),
        gb_per_s: floats(&|times, seconds| times.bytes as f64 / seconds / 1e9),
        time_mean_us: floats(&|times, _| us(times.times.mean())),
        time_p50_us: floats(&|times, _| quantile_us(&times.times, 0.5)),
        time_p99_us: floats(&|times, _| quantile_us(&times.times, 0.99)),
        time_max_us: floats(&|times, _| quantile_us(&times.times, 1.0)),
    };
    (!rows.is_empty()).then(|| columns.table())
}

const NO_REQUEST: &str = "no request of a storage job was ended";
const NO_READ: &str = "no read of a storage job was ended that was not degraded";
const NO_DEGRADED: &str = "no degraded read of a storage job was ended";
const NO_WRITE: &str = "no write of a storage job was ended";
const NOT_REBUILT: &str = "no storage job has rebuilt all that it was to rebuild";

/// The figures of the requests of all jobs together, where there are any.
pub(super) fn figures(measured: &Measured) -> Vec<(String, Value)> {
    let all = all(measured);
    if all.iter().all(|of| of.sorts.is_empty()) {
        return Vec::new();
    }
    let of = |sorts: &[RequestSort]| {
        let mut sum = RequestTimes::default();
        let requests = all.iter().flat_map(|of| &of.sorts).filter(|(sort, _)| sorts.contains(sort));
        requests.for_each(|(_, times)| sum.merge(times));
        sum
    };
    let reads = of(&[RequestSort::Read, RequestSort::DegradedRead]);
    let writes = of(&[RequestSort::Write]);
    let seconds = Period::of([&reads, &writes]).seconds();
    let count = reads.times.count() + writes.times.count();
    let entry = |name: &str, value: Value| (name.to_string(), value);
    let or = |value: Option<f64>, why| value.map_or(Value::Missing(why), Value::Float);
    let rate = |amount: f64| or(seconds.map(|seconds| amount / seconds), NO_REQUEST);
    let mut figures = vec![
        entry("requests", Value::Integer(count)),
        entry("requests_per_second", rate(count as f64)),
        entry("read_gb_per_s", rate(reads.bytes as f64 / 1e9)),
        entry("written_gb_per_s", rate(writes.bytes as f64 / 1e9)),
    ];
    for (name, sort, why) in [
        ("read", RequestSort::Read, NO_READ),
        ("degraded_read", RequestSort::DegradedRead, NO_DEGRADED),
        ("write", RequestSort::Write, NO_WRITE),
    ] {
        let times = of(&[sort]).times;
        let quantile = |fraction| or(times.quantile(fraction).map(|ps| ps as f64 / 1e6), why);
        figures.push(entry(&format!("{name}_mean_us"), or(times.mean().map(|ps| ps / 1e6), why)));
        figures.push(entry(&format!("{name}_p50_us"), quantile(0.5)));
        figures.push(entry(&format!("{name}_p99_us"), quantile(0.99)));
    }
    figures.push(entry("rebuild_us", or(rebuild_us(&all), NOT_REBUILT)));
    figures
}

/// The longest time in microseconds in which a job has rebuilt all that it was to rebuild.
fn rebuild_us(all: &[OfJob]) -> Option<f64> {
    let rebuilt = |of: &OfJob| {
        let (_, times) = of.sorts.iter().find(|(sort, _)| *sort == RequestSort::Rebuild)?;
        (times.times.count() == of.to_rebuild).then(|| times.last.since(times.first))
    };
    all.iter().filter_map(rebuilt).max().map(Span::as_us_f64)
}
