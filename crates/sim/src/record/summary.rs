//! The figures of a whole run: of all transports together, and of each.

use clearway_proto::histogram::Histogram;
use clearway_proto::units::Span;

use super::censored::{Bounded, Buckets, Censored, Values};
use super::fastpass;
use super::faults;
use super::jobs;
use super::measured::{LinkFigures, Measured};
use super::outcome::Value;
use super::packets::Recorded;
use super::pauses;
use super::requests;
use crate::simulation::counters::{OperationCounters, TransportCounters};

/// The summary: figures of all transports together, of the links, and of each transport by its name.
pub(super) fn summarise(measured: &Measured, packets: Option<&Recorded>) -> Value {
    let transports = measured.scenario.transports.len();
    let mut figures = vec![
        entry("simulated_us", Value::Float(measured.end.as_us_f64())),
        entry("measured_from_us", Value::Float(measured.start.time.as_us_f64())),
        entry("measured_until_us", Value::Float(measured.until().as_us_f64())),
    ];
    figures.extend(traffic_figures(measured, &(0..transports).collect::<Vec<_>>()));
    figures.extend(jobs::figures(measured));
    figures.extend(requests::figures(measured));
    figures.extend(link_figures(measured));
    figures.extend(faults::figures(measured));
    figures.extend(host_figures(measured));
    figures.extend(fastpass::figures(measured));
    figures.extend(pauses::figures(measured));
    figures.extend(packets.into_iter().flat_map(Recorded::figures));
    figures.push(reasons(&figures));
    let each = |at: usize| {
        let mut figures = traffic_figures(measured, &[at]);
        figures.push(reasons(&figures));
        (measured.scenario.transports[at].name.clone(), Value::Object(figures))
    };
    figures.push(entry("transports", Value::Object((0..transports).map(each).collect())));
    Value::Object(figures)
}

fn entry(name: &str, value: Value) -> (String, Value) {
    (name.to_string(), value)
}

/// Why a figure has no value for which the measured time is too short.
const NO_TIME: &str = "the measurement has no length";
const NOTHING_SENT: &str = "no data was sent in the measured time";
const NOTHING_ACKNOWLEDGED: &str = "no packet was acknowledged in the measured time";
const NO_CONTEST: &str =
    "in no interval of record.fairness did two flows have data to send throughout and deliver any";
const NO_SIZES: &str = "no flow has a size";
const NO_OPERATIONS: &str = "no operation was issued or completed in the measured time";
const NONE_DECIDED: &str = "no operation issued in the measured time was done or had missed its deadline";
const NONE_ISSUED: &str = "no operation was issued in the measured time";

/// A figure, or why there is none. What comes of a division by no time is none.
fn float(value: Option<f64>, otherwise: &'static str) -> Value {
    match value {
        Some(value) if value.is_finite() => Value::Float(value),
        Some(_) => Value::Missing(NO_TIME),
        None => Value::Missing(otherwise),
    }
}

/// The figures that are missing, each with the reason.
fn reasons(figures: &[(String, Value)]) -> (String, Value) {
    let missing = figures.iter().filter_map(|(name, value)| match value {
        Value::Missing(why) => Some((name.clone(), *why)),
        _ => None,
    });
    entry("absent", Value::Reasons(missing.collect()))
}

/// The figures of the flows of these transports.
fn traffic_figures(measured: &Measured, transports: &[usize]) -> Vec<(String, Value)> {
    let simulation = measured.simulation;
    let of_these = |transport: u32| transports.contains(&(transport as usize));
    let flows: Vec<u32> = (0..simulation.specs().len() as u32)
        .filter(|&id| of_these(simulation.specs()[id as usize].transport))
        .collect();
    let total = |value: &dyn Fn(u32) -> u64| flows.iter().map(|&id| value(id)).sum::<u64>();
    let delivered = total(&|id| measured.delivered(id));
    let sent_whole = total(&|id| simulation.sender(id).sender.flight().sent);
    let sent = total(&|id| measured.sent(id));
    let lost_whole = transports.iter().map(|&t| measured.counters[t].lost_data).sum();
    let lost = transports.iter().map(|&t| measured.counters[t].lost_measured).sum();
    let retransmissions = total(&|id| measured.retransmitted(id));
    let needless = total(&|id| measured.duplicates(id));
    let timeouts = total(&|id| u64::from(simulation.sender(id).sender.flight().timeouts));
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let completed = total(&|id| u64::from(measured.completion(id).is_some()));
    let mut figures = vec![
        entry("flows", Value::Integer(flows.len() as u64)),
        entry("completed", Value::Integer(completed)),
        entry("goodput_gbps", float(Some(delivered as f64 * 8.0 / measured.seconds() / 1e9), NO_TIME)),
        entry("loss_rate", float(ratio(lost, sent), NOTHING_SENT)),
        entry("loss_rate_whole", float(ratio(lost_whole, sent_whole), "no data was sent")),
        entry("retransmissions", Value::Integer(retransmissions)),
        entry("needless_retransmissions", Value::Integer(needless)),
        entry("timeouts_whole", Value::Integer(timeouts)),
    ];
    let notified = transports.iter().filter(|&&t| measured.scenario.transports[t].has_notifications());
    let notifications = notified.map(|&t| measured.counters[t].notifications);
    figures.extend(notifications.reduce(|all, one| all + one).map(|all| entry("cnps", Value::Integer(all))));
    figures.extend(rtt_figures(measured, transports));
    let indices: Vec<f64> = transports.iter().filter_map(|&t| measured.fairness[t]).collect();
    figures.push(entry("jain", float((!indices.is_empty()).then(|| mean(&indices)), NO_CONTEST)));
    let mut bounds = Vec::new();
    figures.extend(completion_figures(measured, &flows, &mut bounds));
    figures.extend(operation_figures(measured, transports, &mut bounds));
    figures.push(entry("lower_bounds", Value::Names(bounds)));
    figures
}

