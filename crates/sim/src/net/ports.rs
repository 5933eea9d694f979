//! The ports of a domain: plain ones, by the algorithm of `plain.rs`, and ruled ones, by that of
//! [`super::ruled`].

use std::collections::BTreeMap;

use clearway_proto::units::Rate;

use super::accounts::Accounts;
use super::backlog::Departures;
use super::counters::{AllCounters, PortCounters};
use super::frames::WaitingFrames;
use super::link_changes::LinkChanges;
use super::memory::{Memory, SharedBuffer, Trimming};
use super::pfc::Overflow;
use super::plain;
use super::port::{Port, PortFigures, PortKind};
use super::relay::RelayNode;
use super::rules::Rules;
use super::scheduling::Rule;
use super::switch::Switch;
use crate::engine::calendar::EventSlot;
use crate::engine::event::{Frame, Meta};
use crate::prefetch::prefetch;

/// The ports of a domain, by their places in it.
#[derive(Debug)]
pub struct Ports {
    pub(super) all: Vec<Port>,
    pub(super) counters: AllCounters,
    pub(super) kinds: Vec<PortKind>,
    departures: Departures,
    /// The rules of each port up to the last ruled one, by its place; nobody looks at those of a plain port.
    pub(super) rules: Vec<Rules>,
    pub(super) accounts: Accounts,
    pub(super) memories: Vec<SharedBuffer>,
    /// What ports do that cut packets for which they have no room.
    pub(super) trimmings: Vec<Trimming>,
    /// The switches that have ruled ports.
    pub(super) switches: Vec<Switch>,
    /// Ports of switches at which frames wait whose turn no event may tell.
    pub(super) behind: Vec<u32>,
    /// When the first of these goes on, in picoseconds; the largest number if none does by itself.
    pub next_turn: u64,
    /// Nodes of hosts with a NIC that catches up and for which frames or flows wait.
    pub nics_behind: Vec<u32>,
    /// When the first of these goes on, in picoseconds; the largest number if none does by itself.
    pub next_nic_turn: u64,
    /// The relays of the domain, and those inside its switches.
    pub(super) relays: Vec<RelayNode>,
    pub(super) frames: WaitingFrames,
    /// Ports whose flow control has something to say to the link's other end, and the class that it is about.
    pub(super) told: Vec<(u32, u8)>,
    /// Ports of which an account has begun to pause its link: who may have frames on it is to be watched.
    pub(super) pausing_anew: Vec<u32>,
    /// The switches of which an account has paused its link, unless each end of a transmission is an event there.
    pub(super) pausing_switches: Vec<u32>,
    /// The ports of one of these that may have frames on accounts which pause their links.
    pub with_paused: Vec<u32>,
    /// How often it was found out which accounts are to be watched.
    pub(super) round: u64,
    /// The first frame of a lossless class for which there was no room.
    pub(super) overflow: Option<Overflow>,
    /// How each traffic class is served; one class where the network knows none.
    pub(super) classes: Vec<Rule>,
    /// When the links of ports change that do, by the port's place.
    pub changes: BTreeMap<u32, LinkChanges>,
}

impl Ports {
    /// No ports, with these kinds and this service of classes.
    pub fn new(kinds: Vec<PortKind>, classes: Vec<Rule>) -> Ports {
        Ports {
            all: Vec::new(),
            counters: AllCounters::default(),
            kinds,
            departures: Departures::default(),
            rules: Vec::new(),
            accounts: Accounts::new(classes.len()),
            memories: Vec::new(),
            trimmings: Vec::new(),
            switches: Vec::new(),
            behind: Vec::new(),
            next_turn: u64::MAX,
            nics_behind: Vec::new(),
            next_nic_turn: u64::MAX,
            relays: Vec::new(),
            frames: WaitingFrames::default(),
            told: Vec::new(),
            pausing_anew: Vec::new(),
            pausing_switches: Vec::new(),
            with_paused: Vec::new(),
            round: 0,
            overflow: None,
            classes,
            changes: BTreeMap::new(),
        }
    }

    /// Adds a port, ruled if it has rules.
    pub fn add(&mut self, mut port: Port, rules: Option<Rules>) {
        if let Some(rules) = rules {
            port.flags |= Port::RULED;
            if rules.lossless != 0 {
                self.accounts.add_up_to(self.all.len() as u32);
            }
            self.rules.resize_with(self.all.len(), Rules::of_plain_port);
            self.rules.push(rules);
        } else if self.kinds[port.kind as usize].marks() {
            port.flags |= Port::MARKS;
        }
        self.all.push(port);
        self.counters.add();
    }

