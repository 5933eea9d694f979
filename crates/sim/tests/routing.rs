//! Links, switches and hosts that die and live again, in networks that route around them: what is lost until they know, what flows
//! meanwhile, and when it is as before.

use crate::experiment::{figure, floats, goodput, integers, link_count, run, run_on, texts, Outcome};

/// Two leaves of four hosts and `spines` spine switches, all at 10 Gb/s; host i of the first sends to host i of the second.
fn two_leaves(spines: u32, duration: &str, transport: &str, rest: &str) -> String {
    let flow = |host: u32| format!("[[traffic]]\npattern = 'incast'\nfrom = {host}\nto = {}\n", host + 4);
    let flows = (0..4).map(flow).collect::<Vec<_>>().concat();
    format!(
        "format = 1\nname = 'routing'\nduration = '{duration}'\n[network]\ntopology = 'leaf_spine'\nleaves = 2\n\
         spines = {spines}\nhosts_per_leaf = 4\nrate = '10Gbps'\ndelay = '1us'\nmtu = '1000B'\nframing = '0B'\n\
         [transport.t]\n{transport}\n{flows}{rest}"
    )
}

fn routing(detect: &str, converge: &str) -> String {
    format!("[routing]\ndetect = '{detect}'\nconverge = '{converge}'\n")
}

/// Packets of 1000 B at 2 Gb/s a host, spread over all paths, so that each of four has 2 Gb/s.
const SPREAD: &str =
    "protocol = 'none'\nheader = '0B'\nack = '10B'\nrate = '2Gbps'\nrto = '90ms'\nspray = 'packet'";

/// One of four cables dies at 5 ms. Data on it are lost for the time until its switch knows; acknowledgements on it, which come
/// from the other side, until all know. Then three carry a third each.
#[test]
fn a_dead_cable_loses_what_it_carried_until_it_is_known() {
    let fault = "[[fault]]\nkind = 'down'\nlink = 'tor0-spine1'\nat = '5ms'\n";
    let text = two_leaves(4, "15ms", SPREAD, &format!("{}{fault}", routing("200us", "1ms")));
    let outcome = run(&text.replacen("[network]", "warmup = '6ms'\n[network]", 1));
    // A packet takes 4 us of its host's time at 2 Gb/s: four hosts send one each microsecond, and a quarter of them takes the cable.
    let per_ms = 250.0;
    // Both are lost that are on the wire as it dies: what takes 1.8 us for a packet, and 1 us for an acknowledgement.
    let data = per_ms * (0.2 + 0.0018);
    // An acknowledgement takes the path of its packet. Of those that come when data had been lost, there are none.
    let acks = per_ms * (1.0 + 0.001) - data;
    let lost = integers(&outcome, "faults", "lost_frames")[0] as f64;
    assert!((lost - data - acks).abs() < 0.2 * (data + acks), "{lost} lost; {data} and {acks} expected");
    let of = |link: &str| link_count(&outcome, link, "frames") as f64;
    let total: f64 = (0..4).map(|spine| of(&format!("tor0>spine{spine}"))).sum();
    assert!((total - 9000.0).abs() < 20.0, "{total} packets in 9 ms");
    for (spine, share) in [(0, 1.0 / 3.0), (1, 0.0), (2, 1.0 / 3.0), (3, 1.0 / 3.0)] {
        for link in [format!("tor0>spine{spine}"), format!("spine{spine}>tor1")] {
            let sigma = (total * share * (1.0 - share)).sqrt();
            assert!((of(&link) - total * share).abs() <= 4.0 * sigma, "{link}: {} of {total}", of(&link));
        }
    }
    assert_eq!(texts(&outcome, "faults", "place"), ["tor0-spine1"]);
    assert!(floats(&outcome, "faults", "until_us")[0].is_nan());
}

