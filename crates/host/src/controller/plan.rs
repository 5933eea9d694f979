//! A plan: which flows go between which hosts, and when. `clearway testbed run` makes it from a scenario.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::hosts::Host;
use crate::daemon::args::DEFAULT_MTU;
use crate::daemon::output::Problem;
use crate::fastpass::settings::Deployment;
use crate::testbed::carrier::Carrier;
use crate::testbed::message::{Incoming, Outgoing, Task, MTUS, SAMPLE_EVERY, UNTIL};

/// The version of plans that this reads.
const VERSION: u32 = 1;
/// Hosts of a plan, at most.
const MOST_HOSTS: usize = 4096;
/// Flows of a plan, at most: the part of one agent has to fit a message.
const MOST_FLOWS: usize = 1 << 20;

/// A plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    version: u32,
    /// The carrier's name.
    pub carrier: String,
    /// Swift's parameters that it gives, by their names.
    #[serde(default)]
    parameters: Map<String, Value>,
    #[serde(default = "default_mtu")]
    mtu: u32,
    /// When the run ends, in nanoseconds from its start.
    pub until_ns: u64,
    sample_every_ns: u64,
    /// The Fastpass deployment that its hosts are.
    fastpass: Option<Fastpass>,
    /// The names of the hosts.
    pub hosts: Vec<String>,
    flows: Vec<Flow>,
}

/// The Fastpass deployment of a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fastpass {
    /// The text of its file.
    file: String,
}

/// A flow of a plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flow {
    id: u64,
    /// The traffic of the scenario that it is of, which is the reader's.
    #[serde(rename = "traffic", default)]
    _traffic: u64,
    source: usize,
    destination: usize,
    bytes: Option<u64>,
    start_ns: u64,
    after: Option<u64>,
}

fn default_mtu() -> u32 {
    DEFAULT_MTU as u32
}

impl Plan {
    /// Reads a plan from a file; an error names the place in it.
    pub fn read(path: &Path) -> Result<Plan, Vec<Problem>> {
        let remedy = "name a file that clearway testbed run has written";
        let text = std::fs::read(path)
            .map_err(|error| vec![Problem::new(format!("{}: {error}", path.display()), remedy)])?;
        let at = |problem: Problem| Problem {
            message: format!("{}: {}", path.display(), problem.message),
            ..problem
        };
        Plan::parse(&text).map_err(|problems| problems.into_iter().map(at).collect())
    }

    /// Reads a plan from its text; an error names the place in it.
    pub fn parse(text: &[u8]) -> Result<Plan, Vec<Problem>> {
        let plan: Plan = serde_json::from_slice(text).map_err(|error| {
            let remedy =
                "clearway testbed run writes it as this version reads it: are both of the same Clearway?";
            let place = format!("line {}, column {}", error.line(), error.column());
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            vec![Problem::new(format!("{place}: {what}"), remedy)]
        })?;
        let mut problems = plan.problems();
        if let Err(of_carrier) = Carrier::read(&plan.carrier, &plan.parameters) {
            problems.extend(of_carrier);
        }
        problems.extend(plan.fastpass.iter().flat_map(|fastpass| fastpass.problems(&plan.hosts)));
        if problems.is_empty() {
            Ok(plan)
        } else {
            Err(problems)
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut within = |place: &str, found: u64, range: RangeInclusive<u64>| {
            if !range.contains(&found) {
                let wanted = format!("expected {} to {}", range.start(), range.end());
                problems.push(Problem::bare(format!("{place}: found {found}, {wanted}")));
            }
        };
        within("version", u64::from(self.version), u64::from(VERSION)..=u64::from(VERSION));
        within("mtu", u64::from(self.mtu), MTUS);
        within("until_ns", self.until_ns, UNTIL);
        within("sample_every_ns", self.sample_every_ns, SAMPLE_EVERY);
        within("number of hosts", self.hosts.len() as u64, 1..=MOST_HOSTS as u64);
        within("number of flows", self.flows.len() as u64, 1..=MOST_FLOWS as u64);
        for (index, name) in self.hosts.iter().enumerate() {
            if let Some(first) = self.hosts[..index].iter().position(|other| other == name) {
                problems.push(Problem::bare(format!("hosts[{index}]: {name:?} is hosts[{first}], too")));
            }
        }
        let mut before = BTreeMap::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let wrong = flow.wrong(self.hosts.len(), &before);
            // What is wrong with one flow is mostly wrong with all.
            if let Some((key, what)) = wrong {
                problems.push(Problem::bare(format!("flows[{index}].{key}: {what}")));
                break;
            }
            before.insert(flow.id, flow);
        }
        problems
    }

