//! `[arbiter]`, crashes of arbiters, and transports whose packets leave in timeslots.

use clearway_proto::units::{Span, Time};
use serde_json::json;

use super::fixture::{good, read, said, toml, with};
use crate::model::Crash;

/// Three hosts that talk, and one for the arbiter.
const RACK: &str =
    "format = 1\nname = \"rack\"\nduration = \"1ms\"\n[network]\ntopology = \"star\"\nhosts = 4\n\
                    rate = \"10Gbps\"\n[transport.t]\nprotocol = \"fastpass\"\n[arbiter]\nat = \"h3\"\n\
                    [[traffic]]\npattern = \"incast\"\nfrom = \"0..2\"\nto = 2\n";

fn wrong(before: &str, after: &str) -> String {
    said(&with(RACK, before, after))
}

#[test]
fn arbiters_are_read() {
    let text = with(RACK, "at = \"h3\"", "at = [3, \"tor0\"]\norder = \"min_fct\"\nslot = \"4us\"");
    let crash = "[[fault]]\nkind = \"crash\"\narbiter = 1\nat = \"10us\"\nuntil = \"20us\"\n";
    let scenario = good(&format!("{text}{crash}"));
    let arbiters = scenario.arbiters.expect("arbiters");
    assert_eq!((arbiters.nodes, arbiters.slot), (vec![3, 4], Span::from_us(4)));
    let at = |us| Time::ZERO + Span::from_us(us);
    assert_eq!(arbiters.crashes, [Crash { rank: 1, from: at(10), until: at(20) }]);
    assert!(scenario.faults.is_empty());
}

#[test]
fn a_slot_is_a_full_frame_and_a_share_for_what_has_none() {
    let arbiters = good(RACK).arbiters.expect("arbiters");
    // 4096 B and 64 and 38, at 10 Gb/s: 3358.4 ns, over 0.99.
    assert_eq!(arbiters.slot.as_ps(), 3_392_323);
    let none = with(RACK, "at = \"h3\"", "at = \"h3\"\ncontrol_share = 0.0");
    assert_eq!(good(&none).arbiters.expect("arbiters").slot.as_ps(), 3_358_400);
}

#[test]
fn resolved_arbiters_are_the_same_arbiters() {
    let crash = "[[fault]]\nkind = \"crash\"\narbiter = 0\nat = \"10us\"\n";
    let loaded = read(&format!("{RACK}{crash}")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.resolved["arbiter"]["at"], json!(["h3"]));
    let again = read(&toml(&loaded.resolved)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, loaded);
}

#[test]
fn arbiters_and_fastpass_belong_together() {
    let message = wrong("[arbiter]\nat = \"h3\"\n", "");
    assert!(message.contains("transport.t.protocol: fastpass needs an arbiter: add [arbiter]"), "{message}");
    let message = wrong("\"fastpass\"", "\"swift\"");
    assert!(message.ends_with("arbiter: no transport has protocol = \"fastpass\""), "{message}");
    let two = with(RACK, "[arbiter]", "[transport.u]\nprotocol = \"fastpass\"\nrto = \"9ms\"\n[arbiter]");
    let two = with(&two, "from =", "transport = \"t\"\nfrom =");
    read(&two).unwrap_or_else(|error| panic!("{error}"));
    let message = said(&with(&two, "rto = \"9ms\"", "late = \"9us\""));
    assert!(
        message.contains("transport.u.protocol: a host has one endpoint, and transport t says"),
        "{message}"
    );
    let crash = "[[fault]]\nkind = \"crash\"\narbiter = 1\n";
    let message = said(&format!("{RACK}{crash}"));
    assert!(message.ends_with("fault[0].arbiter: found 1, and there is one arbiter, 0"), "{message}");
    let plain = with(&with(RACK, "[arbiter]\nat = \"h3\"\n", ""), "\"fastpass\"", "\"swift\"");
    let message = said(&format!("{plain}{}", crash.replace('1', "0")));
    assert!(message.ends_with("fault[0].arbiter: there is no [arbiter]"), "{message}");
}

#[test]
fn what_is_wrong_with_an_arbiter_is_said() {
    let message = wrong("at = \"h3\"", "at = \"h2\"");
    assert!(
        message.contains("traffic[0]: host 2 is an arbiter, whose packets have no timeslots"),
        "{message}"
    );
    let message = wrong("at = \"h3\"", "at = \"h9\"");
    assert!(message.ends_with("; the nearest names are h0, h1, h2, h3, tor0; did you mean h0?"), "{message}");
    let message = wrong("at = \"h3\"", "at = [\"h3\", 3]");
    assert!(message.ends_with("arbiter.at: 3 is listed twice"), "{message}");
    let message = wrong("at = \"h3\"", "at = \"h3\"\ntakeover = \"100us\"");
    assert!(message.ends_with("arbiter.takeover: 100us is not above watchdog, 100us"), "{message}");
    let message = wrong("at = \"h3\"", "at = \"h3\"\nbatch = 65");
    assert!(message.contains("arbiter.batch: found 65, expected"), "{message}");
    let message = wrong("10Gbps", "1Mbps");
    assert!(message.contains("arbiter.slot: a full frame takes 33923us"), "{message}");
    let message = wrong("at = \"h3\"", "at = \"h3\"\nbatch = 64");
    assert!(message.contains("arbiter.ahead: a batch is allocated up to"), "{message}");
    assert!(message.contains("lower ahead or raise early"), "{message}");
    let message = wrong("rate = \"10Gbps\"", "rate = \"10Gbps\"\ndelay = \"1ms\"");
    assert!(
        message.contains("arbiter.ahead: a batch is allocated 40 slots or 135.693us before"),
        "{message}"
    );
    assert!(message.contains("that is every grant; raise ahead to 590 or more, and early of"), "{message}");
}

