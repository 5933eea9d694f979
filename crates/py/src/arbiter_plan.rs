//! The plan of an arbiter, for options as a person writes them, as JSON.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use clearway_host::arbiter::selection_time::{self, SelectionParams};
use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams};
use clearway_proto::fastpass::plan::{ArbiterPlan, Costs, Needs, GRANTS};
use clearway_proto::fastpass::workload::{Requests, Sizes};
use clearway_proto::parameter::Shown;
use clearway_proto::units::{Bytes, Rate, Span};
use serde_json::{json, Value};

use crate::options::{Options, Problem, BEYOND_MTU};
use crate::progress::now;

/// What the scenario's transport puts before its payload.
const HEADER: u64 = 52;
/// The longest slot of an arbiter in a scenario.
const LONGEST_SLOT: Span = Span::from_us(100);
/// Batches that are timed.
const TIMED: usize = 400;

/// A plan for the options given, as a JSON object; what its work costs is measured here if `measures`.
pub fn arbiter(given: &BTreeMap<String, String>, measures: bool) -> Result<Value, Vec<Problem>> {
    let mut options = Options::new(given);
    let mut plan = read(&mut options, given);
    if measures {
        for name in ["grant_ns", "path_ns"].into_iter().filter(|name| given.contains_key(*name)) {
            options.problem(name, "is given and to be measured: give one of the two");
        }
    }
    if !options.problems.is_empty() {
        return Err(options.problems);
    }
    if measures {
        measure(&mut plan);
    }
    let needs = plan.needs(1, GRANTS).map_err(|error| vec![("hosts".into(), error.to_string())])?;
    Ok(answer(&plan, &needs, measures))
}

fn read(options: &mut Options, given: &BTreeMap<String, String>) -> ArbiterPlan {
    if !given.contains_key("hosts") {
        options.problem("hosts", "is missing: how many hosts send in timeslots, such as 256");
    }
    let hosts = options.count("hosts", 2, &(2..=8192));
    let rate = options.rate();
    let frame = options.frame("mtu").unwrap_or(Bytes::new(1500 + BEYOND_MTU));
    let batch = options.count("batch", 16, &(1..=64));
    let slot = read_slot(options, frame, rate);
    let racks = options.count("racks", 1, &(1..=128));
    let plan = ArbiterPlan {
        hosts,
        rate,
        arbiter_rate: options.rate_or("arbiter_rate", rate),
        frame,
        payload: Bytes::new(frame.get() - BEYOND_MTU - HEADER),
        slot,
        racks,
        paths: options.count("paths", 4, &(1..=32)),
        batch,
        ahead: options.count("ahead", 40, &(1..=100_000)),
        interval: options.time("request_interval", Span::from_us(34), Span::from_ms(10)),
        load: options.number("load", 0.6, &(0.01..=1.0)),
        message: options.count("message", 10, &(1..=1000)),
        delay: options.time("delay", Span::from_us(1), Span::from_ms(10)),
        latency: options.time("arbiter_latency", Span::ZERO, Span::from_ms(10)),
        arbiters: options.count("arbiters", 1, &(1..=8)),
        costs: Costs {
            grant: options.number("grant_ns", Costs::grant_ns(hosts, batch), &(0.1..=10_000.0)),
            path: options.number("path_ns", Costs::path_ns(racks), &(0.1..=10_000.0)),
            packet: options.number("packet_ns", Costs::PACKET_NS, &(1.0..=100_000.0)),
        },
    };
    if plan.racks > 1 && plan.hosts % plan.racks != 0 {
        let (hosts, racks) = (plan.hosts, plan.racks);
        options.problem("racks", format!("{hosts} hosts cannot be {racks} racks of as many each"));
    }
    if plan.racks == 1 && given.contains_key("paths") {
        options.problem("paths", "one rack has one path to each host: give racks as well");
    }
    plan
}

