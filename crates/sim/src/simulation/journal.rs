//! Journals of the flows that are to be explained: the arrivals of their packets at each node, all other frames that their NICs
//! sent, and the instants at which links were paused or got another rate.
//!
//! A run without such flows has no journal. See `notes`.

use std::sync::Arc;

use clearway_proto::units::Time;

use super::parcels::Parcels;
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Meta};
use crate::net::scheduling::ClassSet;
use crate::schemes::SendingLog;

/// Most entries of a domain's journal, of about 40 bytes each. When there are more, what is watched cannot be explained.
const MOST_ENTRIES: usize = 1 << 25;

/// The flows that are to be explained, and the links of their NICs, both in rising order.
#[derive(Debug)]
pub(super) struct Watched {
    pub flows: Vec<u32>,
    pub nics: Vec<u32>,
}

/// A packet of a watched flow that has crossed a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The flow.
    pub flow: u32,
    /// The packet's sequence number.
    pub seq: u32,
    /// The instant at which its sender gave the packet out, in picoseconds: another transmission has another time.
    pub stamp: u64,
    /// The link.
    pub link: u32,
    /// Bytes on the wire.
    pub size: u32,
    /// The instant at which its last bit arrived at the link's end, in picoseconds.
    pub arrived: u64,
}

/// A frame of another conversation that left the NIC of a watched flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The conversation of a data frame; `u32::MAX` of an acknowledgement.
    pub conversation: u32,
    /// The NIC's link.
    pub link: u32,
    /// Bytes on the wire.
    pub size: u32,
    /// The instant at which its last bit arrived at the link's end, in picoseconds.
    pub arrived: u64,
}

/// The packet with which a watched flow was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The flow.
    pub flow: u32,
    /// The packet's sequence number.
    pub seq: u32,
    /// The instant at which its sender gave the packet out, in picoseconds.
    pub stamp: u64,
}

/// The entries that a domain has written down.
#[derive(Debug)]
pub struct Journal {
    watched: Arc<Watched>,
    /// Packets of watched flows.
    pub(super) crossings: Vec<Crossing>,
    /// Other frames that left the NICs of watched flows.
    pub(super) departures: Vec<Departure>,
    /// Changes of the classes that are paused: the instant in picoseconds, the port's link, and all that are paused from then on.
    pub(super) pauses: Vec<(u64, u32, ClassSet)>,
    /// The watched flows that are complete.
    pub(super) completions: Vec<Completion>,
}

impl Journal {
    pub(super) fn new(watched: Arc<Watched>) -> Journal {
        Journal {
            watched,
            crossings: Vec::new(),
            departures: Vec::new(),
            pauses: Vec::new(),
            completions: Vec::new(),
        }
    }

    /// Returns whether there was no room for all that is to be written down.
    pub(super) fn is_full(&self) -> bool {
        self.crossings.len() + self.departures.len() + self.pauses.len() >= MOST_ENTRIES
    }

    /// A frame arrives at a node.
    pub(super) fn note_arrival(&mut self, plan: &Plan, event: &Event, parcels: &Parcels) {
        if self.is_full() {
            return;
        }
        let (frame, link, arrived) = (event.frame(), event.id(), event.time);
        let (is_ack, size) = (frame.meta.contains(Meta::ACK), frame.meta.size());
        let conversation = if is_ack { u32::MAX } else { plan.routes.conversation(frame.route()) };
        if self.watched.flows.binary_search(&conversation).is_ok() {
            let pooled = frame.meta.contains(Meta::POOLED);
            let seq = if pooled { parcels.seq_of_packet(frame.seq()) } else { frame.seq() };
            let crossing = Crossing { flow: conversation, seq, stamp: frame.stamp, link, size, arrived };
            self.crossings.push(crossing);
        }
        if self.watched.nics.binary_search(&link).is_ok() {
            self.departures.push(Departure { conversation, link, size, arrived });
        }
    }

    /// Classes of the port of this link are paused from now on, and the others are not.
    pub(super) fn note_pauses(&mut self, now: u64, link: u32, paused: ClassSet) {
        if !self.is_full() {
            self.pauses.push((now, link, paused));
        }
    }

    /// A flow is complete with this packet.
    pub(super) fn note_completion(&mut self, flow: u32, frame: &Frame) {
        if self.watched.flows.binary_search(&flow).is_ok() {
            self.completions.push(Completion { flow, seq: frame.seq(), stamp: frame.stamp });
        }
    }
}

/// Times between two instants each, in picoseconds.
pub type Intervals = Vec<(u64, u64)>;

/// The journal of one flow that was watched and is complete.
#[derive(Clone, Debug)]
pub struct FlowJournal {
    /// The flow.
    pub flow: u32,
    /// The instant at which it started.
    pub start: Time,
    /// The instant at which it was complete.
    pub completed: Time,
    /// The packet with which it was complete.
    pub last: Completion,
    /// The log of its sender.
    pub log: SendingLog,
    /// The times in which its NIC sent packets of it, each with whether the packet had been sent before.
    pub own: Vec<(u64, u64, bool)>,
    /// The times in which its NIC sent anything else.
    pub others: Intervals,
    /// The links that the last packet crossed, in their order.
    pub journey: Vec<Hop>,
    /// Its packets wait for timeslots.
    pub takes_slots: bool,
    /// Its receiver grants credit.
    pub asks_for_credit: bool,
}

/// The way of a packet over one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link.
    pub link: u32,
    /// The instant at which its first bit left, in picoseconds.
    pub begun: u64,
    /// The time that it took to leave, in picoseconds.
    pub serialisation: u64,
    /// The instant at which its last bit arrived at the link's end, in picoseconds.
    pub arrived: u64,
    /// The times in which the port that feeds the link was not to send its class.
    pub paused: Intervals,
}
