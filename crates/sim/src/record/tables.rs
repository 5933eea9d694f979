//! The tables of a run, made at its end.

use std::collections::BTreeMap;

use super::definitions::table;
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

table! {
    /// A row for each flow of the scenario, in the order of their numbers; also for those that the run ended
    /// before.
    Flows as "flows" {
        /// The flow's number, from 0 on.
        flow: Nothing,
        /// The name of its transport.
        transport: Nothing,
        /// The number of the host that sends.
        from: Nothing,
        /// The number of the host that receives.
        to: Nothing,
        /// When it starts.
        start_us: Nothing,
        /// Payload that it has to carry; 0 for a flow without a size.
        bytes: Nothing,
        /// Packets that it sent again.
        retransmissions: Run,
        /// Payload that its receiver took, each byte counted once, in whatever order they came.
        delivered_bytes: Run,
        /// Payload that its receiver took, each byte counted once, over the length of the interval.
        goodput_gbps: Measured,
        /// Completion time: from the start to when the receiving host's stack has taken the last byte that
        /// was missing, with every wait between, for a NIC, a window, a retransmission or a timeslot; NaN for
        /// a flow that has no size or is not complete.
        fct_us: Run,
        /// The least completion time that it could have alone in the network, over all the paths that it may
        /// take: from the first bit on its host's link to the last bit at its destination, without any host's
        /// work and without waiting for timeslots; NaN for a flow without a size.
        ideal_us: Nothing,
        /// Completion time over ideal completion time; NaN where there is none.
        slowdown: Run,
        /// Time from its start to the end of the run, for a flow with a size that had started and was not
        /// complete; NaN for all others.
        age_us: Run,
        /// What is in it: `data`, or of operations `writes`, `requests` for reads, or the `answers` to these.
        /// No such column where nothing reads.
        carries: Nothing,
    }
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
    let reads = specs.iter().any(|spec| spec.demand.part() == Some(Part::Answers));
    let carried = specs.iter().filter(|_| reads).map(|spec| carries(spec.demand.part()));
    let mut table = Flows {
        flow: integers(&|id| id as u64),
        transport: Column::Texts(transports),
        from: integers(&|id| u64::from(specs[id].from)),
        to: integers(&|id| u64::from(specs[id].to)),
        start_us: Column::Floats(specs.iter().map(|s| s.start.as_us_f64()).collect()),
        bytes: integers(&|id| measured.size(id as u32).unwrap_or(0)),
        retransmissions: integers(&|id| measured.retransmissions(id as u32)),
        delivered_bytes: integers(&payload),
        goodput_gbps: Column::Floats((0..fct.len()).map(gbps).collect()),
        ideal_us: Column::Floats(ideal),
        slowdown: Column::Floats(slowdown),
        age_us: Column::Floats(ages),
        carries: Column::Texts(carried.collect()),
        fct_us: Column::Floats(fct),
    }
    .table();
    if !reads {
        table.columns.pop();
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

table! {
    /// A row for each direction of each link, in the order of their numbers.
    Links as "links" {
        /// The link's name: the node that it comes from, `>`, and the node that it goes to.
        link: Nothing,
        /// Its rate.
        rate_gbps: Nothing,
        /// Its delay in this direction.
        delay_us: Nothing,
        /// Bytes that were put on the link over what its rate allows; PAUSEs of flow control are not counted,
        /// and of a frame in transmission what has left.
        utilisation: Measured,
        /// Frames whose transmission began: data, acknowledgements, probes and Fastpass's control packets,
        /// but not PAUSEs.
        frames: Measured,
        /// Bytes of these frames, with their headers and what the link adds to a frame.
        wire_bytes: Measured,
        /// Mean over time of the bytes that waited at the port that feeds the link, without the frame in
        /// transmission. A packet waits at its sender's transport and not at the NIC, until that asks for it.
        queue_mean_bytes: Measured,
        /// Most bytes at that port at once, with the frame in transmission; 0 where no frame ever had to
        /// wait.
        queue_peak_bytes: Run,
        /// Frames dropped as there was no room for them.
        drops: Measured,
        /// Frames that the port marked with ECN.
        marks: Measured,
        /// Frames lost on the link by a `[[fault]]`.
        fault_losses: Measured,
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
    Links {
        link: Column::Texts(names),
        rate_gbps: Column::Floats(graph.links().iter().map(|l| l.rate.as_bps() as f64 / 1e9).collect()),
        delay_us: Column::Floats(graph.links().iter().map(|l| l.delay.as_us_f64()).collect()),
        utilisation: floats(|l| l.utilisation),
        frames: integers(|l| l.frames),
        wire_bytes: integers(|l| l.wire_bytes),
        queue_mean_bytes: floats(|l| l.queue_mean_bytes),
        queue_peak_bytes: integers(|l| l.queue_peak_bytes),
        drops: integers(|l| l.drops),
        marks: integers(|l| l.marks),
        fault_losses: integers(|l| l.fault_losses),
    }
    .table()
}

table! {
    /// A row for each direction of each link and each traffic class of which it sent, dropped or marked
    /// anything in the measured interval. No such table without `[class.NAME]` tables.
    LinkClasses as "link_classes" {
        /// The link's name.
        link: Nothing,
        /// The class's name.
        class: Nothing,
        /// Frames of the class whose transmission began.
        frames: Measured,
        /// Bytes of these frames, with their headers and what the link adds to a frame.
        wire_bytes: Measured,
        /// Frames of the class dropped as there was no room for them.
        drops: Measured,
        /// Bytes of the frames that were dropped.
        dropped_bytes: Measured,
        /// Frames of the class that the port marked with ECN.
        marks: Measured,
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
    let [frames, wire_bytes, drops, dropped_bytes, marks] = counts.map(Column::Integers);
    let (link, class) = (Column::Texts(links), Column::Texts(classes));
    Some(LinkClasses { link, class, frames, wire_bytes, drops, dropped_bytes, marks }.table())
}

table! {
    /// The histogram of round-trip times: a row for each transport and bucket that is not empty, by transport
    /// and then from short to long.
    Rtt as "rtt" {
        /// The name of the transport.
        transport: Nothing,
        /// The largest time of the bucket. The smallest is less than one part in 256 below it.
        rtt_us: Nothing,
        /// Acknowledgements that arrived at their sender's transport, that long after the packet that they
        /// acknowledge was sent. A packet that waits for a window, for pacing or for a timeslot has not been
        /// sent.
        count: Measured,
    }
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
    Rtt {
        transport: Column::Texts(measured.transport_names(transport)),
        rtt_us: Column::Floats(rtt_us),
        count: Column::Integers(counts),
    }
    .table()
}

table! {
    /// A row for each host whose work takes time. No such table where all hosts are ideal.
    Hosts as "hosts" {
        /// The host's number.
        host: Nothing,
        /// Share of the interval in which its processor worked on frames that came and packets that left,
        /// without the time in which something else had it; 0 for hosts of the model `interrupts`, of which
        /// that is not known.
        utilisation: Measured,
        /// Frames that came and that its stack has taken.
        frames: Measured,
        /// Frames that came and for which its receive queue had no room.
        drops: Measured,
        /// Most bytes in its receive queue at once, with the frame in service.
        receive_queue_peak_bytes: Run,
    }
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
    let columns = Hosts {
        host: integers(&|host| u64::from(hosts[host])),
        utilisation: Column::Floats((0..hosts.len()).map(busy).collect()),
        frames: integers(&|host| processors[host].served_frames - then[host].served_frames),
        drops: integers(&|host| processors[host].dropped_frames - then[host].dropped_frames),
        receive_queue_peak_bytes: integers(&|host| whole[host].peak),
    };
    Some(columns.table())
}

table! {
    /// Histograms of what round-trip times are made of: a row for each transport, part and bucket that is not
    /// empty. No such table where all hosts are ideal.
    Delays as "delays" {
        /// The name of the transport.
        transport: Nothing,
        /// The part: `endpoint` is what of a round trip was spent in the two hosts, from NIC to the stack's end;
        /// `fabric` is the rest of it; `nic` is what a data packet spent in the host that received it.
        part: Nothing,
        /// The largest time of the bucket. The smallest is less than one part in 256 below it.
        delay_us: Nothing,
        /// Acknowledgements, or for `nic` data packets, that arrived and of which the part took so long.
        count: Measured,
    }
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
    let columns = Delays {
        transport: Column::Texts(measured.transport_names(transport)),
        part: Column::Texts(part.into_iter().collect()),
        delay_us: Column::Floats(us),
        count: Column::Integers(counts),
    };
    measured.simulation.processors().next().map(|_| columns.table())
}

table! {
    /// A row for each operation that was issued: first those that are complete, in the order of completion,
    /// then those that were open when the run ended, by flow. One that could not be issued, as too many were
    /// open, has none.
    Operations as "operations" {
        /// The flow that carries it from its initiator.
        flow: Nothing,
        /// Its number among those of the flow, from 0 on.
        operation: Nothing,
        /// The number of the host that issued it.
        initiator: Nothing,
        /// The number of the host that it was for.
        target: Nothing,
        /// Payload that it moves: what a write carries, or the answer to a read.
        bytes: Nothing,
        /// When it was issued, also if it had to wait for those before it.
        issued_us: Run,
        /// When its initiator knew that it was complete: a write when all of it is acknowledged, a read when
        /// its answer has arrived; NaN while it is open.
        completed_us: Run,
        /// Time between these two, with every wait; NaN while it is open.
        latency_us: Run,
        /// Time from its issue to the end of the run, if it was open then; NaN if it was complete.
        age_us: Run,
        /// 1 if it took, or has taken by the end of the run, longer than its deadline, and 0 if not or if it
        /// has none.
        failed: Run,
    }
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
    let columns = Operations {
        flow: integers(&|row| u64::from(row.flow)),
        operation: integers(&|row| u64::from(row.number)),
        initiator: integers(&|row| u64::from(spec(row).from)),
        target: integers(&|row| u64::from(spec(row).to)),
        bytes: integers(&|row| simulation.operation_bytes(row.flow).get()),
        issued_us: floats(&|row| row.issued.as_us_f64()),
        completed_us: floats(&|row| if_done(row, row.done.as_us_f64())),
        latency_us: floats(&|row| if_done(row, row.done.since(row.issued).as_us_f64())),
        age_us: floats(&|row| if row.done == Time::NEVER { age(row) } else { f64::NAN }),
        failed: integers(&|row| u64::from(simulation.is_late(row))),
    };
    Some(columns.table())
}

table! {
    /// A row for each `[[traffic]]` table of which something was under way when the run ended. No such table
    /// where nothing was.
    Unfinished as "unfinished" {
        /// The table's number, from 0 on.
        traffic: Nothing,
        /// Its flows with a size that had started and were not complete.
        flows: Run,
        /// The age of the oldest of these; 0 of none.
        oldest_flow_us: Run,
        /// Its operations that were issued in the measured interval and were open when the run ended.
        operations: Measured,
        /// The age of the oldest of these when the run ended; 0 of none.
        oldest_operation_us: Measured,
    }
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
    let columns = Unfinished {
        traffic: Column::Integers(rows.keys().map(|&table| u64::from(table)).collect()),
        flows: counts(0),
        oldest_flow_us: oldest(0),
        operations: counts(1),
        oldest_operation_us: oldest(1),
    };
    (!rows.is_empty()).then(|| columns.table())
}

table! {
    /// A row for each packet of each probe, by probe and then in the order of sending. No such table without
    /// `[[probe]]` tables.
    Probes as "probes" {
        /// The probe's number, from 0 on.
        probe: Nothing,
        /// The name of the node that probes.
        from: Nothing,
        /// The name of the node that answers.
        to: Nothing,
        /// When the packet was sent.
        sent_us: Run,
        /// Time from its sending until the answer came, by the clock of the node that probes; NaN where none
        /// came.
        rtt_us: Run,
    }
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
    let columns = Probes {
        probe: Column::Integers(numbers.iter().map(|&number| number.into()).collect()),
        from: names(|probe| probe.from),
        to: names(|probe| probe.to),
        sent_us: Column::Floats(sent_us),
        rtt_us: Column::Floats(rtt_us),
    };
    Some(columns.table())
}
