//! The packets that a scenario records: a row for each frame that crosses a link, or is lost.

use std::sync::Arc;

use clearway_proto::fastpass::fcp::header::MAX_BYTES;
use clearway_proto::fastpass::fcp::Packet;
use clearway_proto::transport::Ack;

use super::loss::{Lost, Reason};
use super::parcels::{Parcel, Parcels, Said};
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Meta};
use crate::model::Packets;
use crate::net::pfc::PAUSE_BYTES;

/// The conversation of a PAUSE, which is of none.
pub const NO_CONVERSATION: u32 = u32::MAX;

/// The kind of a frame. THE ORDER IS THAT OF [`FRAME_KINDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameKind {
    /// A data packet of a flow.
    Data,
    /// An acknowledgement.
    Ack,
    /// A data packet whose payload a switch has cut off.
    Header,
    /// A receiver's answer to such a header.
    Nack,
    /// A congestion notification packet.
    Cnp,
    /// Credit that a receiver grants.
    Credit,
    /// A packet that measures a path.
    Probe,
    /// The answer to a probe.
    Echo,
    /// Fastpass: a request of an endpoint.
    Request,
    /// Fastpass: timeslots that an arbiter allocates.
    Allocation,
    /// Fastpass: an arbiter and an endpoint begin anew.
    Reset,
    /// Fastpass: an arbiter lives.
    Watchdog,
    /// Fastpass: an endpoint is to try links.
    Trial,
    /// Fastpass: the result of a trial.
    Answer,
    /// Flow control: a class is paused.
    Pause,
    /// Flow control: a class may go on.
    Resume,
}

/// The names of the kinds in tables, IN THEIR ORDER.
pub const FRAME_KINDS: [&str; 16] = [
    "data",
    "ack",
    "header",
    "nack",
    "cnp",
    "credit",
    "probe",
    "echo",
    "request",
    "allocation",
    "reset",
    "watchdog",
    "trial",
    "answer",
    "pause",
    "resume",
];
const _: () = assert!(FRAME_KINDS.len() == FrameKind::Resume as usize + 1);

/// Bytes of a control packet that are kept in a piece, each of which counts as a row to the limit.
pub const PIECE_BYTES: usize = 64;

/// A frame at a link, as it is written down while the run goes on. Rows are ordered by time, then link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FrameRow {
    /// The instant at which its last bit arrived at the link's end, in picoseconds; of a PAUSE that at which it took effect, and of
    /// a lost frame that of the loss.
    pub time: u64,
    /// The link.
    pub link: u32,
    /// The reason why it was lost; `None` if it was not.
    pub lost: Option<Reason>,
    /// The kind of the frame.
    pub kind: FrameKind,
    /// The class of a PAUSE; of other frames the plan knows it.
    pub class: u8,
    /// Its conversation: a flow, a probe, or two agents of Fastpass.
    pub conversation: u32,
    /// The sequence number of a data packet, or of the one that this is about; 0 where there is none.
    pub seq: u32,
    /// The first packet that has not arrived, in an acknowledgement; what has been granted, in credit.
    pub cumulative: u32,
    /// The time that a receiver's processor took to answer, in microseconds.
    pub remote_queuing_us: u32,
    /// The packets that have arrived beyond `cumulative`, a bit each.
    pub sack: u64,
    /// The instant at which its sender gave a data packet out, or that of the packet that this answers; of a PAUSE how long it
    /// holds. In picoseconds.
    pub stamp: u64,
    /// Size, hops and flags.
    pub meta: u32,
    /// The bytes of a control packet of Fastpass, as they are on the wire behind its IP header; none of other frames.
    pub control: Box<[u8]>,
}

impl FrameRow {
    /// Size, hops and flags.
    pub fn meta(&self) -> Meta {
        Meta(self.meta)
    }