/// The slot that is given, or that of a full frame with a hundredth for what has none.
fn read_slot(options: &mut Options, frame: Bytes, rate: Rate) -> Span {
    let full = rate.transmission(frame);
    let default = Span::from_ps((full.as_ps() as f64 / 0.99) as u64);
    let slot = options.time("slot", default, LONGEST_SLOT);
    if slot < full {
        let message = format!(
            "{} is shorter than a frame of {} takes on a link of {}, {}: queues would grow without end",
            slot.shown(),
            frame.shown(),
            rate.shown(),
            full.shown()
        );
        options.problem("slot", message);
    } else if slot > LONGEST_SLOT {
        let whole = Span::from_us(slot.as_ps() / Span::from_us(1).as_ps());
        let message = format!("makes slots of {}; the longest is {}", whole.shown(), LONGEST_SLOT.shown());
        options.problem("rate", message);
    }
    slot
}

/// Measures on this machine what a grant costs at a load of 0.86, and a path at 0.9, on one core.
fn measure(plan: &mut ArbiterPlan) {
    let nodes = plan.hosts;
    let params = AllocatorParams { nodes: nodes.into(), slots: plan.batch, ..AllocatorParams::default() };
    let mut allocator = Allocator::new(&params).expect("options that were checked");
    let mut requests = Requests::new(1, nodes, 10, Sizes::Fixed);
    let mean = 0.86 * f64::from(nodes) * f64::from(plan.batch) / 10.0;
    let drawn: Vec<_> = (0..TIMED).map(|_| requests.batch(mean)).collect();
    let (mut grants, mut started) = (0_usize, now());
    for (number, batch) in drawn.iter().enumerate() {
        if number == TIMED / 4 {
            // Until here memory is fetched and the queue fills.
            (grants, started) = (0, now());
        }
        for one in batch {
            // A pair that waits for too much is refused, as it would be.
            let _ = allocator.request(one.source.into(), one.destination.into(), one.slots);
        }
        let schedule = allocator.allocate();
        grants += (0..schedule.slots()).map(|slot| schedule.slot(slot).len()).sum::<usize>();
    }
    plan.costs.grant = started.elapsed().as_nanos() as f64 / grants.max(1) as f64;
    if plan.racks == 1 {
        return;
    }
    let (racks, hosts) = (usize::from(plan.racks), usize::from(plan.hosts / plan.racks));
    let paths = usize::from(plan.paths);
    let params = SelectionParams { racks, hosts, paths, utilisation: 0.9, repeats: 11 };
    if let Ok(Some(mut times)) = selection_time::measure(&params, 1, &mut |_| ControlFlow::Continue(())) {
        times.sort_by(f64::total_cmp);
        plan.costs.path = 1e3 * times[times.len() / 2] / (0.9 * f64::from(nodes));
    }
}

fn answer(plan: &ArbiterPlan, needs: &Needs, measured: bool) -> Value {
    let us = |times: Option<[Span; 2]>| {
        times.map(|[mean, p99]| json!({ "mean_us": mean.as_us_f64(), "p99_us": p99.as_us_f64() }))
    };
    let [allocation, paths, packets] = needs.cores;
    json!({
        "network": {
            "hosts": plan.hosts,
            "rate_bps": plan.rate.as_bps(),
            "arbiter_rate_bps": plan.arbiter_rate.as_bps(),
            "frame_bytes": plan.frame.get(),
            "payload_bytes": plan.payload.get(),
            "slot_us": plan.slot.as_us_f64(),
            "racks": plan.racks,
            "paths": if plan.racks > 1 { plan.paths } else { 1 },
            "batch": plan.batch,
            "ahead": plan.ahead,
            "request_interval_us": plan.interval.as_us_f64(),
            "load": plan.load,
            "message": plan.message,
            "delay_us": plan.delay.as_us_f64(),
            "arbiter_latency_us": plan.latency.as_us_f64(),
            "arbiters": plan.arbiters,
        },
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
