//! RCCC in whole networks, alone and beside NSCC, against arithmetic and the figures of ultraethernet/uet-htsim.

use crate::experiment::{figure, floats, integers, run, run_on, Outcome};

/// The network of htsim's default, as for NSCC: a fat tree of 16 hosts with 100 Gb/s and 1 us, queues of one bandwidth-delay product.
fn fat_tree(protocol: &str, duration: &str, traffic: &str) -> String {
    let scenario = include_str!("../../../scenarios/nscc_one.toml");
    let (head, _) = scenario.split_once("[[traffic]]").expect("a table of traffic");
    let head = head.replace("\"1ms\"", &format!("\"{duration}\""));
    format!("{}\n{traffic}", head.replace("protocol = \"nscc\"", &format!("protocol = \"{protocol}\"")))
}

const INCAST: &str = "[[traffic]]\npattern = 'incast'\nto = 13\nbytes = '1MB'\n";
const ONE: &str = "[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 13\nbytes = '2MB'\n";

/// The way of the last acknowledgement back, which htsim's times contain: six links of 1 us and six transmissions of 64 B.
const BACK_US: f64 = 6.0 * (1.0 + 64.0 * 80e-6);

fn last(outcome: &Outcome) -> f64 {
    floats(outcome, "flows", "fct_us").iter().copied().fold(0.0, f64::max)
}

/// `htsim_uec -tm connection_matrices/one.cm` has its last acknowledgement after 177.368 us with `-receiver_cc_only`, and as well with
/// `-sender_cc -receiver_cc`; 1.17 us later than with NSCC alone, as credit comes at 0.99 of the rate.
#[test]
fn one_flow_takes_as_long_as_in_htsim() {
    for protocol in ["rccc", "nscc_rccc"] {
        let outcome = run(&fat_tree(protocol, "10ms", ONE));
        let acknowledged = last(&outcome) + BACK_US;
        assert!((acknowledged / 177.368 - 1.0).abs() < 0.0001, "{protocol}: {acknowledged}");
        assert_eq!(integers(&outcome, "flows", "retransmissions"), [0], "{protocol}");
        let window_alone = last(&run(&fat_tree("nscc", "10ms", ONE)));
        let ratio = last(&outcome) / window_alone;
        assert!((1.0..1.01).contains(&ratio), "{protocol}: {ratio}");
    }
}

/// Fifteen hosts to one. htsim with the same flows (`-end 5000 -load_balancing_algo oblivious`) has its last acknowledgement after
/// 1232.68 us and 751 NACKs with receivers' credit, and after 1233.61 us and 752 with both, where it has no marks before receivers.
#[test]
fn an_incast_fills_the_receivers_link_and_takes_as_long_as_in_htsim() {
    for (protocol, end, nacks, near) in
        [("rccc", 1232.68, 751.0, 0.001), ("nscc_rccc", 1233.61, 752.0, 0.015)]
    {
        let outcome = run(&fat_tree(protocol, "10ms", INCAST));
        assert_eq!((figure(&outcome, "completed"), figure(&outcome, "drops")), (15.0, 0.0), "{protocol}");
        assert_eq!(figure(&outcome, "timeouts_whole"), 0.0, "{protocol}");
        let acknowledged = last(&outcome) + BACK_US;
        assert!((acknowledged / end - 1.0).abs() < near, "{protocol}: {acknowledged}");
        let trims = figure(&outcome, "trims");
        assert!((trims / nacks - 1.0_f64).abs() < 0.03, "{protocol}: {trims}");
        assert_eq!(figure(&outcome, "retransmissions"), trims, "{protocol}");
        // 15 MB in packets of 4086 B, which take 332 ns each.
        let bound = (15_000_000.0_f64 / 4086.0) * 0.332;
        assert!(bound / last(&outcome) > 0.95, "{protocol}: {bound} of {}", last(&outcome));
    }
}

/// Only packets of the first round trip are trimmed, which takes the fabric 100 us to bring; from then on credit comes at 0.99 of the rate, and
/// the queue only shrinks.
#[test]
fn only_what_was_sent_on_trust_is_trimmed() {
    let trims = |duration: &str| figure(&run(&fat_tree("rccc", duration, INCAST)), "trims");
    let [early, later, all] = ["100us", "200us", "10ms"].map(trims);
    assert_eq!(later, all);
    assert!(early > 0.99 * all, "{early} of {all}");
}

/// The flows of each receiver have equal parts of its link, whatever there is at the other one's.
#[test]
fn flows_share_each_receivers_link_equally() {
    let traffic = "[[traffic]]\npattern = 'incast'\nfrom = '0..3'\nto = 13\nbytes = '2MB'\n\
                   [[traffic]]\npattern = 'incast'\nfrom = '3..9'\nto = 12\nbytes = '2MB'\n";
    let outcome = run(&fat_tree("rccc", "10ms", traffic));
    let times = floats(&outcome, "flows", "fct_us");
    for (flows, share) in [(&times[..3], 3.0), (&times[3..], 6.0)] {
        // 2 MB are 490 packets of 332 ns, and each flow has its part of 0.99 of the rate after the first round trip.
        let expected = share * 2_000_000.0 / 4086.0 * 0.332 / 0.99;
        for time in flows {
            assert!((time / expected - 1.0).abs() < 0.05, "{time} of {expected}: {times:?}");
        }
    }
}

