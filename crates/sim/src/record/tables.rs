//! The tables of a run, made at its end.

use super::summary::Measured;
use super::{Column, Table};
use clearway_proto::units::{Span, Time};

const GBPS: f64 = 8.0 / 1e9;

/// One row a flow.
pub(super) fn flows(measured: &Measured) -> Table {
    let simulation = measured.simulation;
    let all = || simulation.specs().iter().zip(simulation.landings()).enumerate();
    let mut fct = Vec::new();
    let mut ideal = Vec::new();
    for id in 0..simulation.specs().len() as u32 {
        fct.push(measured.completion(id).map_or(f64::NAN, Span::as_us_f64));
        let alone = simulation.ideal_completion(id, measured.scenario.network.mtu);
        ideal.push(alone.map_or(f64::NAN, Span::as_us_f64));
    }
    let slowdown = fct.iter().zip(&ideal).map(|(fct, ideal)| fct / ideal).collect();
    let integers = |value: &dyn Fn(usize) -> u64| Column::Integers((0..fct.len()).map(value).collect());
    let specs = simulation.specs();
    let payload = |id: usize| simulation.landings()[id].receiver.payload();
    let gbps = |id| (payload(id) - measured.start.payload[id]) as f64 / measured.seconds() * GBPS;
    Table {
        name: "flows",
        columns: vec![
            ("flow", integers(&|id| id as u64)),
            (
                "transport",
                Column::Texts(all().map(|(_, (s, _))| measured.transport_name(s.transport)).collect()),
            ),
            ("from", integers(&|id| u64::from(specs[id].from))),
            ("to", integers(&|id| u64::from(specs[id].to))),
            ("start_us", Column::Floats(specs.iter().map(|s| s.start.as_us_f64()).collect())),
            ("bytes", integers(&|id| measured.size(id as u32).unwrap_or(0))),
            ("retransmissions", integers(&|id| measured.retransmissions(id))),
            ("delivered_bytes", integers(&payload)),
            ("goodput_gbps", Column::Floats((0..fct.len()).map(gbps).collect())),
            ("fct_us", Column::Floats(fct)),
            ("ideal_us", Column::Floats(ideal)),
            ("slowdown", Column::Floats(slowdown)),
        ],
    }
}

/// One row a directed link; rates, utilisation and queues are of the measured time.
pub(super) fn links(measured: &Measured) -> Table {
    let simulation = measured.simulation;
    let links: Vec<_> = (0..simulation.fabric().len() as u32).map(|link| measured.link(link)).collect();
    let integers =
        |value: fn(&super::summary::LinkFigures) -> u64| Column::Integers(links.iter().map(value).collect());
    let floats =
        |value: fn(&super::summary::LinkFigures) -> f64| Column::Floats(links.iter().map(value).collect());
    let names = (0..links.len() as u32).map(|link| simulation.graph().link_name(link)).collect();
    let graph = simulation.graph();
    Table {
        name: "links",
        columns: vec![
            ("link", Column::Texts(names)),
            (
                "rate_gbps",
                Column::Floats(graph.links().iter().map(|l| l.rate.as_bps() as f64 / 1e9).collect()),
            ),
            ("delay_us", Column::Floats(graph.links().iter().map(|l| l.delay.as_us_f64()).collect())),
            ("utilisation", floats(|l| l.utilisation)),
            ("frames", integers(|l| l.frames)),
            ("wire_bytes", integers(|l| l.wire_bytes)),
            ("queue_mean_bytes", floats(|l| l.queue_mean_bytes)),
            ("queue_peak_bytes", integers(|l| l.queue_peak_bytes)),
            ("drops", integers(|l| l.drops)),
            ("marks", integers(|l| l.marks)),
            ("fault_losses", integers(|l| l.fault_losses)),
        ],
    }
}

/// One row a directed link and class that sent or dropped anything in the measured time; none where there are no
/// classes.
pub(super) fn link_classes(measured: &Measured) -> Option<Table> {
    let fabric = measured.simulation.fabric();
    let names = &measured.scenario.classes;
    if names.is_empty() {
        return None;
    }
    let (mut link_names, mut class_names) = (Vec::new(), Vec::new());
    let mut counts: [Vec<u64>; 5] = Default::default();
    for link in 0..fabric.len() as u32 {
        let then = &measured.start.classes[link as usize * names.len()..];
        for ((queue, then), class) in fabric.classes().queues(link).iter().zip(then).zip(names) {
            let now = &queue.counters;
            let row = [
                now.sent_frames - then.sent_frames,
                now.sent_bytes - then.sent_bytes,
                now.dropped_frames - then.dropped_frames,
                now.dropped_bytes - then.dropped_bytes,
                now.marked_frames - then.marked_frames,
            ];
            if row == [0; 5] {
                continue;
            }
            link_names.push(measured.simulation.graph().link_name(link));
            class_names.push(class.name.clone());
            counts.iter_mut().zip(row).for_each(|(column, count)| column.push(count));
        }
    }
    let mut columns = vec![("link", Column::Texts(link_names)), ("class", Column::Texts(class_names))];
    let of_counts = ["frames", "wire_bytes", "drops", "dropped_bytes", "marks"];
    columns.extend(of_counts.into_iter().zip(counts.map(Column::Integers)));
    Some(Table { name: "link_classes", columns })
}

/// The distribution of round-trip times in the measured time: largest value and count of each bucket.
pub(super) fn rtt(measured: &Measured) -> Table {
    let (mut transport, mut rtt_us, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (index, counters) in measured.simulation.counters().iter().enumerate() {
        for (upper, count) in counters.rtt.buckets() {
            transport.push(measured.transport_name(index as u32));
            rtt_us.push(upper as f64 / 1e6);
            counts.push(count);
        }
    }
    let columns = vec![
        ("transport", Column::Texts(transport)),
        ("rtt_us", Column::Floats(rtt_us)),
        ("count", Column::Integers(counts)),
    ];
    Table { name: "rtt", columns }
}

/// One row a message of a closed loop that has been acknowledged; none where nothing runs in a loop.
pub(super) fn messages(measured: &Measured) -> Option<Table> {
    let messages = measured.simulation.messages();
    if messages.is_empty() {
        return None;
    }
    let us = |time: &dyn Fn(usize) -> f64| Column::Floats((0..messages.len()).map(time).collect());
    let integers = |value: &dyn Fn(usize) -> u64| Column::Integers((0..messages.len()).map(value).collect());
    let latency = |m: usize| messages[m].completed.since(messages[m].issued).as_us_f64();
    let columns = vec![
        ("flow", integers(&|m| u64::from(messages[m].flow))),
        ("message", integers(&|m| u64::from(messages[m].message))),
        ("issued_us", us(&|m| Time::as_us_f64(messages[m].issued))),
        ("bytes", integers(&|m| measured.message_size(messages[m].flow))),
        ("latency_us", us(&latency)),
    ];
    Some(Table { name: "messages", columns })
}
