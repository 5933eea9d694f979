use serde_json::{json, Value};

use super::*;

/// Two hosts with a link of 100 Mb/s each, 1 us long, to a switch; what they send may be paused.
pub fn star() -> Value {
    let pfc = json!({ "xoff": 10_000, "hysteresis": 3_000, "headroom": 5_000, "quanta": 65_535 });
    let link = |from: usize, to: usize, device: Value, pfc: Value| json!({ "from": from, "to": to, "rate_bps": 100_000_000, "delay_ns": 1_000, "device": device, "pfc": pfc, "buffer": 10_000 });
    json!({
        "version": 1,
        "priorities": [0],
        "mtu": 1500,
        "sample_every_ns": 1_000_000,
        "nodes": [{ "name": "a", "kind": "host" }, { "name": "b", "kind": "host" }, { "name": "s", "kind": "switch" }],
        "links": [
            link(0, 2, json!("n0"), pfc.clone()), link(2, 0, json!(null), json!(null)),
            link(1, 2, json!("n1"), pfc), link(2, 1, json!(null), json!(null)),
        ],
    })
}

#[test]
fn a_plan_is_read() {
    let plan = Plan::read(&star().to_string()).unwrap();
    assert_eq!((plan.hosts(), plan.links.len(), plan.links[3].to), (2, 4, 1));
}

#[test]
fn what_is_wrong_is_named() {
    let said = |at: &str, value: Value| {
        let mut plan = star();
        *plan.pointer_mut(at).unwrap() = value;
        Plan::read(&plan.to_string()).unwrap_err().message
    };
    assert_eq!(said("/version", json!(2)), "version: found 2, expected 1");
    assert_eq!(
        said("/priorities", json!([0, 8])),
        "priorities: found [0, 8], expected different ones from 0 to 7"
    );
    assert_eq!(
        said("/priorities", json!([1, 1])),
        "priorities: found [1, 1], expected different ones from 0 to 7"
    );
    assert_eq!(said("/sample_every_ns", json!(0)), "sample_every_ns: found 0, expected more");
    assert_eq!(said("/nodes/0/kind", json!("switch")), "nodes: hosts stand before switches and relays");
    assert_eq!(
        said("/links/1/to", json!(9)),
        "links[0].from, to: expected two nodes, and the next link the other way round"
    );
    assert_eq!(said("/links/2/device", json!("n0")), "links[2].device: another link has it");
    assert_eq!(
        said("/links/0/device", json!("no/name")),
        "links[0].device: found \"no/name\", expected up to 15 letters and digits"
    );
    assert_eq!(said("/links/0/device", json!(null)), "links[0].device: a host or a relay has one");
    assert_eq!(said("/links/1/device", json!("n9")), "links[1].device: a switch has none");
    assert_eq!(said("/links/0/pfc/quanta", json!(1)), "links[0].pfc.quanta: expected 2 or more");
    assert!(said("/links/0/rate_bps", json!(0)).starts_with("links[0].rate_bps: found 0, expected "));
    assert!(said("/links/0/delay_ns", json!(11_000_000_000_u64))
        .starts_with("links[0].delay_ns, response_ns: at most"));
    assert!(said("/links/0/pfc", json!({ "xof": 1 })).starts_with("unknown field `xof`"));
    let mut plan = star();
    plan["links"].as_array_mut().unwrap().pop();
    assert_eq!(Plan::read(&plan.to_string()).unwrap_err().message, "links: one has no way back");
    let mut plan = star();
    plan["storms"] = json!([{ "link": 4, "from_ns": 0, "until_ns": 1, "seed": 1 }]);
    assert_eq!(Plan::read(&plan.to_string()).unwrap_err().message, "storms[0].link: there is no such link");
}
