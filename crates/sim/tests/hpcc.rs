//! HPCC in whole networks: what a window gives, the share of a link that flows come to, and queues against DCQCN's.

use crate::experiment::{figure, floats, integers, link_count, picoseconds, run, run_on, Outcome};

const NS: u64 = 1000;
const US: u64 = 1000 * NS;
/// A full frame of 1000 B on a link of 80 Gb/s.
const FRAME: u64 = 100 * NS;
/// From one host to the other: two transmissions and two links of 1 us.
const THERE: u64 = 2 * FRAME + 2 * US;

/// An incast around a switch with 80 Gb/s to each host, where a frame of 1000 B is all payload.
fn incast(hosts: u32, transport: &str, traffic: &str) -> String {
    format!(
        "format = 1\nname = 'HPCC'\nduration = '3ms'\nwarmup = '1ms'\n[network]\ntopology = 'star'\nhosts = {hosts}\n\
         rate = '80Gbps'\nmtu = '1000B'\nframing = '0B'\n[transport.t]\nprotocol = 'hpcc'\nheader = '0B'\nack = '10B'\n\
         {transport}\n[[traffic]]\npattern = 'incast'\nto = 0\n{traffic}\n"
    )
}

/// Nothing slows a flow down that is shorter than its first window.
#[test]
fn a_short_flow_has_the_rate_of_its_nic() {
    for packets in [1, 10, 43] {
        let outcome = run(&incast(2, "", &format!("bytes = '{packets}kB'")));
        assert_eq!(picoseconds(&outcome, "flows", "fct_us"), [(packets - 1) * FRAME + THERE]);
    }
}

/// Where `W_AI` of all flows is little against the window, U settles at eta: by algorithm 1 a flow's window stands still when
/// U - eta = U * `W_AI` / `W_c`. Measured: 0.952 to 0.956 of the link for 0.95, 0.804 for 0.8.
#[test]
fn flows_come_to_the_share_eta_of_a_link_and_leave_no_queue() {
    for (hosts, eta) in [(2, 0.95), (3, 0.95), (9, 0.95), (3, 0.8)] {
        let outcome = run(&incast(hosts, &format!("eta = {eta}"), ""));
        let goodputs = floats(&outcome, "flows", "goodput_gbps");
        let share = goodputs.iter().sum::<f64>() / 80.0;
        assert!((eta..eta + 0.01).contains(&share), "{hosts} hosts at {eta}: {share}");
        // One and a half packets, on average.
        assert!(figure(&outcome, "queue_mean_bytes") < 1500.0, "{hosts} hosts at {eta}");
        let fair = 80.0 * share / f64::from(hosts - 1);
        assert!(goodputs.iter().all(|goodput| (goodput / fair - 1.0).abs() < 0.15), "{goodputs:?} of {fair}");
    }
}

/// All of a packet's way is known, not only its first link: the link between the switches is the one that is full.
#[test]
fn the_fullest_link_may_be_in_the_middle() {
    let text = "format = 1\nname = 'HPCC'\nduration = '3ms'\nwarmup = '1ms'\n[network]\ntopology = 'dumbbell'\nleft = 2\n\
                right = 2\nrate = '80Gbps'\nbottleneck = '20Gbps'\nbottleneck_delay = '1us'\nmtu = '1000B'\n\
                framing = '0B'\n[transport.t]\nprotocol = 'hpcc'\nheader = '0B'\nack = '10B'\n[[traffic]]\n\
                pattern = 'incast'\nfrom = [0]\nto = 2\n[[traffic]]\npattern = 'incast'\nfrom = [1]\nto = 3\n";
    let outcome = run(text);
    let share = floats(&outcome, "flows", "goodput_gbps").iter().sum::<f64>() / 20.0;
    assert!((0.94..0.97).contains(&share), "{share}");
    assert!(figure(&outcome, "queue_mean_bytes") < 2000.0);
}

