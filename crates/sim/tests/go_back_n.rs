//! Go-back-N in whole networks against arithmetic: what a drop costs, and that flows come through whatever is lost.

use crate::experiment::{figure, integers, link_count, picoseconds, run, run_on, run_seeded};

const NS: u64 = 1000;
/// A full frame of 1000 B on a link of 80 Gb/s.
const FRAME: u64 = 100 * NS;
/// From one host to the other and back, on an empty path: two frames of data and two acknowledgements of 10 B, and four
/// links of 1 us.
const ROUND_TRIP: u64 = 2 * FRAME + 2 * NS + 4 * 1000 * NS;

/// A flow between two hosts around a switch.
fn pair(duration: &str, transport: &str, traffic: &str, rest: &str) -> String {
    format!(
        "format = 1\nname = 'go-back-N'\nduration = '{duration}'\n[network]\ntopology = 'star'\nhosts = 2\n\
         rate = '80Gbps'\nmtu = '1000B'\nframing = '0B'\n[transport.t]\nheader = '0B'\nack = '10B'\n{transport}\n\
         [[traffic]]\npattern = 'incast'\nto = 1\n{traffic}\n{rest}"
    )
}

/// The link from the sender loses what begins between these times.
fn down(from: u64, until: u64) -> String {
    format!("[[fault]]\nkind = 'down'\nlink = 'h0>tor0'\nat = '{from}ps'\nuntil = '{until}ps'\n")
}

/// With a window of W packets that is shorter than the round trip, packet i of window n leaves n round trips and i frames
/// after the start. All that can follow a packet before its NACK comes is the rest of its window's worth, W - 1 packets.
#[test]
fn a_drop_costs_a_window() {
    for window in [1_u64, 2, 8, 32] {
        assert!(window * FRAME < ROUND_TRIP, "the window is open all the time");
        for (which, n) in [(0, 0), (window / 2, 3), (window - 1, 5)] {
            let leaves = n * ROUND_TRIP + which * FRAME;
            let transport = format!("protocol = 'go_back_n'\nwindow = {window}\nrto = '1ms'");
            let outcome = run(&pair("100ms", &transport, "bytes = '1MB'", &down(leaves, leaves + 1)));
            assert_eq!(link_count(&outcome, "h0>tor0", "fault_losses"), 1);
            assert_eq!(integers(&outcome, "flows", "retransmissions")[0], window, "{window}: packet {which}");
            assert_eq!(integers(&outcome, "flows", "delivered_bytes")[0], 1_000_000);
            // A window of one has nothing that would tell of the gap.
            let timeouts = f64::from(u8::from(window == 1));
            assert_eq!(figure(&outcome, "timeouts_whole"), timeouts, "{window}: packet {which}");
            assert_eq!(figure(&outcome, "completed"), 1.0);
        }
    }
}

/// Nothing follows the last packets that would tell of a gap, or too little: these are found by the timer.
#[test]
fn at_the_end_of_a_flow_a_drop_costs_what_is_left() {
    const PACKETS: u64 = 8;
    let transport = "protocol = 'go_back_n'\nwindow = 64\nrto = '1ms'";
    let empty = run(&pair("100ms", transport, "bytes = '8kB'", ""));
    let [whole] = picoseconds(&empty, "flows", "fct_us")[..] else { panic!("one flow") };
    for lost in 0..PACKETS {
        let outcome = run(&pair("100ms", transport, "bytes = '8kB'", &down(lost * FRAME, lost * FRAME + 1)));
        let again = PACKETS - lost;
        assert_eq!(integers(&outcome, "flows", "retransmissions")[0], again, "packet {lost}");
        // The NACK is of the next packet; packet 0 is sent again when it has come, and the rest behind it. The timer of
        // the last packet runs from the acknowledgement of the one before.
        let repeated = if lost + 1 < PACKETS {
            (lost + 1) * FRAME + ROUND_TRIP
        } else {
            (lost - 1) * FRAME + ROUND_TRIP + 1_000_000 * NS
        };
        let late = repeated - lost * FRAME;
        assert_eq!(picoseconds(&outcome, "flows", "fct_us")[0], whole + late, "packet {lost}");
    }
}

/// Drops far apart cost a window each. A second drop within a window costs nothing more, and the chance of one is about pW
/// where a frame is lost with probability p. So a drop has W packets sent again, or fewer by a share of up to about pW.
#[test]
fn random_losses_cost_a_window_each_and_selective_repeat_one_packet() {
    const WINDOW: f64 = 16.0;
    let probability = 0.001;
    let fault = format!("[[fault]]\nkind = 'loss'\nlink = 'h0>tor0'\nprobability = {probability}");
    let per_drop = |protocol: &str| {
        let transport = format!("protocol = '{protocol}'\nwindow = {WINDOW}\nrto = '100us'");
        let outcome = run_seeded(&pair("300ms", &transport, "", &fault), Some(5));
        let drops = figure(&outcome, "fault_losses");
        assert!(drops > 500.0, "{protocol}: {drops} drops");
        integers(&outcome, "flows", "retransmissions")[0] as f64 / drops
    };
    let (go_back_n, selective) = (per_drop("go_back_n"), per_drop("none"));
    println!("sent again for a drop: go-back-N {go_back_n:.3}, selective repeat {selective:.3}");
    let share = go_back_n / WINDOW;
    assert!(1.0 - 2.0 * probability * WINDOW < share && share <= 1.0, "{go_back_n}");
    assert!((selective - 1.0).abs() < 0.01, "{selective}");
}

#[test]
fn flows_come_through_drops_and_the_run_ends_with_them() {
    // Eight flows into a buffer of 20 packets, with losses on the way there and back.
    let text = "format = 1\nname = 'drops'\nduration = '5s'\nstop_when_complete = true\n[network]\ntopology = 'star'\n\
                hosts = 9\nrate = '10Gbps'\nmtu = '1000B'\n[switch.default]\nbuffer = '20kB'\n\
                [transport.t]\nprotocol = 'go_back_n'\nwindow = 8\nrto = '300us'\n\
                [[traffic]]\npattern = 'incast'\nto = 8\nbytes = '300kB'\n\
                [[fault]]\nkind = 'loss'\nlink = 'h0-tor0'\nprobability = 0.01\n";
    let alone = run(text);
    assert_eq!(figure(&alone, "completed"), 8.0);
    assert!(figure(&alone, "drops") > 100.0 && figure(&alone, "fault_losses") > 5.0);
    assert!(figure(&alone, "simulated_us") < 5e6);
    for threads in [2, 3] {
        assert_eq!(run_on(text, None, threads).digest, alone.digest);
    }
}

#[test]
fn operations_come_through_losses() {
    for operation in ["write", "read"] {
        let traffic = format!(
            "format = 1\nname = 'operations'\nduration = '20ms'\n[network]\ntopology = 'star'\nhosts = 4\n\
             rate = '40Gbps'\n[transport.t]\nprotocol = 'go_back_n'\nwindow = 8\nrto = '200us'\n\
             [[traffic]]\npattern = 'closed_loop'\noperation = '{operation}'\nfrom = '0..3'\nto = 3\nbytes = '20kB'\n\
             outstanding = 3\n[[fault]]\nkind = 'loss'\nlink = 'h3-tor0'\nprobability = 0.02\n"
        );
        let outcome = run(&traffic);
        assert!(figure(&outcome, "fault_losses") > 100.0, "{operation}");
        assert!(figure(&outcome, "operations") > 500.0, "{operation}");
        assert_eq!(figure(&outcome, "failed_operations"), 0.0, "{operation}");
    }
}
