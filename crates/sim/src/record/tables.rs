//! The tables of a run, made at its end.

use std::collections::BTreeMap;

use super::footprint::{link_text_bytes, text_bytes, NUMBER};
use super::measured::{LinkFigures, Measured};
use super::outcome::{Column, Table};
use super::texts::Texts;
use crate::model::Probe;
use crate::net::shape::Shape;
use crate::simulation::OperationRecord;
use crate::traffic::Part;
use clearway_proto::units::{Span, Time};

const GBPS: f64 = 8.0 / 1e9;

/// Memory in bytes for a row of [`flows`], where the transport's name has so many characters.
pub fn flow_row_bytes(name: usize) -> f64 {
    NUMBER * 12.0 + text_bytes(name) + text_bytes("requests".len())
}

/// Memory in bytes for a row of [`links`], and for the figures that it is made of.
pub fn link_row_bytes(shape: &dyn Shape) -> f64 {
    link_text_bytes(shape) + NUMBER * 10.0 + size_of::<LinkFigures>() as f64
}

/// Memory in bytes for a row of [`link_classes`], where the class's name has so many characters.
pub fn link_class_row_bytes(shape: &dyn Shape, name: usize) -> f64 {
    link_text_bytes(shape) + text_bytes(name) + NUMBER * 5.0
}

/// Memory in bytes for a row of [`operations`], and for the record that it is made of.
pub const OPERATION_ROW: f64 = NUMBER * 10.0 + size_of::<OperationRecord>() as f64;

/// Memory in bytes for a row of [`probes`].
pub fn probe_row_bytes(shape: &dyn Shape) -> f64 {
    NUMBER * 3.0 + 2.0 * text_bytes(shape.longest_name())
}

/// The table of flows: a row for each. One that was under way at the end has an age instead of a completion time.
pub(super) fn flows(measured: &Measured) -> Table {
    let simulation = measured.simulation;
    let mut fct = Vec::new();
    let mut ideal = Vec::new();
    for id in 0..simulation.specs().len() as u32 {
        fct.push(measured.completion(id).map_or(f64::NAN, Span::as_us_f64));
        let alone = simulation.ideal_completion(id, measured.scenario.network.mtu);
        ideal.push(alone.map_or(f64::NAN, Span::as_us_f64));
    }
    let age = |id: usize| measured.age(id as u32).map_or(f64::NAN, Span::as_us_f64);
    let ages = (0..fct.len()).map(age).collect();
    let slowdown = fct.iter().zip(&ideal).map(|(fct, ideal)| fct / ideal).collect();
    let integers = |value: &dyn Fn(usize) -> u64| Column::Integers((0..fct.len()).map(value).collect());
    let specs = simulation.specs();
    let transports = measured.transport_names(specs.iter().map(|spec| spec.transport).collect());
    let payload = |id: usize| simulation.receiver(id as u32).receiver.payload();
    let gbps = |id| measured.delivered(id as u32) as f64 / measured.seconds() * GBPS;
    let mut table = Table {
        name: "flows",
        columns: vec![
            ("flow", integers(&|id| id as u64)),
            ("transport", Column::Texts(transports)),
            ("from", integers(&|id| u64::from(specs[id].from))),
            ("to", integers(&|id| u64::from(specs[id].to))),
            ("start_us", Column::Floats(specs.iter().map(|s| s.start.as_us_f64()).collect())),
            ("bytes", integers(&|id| measured.size(id as u32).unwrap_or(0))),
            ("retransmissions", integers(&|id| measured.retransmissions(id as u32))),
            ("delivered_bytes", integers(&payload)),
            ("goodput_gbps", Column::Floats((0..fct.len()).map(gbps).collect())),
            ("fct_us", Column::Floats(fct)),
            ("ideal_us", Column::Floats(ideal)),
            ("slowdown", Column::Floats(slowdown)),
            ("age_us", Column::Floats(ages)),
        ],
    };
    if specs.iter().any(|spec| spec.demand.part() == Some(Part::Answers)) {
        let carries = specs.iter().map(|spec| carries(spec.demand.part())).collect();
        table.columns.push(("carries", Column::Texts(carries)));
    }
    table
}

fn carries(part: Option<Part>) -> &'static str {
    match part {
        None => "data",
        Some(Part::Writes) => "writes",
        Some(Part::Requests) => "requests",
        Some(Part::Answers) => "answers",
    }
}

