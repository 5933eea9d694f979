//! What a switch's port admits and marks, against closed forms.

use crate::experiment::{figure, integers, link_count, link_value, run, run_on, run_seeded};

/// Hosts around a switch; frames of 1000 B, acknowledgements of 1 B.
fn overload(senders: &str, receivers: &[u32], buffer: &str) -> String {
    let table = |to| format!("[[traffic]]\npattern = 'incast'\nfrom = '{senders}'\nto = {to}\n");
    let traffic: Vec<String> = receivers.iter().map(table).collect();
    format!(
        "format = 1\nname = 'overload'\nduration = '5ms'\nwarmup = '1ms'\n[network]\ntopology = 'star'\nhosts = 8\n\
         rate = '80Gbps'\nmtu = '1000B'\nframing = '0B'\n[switch.default]\n{buffer}\n\
         [transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '1B'\n{}",
        traffic.concat()
    )
}

/// A port fills up to its own buffer and no further.
#[test]
fn a_port_with_its_own_buffer_fills_it() {
    for (buffer, most) in [(100_000, 100_000), (100_999, 100_000), (5_000, 5_000), (2_000, 2_000)] {
        let outcome = run(&overload("0..4", &[7], &format!("buffer = '{buffer}B'")));
        assert_eq!(link_count(&outcome, "tor0>h7", "queue_peak_bytes"), most, "buffer {buffer}");
        assert!(link_count(&outcome, "tor0>h7", "drops") > 0);
    }
}

/// Choudhury and Hahne's dynamic threshold: `n` ports that always want more hold `alpha / (1 + n alpha)` of the buffer
/// each. To the frame with one port: the last frame admitted finds `held + 1000 <= alpha * (size - held)`. Some bytes
/// belong to acknowledgements on their way to the senders.
#[test]
fn congested_ports_share_a_buffer_by_the_dynamic_threshold() {
    const SIZE: f64 = 1_000_000.0;
    for alpha in [0.125, 0.5, 1.0, 2.0, 8.0] {
        let buffer = format!("sharing = 'shared'\nbuffer = '{SIZE}B'\nalpha = {alpha}");
        let outcome = run(&overload("0..4", &[7], &buffer));
        let most = ((alpha * SIZE - 1000.0) / (1000.0 * (1.0 + alpha))).floor() * 1000.0 + 1000.0;
        let peak = link_count(&outcome, "tor0>h7", "queue_peak_bytes") as f64;
        assert_eq!(peak, most, "alpha {alpha}");
        for receivers in [&[7][..], &[6, 7], &[5, 6, 7]] {
            let outcome = run(&overload("0..4", receivers, &buffer));
            let share = alpha / (1.0 + receivers.len() as f64 * alpha) * SIZE;
            for to in receivers {
                let port = format!("tor0>h{to}");
                // With the frame in transmission.
                let held = link_value(&outcome, &port, "queue_mean_bytes") + 1000.0;
                println!("alpha {alpha}, {} ports: {held:.0}, share {share:.0}", receivers.len());
                assert!(
                    (held - share).abs() < 2000.0 + 0.005 * share,
                    "alpha {alpha} {port}: {held} {share}"
                );
            }
        }
    }
}

/// The longest queue is of frames that had to wait: a port that was never busy when one came has none, whoever's buffer
/// it uses.
#[test]
fn a_port_that_never_queued_has_no_peak() {
    for buffer in ["", "sharing = 'shared'"] {
        let outcome = run(&overload("0", &[7], buffer));
        assert!(link_count(&outcome, "tor0>h7", "frames") > 10_000);
        assert_eq!(link_count(&outcome, "tor0>h7", "queue_peak_bytes"), 0, "{buffer}");
    }
}

/// A window of packets that nothing changes, of which every one may be marked.
fn fixed_window(packets: u32, warmup: &str, bytes: &str, ecn: &str) -> String {
    format!(
        "format = 1\nname = 'marks'\nduration = '100ms'\nwarmup = '{warmup}'\n[network]\ntopology = 'dumbbell'\nleft = 1\n\
         right = 1\nrate = '80Gbps'\nbottleneck = '8Gbps'\nmtu = '1000B'\nframing = '0B'\n[switch.default]\n{ecn}\n\
         [transport.t]\nprotocol = 'dctcp'\nheader = '0B'\nack = '1B'\ninitial_cwnd = {packets}\n\
         min_cwnd = {packets}\nmax_cwnd = {packets}\n[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\n{bytes}"
    )
}

