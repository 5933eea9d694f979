//! Warnings about Fastpass's arbiters, and what is refused as it surely breaks. What each says that a run does, a run did.

use super::fixture::{read, said, with};

/// Eight hosts that talk and one for the arbiter, with frames of 1538 B: a slot takes 1242.828 ns.
const RACK: &str =
    "format = 1\nname = \"rack\"\nduration = \"5ms\"\n[network]\ntopology = \"star\"\nhosts = 9\n\
                    rate = \"10Gbps\"\ndelay = \"1us\"\nmtu = \"1448B\"\n[transport.t]\nprotocol = \"fastpass\"\n\
                    header = \"52B\"\n[arbiter]\nat = \"h8\"\n[[traffic]]\npattern = \"permutation\"\nhosts = \"0..8\"\n";

fn warnings(before: &str, after: &str) -> Vec<String> {
    let text = with(RACK, before, after);
    read(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).warnings
}

/// The only warning of this scenario; none of the scenario with `sound` in place of `after`.
fn only(before: &str, after: &str, sound: &str) -> String {
    assert_eq!(warnings(before, sound), [""; 0]);
    let found = warnings(before, after);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
}

#[test]
fn a_slot_shorter_than_a_frame_is_refused() {
    let message = said(&with(RACK, "at = \"h8\"", "at = \"h8\"\nslot = \"1000ns\""));
    assert_says(
        &message,
        &[
            "arbiter.slot: a frame of 1538B takes 1.2304us on a host's link of 10Gbps, and a timeslot is 1us",
            "what is granted is 1.23 times what links carry",
            "raise slot to 1242829ps, or lower network.mtu",
        ],
    );
    assert_eq!(warnings("at = \"h8\"", "at = \"h8\"\nslot = \"1230400ps\""), [""; 0]);
}

#[test]
fn grants_that_are_late_on_the_way_are_said_with_what_is_refused() {
    // A grant is 2 * 40 us under way and 181 ns in transmission. 13,329 of 30,515 slots are used, and 7 of 16.
    let message = only("\"1us\"", "\"40us\"", "\"24us\"");
    assert_says(
        &message,
        &[
            "arbiter.ahead: a batch is allocated 40 slots or 49.714us before its first one",
            "reaches host 0 after 80.181us (arbiter 0us + way 80.181us), 30.468us late",
            "refuse what is more than 20.02us old, of 16 slots 9 or more",
            "raise ahead to 65 or more, and early of the transport to 100.67us",
        ],
    );
    assert_says(
        &only("\"1us\"", "\"25us\"", "\"24us\""),
        &["0.468us late: packets leave when the slots are over"],
    );
    let message = said(&with(RACK, "\"1us\"", "\"45us\""));
    assert_says(
        &message,
        &["arbiter.ahead: ", "refuse what is more than 20.02us old, and that is every grant"],
    );
}

#[test]
fn an_arbiter_that_takes_longer_than_it_is_ahead_is_said() {
    let of = |latency: &str| format!("at = \"h8\"\n{latency}");
    let message = only("at = \"h8\"", &of("latency = \"80us\""), &of("latency = \"47us\""));
    assert_says(&message, &["(arbiter 80us + way 2.181us), 32.468us late", "of 16 slots 11 or more"]);
    // What the processor takes for the slots of a batch and for an allocation counts as well.
    let slow = only("at = \"h8\"", &of("slot_service = \"3us\"\nallocation_service = \"2us\""), &of(""));
    assert_says(&slow, &["(arbiter 50us + way 2.181us)"]);
    // That shows what windows of slots come to at 100 Gb/s, so it can be run.
    let message = only("at = \"h8\"", &of("latency = \"100us\""), &of(""));
    assert_says(&message, &["arbiter.ahead: ", "and that is every grant; raise ahead to 83 or more"]);
    // Whoever does not go by the age of grants refuses none.
    let text = with(RACK, "at = \"h8\"", &of("latency = \"100us\""));
    read(&with(&text, "header =", "send = \"on_arrival\"\nheader =")).expect("a good file");
}

