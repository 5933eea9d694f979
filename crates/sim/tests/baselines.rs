//! The closed form of each baseline: GCN's sawtooth at a marking port, Reno's at a port that drops, Cubic's curve after
//! one loss.

use clearway_sim::record::Outcome;

use crate::experiment::{figure, floats, integers, link_count, link_value, mean, run, standard_error, texts};

/// Microseconds that a frame of 1500 B takes at 10 Gb/s.
const FRAME_US: f64 = 1.2;

/// One long flow through a link of 10 Gb/s, 50 us there and back, from a host whose own is ten times as fast.
fn one_flow(transport: &str, switch: &str, duration: &str) -> String {
    format!(
        "format = 1\nname = 'baseline'\nduration = '{duration}'\nwarmup = '20ms'\n[network]\ntopology = 'dumbbell'\n\
         left = 1\nright = 1\nrate = '100Gbps'\nbottleneck = '10Gbps'\nbottleneck_delay = '23us'\nmtu = '1434B'\n\
         framing = '0B'\n[switch.default]\n{switch}\n[transport.t]\n{transport}\nheader = '66B'\n\
         [[traffic]]\npattern = 'incast'\nto = 1\n[record]\nwindows = '20us'\nqueues = '20us'"
    )
}

/// An empty round trip of it: links, a frame on three of them, and its acknowledgement of 66 B.
const EMPTY_US: f64 = 50.0 + FRAME_US + 2.0 * 0.12 + 0.0528 + 2.0 * 0.00528;

/// Times in microseconds and windows in packets of the only flow, after the warm-up.
fn windows(outcome: &Outcome) -> Vec<(f64, f64)> {
    let samples =
        floats(outcome, "windows", "time_us").iter().zip(floats(outcome, "windows", "cwnd_packets"));
    let from = figure(outcome, "measured_from_us");
    samples.map(|(&time, &window)| (time, window)).filter(|&(time, _)| time > from).collect()
}

/// The windows before and after each cut.
fn cuts(windows: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let pairs = windows.windows(2).map(|pair| (pair[0].1, pair[1].1));
    pairs.filter(|(before, after)| after < before).collect()
}

/// The most packets at the bottleneck after the warm-up; the one in transmission is not in the samples.
fn peak_queue(outcome: &Outcome) -> f64 {
    let (time, link) = (floats(outcome, "queues", "time_us"), texts(outcome, "queues", "link"));
    let bytes = integers(outcome, "queues", "queue_bytes");
    let here = |&at: &usize| time[at] > figure(outcome, "measured_from_us") && link[at] == "tor0>tor1";
    let most = (0..time.len()).filter(here).map(|at| bytes[at]).max().expect("samples");
    most as f64 / 1500.0 + 1.0
}

/// One flow and GCN, at a port that marks from K packets on.
///
/// The window grows by one a round trip up to W = BDP + K + 1, at which the queue holds K + 1 and packets are marked;
/// marked acknowledgements do not grow it, so the queue peaks at K + N. The first mark comes back somewhere in a window
/// of data, of which a part u is left; all packets of that part are marked, as the queue stands at its peak. When the
/// window of data ends, the flow therefore cuts by W u / 2. Then marks of packets sent before the cut are passed over
/// for a round trip, and W u / 2 round trips later the window is at W again. A change of u by 2/W changes the length of
/// the tooth by a whole round trip, so the u of the next tooth, which is what is left over, is as good as random:
/// uniform between 0 and 1. (With g = 1/16 alpha has the time to settle at the mean; that is what g = 1 gives up.)
/// So: cuts are W/4 on average, spread by W/4/sqrt(3), and W/2 at most.
///
/// A flow has about W different u to go through and soon repeats itself, so the law is held against many W. (In runs of
/// a second the mean is 0.236 W with a standard error of 0.006, so this bar of 10 % is not an estimator's error.)
///
/// Marks are at the enqueue: their way back is a whole window of data. At the dequeue it is shorter, and cuts are 0.30 W on average in
/// these runs; no law is known for that.
#[test]
fn gcn_cuts_by_all_between_nothing_and_half() {
    let mut means = Vec::new();
    let mut all = Vec::new();
    for k in 50..80 {
        let threshold = k * 1500;
        let switch = format!("ecn = 'step'\necn_threshold = '{threshold}B'\necn_mark_at = 'enqueue'");
        let outcome = run(&one_flow("protocol = 'gcn'", &switch, "200ms"));
        let threshold = f64::from(k);
        let top = EMPTY_US / FRAME_US + threshold + 1.0;
        let cuts = cuts(&windows(&outcome));
        let before = mean(&cuts.iter().map(|(from, _)| *from).collect::<Vec<_>>());
        let peak = peak_queue(&outcome);
        assert!((before / top - 1.0).abs() < 0.02, "K {k}: {before}, law {top}");
        assert!((peak / (threshold + 1.0) - 1.0).abs() < 0.1, "K {k}: {peak}");
        assert!(link_value(&outcome, "tor0>tor1", "utilisation") > 0.9999);
        let parts: Vec<f64> = cuts.iter().map(|(from, to)| (from - to) / top).collect();
        means.push(mean(&parts));
        all.extend(parts);
    }
    let (part, error) = (mean(&means), standard_error(&means));
    let largest = all.iter().copied().fold(0.0, f64::max);
    let spread = standard_error(&all) * (all.len() as f64).sqrt();
    println!(
        "{} cuts by {part:.4} +- {error:.4} of W, law 0.25; by {largest:.4} at most; {spread:.4}",
        all.len()
    );
    assert!(all.len() > 1000, "{} teeth are too few", all.len());
    assert!((part / 0.25 - 1.0).abs() < 0.1 && error < 0.02, "{part} +- {error}");
    assert!((largest / 0.5 - 1.0).abs() < 0.1, "{largest}");
    assert!((spread / (0.25 / 3.0_f64.sqrt()) - 1.0).abs() < 0.1, "{spread}");
}

