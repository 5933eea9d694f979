//! The arbiter (§3, §4, §5): takes requests, allocates slots in batches, selects paths, and tells endpoints.
//!
//! The way from a request to an allocation (figure 2), a file for each step:
//!
//! 1. `requests` reads a request: `counts` says how many slots are new in it, `pace` that no endpoint asks too often.
//! 2. `batches` allocates slots a batch at a time; the paths of each `batch` are selected, by `network`, here or where the driver
//!    wants it.
//! 3. `packets` writes allocations and resets; `client` knows what an endpoint has to be told, `deadlines` which endpoint is to
//!    be sent something next.
//! 4. `faults` keeps packets off failed links, and `trials` tells when they are whole again; `capacity` says what racks carry
//!    meanwhile.
//! 5. `succession` says which arbiter is the primary, `takeover` lets it become or cease to be that; `frame` by which clock slots are counted, `clocks` how far that is from
//!    the endpoints'.
//!
//! # While some endpoints follow the arbiter and others none
//!
//! Endpoints that hear no arbiter for some time send without slots, and return to slots one by one. What is granted remains a
//! matching: packets sent in slots never meet each other on a link. Of packets sent without slots the arbiter knows nothing:
//! they may meet any others, queue with them, and are subject to the congestion control that sends them. So as long as any
//! endpoint sends without slots, queues are bounded by that control, not by the schedule; when the last one is back, they
//! drain. An endpoint comes back with a new incarnation, which makes void what it had asked for: no slot is spent on packets
//! that left by other means.

mod batch;
mod batches;
mod capacity;
mod client;
mod clocks;
mod counters;
mod counts;
mod deadlines;
mod faults;
mod frame;
mod network;
mod own_links;
mod pace;
mod packets;
mod params;
mod requests;
mod succession;
mod takeover;
mod trial_paths;
mod trials;

pub use batch::{Batch, Selector, Slot};
pub use batches::{Batches, Outcome, MOST_IN_FLIGHT, REJOINS};
pub use counters::ArbiterCounters;
pub use network::BLOCKED;
pub use params::{ArbiterError, ArbiterParams, Pacer, PathParams};
pub use succession::Role;
pub use trial_paths::Neighbours;

use std::collections::VecDeque;

use crate::machine::Readiness;
use crate::units::Time;

use super::fcp::{Address, Allocation, Answer, Path, Reset, Trial, Watchdog};
use super::isolator::Link;
use client::Client;
use clocks::Clocks;
use counts::Counts;
use deadlines::Deadlines;
use faults::{ControlPaths, Faults};
use frame::Frame;
use succession::Succession;

/// What an arbiter gives its driver.
// An allocation is the most frequent of them; it is not kept anywhere.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArbiterOutput {
    /// A packet to an endpoint, on this path if one is given.
    Allocation(Allocation, Option<Path>),
    /// A packet to an endpoint, on this path if one is given.
    Reset(Reset, Option<Path>),
    /// A packet to every other arbiter.
    Watchdog(Watchdog),
    /// A packet to an endpoint, on this path.
    Trial(Trial, Path),
}

/// An arbiter of a Fastpass network.
#[derive(Clone, Debug)]
pub struct Arbiter {
    params: ArbiterParams,
    succession: Succession,
    frame: Frame,
    clocks: Clocks,
    batches: Batches,
    /// Who selects paths, unless the driver does.
    selector: Option<Selector>,
    /// Batches whose paths the driver has to select.
    allocated: VecDeque<Batch>,
    counts: Counts,
    clients: Box<[Client]>,
    deadlines: Deadlines,
    faults: Faults,
    /// The first slot of the present term.
    first_slot: u64,
    /// Endpoints that got grants in the batch that is being given out.
    touched: Vec<Address>,
    counters: ArbiterCounters,
}

impl Arbiter {
    /// An arbiter of a network that starts now: that of rank 0 is the primary of term 1, the others are standbys.
    pub fn new(params: &ArbiterParams, now: Time) -> Result<Arbiter, ArbiterError> {
        let mut arbiter = Arbiter::restarted(params, now, 0)?;
        if params.rank == 0 {
            arbiter.take_over(now);
        }
        Ok(arbiter)
    }

