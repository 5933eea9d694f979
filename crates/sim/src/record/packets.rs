//! The packets that a scenario records: their table, and what the summary says of them.

use super::definitions::table;
use super::footprint::{class_text_bytes, link_text_bytes, text_bytes, NUMBER};
use super::measured::Measured;
use super::outcome::{Column, Table, Value};
use super::texts::Texts;
use crate::engine::event::Meta;
use crate::model::Scenario;
use crate::simulation::capture::{FrameKind, FrameRow, FRAME_KINDS, PIECE_BYTES};
use crate::simulation::footprint::packet_bytes;
use crate::simulation::loss::Reason;
use crate::simulation::PacketRecord;
use crate::topology::shape;

/// The ECN field of an IP header (RFC 3168, section 5): the sender's transport does not know ECN; it does; the packet was marked.
const NOT_ECT: u64 = 0;
const ECT_0: u64 = 2;
const CE: u64 = 3;

/// Returns the memory in bytes for a row of the table, and for what it is made of; and for one of the table of control packets, where there may be such.
pub fn packet_row_bytes(scenario: &Scenario) -> f64 {
    let shape = shape::of(&scenario.network.topology);
    let texts = ["allocation".len(), REASONS[1].len(), shape.longest_name(), shape.longest_name()];
    let has_arbiter = scenario.arbiters.is_some();
    let raw = packet_bytes(shape.hosts() as usize, has_arbiter);
    // Hexadecimal digits, as the simulator and as the Python package hold them.
    let piece = NUMBER + size_of::<String>() as f64 + 2.0 * PIECE_BYTES as f64 + text_bytes(2 * PIECE_BYTES);
    let control = if has_arbiter { piece } else { 0.0 };
    raw + control
        + NUMBER * 15.0
        + link_text_bytes(&*shape)
        + class_text_bytes(scenario)
        + texts.into_iter().map(text_bytes).sum::<f64>()
}

/// The words of the table for losses, by the number of the reason; none for frames that are not lost.
const REASONS: [&str; 6] = ["", "no room", "on the link", "dead", "no way", "at the host"];

table! {
    /// A row for each frame that crossed a link in the time and on the links of `[record.packets]`, and for each that was
    /// lost, by time and then by link. No such table without that one. It ends where its `limit` is reached; the summary then has
    /// `packets_until_us`.
    PacketTable as "packets" {
        /// The instant at which the frame's last bit arrived at the end of the link, in picoseconds. A PAUSE or RESUME has that at
        /// which it took effect, a frame that was dropped that of its drop, and one that a link lost that at which it began to leave.
        time_ps: Nothing,
        /// The instant at which the frame's first bit was put on the link, in picoseconds; a frame that was lost has `time_ps`.
        begun_ps: Nothing,
        /// The name of the link that the frame crossed. A frame that was lost has the link that it was to cross, or where it had arrived at its
        /// host, or no way was known for it, the one that it came over.
        link: Nothing,
        /// The node that the frame comes from: a host or an arbiter; a PAUSE comes from the link's beginning.
        from: Nothing,
        /// The node that the frame is for.
        to: Nothing,
        /// The kind of the frame: `data`, `ack`, `header` (data whose payload a switch cut off), `nack` (the answer to that),
        /// `cnp` (a congestion notification), `credit`, `probe`, `echo` (the answer to that), `pause`, `resume`, or of Fastpass
        /// `request`, `allocation`, `reset`, `watchdog`, `trial` or `answer`.
        kind: Nothing,
        /// The flow's number; NaN where the frame is of no flow.
        flow: Nothing,
        /// The sequence number of a data packet or probe, from 0 on, or of the packet that the frame answers; 0 where there is none.
        seq: Nothing,
        /// Payload of a data packet.
        payload_bytes: Nothing,
        /// Bytes of the frame on the wire, with headers and what the link adds.
        wire_bytes: Nothing,
        /// The name of the frame's class; empty where there are no classes.
        class: Nothing,
        /// The ECN field of the frame's IP header: 0 where its transport does not know ECN, 2 where it does, and 3 after a
        /// switch has marked it.
        ecn: Nothing,
        /// 1 of an acknowledgement or notification of a packet that was marked, and 0 of all else.
        echo: Nothing,
        /// 1 of a packet that ends a message, and of the acknowledgement that this caused; 0 of all else.
        last: Nothing,
        /// Links that the frame has crossed, with this one unless it was lost.
        hops: Nothing,
        /// The instant at which its sender gave the packet out, or the packet that the frame answers, in picoseconds: another
        /// transmission of the same packet has another time. A PAUSE has the time for which it holds here, and a RESUME 0.
        sent_ps: Nothing,
        /// The first packet that has not arrived, where the frame is an acknowledgement; all credit that was granted so far in units of 256
        /// bytes, where it is credit; and 0 where it is neither.
        cumulative: Nothing,
        /// The packets beyond `cumulative` that have arrived, where the frame is an acknowledgement: bit `i` for packet
        /// `cumulative + 1 + i`.
        sack: Nothing,
        /// The time that the packet waited in the receiving host, where the frame is an acknowledgement.
        remote_queuing_us: Nothing,
        /// The switches that the packet passed, where the frame is an acknowledgement.
        echoed_hops: Nothing,
        /// Empty, or why the frame was lost: `no room` at a port, `on the link` by a `[[fault]]`, `dead` where it
        /// waited for a link or relay that died, `no way` around dead links, `at the host` whose receive queue was full.
        lost: Nothing,
    }
}

