//! The figures of a whole run: of all transports together, and of each.

use clearway_proto::histogram::Histogram;

use super::counters::{OperationCounters, TransportCounters};
use super::measured::{LinkFigures, Measured};
use super::outcome::Value;

/// The summary: figures of all transports together, of the links, and of each transport by its name.
pub(super) fn summarise(measured: &Measured) -> Value {
    let transports = measured.scenario.transports.len();
    let mut figures = vec![
        entry("simulated_us", Value::Float(measured.end.as_us_f64())),
        entry("measured_from_us", Value::Float(measured.start.time.as_us_f64())),
    ];
    figures.extend(traffic_figures(measured, &(0..transports).collect::<Vec<_>>()));
    figures.extend(link_figures(measured));
    figures.extend(host_figures(measured));
    let each =
        |at: usize| (measured.transport_name(at as u32), Value::Object(traffic_figures(measured, &[at])));
    figures.push(entry("transports", Value::Object((0..transports).map(each).collect())));
    Value::Object(figures)
}

fn entry(name: &str, value: Value) -> (String, Value) {
    (name.to_string(), value)
}

fn float(value: Option<f64>) -> Value {
    value.filter(|v| v.is_finite()).map_or(Value::Missing, Value::Float)
}

/// The figures of the flows of these transports.
fn traffic_figures(measured: &Measured, transports: &[usize]) -> Vec<(String, Value)> {
    let simulation = measured.simulation;
    let of_these = |transport: u32| transports.contains(&(transport as usize));
    let flows: Vec<u32> = (0..simulation.specs().len() as u32)
        .filter(|&id| of_these(simulation.specs()[id as usize].transport))
        .collect();
    let total = |value: &dyn Fn(u32) -> u64| flows.iter().map(|&id| value(id)).sum::<u64>();
    let delivered =
        total(&|id| simulation.receiver(id).receiver.payload() - measured.start.payload[id as usize]);
    let sent_whole = total(&|id| simulation.sender(id).sender.flight().sent);
    let sent = sent_whole - total(&|id| measured.start.sent[id as usize]);
    let lost_whole = transports.iter().map(|&t| measured.counters[t].lost_data).sum();
    let lost = transports.iter().map(|&t| measured.counters[t].lost_measured).sum();
    let retransmissions =
        total(&|id| measured.retransmissions(id)) - total(&|id| measured.start.retransmissions[id as usize]);
    let timeouts = total(&|id| u64::from(simulation.sender(id).sender.flight().timeouts));
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let completed = total(&|id| u64::from(measured.completion(id).is_some()));
    let mut figures = vec![
        entry("flows", Value::Integer(flows.len() as u64)),
        entry("completed", Value::Integer(completed)),
        entry("goodput_gbps", float(Some(delivered as f64 * 8.0 / measured.seconds() / 1e9))),
        entry("loss_rate", float(ratio(lost, sent))),
        entry("loss_rate_whole", float(ratio(lost_whole, sent_whole))),
        entry("retransmissions", Value::Integer(retransmissions)),
        entry("timeouts_whole", Value::Integer(timeouts)),
    ];
    figures.extend(rtt_figures(measured, transports));
    let indices: Vec<f64> = transports.iter().filter_map(|&t| measured.fairness[t]).collect();
    figures.push(entry("jain", float((!indices.is_empty()).then(|| mean(&indices)))));
    figures.extend(completion_figures(measured, &flows));
    figures.extend(operation_figures(measured, transports));
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
    let us = |fraction| float(times.quantile(fraction).map(|ps| ps as f64 / 1e6));
    vec![
        entry(&format!("{name}_mean_us"), float(times.mean().map(|ps| ps / 1e6))),
        entry(&format!("{name}_p50_us"), us(0.5)),
        entry(&format!("{name}_p99_us"), us(0.99)),
        entry(&format!("{name}_p999_us"), us(0.999)),
    ]
}

