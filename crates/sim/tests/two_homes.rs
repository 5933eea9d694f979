//! Hosts with two links, to two switches: they are reached while one of these is dead.

use crate::experiment::{figure, floats, goodput, integers, link_count, run, run_on, texts};

/// Two hosts of one pair of leaves send to two of another, 2 Gb/s each, every packet on a way of its own.
fn two_homes(rest: &str) -> String {
    format!(
        "format = 1\nname = 'homes'\nduration = '20ms'\n[network]\ntopology = 'file'\nfile = 'two_homes.toml'\n\
         rate = '10Gbps'\ndelay = '1us'\nmtu = '1000B'\nframing = '0B'\n[transport.t]\nprotocol = 'none'\nheader = '0B'\n\
         ack = '10B'\nrate = '2Gbps'\nrto = '90ms'\nspray = 'packet'\n[record]\nthroughput = '100us'\n\
         [routing]\ndetect = '200us'\nconverge = '1ms'\n\
         [[traffic]]\npattern = 'incast'\nfrom = 0\nto = 2\n[[traffic]]\npattern = 'incast'\nfrom = 1\nto = 3\n{rest}"
    )
}

/// Packets that leave on a link, over those on it and its sister.
fn share(outcome: &crate::experiment::Outcome, link: &str, sister: &str) -> f64 {
    let [one, other] = [link, sister].map(|link| link_count(outcome, link, "frames") as f64);
    one / (one + other)
}

#[test]
fn both_links_carry_half_while_all_is_well() {
    let outcome = run(&two_homes(""));
    for (one, other) in [("a0.nic>tor0", "a0.nic>tor1"), ("tor2>b0.nic", "tor3>b0.nic")] {
        let half = share(&outcome, one, other);
        assert!((half - 0.5).abs() < 0.03, "{half} on {one}");
    }
    assert_eq!(figure(&outcome, "drops"), 0.0);
    assert!((goodput(&outcome, 1.0, 20.0) - 4.0).abs() < 0.01);
}

/// A leaf is dead from 5 to 10 ms. What both hosts send to it until their cards know is lost, half of all; then the other carries all.
#[test]
fn hosts_are_reached_while_one_of_their_leaves_is_dead() {
    let text = two_homes("[[fault]]\nkind = 'dead'\nnode = 'tor0'\nat = '5ms'\nuntil = '10ms'\n");
    let outcome = run(&text);
    let lost = integers(&outcome, "faults", "lost_frames")[0] as f64;
    // Each of the 100 packets of 0.2 ms takes the dead leaf with a probability of a half, and a packet or two are on their way there.
    let (expected, sigma) = (51.0, (100.0_f64 * 0.25).sqrt());
    assert!((lost - expected).abs() <= 4.0 * sigma, "{lost} frames lost, {expected} expected");
    assert_eq!(texts(&outcome, "faults", "place"), ["tor0"]);
    let meanwhile = goodput(&outcome, 5.3, 10.0);
    assert!((meanwhile - 4.0).abs() < 0.02, "{meanwhile} Gb/s while the leaf is dead");
    let first = goodput(&outcome, 5.0, 5.2);
    assert!((first - 2.0).abs() <= 4.0 * 4.0 * sigma / 100.0, "{first} Gb/s until it is known");
    // From 11 ms on, and until 5 ms, a half.
    let of_dead = share(&outcome, "a0.nic>tor0", "a0.nic>tor1");
    assert!((of_dead - 0.5 * 14.8 / 20.0).abs() < 0.03, "{of_dead} of all on the link to the dead leaf");
    for threads in [2, 3] {
        assert_eq!(run_on(&text, None, threads).digest, outcome.digest, "{threads} threads");
    }
}

/// Both leaves are dead: nothing arrives, and after one has returned everything does.
#[test]
fn hosts_are_cut_off_while_both_leaves_are_dead() {
    let dead = |leaf: u32, until: &str| {
        format!("[[fault]]\nkind = 'dead'\nnode = 'tor{leaf}'\nat = '5ms'\nuntil = '{until}'\n")
    };
    let outcome = run(&two_homes(&format!("{}{}", dead(0, "15ms"), dead(1, "10ms"))));
    let [dead, after] = [(5.1, 10.0), (11.1, 20.0)].map(|(from, until)| goodput(&outcome, from, until));
    assert!(dead < 0.01 && (after - 4.0).abs() < 0.02, "{dead} and {after} Gb/s");
}

/// A link is named by the host as the file has it, or by the host's card; the other direction stays.
#[test]
fn a_link_of_a_host_is_named_by_the_host_or_by_its_card() {
    let dead = |link: &str| two_homes(&format!("[[fault]]\nkind = 'down'\nlink = '{link}'\nat = '5ms'\n"));
    let [by_host, by_card] = ["a0-tor0", "a0.nic-tor0"].map(|link| run(&dead(link)));
    assert_eq!(by_host.digest, by_card.digest);
    let half = share(&by_host, "a0.nic>tor0", "a0.nic>tor1");
    assert!((half - 0.5 * 5.2 / 20.0).abs() < 0.02, "{half} of what host a0 sent");
    let other = share(&by_host, "a1.nic>tor0", "a1.nic>tor1");
    assert!((other - 0.5).abs() < 0.03, "{other} of what host a1 sent");
    assert_eq!(floats(&by_host, "faults", "at_us"), [5000.0]);
}
