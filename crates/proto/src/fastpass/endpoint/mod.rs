//! The endpoint (§5, §6): asks arbiters for slots, and says when each packet leaves and which way.
//!
//! Its driver is the host's stack, which has a queue for each destination. The driver tells the [`Endpoint`] how many slots each
//! queue needs; the endpoint gives it requests to be sent to the arbiters, and slots as they come, in each of which the driver
//! sends one packet (or several small ones) of one destination's queue. What the endpoint keeps, a file for each part:
//!
//! 1. `demand`: what is needed, demanded and granted for each destination, in cumulative counts, so that any packet may be
//!    lost, come twice or late.
//! 2. `grants`: the slots granted and not used yet.
//! 3. `reports`: which packets arrived, path by path, as the arbiter learns of failed links from what endpoints lose. Endpoints
//!    learn it from each other, by what the packets in slots carry ([`SlotHeader`](super::receipts::SlotHeader)).
//!
//! 4. `probes`: what endpoints of hosts send each other beside the slots, to know what becomes of their packets.
//!
//! # Terms
//!
//! One of several arbiters is the *primary* and grants slots; the counts are those of a *term*, the time of one primary. A new
//! primary sends a [`Reset`]: both sides count from zero, and the endpoint demands anew all that it has no grant for. Grants of
//! older terms for slots that the new primary may grant to others are dropped, and an allocation of any other term than the one
//! that the endpoint follows is refused: so a primary that was paused and resumed does no harm.
//!
//! # Without an arbiter
//!
//! An endpoint with packets waiting that hears nothing from any arbiter for [`EndpointParams::fallback`] is
//! [`Mode::Unscheduled`]: the driver sends by other means (Swift, say). The endpoint forgets its term, and goes on asking under a
//! new *incarnation*: that number, in all its requests, tells one life of an endpoint from the next, and makes void what arbiters
//! knew of the demand of the one before. The next reset brings the endpoint back, unless it is of an older term than one that the
//! endpoint has heard of in the last ten times that long: that is of a primary which has a successor. Later it is better than
//! none.

mod counters;
mod demand;
mod fates;
mod from_arbiter;
mod grants;
mod params;
mod probes;
mod reports;

pub use counters::EndpointCounters;
pub use params::{EndpointParams, SendMode};
pub use probes::{Probe, ProbeParams};

use std::collections::{BTreeMap, VecDeque};

use crate::machine::Readiness;
use crate::units::Time;

use super::fcp::message::MOST_DEMANDS;
use super::fcp::{Address, Allocation, Answer, Grant, Heard, News, Path, Request, Reset, Trial};
use super::receipts::Receipts;
use super::recent::Recent;
use demand::{Count, Demands};
use grants::{Grants, NotHeld};
use probes::Probing;
use reports::Reports;

/// Trials that can wait to be answered. More in a moment are not.
const MOST_TRIALS: usize = 16;
/// A term is remembered this many times as long as it takes to fall back.
const MEMORY: u64 = 10;

/// Whether an endpoint sends in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the slots that the arbiter grants.
    Scheduled,
    /// No arbiter answers: the driver sends by other means.
    Unscheduled,
}

/// What an endpoint gives its driver.
// A slot is the more frequent of them; it is not kept anywhere.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointOutput {
    /// A request to be sent to every arbiter.
    Request(Request),
    /// A packet to this destination leaves now, on this path.
    Slot(Grant),
    /// An answer to be sent to the arbiter of its rank, on this path.
    Answer(Answer, Path),
    /// A trial to be sent on to the endpoint that it names, on this path.
    Trial(Trial, Path),
}

/// An endpoint of a Fastpass network.
#[derive(Clone, Debug)]
pub struct Endpoint {
    params: EndpointParams,
    address: Address,
    incarnation: u32,
    /// The term of the primary that it follows; 0 for none.
    term: u32,
    /// The highest term that it knows of, and when that was last heard.
    newest: (u32, Time),
    mode: Mode,
    demands: Demands,
    grants: Grants,
    reports: Reports,
    /// Receipts for the slots used between this endpoint and others: which arrived, which are lost.
    receipts: BTreeMap<Address, Receipts>,
    /// Receipts and probes to be sent beside the slots, by their destinations.
    probing: BTreeMap<Address, Probing>,
    /// Trials that have come, to be answered or sent on.
    trials: VecDeque<Trial>,
    /// Who has sent a header since the fates that it tells of were last asked for.
    spoken: VecDeque<Address>,
    /// The number of the last request in this incarnation.
    seq: u32,
    /// Allocations of this term that have come.
    heard: Heard,
    /// When the first allocation with counts came of which no request has told. (One without is an acknowledgement only.)
    unreported: Option<Time>,
    /// When the last request left.
    requested: Option<Time>,
    /// Whether the next request shall not wait for others to go with it.
    urgent: bool,
    /// How many slots the primary's clock was ahead when its packets came.
    arbiter_ahead: Recent,
    /// When an arbiter was last heard, or packets began to wait, whichever is later.
    alone_since: Time,
    counters: EndpointCounters,
}

