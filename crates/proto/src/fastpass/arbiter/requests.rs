//! What an arbiter makes of a request (§5). A standby reads of it only what it will need when it takes over.

use crate::fastpass::allocator::Refusal;
use crate::fastpass::fcp::{Address, Demand, News, PathReport, Request};
use crate::units::{Span, Time};

use super::clocks::Advice;
use super::succession::TermOrder;
use super::{Arbiter, Role};

impl Arbiter {
    /// Takes a request from an endpoint.
    pub fn handle_request(&mut self, now: Time, request: &Request) {
        let source = request.source;
        let Some(client) = self.clients.get_mut(usize::from(source)) else {
            self.counters.unknown_source += 1;
            return;
        };
        if !client.requests.admits(now, self.params.request_interval, self.params.request_burst) {
            self.counters.flooding += 1;
            return;
        }
        if !self.clocks.hear(now, request, self.frame.timeslots.of(now)) {
            self.counters.absurd_clock += 1;
        }
        self.wakes_late(now);
        match self.succession.term_order(request.term) {
            TermOrder::Absurd => self.counters.absurd_term += 1,
            TermOrder::Newer => self.hear_newer_term(now, request),
            TermOrder::Older if self.succession.role == Role::Primary => self.answer_older_term(now, request),
            TermOrder::Own if self.succession.role == Role::Primary => self.answer(now, request),
            TermOrder::Own => self.overhear(now, request),
            TermOrder::Older => {}
        }
        self.reschedule(source);
    }

    /// An endpoint follows a newer term than this arbiter knows of: there is another primary, if it is true.
    fn hear_newer_term(&mut self, now: Time, request: &Request) {
        self.counters.newer_term += 1;
        if let Some(term) = self.succession.claim(request.term, request.source) {
            self.counters.stepped_down += u64::from(self.succession.role == Role::Primary);
            self.follow(now, term);
        } else if self.succession.begins_to_doubt() && self.params.doubt > Span::ZERO {
            self.counters.doubts += 1;
            let until = self.frame.slot(now + self.params.doubt) + u64::from(self.params.ahead);
            self.batches.leave_out_before(until);
        }
    }

    /// An endpoint follows no term or an older one: it is told of this one.
    fn answer_older_term(&mut self, now: Time, request: &Request) {
        self.counters.stale_term += 1;
        let client = &mut self.clients[usize::from(request.source)];
        // One that follows nobody has been served by nobody.
        let followed = request.term != 0;
        if followed && self.succession.may_have_rival(now, &self.params) && client.comes_late() {
            self.postpone(now);
        }
        self.clients[usize::from(request.source)].ask_reset();
    }

    /// A standby reads in a request whether the primary goes on sending allocations.
    fn overhear(&mut self, now: Time, request: &Request) {
        let client = &mut self.clients[usize::from(request.source)];
        if request.heard.latest > client.of_primary {
            client.of_primary = request.heard.latest;
            self.succession.see_alive(now, request.source);
        }
    }

    /// A request to be answered by grants.
    fn answer(&mut self, now: Time, request: &Request) {
        let source = request.source;
        if !self.is_of_this_life(request) {
            return;
        }
        let client = &mut self.clients[usize::from(source)];
        client.follow();
        let news = client.heard.note(request.seq);
        if matches!(news, News::Duplicate | News::Forgotten) {
            self.counters.duplicate_requests += 1;
            return;
        }
        if !request.demands.is_empty() {
            client.owed = client.owed.or(Some(now));
        }
        client.acknowledge(request.heard, self.counts.granted_by(source));
        while let Some((path, lost)) = client.poll_fate(request.heard) {
            self.faults.handle_allocation_fate(now, source, path, lost);
        }
        self.counters.requests += 1;
        self.mind_clocks(now, request);
        for &demand in request.demands.iter() {
            self.demand(now, source, demand, news);
        }
        self.hear_reports(now, source, &request.reports);
    }

    /// Does something about clocks if they are apart.
    fn mind_clocks(&mut self, now: Time, request: &Request) {
        match self.clocks.advise(now, request, self.frame.ahead) {
            Advice::Stay => {}
            Advice::Translated => self.counters.clock_translated += 1,
            Advice::Move(ahead) => {
                self.counters.clock_moved += 1;
                self.frame.ahead = ahead;
            }
        }
    }

    /// Returns whether a request is of the endpoint's present incarnation. A newer one than was known makes all else that was
    /// known of the endpoint void.
    fn is_of_this_life(&mut self, request: &Request) -> bool {
        let known = self.clients[usize::from(request.source)].incarnation;
        if request.incarnation < known {
            self.counters.stale_incarnation += 1;
            return false;
        }
        if request.incarnation > known {
            self.forget(request.source);
            self.clients[usize::from(request.source)].incarnation = request.incarnation;
        }
        true
    }

    /// Takes a demand of an endpoint.
    fn demand(&mut self, now: Time, source: Address, demand: Demand, news: News) {
        if usize::from(demand.destination) >= self.clients.len() {
            self.counters.unknown_destination += 1;
            return;
        }
        if demand.destination == source {
            self.counters.own_destination += 1;
            return;
        }
        let demanded = self.counts.demanded(source, demand.destination);
        let more = demand.demanded.wrapping_sub(*demanded);
        if more == 0 {
            return;
        }
        if more > u32::MAX / 2 {
            // A request that was overtaken says less than is known.
            self.counters.backwards += u64::from(news == News::Latest);
            return;
        }
        match self.batches.request(self.frame.slot(now), source, demand.destination, more) {
            Ok(()) => {
                *demanded = demand.demanded;
                self.counters.demanded += u64::from(more);
            }
            Err(Refusal::OverLimit | Refusal::TooManyOutstanding) => self.counters.over_limit += 1,
            Err(refusal) => unreachable!("checked before: {refusal}"),
        }
    }

    /// Takes what an endpoint says of packets lost on paths.
    fn hear_reports(&mut self, now: Time, source: Address, reports: &[PathReport]) {
        for report in reports {
            let known = usize::from(report.destination) < self.clients.len();
            if !known || report.destination == source || report.lost > report.sent {
                self.counters.bad_reports += 1;
                continue;
            }
            self.faults.handle_report(now, source, *report);
        }
    }
}