/// The figures of round-trip times, and where hosts are not ideal of their parts, too.
fn rtt_figures(measured: &Measured, transports: &[usize]) -> Vec<(String, Value)> {
    let all = |times: fn(&TransportCounters) -> &Histogram| {
        let mut all = Histogram::default();
        for &transport in transports {
            all.merge(times(&measured.counters[transport]));
        }
        all
    };
    let mut figures = time_figures("rtt", &all(|counters| &counters.rtt));
    if measured.simulation.processors().next().is_some() {
        figures.extend(time_figures("fabric_rtt", &all(|counters| &counters.fabric)));
        figures.extend(time_figures("endpoint_delay", &all(|counters| &counters.endpoint)));
        figures.extend(time_figures("nic_delay", &all(|counters| &counters.nic_delay)));
    }
    figures
}

fn time_figures(name: &str, times: &Histogram) -> Vec<(String, Value)> {
    let us = |fraction| float(times.quantile(fraction).map(|ps| ps as f64 / 1e6), NOTHING_ACKNOWLEDGED);
    vec![
        entry(&format!("{name}_mean_us"), float(times.mean().map(|ps| ps / 1e6), NOTHING_ACKNOWLEDGED)),
        entry(&format!("{name}_p50_us"), us(0.5)),
        entry(&format!("{name}_p99_us"), us(0.99)),
        entry(&format!("{name}_p999_us"), us(0.999)),
    ]
}

/// A figure, or why there is none. `bounds` takes its name if the true one may be larger.
fn bounded(
    name: &str,
    figure: Option<Bounded>,
    otherwise: &'static str,
    bounds: &mut Vec<String>,
) -> (String, Value) {
    if figure.is_some_and(|figure| figure.at_least) {
        bounds.push(name.to_string());
    }
    entry(name, float(figure.map(|figure| figure.value), otherwise))
}

/// The figures of sized flows that have started, in the whole run. Those that were under way at its end count with their
/// age.
fn completion_figures(measured: &Measured, flows: &[u32], bounds: &mut Vec<String>) -> Vec<(String, Value)> {
    let all = |time: &dyn Fn(u32) -> Option<Span>| {
        let timed = flows.iter().filter_map(|&id| {
            let took = time(id)?;
            let ideal = measured.simulation.ideal_completion(id, measured.scenario.network.mtu)?;
            Some((took.as_us_f64(), took.as_ps() as f64 / ideal.as_ps() as f64))
        });
        timed.unzip::<f64, f64, Vec<_>, Vec<_>>()
    };
    let (took, slowed) = all(&|id| measured.completion(id));
    let (ages, slowed_so_far) = all(&|id| measured.age(id));
    // However young a flow is, it will not be quicker than on an empty network.
    let slowed_so_far: Vec<f64> = slowed_so_far.into_iter().map(|slowdown| slowdown.max(1.0)).collect();
    let unfinished = ages.len() as u64;
    let (fct, slowdown) = (Values::new(took, &ages), Values::new(slowed, &slowed_so_far));
    let mut of = |name, figure| bounded(name, figure, NO_SIZES, bounds);
    vec![
        entry("unfinished_flows", Value::Integer(unfinished)),
        of("fct_mean_us", fct.mean()),
        of("fct_p50_us", fct.quantile(0.5)),
        of("fct_p99_us", fct.quantile(0.99)),
        of("fct_max_us", fct.quantile(1.0)),
        of("slowdown_mean", slowdown.mean()),
        of("slowdown_p50", slowdown.quantile(0.5)),
        of("slowdown_p99", slowdown.quantile(0.99)),
    ]
}