/// A burst that comes every 100 ns to a port that sends every microsecond. At the enqueue packet i finds the i packets before
/// it less those that have left, of which the last may do so in that instant. At the dequeue, a microsecond times i
/// later, those are behind it that have come before that instant, 10 i of them or all, less itself and those before it.
#[test]
fn step_marking_marks_what_meets_more_than_the_threshold() {
    let found = |i: u64| i - i / 10;
    let behind = |i: u64| (10 * i).clamp(i + 1, 150) - i - 1;
    for threshold in [0, 1_000, 20_999, 21_000, 21_001, 90_000, 90_001, 133_999, 134_000, 200_000] {
        let expected = |meets: &dyn Fn(u64) -> u64| (0..150).filter(|&i| meets(i) * 1000 > threshold).count();
        let points = [("enqueue", expected(&found)), ("dequeue", expected(&behind))];
        for (point, expected) in points {
            let ecn = format!("ecn = 'step'\necn_threshold = '{threshold}B'\necn_mark_at = '{point}'");
            let outcome = run(&fixed_window(150, "0us", "bytes = '150kB'", &ecn));
            let marks = link_count(&outcome, "tor0>tor1", "marks");
            assert_eq!(marks, expected as u64, "threshold {threshold} at the {point}");
            assert_eq!(figure(&outcome, "marks"), expected as f64, "threshold {threshold}: at no other port");
            assert_eq!(figure(&outcome, "drops"), 0.0);
        }
    }
}

/// In a steady state each packet of a lone window meets the same queue: the window less what is in the pipe. An empty
/// round trip takes 100 + 1000 + 100 ns for data, 0.1 + 1 + 0.1 ns for its acknowledgement, and 6 us of links, which
/// is 7.2 packets of the bottleneck; in a window of w, w - 7.2 packets wait ahead, one of them in part transmitted. They
/// keep a packet for w - 7.2 us, in which whole ones come behind it, one a microsecond: one packet less.
#[test]
fn red_marks_with_a_probability_that_rises_with_the_queue() {
    for (seed, packets, point) in [
        (1, 27, "enqueue"),
        (2, 28, "enqueue"),
        (3, 70, "enqueue"),
        (4, 127, "enqueue"),
        (5, 128, "enqueue"),
        (6, 28, "dequeue"),
        (7, 29, "dequeue"),
        (8, 40, "dequeue"),
        (9, 70, "dequeue"),
        (10, 120, "dequeue"),
        (11, 128, "dequeue"),
        (12, 129, "dequeue"),
        (13, 200, "dequeue"),
    ] {
        let ecn = format!(
            "ecn = 'red'\necn_min = '20kB'\necn_max = '120kB'\necn_pmax = 0.4\necn_mark_at = '{point}'"
        );
        let at_dequeue = point == "dequeue";
        let held = f64::from(packets - 7 - u32::from(at_dequeue)) * 1000.0;
        let probability = match held {
            held if held <= 20_000.0 => 0.0,
            held if held > 120_000.0 => 1.0,
            held => 0.4 * (held - 20_000.0) / 100_000.0,
        };
        let outcome = run_seeded(&fixed_window(packets, "10ms", "", &ecn), Some(seed));
        let frames = link_count(&outcome, "tor0>tor1", "frames") as f64;
        let marks = link_count(&outcome, "tor0>tor1", "marks") as f64;
        let error = (frames * probability * (1.0 - probability)).sqrt();
        let off = marks - frames * probability;
        println!("window {packets}: {marks} of {frames}, {off:+.0}, standard error {error:.0}");
        // At the enqueue, a packet at either end of the measured time may be marked on one side of it and counted on the other.
        let edge = if at_dequeue { 0.0 } else { f64::from(packets) };
        assert!(
            off.abs() <= if error > 0.0 { 3.0 * error } else { probability * edge },
            "window {packets} at the {point}: {off}"
        );
        assert!(frames > 80_000.0);
    }
}

/// A frame that is not capable of ECN is never marked.
#[test]
fn no_other_packets_are_marked() {
    let ecn = "buffer = '1MB'\necn = 'step'\necn_threshold = '0B'";
    let outcome = run(&overload("0..4", &[7], ecn));
    assert_eq!(figure(&outcome, "marks"), 0.0);
    assert!(integers(&outcome, "links", "drops").iter().sum::<u64>() > 0);
}

/// In one window more frames leave a thread's part of the network than fit one page of its calendar, and most of them wait at a port
/// that may still mark them. Each goes on as it begins to leave, in whatever order the pages are read.
#[test]
fn frames_that_may_be_marked_reach_other_threads_in_time() {
    let text = "format = 1\nname = 'crossing'\nduration = '600us'\n[network]\ntopology = 'star'\nhosts = 6\nrate = '10Gbps'\n\
                delay = '7us'\nmtu = '500B'\n[switch.default]\necn = 'step'\necn_threshold = '4kB'\n\
                [transport.t]\nprotocol = 'dctcp'\ninitial_cwnd = 20.0\n\
                [[traffic]]\npattern = 'all_to_all'\nbytes = '20kB'\nstagger = '50ns'\nflows_per_pair = 6\n";
    let alone = run(text);
    assert!(figure(&alone, "marks") > 0.0, "nothing was marked");
    for threads in [2, 3, 6] {
        assert_eq!(run_on(text, None, threads).digest, alone.digest, "{threads} threads");
    }
}
