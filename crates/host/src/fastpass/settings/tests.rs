//! A deployment's file, right and wrong.

use super::*;

const FILE: &str = r#"
[network]
topology = "star"
hosts = 2
rate = "1Gbps"

[arbiter]
at = ["a0", "h1"]

[[host]]
name = "h0"
control = "10.0.0.1:7600"
prefixes = ["10.1.0.1/32"]

[[host]]
name = "h1"
control = "10.0.0.2:7600"
data = "10.2.0.2"
prefixes = ["10.1.0.2", "fd00::/64"]

[[host]]
name = "a0"
control = "10.0.0.9:7600"
"#;

fn told(text: &str) -> Vec<Problem> {
    Deployment::parse(text).expect_err("it is wrong")
}

#[test]
fn a_file_says_who_is_where() {
    let read = Deployment::parse(FILE).unwrap();
    assert_eq!((read.rank("a0"), read.rank("h1"), read.rank("h0")), (Some(0), Some(1), None));
    assert_eq!((read.address("h0"), read.address("h1"), read.address("a0")), (Some(0), Some(1), None));
    assert_eq!(read.endpoints[1].data.to_string(), "10.2.0.2");
    let reach = read.reach(0);
    assert_eq!(reach.rate, Rate::from_bps(980_000_000));
    assert_eq!(reach.endpoint("fd00::7".parse().unwrap()), Some(1));
    assert_eq!((reach.paths, reach.slot, read.mode), (1, Span::from_us(100), Mode::Rates));
    let params = read.arbiter_params(1, Timeslots::new(read.arbiter.slot)).unwrap();
    assert_eq!((params.rank, params.arbiters, params.allocator.nodes), (1, 2, 2));
}

#[test]
fn times_follow_the_slot_unless_they_are_given() {
    let with = |more: &str| {
        Deployment::parse(&FILE.replace("[arbiter]\n", &format!("[arbiter]\n{more}\n"))).unwrap()
    };
    let (short, long) = (with("slot = \"50us\""), with("slot = \"2ms\""));
    assert_eq!((short.arbiter.batch, short.arbiter.ahead), (16, 40));
    assert_eq!((long.arbiter.batch, long.arbiter.ahead), (1, 2));
    assert_eq!(with("slot = \"50us\"\nbatch = 3").arbiter.batch, 3);
    assert!(long.endpoint.early > long.arbiter.slot * 3);
}

#[test]
fn a_leaf_spine_has_as_many_paths_as_spines() {
    let text = FILE.replace(
        "topology = \"star\"\nhosts = 2",
        "topology = \"leaf_spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 1",
    );
    let read = Deployment::parse(&text).unwrap();
    assert_eq!((read.network.paths(), read.network.hosts()), (3, 2));
}

