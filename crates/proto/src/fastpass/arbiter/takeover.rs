//! Who is the primary, and where the slots of a new one begin.
//!
//! # Terms
//!
//! One of several arbiters, the *primary*, allocates. The others, *standbys*, read the requests, which endpoints send to all.
//! The primary sends the others a *watchdog* every `T_w` ([`ArbiterParams::watchdog`]); a standby that hears none for `T_d`
//! ([`ArbiterParams::takeover`]) becomes the primary of a new *term*, the time of one primary, whose number is higher than that
//! of any before. By a [`Reset`] it tells each endpoint the new term, and that all demands are forgotten.
//!
//! The newest term wins, everywhere: endpoints refuse allocations of other terms than the one they follow, and a primary that
//! hears of a newer term steps down; so does one that finds that it has stood still for longer than standbys wait. So *a source
//! never uses a slot twice*: it drops what older terms granted it from the new term's first slot on, and takes no more of them.
//!
//! # Where a new term's slots begin, and the gap
//!
//! That no *destination* is sent two packets in a slot needs a first slot that the old primary has granted to nobody. A primary
//! allocates a batch when its first slot is [`ArbiterParams::ahead`] slots away, and says in each watchdog which slot is so far
//! away by its clock: the *horizon*. When a standby takes over, a time `E` after the last watchdog came, the old primary has
//! allocated no batch that begins after slot `horizon + E / slot + 1`, where `slot` is the length of a slot. The new term begins
//! with the batch after that, or, if that is later, with the first that the new primary can still allocate in time; and
//! [`ArbiterParams::gap`] after either. So **no slot is granted twice whatever clocks show, and no gap is needed**, if the old
//! primary stopped at least as long before the takeover as a watchdog takes on its way. (It did, whenever it died, if `T_d - T_w`
//! is longer than that way and no watchdog was lost.)
//!
//! A standby that has never heard a watchdog goes by its own clock. Then the rule is
//!
//! `gap >= skew + (ahead_old - ahead_new + W) * slot - (T_d - T_w)`,
//!
//! where `skew` is how far the new primary's clock may be behind the old one's, `ahead_old` and `ahead_new` are what the two have
//! for [`ArbiterParams::ahead`], and W is the number of slots of a batch.
//!
//! # Two primaries at a time
//!
//! If the old primary is alive and only its watchdogs are lost, standbys wait as long as the requests of at least two endpoints
//! acknowledge new allocations. If they do not, or the old primary was cut off and comes back, then until it hears of the new
//! term it grants slots to those endpoints that have not heard of it either. These were sent several resets, all of which must
//! have been lost for a slot to be used twice. One endpoint that says that it follows a newer term does not depose a primary, but
//! has it grant nothing for [`ArbiterParams::doubt`], once in a term, so that the others or the newer primary can say so too.
//! An endpoint that does not follow a primary `T_d` after it took over may have followed a rival all the time: when a request of it
//! comes at last, the primary leaves out what the rival may have granted until now, and a `T_w` more, once in a term for each endpoint.

use super::succession::TermOrder;
use super::{Address, Arbiter, Role, Time, Watchdog};

impl Arbiter {
    /// Becomes the primary of a new term, whose slots begin after those that the old primary can have granted.
    pub(super) fn take_over(&mut self, now: Time) {
        if let Some(ahead) = self.clocks.advise_new_primary(now, self.frame.ahead, self.params.ahead) {
            self.frame.ahead = ahead;
            self.counters.clock_moved += 1;
        }
        let first = self.first_free_slot(now);
        if !self.succession.take_over(now, &self.params) {
            self.succession.follow(now, self.succession.term);
            return;
        }
        self.counters.takeovers += 1;
        self.start_over();
        self.batches.leave_out_before(first);
        self.first_slot = self.batches.next();
        for endpoint in 0..self.clients.len() as Address {
            self.clients[usize::from(endpoint)].begin_term(now);
            self.reschedule(endpoint);
        }
    }

    /// Grants slots later: an endpoint was cut off from this primary, another may have served it meanwhile, and goes on until it
    /// hears a watchdog. The term's first slot stays: of what the other has granted from that on the endpoint drops all.
    pub(super) fn postpone(&mut self, now: Time) {
        let margin = self.params.timeslots.within(self.params.watchdog) + 1;
        self.batches.leave_out_before(self.first_free_slot(now) + margin);
    }

    /// The first slot that this arbiter may grant if it takes over now.
    pub(super) fn first_free_slot(&self, now: Time) -> u64 {
        let gap = self.params.gap.as_ps().div_ceil(self.params.timeslots.length().as_ps());
        let own = self.frame.slot(now) + u64::from(self.params.ahead);
        let others = self.succession.horizon.map_or(0, |(horizon, at)| {
            let allocated = horizon + self.params.timeslots.within(now.since(at)) + 1;
            // A batch that begins no later than that has been allocated whole.
            self.batches.aligned(allocated + 1)
        });
        own.max(others) + gap
    }

    /// Forgets all demands and what endpoints have been told.
    pub(super) fn start_over(&mut self) {
        self.counters.forgotten += self.batches.forget_all();
        self.counts.start_all_over();
        for endpoint in 0..self.clients.len() as Address {
            self.clients[usize::from(endpoint)].start_over();
            self.clients[usize::from(endpoint)].incarnation = 0;
            self.reschedule(endpoint);
        }
    }

    /// Forgets what is known of an endpoint.
    pub(super) fn forget(&mut self, endpoint: Address) {
        self.counters.forgotten += self.batches.forget(endpoint);
        self.counts.start_over(endpoint);
        self.clients[usize::from(endpoint)].start_over();
    }

    /// Ceases to be the primary, or follows another than before.
    pub(super) fn follow(&mut self, now: Time, term: u32) {
        if self.succession.role == Role::Primary {
            self.start_over();
        }
        if term != self.succession.term {
            self.clients.iter_mut().for_each(|client| client.of_primary = 0);
        }
        self.succession.follow(now, term);
    }

    /// Looks whether the process was stopped and goes on, and returns whether it was. A driver that finds packets waiting when time
    /// has come for something asks this before it hands them in. A primary that has been silent for so long that another may have taken
    /// over is no longer the primary; a standby that could not have heard a watchdog begins to wait anew.
    pub fn wakes_late(&mut self, now: Time) -> bool {
        let late = self.succession.is_late(now, &self.params);
        if late {
            self.counters.woke_late += 1;
            self.follow(now, self.succession.term);
        }
        late
    }

    /// Takes a watchdog from another arbiter.
    pub fn handle_watchdog(&mut self, now: Time, watchdog: &Watchdog) {
        let absurd = self.clocks.is_absurd(watchdog.horizon, self.frame.slot(now));
        if absurd || !self.succession.is_true(watchdog, &self.params) {
            self.counters.bad_watchdogs += 1;
            return;
        }
        if self.succession.term_order(watchdog.term) != TermOrder::Older {
            self.counters.stepped_down += u64::from(self.succession.role == Role::Primary);
            self.follow(now, watchdog.term);
            self.succession.horizon = Some((watchdog.horizon, now));
        }
    }
}
