//! The journals of all domains, put together by flow that was watched.

use std::collections::BTreeMap;
use std::sync::Arc;

use clearway_proto::units::Time;

use super::journal::{Completion, Crossing, FlowJournal, Hop, Journal, Watched};
use super::link_history::Links;
use super::plan::sized;
use super::simulator::Simulation;

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
            domain.out.notes.get_or_insert_default().journal = Some(Journal::new(Arc::clone(&watched)));
        }
    }

    /// Returns what is known of each watched flow that is complete, by flow; nothing if there was no room for all of it.
    pub fn journals(&self) -> Option<Vec<FlowJournal>> {
        let journals: Vec<&Journal> = self.notes().filter_map(|notes| notes.journal.as_ref()).collect();
        if journals.iter().any(|journal| journal.is_full()) {
            return None;
        }
        let links = Links::of(self);
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
