//! The flows of a run and the links that their data will cross, known before the run.

use super::build;
use super::plan::Plan;
use crate::host::transport::Maker;
use crate::model::Scenario;
use crate::topology::Graph;
use crate::traffic::FlowSpec;

/// The flows of a scenario with their routes, exactly those of a run of it.
#[derive(Debug)]
pub struct DataRoutes {
    plan: Plan,
}

impl DataRoutes {
    /// The flows and routes of this scenario. It takes the time and the memory that a run takes to plan.
    pub fn of(scenario: &Scenario) -> DataRoutes {
        DataRoutes { plan: build::plan(scenario, 1) }
    }

    /// The network.
    pub fn graph(&self) -> &Graph {
        &self.plan.graph
    }

    /// The flows, by number.
    pub fn flows(&self) -> &[FlowSpec] {
        &self.plan.specs
    }

    /// The maker of a transport's flows, by the transport's number.
    pub fn maker(&self, transport: u32) -> &Maker {
        &self.plan.makers[transport as usize]
    }

    /// The pair of ranks whose messages a flow of a job carries. Panics where it carries none.
    pub fn pair_of(&self, flow: u32) -> u32 {
        self.plan.job_of(flow).connection(flow).pair
    }

    /// Returns the number of routes that a flow's data takes.
    pub fn count(&self, flow: u32) -> u32 {
        self.plan.routes.of(flow).1
    }

    /// Calls `visit` with each directed link of each route of a flow's data.
    pub fn each_link(&self, flow: u32, mut visit: impl FnMut(u32)) {
        let (first, count) = self.plan.routes.of(flow);
        let from = self.plan.specs[flow as usize].from;
        for route in first..first + count {
            let steps = self.plan.routes.steps(route, false);
            self.plan.partition.links_of(&self.plan.graph, from, steps).into_iter().for_each(&mut visit);
        }
    }
}