#[test]
fn a_slot_longer_than_the_request_interval_is_said() {
    let message = only("\"10Gbps\"", "\"350Mbps\"", "\"400Mbps\"");
    assert_says(
        &message,
        &[
            "transport.t.report_interval: 34us is shorter than a timeslot, 35.51us",
            "are 19.8 Mb/s, 5.6 % of a link of 350Mbps, and slots leave 1.0 %",
            "raise it to 213.057us or more",
        ],
    );
}

#[test]
fn a_batch_longer_than_endpoints_wait_for_a_word_is_said() {
    let slow = |rate: &str| {
        with(RACK, "\"10Gbps\"", rate).replace("header =", "report_interval = \"1ms\"\nheader =")
    };
    let of = |rate: &str| read(&slow(rate)).expect("a good file").warnings;
    assert_eq!(of("\"200Mbps\""), [""; 0]);
    let found = of("\"180Mbps\"");
    assert_eq!(found.len(), 1);
    assert_says(
        &found[0],
        &["transport.t.fallback_after: 1ms is no longer than a batch of 16 timeslots, 1104.737us"],
    );
}

#[test]
fn more_arbiters_than_hosts_can_ask_are_said() {
    let many = |arbiters: &str, hosts: &str| {
        let text = with(&with(RACK, "hosts = 9", hosts), "\"h8\"", arbiters);
        read(&text).expect("a good file").warnings
    };
    assert_eq!(many("[8, 9, 10, 11]", "hosts = 12"), [""; 0]);
    let found = many("[8, 9, 10, 11, 12, 13, 14, 15]", "hosts = 16");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_says(
        &found[0],
        &["all 8 arbiters, 8 of 84 B every 34us, which is 1.58 % of its link of 10Gbps, and slots leave 1.00 %"],
    );
}

/// A network of three racks.
fn racks(hosts: u32, spines: u32, oversubscription: f64) -> String {
    format!(
        "topology = \"leaf_spine\"\nleaves = 3\nspines = {spines}\nhosts_per_leaf = {hosts}\noversubscription = {oversubscription}"
    )
}

#[test]
fn uplinks_of_no_whole_number_of_packets_a_slot_are_said_where_that_costs_something() {
    let star = "topology = \"star\"\nhosts = 9";
    // 8 hosts over 4 uplinks of 1.33 packets a slot: 4, 4 and 8 leave in turn, which is all that they carry.
    for sound in [racks(8, 4, 1.5), racks(8, 4, 1.0), racks(8, 4, 2.0), racks(8, 8, 4.0), racks(16, 4, 1.1)] {
        assert_eq!(warnings(star, &sound), [""; 0], "{sound}");
    }
    // 5 hosts over 4 uplinks of 1.25 packets: 4, 4, 4 and all 5. The run carries 39.6 of 46.6 Gb/s.
    let message = only(star, &racks(5, 4, 1.0), star);
    assert_says(
        &message,
        &[
            "network.oversubscription: an uplink of tor0 of 12.50 Gb/s carries 1.250 packets a timeslot",
            "4 leave in one slot and 8 in another, though the 5 hosts send one each at most",
            "4.25 packets a slot of the 5.00 that links carry, 15 % less",
            "a whole number of times 10Gbps",
        ],
    );
}

#[test]
fn a_bottleneck_too_slow_for_the_requests_of_its_hosts_is_said() {
    let bell = |hosts: u32, bottleneck: &str| {
        format!("topology = \"dumbbell\"\nleft = 9\nright = {hosts}\nbottleneck = \"{bottleneck}\"")
    };
    let star = "topology = \"star\"\nhosts = 9";
    for sound in [bell(4, "15Gbps"), bell(4, "9Gbps"), bell(4, "5Gbps"), bell(8, "16Gbps")] {
        assert_eq!(warnings(star, &sound), [""; 0], "{sound}");
    }
    let message = only(star, &bell(40, "1Gbps"), star);
    assert_says(
        &message,
        &[
            "network.bottleneck: 40 hosts that wait for slots are told so every 100us, with 84 B each: 268.8 Mb/s over the bottleneck",
            "of 1.00 Gb/s, 26.9 % of what that carries, and slots leave 1.0 %",
        ],
    );
}