    /// Returns the pieces of a control packet.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.control.chunks(PIECE_BYTES)
    }

    /// Returns for how many rows this one counts to the limit: one, and one more for each piece but the first.
    pub(super) fn weight(&self) -> u64 {
        self.pieces().len().max(1) as u64
    }
}

/// The choice of packets, in a form in which it is quick to ask whether a frame is one of them.
#[derive(Debug)]
pub(super) struct Wanted {
    packets: Packets,
    /// Whether each link is chosen; empty where all are.
    links: Vec<bool>,
}

impl Wanted {
    /// Returns a choice of packets for a network of this many links.
    pub fn new(packets: &Packets, links: u32) -> Wanted {
        let mut marked = Vec::new();
        if let Some(wanted) = &packets.links {
            marked.resize(links as usize, false);
            for &link in wanted {
                marked[link as usize] = true;
            }
        }
        Wanted { packets: packets.clone(), links: marked }
    }

    fn holds(&self, time: u64, link: u32, conversation: u32) -> bool {
        let Packets { flows, from, until, .. } = &self.packets;
        let within = (from.as_ps()..until.as_ps()).contains(&time);
        let crosses = self.links.get(link as usize).is_none_or(|&wanted| wanted);
        let of_flows = |flows: &Vec<std::ops::Range<u32>>| flows.iter().any(|of| of.contains(&conversation));
        within && crosses && flows.as_ref().is_none_or(of_flows)
    }
}

/// The rows that a domain has written down. There may be more than the limit, by what happens in a window, so that the first of
/// all domains are among them.
#[derive(Debug)]
pub struct Capture {
    wanted: Arc<Wanted>,
    /// The rows, in the order of their windows.
    pub(super) rows: Vec<FrameRow>,
    /// The sum of their weights.
    weight: u64,
    /// The limit was reached in an earlier window.
    is_full: bool,
    /// A frame has no row, as the limit was reached.
    pub(super) misses_some: bool,
}

impl Capture {
    pub(super) fn new(wanted: Arc<Wanted>) -> Capture {
        Capture { wanted, rows: Vec::new(), weight: 0, is_full: false, misses_some: false }
    }

    /// A window begins. What happens in it comes after all that has a row.
    pub(super) fn begin_window(&mut self) {
        self.is_full = self.weight >= self.wanted.packets.limit;
    }

    /// A frame arrives at a node.
    pub(super) fn note_arrival(&mut self, plan: &Plan, event: &Event, parcels: &Parcels) {
        let (time, link) = (event.time, event.id());
        self.note(plan, &event.frame(), (time, link, None), parcels);
    }

    /// A frame is lost.
    pub(super) fn note_loss(&mut self, plan: &Plan, frame: &Frame, lost: Lost, parcels: &Parcels) {
        self.note(plan, frame, (lost.at, lost.link, Some(lost.reason)), parcels);
    }

    fn note(
        &mut self,
        plan: &Plan,
        frame: &Frame,
        (time, link, lost): (u64, u32, Option<Reason>),
        parcels: &Parcels,
    ) {
        let conversation = plan.routes.conversation(frame.route());
        if !self.wanted.holds(time, link, conversation) {
            return;
        }
        let Told { kind, seq, cumulative, sack, remote_queuing_us, control } =
            told(plan, frame, conversation, parcels);
        self.add(FrameRow {
            time,
            link,
            lost,
            kind,
            class: 0,
            conversation,
            seq,
            cumulative,
            remote_queuing_us,
            sack,
            stamp: frame.stamp,
            meta: frame.meta.0,
            control,
        });
    }

    /// A PAUSE or a RESUME takes effect.
    pub(super) fn note_pause(&mut self, event: &Event) {
        let (time, link) = (event.time, event.id());
        if !self.wanted.holds(time, link, NO_CONVERSATION) {
            return;
        }
        self.add(FrameRow {
            time,
            link,
            lost: None,
            kind: if event.stamp == 0 { FrameKind::Resume } else { FrameKind::Pause },
            class: event.route_seq as u8,
            conversation: NO_CONVERSATION,
            seq: 0,
            cumulative: 0,
            remote_queuing_us: 0,
            sack: 0,
            stamp: event.stamp,
            meta: Meta::new(PAUSE_BYTES, 0).crossed().0,
            control: Box::default(),
        });
    }

