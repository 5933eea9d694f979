//! RoCE, IRN and DCQCN in whole networks against arithmetic: what a window gives, what a lost tail costs, how rates fall and
//! how they come back.

use crate::experiment::{figure, floats, integers, link_count, picoseconds, run, run_on, summary};

const NS: u64 = 1000;
const US: u64 = 1000 * NS;
/// A full frame of 1000 B on a link of 80 Gb/s.
const FRAME: u64 = 100 * NS;
/// An acknowledgement of 10 B.
const ACK: u64 = NS;
/// From one host to the other: two transmissions and two links of 1 us.
const THERE: u64 = 2 * FRAME + 2 * US;
/// There, and back with an acknowledgement.
const ROUND_TRIP: u64 = THERE + 2 * ACK + 2 * US;

/// A flow between two hosts around a switch.
fn pair(transport: &str, bytes: &str, rest: &str) -> String {
    format!(
        "format = 1\nname = 'RDMA'\nduration = '100ms'\n[network]\ntopology = 'star'\nhosts = 2\nrate = '80Gbps'\n\
         mtu = '1000B'\nframing = '0B'\n[transport.t]\nheader = '0B'\nack = '10B'\n{transport}\n[[traffic]]\n\
         pattern = 'incast'\nto = 1\nbytes = '{bytes}'\n{rest}"
    )
}

/// The link from the sender loses what begins before this time.
fn down_until(until: u64) -> String {
    format!("[[fault]]\nkind = 'down'\nlink = 'h0>tor0'\nat = '0us'\nuntil = '{until}ps'\n")
}

/// A window of W packets that is shorter than the round trip has W packets leave in each: packet i of window n leaves n round
/// trips and i frames after the start. That is W packets a round trip: window over RTT.
#[test]
fn a_window_or_a_bitmap_gives_itself_once_a_round_trip() {
    for window in [1_u64, 2, 10, 40] {
        assert!(window * FRAME < ROUND_TRIP, "the window is open all the time");
        let trips = 25;
        for transport in [
            format!("protocol = 'roce'\nwindow = {window}"),
            format!("protocol = 'roce'\nrecovery = 'selective_repeat'\nwindow = {window}"),
            format!("protocol = 'irn'\nbitmap = {window}"),
        ] {
            let outcome = run(&pair(&transport, &format!("{}kB", window * trips), ""));
            let last = (trips - 1) * ROUND_TRIP + (window - 1) * FRAME;
            assert_eq!(picoseconds(&outcome, "flows", "fct_us"), [last + THERE], "{transport}");
            assert_eq!(figure(&outcome, "retransmissions"), 0.0);
        }
    }
}

#[test]
fn without_a_window_roce_sends_at_the_rate_of_its_nic() {
    for recovery in ["go_back_n", "selective_repeat"] {
        let transport = format!("protocol = 'roce'\nrecovery = '{recovery}'");
        let outcome = run(&pair(&transport, "5MB", ""));
        assert_eq!(picoseconds(&outcome, "flows", "fct_us"), [4999 * FRAME + THERE], "{recovery}");
    }
}

/// All three packets of a flow are lost. By the strict rule each timeout brings one of them back, and the next timer runs
/// from its acknowledgement; otherwise the first timeout brings them all.
#[test]
fn a_lost_tail_costs_irn_a_timeout_a_packet_or_one_for_all() {
    let low = 40 * US;
    let irn = |rest: &str| format!("protocol = 'irn'\nrto_low = '40us'\nrto_high = '200us'\n{rest}");
    let strict = run(&pair(&irn(""), "3kB", &down_until(3 * FRAME)));
    assert_eq!(picoseconds(&strict, "flows", "fct_us"), [3 * low + 2 * ROUND_TRIP + THERE]);
    assert_eq!((figure(&strict, "retransmissions"), figure(&strict, "timeouts_whole")), (3.0, 3.0));
    let all = run(&pair(&irn("timeout_loss = 'all'"), "3kB", &down_until(3 * FRAME)));
    assert_eq!(picoseconds(&all, "flows", "fct_us"), [low + 2 * FRAME + THERE]);
    assert_eq!((figure(&all, "retransmissions"), figure(&all, "timeouts_whole")), (3.0, 1.0));
    // Five packets are more than few: the same with the longer timer, until three are left.
    let more = run(&pair(&irn(""), "5kB", &down_until(5 * FRAME)));
    let expected = 2 * 200 * US + 3 * low + 4 * ROUND_TRIP + THERE;
    assert_eq!(picoseconds(&more, "flows", "fct_us"), [expected]);
}