/// 500 kB from each of 16 hosts to one, in a lossless network of 100 Gb/s with marks as in HPCC's paper (Kmin 100 kB, Kmax
/// 400 kB).
fn lossless_incast(transport: &str) -> Outcome {
    run(&format!(
        "format = 1\nname = 'incast'\nduration = '5ms'\n[network]\ntopology = 'star'\nhosts = 17\nrate = '100Gbps'\n\
         mtu = '1000B'\n[switch.default]\nbuffer = '32MB'\npfc = 'static'\npfc_xoff = '200kB'\necn = 'red'\n\
         ecn_min = '100kB'\necn_max = '400kB'\necn_pmax = 0.2\n[transport.t]\n{transport}\n[[traffic]]\n\
         pattern = 'incast'\nto = 0\nbytes = '500kB'\n[record]\nqueues = '1us'\n"
    ))
}

/// How often flow control paused a link, the most that waited, and how many samples of 1 us had more than 50 kB waiting.
fn figures(outcome: &Outcome) -> (u64, f64, usize) {
    let pauses = integers(outcome, "pauses", "pauses").iter().sum();
    let long = integers(outcome, "queues", "queue_bytes").iter().filter(|&&bytes| bytes > 50_000).count();
    assert_eq!(link_count(outcome, "tor0>h0", "drops"), 0);
    (pauses, figure(outcome, "queue_peak_bytes"), long)
}

/// Every flow sends its first window at the rate of its NIC, which makes a queue of 16 windows of 50 kB. From the first
/// acknowledgements on HPCC takes it away, with no more than a window from each host. DCQCN's flows send on until they are told.
/// Measured: no pause, a peak of 795 kB, 83 us; and 129 pauses, 3370 kB, 506 us.
#[test]
fn an_incast_pauses_nobody_and_its_queue_is_gone_soon() {
    let hpcc = lossless_incast("protocol = 'hpcc'");
    let (pauses, peak, long) = figures(&hpcc);
    assert_eq!(pauses, 0);
    assert!(peak < 16.0 * 52_000.0, "{peak}");
    assert!(long < 100, "{long}");
    let dcqcn = lossless_incast("protocol = 'roce'\ncongestion = 'dcqcn'");
    let (more_pauses, higher, longer) = figures(&dcqcn);
    assert!(more_pauses > 100, "{more_pauses}");
    assert!(higher > 4.0 * peak, "{higher}");
    assert!(longer > 5 * long, "{longer}");
    let slowdowns = [&hpcc, &dcqcn].map(|outcome| figure(outcome, "slowdown_p99"));
    assert!(slowdowns[0] < 0.5 * slowdowns[1], "{slowdowns:?}");
}

/// Telemetry crosses from thread to thread with its frame, is lost with it, and comes back with acknowledgements that tell
/// of gaps.
#[test]
fn any_number_of_threads_gives_the_same_outcome() {
    for recovery in ["go_back_n", "selective_repeat"] {
        let text = format!(
            "format = 1\nname = 'threads'\nduration = '1ms'\n[network]\ntopology = 'fat_tree'\nk = 4\nrate = '100Gbps'\n\
             [class.rpc]\nweight = 2\n[class.bulk]\n[transport.rpc]\nprotocol = 'hpcc'\nclass = 'rpc'\nrto = '50us'\n\
             recovery = '{recovery}'\n[transport.bulk]\nprotocol = 'swift'\nclass = 'bulk'\n[transport.sprayed]\n\
             protocol = 'hpcc'\nspray = 'packet'\nclass = 'bulk'\nrecovery = '{recovery}'\nrto = '100us'\n[[traffic]]\n\
             transport = 'rpc'\npattern = 'permutation'\nbytes = '200kB'\n[[traffic]]\ntransport = 'sprayed'\n\
             pattern = 'permutation'\nbytes = '100kB'\n[[traffic]]\ntransport = 'bulk'\npattern = 'incast'\nto = 3\n\
             bytes = '50kB'\n[[fault]]\nkind = 'loss'\nlink = 'h3-tor1'\nprobability = 0.02\n"
        );
        let alone = run_on(&text, None, 1);
        assert!(figure(&alone, "retransmissions") > 0.0);
        for threads in [2, 3, 7] {
            let together = run_on(&text, None, threads);
            assert_eq!(alone.digest, together.digest, "{threads} threads");
            assert_eq!(format!("{:?}", alone.tables), format!("{:?}", together.tables), "{threads} threads");
        }
    }
}
