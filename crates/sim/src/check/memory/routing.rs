//! The memory of routes around dead links.

use std::collections::BTreeSet;

use super::share::Share;
use crate::model::Scenario;
use crate::simulation::footprint::distance_bytes;
use crate::topology::shape;

/// The share of the tables that switches have of a network without its dead links; nothing where routes are fixed.
pub(super) fn share(scenario: &Scenario) -> Option<Share> {
    scenario.routing.as_ref()?;
    let shape = shape::of(&scenario.network.topology);
    let switches: f64 = shape.roles().into_iter().map(|role| shape.switch_ports(role).0).sum();
    let instants: BTreeSet<_> =
        scenario.outages.iter().flat_map(|outage| [outage.from, outage.until]).collect();
    let sets = 1.0 + instants.len() as f64;
    Some(Share {
        bytes: distance_bytes(
            switches,
            switches.min(f64::from(shape.hosts()) + scenario.probes.len() as f64),
            sets,
        ),
        what: format!("{sets:.0} tables of routes"),
        key: "routing".into(),
        remedy: "let fewer links die, or at fewer instants",
    })
}
