//! Probes: against arithmetic on an empty network, against a queue of known length, and over any number of threads.

use crate::experiment::{floats, integers, run, run_on, texts};

/// Picoseconds of a frame of `bytes` over a link: 100 Gb/s are 80 ps a byte, and 1 us away.
fn hop(bytes: u64) -> f64 {
    1.0 + bytes as f64 * 80e-6
}

fn fat_tree(rest: &str) -> String {
    format!(
        "format = 1\nname = 'probes'\nduration = '1ms'\n[network]\ntopology = 'fat_tree'\nk = 4\nrate = '100Gbps'\n\
         delay = '1us'\nmtu = '4000B'\nframing = '0B'\n[switch.default]\nbuffer = '12MB'\n\
         [transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '64B'\n{rest}"
    )
}

const QUIET: &str =
    "[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 15\nbytes = '4000B'\nstart = '900us'\n";

#[test]
fn an_empty_path_takes_its_links() {
    let probes = "[[probe]]\nfrom = 3\nto = 14\ninterval = '10us'\n\
                  [[probe]]\nfrom = 0\nto = 1\ninterval = '100us'\nsize = '1000B'\nstart = '50us'\nstop = '500us'\n\
                  [[probe]]\nfrom = 'tor0'\nto = 15\ninterval = '100us'\n\
                  [[probe]]\nfrom = 'tor0'\nto = 'tor7'\ninterval = '100us'\nstart = '30us'\n";
    let outcome = run(&fat_tree(&format!("{QUIET}{probes}")));
    let (number, rtt) = (integers(&outcome, "probes", "probe"), floats(&outcome, "probes", "rtt_us"));
    let of = |probe: u64| {
        let mine = number.iter().zip(rtt).filter(move |(number, _)| **number == probe);
        mine.map(|(_, rtt)| *rtt).collect::<Vec<f64>>()
    };
    assert_eq!([0, 1, 2, 3].map(|probe| of(probe).len()), [100, 5, 10, 10]);
    // Links there and back: six between pods, two under one switch, five from a switch to a host of another pod, four
    // between their switches.
    for (probe, links, bytes) in [(0, 12.0, 64), (1, 4.0, 1000), (2, 10.0, 64), (3, 8.0, 64)] {
        let expected = links * hop(bytes);
        let all = of(probe);
        let (last, all) = all.split_last().expect("packets");
        assert!(
            all.iter().all(|rtt| (rtt - expected).abs() < 1e-6),
            "probe {probe}: {all:?}, not {expected}"
        );
        assert!((last - expected).abs() < 1e-6 || last.is_nan());
    }
    assert_eq!(texts(&outcome, "probes", "from")[100], "h0");
    assert_eq!(floats(&outcome, "probes", "sent_us")[100], 50.0);
}

/// Four senders fill a port with a window each: the probe waits behind what they have there.
#[test]
fn a_probe_waits_in_the_queue_that_it_meets() {
    let star = |window: u32| {
        format!(
            "format = 1\nname = 'queue'\nduration = '2ms'\n[network]\ntopology = 'star'\nhosts = 6\nrate = '100Gbps'\n\
             delay = '1us'\nmtu = '4000B'\nframing = '0B'\n[switch.default]\nbuffer = '12MB'\n\
             [transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '64B'\nwindow = {window}\n\
             [[traffic]]\npattern = 'incast'\nfrom = [0, 1, 2, 3]\nto = 4\n\
             [[probe]]\nfrom = 5\nto = 4\ninterval = '7us'\nstart = '500us'\n"
        )
    };
    // What is under way beyond the empty round trip stands in the queue: 4 x window frames of 320 ns.
    let empty_trip = 2.0 * hop(4000) + 2.0 * hop(64);
    for window in [10, 20] {
        let outcome = run(&star(window));
        let rtt = floats(&outcome, "probes", "rtt_us");
        let waits = f64::from(4 * window) * 0.32 - empty_trip + 0.32;
        let expected = 4.0 * hop(64) + waits;
        let seen: Vec<f64> = rtt.iter().copied().filter(|rtt| !rtt.is_nan()).collect();
        assert!(seen.len() > 200);
        // To two frames: where in a frame's transmission it comes, and whether one more has just come.
        assert!(seen.iter().all(|rtt| (rtt - expected).abs() < 0.7), "window {window}: {expected}, {seen:?}");
    }
}

#[test]
fn lost_probes_have_no_round_trip() {
    let fault = "[[probe]]\nfrom = 3\nto = 14\ninterval = '10us'\n\
                 [[fault]]\nlink = 'h3-tor1'\nkind = 'down'\nat = '200us'\nuntil = '401us'\n";
    let outcome = run(&fat_tree(&format!("{QUIET}{fault}")));
    let (sent, rtt) = (floats(&outcome, "probes", "sent_us"), floats(&outcome, "probes", "rtt_us"));
    for (sent, rtt) in sent.iter().zip(rtt).filter(|(sent, _)| **sent < 900.0) {
        // An answer is lost too, when it comes 12 us after its probe to a link that is down by then.
        let lost = (187.0..401.0).contains(sent);
        assert_eq!(rtt.is_nan(), lost, "sent at {sent}");
    }
}

/// With clocks that are wrong by a constant nothing changes; with rate errors, each prober measures its own.
#[test]
fn a_prober_measures_by_its_own_clock() {
    let rtt = |clock: &str| -> Vec<f64> {
        let probe = "[[probe]]\nfrom = 3\nto = 14\ninterval = '10us'\nstop = '900us'\n";
        let outcome = run(&fat_tree(&format!("{QUIET}{probe}[host.default]\n{clock}")));
        floats(&outcome, "probes", "rtt_us").to_vec()
    };
    let exact = rtt("");
    assert_eq!(exact, rtt("clock_offset = '1ms'"));
    let drifted = rtt("clock_drift = '1000ppm'");
    let stretch = drifted[5] / exact[5] - 1.0;
    assert!(stretch.abs() > 1e-6 && stretch.abs() <= 1.001e-3, "{stretch}");
    let jittered = rtt("clock_jitter = '20ns'");
    let errors: Vec<f64> = jittered.iter().zip(&exact).map(|(rtt, exact)| rtt - exact).collect();
    assert!(errors.iter().all(|error| error.abs() <= 0.0401), "{errors:?}");
    assert!(errors.iter().any(|error| *error > 0.01) && errors.iter().any(|error| *error < -0.01));
}

#[test]
fn probes_are_the_same_on_any_number_of_threads() {
    let all = "[[probe]]\nfrom = 3\nto = 14\ninterval = '3us'\n[[probe]]\nfrom = 'tor0'\nto = 'tor7'\ninterval = '5us'\n\
               [host.default]\nclock_drift = '100ppm'\nclock_jitter = '20ns'\n\
               [[traffic]]\npattern = 'permutation'\nbytes = '200kB'\n";
    let text = fat_tree(all);
    let alone = run_on(&text, None, 1);
    for threads in [2, 3, 7] {
        let together = run_on(&text, None, threads);
        assert_eq!(alone.digest, together.digest);
        assert_eq!(format!("{:?}", alone.tables), format!("{:?}", together.tables));
    }
}
