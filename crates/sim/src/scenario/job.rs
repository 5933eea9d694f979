//! `[[job]]`: ranks that send, receive and compute, from a file or made by a collective.

use std::sync::Arc;

use clearway_proto::units::{Span, Time, RATES};
use serde_json::{json, Value as Json};

use super::collective;
use super::document::{Node, Value};
use super::error::Misread;
use super::files;
use super::form::Form;
use super::hosts::HostSet;
use super::key::{Key, Shown};
use super::reader::Section;
use super::traffic::{self, PatternReader, Scene, LONGEST, MAX_PACKETS};
use super::{storage, training};
use crate::job::{goal, never_ends, GraphBuilder};
use crate::model::{Collective, Job, OperationGraph, Pattern, Traffic};
use crate::random::{Entity, Stream};

/// The most ranks that a host can have.
const MOST_ON_A_HOST: u32 = 1024;

#[derive(Clone, Copy)]
enum Kind {
    Goal,
    Collective,
    Training,
    Storage,
}

const KINDS: [(&str, Kind); 4] = [
    ("goal", Kind::Goal),
    ("collective", Kind::Collective),
    ("training", Kind::Training),
    ("storage", Kind::Storage),
];

/// The hosts of ranks, as the file says it.
#[derive(Clone, Debug, PartialEq)]
enum Placement {
    Packed,
    RoundRobin,
    Random,
    /// The host of each rank.
    Listed(Vec<u32>),
}

/// A job as it is read. Where its ranks are drawn, its hosts are all places that there are.
pub(crate) struct Read {
    table: Traffic,
    is_drawn: bool,
}

/// What the operations are made of.
struct Work {
    name: String,
    graph: Option<OperationGraph>,
    collective: Option<Collective>,
}

/// Reads one table.
pub(crate) fn read(r: &mut Section, scene: &Scene) -> Read {
    let kind = r.choice("kind", "What it consists of.", Some("goal"), &KINDS);
    let given = read_name(r);
    // Its place among the resolved keys is here, whether it is given or follows from what the job consists of.
    r.settle("name", given.clone().into());
    let transport = traffic::read_transport(r, scene);
    let pattern = PatternReader::new(scene, transport);
    let start = r.get(&Key::new("start", "When its ranks begin.", Span::ZERO..=LONGEST).or(Span::ZERO));
    let doc = "How often each rank goes through its operations, one time after the other.";
    let iterations = r.get(&Key::new("iterations", doc, 1u32..=1_000_000).or(1));
    let doc = "How fast a rank copies its messages to ranks on its own host, one after the other.";
    let local_rate = r.optional(&Key::new("local_rate", doc, RATES), "they take no time");
    let all: traffic::Default = ("every host", &HostSet::clone);
    let hosts = pattern.set(r, "hosts", "Where ranks may be.", None, Some(all));
    let hosts = pattern.list(r, "hosts", hosts);
    let doc = "Ranks that a host has room for.";
    let on_each = r.get(&Key::new("ranks_per_host", doc, 1u32..=MOST_ON_A_HOST).or(1));
    let placement = read_placement(r, scene);
    let listed = match &placement {
        Placement::Listed(hosts) => Some(hosts.len()),
        _ => None,
    };
    let room = listed.unwrap_or(hosts.len() * on_each as usize);
    let Work { name, graph, collective } = match kind {
        Kind::Goal => read_goal(r, scene),
        Kind::Collective => read_collective(r, room as u64),
        Kind::Training => {
            let (graph, name) = training::read(r, room as u64);
            Work { name, graph, collective: None }
        }
        Kind::Storage => {
            let (graph, name) = storage::read(r, scene.seed);
            Work { name, graph, collective: None }
        }
    };
    let graph = graph.unwrap_or_default();
    let ranks = graph.ranks() as usize;
    check_room(r, ranks, room, listed.is_some());
    check_packets(r, scene, &graph, iterations, kind);
    let places = places(&placement, &hosts, on_each, ranks);
    let name = given.unwrap_or(name);
    r.settle("name", name.clone().into());
    let job = Job { name, hosts: places, graph: Arc::new(graph), iterations, local_rate, collective };
    let start = Time::ZERO + start;
    if let Some(directory) = scene.directory.filter(|_| r.sound()) {
        if start >= Time::ZERO + directory.duration {
            r.conflict("start", format!("the run ends at {}: start earlier", directory.duration.shown()));
        }
    }
    let (start, transport) = ((start, start), transport.unwrap_or(0));
    let table = Traffic { pattern: Pattern::Job(job), transport, start, stagger: Span::ZERO, stop: None };
    Read { table, is_drawn: placement == Placement::Random }
}

