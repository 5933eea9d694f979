//! The memory of transports: the counters of each, and the paths over which packets are sprayed.

use super::share::Share;
use super::traffic;
use crate::model::{Scenario, Spray, Transport};
use crate::simulation::footprint::transport_bytes;
use crate::topology::routing::most_paths;
use crate::topology::shape;
use crate::traffic::Table;

/// Paths that packets are sprayed over: as many as any two hosts have, and no more than are allowed; zero where no
/// transport's packets take several.
pub(super) fn sprayed_paths(scenario: &Scenario) -> f64 {
    let any = scenario.transports.iter().any(Transport::has_several_paths);
    let paths = || most_paths(&scenario.network).min(Spray::MOST_PATHS);
    f64::from(if any { paths() } else { 0 })
}

pub(super) fn counters_share(scenario: &Scenario) -> Share {
    let transports = scenario.transports.len();
    Share {
        bytes: transports as f64 * transport_bytes(),
        what: format!("what is counted for {transports} transports"),
        key: "transport".into(),
        remedy: "use fewer transports",
    }
}

/// The share of each transport that sprays its packets, over `shortest` paths if it does not say over how many.
pub(super) fn spray_shares(scenario: &Scenario, shortest: f64) -> Vec<Share> {
    let transports = scenario.transports.iter().enumerate();
    let sprayed = transports.filter(|(_, transport)| transport.has_several_paths());
    let share = |(index, transport): (usize, &Transport)| {
        let tables = Table::all(scenario).filter(|table| table.traffic.transport == index);
        let flows: f64 = tables.map(|table| traffic::flows(&table)).sum();
        let paths = transport.paths.map_or(shortest, f64::from);
        Share {
            bytes: flows * paths * shape::of(&scenario.network.topology).path_bytes(),
            what: format!("{paths:.0} paths of each of {flows:.0} flows"),
            key: format!("transport.{}.spray", transport.name),
            remedy: "leave each flow on one path, or start fewer flows",
        }
    };
    sprayed.map(share).collect()
}