/// A host with two flows asks for half as much for each, and both receivers' links have room: its own link is full.
#[test]
fn a_host_that_sends_to_two_fills_its_own_link() {
    let traffic = "[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 13\nbytes = '2MB'\n\
                   [[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 12\nbytes = '2MB'\n";
    let outcome = run(&fat_tree("rccc", "10ms", traffic));
    let bound = 4_000_000.0 / 4086.0 * 0.332;
    let took = last(&outcome);
    assert!((0.95..1.0).contains(&(bound / took)), "{bound} of {took}");
    assert_eq!(figure(&outcome, "trims"), 0.0);
}

/// Messages one after the other over one flow begin on credit that was granted ahead: they take what they take under NSCC, give or take
/// the rate at which credit comes.
#[test]
fn a_flow_with_one_message_after_another_has_credit_for_each() {
    let done = |protocol: &str| {
        let traffic =
            "[[traffic]]\npattern = 'closed_loop'\nfrom = 0\nto = 13\nbytes = '100kB'\nstop = '2ms'\n";
        figure(&run(&fat_tree(protocol, "3ms", traffic)), "operations")
    };
    let (window, credit) = (done("nscc"), done("rccc"));
    assert!((0.95..=1.0).contains(&(credit / window)), "{credit} of {window}");
}

/// The receiver's link is down for 200 us in the middle of a flow: packets, acknowledgements and grants are lost. A retransmission
/// timeout is 15 us and six base round trips, 99 us, and brings it all back.
#[test]
fn a_link_that_was_down_costs_the_outage_and_a_timeout() {
    for protocol in ["rccc", "nscc_rccc"] {
        let whole = last(&run(&fat_tree(protocol, "10ms", ONE)));
        for link in ["tor6-h13", "tor6>h13", "h13>tor6", "h0-tor0"] {
            let fault = format!("[[fault]]\nkind = 'down'\nlink = '{link}'\nat = '50us'\nuntil = '250us'\n");
            let outcome = run(&fat_tree(protocol, "10ms", &format!("{ONE}{fault}")));
            assert_eq!(figure(&outcome, "completed"), 1.0, "{protocol} {link}");
            assert!(figure(&outcome, "fault_losses") > 0.0, "{protocol} {link}");
            let took = last(&outcome);
            assert!(
                (whole..whole + 200.0 + 2.0 * 99.0).contains(&took),
                "{protocol} {link}: {took} of {whole}"
            );
        }
    }
}

/// Credit comes so slowly that there are times in which nothing is under way. Grants that are lost then, up to the last one that the
/// receiver makes, are missed by nobody but the sender, which asks again after `credit_timeout`.
#[test]
fn a_flow_whose_grants_were_all_lost_asks_again() {
    let text = |at: u32| {
        let slow = fat_tree("rccc", "20ms", &ONE.replace("2MB", "1MB"));
        let slow = slow.replace("protocol = \"rccc\"", "protocol = \"rccc\"\npull_rate = 0.05");
        format!(
            "{slow}[[fault]]\nkind = 'down'\nlink = 'h13>tor6'\nat = '{at}us'\nuntil = '{}us'\n",
            at + 3000
        )
    };
    for at in (200..226).step_by(2) {
        let outcome = run(&text(at));
        assert_eq!(figure(&outcome, "completed"), 1.0, "{at}");
        // The rest takes less than the 1.4 ms of the whole flow, and a timeout in doubt 99 us.
        assert!(last(&outcome) < f64::from(at) + 3000.0 + 1400.0, "{at}: {}", last(&outcome));
    }
}

/// Pacers act at hosts, whose events have one order whoever simulates them.
#[test]
fn any_number_of_threads_gives_the_same_outcome() {
    let rest = "[[traffic]]\npattern = 'permutation'\nbytes = '300kB'\n\
                [[fault]]\nkind = 'loss'\nlink = 'agg0-spine0'\nprobability = 0.01\n\
                [[fault]]\nkind = 'down'\nlink = 'tor6-h13'\nat = '40us'\nuntil = '140us'\n";
    let incast = INCAST.replace("1MB", "200kB");
    let slow_host = "[host.default]\nmodel = 'snap'\n";
    for protocol in ["rccc", "nscc_rccc"] {
        for host in ["", slow_host] {
            let text = fat_tree(protocol, "10ms", &format!("{incast}{rest}{host}"));
            let alone = run_on(&text, None, 1);
            assert_eq!(figure(&alone, "completed"), 31.0, "{protocol} {host}");
            for threads in [2, 3] {
                let together = run_on(&text, None, threads);
                assert_eq!(alone.digest, together.digest, "{protocol} {host} {threads}");
                assert_eq!(
                    format!("{:?}", alone.tables),
                    format!("{:?}", together.tables),
                    "{protocol} {host}"
                );
            }
        }
    }
}