/// The jobs as tables of traffic, the first of which has this number, with their ranks on hosts.
pub(crate) fn place(jobs: Vec<Read>, seed: u64) -> impl Iterator<Item = Traffic> {
    (0..).zip(jobs).map(move |(number, Read { mut table, is_drawn })| {
        if let (Pattern::Job(job), true) = (&mut table.pattern, is_drawn) {
            Stream::new(seed, Entity::JobPlacement, number).shuffle(&mut job.hosts);
            job.hosts.truncate(job.graph.ranks() as usize);
        }
        table
    })
}

/// The host of each rank, or all places where ranks are drawn.
fn places(placement: &Placement, hosts: &[u32], on_each: u32, ranks: usize) -> Vec<u32> {
    let packed = hosts.iter().flat_map(|&host| std::iter::repeat_n(host, on_each as usize));
    match placement {
        Placement::Packed => packed.take(ranks).collect(),
        Placement::RoundRobin => hosts.iter().copied().cycle().take(ranks).collect(),
        Placement::Random => packed.collect(),
        Placement::Listed(hosts) => hosts.clone(),
    }
}

fn read_name(r: &mut Section) -> Option<String> {
    let form = Form {
        name: "name",
        doc: "What tables and messages call the job.",
        required: false,
        otherwise: "its file, or its collective and algorithm",
        schema: json!({ "type": "string", "minLength": 1, "maxLength": 100, "x-unit": "text" }),
    };
    r.parsed(&form, |node| match &node.value {
        Value::Text(name) if is_title(name) => Ok((name.clone(), Json::from(name.clone()))),
        _ => Err(Misread::expected("a line of text, of at most 100 characters")),
    })
}

fn is_title(name: &str) -> bool {
    !name.trim().is_empty() && name.chars().count() <= 100 && !name.chars().any(char::is_control)
}

fn read_placement(r: &mut Section, scene: &Scene) -> Placement {
    const WANTED: &str =
        "packed, round_robin, random, or a list with the host of each rank, such as [0, 0, \"4..6\"]";
    let words = ["packed", "round_robin", "random"];
    let form = Form {
        name: "placement",
        doc: "On which of hosts each rank is. packed: as many on each host as it has room for, before the next; round_robin: one \
              on each, and again from the first; random: drawn from the seed; a list: the host of each rank, and hosts and \
              ranks_per_host do not matter.",
        required: false,
        otherwise: "packed",
        schema: json!({
            "anyOf": [
                { "enum": words },
                { "type": "array", "minItems": 1, "items": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string" }] } },
            ],
            "x-unit": "placement",
        }),
    };
    let hosts = scene.directory.map(|directory| directory.hosts);
    let placement = r.parsed(&form, |node| {
        let placement = match &node.value {
            Value::Text(word) if word == "packed" => Placement::Packed,
            Value::Text(word) if word == "round_robin" => Placement::RoundRobin,
            Value::Text(word) if word == "random" => Placement::Random,
            Value::List(items) if !items.is_empty() => {
                let (listed, spelled) = read_listed(items, hosts)?;
                return Ok((Placement::Listed(listed), spelled));
            }
            Value::Text(word) => {
                return Err(Misread::Expected(WANTED.into(), super::suggest::nearest(word, words)));
            }
            _ => return Err(Misread::expected(WANTED)),
        };
        let Value::Text(word) = &node.value else { unreachable!("only words come here") };
        Ok((placement, word.clone().into()))
    });
    if placement.is_none() && !r.given("placement") {
        r.settle("placement", "packed".into());
    }
    placement.unwrap_or(Placement::Packed)
}

/// The host of each rank, and the list as it is written.
fn read_listed(items: &[Node], hosts: Option<u32>) -> Result<(Vec<u32>, Json), Misread> {
    let mut all = Vec::new();
    let mut spelled = Vec::new();
    for item in items {
        let (range, text): (_, Json) = match &item.value {
            Value::Integer(host) => (Some((*host, host.saturating_add(1))), (*host).into()),
            Value::Text(text) => (
                text.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?))),
                text.clone().into(),
            ),
            _ => (None, Json::Null),
        };
        let last = i64::from(hosts.unwrap_or(u32::MAX));
        let Some((from, to)) = range.filter(|&(from, to)| 0 <= from && from < to && to <= last) else {
            let found = item.value.shown();
            let message =
                format!("found {found}, expected hosts from 0 to {}, such as 3 or \"0..8\"", last - 1);
            return Err(Misread::Says(message));
        };
        if (to - from) as usize + all.len() > goal::MOST_RANKS as usize {
            return Err(Misread::Says(format!("places more than {} ranks", goal::MOST_RANKS)));
        }
        all.extend((from..to).map(|host| host as u32));
        spelled.push(text);
    }
    Ok((all, spelled.into()))
}