/// One flow and Reno, at a port whose buffer holds B packets: the window grows by one a round trip from W/2 to
/// W = BDP + B, which takes `3/8 W^2` packets. While it is below the BDP the link is not full: a round trip lasts an
/// empty one, and later ones what their packets take.
///
/// The textbook's tooth has no repair. The loss is seen when three packets more than a window have come; by then the
/// window has grown by another one and a second packet is lost, which costs no second cut, but the window stands for two
/// to three round trips in all. At W = 103 and 58 that is 4 and 7 % of the packets of a tooth.
#[test]
fn reno_makes_the_sawtooth_between_half_and_all() {
    for buffer in [60.0, 15.0] {
        let switch = format!("buffer = '{}B'", buffer * 1500.0);
        let outcome = run(&one_flow("protocol = 'reno'", &switch, "600ms"));
        let bdp = EMPTY_US / FRAME_US;
        // One of the buffer's packets is in transmission, and counted in the BDP too; the next one is lost.
        let top = bdp - 1.0 + buffer + 1.0;
        let cuts = cuts(&windows(&outcome));
        let (befores, ratios): (Vec<f64>, Vec<f64>) =
            cuts.iter().map(|(from, to)| (*from, to / from)).unzip();
        let frames = link_count(&outcome, "tor0>tor1", "frames") as f64;
        let drops = link_count(&outcome, "tor0>tor1", "drops");
        let tooth = 3.0 / 8.0 * top * top;
        // In frames' times: growing below the BDP, growing above it.
        let (half, least) = (top / 2.0, bdp.max(top / 2.0));
        let took = (bdp - half).max(0.0) * bdp + (top * top - least * least) / 2.0;
        let expected = tooth / took;
        let utilisation = link_value(&outcome, "tor0>tor1", "utilisation");
        let apart = frames / cuts.len() as f64;
        println!("buffer {buffer}: {} cuts from {:.2}, law {top:.2}", cuts.len(), mean(&befores));
        println!("to {:.4}, every {apart:.0} packets, law {tooth:.0}", mean(&ratios));
        println!("utilisation {utilisation:.4}, law {expected:.4}; {drops} drops");
        assert!(cuts.len() > 100, "{} teeth are too few", cuts.len());
        assert!((mean(&befores) / top - 1.0).abs() < 0.02, "{befores:?}");
        assert!(ratios.iter().all(|ratio| (ratio - 0.5).abs() < 0.01), "{ratios:?}");
        assert!((apart / tooth - 1.0).abs() < 0.1, "{apart}, law {tooth}");
        assert!((utilisation / expected - 1.0).abs() < 0.05, "{utilisation}, law {expected}");
        assert!(drops <= 2 * cuts.len() as u64, "{drops} drops");
        // Slow start may end with one, before the warm-up does.
        assert!(figure(&outcome, "timeouts_whole") <= 1.0);
    }
}