    /// Says why no arbiter can be built from these parameters, if none can: whoever reads parameters asks this before
    /// [`Arbiter::new`] refuses them.
    pub fn check(params: &ArbiterParams) -> Result<(), ArbiterError> {
        params.check_together()?;
        params.allocator.check().map_err(ArbiterError::Allocator)?;
        network::Network::new(&params.paths).map_err(ArbiterError::Paths)?;
        Faults::new(params).map_err(ArbiterError::Paths)?;
        Ok(())
    }

    /// An arbiter that starts again, as a standby that has heard nothing. `term` is the newest that its earlier lives have
    /// known ([`Arbiter::term`]), so that none of theirs comes twice.
    pub fn restarted(params: &ArbiterParams, now: Time, term: u32) -> Result<Arbiter, ArbiterError> {
        params.check_together()?;
        let nodes = params.allocator.nodes;
        Ok(Arbiter {
            succession: Succession::standby(now, term),
            frame: Frame { timeslots: params.timeslots, ahead: 0 },
            clocks: Clocks::new(nodes, params.timeslots),
            batches: Batches::new(params)?,
            selector: Some(Selector::new(params)?),
            allocated: VecDeque::new(),
            counts: Counts::new(nodes),
            clients: vec![Client::default(); nodes].into_boxed_slice(),
            deadlines: Deadlines::new(nodes),
            faults: Faults::new(params).map_err(ArbiterError::Paths)?,
            first_slot: 0,
            touched: Vec::with_capacity(nodes),
            counters: ArbiterCounters::default(),
            params: params.clone(),
        })
    }