/// A fat tree of 4-port switches of which one link to the core is dead: its aggregation switch sends all over the other, and the
/// rest is as before.
#[test]
fn a_fat_tree_without_one_core_link_carries_what_arithmetic_says() {
    let flow = |host: u32| format!("[[traffic]]\npattern = 'incast'\nfrom = {host}\nto = {}\n", host + 12);
    let flows = (0..4).map(flow).collect::<Vec<_>>().concat();
    let text = |fault: &str| {
        format!(
            "format = 1\nname = 'core'\nduration = '10ms'\nwarmup = '2ms'\n[network]\ntopology = 'fat_tree'\nk = 4\n\
             rate = '10Gbps'\nmtu = '1000B'\nframing = '0B'\n[transport.t]\n{SPREAD}\n{flows}{}{fault}",
            routing("10us", "100us")
        )
    };
    let outcome = run(&text("[[fault]]\nkind = 'down'\nlink = 'agg0-spine0'\nat = '1ms'\n"));
    let of = |link: &str| link_count(&outcome, link, "wire_bytes") as f64 * 8.0 / 8e-3 / 1e9;
    // 8 Gb/s leave the pod; half of them by each aggregation switch, and of that a half over each core switch that it has.
    for (link, gbps) in [
        ("tor0>agg0", 2.0),
        ("agg0>spine0", 0.0),
        ("agg0>spine1", 4.0),
        ("agg1>spine2", 2.0),
        ("agg1>spine3", 2.0),
        ("spine1>agg6", 4.0),
        ("spine0>agg6", 0.0),
    ] {
        assert!((of(link) - gbps).abs() < 0.15, "{link}: {} Gb/s, expected {gbps}", of(link));
    }
    assert_eq!(figure(&outcome, "drops"), 0.0);
    // With both its links dead the whole switch is left.
    let both = "[[fault]]\nkind = 'down'\nlink = 'agg0-spine0'\nat = '1ms'\n[[fault]]\nkind = 'down'\nlink = 'agg0-spine1'\nat = '1ms'\n";
    let outcome = run(&text(both));
    let of = |link: &str| link_count(&outcome, link, "wire_bytes") as f64 * 8.0 / 8e-3 / 1e9;
    for (link, gbps) in [("tor0>agg0", 0.0), ("tor0>agg1", 4.0), ("agg1>spine2", 4.0), ("spine1>agg6", 0.0)] {
        assert!((of(link) - gbps).abs() < 0.15, "{link}: {} Gb/s, expected {gbps}", of(link));
    }
}

/// One of two spine switches is dead for 8 ms: half of the capacity is left, and all is back after it.
#[test]
fn a_dead_switch_costs_its_share_until_it_is_back() {
    let swift = "protocol = 'swift'\nmin_rto = '300us'";
    let more = (0..28)
        .map(|i| format!("[[traffic]]\npattern = 'incast'\nfrom = {}\nto = {}\n", i % 4, 4 + i % 4))
        .collect::<Vec<_>>()
        .concat();
    let fault = "[[fault]]\nkind = 'dead'\nnode = 'spine0'\nat = '10ms'\nuntil = '18ms'\n[record]\nthroughput = '500us'\n";
    let outcome = run(&two_leaves(2, "30ms", swift, &format!("{more}{}{fault}", routing("50us", "500us"))));
    let (before, meanwhile, after) =
        (goodput(&outcome, 5.0, 10.0), goodput(&outcome, 12.0, 18.0), goodput(&outcome, 22.0, 30.0));
    println!("{before} Gb/s before, {meanwhile} meanwhile, {after} after");
    // Of 20 Gb/s on the wire, 1000 B in 1028 are payload.
    assert!((17.5..19.5).contains(&meanwhile), "{meanwhile} meanwhile");
    assert!(
        before > 1.7 * meanwhile && (after / before - 1.0).abs() < 0.05,
        "{before} before, {after} after"
    );
    let (least, recovery) =
        (floats(&outcome, "faults", "goodput_least_gbps")[0], floats(&outcome, "faults", "recovery_us")[0]);
    assert!(least < 0.6 * before, "{least}");
    assert!((8000.0..11_000.0).contains(&recovery), "{recovery} us");
    assert!((floats(&outcome, "faults", "goodput_before_gbps")[0] / before - 1.0).abs() < 0.05);
    assert!(integers(&outcome, "faults", "lost_frames")[0] > 10);
}