#[test]
fn each_thing_that_is_wrong_is_told_with_its_place_and_a_remedy() {
    for (from, to, message, remedy) in [
        ("hosts = 2", "hosts = 3", "network: it has 3 hosts, and 2 of [[host]] have prefixes", "each host of the network"),
        ("hosts = 2", "", "line 2: network.hosts: missing", ""),
        ("at = [", "att = [", "line 8: arbiter.att: unknown key", "did you mean at?"),
        ("\"a0\", \"h1\"", "\"a0\", \"b1\"", "arbiter.at: there is no host \"b1\"", "the hosts are h0, h1, a0"),
        ("\"a0\", \"h1\"", "\"a0\", \"a0\"", "arbiter.at: \"a0\" has two ranks", "name each arbiter once"),
        ("\"10.1.0.2\"", "\"10.1.0.1\"", "10.1.0.1/32 is behind h0 and behind h1", "one endpoint"),
        ("\"10.1.0.2\"", "\"10.1.0.2/24\"", "line 19: host[1].prefixes: found [\"10.1.0.2/24\", \"fd00::/64\"], which has bits beyond its 24: expected 10.1.0.0/24", ""),
        ("name = \"h1\"", "name = \"h0\"", "host[1].name: \"h0\" is host[0]'s, too", "a name of its own"),
        ("10.0.0.1:7600", "10.0.0.1", "line 12: host[0].control: found \"10.0.0.1\", expected an IP address and a port", ""),
        ("control = \"10.0.0.9:7600\"", "", "host[2].control: missing", "write control = "),
        ("[arbiter]\n", "[arbiter]\ntakeover = \"1ms\"\n", "takeover", "change one of them"),
        ("[arbiter]\n", "[arbiter]\nslot = \"1us\"\n", "line 8: arbiter.slot: found \"1us\", expected a time from 20us to 100ms", ""),
        ("[network]", "format = 1\n[network]", "line 2: format: unknown key", "the keys are network, endpoint, arbiter, host"),
        ("[network]", "[netwrok]", "network: missing", "write [network]"),
        ("rate = \"1Gbps\"", "rate = 1", "line 5: network.rate: found 1, expected a rate", ""),
    ] {
        let text = FILE.replacen(from, to, 1);
        assert_ne!(text, FILE);
        let problems = told(&text);
        let found = problems.iter().find(|problem| problem.message.contains(message));
        let found = found.unwrap_or_else(|| panic!("{from} {to}: {problems:?}"));
        assert!(found.remedy.as_deref().unwrap_or("").contains(remedy), "{found:?}");
    }
}

#[test]
fn two_files_that_differ_are_told_apart() {
    let read = |text: &str| Deployment::parse(text).unwrap().agreed();
    let own = read(FILE);
    assert_eq!(own.difference(&own), None);
    let slots = read(&FILE.replace("[arbiter]\n", "[arbiter]\nslot = \"250us\"\n"));
    assert_eq!(own.difference(&slots).unwrap(), "slots are 100 us here and 250 us there");
    let names = read(&FILE.replace("h0", "h7"));
    assert_eq!(own.difference(&names).unwrap(), "the endpoints are h0, h1 here and h7, h1 there");
}

/// The file that docs/FASTPASS.md shows.
#[test]
fn the_file_of_the_documentation_is_right() {
    let page = include_str!("../../../../../docs/FASTPASS.md");
    let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a file");
    let read = Deployment::parse(block).unwrap();
    assert_eq!((read.endpoints.len(), read.rank("a1"), read.mode), (2, Some(1), Mode::Rates));
}

/// Every text is read or refused, whatever is in it.
#[test]
fn no_text_is_too_strange() {
    let bytes = |at: usize, byte: u8| {
        let mut bytes = FILE.as_bytes().to_vec();
        bytes[at] = byte;
        String::from_utf8_lossy(&bytes).into_owned()
    };
    for text in (0..FILE.len()).flat_map(|at| [b'"', b'=', b'[', b'\n', b'9'].map(|byte| bytes(at, byte))) {
        if let Err(problems) = Deployment::parse(&text) {
            assert!(
                !problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty()),
                "{text}"
            );
        }
    }
}

#[test]
fn endpoints_report_on_paths_within_what_an_arbiter_believes() {
    for slot in [20, 100, 500, 100_000].map(Span::from_us) {
        let arbiter = ArbiterSettings::with_slot(slot);
        let isolator = isolator_params(slot);
        let of =
            |mode, paths| endpoint_params(4, Timeslots::new(slot), &endpoint_defaults(mode, &arbiter), paths);
        let params = of(Mode::Slots, 2);
        // The reports on both paths, and what becomes known after a silence: the last 128 slots.
        let most = 2 * u64::from(params.clean_report) + 128;
        assert!(isolator.window >= slot * most, "{slot}: {} of {most} slots", isolator.window);
        assert!(params.probes.is_some_and(|probes| probes.silence > probes.receipt_after));
        assert!(of(Mode::Slots, 1).probes.is_none() && of(Mode::Rates, 2).probes.is_none());
    }
}
