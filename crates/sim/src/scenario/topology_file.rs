//! A topology file: a list of nodes and a list of links, checked to be a network.

use std::collections::{BTreeMap, BTreeSet};

use clearway_proto::units::{Rate, Span};
use serde_json::json;

use super::cards;
use super::document::{self, Node, Table, Value};
use super::error::Misread;
use super::form::Form;
use super::link::{delay_key, rate_key};
use super::reader::{self, Section};
use super::shape::MAX_HOSTS;
use super::source::Source;
use super::suggest;
use crate::model::{ListedLink, ListedNode, SwitchRole};

/// Nodes and links as a scenario holds them.
type Listed = (Vec<ListedNode>, Vec<ListedLink>);

/// The characters that a node's name may contain beside letters and digits: no `>`, which a fault's link needs.
const NAME_MARKS: &str = "_.:/-";

const ROLES: &[(&str, Option<SwitchRole>)] = &[
    ("host", None),
    ("tor", Some(SwitchRole::Tor)),
    ("aggregation", Some(SwitchRole::Aggregation)),
    ("spine", Some(SwitchRole::Spine)),
    ("dci", Some(SwitchRole::Dci)),
    ("relay", Some(SwitchRole::Relay)),
    ("nic", Some(SwitchRole::Nic)),
];

/// Reads the text of a topology file; links that do not say otherwise have this rate and delay.
pub(crate) fn read(text: &str, file: &str, rate: Rate, delay: Span) -> Result<Listed, Misread> {
    let root = document::parse(text, file).map_err(|problem| Misread::Elsewhere(vec![*problem]))?;
    let source = Source::new(file, Vec::new());
    let (listed, _) = reader::read(&source, &root, &|r| {
        let nodes = r.list("node", "Nodes; hosts are numbered in this order.", true, read_node);
        let names = nodes.as_ref().and_then(|nodes| index(r, nodes));
        let links = r.list("link", "Two-way links.", true, |r| read_link(r, names.as_ref(), rate, delay))?;
        Some((nodes?, links))
    });
    let listed = listed.flatten().filter(|listed| check(&source, &root, listed)).map(cards::with_cards);
    let listed = listed.filter(|(_, links)| check_kinds(&source, &root, links));
    listed.ok_or_else(|| Misread::Elsewhere(source.into_problems()))
}

fn read_node(r: &mut Section) -> ListedNode {
    let form = Form {
        name: "name",
        doc: "Unique.",
        required: true,
        otherwise: "a name of letters, digits and _ . : / -",
        schema: json!({ "type": "string", "x-unit": "name" }),
    };
    let name = r.parsed(&form, |node| match &node.value {
        Value::Text(name) if is_node_name(name) => Ok((name.clone(), name.clone().into())),
        _ => Err(Misread::expected(form.otherwise)),
    });
    let switch = r.one_of("role", "What the node is for.", None, ROLES);
    ListedNode { name: name.unwrap_or_default(), switch }
}

fn is_node_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || NAME_MARKS.contains(c))
}

/// The numbers of nodes by name.
fn index<'a>(r: &Section, nodes: &'a [ListedNode]) -> Option<BTreeMap<&'a str, u32>> {
    let mut names = BTreeMap::new();
    for (i, node) in nodes.iter().enumerate() {
        if let Some(first) = names.insert(node.name.as_str(), i as u32) {
            r.conflict_at(
                &format!("node[{i}].name"),
                format!("node[{first}] has the name {} too", node.name),
            );
        }
    }
    r.sound().then_some(names)
}

/// Reads one link. Without names, where the nodes are wrong, only the form of its ends is checked.
fn read_link(r: &mut Section, names: Option<&BTreeMap<&str, u32>>, rate: Rate, delay: Span) -> ListedLink {
    let form = Form {
        name: "ends",
        doc: "Names of the two nodes.",
        required: true,
        otherwise: "the names of two nodes, such as [\"a\", \"b\"]",
        schema: json!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2, "x-unit": "ends" }),
    };
    let ends = r.parsed(&form, |node| {
        let Value::List(list) = &node.value else { return Err(Misread::expected(form.otherwise)) };
        let [a, b] = list.as_slice() else { return Err(Misread::expected(form.otherwise)) };
        let ends = (end(a, names, form.otherwise)?, end(b, names, form.otherwise)?);
        Ok((ends, ().into()))
    });
    let rate = r.get(&rate_key("rate", "Each way.").or_as(rate, "the network's rate"));
    let delay = r.get(&delay_key("delay", "One way.").or_as(delay, "the network's delay"));
    ListedLink { ends: ends.unwrap_or_default(), rate, delay }
}