    /// The part of each host, in the order of [`Self::hosts`], of a run with this token. `hosts` has them in the same order.
    pub fn tasks(&self, hosts: &[Host], token: [u8; 16]) -> Vec<Task> {
        let task = |host: &Host| Task {
            carrier: self.carrier.clone(),
            parameters: self.parameters.clone(),
            mtu: self.mtu,
            until_ns: self.until_ns,
            sample_every_ns: self.sample_every_ns,
            token,
            data: host.data,
            fastpass: self.fastpass.as_ref().map(|fastpass| fastpass.file.clone()),
            sending: Vec::new(),
            receiving: Vec::new(),
        };
        let mut tasks: Vec<Task> = hosts.iter().map(task).collect();
        let mut places = BTreeMap::new();
        for &Flow { id, source, destination, bytes, start_ns, after, .. } in &self.flows {
            let after = after.and_then(|id| places.get(&id).copied());
            let sending = &mut tasks[source].sending;
            places.insert(id, sending.len() as u32);
            sending.push(Outgoing { id, to: destination as u32, bytes, start_ns, after });
            tasks[destination].receiving.push(Incoming { id, from: source as u32, bytes });
        }
        tasks
    }
}

impl Fastpass {
    /// The problems of the deployment, and of each of these hosts that has no part in it.
    fn problems(&self, hosts: &[String]) -> Vec<Problem> {
        let at =
            |problem: Problem| Problem { message: format!("fastpass.file: {}", problem.message), ..problem };
        let deployment = match Deployment::parse(&self.file) {
            Ok(deployment) => deployment,
            Err(problems) => return problems.into_iter().map(at).collect(),
        };
        let without = hosts
            .iter()
            .filter(|name| deployment.rank(name).is_none() && deployment.address(name).is_none())
            .map(|name| format!("{name} is neither an arbiter nor an endpoint"));
        let nowhere = deployment
            .arbiters
            .iter()
            .filter(|arbiter| !hosts.contains(&arbiter.name))
            .map(|arbiter| format!("the arbiter {} is no host of the plan", arbiter.name));
        without.chain(nowhere).map(Problem::bare).map(at).collect()
    }
}

