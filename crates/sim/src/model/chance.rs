//! Whether a scenario leaves anything to chance: whether its seed has a say.

use super::clock::Timestamps;
use super::scenario::Scenario;
use super::switch::{Ecn, SwitchRole};
use super::topology::Topology;
use super::traffic::{Pattern, Traffic};

impl Scenario {
    /// Returns whether every seed gives the same run, for certain. `false` says nothing: what is drawn may make no difference.
    ///
    /// This excludes all that draws from the seed, which is every [`Entity`](crate::random::Entity); a choice of paths is none
    /// where two ends have one path between them. WHATEVER IS NEW AND DRAWS HAS TO BE EXCLUDED HERE; new shapes and
    /// patterns are, until they are named.
    pub fn leaves_nothing_to_chance(&self) -> bool {
        let one_path = matches!(self.network.topology, Topology::Star { .. } | Topology::Dumbbell { .. });
        let ideal = self.hosts.all_ideal();
        let exact = self.hosts.kinds.iter().all(|kind| kind.clock.timestamps == Timestamps::Exact);
        let of_classes = self.classes.iter().filter_map(|class| class.ecn);
        let of_switches = SwitchRole::ALL.iter().map(|&role| self.switches.of(role).ecn);
        let draws_marks = of_classes.chain(of_switches).any(|ecn| matches!(ecn, Ecn::Red { .. }));
        let undisturbed = self.fault_tables.is_empty();
        let no_agents = self.probes.is_empty() && self.arbiters.is_none();
        let fixed = self.traffic.iter().all(draws_nothing);
        one_path && ideal && exact && !draws_marks && undisturbed && no_agents && fixed
    }
}

/// Returns whether a table draws nothing from the seed. A pattern that is not listed here is taken to draw.
fn draws_nothing(traffic: &Traffic) -> bool {
    let (earliest, latest) = traffic.start;
    let fixed = matches!(
        traffic.pattern,
        Pattern::Incast { .. }
            | Pattern::AllToAll { .. }
            | Pattern::ClosedLoop { .. }
            | Pattern::Trace { .. }
    );
    earliest == latest && fixed
}