table! {
    /// A row for each control packet of Fastpass in the table `packets`, in its order, and a further one for each further 64 bytes that such a
    /// packet has. No such table without an `[arbiter]` and `[record.packets]`.
    ControlTable as "control_packets" {
        /// The row of the packet in the table `packets`, from 0 on.
        packet: Nothing,
        /// At most 64 bytes of the packet behind its IPv4 header, in hexadecimal: those of FCP, the Fastpass control protocol.
        contents: Nothing,
    }
}

/// The packets of a run.
pub(super) struct Recorded(PacketRecord);

/// Returns the packets that were recorded; `None` if the scenario records none.
pub(super) fn record(measured: &Measured) -> Option<Recorded> {
    let packets = measured.scenario.record.packets.as_ref()?;
    Some(Recorded(measured.simulation.packet_record(packets.limit)))
}

impl Recorded {
    /// Returns figures for the summary: the number of packets, and the time of the last one if there were more.
    pub(super) fn figures(&self) -> Vec<(String, Value)> {
        let PacketRecord { rows, is_cut } = &self.0;
        let mut figures = vec![("packets".into(), Value::Integer(rows.len() as u64))];
        if let (true, Some(last)) = (*is_cut, rows.last()) {
            figures.push(("packets_until_us".into(), Value::Float(last.time as f64 / 1e6)));
        }
        figures
    }

    /// Makes the tables of the packets, and of what control packets hold.
    pub(super) fn tables(&self, measured: &Measured) -> Vec<Table> {
        let control = measured.scenario.arbiters.is_some().then(|| self.control_table());
        [self.table(measured)].into_iter().chain(control).collect()
    }

    fn control_table(&self) -> Table {
        let pieces =
            || (0..).zip(&self.0.rows).flat_map(|(at, row)| row.pieces().map(move |piece| (at, piece)));
        ControlTable {
            packet: Column::Integers(pieces().map(|(at, _)| at).collect()),
            contents: Column::Texts(pieces().map(|(_, piece)| hexadecimal(piece)).collect()),
        }
        .table()
    }

    /// Makes the table of the packets.
    fn table(&self, measured: &Measured) -> Table {
        let (simulation, rows) = (measured.simulation, &self.0.rows);
        let graph = simulation.graph();
        let integers = |value: &dyn Fn(&FrameRow) -> u64| Column::Integers(rows.iter().map(value).collect());
        let texts = |names: Vec<String>, row: &dyn Fn(&FrameRow) -> u32| {
            Column::Texts(Texts::new(names, rows.iter().map(row).collect()))
        };
        let nodes: Vec<String> = graph.nodes().iter().map(|node| node.name.clone()).collect();
        let ends = simulation.ends_of(rows);
        let classes = rows.iter().map(|row| simulation.class_of_row(row) as u32).collect();
        let flow = |row: &FrameRow| simulation.flow_of_row(row).map_or(f64::NAN, f64::from);
        PacketTable {
            time_ps: integers(&|row| row.time),
            begun_ps: Column::Integers(simulation.beginnings(rows)),
            link: texts(graph.link_names(), &|row| row.link),
            from: Column::Texts(Texts::new(nodes.clone(), ends.iter().map(|[from, _]| *from).collect())),
            to: Column::Texts(Texts::new(nodes, ends.iter().map(|[_, to]| *to).collect())),
            kind: texts(FRAME_KINDS.map(String::from).to_vec(), &|row| row.kind as u32),
            flow: Column::Floats(rows.iter().map(flow).collect()),
            seq: integers(&|row| row.seq.into()),
            payload_bytes: integers(&|row| simulation.payload_of_row(row).into()),
            wire_bytes: integers(&|row| row.meta().size().into()),
            class: Column::Texts(Texts::of_classes(measured.scenario, classes)),
            ecn: integers(&ecn),
            echo: integers(&|row| flag(row, Meta::ACK | Meta::CE)),
            last: integers(&|row| flag(row, Meta::LAST)),
            hops: integers(&|row| row.meta().hop().into()),
            sent_ps: integers(&|row| row.stamp),
            cumulative: integers(&|row| row.cumulative.into()),
            sack: integers(&|row| row.sack),
            remote_queuing_us: integers(&|row| row.remote_queuing_us.into()),
            echoed_hops: integers(&echoed_hops),
            lost: texts(REASONS.map(String::from).to_vec(), &|row| {
                row.lost.map_or(0, |why: Reason| why as u32)
            }),
        }
        .table()
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from_digit(u32::from(four), 16).expect("four bits are a digit");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn flag(row: &FrameRow, flags: u32) -> u64 {
    u64::from(row.meta().contains(flags))
}

/// The ECN field of a frame's IP header. Acknowledgements are not marked: their flag says that their packet was.
fn ecn(row: &FrameRow) -> u64 {
    match (row.meta().contains(Meta::ACK), row.meta().contains(Meta::CE), row.meta().contains(Meta::ECT)) {
        (false, true, _) => CE,
        (_, _, true) => ECT_0,
        _ => NOT_ECT,
    }
}

fn echoed_hops(row: &FrameRow) -> u64 {
    if row.kind == FrameKind::Ack {
        row.meta().echoed_hops().into()
    } else {
        0
    }
}
