//! What is written down of frames as a run goes on, and of the links that they cross: the journals of flows that are to be explained,
//! and the packets that a scenario records.
//!
//! A run that asks for neither has no notes. With notes, each window's events are looked through before they happen, as every arrival
//! is among them; nothing is asked as a frame goes through a port.

use std::collections::BTreeMap;

use clearway_proto::units::{Bytes, Rate};

use super::capture::Capture;
use super::journal::{Crossing, Hop, Intervals, Journal};
use super::parcels::Parcels;
use super::plan::Plan;
use super::simulator::Simulation;
use crate::engine::event::{Event, Frame, Kind};
use crate::net::scheduling::{only, ClassSet};

/// A link has another rate from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateChange {
    /// The link.
    pub link: u32,
    /// The rate.
    pub rate: Rate,
    /// The instant in picoseconds at which the frame has left that still leaves at the old rate; that of the change, if there is none.
    pub until: u64,
}

/// The reason why a frame was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// A port had no room for it.
    NoRoom = 1,
    /// The link lost or damaged it, by a `[[fault]]`.
    OnLink = 2,
    /// It waited for a link that died, or in a relay that failed.
    Dead = 3,
    /// A switch knew no way for it around links that are dead.
    NoWay = 4,
    /// It had arrived, and the receive queue of its host was full.
    AtHost = 5,
}

/// The loss of a frame: when in picoseconds, the link that it was to cross, or of one that had arrived has crossed, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The instant in picoseconds; of a frame that a link loses that at which it begins to leave.
    pub at: u64,
    /// The link that it was to cross, or of a frame that had arrived the one that it came over.
    pub link: u32,
    /// The reason.
    pub reason: Reason,
}

/// The notes of a domain.
#[derive(Debug, Default)]
pub struct Notes {
    /// What is written down of flows that are to be explained.
    pub(super) journal: Option<Journal>,
    /// The packets that are recorded.
    pub(super) capture: Option<Capture>,
    /// The changes of links' rates.
    pub(super) rates: Vec<RateChange>,
}

impl Notes {
    /// A window begins, in which this will happen.
    pub(super) fn note_window<'a>(
        &mut self,
        plan: &Plan,
        events: impl Iterator<Item = &'a Event>,
        parcels: &Parcels,
    ) {
        if let Some(capture) = &mut self.capture {
            capture.begin_window();
        }
        for event in events {
            if event.is_arrival() {
                if let Some(journal) = &mut self.journal {
                    journal.note_arrival(plan, event, parcels);
                }
                if let Some(capture) = &mut self.capture {
                    capture.note_arrival(plan, event, parcels);
                }
            } else if let (Kind::Pause, Some(capture)) = (event.kind(), &mut self.capture) {
                capture.note_pause(event);
            }
        }
    }

    /// A frame is lost. What does not fit it is still in the pool.
    pub(super) fn note_loss(&mut self, plan: &Plan, frame: &Frame, lost: Lost, parcels: &Parcels) {
        if let Some(capture) = &mut self.capture {
            capture.note_loss(plan, frame, lost, parcels);
        }
    }

    /// Classes of the port of this link are paused from now on, and the others are not.
    pub(super) fn note_pauses(&mut self, now: u64, link: u32, paused: ClassSet) {
        if let Some(journal) = &mut self.journal {
            journal.note_pauses(now, link, paused);
        }
    }

    /// A link has another rate.
    pub(super) fn note_rate(&mut self, change: RateChange) {
        self.rates.push(change);
    }

    /// A flow is complete with this packet.
    pub(super) fn note_completion(&mut self, flow: u32, frame: &Frame) {
        if let Some(journal) = &mut self.journal {
            journal.note_completion(flow, frame);
        }
    }
}

impl Simulation {
    /// The notes of all domains; none where nothing is written down.
    pub(super) fn notes(&self) -> impl Iterator<Item = &Notes> {
        self.domains.iter().filter_map(|domain| domain.out.notes.as_deref())
    }
}

/// The links of a network: what happened to them in a run.
pub(super) struct Links<'a> {
    simulation: &'a Simulation,
    /// The changes of each link whose rate changed.
    rates: BTreeMap<u32, Vec<RateChange>>,
    /// The changes of the classes that are paused at each link's port.
    pauses: BTreeMap<u32, Vec<(u64, ClassSet)>>,
}

impl Links<'_> {
    /// The links of a simulation, as its notes have them.
    pub(super) fn of(simulation: &Simulation) -> Links<'_> {
        let (mut rates, mut pauses) = (BTreeMap::new(), BTreeMap::new());
        for notes in simulation.notes() {
            for change in &notes.rates {
                rates.entry(change.link).or_insert_with(Vec::new).push(*change);
            }
            for &(from, link, paused) in notes.journal.iter().flat_map(|journal| &journal.pauses) {
                pauses.entry(link).or_insert_with(Vec::new).push((from, paused));
            }
        }
        Links { simulation, rates, pauses }
    }

    /// Returns when a frame of this many bytes that arrived then over a link had begun to leave, and when it had left.
    pub(super) fn sending(&self, link: u32, arrived: u64, size: u32) -> (u64, u64) {
        let of = self.simulation.graph().link(link);
        let ended = arrived - of.delay.as_ps();
        let changes = self.rates.get(&link).map_or(&[][..], Vec::as_slice);
        // A frame leaves at the rate at which it began.
        let latest = changes.iter().rev().find(|change| change.until < ended);
        let rate = latest.map_or(of.rate, |change| change.rate);
        (ended - rate.transmission(Bytes::new(size.into())).as_ps(), ended)
    }

    /// Returns when a frame of this many bytes that began to leave then over a link began, and when it had left.
    pub(super) fn beginning(&self, link: u32, begun: u64, size: u32) -> (u64, u64) {
        let changes = self.rates.get(&link).map_or(&[][..], Vec::as_slice);
        let latest = changes.iter().rev().find(|change| change.until <= begun);
        let rate = latest.map_or(self.simulation.graph().link(link).rate, |change| change.rate);
        (begun, begun + rate.transmission(Bytes::new(size.into())).as_ps())
    }

    pub(super) fn hop(&self, crossing: &Crossing, class: usize) -> Hop {
        let (begun, ended) = self.sending(crossing.link, crossing.arrived, crossing.size);
        Hop {
            link: crossing.link,
            begun,
            serialisation: ended - begun,
            arrived: crossing.arrived,
            paused: self.paused(crossing.link, class),
        }
    }

    /// Returns the times in which the port that feeds a link was not to send a class.
    fn paused(&self, link: u32, class: usize) -> Intervals {
        let (mut paused, mut since) = (Vec::new(), None);
        for &(at, classes) in self.pauses.get(&link).into_iter().flatten() {
            match (since, classes & only(class) != 0) {
                (None, true) => since = Some(at),
                (Some(from), false) => {
                    paused.push((from, at));
                    since = None;
                }
                _ => (),
            }
        }
        paused.extend(since.map(|from| (from, u64::MAX)));
        paused
    }
}
