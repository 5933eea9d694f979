//! What may be seen from outside of faults: what each has cost, and who can never end for them.

use std::collections::BTreeSet;

use clearway_proto::units::Time;

use super::cut_off::CutOff;
use super::plan::sized;
use super::simulator::Simulation;
use crate::model::Scenario;
use crate::net::rules::Rules;

/// How many flows a message names.
const NAMED: usize = 4;

impl Simulation {
    /// Returns how many frames and bytes each fault has cost, by the number of its table: lost on links, taken from queues, or dropped
    /// where no way was left.
    pub fn fault_losses(&self, faults: usize) -> Vec<[u64; 2]> {
        let mut all = vec![[0; 2]; faults];
        let mut add = |fault: u32, frames: u64, bytes: u64| {
            let of = &mut all[fault as usize];
            *of = [of[0] + frames, of[1] + bytes];
        };
        for link in 0..self.links() {
            let (domain, at) = self.domain_of_port(link);
            let rules = domain.fabric.ports.rules_if_any(at);
            for window in rules.into_iter().flat_map(Rules::loss_windows) {
                add(window.fault, window.frames, window.bytes);
            }
        }
        for (&(fault, ..), taken) in self.taken() {
            add(fault, taken.frames, taken.bytes);
        }
        all
    }

    /// Returns what faults have taken from queues or kept from finding a way, all together: frames and bytes.
    pub fn taken_by_faults(&self) -> [u64; 2] {
        self.taken().fold([0; 2], |all, (_, taken)| [all[0] + taken.frames, all[1] + taken.bytes])
    }

    /// Returns whether switches route around dead links.
    pub fn routes_around(&self) -> bool {
        self.plan.forwarding.is_some()
    }

    /// Returns whether any flow is cut off for good at some time.
    pub fn cuts_off(&self) -> bool {
        !self.plan.cut_off.is_empty()
    }

    /// A sentence about jobs, and where the run waits for them flows, that can never end, as a fault has cut them off by now for good;
    /// `None` where there are none.
    pub fn stranded(&self, scenario: &Scenario) -> Option<String> {
        let now: Vec<CutOff> =
            self.plan.cut_off.iter().copied().filter(|cut| cut.since <= self.time).collect();
        let mut jobs = BTreeSet::new();
        let mut flows = Vec::new();
        let mut first: Option<CutOff> = None;
        for cut in now {
            let spec = &self.plan.specs[cut.flow as usize];
            let of_job = self.plan.jobs.iter().position(|job| job.table == spec.table);
            let waits = if let Some(job) = of_job {
                self.has_messages_left(job, cut.flow)
            } else {
                let incomplete = self.receiver(cut.flow).completed_at == Time::NEVER;
                scenario.stop_when_complete && sized(spec).is_some() && incomplete
            };
            if !waits {
                continue;
            }
            first = first.filter(|first| first.since <= cut.since).or(Some(cut));
            match of_job {
                Some(job) => drop(jobs.insert(job)),
                None => flows.push(cut.flow),
            }
        }
        let first = first?;
        let names = self.stranded_names(&jobs, &flows);
        let table = &scenario.fault_tables[first.fault as usize];
        let spec = &self.plan.specs[first.flow as usize];
        let name = |host: u32| &self.plan.graph.nodes()[host as usize].name;
        Some(format!(
            "{names} can never end: since {} no way joins {} and {}, for fault[{}] ({} of {}), which has no end; give that fault an \
             until, or the network another way",
            first.since.since(Time::ZERO),
            name(spec.from),
            name(spec.to),
            first.fault,
            table.kind,
            table.place,
        ))
    }

    /// The names of jobs and flows, as a message lists them.
    fn stranded_names(&self, jobs: &BTreeSet<usize>, flows: &[u32]) -> String {
        let of_jobs = jobs.iter().map(|&job| format!("job[{job}] ({})", self.plan.jobs[job].job.name));
        let of_flows = flows.iter().map(|flow| format!("flow {flow}"));
        let mut names: Vec<String> = of_jobs.chain(of_flows).collect();
        let more = names.len().saturating_sub(NAMED);
        if more > 0 {
            names.truncate(NAMED);
            names.push(format!("{more} more"));
        }
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => String::new(),
        }
    }

    /// Returns whether a job has messages left to send on a flow.
    fn has_messages_left(&self, job: usize, flow: u32) -> bool {
        let plan = &self.plan.jobs[job];
        let pair = plan.connection(flow).pair as usize;
        let rank = plan.graph().pairs[pair].from;
        let first = plan.graph().pairs_from(rank).start;
        let outgoing = &self.rank(plan, rank).outgoing[pair - first as usize];
        let all = plan.graph().pairs[pair].bytes * u64::from(plan.job.iterations);
        outgoing.acknowledged < all
    }
}
