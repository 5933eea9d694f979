//! Pacing rates by grants: unmodified iperf3 between network namespaces, of which one carries its traffic by a script's grants. Needs
//! root, `ip`, `ss` and iperf3; says so and passes where one of them is missing.

mod carrying;
mod net;

use std::io::Write;

use carrying::Carrying;
use net::{skipped, Net};

/// The payload of a frame of 1538 bytes.
const PAYLOAD: u64 = 1448;

/// Runs a test between namespaces, or says why it was not run.
fn with_net(name: &str, test: impl FnOnce(&Net)) {
    match Net::make(name) {
        // Not by a macro, whose output the harness keeps to itself: that nothing was tested must not go unseen.
        Err(reason) => skipped(&format!("rates by grants, {name}: {reason}")),
        Ok(net) => test(&net),
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Asserts that what sockets sent is what was granted, within some hundredths: at any speed of this machine.
fn assert_follows(what: &str, sent: u64, granted: u64) {
    let ratio = sent as f64 / granted as f64;
    say(&format!("{what}: {:.2} MB sent, {:.4} of what was granted", sent as f64 / 1e6, ratio));
    assert!((0.95..1.03).contains(&ratio), "{what}: {sent} B for {granted} B granted");
}

#[test]
fn iperf3_sends_what_is_granted() {
    with_net("flows", |net| {
        let mut carrying = Carrying::start(net);
        for (flows, control) in [(1, "cubic"), (8, "cubic"), (1, "bbr"), (8, "bbr")] {
            if !net::has_control(control) {
                skipped(&format!("rates by grants under {control}: this kernel does not have it"));
                continue;
            }
            for megabits in [100, 400, 50] {
                carrying.rate(megabits);
                let iperf = net.iperf(&["-C", control, "-P", &flows.to_string(), "-t", "60"]);
                // Once with the slots of connections that begin, once without.
                carrying.granted_slots(300);
                let before = carrying.report();
                carrying.granted_slots(400 * megabits / 100);
                let after = carrying.report();
                let what = format!("{flows} {control} at {megabits} Mb/s");
                say(&format!(
                    "  {} of {} slots offered were wanted, {:.2} Mb/s",
                    after.granted - before.granted,
                    after.offered - before.offered,
                    (after.sent - before.sent) as f64 * 8.0 / (after.us - before.us) as f64
                ));
                assert_follows(
                    &what,
                    after.sent - before.sent,
                    (after.granted - before.granted) * carrying::slot_payload(),
                );
                assert!(
                    (after.granted - before.granted) * 100 >= (after.offered - before.offered) * 98,
                    "{what}: {after:?}"
                );
                drop(iperf);
                carrying.wait_for("no socket left", |report| report.backlogged == 0);
            }
        }
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
fn connections_by_ipv6_and_by_ipv4_in_it_are_limited() {
    with_net("ipv6", |net| {
        let mut carrying = Carrying::start(net);
        carrying.rate(100);
        let _iperf = net.iperf_at(net::RECEIVER_V6, &["-t", "60"]);
        carrying.granted_slots(200);
        let before = carrying.report();
        carrying.granted_slots(400);
        let after = carrying.report();
        // Segments of 1428 bytes, as the header of IPv6 is 20 bytes longer.
        let granted = (after.granted - before.granted) * carrying::slot_payload() / PAYLOAD * (PAYLOAD - 20);
        assert_follows("IPv6 at 100 Mb/s", after.sent - before.sent, granted);
        carrying.exit();
    });
}
