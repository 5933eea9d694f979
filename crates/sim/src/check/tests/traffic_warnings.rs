//! Warnings about flows that never start, and about loads that links between switches cannot carry.

use super::fixture::read;

fn warnings(network: &str, traffic: &str) -> Vec<String> {
    warnings_at("100Gbps", network, traffic)
}

fn warnings_at(rate: &str, network: &str, traffic: &str) -> Vec<String> {
    let text = format!(
        "format = 1\nname = \"w\"\nduration = \"1ms\"\n[network]\nrate = \"{rate}\"\ndelay = \"1us\"\n{network}\n\
         [transport.a]\nprotocol = \"none\"\n{traffic}"
    );
    read(&text).unwrap_or_else(|error| panic!("{error}")).warnings
}

fn poisson(load: &str, more: &str) -> String {
    format!("[[traffic]]\npattern = \"poisson\"\nload = {load}\nsizes = \"websearch\"\n{more}\n")
}

const LEAVES: &str =
    "topology = \"leaf_spine\"\nleaves = 4\nhosts_per_leaf = 8\nspines = 2\noversubscription = 4";

/// Eight hosts offer 400 Gb/s, 24 of 31 parts of it to others: 309.68 Gb/s over two uplinks.
#[test]
fn more_than_uplinks_carry_is_shown_with_its_arithmetic() {
    assert_eq!(
        warnings(LEAVES, &poisson("0.5", "")),
        ["traffic[0].load: the 8 hosts behind the uplinks of tor0 send to others 309.68Gbps of payload, 1.55 times the 200Gbps \
          that these carry: queues grow until the run ends; offer at most 0.65 of it, or lower network.oversubscription"]
    );
    assert_eq!(warnings(LEAVES, &poisson("0.32", "")), [""; 0]);
    // Within a rack nothing crosses an uplink.
    assert_eq!(warnings(LEAVES, &poisson("1.0", "from = \"0..8\"\nto = \"0..8\"")), [""; 0]);
}

/// A thousand bits a second are the least that a link may have.
#[test]
fn the_slowest_network_is_warned_of_as_any_other() {
    let network =
        "topology = \"leaf_spine\"\nleaves = 2\nhosts_per_leaf = 4\nspines = 1\noversubscription = 4";
    let said = warnings_at("1kbps", network, &poisson("0.5", ""));
    let load = said.iter().find(|line| line.starts_with("traffic[0].load: ")).expect("a warning of the load");
    assert!(load.contains("send to others 1143bps of payload, 1.14 times the 1kbps"), "{said:?}");
}

/// 24 hosts offer 480 Gb/s to the eight of the last rack.
#[test]
fn what_others_send_counts_and_so_do_all_tables_of_a_time() {
    let to_last = |load| poisson(load, "from = \"0..24\"\nto = \"24..32\"");
    let said = warnings(LEAVES, &to_last("0.2"));
    assert!(
        said[0].contains("behind the uplinks of tor3 are sent by others 480Gbps of payload, 2.40 times"),
        "{said:?}"
    );
    let two = warnings(LEAVES, &(to_last("0.05") + &to_last("0.05")));
    assert!(
        two[0].starts_with("traffic: the 8 hosts behind the uplinks of tor3 are sent by others 240Gbps"),
        "{two:?}"
    );
    let one_after_the_other =
        format!("{}stop = \"500us\"\n{}start = \"500us\"\n", to_last("0.05"), to_last("0.05"));
    assert_eq!(warnings(LEAVES, &one_after_the_other), [""; 0]);
}

#[test]
fn every_kind_of_network_with_few_links_in_its_middle_is_looked_at() {
    let dumbbell = "topology = \"dumbbell\"\nleft = 2\nright = 2\nbottleneck = \"100Gbps\"";
    let said = warnings(dumbbell, &poisson("0.6", "from = \"0..2\"\nto = \"2..4\""));
    assert!(
        said[0].contains("the 2 hosts behind the bottleneck send to others 120Gbps of payload, 1.20 times"),
        "{said:?}"
    );
    let far = "topology = \"datacenters\"\ndatacenters = 2\nk = 4\nlong_rate = \"100Gbps\"\nlong_km = 80";
    let said = warnings(far, &poisson("0.1", "from = \"0..16\"\nto = \"16..32\""));
    let expected =
        "traffic[0].load: the 16 hosts behind the link from dci0 to dci1 send to others 160Gbps of payload";
    assert!(said[0].starts_with(expected), "{said:?}");
    let star = "topology = \"star\"\nhosts = 8";
    assert_eq!(warnings(star, &poisson("1.0", "")), [""; 0]);
}

/// Reads of 1 MB, 40,000 a second of each of two initiators: 640 Gb/s that come back.
#[test]
fn answers_to_reads_go_the_other_way() {
    let loops = "[[traffic]]\npattern = \"open_loop\"\noperation = \"read\"\nrequest_bytes = \"64B\"\nfrom = \"0..2\"\nto = \"8..32\"\n\
                 rate = \"40k/s\"\nbytes = \"1MB\"\nbacklog = 10";
    let said = warnings(LEAVES, loops);
    let expected = "behind the uplinks of tor0 are sent by others 640Gbps of payload, 3.20 times";
    assert!(said[0].contains(expected), "{said:?}");
}

#[test]
fn flows_that_never_start_are_counted() {
    let star = "topology = \"star\"\nhosts = 4";
    let incast = |more: &str| format!("[[traffic]]\npattern = \"incast\"\nto = 0\n{more}");
    assert_eq!(warnings(star, &incast("stagger = \"499us\"")), [""; 0]);
    assert_eq!(
        warnings(star, &incast("stagger = \"500us\"")),
        ["traffic[0]: 1 of 3 never start: the run ends at 1ms, and the first of them would start at 1ms; lengthen duration, or \
          let them start earlier"]
    );
    let drawn = warnings(star, &incast("start = \"0us..10ms\"\nflows_per_pair = 100"));
    let late: u32 = drawn[0]
        .strip_prefix("traffic[0]: ")
        .and_then(|said| said.split(' ').next())
        .and_then(|count| count.parse().ok())
        .unwrap_or_else(|| panic!("{drawn:?}"));
    // Nine tenths of 300, of which the standard deviation is 5.2.
    assert!((250..=290).contains(&late), "{late}");
}
