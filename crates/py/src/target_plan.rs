//! The plan of a target delay, as JSON.

use clearway_proto::swift::plan::{mean_queue, Outcome, TargetPlan};
use clearway_proto::units::{Bytes, Rate, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{json, Value};

/// A network as Python asks for it: times in picoseconds, the rate in bits a second, sizes in bytes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked {
    rate: u64,
    delay: u64,
    frame: u64,
    ack: u64,
    payload: u64,
    switches: u8,
    flows: u32,
    few: u32,
    jitter: u64,
}

/// Returns which target delay Swift should have, as JSON. Raises `ValueError` with what keeps it from being set like this.
#[pyfunction]
pub fn plan_target_delay(asked: Asked) -> PyResult<String> {
    let plan = TargetPlan {
        rate: Rate::from_bps(asked.rate),
        delay: Span::from_ps(asked.delay),
        frame: Bytes::new(asked.frame),
        ack: Bytes::new(asked.ack),
        payload: Bytes::new(asked.payload),
        switches: asked.switches,
        flows: asked.flows,
        few: asked.few,
        jitter: Span::from_ps(asked.jitter),
        flow_scaling: true,
    };
    let params = plan.params();
    if params.fs_max_cwnd > params.max_cwnd && params.flow_scaling {
        let longest = plan.empty(plan.switches).as_us_f64();
        return Err(PyValueError::new_err(format!(
            "the longest path takes {longest:.1} us, and holds more than the largest window of Swift, {} packets: plan for shorter \
             links, or a larger --mtu",
            params.max_cwnd
        )));
    }
    Ok(answer(&plan).to_string())
}

/// One flow, ten, a hundred and so on, and all.
fn numbers(flows: u32) -> Vec<u32> {
    let tens = (0..).map(|power| 10_u32.pow(power)).take_while(|&number| number < flows);
    tens.chain([flows]).collect()
}

fn answer(plan: &TargetPlan) -> Value {
    let params = plan.params();
    let flows: Vec<Value> = numbers(plan.flows).into_iter().map(|flows| of_flows(plan, flows)).collect();
    let scaling = params.flow_scaling;
    json!({
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
