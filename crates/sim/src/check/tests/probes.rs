//! `[[probe]]`: from where to where, how often, and what it takes.

use clearway_proto::units::{Bytes, Span, Time};
use serde_json::json;

use super::fixture::{good, read, said, toml, with, Folder, FULL, SMALL};
use crate::check::memory::{self, estimate_bytes};
use crate::model::Probe;
use crate::record::tables::probe_row_bytes;
use crate::simulation::footprint::{probe_bytes, FRAME};
use crate::topology::shape;

fn probe(keys: &str) -> String {
    format!("{SMALL}[[probe]]\n{keys}")
}

const PLAIN: &str = "from = 0\nto = 3\ninterval = \"10us\"\n";

#[test]
fn probes_are_read() {
    let expected = Probe {
        from: 0,
        to: 3,
        interval: Span::from_us(10),
        bytes: Bytes::new(64),
        class: 0,
        start: Time::ZERO,
        stop: None,
    };
    assert_eq!(good(&probe(PLAIN)).probes, std::slice::from_ref(&expected));
    let more = format!("{PLAIN}size = \"1kB\"\nstart = \"20us\"\nstop = \"30us\"\n");
    let at = |us| Time::ZERO + Span::from_us(us);
    let expected = Probe { bytes: Bytes::new(1000), start: at(20), stop: Some(at(30)), ..expected };
    assert_eq!(good(&probe(&more)).probes, [expected]);
    assert_eq!(good(SMALL).probes, []);
}

/// Eight hosts, then the switches tor0, tor1, spine0 and spine1.
#[test]
fn ends_are_numbers_of_hosts_or_names_of_nodes() {
    let between =
        |from: &str, to: &str| format!("{FULL}[[probe]]\nfrom = {from}\nto = {to}\ninterval = \"1us\"\n");
    let ends = |from, to| {
        let scenario = good(&between(from, to));
        (scenario.probes[0].from, scenario.probes[0].to)
    };
    assert_eq!(ends("\"h3\"", "0"), (3, 0));
    assert_eq!(ends("\"spine1\"", "\"tor0\""), (11, 8));
    let said = said(&between("3", "\"h3x\""));
    assert!(said.contains("probe[0].to: found \"h3x\", expected a host's number or a node's name"), "{said}");
    assert!(said.ends_with("; did you mean h3?"), "{said}");
}

#[test]
fn wrong_probes_are_named() {
    let wrong = |from: &str, to: &str| said(&probe(&with(PLAIN, from, to)));
    assert_eq!(
        wrong("to = 3", "to = 0"),
        "x.toml:15: probe[0].to: h0 is where the probe's packets come from"
    );
    assert_eq!(
        wrong("to = 3", "to = \"h0\""),
        "x.toml:15: probe[0].to: h0 is where the probe's packets come from"
    );
    assert_eq!(
        wrong("to = 3", "to = 4"),
        "x.toml:15: probe[0].to: found 4, but hosts are numbered from 0 to 3"
    );
    assert!(wrong("to = 3", "to = \"tor\"").ends_with("did you mean tor0?"));
    assert!(
        wrong("interval = \"10us\"\n", "").contains("probe[0].interval: missing, expected a time from 1ns")
    );
    let more = |keys: &str| said(&probe(&format!("{PLAIN}{keys}\n")));
    assert!(more("size = \"63B\"").ends_with("found \"63B\", expected a size from 64B to 131071B"));
    assert!(more("start = \"1ms\"").ends_with("probe[0].start: found 1ms, but the run ends at 1ms"));
    assert!(more("start = \"5us\"\nstop = \"5us\"").ends_with("probe[0].stop: 5us is not after start, 5us"));
    assert!(more("class = \"a\"").contains("expected a class's name, and there is no [class.NAME]"));
    let narrow = format!("{PLAIN}size = \"9kB\"\n[switch.default]\nbuffer = \"8kB\"\n");
    assert_eq!(
        said(&probe(&narrow)),
        "x.toml:19: switch.default.buffer: a port may hold 8kB, less than one packet of probe[0], 9kB"
    );
}

