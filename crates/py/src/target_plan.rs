//! The plan of a target delay, for options as a person writes them, as JSON.

use std::collections::BTreeMap;

use clearway_proto::swift::plan::{mean_queue, Outcome, TargetPlan};
use clearway_proto::units::{Bytes, Span};
use serde_json::{json, Value};

use crate::options::{Options, Problem, BEYOND_MTU};

/// What Swift puts before its payload, and all that an acknowledgement carries: what scenarios have.
const HEADER: u64 = 64;

/// The shapes of network, each with the switches on its longest path.
const SHAPES: [(&str, u8); 3] = [("star", 1), ("leaf_spine", 3), ("fat_tree", 5)];

/// A plan for the options given, as a JSON object.
pub fn target(given: &BTreeMap<String, String>) -> Result<Value, Vec<Problem>> {
    let mut options = Options::new(given);
    let rate = options.rate();
    let mtu = options.size("mtu", &(Bytes::new(256)..=Bytes::new(65_000)));
    let mtu = mtu.unwrap_or(Bytes::new(4_096 + HEADER)).get();
    let (topology, switches) = shape(&mut options, given);
    let hosts = options.count("hosts", 16, &(3..=65_536));
    let plan = TargetPlan {
        rate,
        delay: options.time("delay", Span::from_us(1), Span::from_ms(10)),
        frame: Bytes::new(mtu + BEYOND_MTU),
        ack: Bytes::new(HEADER + BEYOND_MTU),
        payload: Bytes::new(mtu - HEADER),
        switches,
        flows: options.count("flows", 100, &(1..=100_000)),
        few: options.count("few_flows", 4, &(0..=1_000)),
        jitter: options.time("jitter", Span::ZERO, Span::from_ms(10)),
        flow_scaling: true,
    };
    if options.problems.is_empty() {
        check(&mut options, &plan);
    }
    if options.problems.is_empty() {
        Ok(answer(&plan, topology, hosts))
    } else {
        Err(options.problems)
    }
}

/// The shape of the network, and the switches on its longest path.
fn shape(options: &mut Options, given: &BTreeMap<String, String>) -> (&'static str, u8) {
    let text = given.get("topology").map_or("star", String::as_str);
    SHAPES.into_iter().find(|(name, _)| *name == text).unwrap_or_else(|| {
        options.problem("topology", format!("found {text:?}, expected star, leaf_spine or fat_tree"));
        SHAPES[0]
    })
}

/// Reports what keeps Swift from being set like this.
fn check(options: &mut Options, plan: &TargetPlan) {
    let params = plan.params();
    let longest = plan.empty(plan.switches).as_us_f64();
    if params.fs_max_cwnd > params.max_cwnd && params.flow_scaling {
        let message = format!(
            "the longest path takes {longest:.1} us, and holds more than the largest window of Swift, {} packets: plan for shorter \
             links, or a larger --mtu",
            params.max_cwnd
        );
        options.problem("delay", message);
    }
}

/// One flow, ten, a hundred and so on, and all.
fn numbers(flows: u32) -> Vec<u32> {
    let tens = (0..).map(|power| 10_u32.pow(power)).take_while(|&number| number < flows);
    tens.chain([flows]).collect()
}

fn answer(plan: &TargetPlan, topology: &str, hosts: u32) -> Value {
    let params = plan.params();
    let flows: Vec<Value> = numbers(plan.flows).into_iter().map(|flows| of_flows(plan, flows)).collect();
    let scaling = params.flow_scaling;
    json!({
        "network": {
            "topology": topology,
            "switches": plan.switches,
            "hosts": hosts,
            "flows": plan.flows,
            "few_flows": plan.few,
            "rate_bps": plan.rate.as_bps(),
            "delay_us": plan.delay.as_us_f64(),
            "jitter_us": plan.jitter.as_us_f64(),
            "frame_bytes": plan.frame.get(),
            "ack_bytes": plan.ack.get(),
            "payload_bytes": plan.payload.get(),
        },
        "parameters": {
            "base_target_us": params.base_target.as_us_f64(),
            "hop_scaling_us": params.hop_scaling.as_us_f64(),
            "flow_scaling": scaling,
            "fs_range_us": scaling.then_some(params.fs_range.as_us_f64()),
            "fs_min_cwnd": scaling.then_some(params.fs_min_cwnd),
            "fs_max_cwnd": scaling.then_some(params.fs_max_cwnd),
        },
        "empty_us": { "near": plan.empty(1).as_us_f64(), "far": plan.empty(plan.switches).as_us_f64() },
        "parts": parts(plan),
        "flows": flows,
        "without_flow_scaling": outcome(
            &TargetPlan { flow_scaling: false, ..plan.clone() }, plan.flows, plan.switches
        ),
    })
}

/// Returns what the target of the longest path is made of, each part with round trip and goodput of all flows without it where
/// there is more to that than a path that takes longer than its target.
fn parts(plan: &TargetPlan) -> Value {
    let without = |changed: TargetPlan| outcome(&changed, plan.flows, plan.switches);
    json!([
        { "part": "link", "target_us": plan.per_hop().as_us_f64(), "without": null },
        {
            "part": "switches",
            "target_us": (plan.per_hop() * u64::from(plan.switches)).as_us_f64(),
            "without": null,
        },
        {
            "part": "few_flows",
            "target_us": plan.room().as_us_f64(),
            "without": without(TargetPlan { few: 0, ..plan.clone() }),
        },
        {
            "part": "jitter",
            "target_us": plan.jitter.as_us_f64(),
            "without": null,
        },
        {
            "part": "flow_scaling",
            "target_us": plan.range().as_us_f64(),
            "without": without(TargetPlan { flow_scaling: false, ..plan.clone() }),
        },
    ])
}

/// Returns what `flows` flows get on the longest path and on the shortest.
fn of_flows(plan: &TargetPlan, flows: u32) -> Value {
    json!({
        "flows": flows,
        "mean_queue_packets": mean_queue(flows),
        "far": outcome(plan, flows, plan.switches),
        "near": outcome(plan, flows, 1),
    })
}

fn outcome(plan: &TargetPlan, flows: u32, switches: u8) -> Value {
    let Outcome { cwnd, target, rtt, share } = plan.outcome(flows, switches);
    json!({
        "cwnd": cwnd,
        "target_us": target.as_us_f64(),
        "rtt_us": rtt.as_us_f64(),
        "goodput_gbps": plan.goodput(share) / 1e9,
    })
}