fn completion_figures(measured: &Measured, flows: &[u32]) -> Vec<(String, Value)> {
    let mut fct = Vec::new();
    let mut slowdown = Vec::new();
    for &id in flows {
        let ideal = measured.simulation.ideal_completion(id, measured.scenario.network.mtu);
        if let (Some(took), Some(ideal)) = (measured.completion(id), ideal) {
            fct.push(took.as_us_f64());
            slowdown.push(took.as_ps() as f64 / ideal.as_ps() as f64);
        }
    }
    vec![
        entry("fct_mean_us", float((!fct.is_empty()).then(|| mean(&fct)))),
        entry("fct_p50_us", float(quantile(&mut fct, 0.5))),
        entry("fct_p99_us", float(quantile(&mut fct, 0.99))),
        entry("fct_max_us", float(quantile(&mut fct, 1.0))),
        entry("slowdown_mean", float((!slowdown.is_empty()).then(|| mean(&slowdown)))),
        entry("slowdown_p50", float(quantile(&mut slowdown, 0.5))),
        entry("slowdown_p99", float(quantile(&mut slowdown, 0.99))),
    ]
}

/// The figures of operations issued after the warm-up, except for their rate, which counts all that completed in time
/// after it.
fn operation_figures(measured: &Measured, transports: &[usize]) -> Vec<(String, Value)> {
    let simulation = measured.simulation;
    let mut all = OperationCounters::default();
    for &transport in transports {
        all.merge(&measured.counters[transport].operations);
    }
    let late_and_open = simulation.open_operations().into_iter().filter(|operation| {
        let spec = &simulation.specs()[operation.flow as usize];
        transports.contains(&(spec.transport as usize))
            && operation.issued >= simulation.measured_from()
            && simulation.is_late(operation)
    });
    let undone = all.refused + late_and_open.count() as u64;
    let (failed, decided) = (all.late + undone, all.latency.count() + undone);
    let any = decided + all.in_time;
    let us = |ps: Option<f64>| float(ps.map(|ps| ps / 1e6));
    let quantile = |fraction| us(all.latency.quantile(fraction).map(|ps| ps as f64));
    vec![
        entry("operations", Value::Integer(all.latency.count())),
        entry("operations_per_second", float((any > 0).then_some(all.in_time as f64 / measured.seconds()))),
        entry("failed_operations", float((decided > 0).then_some(failed as f64 / decided as f64))),
        entry("latency_mean_us", us(all.latency.mean())),
        entry("latency_p50_us", quantile(0.5)),
        entry("latency_p99_us", quantile(0.99)),
        entry("latency_p999_us", quantile(0.999)),
    ]
}

/// The figures of all hosts, where they are not ideal: the utilisation of the busiest, and the frames for which receive
/// queues had no room.
fn host_figures(measured: &Measured) -> Vec<(String, Value)> {
    let processors = measured.simulation.processors().map(|(_, counters)| counters);
    let now_and_then: Vec<_> = processors.zip(&measured.start.processors).collect();
    let busiest = now_and_then.iter().map(|(now, then)| now.busy - then.busy).max();
    let Some(busiest) = busiest else { return Vec::new() };
    let drops = now_and_then.iter().map(|(now, then)| now.dropped_frames - then.dropped_frames).sum();
    vec![
        entry("host_utilisation_max", float(Some(busiest as f64 / 1e12 / measured.seconds()))),
        entry("host_drops", Value::Integer(drops)),
    ]
}

/// The figures of all links: the fullest, the longest queue, and totals.
fn link_figures(measured: &Measured) -> Vec<(String, Value)> {
    let links: Vec<LinkFigures> = (0..measured.simulation.links()).map(|link| measured.link(link)).collect();
    let largest = |value: fn(&LinkFigures) -> f64| links.iter().map(value).fold(0.0, f64::max);
    let total = |value: fn(&LinkFigures) -> u64| Value::Integer(links.iter().map(value).sum());
    vec![
        entry("utilisation_max", float(Some(largest(|l| l.utilisation)))),
        entry("queue_mean_bytes", float(Some(largest(|l| l.queue_mean_bytes)))),
        entry(
            "queue_peak_bytes",
            Value::Integer(links.iter().map(|l| l.queue_peak_bytes).max().unwrap_or(0)),
        ),
        entry("drops", total(|l| l.drops)),
        entry("marks", total(|l| l.marks)),
        entry("fault_losses", total(|l| l.fault_losses)),
    ]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The value that a `fraction` of all values do not exceed. Sorts the values.
fn quantile(values: &mut [f64], fraction: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (values.len() as f64 * fraction).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_sample() {
        let mut values = vec![4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile(&mut values, 0.5), Some(2.0));
        assert_eq!(quantile(&mut values, 0.99), Some(4.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
