//! The tables of a run, made at its end: here those about flows, links and round-trip times.

mod hosts;
mod operations;

pub(super) use hosts::{delays, hosts, probes, Delays, Hosts, Probes};
pub(super) use operations::{operations, unfinished, Operations, Unfinished};

use super::definitions::table;
use super::footprint::{link_text_bytes, text_bytes, NUMBER};
use super::measured::{LinkFigures, Measured};
use super::outcome::{Column, Table};
use super::texts::Texts;
use crate::simulation::OperationRecord;
use crate::topology::shape::Shape;
use crate::traffic::Part;
use clearway_proto::units::Span;

const GBPS: f64 = 8.0 / 1e9;

/// Returns the memory in bytes for a row of [`flows`], if the transport's name has `name` characters.
pub fn flow_row_bytes(name: usize) -> f64 {
    NUMBER * 12.0 + text_bytes(name) + text_bytes("requests".len())
}

/// Memory in bytes for a row of [`links`], and for the figures that it is made of.
pub fn link_row_bytes(shape: &dyn Shape) -> f64 {
    link_text_bytes(shape) + NUMBER * 11.0 + size_of::<LinkFigures>() as f64
}

/// Returns the memory in bytes for a row of [`link_classes`], if the class's name has `name` characters.
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
        /// Its content: `data`, or of operations `writes`, `requests` for reads, or the `answers` to these.
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
        /// Packets of which the port cut the payload off, as there was no room for it. No such column where no
        /// switch has `overflow = "trim"`.
        trims: Measured,
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
    let mut table = Links {
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
        trims: integers(|l| l.trims),
    }
    .table();
    if !measured.scenario.switches.any_trimming() {
        table.columns.pop();
    }
    table
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
/// time; `None` where there are no classes.
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