/// One flow of 200 packets and more through a link between two switches, of which one packet is lost at the beginning,
/// and one only: the host's link, ten times as fast, is down for as long as a frame takes.
fn one_loss(rate_gbps: f64, delay: &str, duration: &str, sampled: &str) -> Outcome {
    let frame_ps = 1e6 * 1.2 / rate_gbps;
    let (at, until, fast) = (100.0 * frame_ps, 101.0 * frame_ps, 10.0 * rate_gbps);
    let outcome = run(&format!(
        "format = 1\nname = 'baseline'\nduration = '{duration}'\n[network]\ntopology = 'dumbbell'\nleft = 1\n\
         right = 1\nrate = '{fast}Gbps'\nbottleneck = '{rate_gbps}Gbps'\nbottleneck_delay = '{delay}'\n\
         mtu = '1434B'\nframing = '0B'\n[switch.default]\nbuffer = '10MB'\n[transport.t]\nheader = '66B'\n\
         protocol = 'cubic'\ninitial_cwnd = 200\ninitial_rto = '10s'\nmin_rto = '1s'\n\
         [[traffic]]\npattern = 'incast'\nto = 1\nstart = '0us'\n[record]\nwindows = '{sampled}'\n\
         [[fault]]\nkind = 'down'\nlink = 'h0>tor0'\nat = '{at}ps'\nuntil = '{until}ps'"
    ));
    assert_eq!((figure(&outcome, "fault_losses"), figure(&outcome, "timeouts_whole")), (1.0, 0.0));
    outcome
}

/// The window after the only cut, and all from the last sample that was still that one on.
fn after_the_cut(outcome: &Outcome) -> (f64, Vec<(f64, f64)>) {
    let windows = windows(outcome);
    let stands = |pair: &[(f64, f64)]| pair[0].1 == pair[1].1 && pair[0].1 != 200.0;
    let at = windows.windows(2).position(stands).expect("recovery");
    let after = windows[at].1;
    let ends = windows.iter().rposition(|(_, window)| *window == after).expect("one at least");
    (after, windows[ends..].to_vec())
}

/// Where round trips are long, the window is the cubic of the time since the loss was repaired, to a round trip:
/// `0.4 (t - K)^3 + W`, with W the window that saw the loss, 0.7 W after it, and K the cube root of `0.3 W / 0.4`.
#[test]
fn cubic_follows_its_cubic() {
    let outcome = one_loss(10.0, "50ms", "13s", "5ms");
    let (after, later) = after_the_cut(&outcome);
    let w_max = after / 0.7;
    let k = ((w_max - after) / 0.4).cbrt();
    let curve = |t: f64| 0.4 * (t - k).powi(3) + w_max;
    let round_trip = 0.1001;
    let start = later[0].0;
    let mut largest = 0.0_f64;
    for &(time, window) in &later {
        let t = (time - start) / 1e6;
        largest = largest.max((window / curve(t) - 1.0).abs());
        assert!(curve(t - round_trip) - 0.1 < window, "{window} after {t} s: {}", curve(t - round_trip));
        assert!(window < curve(t + round_trip), "{window} after {t} s: {}", curve(t + round_trip));
    }
    let (last, end) = ((later[later.len() - 1].0 - start) / 1e6, later[later.len() - 1].1);
    println!("{w_max} to {after}, K {k:.3} s, {end} after {last} s; at most {largest:.4} off");
    assert!(last > 1.9 * k && end > 1.2 * w_max, "concave and convex: {end} after {last} s");
    assert!(largest < 0.025, "{largest}");
}

/// Where they are short, Reno's window is larger: 9/17 of a packet more a round trip up to the window that saw the loss
/// and a whole one from there.
#[test]
fn cubic_is_reno_where_round_trips_are_short() {
    let outcome = one_loss(100.0, "50us", "40ms", "20us");
    let (after, later) = after_the_cut(&outcome);
    let w_max = after / 0.7;
    let round_trip = figure(&outcome, "rtt_mean_us");
    let slope = |from: f64, to: f64| {
        let part: Vec<_> = later.iter().filter(|(_, window)| (from..to).contains(window)).collect();
        let (first, last) = (part[0], part[part.len() - 1]);
        (last.1 - first.1) / ((last.0 - first.0) / round_trip)
    };
    let (before, beyond) = (slope(after, w_max), slope(w_max + 1.0, 2.0 * w_max));
    println!("{after} to {w_max}: {before:.4} a round trip, then {beyond:.4}");
    assert!((before / (9.0 / 17.0) - 1.0).abs() < 0.02, "{before}");
    assert!((beyond - 1.0).abs() < 0.02, "{beyond}");
}
