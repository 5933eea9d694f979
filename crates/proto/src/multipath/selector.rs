//! The selectors that remember something, as one.

use super::feedback::PathFeedback;
use super::flowlet::Flowlet;
use super::mixed::Mixed;
use super::reps::Reps;
use crate::units::Time;

/// A selector that remembers something, of one flow.
#[derive(Clone, Debug)]
pub enum PathSelector {
    /// A path again that was good, or else one at random.
    Reps(Reps),
    /// A path again that was good, or else the next one in turn that was not marked.
    Mixed(Mixed),
    /// A path at random for packets that follow each other closely.
    Flowlet(Flowlet),
}

impl PathSelector {
    /// The path of the packet that leaves `now`, one of `paths`; `random` are bits drawn for it.
    pub fn choose(&mut self, now: Time, paths: u32, random: u64) -> u32 {
        match self {
            PathSelector::Reps(reps) => reps.choose(paths, random),
            PathSelector::Mixed(mixed) => mixed.choose(paths, random),
            PathSelector::Flowlet(flowlet) => flowlet.choose(now, paths, random),
        }
    }

    /// What an acknowledgement, processed `now`, says of the path of its packet.
    pub fn handle_feedback(&mut self, now: Time, path: u32, feedback: PathFeedback) {
        match self {
            PathSelector::Reps(reps) => reps.handle_feedback(now, path, feedback),
            PathSelector::Mixed(mixed) => mixed.handle_feedback(path, feedback),
            PathSelector::Flowlet(_) => (),
        }
    }

    /// The retransmission timer ran out: a packet is lost, on which path nobody knows.
    pub fn handle_timeout(&mut self, now: Time) {
        match self {
            PathSelector::Reps(reps) => reps.handle_timeout(now),
            PathSelector::Mixed(_) | PathSelector::Flowlet(_) => (),
        }
    }
}
