//! Notes of a run on its frames and the links that they cross: the journals of flows that are to be explained,
//! and the packets that a scenario records.
//!
//! A run that asks for neither has no notes. With notes, each window's events are looked through before they happen, as every arrival
//! is among them; nothing is asked as a frame goes through a port.

use clearway_proto::units::Rate;

use super::capture::Capture;
use super::journal::Journal;
use super::loss::Lost;
use super::parcels::Parcels;
use super::plan::Plan;
use crate::engine::event::{Event, Frame, Kind};
use crate::net::scheduling::ClassSet;

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

/// The notes of a domain.
#[derive(Debug, Default)]
pub struct Notes {
    /// The journal of flows that are to be explained.
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