/// The table of links: a row for each directed link. Rates, utilisation and queues are of the measured time.
pub(super) fn links(measured: &Measured) -> Table {
    let simulation = measured.simulation;
    let links: Vec<_> = (0..simulation.links()).map(|link| measured.link(link)).collect();
    let integers = |value: fn(&LinkFigures) -> u64| Column::Integers(links.iter().map(value).collect());
    let floats = |value: fn(&LinkFigures) -> f64| Column::Floats(links.iter().map(value).collect());
    let graph = simulation.graph();
    let names = Texts::new(graph.link_names(), (0..links.len() as u32).collect());
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

/// The table of classes at links: a row for each directed link and class that sent or dropped anything in the measured
/// time; none where there are no classes.
pub(super) fn link_classes(measured: &Measured) -> Option<Table> {
    let names = &measured.scenario.classes;
    if names.is_empty() {
        return None;
    }
    let (mut links, mut classes) = (Vec::new(), Vec::new());
    let mut counts: [Vec<u64>; 5] = Default::default();
    for link in 0..measured.simulation.links() {
        let then = &measured.start.classes[link as usize * names.len()..];
        for ((now, then), class) in measured.classes(link).iter().zip(then).zip(0..) {
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
            links.push(link);
            classes.push(class);
            counts.iter_mut().zip(row).for_each(|(column, count)| column.push(count));
        }
    }
    let links = Texts::new(measured.simulation.graph().link_names(), links);
    let classes = Texts::new(names.iter().map(|class| class.name.clone()).collect(), classes);
    let mut columns = vec![("link", Column::Texts(links)), ("class", Column::Texts(classes))];
    let of_counts = ["frames", "wire_bytes", "drops", "dropped_bytes", "marks"];
    columns.extend(of_counts.into_iter().zip(counts.map(Column::Integers)));
    Some(Table { name: "link_classes", columns })
}

/// The distribution of round-trip times in the measured time: the largest value and the count of each bucket.
pub(super) fn rtt(measured: &Measured) -> Table {
    let (mut transport, mut rtt_us, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for (index, counters) in measured.counters.iter().enumerate() {
        for (upper, count) in counters.rtt.buckets() {
            transport.push(index as u32);
            rtt_us.push(upper as f64 / 1e6);
            counts.push(count);
        }
    }
    let columns = vec![
        ("transport", Column::Texts(measured.transport_names(transport))),
        ("rtt_us", Column::Floats(rtt_us)),
        ("count", Column::Integers(counts)),
    ];
    Table { name: "rtt", columns }
}

/// The table of hosts: a row for each; none where hosts are ideal. The receive queue's peak is of the whole run.
pub(super) fn hosts(measured: &Measured) -> Option<Table> {
    let (hosts, whole): (Vec<u32>, Vec<_>) = measured.simulation.processors().unzip();
    let processors = measured.processors();
    if hosts.is_empty() {
        return None;
    }
    let then = &measured.start.processors;
    let integers = |value: &dyn Fn(usize) -> u64| Column::Integers((0..hosts.len()).map(value).collect());
    let busy = |host: usize| (processors[host].busy - then[host].busy) as f64 / 1e12 / measured.seconds();
    let columns = vec![
        ("host", integers(&|host| u64::from(hosts[host]))),
        ("utilisation", Column::Floats((0..hosts.len()).map(busy).collect())),
        ("frames", integers(&|host| processors[host].served_frames - then[host].served_frames)),
        ("drops", integers(&|host| processors[host].dropped_frames - then[host].dropped_frames)),
        ("receive_queue_peak_bytes", integers(&|host| whole[host].peak)),
    ];
    Some(Table { name: "hosts", columns })
}

/// The distributions of the parts of round-trip times in the measured time, in the form of [`rtt`]; none where hosts
/// are ideal.
pub(super) fn delays(measured: &Measured) -> Option<Table> {
    let (mut transport, mut part, mut us, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (index, counters) in measured.counters.iter().enumerate() {
        let parts =
            [("fabric", &counters.fabric), ("endpoint", &counters.endpoint), ("nic", &counters.nic_delay)];
        for (name, times) in parts {
            for (upper, count) in times.buckets() {
                transport.push(index as u32);
                part.push(name);
                us.push(upper as f64 / 1e6);
                counts.push(count);
            }
        }
    }
    let columns = vec![
        ("transport", Column::Texts(measured.transport_names(transport))),
        ("part", Column::Texts(part.into_iter().collect())),
        ("delay_us", Column::Floats(us)),
        ("count", Column::Integers(counts)),
    ];
    measured.simulation.processors().next().map(|_| Table { name: "delays", columns })
}

/// The table of operations, if each is recorded: first those that are complete, in the order of completion, then those
/// that are open, by flow, with an age instead of a latency. One that could not be issued is not among them.
pub(super) fn operations(measured: &Measured) -> Option<Table> {
    let (simulation, specs) = (measured.simulation, measured.simulation.specs());
    let mut rows = simulation.operation_records()?;
    rows.extend(simulation.open_operations());
    let spec = |row: &OperationRecord| &specs[row.flow as usize];
    let integers =
        |value: &dyn Fn(&OperationRecord) -> u64| Column::Integers(rows.iter().map(value).collect());
    let floats = |value: &dyn Fn(&OperationRecord) -> f64| Column::Floats(rows.iter().map(value).collect());
    let if_done = |row: &OperationRecord, value: f64| if row.done == Time::NEVER { f64::NAN } else { value };
    let age = |row: &OperationRecord| measured.end.since(row.issued).as_us_f64();
    let columns = vec![
        ("flow", integers(&|row| u64::from(row.flow))),
        ("operation", integers(&|row| u64::from(row.number))),
        ("initiator", integers(&|row| u64::from(spec(row).from))),
        ("target", integers(&|row| u64::from(spec(row).to))),
        ("bytes", integers(&|row| simulation.operation_bytes(row.flow).get())),
        ("issued_us", floats(&|row| row.issued.as_us_f64())),
        ("completed_us", floats(&|row| if_done(row, row.done.as_us_f64()))),
        ("latency_us", floats(&|row| if_done(row, row.done.since(row.issued).as_us_f64()))),
        ("age_us", floats(&|row| if row.done == Time::NEVER { age(row) } else { f64::NAN })),
        ("failed", integers(&|row| u64::from(simulation.is_late(row)))),
    ];
    Some(Table { name: "operations", columns })
}

/// The table of what is unfinished: a row for each traffic table of which a sized flow, or an operation of the measured
/// time, was under way at the end, with how many were and the age of the oldest, 0 of none; no table where nothing was.
pub(super) fn unfinished(measured: &Measured) -> Option<Table> {
    let specs = measured.simulation.specs();
    let mut rows: BTreeMap<u32, [(u64, Span); 2]> = BTreeMap::new();
    let mut add = |table: u32, kind: usize, age: Span| {
        let (count, oldest) = &mut rows.entry(table).or_default()[kind];
        *count += 1;
        *oldest = age.max(*oldest);
    };
    for (flow, spec) in (0..).zip(specs) {
        if let Some(age) = measured.age(flow) {
            add(spec.table, 0, age);
        }
    }
    for operation in measured.open_operations() {
        add(specs[operation.flow as usize].table, 1, measured.end.since(operation.issued));
    }
    let counts = |kind: usize| Column::Integers(rows.values().map(|row| row[kind].0).collect());
    let oldest = |kind: usize| Column::Floats(rows.values().map(|row| row[kind].1.as_us_f64()).collect());
    let columns = vec![
        ("traffic", Column::Integers(rows.keys().map(|&table| u64::from(table)).collect())),
        ("flows", counts(0)),
        ("oldest_flow_us", oldest(0)),
        ("operations", counts(1)),
        ("oldest_operation_us", oldest(1)),
    ];
    (!rows.is_empty()).then_some(Table { name: "unfinished", columns })
}

/// The table of probes: a row for each packet, by probe and then in the order of sending; none where nothing probes.
/// Round trips are by the prober's clock, and NaN where no answer has come.
pub(super) fn probes(measured: &Measured) -> Option<Table> {
    let probes = &measured.scenario.probes;
    if probes.is_empty() {
        return None;
    }
    let (mut numbers, mut sent_us, mut rtt_us) = (Vec::new(), Vec::new(), Vec::new());
    for (number, packets) in (0..).zip(measured.simulation.probes()) {
        for (sent, round_trip) in packets {
            numbers.push(number);
            sent_us.push(sent.as_us_f64());
            rtt_us.push(round_trip.map_or(f64::NAN, Span::as_us_f64));
        }
    }
    let nodes = measured.simulation.graph().nodes();
    let names = |node: fn(&Probe) -> u32| {
        let names = probes.iter().map(|probe| nodes[node(probe) as usize].name.clone());
        Column::Texts(Texts::new(names.collect(), numbers.clone()))
    };
    let columns = vec![
        ("probe", Column::Integers(numbers.iter().map(|&number| number.into()).collect())),
        ("from", names(|probe| probe.from)),
        ("to", names(|probe| probe.to)),
        ("sent_us", Column::Floats(sent_us)),
        ("rtt_us", Column::Floats(rtt_us)),
    ];
    Some(Table { name: "probes", columns })
}