/// A host whose NIC is dead hears nothing; what is for it is dropped at its switch, which knows. When it is back its flow goes on and
/// ends, and nobody else was disturbed.
#[test]
fn a_dead_host_holds_up_its_own_flow_alone() {
    let flow = |host: u32| {
        format!("[[traffic]]\npattern = 'incast'\nfrom = {host}\nto = {}\nbytes = '10MB'\n", host + 4)
    };
    let flows = (0..4).map(flow).collect::<Vec<_>>().concat();
    let text = |rest: &str| {
        format!(
            "format = 1\nname = 'host'\nduration = '60ms'\n[network]\ntopology = 'star'\nhosts = 8\nrate = '10Gbps'\n\
             [transport.t]\nprotocol = 'swift'\nmin_rto = '500us'\n{flows}{rest}"
        )
    };
    let fault = "[[fault]]\nkind = 'dead'\nnode = 5\nat = '2ms'\nuntil = '6ms'\n";
    let outcome = run(&text(&format!("{}{fault}", routing("20us", "200us"))));
    let undisturbed = run(&text(""));
    assert_eq!(figure(&outcome, "completed"), 4.0);
    let (fct, alone) = (floats(&outcome, "flows", "fct_us"), floats(&undisturbed, "flows", "fct_us"));
    // Timeouts of 0.5, 1 and 2 ms run out at 2.5, 3.5 and 5.5 ms. The third puts the window to its floor of 0.001 packets (Swift's
    // RETX_RESET_THRESHOLD), so that the next packet follows the last, of 3.5 ms, by a gap of between half of gap_limit and 1000 round
    // trips: 6 to 10.9 ms. The flow goes on at 9.5 to 14.4 ms, and its window is that of the path within 0.1 ms.
    for flow in 0..4 {
        let later = fct[flow] - alone[flow];
        let expected = if flow == 1 { 7500.0..12_500.0 } else { 0.0..0.000_001 };
        assert!(expected.contains(&later), "flow {flow} ends {later} us later");
    }
    assert_eq!(texts(&outcome, "faults", "place"), ["h5"]);
    assert!(integers(&outcome, "faults", "lost_frames")[0] > 0);
}