impl Endpoint {
    /// An endpoint that has heard of no arbiter. `incarnation` is higher than any that an earlier life of it has had
    /// ([`Endpoint::incarnation`]).
    ///
    /// Panics if there is no such address.
    pub fn new(params: &EndpointParams, address: Address, incarnation: u32) -> Endpoint {
        assert!(address < params.nodes, "endpoint {address} of {}", params.nodes);
        Endpoint {
            params: *params,
            address,
            incarnation,
            term: 0,
            newest: (0, Time::ZERO),
            mode: Mode::Scheduled,
            demands: Demands::new(params.nodes, params.limit),
            grants: Grants::default(),
            reports: Reports::new(params.clean_report),
            receipts: BTreeMap::new(),
            probing: BTreeMap::new(),
            trials: VecDeque::new(),
            spoken: VecDeque::new(),
            seq: 0,
            heard: Heard::default(),
            unreported: None,
            requested: None,
            urgent: false,
            arbiter_ahead: Recent::default(),
            alone_since: Time::ZERO,
            counters: EndpointCounters::default(),
        }
    }

    /// Takes the number of slots that the packets waiting for `destination` need: all that have not been sent.
    ///
    /// Panics if there is no such destination, or it is the endpoint itself.
    pub fn handle_backlog(&mut self, now: Time, destination: Address, slots: u32) {
        assert!(self.demands.knows(destination) && destination != self.address, "packets to {destination}");
        if !self.demands.is_needy() {
            self.alone_since = self.alone_since.max(now);
        }
        self.demands.need(destination, slots);
        self.demand(destination);
    }

    /// Demands what is missing for a destination, if there is an arbiter to ask.
    fn demand(&mut self, destination: Address) {
        if self.term != 0 {
            self.counters.demanded += u64::from(self.demands.demand(destination));
        }
    }

    /// Takes a trial of links from an arbiter or another endpoint, to be answered or sent on at once.
    pub fn handle_trial(&mut self, trial: &Trial) {
        let is_known = |&(next, _): &(Address, Path)| self.demands.knows(next) && next != self.address;
        if trial.to != self.address {
            self.counters.misdirected += 1;
        } else if trial.on.as_ref().is_none_or(is_known) && self.trials.len() < MOST_TRIALS {
            self.trials.push_back(*trial);
        }
    }

    /// Returns what becomes of a trial.
    fn reflect(&self, trial: Trial) -> EndpointOutput {
        if let Some((to, path)) = trial.on {
            return EndpointOutput::Trial(Trial { to, on: None, ..trial }, path);
        }
        let answer = Answer { source: self.address, rank: trial.rank, token: trial.token };
        EndpointOutput::Answer(answer, trial.back)
    }

    /// Returns whether a term is older than one that was heard of late.
    fn knows_newer(&self, now: Time, term: u32) -> bool {
        let (newest, heard) = self.newest;
        term < newest && now < heard + self.params.fallback * MEMORY
    }

    /// Does what time has come for: demands are said again, and without an arbiter the endpoint falls back.
    pub fn handle_timeout(&mut self, now: Time) {
        let again = self.demands.say_again(now, self.params.retransmit);
        self.counters.retransmissions += again;
        if self.doubts_at().is_some_and(|at| at <= now) {
            self.demands.doubt();
        }
        if self.fallback_at().is_some_and(|at| at <= now) {
            self.mode = Mode::Unscheduled;
            self.counters.fallbacks += 1;
            self.incarnation = self.incarnation.wrapping_add(1);
            self.seq = 0;
            self.term = 0;
            self.demands.forget();
        }
    }

    /// Returns when [`Endpoint::handle_timeout`] is wanted next.
    pub fn poll_timeout(&self) -> Option<Time> {
        let again = self.demands.oldest_unacknowledged().map(|at| at + self.params.retransmit);
        [again, self.doubts_at(), self.fallback_at()].into_iter().flatten().min()
    }

