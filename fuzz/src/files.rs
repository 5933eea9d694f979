//! The files that a scenario names: topologies, traces and distributions of sizes.

use std::fmt::Write;

use clearway_proto::units::{Bytes, Rate, Span, Time};
use clearway_sim::model::{ListedLink, ListedNode, Sizes, SwitchRole, Topology, TraceFlow};
use clearway_sim::scenario::{read_sizes, read_topology, read_trace, ScenarioError};

use crate::folder::Texts;
use crate::scenarios::{check, check_refused};
use crate::toml;

/// What messages call the file.
const FILE: &str = "file";

/// The rate and delay of links that do not say otherwise.
const LINK: (Rate, Span) = (Rate::from_gbps(100), Span::from_us(1));

/// The network that a topology is read into: what its links are where they do not say otherwise is [`LINK`].
const SCENARIO: &str = r#"
format = 1
name = "any topology"
duration = "1ms"
network = { topology = "file", file = "file", rate = "100Gbps", delay = "1us" }
transport.a.protocol = "none"
traffic = [{ pattern = "incast", to = 0, bytes = "1MB" }]
"#;

/// Hosts of the network that traces are read for, and most bytes of a flow.
const TRACE: (u32, u64) = (8, 1_000_000_000_000);

/// Returns what was read, or nothing, once the refusal is seen to be one.
fn checked<T>(read: Result<T, ScenarioError>, text: &str) -> Option<T> {
    read.map_err(|error| check_refused(&error, |file| (file == FILE).then_some(text))).ok()
}

/// Any bytes are a topology file or are refused. One that is read is a network in which links join nodes that there
/// are, and gives the same again when it is written down; a scenario can name it.
pub fn topology(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = |text| checked(read_topology(text, FILE, LINK.0, LINK.1), text);
    let Some((nodes, links)) = read(text) else { return };
    let hosts = nodes.iter().filter(|node| node.switch.is_none()).count();
    // A host has one link, to a switch.
    assert!(hosts >= 2 && links.len() >= hosts && nodes.len() > hosts);
    for link in &links {
        let (a, b) = link.ends;
        assert!(a != b && (a as usize) < nodes.len() && (b as usize) < nodes.len(), "{link:?}");
    }
    let again = topology_text(&nodes, &links);
    let second = read(&again).unwrap_or_else(|| panic!("written down it is refused:\n{again}"));
    assert_eq!(second, (nodes.clone(), links.clone()), "written down it is another network:\n{again}");
    if let Some(loaded) = check(SCENARIO, &Texts::from([(FILE, bytes)]), &[]) {
        assert_eq!(loaded.scenario.network.topology, Topology::Listed { nodes, links });
    }
}

fn topology_text(nodes: &[ListedNode], links: &[ListedLink]) -> String {
    let mut text = String::new();
    for node in nodes {
        let role = match node.switch {
            None => "host",
            Some(SwitchRole::Tor) => "tor",
            Some(SwitchRole::Aggregation) => "aggregation",
            Some(SwitchRole::Spine) => "spine",
            // A port is no node.
            Some(SwitchRole::Dci | SwitchRole::Long) => "dci",
            Some(SwitchRole::Relay) => "relay",
            Some(SwitchRole::Nic) => "nic",
        };
        let _ = writeln!(text, "[[node]]\nname = {}\nrole = \"{role}\"", toml::string(&node.name));
    }
    for ListedLink { ends, rate, delay } in links {
        let name = |i: u32| toml::string(&nodes[i as usize].name);
        let (a, b) = (name(ends.0), name(ends.1));
        let (rate, delay) = (Rate::as_bps(*rate), Span::as_ps(*delay));
        let _ = writeln!(text, "[[link]]\nends = [{a}, {b}]\nrate = \"{rate}bps\"\ndelay = \"{delay}ps\"");
    }
    text
}

/// Any bytes are a trace or are refused. One that is read has flows between hosts that there are, and gives the same
/// again when it is written down.
pub fn trace(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = |text| checked(read_trace(text, FILE, TRACE.0, TRACE.1), text);
    let Some(flows) = read(text) else { return };
    assert!(!flows.is_empty(), "a trace of nothing");
    for TraceFlow { from, to, bytes, .. } in &flows {
        assert!(from != to && *from < TRACE.0 && *to < TRACE.0 && (1..=TRACE.1).contains(&bytes.get()));
    }
    let again = trace_text(&flows);
    assert_eq!(read(&again), Some(flows), "written down it is another trace:\n{again}");
}

fn trace_text(flows: &[TraceFlow]) -> String {
    let mut text = "start,from,to,bytes\n".to_string();
    for TraceFlow { start, from, to, bytes } in flows {
        let _ = writeln!(text, "{}ps,{from},{to},{}B", Time::as_ps(*start), Bytes::get(*bytes));
    }
    text
}

/// Any bytes are a distribution of sizes or are refused. One that is read is a distribution: it does not fall and ends
/// at 1, and its mean lies between its smallest and its largest size.
pub fn sizes(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(sizes) = checked(read_sizes(text, FILE), text) else { return };
    let Sizes::Distribution { points, .. } = &sizes else { panic!("a distribution was read") };
    let (first, last) = (points[0], points[points.len() - 1]);
    assert_eq!(last.1, 1.0, "fractions end before the last flow");
    assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1), "{points:?}");
    // The mean is a sum of shares, each rounded.
    let (least, mean, most) = (first.0.max(1.0) * (1.0 - 1e-9), sizes.mean(), last.0 * (1.0 + 1e-9));
    assert!((least..=most).contains(&mean), "a mean of {mean} between {least} and {most}");
}
