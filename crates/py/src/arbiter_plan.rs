//! The plan of an arbiter, as JSON.

use std::ops::ControlFlow;

use clearway_host::arbiter::plan::{ArbiterPlan, Costs, Needs, GRANTS};
use clearway_host::arbiter::timing;
use clearway_proto::units::{Bytes, Rate, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{json, Value};

/// A network and its arbiter as Python asks for them: times in picoseconds, rates in bits a second, sizes in bytes; a cost that is
/// not given is the usual one.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    hosts: u16,
    rate: u64,
    arbiter_rate: u64,
    frame: u64,
    payload: u64,
    slot: u64,
    racks: u16,
    paths: u16,
    batch: u32,
    ahead: u32,
    interval: u64,
    load: f64,
    message: u32,
    delay: u64,
    latency: u64,
    arbiters: u16,
    grant_ns: Option<f64>,
    path_ns: Option<f64>,
    packet_ns: Option<f64>,
}

/// Returns what an arbiter needs, as JSON; what its work costs is measured on this machine if `measures`.
#[pyfunction]
pub fn plan_arbiter(py: Python<'_>, asked: Asked, measures: bool) -> PyResult<String> {
    let mut plan = ArbiterPlan {
        hosts: asked.hosts,
        rate: Rate::from_bps(asked.rate),
        arbiter_rate: Rate::from_bps(asked.arbiter_rate),
        frame: Bytes::new(asked.frame),
        payload: Bytes::new(asked.payload),
        slot: Span::from_ps(asked.slot),
        racks: asked.racks,
        paths: asked.paths,
        batch: asked.batch,
        ahead: asked.ahead,
        interval: Span::from_ps(asked.interval),
        load: asked.load,
        message: asked.message,
        delay: Span::from_ps(asked.delay),
        latency: Span::from_ps(asked.latency),
        arbiters: asked.arbiters,
        costs: Costs {
            grant: asked.grant_ns.unwrap_or_else(|| Costs::grant_ns(asked.hosts, asked.batch)),
            path: asked.path_ns.unwrap_or_else(|| Costs::path_ns(asked.racks)),
            packet: asked.packet_ns.unwrap_or(Costs::PACKET_NS),
        },
    };
    let needs = py.detach(|| {
        if measures {
            measure(&mut plan);
        }
        plan.needs(1, GRANTS)
    });
    let needs = needs.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(answer(&plan, &needs, measures).to_string())
}

/// Measures on this machine what a grant costs at a load of 0.86, and a path at 0.9, on one core.
fn measure(plan: &mut ArbiterPlan) {
    plan.costs.grant = timing::time_grants(plan.hosts, plan.batch).expect("options that were checked");
    if plan.racks == 1 {
        return;
    }
    let network = [plan.racks, plan.hosts / plan.racks, plan.paths].map(usize::from);
    if let Ok(Some(mut times)) = timing::time_paths(network, 0.9, 11, 1, &mut |_| ControlFlow::Continue(())) {
        times.sort_by(f64::total_cmp);
        plan.costs.path = 1e3 * times[times.len() / 2] / (0.9 * f64::from(plan.hosts));
    }
}

fn answer(plan: &ArbiterPlan, needs: &Needs, measured: bool) -> Value {
    let us = |times: Option<[Span; 2]>| {
        times.map(|[mean, p99]| json!({ "mean_us": mean.as_us_f64(), "p99_us": p99.as_us_f64() }))
    };
    let [allocation, paths, packets] = needs.cores;
    json!({
        "costs": {
            "grant_ns": plan.costs.grant,
            "path_ns": plan.costs.path,
            "packet_ns": plan.costs.packet,
            "measured": measured,
        },
        "requests_per_s": needs.requests,
        "allocations_per_s": needs.allocations,
        "grants_per_s": needs.grants,
        "slots_per_packet": needs.slots_a_packet,
        "request_bytes": needs.request_bytes,
        "allocation_bytes": needs.allocation_bytes,
        "cores": {
            "allocation": allocation, "paths": paths, "packets": packets, "whole": needs.whole_cores(),
        },
        "arbiter_link": { "requests": needs.arbiter_link[0], "allocations": needs.arbiter_link[1] },
        "host_link": {
            "requests": needs.host_link[0], "allocations": needs.host_link[1], "left": needs.left,
        },
        "first_slot": us(needs.first_slot),
        "last_slot": us(needs.last_slot),
        "told_us": needs.told.as_us_f64(),
        "ahead_least": needs.ahead[0],
        "ahead_most": needs.ahead[1],
        "hosts_told": needs.hosts_told(plan.hosts),
        "goodput_gbps": needs.goodput / 1e9,
        "falls_behind": needs.falls_behind,
    })
}