    /// Returns when the endpoint says a demand again that has been acknowledged, as its arbiter has granted it nothing since: it
    /// may have others to serve first, or be dead. Early enough for two answers to be lost before the endpoint falls back. While
    /// the next request has something to say anyway, that is to be answered first.
    fn doubts_at(&self) -> Option<Time> {
        let said = self.demands.is_needy() && self.demands.unsaid() == 0;
        let waits = self.mode == Mode::Scheduled && self.term != 0 && said;
        let heard_or_asked = self.alone_since.max(self.requested.unwrap_or(Time::ZERO));
        waits.then(|| heard_or_asked + (self.params.fallback / 4).max(self.params.report_interval))
    }

    /// Returns when the endpoint falls back if nothing is heard.
    fn fallback_at(&self) -> Option<Time> {
        let alone = self.mode == Mode::Scheduled && self.demands.is_needy();
        alone.then(|| self.alone_since + self.params.fallback)
    }

    /// Returns whether there is a request or a slot for [`Endpoint::transmit`] to give.
    #[inline]
    pub fn readiness(&self, now: Time) -> Readiness {
        let first = self.request_at().min(self.slot_at());
        if first <= now || !self.trials.is_empty() {
            Readiness::Ready
        } else if first == Time::NEVER {
            Readiness::Idle
        } else {
            Readiness::At(first)
        }
    }

    /// Returns when the first slot held may be used.
    #[inline]
    fn slot_at(&self) -> Time {
        match (self.grants.first(), self.params.send) {
            (None, _) => Time::NEVER,
            (Some(grant), SendMode::AtSlot) => self.params.timeslots.start(grant.slot),
            (Some(_), SendMode::OnArrival) => Time::ZERO,
        }
    }

    /// Returns when the next request may leave.
    #[inline]
    fn request_at(&self) -> Time {
        let after = |span| self.requested.map_or(Time::ZERO, |at| at + span);
        if self.term == 0 {
            let asks = self.demands.is_needy() || self.mode == Mode::Unscheduled;
            return if asks { after(self.params.retransmit) } else { Time::NEVER };
        }
        let unsaid = self.demands.unsaid();
        if self.urgent || unsaid >= MOST_DEMANDS {
            return after(self.params.urgent_interval);
        }
        if unsaid > 0 || self.reports.has_losses() {
            return after(self.params.report_interval);
        }
        let acknowledge = self.unreported.map_or(Time::NEVER, |at| at + self.params.acknowledge);
        acknowledge.max(after(self.params.report_interval))
    }

    /// Gives what is to be sent now; only when the endpoint is ready.
    ///
    /// A slot whose time passed while the driver could not send is demanded again: then this gives a request.
    pub fn transmit(&mut self, now: Time) -> EndpointOutput {
        while let Some(grant) = self.grants.first().copied().filter(|grant| self.is_late(now, grant)) {
            self.grants.take_first();
            self.counters.refused_late += 1;
            self.demands.release(grant.destination);
            self.demand(grant.destination);
        }
        if let Some(trial) = self.trials.pop_front() {
            return self.reflect(trial);
        }
        if self.request_at() <= now || self.slot_at() > now {
            return EndpointOutput::Request(self.request(now));
        }
        match self.grants.take_first() {
            Some(grant) => {
                self.demands.send(grant.destination);
                self.counters.used += 1;
                EndpointOutput::Slot(grant)
            }
            None => unreachable!("its slot has come"),
        }
    }

    /// A request that says what holds now.
    fn request(&mut self, now: Time) -> Request {
        self.seq += 1;
        let mut request = Request {
            source: self.address,
            incarnation: self.incarnation,
            term: self.term,
            seq: self.seq,
            slot: self.params.timeslots.of(now),
            arbiter_ahead: self.arbiter_ahead.greatest(now).map(|ahead| ahead as i32),
            heard: self.heard,
            ..Request::default()
        };
        if self.term != 0 {
            self.demands.fill(now, &mut request);
            self.reports.fill(&mut request);
        }
        self.unreported = None;
        self.requested = Some(now);
        self.urgent &= self.demands.unsaid() > 0;
        self.counters.requests += 1;
        request
    }

    /// Returns whether the endpoint sends in slots.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The term of the primary that the endpoint follows; 0 for none.
    pub fn term(&self) -> u32 {
        self.term
    }

    /// The number of the endpoint's present incarnation: one more with each fallback.
    pub fn incarnation(&self) -> u32 {
        self.incarnation
    }

    /// Returns what has been counted.
    pub fn counters(&self) -> &EndpointCounters {
        &self.counters
    }
}
