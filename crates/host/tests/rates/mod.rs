//! Pacing rates by grants: unmodified iperf3 between network namespaces, of which one carries its traffic by a script's grants. Needs
//! root, `ip`, `ss`, iperf3 and a kernel that takes its programs; says so and passes where one of them is missing.

mod carrying;
mod net;

use std::io::Write;

use carrying::Carrying;
use net::{skipped, Net};

/// The payload of a frame of 1538 bytes.
const PAYLOAD: u64 = 1448;

/// Runs a test between namespaces, or says why it was not run.
fn with_net(name: &str, test: impl FnOnce(&Net)) {
    let made = Net::make(name).and_then(|net| Carrying::refusal(&net).map_or(Ok(net), Err));
    match made {
        // Not by a macro, whose output the harness keeps to itself: that nothing was tested must not go unseen.
        Err(reason) => skipped(&format!("rates by grants, {name}: {reason}")),
        Ok(net) => test(&net),
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Flows, their congestion control, and the rates in Mb/s at which they are held against their grants.
const RUNS: [(&str, &str, &[u64]); 4] =
    [("1", "cubic", &[100, 400, 50]), ("8", "cubic", &[400, 50]), ("1", "bbr", &[100]), ("8", "bbr", &[100])];

#[test]
#[ignore = "takes 18 s: make test-slow runs it"]
fn iperf3_sends_what_is_granted() {
    with_net("flows", |net| {
        let mut carrying = Carrying::start(net);
        for (flows, control, rates) in RUNS {
            if !net::has_control(control) {
                skipped(&format!("rates by grants under {control}: this kernel does not have it"));
                continue;
            }
            let _iperf = net.iperf(&["-C", control, "-P", flows, "-t", "60"]);
            for &megabits in rates {
                carrying.rate(megabits);
                let what = format!("{flows} {control} at {megabits} Mb/s");
                follows(&mut carrying, &what, megabits, PAYLOAD);
            }
        }
        carrying.exit();
    });
}

/// Holds what is sent in 4 s or so at an offered rate against what is granted, and that against what is offered.
fn follows(carrying: &mut Carrying, what: &str, megabits: u64, payload: u64) {
    // The first are those of the rate before, and of connections that begin.
    carrying.granted_slots(megabits);
    let before = carrying.report();
    carrying.granted_slots(4 * megabits);
    let after = carrying.report();
    let (granted, offered) = (after.granted - before.granted, after.offered - before.offered);
    let (sent, us) = (after.sent - before.sent, after.us - before.us);
    let ratio = sent as f64 / (granted * carrying::slot_payload() * payload / PAYLOAD) as f64;
    let rate = sent as f64 * 8.0 / us as f64;
    say(&format!("{what}: {rate:.2} Mb/s, {ratio:.4} of {granted} slots granted of {offered} offered"));
    // More than this machine's other work explains.
    assert!((0.85..1.05).contains(&ratio), "{what}: {ratio} of what was granted");
    assert!(granted * 10 >= offered * 9, "{what}: the demand ran dry, {granted} of {offered} slots");
}

#[test]
fn a_change_of_grants_shows() {
    with_net("changes", |net| {
        let mut carrying = Carrying::start(net);
        for flows in ["1", "8"] {
            carrying.rate(50);
            let _iperf = net.iperf(&["-P", flows, "-t", "60"]);
            carrying.granted_slots(100);
            for megabits in [400, 50, 200] {
                carrying.rate(megabits);
                let shown = shown_after(&mut carrying, megabits);
                say(&format!(
                    "{flows} flows, a change to {megabits} Mb/s: {shown} ms later the rate is another"
                ));
            }
        }
        carrying.exit();
    });
}

/// After how many milliseconds the rate over the next 10 differs by a tenth at most from what is granted.
fn shown_after(carrying: &mut Carrying, megabits: u64) -> u64 {
    let mut series = vec![carrying.report()];
    let expected = (megabits * PAYLOAD / 1538) as f64;
    loop {
        series.push(carrying.report());
        let (first, last) = (series[0], series[series.len() - 1]);
        let Some(from) = series.iter().rev().find(|report| report.us + 10_000 <= last.us) else { continue };
        let rate = (last.sent - from.sent) as f64 * 8.0 / (last.us - from.us) as f64;
        if (rate / expected - 1.0).abs() <= 0.1 {
            return (from.us - first.us) / 1000;
        }
        assert!(last.us < first.us + 10_000_000, "ten seconds later the rate is {rate} Mb/s");
    }
}

/// A flow that its application limits leaves the rest to the others.
#[test]
fn a_socket_that_uses_less_leaves_the_rest() {
    with_net("limited", |net| {
        let mut carrying = Carrying::start(net);
        carrying.rate(100);
        let _limited = net.iperf_at_port("5202", &["-b", "20M", "-t", "60"]);
        let _other = net.iperf(&["-t", "60", "-P", "2"]);
        carrying.wait_for("all of them", |report| report.backlogged >= 2);
        follows(&mut carrying, "2 flows and one of 20 Mb/s at 100 Mb/s", 100, PAYLOAD);
        let acked = net.acked();
        carrying.granted_slots(400);
        let mut acked: Vec<u64> =
            net.acked().iter().zip(&acked).map(|(after, before)| after - before).collect();
        acked.sort_unstable();
        let all: u64 = acked.iter().sum();
        let parts: Vec<f64> = acked.iter().rev().take(3).map(|&bytes| bytes as f64 / all as f64).collect();
        say(&format!("parts of the sockets: {parts:.3?}"));
        // 20 of the 94.1 Mb/s of payload.
        assert!((0.1..0.3).contains(&parts[2]) && parts[1] > 0.3, "{parts:?}");
        carrying.exit();
    });
}

#[test]
fn without_grants_little_is_sent() {
    with_net("idle", |net| {
        let mut carrying = Carrying::start(net);
        let _iperf = net.iperf(&["-t", "60", "-P", "8"]);
        carrying.wait_for("all of them", |report| report.backlogged == 8);
        let (before, from) = (carrying.report(), carrying.report().us);
        carrying.wait_for("two seconds", |report| report.us >= from + 2_000_000);
        let after = carrying.report();
        let rate = (after.sent - before.sent) as f64 * 8.0 / (after.us - before.us) as f64;
        say(&format!("8 flows without grants: {rate:.2} Mb/s; {} B before", before.sent));
        // A twentieth of the link.
        assert!(rate < 50.0, "{rate} Mb/s");
        carrying.exit();
    });
}

#[test]
fn limits_end_with_the_process_however_it_ends() {
    with_net("ends", |net| {
        let _iperf = net.iperf(&["-t", "120", "-P", "4"]);
        let _other = net.iperf_of_other(&["-t", "120"]);
        let bursts = net.bursts();
        for killed in [false, true] {
            let mut carrying = Carrying::start(net);
            carrying.rate(50);
            net.wait_for_limits(true);
            assert!(!net.limits_of_other(), "a namespace without a carriage has its sockets limited");
            carrying.unscheduled(true);
            net.wait_for_limits(false);
            carrying.unscheduled(false);
            net.wait_for_limits(true);
            if killed {
                carrying.kill();
            } else {
                carrying.exit();
            }
            net.wait_for_limits(false);
            assert_eq!(net.bursts(), bursts);
        }
    });
}

#[test]
#[ignore = "takes 10 s: make test-slow runs it"]
fn udp_is_shaped_by_classes_that_end_with_the_process() {
    with_net("udp", |net| {
        let before = net.root();
        for killed in [false, true] {
            let mut carrying = Carrying::start_at(net, Some("veth0"));
            assert!(net.root().contains("htb"));
            carrying.rate(100);
            let udp = net.iperf(&["-u", "-b", "300M", "-t", "60"]);
            follows(&mut carrying, "UDP of 300 Mb/s at 100 Mb/s", 100, PAYLOAD);
            let tcp = net.iperf_at_port("5202", &["-t", "60"]);
            follows(&mut carrying, "UDP and a flow of TCP at 100 Mb/s", 100, PAYLOAD);
            drop((udp, tcp));
            if killed {
                carrying.kill();
            } else {
                carrying.exit();
            }
            net.wait_for_root(&before);
        }
    });
}

#[test]
fn connections_by_ipv6_are_limited() {
    with_net("ipv6", |net| {
        let mut carrying = Carrying::start(net);
        carrying.rate(100);
        let iperf = net.iperf_at(net::RECEIVER_V6, &["-t", "60"]);
        // Segments of 1428 bytes, as the header of IPv6 is 20 bytes longer.
        follows(&mut carrying, "IPv6 at 100 Mb/s", 100, PAYLOAD - 20);
        drop(iperf);
        let _iperf = net.iperf_at(&format!("::ffff:{}", net::RECEIVER), &["-t", "60"]);
        follows(&mut carrying, "IPv4 of an IPv6 socket at 100 Mb/s", 100, PAYLOAD);
        carrying.exit();
    });
}