fn end(node: &Node, names: Option<&BTreeMap<&str, u32>>, wanted: &str) -> Result<u32, Misread> {
    let Value::Text(name) = &node.value else { return Err(Misread::expected(wanted)) };
    let Some(names) = names else { return Ok(0) };
    names.get(name.as_str()).copied().ok_or_else(|| {
        let nearest = suggest::listed(name, names.keys().copied());
        Misread::Says(format!("there is no node {name}; the nearest names are {nearest}"))
    })
}

/// Pairs of rate and delay that links may have: with every role of switch they are numbered in 16 bits.
const MAX_KINDS: usize = 9_000;

/// Checks that the lists make up a network; notes what does not.
fn check(source: &Source, root: &Table, (nodes, links): &Listed) -> bool {
    let say = |path: String, message: String| {
        source.report(root.locate(&path), &path, None, Misread::Says(message));
    };
    let hosts = nodes.iter().filter(|node| node.switch.is_none()).count();
    if !(2..=MAX_HOSTS as usize).contains(&hosts) {
        say(
            "node".into(),
            format!("a network has from 2 to {MAX_HOSTS} nodes with the role host; here it is {hosts}"),
        );
    }
    let name = |i: u32| &nodes[i as usize].name;
    let (mut seen, mut degree) = (BTreeSet::new(), vec![0u32; nodes.len()]);
    for (i, link) in links.iter().enumerate() {
        let (a, b) = link.ends;
        let path = format!("link[{i}].ends");
        if a == b {
            say(path, format!("leads from {} to itself", name(a)));
        } else if !seen.insert((a.min(b), a.max(b))) {
            say(path, format!("{} and {} are linked already", name(a), name(b)));
        } else if nodes[a as usize].switch.is_none() && nodes[b as usize].switch.is_none() {
            say(path, format!("{} and {} are both hosts; a host is linked to a switch", name(a), name(b)));
        }
        degree[a as usize] += 1;
        degree[b as usize] += 1;
    }
    for (i, node) in nodes.iter().enumerate() {
        if node.switch.is_none() && degree[i] == 0 {
            say(format!("node[{i}]"), format!("host {} has no link; a host has one, or several", node.name));
        }
    }
    for (i, message) in cards::problems(nodes, links, &degree) {
        say(format!("node[{i}]"), message);
    }
    for (i, node) in (0..).zip(nodes).filter(|(_, node)| node.switch == Some(SwitchRole::Relay)) {
        let of_it = links.iter().filter(|link| link.ends.0 == i || link.ends.1 == i);
        let peers = of_it.map(|link| nodes[(link.ends.0 ^ link.ends.1 ^ i) as usize].switch);
        let mut peers: Vec<_> = peers.collect();
        peers.sort_unstable();
        if peers != [Some(SwitchRole::Dci), Some(SwitchRole::Relay)] {
            let message = "a relay has two links: one to a switch of role dci, and one to another relay";
            say(format!("node[{i}]"), format!("{}: {message}", node.name));
        }
    }
    if source.count() == 0 {
        if let Some(i) = unreachable(nodes, links) {
            let first = nodes.iter().find(|node| node.switch.is_none()).map_or("", |node| &node.name);
            say(format!("node[{i}]"), format!("no path leads from host {first} to host {}", nodes[i].name));
        }
    }
    source.count() == 0
}

/// Checks that links, those of cards among them, are of few enough kinds; notes if they are not.
fn check_kinds(source: &Source, root: &Table, links: &[ListedLink]) -> bool {
    let kinds: BTreeSet<_> = links.iter().map(|link| (link.rate, link.delay)).collect();
    if kinds.len() > MAX_KINDS {
        let message = format!("{} different pairs of rate and delay; the most is {MAX_KINDS}", kinds.len());
        source.report(root.locate("link"), "link", None, Misread::Says(message));
    }
    source.count() == 0
}

/// The first host that the first host cannot reach.
fn unreachable(nodes: &[ListedNode], links: &[ListedLink]) -> Option<usize> {
    let mut parent: Vec<usize> = (0..nodes.len()).collect();
    for link in links {
        let (a, b) = (root_of(&mut parent, link.ends.0 as usize), root_of(&mut parent, link.ends.1 as usize));
        parent[a.max(b)] = a.min(b);
    }
    let mut hosts = (0..nodes.len()).filter(|i| nodes[*i].switch.is_none());
    let first = root_of(&mut parent, hosts.next()?);
    hosts.find(|host| root_of(&mut parent, *host) != first)
}

/// The root of a node's set, halving the path to it.
fn root_of(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}