    /// Returns whether any port is ruled.
    pub fn any_ruled(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Adds a shared memory, and gives its index.
    pub fn add_memory(&mut self, memory: SharedBuffer) -> u32 {
        self.memories.push(memory);
        (self.memories.len() - 1) as u32
    }

    /// A port.
    #[inline(always)]
    pub fn port(&self, at: u32) -> &Port {
        &self.all[at as usize]
    }

    /// A port's connection, to be filled in: the node at its link's end, as the domain knows it.
    pub fn connect(&mut self, at: u32, node: u32) {
        self.all[at as usize].node = node;
    }

    pub(super) fn kind(&self, at: u32) -> &PortKind {
        &self.kinds[self.port(at).kind as usize]
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The rules of a ruled port.
    pub(super) fn rules(&self, at: u32) -> &Rules {
        &self.rules[at as usize]
    }

    /// The rules of a ruled port, to be changed.
    pub fn rules_mut(&mut self, at: u32) -> &mut Rules {
        &mut self.rules[at as usize]
    }

    /// A port's rules, if it has any.
    pub fn rules_if_any(&self, at: u32) -> Option<&Rules> {
        self.rules.get(at as usize).filter(|_| self.port(at).intersects(Port::RULED))
    }

    /// The ruled ports, with their rules.
    pub(super) fn ruled(&self) -> impl Iterator<Item = (&Port, &Rules)> + '_ {
        self.all.iter().zip(&self.rules).filter(|(port, _)| port.intersects(Port::RULED))
    }

    /// A frame comes to a plain port: when it arrives at the link's end, and the port; `None` if there was no room for it. That
    /// arrival will stand in `slot`; at a NIC that does not matter.
    #[inline(always)]
    pub fn send<const NIC: bool>(
        &mut self,
        at: u32,
        now: u64,
        meta: &mut Meta,
        slot: u32,
    ) -> Option<(u64, &Port)> {
        let port = &mut self.all[at as usize];
        let (departures, counters) = (&mut self.departures, &mut self.counters);
        let arrives = plain::send::<NIC>(port, departures, counters, &self.kinds, (at, now), meta, slot)?;
        Some((arrives, port))
    }

    /// Marks the frames that have begun to leave plain ports before `now` and behind which enough waited. A frame is its own
    /// arrival long before it leaves, and is marked in that event when all is known that waits behind it: before it arrives, and
    /// before it is passed to another domain.
    #[inline(always)]
    pub fn mark_until(&mut self, now: u64, events: &mut [EventSlot]) {
        if !self.departures.marking.is_empty() {
            self.mark_all_until(now, events);
        }
    }

    #[inline(never)]
    fn mark_all_until(&mut self, now: u64, events: &mut [EventSlot]) {
        let mut next = 0;
        while let Some(&at) = self.departures.marking.get(next) {
            let port = &mut self.all[at as usize];
            let threshold = self.kinds[port.kind as usize].mark_behind;
            let marked = self.departures.settle_and_judge(&mut port.backlog, now - 1, threshold);
            if marked > 0 {
                self.counters.count_marks(at, u64::from(marked));
            }
            // Behind no frame there is as much as what there is in all.
            if port.backlog.is_empty() || port.backlog.held <= threshold {
                port.flags &= !Port::LISTED;
                self.departures.marking.swap_remove(next);
            } else {
                next += 1;
            }
        }
        self.departures.mark(events);
    }

    /// Returns whether a frame that comes to a port now leaves at once; its class is asked for where that matters.
    #[inline(always)]
    pub fn is_free(&self, at: u32, now: u64, class: impl FnOnce() -> usize) -> bool {
        let port = self.port(at);
        if port.intersects(Port::RULED) {
            debug_assert!(!self.transmits(at) || port.busy_until > now, "a port that has not caught up");
            self.rules(at).is_free_for(port, class())
        } else {
            port.busy_until <= now
        }
    }

    /// Returns how long a port takes for what is there at `now`, in picoseconds; a ruled one has caught up.
    pub fn free_in(&self, at: u32, now: u64) -> u64 {
        let port = self.port(at);
        let rest = port.busy_until.saturating_sub(now);
        match self.rules_if_any(at) {
            Some(rules) => rest + self.transmission(at, rules.waiting),
            None => rest,
        }
    }

    /// Returns how long a frame takes at a port, in picoseconds.
    pub fn transmission(&self, at: u32, size: u32) -> u64 {
        self.kind(at).transmission(size)
    }

    /// The rate of a port's link.
    pub fn rate(&self, at: u32) -> Rate {
        self.kind(at).rate
    }

    /// Returns what a port has counted of losses and marks, when all before `now` has happened.
    pub fn counters(&self, at: u32, now: u64) -> PortCounters {
        let mut counters = *self.counters.get(at);
        if self.marks_what_waits(at) {
            let threshold = self.kind(at).mark_behind;
            counters.marked_frames += plain::uncounted_marks(self.port(at), &self.departures, threshold, now);
        }
        counters
    }

    /// Returns whether a frame that waits at a port, and is an event already, may be marked there before it leaves.
    pub fn marks_what_waits(&self, at: u32) -> bool {
        !self.port(at).intersects(Port::RULED) && self.kind(at).marks_behind()
    }

    /// Returns what a port has sent and what waits at it, when all before `now` has happened.
    pub fn figures(&self, at: u32, now: u64, events: &[EventSlot]) -> PortFigures {
        let port = self.port(at);
        match self.rules_if_any(at) {
            Some(rules) => rules.figures(port, self.frames.within(events), now),
            None => plain::figures(port, &self.departures, now),
        }
    }

    /// Returns whether a frame that arrives from a plain port at `arrival` still waits there when all before `now` has
    /// happened. What waits at a ruled port is no event yet.
    pub fn still_waits(&self, at: u32, frame: &Frame, arrival: u64, now: u64) -> bool {
        !self.port(at).intersects(Port::RULED) && self.begins(at, frame, arrival) >= now
    }

    /// Returns when a frame began to leave a port, or will, that arrives at the link's end at `arrival`, in picoseconds.
    pub fn begins(&self, at: u32, frame: &Frame, arrival: u64) -> u64 {
        let kind = self.kind(at);
        arrival - kind.delay.as_ps() - kind.transmission(frame.meta.size())
    }

    /// The frames that wait at a ruled port, class by class; at a plain one they are events already.
    pub fn waiting<'a>(
        &'a self,
        at: u32,
        events: &'a [EventSlot],
    ) -> impl Iterator<Item = (usize, Frame)> + 'a {
        let waiting = self.frames.within(events);
        self.rules_if_any(at).into_iter().flat_map(move |rules| {
            (0..rules.queues().len())
                .flat_map(move |class| rules.waiting_of(class, waiting).map(move |frame| (class, frame)))
        })
    }

    /// Hints that a port will be used.
    #[inline(always)]
    pub fn prefetch(&self, at: u32) {
        prefetch(&self.all, at as usize);
    }

    /// Hints that a frame will leave by port `at` that came to port `ingress`, which are likely to be ruled: their rules.
    #[inline(always)]
    pub fn prefetch_rules(&self, at: u32, ingress: u32) {
        self.prefetch(at);
        prefetch(&self.rules, at as usize);
        prefetch(&self.rules, ingress as usize);
    }

    /// Does so for queues and accounts.
    #[inline(always)]
    pub fn prefetch_queues(&self, at: u32, ingress: u32) {
        if let Some(rules) = self.rules.get(at as usize) {
            prefetch(&rules.queues, 0);
        }
        self.accounts.prefetch(ingress);
    }

    /// Does so for the frames that wait.
    #[inline(always)]
    pub fn prefetch_waiting(&self, at: u32, events: &[EventSlot]) {
        if let Some(queue) = self.rules.get(at as usize).and_then(|rules| rules.queues.first()) {
            self.frames.prefetch(queue.frames, events);
        }
    }

    /// Hints that a plain port, which was prefetched before, will have a frame to send.
    #[inline(always)]
    pub fn prefetch_backlog(&self, at: u32) {
        self.departures.prefetch(self.port(at).backlog);
    }

    /// Checks that what all ports hold and what shared memories say they hold agree.
    pub fn assert_memories_balance(&self, events: &[EventSlot]) {
        let waiting = self.frames.within(events);
        for (which, memory) in self.memories.iter().enumerate() {
            let of_queues: u64 = self
                .ruled()
                .filter(|(_, rules)| rules.memory() == Memory::Shared(which as u32))
                .map(|(port, rules)| rules.held_on_no_account(port, waiting))
                .sum();
            let of_accounts: u64 = self
                .rules
                .iter()
                .zip(0..)
                .filter(|(rules, _)| rules.pfc().is_some_and(|pfc| pfc.memory == Some(which as u32)))
                .flat_map(|(_, at)| self.accounts.of(at))
                .map(|of| of.account.common)
                .sum();
            assert_eq!(
                of_queues + of_accounts,
                memory.used,
                "shared buffer {which} has lost count of its bytes"
            );
        }
        self.assert_accounts_balance(events);
    }
}
