//! The memory of Fastpass: endpoints, arbiters, and the paths of packets and control packets.

use super::share::Share;
use crate::model::Scenario;
use crate::net::served::Served;
use crate::record::fastpass::{arbiter_row_bytes, ENDPOINT_ROW};
use crate::simulation::footprint::{arbiter_bytes, endpoint_bytes, CONTROL_WAYS};
use crate::topology::shape;

/// The shares of endpoints and of arbiters; none where there is no arbiter. Every host that is served may have an endpoint.
pub(super) fn shares(scenario: &Scenario) -> Vec<Share> {
    let Some(arbiters) = &scenario.arbiters else { return Vec::new() };
    let shape = shape::of(&scenario.network.topology);
    let served = Served::by(arbiters, &scenario.network).hosts.len();
    let (hosts, count) = (served as f64, arbiters.nodes.len() as f64);
    let conversations = count * (hosts + count);
    let paths = conversations * CONTROL_WAYS as f64 * shape.path_bytes();
    vec![
        Share {
            bytes: hosts * (endpoint_bytes(hosts) + ENDPOINT_ROW) + paths,
            what: format!("{hosts:.0} endpoints and their paths to arbiters"),
            key: "arbiter".into(),
            remedy: "make the network smaller",
        },
        Share {
            bytes: count * (arbiter_bytes(hosts) + arbiter_row_bytes(&*shape)),
            what: format!("{count:.0} arbiters"),
            key: "arbiter.at".into(),
            remedy: "use fewer arbiters, or make the network smaller",
        },
    ]
}