    fn add(&mut self, row: FrameRow) {
        if self.is_full {
            self.misses_some = true;
        } else {
            self.weight += row.weight();
            self.rows.push(row);
        }
    }
}

/// The contents of a frame.
struct Told {
    kind: FrameKind,
    seq: u32,
    cumulative: u32,
    sack: u64,
    remote_queuing_us: u32,
    control: Box<[u8]>,
}

impl Told {
    fn only(kind: FrameKind, seq: u32) -> Told {
        Told { kind, seq, cumulative: 0, sack: 0, remote_queuing_us: 0, control: Box::default() }
    }

    fn ack(ack: &Ack) -> Told {
        let kind = if ack.is_notification() { FrameKind::Cnp } else { FrameKind::Ack };
        let Ack { seq, cumulative, sack, remote_queuing_us, .. } = *ack;
        Told { cumulative, sack, remote_queuing_us, ..Told::only(kind, seq) }
    }
}

/// Returns the contents of a frame.
fn told(plan: &Plan, frame: &Frame, conversation: u32, parcels: &Parcels) -> Told {
    let is_ack = frame.meta.contains(Meta::ACK);
    if conversation as usize >= plan.specs.len() && !frame.meta.contains(Meta::POOLED) {
        return Told::only(if is_ack { FrameKind::Echo } else { FrameKind::Probe }, frame.seq());
    }
    let of_data = if frame.meta.trimmed_after().is_some() { FrameKind::Header } else { FrameKind::Data };
    if !frame.meta.contains(Meta::POOLED) {
        // Such an acknowledgement says that all up to its packet has arrived.
        let cumulative = frame.seq().wrapping_add(1);
        let ack = || Told { cumulative, ..Told::only(FrameKind::Ack, frame.seq()) };
        return if is_ack { ack() } else { Told::only(of_data, frame.seq()) };
    }
    let said = match parcels.at(frame.seq()) {
        Parcel::Ack(ack) => return Told::ack(ack),
        Parcel::Control(packet) => {
            return Told { control: bytes_of_control(packet), ..Told::only(kind_of_control(packet), 0) };
        }
        Parcel::Nack(nack) => {
            let remote_queuing_us = nack.remote_queuing_us;
            return Told { remote_queuing_us, ..Told::only(FrameKind::Nack, nack.seq) };
        }
        Parcel::Pull(granted) => {
            return Told { cumulative: *granted as u32, ..Told::only(FrameKind::Credit, 0) };
        }
        Parcel::Trimmed(seq) => return Told::only(of_data, *seq),
        Parcel::Asking(asking) => return Told::only(of_data, asking.seq),
        Parcel::Slotted(slotted) => &slotted.1,
        Parcel::Told(told) => &told.said,
    };
    match said {
        Said::Seq(seq) => Told::only(of_data, *seq),
        Said::Ack(ack) => Told::ack(ack),
    }
}

fn bytes_of_control(packet: &Packet) -> Box<[u8]> {
    let mut buffer = [0; MAX_BYTES];
    let length = packet.encode(&mut buffer).expect("agents send what can be written");
    buffer[..length].into()
}

fn kind_of_control(packet: &Packet) -> FrameKind {
    match packet {
        Packet::Request(_) => FrameKind::Request,
        Packet::Allocation(_) => FrameKind::Allocation,
        Packet::Reset(_) => FrameKind::Reset,
        Packet::Watchdog(_) => FrameKind::Watchdog,
        Packet::Trial(_) => FrameKind::Trial,
        Packet::Answer(_) => FrameKind::Answer,
    }
}
