//! Links that lose frames or are down: how many are lost, which, and that flows come through.

use crate::experiment::{figure, integers, link_count, picoseconds, run, run_on, run_seeded};

/// Two hosts around a switch.
fn pair(duration: &str, transport: &str, traffic: &str, faults: &str) -> String {
    format!(
        "format = 1\nname = 'faults'\nduration = '{duration}'\n[network]\ntopology = 'star'\nhosts = 2\n\
         rate = '80Gbps'\nmtu = '1000B'\nframing = '0B'\n[transport.t]\n{transport}\n\
         [[traffic]]\npattern = 'incast'\nto = 1\n{traffic}\n{faults}"
    )
}

#[test]
fn a_lossy_link_loses_its_share_of_the_frames() {
    for (seed, probability) in [(1, 0.5), (2, 0.1), (3, 0.01), (4, 0.001)] {
        for link in ["h0>tor0", "tor0>h1"] {
            let fault = format!("[[fault]]\nkind = 'loss'\nlink = '{link}'\nprobability = {probability}");
            let transport = "protocol = 'none'\nheader = '0B'\nack = '10B'\nrto = '100us'";
            let outcome = run_seeded(&pair("20ms", transport, "", &fault), Some(seed));
            let frames = link_count(&outcome, link, "frames") as f64;
            let lost = link_count(&outcome, link, "fault_losses") as f64;
            let error = (frames * probability * (1.0 - probability)).sqrt();
            let off = (lost - frames * probability) / error;
            println!("{link} {probability}: {lost} of {frames}, {off:+.2} standard errors");
            assert!(off.abs() < 3.0, "{link} at {probability}: {lost} of {frames}");
            assert!(frames > 50_000.0, "{link}: {frames} frames would not show much");
            assert_eq!(figure(&outcome, "fault_losses"), lost, "no other link loses any");
        }
    }
}

#[test]
fn a_link_that_never_or_always_loses() {
    for (probability, share) in [(0.0, 0), (1.0, 1)] {
        let fault = format!("[[fault]]\nkind = 'loss'\nlink = 'h0>tor0'\nprobability = {probability}");
        let outcome = run(&pair("1ms", "protocol = 'none'\nrto = '100us'", "", &fault));
        let frames = link_count(&outcome, "h0>tor0", "frames");
        assert!(frames > 0);
        assert_eq!(link_count(&outcome, "h0>tor0", "fault_losses"), share * frames);
    }
}

/// Packets of 100 ns every microsecond, from 7 us on. What begins at `from` or later and before `until` is lost, be it
/// by a picosecond. Packet i begins at the switch a transmission and a microsecond of delay later than at the host.
#[test]
fn a_link_that_is_down_loses_what_begins_while_it_is() {
    const US: u64 = 1_000_000;
    let transport = "protocol = 'none'\nheader = '0B'\nack = '10B'\nrate = '8Gbps'\nrto = '2ms'";
    for (link, first) in [("h0>tor0", 7 * US), ("tor0>h1", 7 * US + 100_000 + US)] {
        for (from, until) in [
            (first + 50 * US, first + 90 * US),
            (first + 50 * US + 1, first + 90 * US),
            (first + 50 * US, first + 90 * US + 1),
            (first + 50 * US - 1, first + 50 * US + 1),
            (first + 50 * US + 1, first + 51 * US),
        ] {
            let fault =
                format!("[[fault]]\nkind = 'down'\nlink = '{link}'\nat = '{from}ps'\nuntil = '{until}ps'");
            let outcome = run(&pair("10ms", transport, "bytes = '500kB'\nstart = '7us'", &fault));
            let begins = |i: &u64| (from..until).contains(&(first + i * US));
            let expected = (0..500).filter(begins).count() as u64;
            assert_eq!(link_count(&outcome, link, "fault_losses"), expected, "{link} {from}..{until}");
            // All of them are sent again, once, and nothing else is.
            assert_eq!(integers(&outcome, "flows", "retransmissions")[0], expected, "{link} {from}..{until}");
            assert_eq!(integers(&outcome, "flows", "delivered_bytes")[0], 500_000, "{link} {from}..{until}");
            assert_eq!(figure(&outcome, "completed"), 1.0, "{link} {from}..{until}");
        }
    }
}