#[test]
fn a_class_may_be_a_probes_alone() {
    let classes = "[class.bulk]\n[class.probes]\npriority = 0\n";
    let text = format!("{}class = \"probes\"\n{classes}", probe(PLAIN));
    let loaded = read(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.scenario.probes[0].class, 1);
    let unnamed = with(&text, "class = \"probes\"\n", "");
    assert!(said(&unnamed).contains("class.probes: no transport uses this class"));
    let unnamed = with(&unnamed, "[class.probes]\npriority = 0\n", "");
    let loaded = read(&unnamed).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.resolved["probe"][0]["class"], json!("bulk"));
}

#[test]
fn resolved_probes_are_the_same_probes() {
    let text = probe(&with(PLAIN, "to = 3", "to = \"tor0\""));
    let loaded = read(&text).unwrap_or_else(|error| panic!("{error}"));
    let resolved = json!([{ "from": 0, "to": "tor0", "interval": "10us", "size": "64B", "start": "0us" }]);
    assert_eq!(loaded.resolved["probe"], resolved);
    let again = read(&toml(&loaded.resolved)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, loaded);
}

#[test]
fn probes_take_memory_and_are_bounded() {
    let every = |interval: &str| good(&probe(&with(PLAIN, "10us", interval)));
    // A buffer holds more than is under way: each packet may wait in it.
    let (few, many) = (estimate_bytes(&every("10us")), estimate_bytes(&every("1us")));
    let row_bytes = probe_row_bytes(&*shape::of(&good(SMALL).network.topology));
    let needed = |packets: f64| probe_bytes(packets) + packets * row_bytes + packets * FRAME;
    assert_eq!(many - few, (needed(1000.0) - needed(100.0)) as u64);
    assert_eq!(few - estimate_bytes(&good(SMALL)), needed(100.0) as u64);
    let (key, message) = memory::check(&every("1ns"), 1_000_000).expect_err("a million rows");
    assert_eq!(key, "probe[0].interval");
    assert!(message.contains("MB, is for 1000000 rows of samples every 1ns: probe less often"), "{message}");
    let table = format!("[[probe]]\n{PLAIN}");
    assert_eq!(good(&format!("{SMALL}{}", table.repeat(10_000))).probes.len(), 10_000);
    let said = said(&format!("{SMALL}{}", table.repeat(10_001)));
    assert_eq!(said, "x.toml:13: probe: found 10001 probes; the most is 10000");
}

/// Hosts a and b at switch s; t, joined to nothing; a chain of switches c0 to c30 from s on.
fn strange_network() -> String {
    let node = |name: &str, role: &str| format!("[[node]]\nname = \"{name}\"\nrole = \"{role}\"\n");
    let link = |a: &str, b: &str| format!("[[link]]\nends = [\"{a}\", \"{b}\"]\n");
    let mut text = node("a", "host") + &node("b", "host") + &node("s", "tor") + &node("t", "tor");
    text += &(link("a", "s") + &link("b", "s") + &node("c0", "spine") + &link("s", "c0"));
    for i in 1..31 {
        let (last, next) = (format!("c{}", i - 1), format!("c{i}"));
        text += &(node(&next, "spine") + &link(&last, &next));
    }
    text
}

#[test]
fn the_ends_of_a_probe_are_joined_by_a_path_that_a_frame_can_count() {
    let folder = Folder::new("probes", &[("net.toml", &strange_network())]);
    let small = with(SMALL, "topology = \"star\"\nhosts = 4", "topology = \"file\"\nfile = \"net.toml\"");
    let to = |name: &str| format!("{small}[[probe]]\nfrom = \"a\"\nto = \"{name}\"\ninterval = \"1us\"\n");
    for near in ["b", "s", "c29"] {
        assert!(folder.read(&to(near)).is_ok(), "{near}");
    }
    assert_eq!(folder.said(&to("t")), "x.toml:15: probe[0].to: no path leads from a to t");
    assert_eq!(
        folder.said(&to("c30")),
        "x.toml:15: probe[0].to: the path from a to c30 has 32 links; the most is 31"
    );
}