/// The figures of operations issued after the warm-up, except for their rate, which counts all that completed in time
/// after it. Those that were open at the end count with their age.
fn operation_figures(
    measured: &Measured,
    transports: &[usize],
    bounds: &mut Vec<String>,
) -> Vec<(String, Value)> {
    let simulation = measured.simulation;
    let mut all = OperationCounters::default();
    for &transport in transports {
        all.merge(&measured.counters[transport].operations);
    }
    let transport = |flow: u32| simulation.specs()[flow as usize].transport as usize;
    let mut open = measured.open_operations();
    open.retain(|operation| transports.contains(&transport(operation.flow)));
    let mut ages = Histogram::default();
    for operation in &open {
        ages.record(measured.end.since(operation.issued));
    }
    let late_and_open = open.iter().filter(|operation| simulation.is_late(operation));
    let undone = all.refused + late_and_open.count() as u64;
    let (failed, decided) = (all.late + undone, all.latency.count() + undone);
    let any = decided + all.in_time;
    let (done, unfinished) = (all.latency.count(), ages.count());
    let open_wait = measured.longest_open_wait(&|flow| transports.contains(&transport(flow)));
    let longest_wait = (any > 0 || open_wait.is_some()).then(|| longest_wait(all.longest_wait, open_wait));
    let latency = Buckets::new(all.latency, &ages);
    let mut us = |name, ps: Option<Bounded>, otherwise| {
        bounded(name, ps.map(|ps| Bounded { value: ps.value / 1e6, ..ps }), otherwise, bounds)
    };
    let per_second = (any > 0).then_some(all.in_time as f64 / measured.seconds());
    vec![
        entry("operations", Value::Integer(done)),
        entry("unfinished_operations", Value::Integer(unfinished)),
        entry("operations_per_second", float(per_second, NO_OPERATIONS)),
        entry(
            "failed_operations",
            float((decided > 0).then_some(failed as f64 / decided as f64), NONE_DECIDED),
        ),
        us("latency_mean_us", latency.mean(), NONE_ISSUED),
        us("latency_p50_us", latency.quantile(0.5), NONE_ISSUED),
        us("latency_p99_us", latency.quantile(0.99), NONE_ISSUED),
        us("latency_p999_us", latency.quantile(0.999), NONE_ISSUED),
        us("operation_wait_max_us", longest_wait, NO_OPERATIONS),
    ]
}

/// The longest of the waits that are over and of those that are not, in picoseconds. It is a lower bound where the longest is
/// not over.
fn longest_wait(over: Span, open: Option<Span>) -> Bounded {
    let open = open.unwrap_or_default();
    Bounded { value: over.max(open).as_ps() as f64, at_least: open > over }
}

/// The figures of all hosts, where they are not ideal: the utilisation of the busiest, and the frames for which receive
/// queues had no room.
fn host_figures(measured: &Measured) -> Vec<(String, Value)> {
    let now_and_then: Vec<_> = measured.processors().into_iter().zip(&measured.start.processors).collect();
    let busiest = now_and_then.iter().map(|(now, then)| now.busy - then.busy).max();
    let Some(busiest) = busiest else { return Vec::new() };
    let drops = now_and_then.iter().map(|(now, then)| now.dropped_frames - then.dropped_frames).sum();
    vec![
        entry("host_utilisation_max", float(Some(busiest as f64 / 1e12 / measured.seconds()), NO_TIME)),
        entry("host_drops", Value::Integer(drops)),
    ]
}

/// The figures of all links: the fullest, the longest queue, and totals.
fn link_figures(measured: &Measured) -> Vec<(String, Value)> {
    let links: Vec<LinkFigures> = (0..measured.simulation.links()).map(|link| measured.link(link)).collect();
    let largest = |value: fn(&LinkFigures) -> f64| links.iter().map(value).fold(0.0, f64::max);
    let total = |value: fn(&LinkFigures) -> u64| Value::Integer(links.iter().map(value).sum());
    let mut figures = vec![
        entry("utilisation_max", float(Some(largest(|l| l.utilisation)), NO_TIME)),
        entry("queue_mean_bytes", float(Some(largest(|l| l.queue_mean_bytes)), NO_TIME)),
        entry(
            "queue_peak_bytes",
            Value::Integer(links.iter().map(|l| l.queue_peak_bytes).max().unwrap_or(0)),
        ),
        entry("drops", total(|l| l.drops)),
        entry("marks", total(|l| l.marks)),
        entry("fault_losses", total(|l| l.fault_losses)),
    ];
    if measured.scenario.switches.any_trimming() {
        figures.push(entry("trims", total(|l| l.trims)));
    }
    figures
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
