//! Hints at what the events of a window will use, where that is more than a core's own caches hold. They change no result.

use super::domain::Domain;
use super::hosts::NONE;
use super::plan::Plan;
use crate::engine::batches::AHEAD;
use crate::engine::calendar::{node_of, slot_of, Entry};
use crate::engine::event::Meta;
use crate::net::ports::Ports;
use crate::net::routes::Next;
use crate::prefetch::prefetch;

impl Domain {
    /// Hints at what the visits of a batch will use: ports of switches, or, where the window is `huge`, hosts. Behind the batch's
    /// entries are [`AHEAD`] of other events.
    pub(super) fn prefetch(&self, plan: &Plan, entries: &[Entry], huge: bool) {
        if self.nodes[node_of(entries[0]) as usize].host == NONE {
            self.prefetch_ports(plan, entries);
        } else if huge {
            self.prefetch_hosts(plan, entries);
        }
    }

    /// Hints at the ruled ports that frames come to and will leave by: their rules, then what these lead to, then what that leads to.
    #[inline(never)]
    fn prefetch_ports(&self, plan: &Plan, entries: &[Entry]) {
        for near in entries.windows(AHEAD + 1) {
            self.out.calendar.prefetch(slot_of(near[AHEAD]));
            plan.routes.prefetch(self.out.calendar.event(slot_of(near[AHEAD / 2])).route());
            self.prefetch_of(plan, near[0], Ports::prefetch_rules);
        }
        let own = &entries[..entries.len() - AHEAD];
        for &entry in own {
            self.prefetch_of(plan, entry, Ports::prefetch_queues);
        }
        for &entry in own {
            let slots = self.out.calendar.slots();
            self.prefetch_of(plan, entry, |ports, at, _| ports.prefetch_waiting(at, slots));
        }
    }

    /// Hints at something of the port that a frame leaves by and of the one that it came to.
    #[inline(always)]
    fn prefetch_of(&self, plan: &Plan, entry: Entry, hint: impl Fn(&Ports, u32, u32)) {
        let event = self.out.calendar.event(slot_of(entry));
        if event.is_arrival() {
            if let Next::Port(at) = plan.routes.next(event.route(), event.meta()) {
                hint(&self.fabric.ports, at, plan.partition.port(event.id() ^ 1).at);
            }
        }
    }

    /// Hints at NICs, and at the ends of the flows whose frames arrive.
    fn prefetch_hosts(&self, plan: &Plan, entries: &[Entry]) {
        for near in entries.windows(AHEAD + 1) {
            plan.routes.prefetch(self.out.calendar.event(slot_of(near[AHEAD / 2])).route());
            let soon = near[AHEAD / 4];
            let event = self.out.calendar.event(slot_of(soon));
            let Some(host) = self.hosts.all.get(self.nodes[node_of(soon) as usize].host as usize) else {
                continue;
            };
            self.fabric.ports.prefetch(host.nic);
            let end = if event.is_arrival() { plan.routes.end(event.route(), event.meta()) } else { None };
            match end {
                Some(end) if event.meta().contains(Meta::ACK) => prefetch(&self.hosts.senders, end as usize),
                Some(end) => prefetch(&self.hosts.receivers, end as usize),
                None => (),
            }
        }
    }
}