impl Flow {
    /// The first key of it that cannot be right, and the reason; `before` has the flows that stand before it.
    fn wrong(&self, hosts: usize, before: &BTreeMap<u64, &Flow>) -> Option<(&'static str, String)> {
        let unknown = |host| (host >= hosts).then(|| format!("found {host}, and there are {hosts} hosts"));
        if let Some(what) = unknown(self.source) {
            return Some(("source", what));
        }
        if let Some(what) = unknown(self.destination) {
            return Some(("destination", what));
        }
        if self.source == self.destination {
            return Some(("destination", format!("found {}, which is its source", self.destination)));
        }
        if before.contains_key(&self.id) {
            return Some(("id", format!("found {}, which another flow has", self.id)));
        }
        if self.bytes == Some(0) {
            return Some(("bytes", "found 0, expected 1 and more, or null".into()));
        }
        let id = self.after?;
        let what = match before.get(&id) {
            None => format!("there is no flow {id} before it"),
            Some(other) if other.source != self.source => {
                format!("flow {id} is sent by host {}, and this one by host {}", other.source, self.source)
            }
            Some(other) if other.bytes.is_none() => format!("flow {id} is never complete"),
            Some(_) => return None,
        };
        Some(("after", what))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan() -> Value {
        json!({ "version": 1, "carrier": "tcp:cubic", "parameters": {}, "mtu": 1400, "until_ns": 2_000_000_000_u64,
            "sample_every_ns": 10_000_000, "hosts": ["h0", "h1"], "flows": [
            { "id": 0, "traffic": 0, "source": 1, "destination": 0, "bytes": 1_000_000, "start_ns": 0 },
            { "id": 7, "traffic": 0, "source": 1, "destination": 0, "bytes": null, "start_ns": 5 },
            { "id": 2, "traffic": 0, "source": 1, "destination": 0, "bytes": 1000, "after": 0, "start_ns": 9 } ] })
    }

    fn said(text: &str) -> Vec<String> {
        let problems = Plan::parse(text.as_bytes()).err().unwrap_or_default();
        problems.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn each_host_gets_its_part() {
        let plan = Plan::parse(plan().to_string().as_bytes()).unwrap();
        let host = |name: &str| Host {
            name: name.into(),
            control: "10.0.0.1:7400".parse().unwrap(),
            data: "10.0.0.9".parse().unwrap(),
        };
        let tasks = plan.tasks(&[host("h0"), host("h1")], [3; 16]);
        assert_eq!((tasks[0].sending.len(), tasks[0].receiving.len()), (0, 3));
        assert_eq!((tasks[1].sending.len(), tasks[1].receiving.len()), (3, 0));
        assert_eq!(
            tasks[1].sending[2],
            Outgoing { id: 2, to: 0, bytes: Some(1000), start_ns: 9, after: Some(0) }
        );
        assert_eq!(tasks[0].receiving[1], Incoming { id: 7, from: 1, bytes: None });
    }

    const DEPLOYMENT: &str = "[network]\ntopology = \"star\"\nhosts = 2\n[arbiter]\nat = [\"a0\"]\n[[host]]\nname = \"h0\"\n\
        control = \"10.0.0.1:7600\"\nprefixes = [\"10.0.0.1\"]\n[[host]]\nname = \"h1\"\ncontrol = \"10.0.0.2:7600\"\n\
        prefixes = [\"10.0.0.2\"]\n[[host]]\nname = \"a0\"\ncontrol = \"10.0.0.3:7600\"\n";

    #[test]
    fn each_host_is_told_of_the_deployment_in_which_it_has_a_part() {
        let with = |file: &str, hosts: &[&str]| {
            let mut plan = plan();
            plan["fastpass"] = json!({ "file": file });
            plan["hosts"] = json!(hosts);
            plan.to_string()
        };
        let parsed = Plan::parse(with(DEPLOYMENT, &["h0", "h1", "a0"]).as_bytes()).unwrap();
        let host = Host {
            name: "a0".into(),
            control: "10.0.0.3:7400".parse().unwrap(),
            data: "10.0.0.3".parse().unwrap(),
        };
        let tasks = parsed.tasks(&[host.clone(), host.clone(), host], [3; 16]);
        assert!(tasks.iter().all(|task| task.fastpass.as_deref() == Some(DEPLOYMENT)));
        assert!(Plan::parse(plan().to_string().as_bytes()).unwrap().fastpass.is_none());
        for (file, hosts, words) in [
            (DEPLOYMENT, &["h0", "h1"][..], "fastpass.file: the arbiter a0 is no host of the plan"),
            (
                DEPLOYMENT,
                &["h0", "h1", "a0", "x"][..],
                "fastpass.file: x is neither an arbiter nor an endpoint",
            ),
            ("[network", &["h0", "h1"][..], "fastpass.file: line 1: "),
        ] {
            let said = said(&with(file, hosts));
            assert!(said.len() == 1 && said[0].contains(words), "{said:?}, not {words}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (pointer, value, words) in [
            ("/version", json!(2), "version: found 2, expected 1 to 1"),
            ("/carrier", json!("tcp"), "carrier: there is no \"tcp\""),
            ("/carrier", json!(3), "invalid type: integer `3`, expected a string"),
            ("/until_ns", json!(0), "until_ns: found 0"),
            ("/sample_every_ns", json!(10), "sample_every_ns: found 10, expected 1000000 to"),
            ("/mtu", json!(0), "mtu: found 0"),
            ("/hosts/1", json!("h0"), "hosts[1]: \"h0\" is hosts[0], too"),
            ("/flows/0/source", json!(2), "flows[0].source: found 2, and there are 2 hosts"),
            ("/flows/1/destination", json!(1), "flows[1].destination: found 1, which is its source"),
            ("/flows/1/id", json!(0), "flows[1].id: found 0, which another flow has"),
            ("/flows/1/bytes", json!(0), "flows[1].bytes: found 0"),
            ("/flows/2/after", json!(7), "flows[2].after: flow 7 is never complete"),
            ("/flows/2/after", json!(9), "flows[2].after: there is no flow 9 before it"),
            ("/flows/2/start_ns", json!(-1), "invalid value: integer `-1`, expected u64"),
        ] {
            let mut plan = plan();
            *plan.pointer_mut(pointer).unwrap() = value;
            let said = said(&plan.to_string());
            assert!(said.len() == 1 && said[0].contains(words), "{pointer}: {said:?}, not {words}");
        }
        let other_source = plan().to_string().replace(
            "\"source\":1,\"destination\":0,\"bytes\":1000,",
            "\"source\":0,\"destination\":1,\"bytes\":1000,",
        );
        assert!(
            said(&other_source)[0].contains("flows[2].after: flow 0 is sent by host 1"),
            "{:?}",
            said(&other_source)
        );
        assert!(said("{")[0].contains("line 1, column 1: EOF"));
        assert!(said(&plan().to_string().replace("\"mtu\"", "\"mut\""))[0].contains("unknown field `mut`"));
    }
}
