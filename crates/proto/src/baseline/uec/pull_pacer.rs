//! RCCC's pacer: what one NIC grants to all flows that end there, so that they arrive at a little less than its rate from the
//! first round trip on (ultraethernet/uet-htsim, `htsim/sim/uec.cpp`, `UecPullPacer`).
//!
//! Flows that have asked for more than they were granted are served in turn. While there is none, those that have had all they
//! asked for are granted some credit ahead, in turn too: with that they begin anew without waiting for a round trip, and hear of
//! grants that were lost.
//!
//! NDP's pull queue (Handley et al., SIGCOMM 2017, §3.2) is the same with other terms: a packet for each that has arrived, to the flows
//! in turn, one in the time of a packet, and nothing ahead.

use std::collections::VecDeque;

use super::demand::Demand;
use crate::machine::Readiness;
use crate::transport::{Ask, PullTerms};
use crate::units::Time;

/// Quanta for which the pacer waits after a grant of nothing new, which repeats what was granted (`doNextEvent`).
const REPEAT: u64 = 4;

/// The place of a flow with a pacer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// It is to be granted nothing.
    Out,
    /// It waits for its turn (`_active_senders`).
    Asking,
    /// It may be granted credit ahead (`_idle_senders`).
    Ahead,
}

#[derive(Debug)]
struct Flow {
    demand: Demand,
    place: Place,
    /// It stands among those that may be granted credit ahead, perhaps with another place meanwhile.
    listed: bool,
}

/// A grant of credit to one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pull {
    /// The flow, by its number with the pacer.
    pub flow: u32,
    /// All that it was granted since it began, in quanta.
    pub granted: u64,
}

/// The pacer of one NIC.
#[derive(Debug, Default)]
pub struct PullPacer {
    flows: Vec<Flow>,
    /// The flows whose place is [`Place::Asking`], in the order of their turns.
    asking: VecDeque<u32>,
    /// The flows that are listed, in the order of their turns.
    ahead: VecDeque<u32>,
    /// The end of the time that the last grant takes of the NIC.
    free_at: Time,
}

impl PullPacer {
    /// Returns the number that a new flow has with this pacer; numbers are given in order, from 0 on.
    pub fn add(&mut self, terms: PullTerms) -> u32 {
        self.flows.push(Flow { demand: Demand::new(terms), place: Place::Out, listed: false });
        (self.flows.len() - 1) as u32
    }

    /// A packet of a flow has come, whole or `cut` to its header, with what it asks for (`requestPull`).
    pub fn handle_ask(&mut self, flow: u32, ask: &Ask, cut: bool) {
        let of = &mut self.flows[flow as usize];
        if of.demand.handle_ask(ask, cut) && of.place != Place::Asking {
            of.place = Place::Asking;
            self.asking.push_back(flow);
        }
    }

    /// Returns whether there is something to grant.
    pub fn readiness(&self, now: Time) -> Readiness {
        if self.asking.is_empty() && self.ahead.is_empty() {
            Readiness::Idle
        } else if now < self.free_at {
            Readiness::At(self.free_at)
        } else {
            Readiness::Ready
        }
    }

    /// The next grant, at `now` (`doNextEvent`). To be called when [`Self::readiness`] is `Ready`; panics when there is nothing to
    /// grant.
    pub fn transmit(&mut self, now: Time) -> Pull {
        let (flow, (granted, more)) = if let Some(flow) = self.asking.pop_front() {
            (flow, self.grant(flow))
        } else {
            // Nobody asks, so all that are listed are there in earnest.
            let flow = self.ahead.pop_front().expect("there is something to grant");
            (flow, self.grant_ahead(flow))
        };
        let terms = self.flows[flow as usize].demand.terms();
        let repeat = if terms.by_arrival { 1 } else { REPEAT };
        self.free_at = now + terms.quantum * if more == 0 { repeat } else { more };
        Pull { flow, granted }
    }

    fn grant(&mut self, flow: u32) -> (u64, u64) {
        let of = &mut self.flows[flow as usize];
        let granted = of.demand.grant();
        if of.demand.is_open() {
            self.asking.push_back(flow);
        } else if of.demand.terms().by_arrival {
            of.place = Place::Out;
        } else {
            of.place = Place::Ahead;
            if !std::mem::replace(&mut of.listed, true) {
                self.ahead.push_back(flow);
            }
        }
        granted
    }

    fn grant_ahead(&mut self, flow: u32) -> (u64, u64) {
        let of = &mut self.flows[flow as usize];
        debug_assert!(of.place == Place::Ahead && of.listed);
        let granted = of.demand.grant_ahead();
        if of.demand.may_run_ahead() {
            self.ahead.push_back(flow);
        } else {
            (of.place, of.listed) = (Place::Out, false);
        }
        granted
    }
}
