//! `spray`: packets over all shortest paths, how many these may be, and what they take.

use super::fixture::{good, read, said, set, with, Folder, SMALL};
use crate::check::memory::{self, estimate_bytes};
use crate::model::Spray;

/// The small scenario in a network of this many spines, with hosts at two leaves.
fn leaf_spine(spines: u32) -> String {
    let shape = format!("topology = \"leaf_spine\"\nleaves = 2\nspines = {spines}\nhosts_per_leaf = 2");
    with(SMALL, "topology = \"star\"\nhosts = 4", &shape)
}

fn sprayed(text: &str) -> String {
    with(text, "protocol = \"none\"\n", "protocol = \"none\"\nspray = \"packet\"\n")
}

#[test]
fn packets_take_one_path_or_all() {
    assert_eq!(good(&leaf_spine(4)).transports[0].spray, Spray::Flow);
    let loaded = read(&sprayed(&leaf_spine(4))).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.scenario.transports[0].spray, Spray::Packet);
    assert_eq!(loaded.resolved["transport"]["a"]["spray"], "packet");
    let wrong = said(&with(&sprayed(SMALL), "\"packet\"", "\"packets\""));
    assert!(
        wrong.ends_with("found \"packets\", expected one of flow, packet, round_robin, reps, mixed, flowlet, adaptive; did you mean packet?"),
        "{wrong}"
    );
}

