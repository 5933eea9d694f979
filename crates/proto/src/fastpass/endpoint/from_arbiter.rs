//! What an endpoint does with allocations and resets: which grants it takes, which arbiter it follows, and what it learns of that
//! one's clock.

use super::{Allocation, Count, Endpoint, Grant, Heard, Mode, News, NotHeld, Recent, Reset, SendMode, Time};

impl Endpoint {
    /// Takes an allocation from an arbiter.
    pub fn handle_allocation(&mut self, now: Time, allocation: &Allocation) {
        if allocation.to != self.address || allocation.incarnation != self.incarnation {
            self.counters.misdirected += 1;
            return;
        }
        if allocation.term >= self.newest.0 {
            self.newest = (allocation.term, now);
        }
        if allocation.term != self.term || self.term == 0 {
            self.counters.foreign_allocations += 1;
            return;
        }
        self.hear(now);
        match self.heard.note(allocation.seq) {
            News::Latest | News::Late => {}
            News::Duplicate | News::Forgotten => {
                self.counters.duplicate_allocations += 1;
                return;
            }
        }
        self.counters.allocations += 1;
        self.compare_clocks(now, allocation.slot);
        if !allocation.granted.is_empty() {
            self.unreported = self.unreported.or(Some(now));
        }
        self.demands.acknowledge(allocation.heard);
        let mut came = 0;
        for grant in allocation.grants() {
            came += u64::from(self.take(now, &grant));
        }
        self.counters.granted += came;
        self.count(allocation);
    }

    /// Notes that an arbiter is there.
    pub(super) fn hear(&mut self, now: Time) {
        self.alone_since = now;
        if self.mode == Mode::Unscheduled {
            self.mode = Mode::Scheduled;
            self.counters.returns += 1;
        }
    }

    /// Notes that the primary's clock showed `slot` when it sent a packet that comes now.
    pub(super) fn compare_clocks(&mut self, now: Time, slot: u64) {
        let ahead = i128::from(slot) - i128::from(self.params.timeslots.of(now));
        if let Ok(ahead) = i32::try_from(ahead) {
            self.arbiter_ahead.note(now, ahead.into());
        }
    }

    /// Takes or refuses a grant. Whether it is taken.
    pub(super) fn take(&mut self, now: Time, grant: &Grant) -> bool {
        if !self.demands.knows(grant.destination) || grant.destination == self.address {
            self.counters.refused_address += 1;
            return false;
        }
        if self.is_late(now, grant) {
            self.counters.refused_late += 1;
            return false;
        }
        if self.checks_age() && self.params.timeslots.start(grant.slot) > now + self.params.early {
            self.counters.refused_early += 1;
            return false;
        }
        let held = self.grants.insert(*grant);
        match held {
            Ok(()) => self.demands.hold(grant.destination),
            Err(NotHeld::Duplicate) => self.counters.refused_duplicate += 1,
            Err(NotHeld::Overfull) => self.counters.refused_overfull += 1,
        }
        held.is_ok()
    }

    /// Returns whether grants are refused for their age.
    pub(super) fn checks_age(&self) -> bool {
        self.params.age_check && self.params.send == SendMode::AtSlot
    }

    /// Returns whether the slot of a grant began too long ago.
    pub(super) fn is_late(&self, now: Time, grant: &Grant) -> bool {
        self.checks_age() && self.params.timeslots.start(grant.slot) + self.params.late < now
    }

    /// Takes the counts of an allocation, and demands what is missing by them.
    pub(super) fn count(&mut self, allocation: &Allocation) {
        let mut lost = 0;
        for granted in allocation.granted.iter() {
            if !self.demands.knows(granted.destination) || granted.destination == self.address {
                self.counters.refused_address += 1;
                continue;
            }
            match self.demands.count(granted.destination, granted.granted) {
                Count::More(more) => lost += u64::from(more),
                Count::Old => {}
                Count::Nonsense => self.counters.bad_counts += 1,
            }
            self.demand(granted.destination);
        }
        self.counters.lost += lost.saturating_sub(allocation.grants.len() as u64);
    }

    /// Takes a reset from a new primary arbiter, or from one that the endpoint has not heard of.
    pub fn handle_reset(&mut self, now: Time, reset: &Reset) {
        if reset.to != self.address || reset.term == 0 {
            self.counters.misdirected += 1;
            return;
        }
        if reset.term == self.term || self.knows_newer(now, reset.term) {
            self.counters.stale_resets += 1;
            return;
        }
        self.hear(now);
        self.counters.resets += 1;
        self.term = reset.term;
        self.newest = (reset.term, now);
        self.heard = Heard::default();
        self.unreported = None;
        self.arbiter_ahead = Recent::default();
        self.compare_clocks(now, reset.slot);
        while let Some(grant) = self.grants.take_from(reset.first_slot) {
            self.demands.release(grant.destination);
            self.counters.fenced += 1;
        }
        self.counters.demanded += self.demands.start_over();
        self.urgent = self.demands.unsaid() > 0;
    }
}