#[test]
fn an_arbiter_has_to_know_the_paths() {
    let shape = "topology = \"star\"\nhosts = 4";
    let many = "topology = \"leaf_spine\"\nleaves = 129\nspines = 2\nhosts_per_leaf = 2";
    let message = wrong(shape, many);
    assert!(message.contains("arbiter: found 129 racks and 2 paths"), "{message}");
}

#[test]
fn an_arbiter_whose_link_carries_too_little_is_remarked_upon() {
    let of = |hosts: &str, at: &str| {
        let text = with(RACK, "hosts = 4", &format!("hosts = {hosts}\nmtu = \"1448B\""));
        let text = with(&text, "\"h3\"", at);
        read(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).warnings
    };
    assert_eq!(of("200", "\"h3\""), [""; 0]);
    assert_eq!(of("400", "\"tor0\""), [""; 0]);
    let warnings = of("400", "\"h3\"");
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].starts_with("arbiter.at: if all 400 hosts are busy, allocations take 18 Gb/s"),
        "{warnings:?}"
    );
    assert!(warnings[0].contains("it carries those of 221 busy hosts"), "{warnings:?}");
}

#[test]
fn an_endpoint_may_be_told_of_every_batch() {
    let of = |keys: &str| {
        let loaded = read(&with(
            &RACK.replace("hosts = 4", "hosts = 4\nmtu = \"1000B\""),
            "at = \"h3\"",
            &format!("at = \"h3\"\n{keys}"),
        ))
        .expect("a good file");
        (loaded.scenario.arbiters.expect("arbiters").allocation_rate, loaded.warnings)
    };
    // Batches of 16 slots of 1 us: 62,500 a second.
    assert_eq!(of("slot = \"1us\""), (125_000, vec![]));
    assert_eq!(of("slot = \"10us\"").0, 50_000);
    let (_, warnings) = of("slot = \"1us\"\nallocation_rate = 62499");
    assert_eq!(warnings.len(), 1);
    let start = "arbiter.allocation_rate: 62499 allocations a second are fewer than the 62500 batches";
    assert!(warnings[0].starts_with(start), "{warnings:?}");
    assert_eq!(of("slot = \"1us\"\nallocation_rate = 62500").1, [""; 0]);
}

#[test]
fn hosts_that_hear_of_slots_when_they_are_over_are_said() {
    let of = |host: &str| {
        let text = with(
            &with(RACK, "hosts = 4", "hosts = 4\nmtu = \"1000B\""),
            "at = \"h3\"",
            "at = \"h3\"\nslot = \"1us\"\nbatch = 16\nahead = 40\nallocation_rate = 99999",
        );
        read(&format!("{text}\n[host.default]\nmodel = \"interrupts\"\n{host}"))
            .expect("a good file")
            .warnings
    };
    // 56 slots, and 20.02 us that a grant may be late.
    let said = of("wake_interval = \"76021ns\"");
    assert!(said[0].contains("up to 76021ns late to hosts of host.default"), "{said:?}");
    assert_eq!(of("wake_interval = \"76020ns\""), [""; 0]);
}

#[test]
fn fault_isolation_is_on_unless_it_is_said_to_be_off() {
    assert!(good(RACK).arbiters.expect("arbiters").fault_isolation);
    let off = with(RACK, "at = \"h3\"", "at = \"h3\"\nfault_isolation = false");
    let loaded = read(&off).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.resolved["arbiter"]["fault_isolation"], json!(false));
    assert!(!loaded.scenario.arbiters.expect("arbiters").fault_isolation);
    let message = wrong("at = \"h3\"", "at = \"h3\"\nfault_isolation = 0");
    assert!(message.ends_with("arbiter.fault_isolation: found 0, expected true or false"), "{message}");
}

/// Two datacenters, with the arbiter in the second and traffic in it.
const FAR: &str = "format = 1\nname = \"far\"\nduration = \"1ms\"\n[network]\ntopology = \"datacenters\"\nk = 4\nlong_km = 20.0\n\
                   rate = \"10Gbps\"\n[transport.t]\nprotocol = \"fastpass\"\n[arbiter]\nat = [\"h16\", \"spine5\"]\n\
                   [[traffic]]\npattern = \"incast\"\nfrom = \"17..19\"\nto = 20\n";

#[test]
fn arbiters_serve_the_datacenter_in_which_they_are() {
    good(FAR);
    let message = said(&with(FAR, "to = 20", "to = 15"));
    assert!(
        message.contains("traffic[0]: host 15 is in another datacenter than the arbiter, which gives timeslots to hosts 16 to 31"),
        "{message}"
    );
    let message = said(&with(FAR, "\"spine5\"", "\"spine3\""));
    assert!(message.contains("arbiter.at: h16 and spine3 are in different datacenters"), "{message}");
}