#[test]
fn flows_come_through_a_link_that_is_down_for_a_while() {
    for transport in
        ["protocol = 'swift'", "protocol = 'dctcp'\nmin_rto = '300us'", "protocol = 'none'\nrto = '300us'"]
    {
        for link in ["h0-tor0", "tor0>h1", "tor0>h0"] {
            let fault = format!("[[fault]]\nkind = 'down'\nlink = '{link}'\nat = '500us'\nuntil = '2ms'");
            let text = |faults| pair("60ms", transport, "bytes = '20MB'", faults);
            let outcome = run(&text(&fault));
            assert_eq!(figure(&outcome, "completed"), 1.0, "{transport} {link}");
            assert_eq!(integers(&outcome, "flows", "delivered_bytes")[0], 20_000_000, "{transport} {link}");
            assert!(figure(&outcome, "fault_losses") > 0.0, "{transport} {link}");
            let took = picoseconds(&outcome, "flows", "fct_us")[0];
            let undisturbed = picoseconds(&run(&text("")), "flows", "fct_us")[0];
            println!("{transport} {link}: {} us more", (took - undisturbed) / 1_000_000);
            assert!(undisturbed < took, "{transport} {link}: {took}");
        }
    }
}

/// A packet is sent every microsecond; one lost on the last link counts in the loss of the interval in which it was sent.
/// Packet i leaves its host at i us and begins on the last link 1.1 us later; the measurement begins at 100 us, so the
/// packets 99 and 100 both begin there after it, and only the second was sent in it.
#[test]
fn a_loss_belongs_to_the_interval_in_which_its_frame_was_sent() {
    let transport = "protocol = 'none'\nheader = '0B'\nack = '10B'\nrate = '8Gbps'\nrto = '2ms'";
    // The packets that are lost, and how many of them were sent in the measured time.
    for (first, last, measured) in
        [(20, 39, 0), (120, 139, 20), (90, 109, 10), (99, 99, 0), (100, 100, 1), (98, 101, 2)]
    {
        let (from, until) = (first * 1_000_000 + 1_100_000, last * 1_000_000 + 1_100_001);
        let fault =
            format!("[[fault]]\nkind = 'down'\nlink = 'tor0>h1'\nat = '{from}ps'\nuntil = '{until}ps'");
        let text = format!("warmup = '100us'\n{}", pair("1ms", transport, "", &fault));
        for threads in [1, 2] {
            let outcome = run_on(&text, None, threads);
            let lost = (last - first + 1) as f64;
            assert_eq!(figure(&outcome, "loss_rate"), f64::from(measured) / 900.0, "{first} to {last}");
            assert_eq!(figure(&outcome, "loss_rate_whole"), lost / 1000.0, "{first} to {last}");
            // At a link a loss counts when it happens.
            let there = (100_000_000..).contains(&until);
            assert_eq!(figure(&outcome, "fault_losses") > 0.0, there, "{first} to {last}");
        }
    }
}

/// Senders with a large window fill the queue before the last link, which goes down when the measurement begins: the
/// queue is lost in the measured time, and hardly anything is sent in it, as the least timeout is longer than the run.
#[test]
fn no_more_is_lost_than_was_sent() {
    let text = "format = 1\nname = 'down'\nduration = '20ms'\nwarmup = '4ms'\n[network]\ntopology = 'star'\nhosts = 9\n\
         rate = '10Gbps'\n[switch.default]\nbuffer = '4MB'\n[transport.t]\nprotocol = 'cubic'\nmin_rto = '100ms'\n\
         [[traffic]]\npattern = 'incast'\nto = 8\n\
         [[fault]]\nkind = 'loss'\nprobability = 1\nlink = 'tor0>h8'\nat = '4ms'";
    let outcome = run(text);
    let (whole, rate) = (figure(&outcome, "loss_rate_whole"), figure(&outcome, "loss_rate"));
    let lost = figure(&outcome, "fault_losses");
    assert!(lost > 100.0, "a queue is lost: {lost}");
    assert!(whole > 0.0, "{whole}");
    assert!(rate.is_nan() || rate <= 1.0, "{rate} of what was sent");
}
