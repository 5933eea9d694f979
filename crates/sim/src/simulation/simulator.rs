//! A network with its traffic, at some instant: all domains of a run, and their threads.

use std::ops::ControlFlow;
use std::sync::Arc;

use clearway_proto::units::Time;

use super::build;
use super::crew::Crew;
use super::domain::Domain;
use super::plan::{sized, Plan};
use crate::engine::agenda::Agenda;
use crate::engine::batches::Batches;
use crate::engine::calendar::Calendar;
use crate::model::Scenario;
use crate::traffic::{Demand, FlowSpec};

/// Events of a domain between two looks at whether to go on.
const CHECK_EVERY: u64 = 8192;

/// A network with its traffic, at some instant.
#[derive(Debug)]
pub struct Simulation {
    pub(super) plan: Arc<Plan>,
    pub(super) domains: Vec<Domain>,
    /// The threads; `None` where there is one domain.
    pub(super) crew: Option<Crew>,
    /// Everything before this instant has happened.
    pub(super) time: Time,
    /// Not everything is complete before the last flow with a size starts and the last without one stops.
    pub(super) no_end_before: Time,
    /// The flows with a size before this one are complete.
    pub(super) awaited: u32,
}

impl Simulation {
    /// Builds the network and traffic of a scenario at time zero, to be run by at most `threads` threads. The result is the same
    /// for any number.
    pub fn new(scenario: &Scenario, threads: usize) -> Simulation {
        let plan = Arc::new(build::plan(scenario, threads));
        let domains = build::domains(scenario, &plan);
        let crew = (domains.len() > 1).then(|| Crew::new(&plan, domains.len()));
        let no_end_before = no_end_before(&plan.specs);
        Simulation { plan, domains, crew, time: Time::ZERO, no_end_before, awaited: 0 }
    }

    /// Lets everything before `limit` happen. `proceed` is asked every few thousand events, with the time
    /// reached in picoseconds and the packet-hops so far. Where it breaks off, everything before the end of a window has
    /// happened in all domains, and that is the time of the simulation.
    pub fn run_until(
        &mut self,
        limit: Time,
        proceed: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // What other threads have come to is not known before they are back; about as much as the first.
        let share = self.domains.len() as u64;
        let before: u64 = self.domains[1..].iter().map(|domain| domain.out.packet_hops).sum();
        let at_start = self.domains[0].out.packet_hops;
        let mut ask = |domain: &mut Domain| {
            if domain.out.events < CHECK_EVERY {
                return ControlFlow::Continue(());
            }
            domain.out.events = 0;
            let since = domain.out.packet_hops - at_start;
            proceed(domain.out.end, before + at_start + since * share)
        };
        let flow = match &mut self.crew {
            Some(crew) => crew.run_until(&self.plan, &mut self.domains, limit.as_ps(), &mut ask),
            None => run_alone(&self.plan, &mut self.domains[0], limit.as_ps(), &mut ask),
        };
        // Where nothing had happened yet when it was asked, the last window is one of before.
        let reached = Time::from_ps(self.domains[0].out.end);
        self.time = if flow.is_break() { reached.max(self.time) } else { limit };
        flow
    }

    /// Frees the events to come, but for the frames that wait, and the room that windows use, so that there is room for tables. Nothing
    /// can happen afterwards.
    pub fn free_event_memory(&mut self) {
        for domain in &mut self.domains {
            if domain.fabric.ports.any_ruled() {
                domain.out.calendar.forget_times();
            } else {
                domain.out.calendar = Calendar::new(self.plan.windows, 0);
            }
            domain.out.agenda = Agenda::new(0);
            domain.batches = Batches::default();
            domain.fabric.free_scratch();
        }
    }
}

/// Lets everything before `limit` happen in the one domain that there is.
fn run_alone(
    plan: &Plan,
    domain: &mut Domain,
    limit: u64,
    proceed: &mut dyn FnMut(&mut Domain) -> ControlFlow<()>,
) -> ControlFlow<()> {
    while let Some(window) = domain.next_window().filter(|&window| plan.windows.start(window) < limit) {
        let end = plan.windows.end(window).min(limit);
        domain.run_window(plan, window, end);
        proceed(domain)?;
        if end == limit {
            break;
        }
    }
    ControlFlow::Continue(())
}

/// Returns when the last flow with a size starts and the last without one stops; those that have no stop either never end.
fn no_end_before(specs: &[FlowSpec]) -> Time {
    // A job's flow ends with its job, which is asked.
    let each = specs.iter().map(|spec| match sized(spec) {
        None if spec.demand != Demand::Messages => spec.stop.unwrap_or(Time::NEVER),
        _ => spec.start,
    });
    each.max().unwrap_or(Time::ZERO)
}