/// One packet of a full bitmap is lost: it goes out again when the next one's NACK is back, and nothing else does.
#[test]
fn a_drop_costs_irn_one_packet() {
    let fault = down_until(FRAME);
    let outcome = run(&pair("protocol = 'irn'\nbitmap = 40", "40kB", &fault));
    assert_eq!(link_count(&outcome, "h0>tor0", "fault_losses"), 1);
    // Packet 1 leaves after one frame. Its NACK finds packets 2 to 39 sent.
    assert_eq!(picoseconds(&outcome, "flows", "fct_us"), [FRAME + ROUND_TRIP + THERE]);
    assert_eq!(figure(&outcome, "retransmissions"), 1.0);
}

/// One flow from a link of 80 Gb/s into one that is slower, whose queue marks every packet once one waits.
fn narrowing(bottleneck: &str, keys: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'narrowing'\nduration = '2ms'\n[network]\ntopology = 'dumbbell'\nleft = 1\nright = 1\n\
         rate = '80Gbps'\nbottleneck = '{bottleneck}'\nbottleneck_delay = '1us'\nmtu = '1000B'\nframing = '0B'\n\
         [switch.default]\nbuffer = '20MB'\necn = 'step'\necn_threshold = '1B'\n\
         [transport.t]\nprotocol = 'roce'\ncongestion = 'dcqcn'\nheader = '0B'\nack = '10B'\n{keys}\n\
         [[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\n{traffic}\n[record]\nwindows = '1us'\n"
    )
}

/// The rates that a flow had one after the other in Gb/s, and for how many samples of 1 us each.
fn rates(text: &str) -> Vec<(f64, u32)> {
    let outcome = run(text);
    let mut rates: Vec<(f64, u32)> = Vec::new();
    for &rate in floats(&outcome, "windows", "rate_gbps") {
        match rates.last_mut() {
            Some((last, count)) if *last == rate => *count += 1,
            _ => rates.push((rate, 1)),
        }
    }
    rates
}

/// The queue never empties, so every packet is marked, and a notification comes every 50 us; alpha stays at one, as its timer
/// is longer. So after n notifications the rate is the line's halved n times, until the least rate.
#[test]
fn n_notifications_halve_the_rate_n_times() {
    let rates = rates(&narrowing("10Gbps", "min_rate = '1Gbps'", "bytes = '20MB'"));
    let expected = [80.0, 40.0, 20.0, 10.0, 5.0, 2.5, 1.25];
    for (n, ((rate, samples), expected)) in rates.iter().zip(expected).enumerate() {
        assert_eq!(*rate, expected, "{rates:?}");
        // Packets leave the bottleneck 0.8 us apart: the first that is marked after 50 us ends the interval.
        assert!(n == 0 || (50..=52).contains(samples), "{rates:?}");
    }
}

/// The bottleneck has a queue from the second packet on, and no rate is below its own: so every packet from that one on is
/// marked, 0.8 us after the one before. The first comes after the transmissions of two packets there and of one on each
/// side of it, and three links; each notification is for the first that comes when the interval is over.
#[test]
fn notifications_are_counted_one_an_interval_at_most() {
    let (gap, first) = (800 * NS, 2 * 800 * NS + 2 * FRAME + 3 * US);
    for interval in [0, 4, 50] {
        let keys = format!("min_rate = '20Gbps'\ncnp_interval = '{interval}us'");
        let outcome = run(&narrowing("10Gbps", &keys, ""));
        let apart = gap * (interval * US).div_ceil(gap).max(1);
        let expected = (2000 * US - first).div_ceil(apart);
        assert_eq!(figure(&outcome, "cnps"), expected as f64, "every {interval} us");
        // Those of the warm-up do not count.
        let text = narrowing("10Gbps", &keys, "").replace("'2ms'", "'2ms'\nwarmup = '400us'");
        let late = expected - (400 * US - first).div_ceil(apart);
        assert_eq!(figure(&run(&text), "cnps"), late as f64, "every {interval} us");
    }
    let silent = run(&narrowing("10Gbps", "", "").replace("congestion = 'dcqcn'", ""));
    assert_eq!(summary(&silent, "cnps"), None);
}

/// The first cut takes the rate to the bottleneck's, the second one below it: then the queue empties, no mark follows, and the
/// rate comes back by halving the way to its target, five times, 55 us each; after that the target rises by the additive
/// increase.
#[test]
fn the_rate_comes_back_as_arithmetic_says() {
    let rates = rates(&narrowing("40Gbps", "ai_rate = '400Mbps'", ""));
    let came: Vec<f64> = rates.iter().map(|(rate, _)| *rate).take(9).collect();
    assert_eq!(came, [80.0, 40.0, 20.0, 30.0, 35.0, 37.5, 38.75, 39.375, 39.8875]);
    for (_, samples) in &rates[2..8] {
        assert!((54..=56).contains(samples), "{rates:?}");
    }
}

/// Ten flows at line rate into one port.
fn incast(protocol: &str, keys: &str) -> String {
    format!(
        "format = 1\nname = 'incast'\nduration = '20ms'\nwarmup = '4ms'\nseed = 5\n[network]\ntopology = 'star'\nhosts = 11\n\
         rate = '40Gbps'\nmtu = '1000B'\n[switch.default]\nbuffer = '500kB'\necn = 'red'\necn_min = '5kB'\n\
         ecn_max = '200kB'\necn_pmax = 0.01\n[transport.t]\nprotocol = '{protocol}'\n{keys}\n\
         [[traffic]]\npattern = 'incast'\nto = 10\nstart = '0us..20us'\n"
    )
}

#[test]
fn dcqcn_saves_go_back_n_from_an_incast() {
    let rto = "rto = '1ms'";
    let alone = run(&incast("roce", rto));
    let slowed = run(&incast("roce", &format!("{rto}\ncongestion = 'dcqcn'")));
    println!(
        "alone: loss {:.3}, goodput {:.2} Gb/s, Jain {:.3}; DCQCN: loss {:.6}, goodput {:.2} Gb/s, Jain {:.3}",
        figure(&alone, "loss_rate"),
        figure(&alone, "goodput_gbps"),
        figure(&alone, "jain"),
        figure(&slowed, "loss_rate"),
        figure(&slowed, "goodput_gbps"),
        figure(&slowed, "jain"),
    );
    assert_eq!(figure(&alone, "marks"), 0.0, "nobody who listens to marks");
    assert!(figure(&alone, "loss_rate") > 0.5);
    assert!(figure(&slowed, "loss_rate") < 0.001 && figure(&slowed, "marks") > 0.0);
    assert!(figure(&slowed, "goodput_gbps") > 35.0 && figure(&slowed, "jain") > 0.9);
}

/// Notifications cross from thread to thread as acknowledgements do, and are lost as they are; the audit at the end of each
/// run counts them.
#[test]
fn rdma_is_the_same_on_any_number_of_threads() {
    for protocol in ["roce", "irn"] {
        let fault = "[[fault]]\nkind = 'loss'\nlink = 'h10-tor0'\nprobability = 0.02\n";
        let keys = "congestion = 'dcqcn'\ndcqcn = 'mellanox'";
        let text = format!(
            "{}{fault}",
            incast(protocol, keys).replace("'20ms'", "'5ms'").replace("warmup = '4ms'", "")
        );
        let alone = run(&text);
        assert!(figure(&alone, "marks") > 0.0 && figure(&alone, "fault_losses") > 10.0);
        for threads in [2, 3, 7] {
            let together = run_on(&text, None, threads);
            assert_eq!(alone.digest, together.digest, "{protocol} on {threads} threads");
        }
    }
}

/// A notification is no acknowledgement: it is no sample of the round-trip time, and ends nothing.
#[test]
fn notifications_are_not_taken_for_acknowledgements() {
    let outcome = run(&narrowing("10Gbps", "dcqcn = 'mellanox'\ncnp_interval = '0us'", "bytes = '100kB'"));
    let notified = link_count(&outcome, "h1>tor1", "frames") - 100;
    assert!(notified > 50, "{notified}");
    assert_eq!(figure(&outcome, "completed"), 1.0);
    assert_eq!(integers(&outcome, "rtt", "count").iter().sum::<u64>(), 100);
}
