//! The journals of all domains, put together by flow that was watched.

use std::collections::BTreeMap;
use std::sync::Arc;

use clearway_proto::units::{Bytes, Time};

use super::journal::{Completion, Crossing, FlowJournal, Hop, Intervals, Journal, RateChange, Watched};
use super::plan::sized;
use super::simulator::Simulation;
use crate::net::scheduling::{only, ClassSet};

impl Simulation {
    /// Has these flows written down from now on, which is before the first event.
    pub fn watch(&mut self, flows: &[u32]) {
        assert!(self.time == Time::ZERO, "flows are watched from their beginning");
        let mut flows = flows.to_vec();
        flows.sort_unstable();
        flows.dedup();
        let specs = &self.plan.specs;
        flows.retain(|&flow| specs.get(flow as usize).is_some_and(|spec| sized(spec).is_some()));
        let mut nics: Vec<u32> =
            flows.iter().map(|&flow| self.plan.graph.nic(specs[flow as usize].from)).collect();
        nics.sort_unstable();
        nics.dedup();
        for &flow in &flows {
            let place = self.plan.senders[flow as usize];
            let end = &mut self.domains[place.domain as usize].hosts.senders[place.at as usize];
            end.sender.keep_log();
        }
        let watched = Arc::new(Watched { flows, nics });
        for domain in &mut self.domains {
            domain.out.journal = Some(Box::new(Journal::new(Arc::clone(&watched))));
        }
    }

    /// Returns what is known of each watched flow that is complete, by flow; nothing if there was no room for all of it.
    pub fn journals(&self) -> Option<Vec<FlowJournal>> {
        let journals: Vec<&Journal> =
            self.domains.iter().filter_map(|domain| domain.out.journal.as_deref()).collect();
        if journals.iter().any(|journal| journal.is_full()) {
            return None;
        }
        let links = Links::new(self, &journals);
        let mut crossings: BTreeMap<u32, Vec<Crossing>> = BTreeMap::new();
        for crossing in journals.iter().flat_map(|journal| &journal.crossings) {
            crossings.entry(crossing.flow).or_default().push(*crossing);
        }
        let mut completions: Vec<&Completion> =
            journals.iter().flat_map(|journal| &journal.completions).collect();
        completions.sort_unstable_by_key(|completion| completion.flow);
        let of = |last: &&Completion| self.journal_of(last, &crossings[&last.flow], &links, &journals);
        Some(completions.iter().map(of).collect())
    }

    fn journal_of(
        &self,
        last: &Completion,
        crossings: &[Crossing],
        links: &Links,
        journals: &[&Journal],
    ) -> FlowJournal {
        let (flow, spec) = (last.flow, &self.plan.specs[last.flow as usize]);
        let nic = self.plan.graph.nic(spec.from);
        let log = self.sender(flow).sender.log().expect("the sender of a watched flow has a log");
        let arrived: BTreeMap<(u32, u64), &Crossing> = crossings
            .iter()
            .filter(|crossing| crossing.link == nic)
            .map(|crossing| ((crossing.seq, crossing.stamp), crossing))
            .collect();
        let overhead = self.plan.makers[spec.transport as usize].overhead;
        let own = log.sent.iter().map(|sent| {
            let (begun, ended) = match arrived.get(&(sent.seq, sent.at.as_ps())) {
                Some(crossing) => links.sending(nic, crossing.arrived, crossing.size),
                // Its NIC's link has lost it. It left when it was given out, as at most NICs.
                None => links.beginning(nic, sent.at.as_ps(), sent.payload + overhead),
            };
            (begun, ended, sent.again)
        });
        let own = own.collect();
        let of_others = journals.iter().flat_map(|journal| &journal.departures);
        let others = of_others.filter(|departure| departure.link == nic && departure.conversation != flow);
        let others = others.map(|departure| links.sending(nic, departure.arrived, departure.size)).collect();
        let class = self.plan.class_of_data(flow);
        let of_last = |crossing: &&Crossing| crossing.seq == last.seq && crossing.stamp == last.stamp;
        let mut journey: Vec<Hop> =
            crossings.iter().filter(of_last).map(|crossing| links.hop(crossing, class)).collect();
        journey.sort_unstable_by_key(|hop| hop.arrived);
        FlowJournal {
            flow,
            start: spec.start,
            completed: self.receiver(flow).completed_at,
            last: *last,
            log,
            own,
            others,
            journey,
            takes_slots: self.plan.takes_slots(flow),
            asks_for_credit: self.sender(flow).asks(),
        }
    }
}

/// The links of a network: what happened to them in a run.
struct Links<'a> {
    simulation: &'a Simulation,
    /// The changes of each link whose rate changed.
    rates: BTreeMap<u32, Vec<RateChange>>,
    /// The changes of the classes that are paused at each link's port.
    pauses: BTreeMap<u32, Vec<(u64, ClassSet)>>,
}

impl Links<'_> {
    fn new<'a>(simulation: &'a Simulation, journals: &[&Journal]) -> Links<'a> {
        let (mut rates, mut pauses) = (BTreeMap::new(), BTreeMap::new());
        for journal in journals {
            for change in &journal.rates {
                rates.entry(change.link).or_insert_with(Vec::new).push(*change);
            }
            for &(from, link, paused) in &journal.pauses {
                pauses.entry(link).or_insert_with(Vec::new).push((from, paused));
            }
        }
        Links { simulation, rates, pauses }
    }

    /// Returns when a frame of this many bytes that arrived then over a link had begun to leave, and when it had left.
    fn sending(&self, link: u32, arrived: u64, size: u32) -> (u64, u64) {
        let of = self.simulation.graph().link(link);
        let ended = arrived - of.delay.as_ps();
        let changes = self.rates.get(&link).map_or(&[][..], Vec::as_slice);
        // A frame leaves at the rate at which it began.
        let latest = changes.iter().rev().find(|change| change.until < ended);
        let rate = latest.map_or(of.rate, |change| change.rate);
        (ended - rate.transmission(Bytes::new(size.into())).as_ps(), ended)
    }

    /// Returns when a frame of this many bytes that began to leave then over a link began, and when it had left.
    fn beginning(&self, link: u32, begun: u64, size: u32) -> (u64, u64) {
        let changes = self.rates.get(&link).map_or(&[][..], Vec::as_slice);
        let latest = changes.iter().rev().find(|change| change.until <= begun);
        let rate = latest.map_or(self.simulation.graph().link(link).rate, |change| change.rate);
        (begun, begun + rate.transmission(Bytes::new(size.into())).as_ps())
    }

    fn hop(&self, crossing: &Crossing, class: usize) -> Hop {
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