#[test]
fn every_selector_has_its_name() {
    let names = [
        ("flow", Spray::Flow),
        ("packet", Spray::Packet),
        ("round_robin", Spray::RoundRobin),
        ("reps", Spray::Reps),
        ("mixed", Spray::Mixed),
        ("flowlet", Spray::Flowlet),
        ("adaptive", Spray::Adaptive),
    ];
    for (name, spray) in names {
        let text = with(&sprayed(&leaf_spine(4)), "\"packet\"", &format!("\"{name}\""));
        let loaded = read(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(loaded.scenario.transports[0].spray, spray);
        // Only packets that overtake each other may be taken for lost.
        assert_eq!(loaded.warnings.iter().any(|said| said.contains("overtake")), spray.reorders(), "{name}");
    }
}

#[test]
fn switches_that_choose_ports_do_not_route_around() {
    let routed = |spray: &str| {
        let fault = "[routing]\ndetect = \"0us\"\nconverge = \"0us\"\n[[fault]]\nkind = \"down\"\nlink = \"tor0-spine1\"\nat = \"1us\"\nuntil = \"2us\"\n";
        with(&sprayed(&leaf_spine(4)), "\"packet\"", spray) + fault
    };
    good(&routed("\"reps\""));
    let said = said(&routed("\"adaptive\""));
    assert!(
        said.contains("transport.a.spray: switches that choose ports by their queues do not route"),
        "{said}"
    );
}

#[test]
fn there_are_not_more_paths_than_a_packet_can_name() {
    assert!(read(&sprayed(&leaf_spine(1024))).is_ok());
    assert!(read(&leaf_spine(1025)).is_ok());
    assert_eq!(
        said(&sprayed(&leaf_spine(1025))),
        "x.toml:11: transport.a.spray: two hosts have 1025 shortest paths between them; packets are sprayed over 1024 at \
         most"
    );
    // One leaf has no use for its spines.
    assert!(read(&with(&sprayed(&leaf_spine(1025)), "leaves = 2", "leaves = 1")).is_ok());
}

/// Three flows; 64 B a path.
#[test]
fn each_path_of_each_flow_takes_memory() {
    let more = |text: &str| estimate_bytes(&good(&sprayed(text))) - estimate_bytes(&good(text));
    assert_eq!(more(&leaf_spine(5)), 3 * 5 * 64);
    let fat_tree = "topology = \"fat_tree\"\nk = 8";
    assert_eq!(more(&with(SMALL, "topology = \"star\"\nhosts = 4", fat_tree)), 127 * 16 * 64);
    let many = with(&sprayed(&leaf_spine(1000)), "to = 0", "to = 0\nflows_per_pair = 1000");
    let (key, message) = memory::check(&good(&many), 10_000_000).expect_err("192 MB of paths");
    assert_eq!(key, "transport.a.spray");
    assert!(message.contains("192.0 MB, is for 1000 paths of each of 3000 flows: leave each"), "{message}");
}

/// Two hosts at two switches, with three others between them.
#[test]
fn paths_of_a_listed_network_are_counted() {
    let node = |name: &str, role: &str| format!("[[node]]\nname = \"{name}\"\nrole = \"{role}\"\n");
    let link = |a: &str, b: &str| format!("[[link]]\nends = [\"{a}\", \"{b}\"]\n");
    let mut network = node("a", "host") + &node("b", "host") + &node("s", "tor") + &node("t", "tor");
    (0..3).for_each(|i| network += &node(&format!("c{i}"), "spine"));
    network += &(link("a", "s") + &link("b", "t"));
    (0..3).for_each(|i| network += &(link("s", &format!("c{i}")) + &link(&format!("c{i}"), "t")));
    let folder = Folder::new("spray", &[("net.toml", &network)]);
    let text = with(SMALL, "topology = \"star\"\nhosts = 4", "topology = \"file\"\nfile = \"net.toml\"");
    let needed =
        |text: &str| estimate_bytes(&folder.read(text).unwrap_or_else(|error| panic!("{error}")).scenario);
    assert_eq!(needed(&sprayed(&text)) - needed(&text), 3 * 256);
}

#[test]
fn packets_that_count_as_lost_because_they_are_late_are_spoken_of() {
    let warnings = |spines, protocol, threshold: &str| {
        let text = with(&leaf_spine(spines), "protocol = \"none\"\n", "spray = \"packet\"\n");
        let marks = [("switch.default.ecn", "step"), ("switch.default.ecn_threshold", "30kB")];
        let sets = [("transport.a.protocol", protocol), ("transport.a.dup_threshold", threshold)];
        let sets = if threshold.is_empty() { &sets[..1] } else { &sets[..] };
        set(&text, &[&marks, sets].concat()).unwrap_or_else(|error| panic!("{error}")).warnings
    };
    assert_eq!(
        warnings(4, "dctcp", "3"),
        ["transport.a.spray: packets of a flow take any of 4 paths and overtake each other; with a dup_threshold of 3 many \
          will count as lost that are only late"]
    );
    assert_eq!(warnings(4, "dctcp", "4"), [""; 0]);
    assert_eq!(warnings(1, "none", ""), [""; 0]);
    assert_eq!(warnings(2, "none", "").len(), 1);
    assert_eq!([warnings(2, "none", "2"), warnings(2, "swift", "2")], [vec![], Vec::<String>::new()]);
    let says = &warnings(2, "go_back_n", "")[0];
    assert!(says.ends_with("go-back-N sends everything again from each that is overtaken"), "{says}");
}

/// A flow may have drawn some paths. Then it matters not how many there are.
#[test]
fn a_flow_may_have_fewer_paths_than_there_are() {
    let drawn = |text: &str, paths: u32| {
        with(&sprayed(text), "spray = \"packet\"", &format!("spray = \"packet\"\npaths = {paths}"))
    };
    assert_eq!(good(&drawn(&leaf_spine(4), 32)).transports[0].paths, Some(32));
    assert_eq!(good(&sprayed(&leaf_spine(4))).transports[0].paths, None);
    good(&drawn(&leaf_spine(1025), 1024));
    assert!(said(&drawn(&leaf_spine(4), 1025)).contains("transport.a.paths"));
    // Three flows; 64 B a path.
    let more = |text: &str| estimate_bytes(&good(text)) - estimate_bytes(&good(&leaf_spine(4)));
    assert_eq!(more(&drawn(&leaf_spine(4), 32)), 3 * 32 * 64);
    let warnings = read(&drawn(&leaf_spine(64), 16)).unwrap_or_else(|error| panic!("{error}")).warnings;
    assert!(warnings.iter().any(|said| said.contains("any of 16 paths")), "{warnings:?}");
}

#[test]
fn only_senders_that_choose_have_drawn_paths() {
    let said = |spray: &str, protocol: &str| {
        let text = with(&leaf_spine(4), "protocol = \"none\"\n", &format!("{spray}\npaths = 4\n"));
        let sets = [("transport.a.protocol", protocol)];
        set(&text, &sets).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(said("spray = \"packet\"", "none"), "");
    let one = said("spray = \"flow\"", "none");
    assert!(one.contains("transport.a.paths: all packets of a flow take one path: set spray"), "{one}");
    let switches = said("spray = \"adaptive\"", "none");
    assert!(switches.contains("transport.a.paths: switches choose among all paths"), "{switches}");
}
