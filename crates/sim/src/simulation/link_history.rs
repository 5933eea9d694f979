//! The history of links in a run, as its notes have it: rates and PAUSEs, from which follows when a frame that has arrived had begun to
//! leave.

use std::collections::BTreeMap;

use clearway_proto::units::Bytes;

use super::journal::{Crossing, Hop, Intervals};
use super::notes::{Notes, RateChange};
use super::simulator::Simulation;
use crate::net::scheduling::{only, ClassSet};

impl Simulation {
    /// The notes of all domains; none where nothing is written down.
    pub(super) fn notes(&self) -> impl Iterator<Item = &Notes> {
        self.domains.iter().filter_map(|domain| domain.out.notes.as_deref())
    }
}

/// The links of a network with their history.
pub(super) struct Links<'a> {
    simulation: &'a Simulation,
    /// The changes of each link whose rate changed.
    rates: BTreeMap<u32, Vec<RateChange>>,
    /// The changes of the classes that are paused at each link's port.
    pauses: BTreeMap<u32, Vec<(u64, ClassSet)>>,
}

impl Links<'_> {
    /// Collects the history of a simulation's links from its notes.
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