fn read_goal(r: &mut Section, scene: &Scene) -> Work {
    let doc = "The time for which calc 1 stands in the file.";
    let unit = r.get(&Key::new("calc_unit", doc, Span::from_ps(1)..=Span::from_secs(1)).or(Span::from_ns(1)));
    let form = Form {
        name: "file",
        doc: "A file in GOAL's text format.",
        required: true,
        otherwise: "a path relative to this file",
        schema: files::schema(),
    };
    let read = r.parsed(&form, |node| {
        let name = files::name(node)?;
        let text = files::read(scene.base, &name)?;
        let shown = files::shown(scene.base, &name);
        let refused = |line: u32, message: String| {
            let found = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default().trim();
            Misread::Elsewhere(vec![files::problem(&shown, line.max(1) as usize, found, message)])
        };
        let graph = goal::read(&text, unit).and_then(GraphBuilder::build);
        let graph = graph.map_err(|problem| refused(problem.line, problem.message))?;
        if let Some(cycle) = never_ends(&graph) {
            return Err(refused(1, standstill(&cycle)));
        }
        Ok(((graph, name.clone()), name.into()))
    });
    let (graph, name) = read.map_or((None, String::new()), |(graph, name)| (Some(graph), name));
    Work { name, graph, collective: None }
}

fn standstill(cycle: &str) -> String {
    format!("the job can never end: {cycle}; take one of these dependencies out, or let one of the ranks send first")
}

fn read_collective(r: &mut Section, room: u64) -> Work {
    let (collective, plan, name) = collective::read(r, room);
    let graph = plan.filter(|_| r.sound()).and_then(|plan| match plan.graph() {
        Ok(graph) => Some(graph),
        Err(problem) => {
            r.conflict("collective", problem.message);
            None
        }
    });
    Work { name, graph, collective: Some(collective) }
}

/// Every rank has a host.
fn check_room(r: &Section, ranks: usize, room: usize, is_listed: bool) {
    if !r.sound() || ranks <= room && !(is_listed && ranks != room) {
        return;
    }
    if is_listed {
        r.conflict(
            "placement",
            format!("{room} ranks have a host, and the job has {ranks}: list the host of each"),
        );
    } else {
        let message =
            format!("there is room for {room} ranks, and the job has {ranks}: list more hosts, or raise ranks_per_host");
        r.conflict("hosts", message);
    }
}

/// What a pair of ranks exchanges in the whole run has to have sequence numbers.
fn check_packets(r: &Section, scene: &Scene, graph: &OperationGraph, iterations: u32, kind: Kind) {
    let Some(network) = scene.network.filter(|_| r.sound()) else { return };
    for pair in &graph.pairs {
        let packets = u128::from(pair.bytes / u64::from(network.mtu) + u64::from(pair.messages));
        let packets = packets * u128::from(iterations);
        if packets > MAX_PACKETS {
            let message = format!(
                "rank {} sends {packets} packets to rank {}; the most is 2^31: make messages smaller, or iterations fewer",
                pair.from, pair.to
            );
            let key = match kind {
                Kind::Goal => "file",
                Kind::Collective => "bytes",
                Kind::Training => "model",
                Kind::Storage => "requests",
            };
            return r.conflict(key, message);
        }
    }
}