    /// Does what time has come for: batches are allocated, and a standby that has heard nothing for too long takes over.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.wakes_late(now) {
            return;
        }
        let over = self.succession.takeover_at(&self.params).is_some_and(|at| at <= now);
        if over && !self.succession.waits_on(&self.params) {
            self.take_over(now);
        }
        let clients = &self.clients;
        let is_there = |endpoint: Address| clients[usize::from(endpoint)].heard.latest > 0;
        if let Some(links) = self.faults.handle_timeout(now, self.params.rank, is_there) {
            self.batches.avoid(links);
            self.counters.paths_changed += 1;
        }
        while self.batch_at().is_some_and(|at| at <= now) {
            let slot = self.frame.slot(now);
            if self.batches.next() <= slot {
                self.counters.late_batches += 1;
                self.batches.leave_out_before(slot + u64::from(self.params.ahead));
            } else if self.batches.has_room() {
                self.allocate();
            } else {
                return;
            }
        }
    }

    /// Allocates a batch, and has its paths selected.
    fn allocate(&mut self) {
        self.counters.batches += 1;
        let mut batch = self.batches.allocate();
        match &mut self.selector {
            Some(selector) => {
                selector.select(batch.avoided.as_ref(), &mut batch.slots);
                self.handle_selected(batch);
            }
            None => self.allocated.push_back(batch),
        }
    }

    /// Gives the driver what selects paths: from now on the driver has to do so, here or on other threads, for the batches that
    /// [`Arbiter::poll_batch`] gives. `None` if that has been given before.
    pub fn take_selector(&mut self) -> Option<Selector> {
        self.selector.take()
    }

    /// The next batch of which the driver has to select the paths. To be asked for after each
    /// [`Arbiter::handle_timeout`], and to be handed back with paths in the same order, by [`Arbiter::handle_selected`]; until
    /// then its grants are not told. As long as [`MOST_IN_FLIGHT`] of them are not back, or [`REJOINS`] that avoid failed links,
    /// no further one is allocated.
    pub fn poll_batch(&mut self) -> Option<Batch> {
        self.allocated.pop_front()
    }

    /// Takes back a batch with the paths selected, and puts the grants where their endpoints' next allocations are made from.
    pub fn handle_selected(&mut self, batch: Batch) {
        if batch.avoided.is_some() {
            self.faults.count_packets(&batch.slots);
        }
        let Arbiter { batches, clients, clocks, counts, touched, counters, .. } = self;
        let outcome = batches.handle_selected(batch, |source, mut grant| {
            grant.slot = grant.slot.saturating_add_signed(clocks.translation(source));
            let client = &mut clients[usize::from(source)];
            if client.pending.is_empty() {
                touched.push(source);
            }
            if let Some(dropped) = client.grant(grant) {
                counters.overdue_grants += 1;
                let granted = counts.granted(source, dropped.destination);
                *granted = granted.wrapping_add(1);
                client.tell(dropped.destination);
            }
        });
        counters.granted += outcome.granted;
        counters.forgotten += outcome.forgotten;
        while let Some(source) = self.touched.pop() {
            self.reschedule(source);
        }
    }

    /// Returns when the next batch is to be allocated.
    fn batch_at(&self) -> Option<Time> {
        self.batches.due().map(|slot| self.frame.start(slot))
    }

    /// Returns whether a batch is due that cannot be allocated before earlier ones have come back: the driver has to hand these
    /// back now and call [`Arbiter::handle_timeout`] again.
    pub fn lacks_room(&self, now: Time) -> bool {
        !self.batches.has_room() && self.batch_at().is_some_and(|at| at <= now)
    }

    /// Returns when [`Arbiter::handle_timeout`] is wanted next.
    pub fn poll_timeout(&self) -> Option<Time> {
        let own = match self.succession.role {
            Role::Primary => self.batch_at(),
            Role::Standby => self.succession.takeover_at(&self.params),
        };
        let first = own.unwrap_or(Time::NEVER).min(self.faults.timeout());
        (first != Time::NEVER).then_some(first)
    }

    /// Returns whether there is a packet for [`Arbiter::transmit`] to give.
    #[inline]
    pub fn readiness(&self, now: Time) -> Readiness {
        let first = self.succession.watchdog_at.min(self.deadlines.first().0);
        if first <= now || self.faults.has_trial() {
            Readiness::Ready
        } else if first == Time::NEVER {
            Readiness::Idle
        } else {
            Readiness::At(first)
        }
    }

    /// Gives a packet that is to leave now; only when the arbiter is ready.
    pub fn transmit(&mut self, now: Time) -> ArbiterOutput {
        if self.succession.watchdog_at <= now {
            // One that woke late says what it took itself for, once: that is stale, and harms nobody.
            let late = self.wakes_late(now);
            let watchdog = self.watchdog(now);
            if late {
                self.succession.watchdog_at = Time::NEVER;
            }
            return ArbiterOutput::Watchdog(watchdog);
        }
        if let Some((trial, path)) = self.faults.take_trial() {
            return ArbiterOutput::Trial(trial, path);
        }
        let (_, endpoint) = self.deadlines.first();
        let ControlPaths { out: path, back } = self.faults.next_paths(endpoint);
        let output = if self.clients[usize::from(endpoint)].reset {
            ArbiterOutput::Reset(self.reset(now, endpoint, back), path)
        } else {
            let allocation = self.allocation(now, endpoint, back);
            if let Some(path) = path {
                self.clients[usize::from(endpoint)].took(path);
            }
            ArbiterOutput::Allocation(allocation, path)
        };
        self.reschedule(endpoint);
        output
    }

    /// Notes when an endpoint is to be sent something next.
    fn reschedule(&mut self, endpoint: Address) {
        self.deadlines.set(endpoint, self.clients[usize::from(endpoint)].wake_at(&self.params));
    }

    /// Returns whether this arbiter is the primary.
    pub fn role(&self) -> Role {
        self.succession.role
    }

    /// The term of which this arbiter is the primary, or the newest that it knows of.
    pub fn term(&self) -> u32 {
        self.succession.term
    }

    /// Takes the answer of an endpoint to a trial.
    pub fn handle_answer(&mut self, now: Time, answer: &Answer) {
        self.faults.handle_answer(now, answer.token);
    }

    /// The slot of now, as this arbiter counts them.
    pub fn slot(&self, now: Time) -> u64 {
        self.frame.slot(now)
    }

    /// The links that have failed, as far as endpoints' reports tell.
    pub fn failed_links(&self) -> impl Iterator<Item = Link> + '_ {
        self.faults.failed()
    }

    /// Returns what has been counted.
    pub fn counters(&self) -> &ArbiterCounters {
        &self.counters
    }
}
