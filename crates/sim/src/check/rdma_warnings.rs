//! Warnings about RDMA transports: what can be run but is unlikely to be meant.

use clearway_proto::baseline::rdma::irn::IrnParams;

use super::empty_path::{longest_empty_paths, us, EmptyPath};
use crate::model::{Protocol, Scenario, Transport};
use crate::scenario::key::Shown;
use crate::topology::shape;

/// The least share of its NIC that a bitmap may let a flow have on the longest empty path.
const LEAST_SHARE: f64 = 0.95;

/// A sentence for each thing that is unlikely to be meant.
pub(super) fn of(scenario: &Scenario) -> Vec<String> {
    let irn = |transport: &Transport| matches!(transport.protocol, Protocol::Irn(_));
    let longest = longest_empty_paths(scenario, irn);
    let mut warnings: Vec<String> =
        longest.iter().flat_map(|(transport, path)| irn_on(scenario, *transport, path)).collect();
    warnings
        .extend(scenario.transports.iter().filter_map(|transport| irn_that_is_paused(scenario, transport)));
    for transport in &scenario.transports {
        let name = &transport.name;
        let Some(params) = transport.rdma_congestion() else { continue };
        if params.is_unread() {
            warnings.push(format!(
                "transport.{name}: keys of DCQCN are set and nothing reads them; set congestion = \"dcqcn\""
            ));
        }
    }
    warnings
}

/// Warns of IRN over switches that pause its packets: while these wait, its timers run.
fn irn_that_is_paused(scenario: &Scenario, transport: &Transport) -> Option<String> {
    let Protocol::Irn(IrnParams { rto_low, rto_high, .. }) = &transport.protocol else { return None };
    let lossless = scenario.classes.get(transport.class).is_none_or(|class| class.lossless);
    if !lossless || !scenario.switches.any_pfc() {
        return None;
    }
    let (name, [low, high]) = (&transport.name, [*rto_low, *rto_high].map(us));
    Some(format!(
        "transport.{name}: switches pause its packets, and its timers run on while these wait: what no switch drops is sent again \
         after {low} or {high}. Timeouts are to be off where PFC is on: raise rto_low and rto_high above the longest pause, put the \
         transport into a class that is not lossless, or leave pfc out",
    ))
}

/// Returns what does not suit the longest empty path of an IRN transport.
fn irn_on(scenario: &Scenario, transport: usize, path: &EmptyPath) -> Vec<String> {
    let network = &scenario.network;
    let transport = &scenario.transports[transport];
    let Protocol::Irn(params) = &transport.protocol else { return Vec::new() };
    let IrnParams { bitmap, rto_low, .. } = params;
    let (name, trip) = (&transport.name, path.there + path.back);
    let full = f64::from(network.mtu + transport.header + network.framing) * 8e12;
    let rate = shape::host_rates(network).get(path.hosts.0);
    let product = trip.as_ps() as f64 * rate.as_bps() as f64 / full;
    let ((from, to), [low, there_and_back]) = (path.hosts, [*rto_low, trip].map(us));
    let mut warnings = Vec::new();
    if f64::from(*bitmap) < LEAST_SHARE * product {
        let (fit, gbps) = (product.ceil(), f64::from(*bitmap) * full / trip.as_ps() as f64 / 1e9);
        warnings.push(format!(
            "transport.{name}.bitmap: {bitmap} packets are below the {fit:.0} that fit the {there_and_back} there and back between \
             hosts {from} and {to} at {}: a flow gets at most {gbps:.1} Gb/s; raise bitmap, or mean it",
            rate.shown(),
        ));
    }
    if *rto_low < trip {
        warnings.push(format!(
            "transport.{name}.rto_low: {low} is below the {there_and_back} that a full packet and its acknowledgement take on the \
             empty path from host {from} to host {to}: what is only late will be sent again; raise rto_low",
        ));
    }
    warnings
}