/// Flows of the dead next hop move; with a hash modulo the number that is left others do, too.
#[test]
fn rehashing_is_minimal_unless_asked_otherwise() {
    let flows = (0..64)
        .map(|i| {
            format!(
                "[[traffic]]\npattern = 'incast'\nfrom = {}\nto = {}\nbytes = '2MB'\nstart = '{i}us'\n",
                i % 4,
                4 + i % 4
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let text = |rehash: &str, fault: &str| {
        format!(
            "format = 1\nname = 'rehash'\nduration = '4ms'\nwarmup = '2ms'\n[network]\ntopology = 'leaf_spine'\nleaves = 2\nspines = 4\n\
             hosts_per_leaf = 4\nrate = '10Gbps'\n[transport.t]\nprotocol = 'swift'\n{flows}{}rehash = '{rehash}'\n{fault}",
            routing("10us", "100us")
        )
    };
    let fault = "[[fault]]\nkind = 'down'\nlink = 'tor0-spine0'\nat = '1ms'\n";
    let frames = |outcome: &Outcome, spine: u32| link_count(outcome, &format!("tor0>spine{spine}"), "frames");
    for rehash in ["minimal", "modulo"] {
        let (whole, dead) = (run(&text(rehash, "")), run(&text(rehash, fault)));
        assert!(frames(&whole, 0) > 0, "{rehash}");
        assert_eq!(frames(&dead, 0), 0, "{rehash}");
        assert!((1..4).all(|spine| frames(&dead, spine) > 0), "{rehash}");
    }
    // Without a fault there is nothing to choose anew.
    assert_eq!(run(&text("minimal", "")).digest, run(&text("modulo", "")).digest);
    assert_ne!(run(&text("minimal", fault)).digest, run(&text("modulo", fault)).digest);
}

/// A scenario with [routing] and no fault is the one without: every frame takes the path that it would have taken.
#[test]
fn without_faults_routes_are_those_of_a_network_without_routing() {
    for (number, transport) in
        ["protocol = 'swift'", "protocol = 'dctcp'\nspray = 'packet'"].into_iter().enumerate()
    {
        let text = |rest: &str| two_leaves(3, "3ms", transport, rest);
        let (fixed, routed) = (run(&text("")), run(&text(&routing("10us", "1ms"))));
        for table in ["flows", "links"] {
            let of = |outcome: &Outcome| outcome.tables.iter().find(|of| of.name == table).cloned();
            assert_eq!(format!("{:?}", of(&fixed)), format!("{:?}", of(&routed)), "{number} {table}");
        }
    }
}

/// A link at a quarter of its rate carries a quarter; one with wrong bits loses frames by their length.
#[test]
fn slow_and_noisy_links_do_what_their_keys_say() {
    let transport = "protocol = 'none'\nheader = '0B'\nack = '10B'\nwindow = 100\nrto = '90ms'";
    let pair = |fault: &str| {
        format!(
            "format = 1\nname = 'slow'\nduration = '20ms'\nwarmup = '10ms'\n[network]\ntopology = 'star'\nhosts = 2\nrate = '10Gbps'\n\
             mtu = '1000B'\nframing = '0B'\n[transport.t]\n{transport}\n[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\n[[fault]]\n{fault}"
        )
    };
    for link in ["h0>tor0", "tor0>h1"] {
        let outcome = run(&pair(&format!("kind = 'slow'\nlink = '{link}'\nrate = '2.5Gbps'\nat = '5ms'")));
        assert!(
            (figure(&outcome, "goodput_gbps") - 2.5).abs() < 0.01,
            "{link}: {}",
            figure(&outcome, "goodput_gbps")
        );
        let ended = run(&pair(&format!(
            "kind = 'slow'\nlink = '{link}'\nrate = '2.5Gbps'\nat = '5ms'\nuntil = '9ms'"
        )));
        assert!(
            (figure(&ended, "goodput_gbps") - 10.0).abs() < 0.01,
            "{link}: {}",
            figure(&ended, "goodput_gbps")
        );
        let noisy = pair(&format!("kind = 'corruption'\nlink = '{link}'\nbit_error_rate = 1e-6"));
        let noisy = run(&noisy.replace("warmup = '10ms'\n", ""));
        let (lost, frames) =
            (integers(&noisy, "faults", "lost_frames")[0], link_count(&noisy, link, "frames"));
        // One frame of 1000 bytes in 125 has a wrong bit: 1 - (1 - 1e-6)^8000.
        let expected = frames as f64 * 0.007_968;
        assert!((lost as f64 - expected).abs() < 4.0 * expected.sqrt(), "{link}: {lost} of {frames}");
        assert!(frames > 10_000, "{link}: {frames} frames would not show much");
    }
}

#[test]
fn faults_are_the_same_on_any_number_of_threads() {
    let swift = "protocol = 'swift'\nspray = 'packet'\nmin_rto = '300us'";
    let faults = "[[fault]]\nkind = 'dead'\nnode = 'spine0'\nat = '2ms'\nuntil = '4ms'\n\
                  [[fault]]\nkind = 'dead'\nnode = 2\nat = '1ms'\nuntil = '3ms'\n\
                  [[fault]]\nkind = 'slow'\nlink = 'tor1-spine2'\nrate = '1Gbps'\nat = '3ms'\n\
                  [[probe]]\nfrom = 'tor0'\nto = 'spine1'\ninterval = '30us'\n";
    let text = two_leaves(3, "8ms", swift, &format!("{}{faults}", routing("50us", "500us")));
    let alone = run_on(&text, None, 1);
    for threads in [2, 3, 7] {
        let together = run_on(&text, None, threads);
        assert_eq!(alone.digest, together.digest);
        assert_eq!(format!("{:?}", alone.tables), format!("{:?}", together.tables));
    }
}
