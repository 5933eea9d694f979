//! Traffic classes against closed forms: who gets what of a port, who waits, who is marked, who is dropped.

use clearway_sim::record::Outcome;

use crate::experiment::{self, figure, floats, integers, link_count, run, texts};

/// Hosts around a switch, all of 8 Gb/s: a byte takes a nanosecond. Frames carry 1000 B, acknowledgements weigh 1 B.
fn star(rest: &str) -> String {
    format!(
        "format = 1\nname = 'classes'\nduration = '10ms'\nwarmup = '1ms'\n[network]\ntopology = 'star'\nhosts = 20\n\
         rate = '8Gbps'\ndelay = '1us'\nmtu = '1000B'\nframing = '0B'\n{rest}"
    )
}

/// A class with a transport of its own, whose frames have this much of a header.
fn class(name: &str, keys: &str, header: u32) -> String {
    format!(
        "[class.{name}]\n{keys}\n[transport.{name}]\nprotocol = 'none'\nclass = '{name}'\nheader = '{header}B'\n\
         ack = '1B'\nrto = '1s'\n"
    )
}

/// One that always has something waiting, and never too much for a port's buffer.
fn greedy(name: &str, keys: &str, header: u32) -> String {
    class(name, keys, header) + "window = 64\n"
}

fn incast(transport: &str, from: &str, to: u32, rest: &str) -> String {
    format!(
        "[[traffic]]\npattern = 'incast'\ntransport = '{transport}'\nfrom = '{from}'\nto = {to}\n{rest}\n"
    )
}

/// Returns what a class sent, dropped or had marked over a link in the measured time.
fn of_class(outcome: &Outcome, link: &str, class: &str, what: &str) -> u64 {
    let (links, classes) = (texts(outcome, "link_classes", "link"), texts(outcome, "link_classes", "class"));
    let row = links.iter().zip(classes).position(|(l, c)| *l == link && c == class);
    row.map_or(0, |row| integers(outcome, "link_classes", what)[row])
}

/// Asserts that what classes sent over a link, by weight, differs by at most a longest frame of each (theorem 1 of
/// the paper), and that the link was never idle.
fn assert_shares(outcome: &Outcome, link: &str, classes: &[(&str, u64, u64)]) {
    let sent: Vec<u64> =
        classes.iter().map(|(name, _, _)| of_class(outcome, link, name, "wire_bytes")).collect();
    for (a, &(name, weight, frame)) in classes.iter().enumerate() {
        for (b, &(other, other_weight, other_frame)) in classes.iter().enumerate() {
            let apart = sent[a] as f64 / weight as f64 - sent[b] as f64 / other_weight as f64;
            let bound = frame as f64 / weight as f64 + other_frame as f64 / other_weight as f64;
            assert!(apart.abs() <= bound, "{name} and {other}: {sent:?}, {apart} apart, bound {bound}");
        }
    }
    let (total, longest) = (sent.iter().sum::<u64>(), classes.iter().map(|c| c.2).max().unwrap_or(0));
    assert!(total.abs_diff(9_000_000) <= longest, "{total} of 9000000 bytes");
}

#[test]
fn two_classes_share_a_port_by_their_weights() {
    for (header, weights) in [(0, [3, 1]), (0, [1, 1]), (500, [3, 1]), (500, [1, 7]), (7, [1000, 999])] {
        let classes = [("a", weights[0], 0), ("b", weights[1], header)];
        let tables: String =
            classes.iter().map(|(name, weight, h)| greedy(name, &format!("weight = {weight}"), *h)).collect();
        let text = star(&(tables + &incast("a", "0..3", 19, "") + &incast("b", "3..6", 19, "")));
        let expected = classes.map(|(name, weight, header)| (name, weight, 1000 + u64::from(header)));
        assert_shares(&run(&text), "tor0>h19", &expected);
    }
}

#[test]
fn many_classes_share_a_port_by_their_weights_at_any_buffer() {
    for count in [8_u64, 16] {
        for buffer in ["buffer = '1MB'", "buffer = '1MB'\nsharing = 'shared'\nalpha = 0.25"] {
            let name = |i: u64| format!("c{i}");
            let mut rest = format!("[switch.default]\n{buffer}\n");
            for i in 0..count {
                rest += &greedy(&name(i), &format!("weight = {}", i + 1), 100 * i as u32);
                rest += &incast(&name(i), &i.to_string(), 19, "");
            }
            let names: Vec<String> = (0..count).map(name).collect();
            let classes: Vec<_> =
                (0..count).map(|i| (names[i as usize].as_str(), i + 1, 1000 + 100 * i)).collect();
            assert_shares(&run(&star(&rest)), "tor0>h19", &classes);
        }
    }
}

#[test]
fn a_higher_priority_starves_a_lower_one() {
    let classes = greedy("low", "priority = 9", 0) + &greedy("high", "priority = 2", 0);
    let outcome = run(&star(&(classes + &incast("low", "0..3", 19, "") + &incast("high", "3..6", 19, ""))));
    assert_eq!(of_class(&outcome, "tor0>h19", "low", "frames"), 0);
    assert_eq!(of_class(&outcome, "tor0>h19", "high", "wire_bytes"), 9_000_000);
}

/// A flow at a third of the line keeps to its rate; two classes below it have the rest, by their weights.
#[test]
fn a_lower_priority_gets_what_is_left() {
    let classes = greedy("low", "priority = 1\nweight = 2", 0)
        + &greedy("lower", "priority = 1\nweight = 1", 500)
        + &greedy("high", "", 0)
        + "rate = '2Gbps'\n";
    let flows =
        incast("low", "0..3", 19, "") + &incast("high", "3", 19, "") + &incast("lower", "4..6", 19, "");
    let outcome = run(&star(&(classes + &flows)));
    let sent = ["high", "low", "lower"].map(|class| of_class(&outcome, "tor0>h19", class, "wire_bytes"));
    assert!(sent[0].abs_diff(9_000_000 / 4) <= 1000, "{sent:?}");
    let apart = sent[1] as f64 / 2.0 - sent[2] as f64;
    assert!(apart.abs() <= 500.0 + 1500.0, "{sent:?}");
    assert!(sent.iter().sum::<u64>().abs_diff(9_000_000) <= 1500, "{sent:?}");
}

/// Single packets of the higher class wait for the rest of one frame of the lower and for nothing else: their round
/// trip is that of an empty network and up to 1 us, and some do meet a frame that has just begun.
#[test]
fn a_higher_priority_waits_for_the_frame_in_transmission_at_most() {
    let classes = greedy("low", "priority = 1", 0) + &greedy("high", "", 0);
    let loops =
        "[[traffic]]\npattern = 'closed_loop'\ntransport = 'high'\nfrom = 3\nto = 19\nbytes = '101B'\n";
    let record = "[record]\noperations = true\n";
    let outcome = run(&star(&(classes + &incast("low", "0..3", 19, "") + loops + record)));
    // Twice 101 ns, twice 1 ns for the acknowledgement, four links.
    let empty = 0.101 * 2.0 + 0.002 + 4.0;
    // The last may be open still.
    let done = |latency: &[f64]| latency.iter().copied().filter(|us| !us.is_nan()).collect::<Vec<f64>>();
    let latency = done(floats(&outcome, "operations", "latency_us"));
    let longest = latency.iter().copied().fold(0.0, f64::max);
    let shortest = latency.iter().copied().fold(f64::MAX, f64::min);
    assert!(latency.len() > 1500, "{}", latency.len());
    assert!(shortest >= empty - 1e-9 && longest <= empty + 1.0 + 1e-9, "{shortest} {longest}, empty {empty}");
    assert!(longest > empty + 0.5, "{longest}: never behind a frame");
}

/// A port with something to send sends, whoever it is of: one class alone has the whole link.
#[test]
fn a_class_alone_has_the_whole_link() {
    let classes = greedy("a", "weight = 1", 0) + &greedy("b", "weight = 99", 0);
    let other = incast("b", "9", 10, "");
    let outcome = run(&star(&(classes + &incast("a", "0..3", 19, "") + &other)));
    assert_eq!(of_class(&outcome, "tor0>h19", "a", "wire_bytes"), 9_000_000);
}

/// A class that comes back after 5 ms of silence has its share from then on, and nothing for the silence.
#[test]
fn a_class_that_was_idle_has_no_credit() {
    let classes = greedy("a", "", 0) + &greedy("b", "weight = 3", 0);
    for start in ["6ms", "6.0005ms"] {
        let start = format!("start = '{start}'");
        let early = incast("b", "9", 19, "bytes = '100kB'");
        let flows = incast("a", "0..3", 19, "") + &early + &incast("b", "3..6", 19, &start);
        let outcome = run(&star(&format!("{classes}{flows}[record]\nlinks = '500us'\n")));
        let series = series(&outcome, "tor0>h19");
        let in_half_ms = |class: &str, end: f64| {
            series.iter().find(|row| row.class == class && row.time_us == end).map_or(0, |row| row.sent_bytes)
        };
        assert_eq!(in_half_ms("a", 6000.0), 500_000, "alone");
        assert_eq!(in_half_ms("b", 6000.0), 0);
        for end in [7000.0, 7500.0, 10_000.0] {
            let (a, b) = (in_half_ms("a", end), in_half_ms("b", end));
            assert!(a.abs_diff(125_000) <= 2000 && b.abs_diff(375_000) <= 2000, "{end}: {a} {b}");
        }
        // In the first half millisecond b has three quarters of what follows its first frame, 2 us after its start.
        let (a, b) = (in_half_ms("a", 6500.0), in_half_ms("b", 6500.0));
        assert!((370_000..=375_000).contains(&b), "{a} {b}");
    }
}

/// Two classes fill two queues at a port of a shared buffer: each has the dynamic threshold's share, as two ports
/// have, and a third class of the same port still finds room.
#[test]
fn a_shared_buffer_limits_each_queue() {
    const SIZE: f64 = 1_000_000.0;
    for (alpha, queues) in [(0.5, 1), (0.5, 2), (1.0, 2), (2.0, 3)] {
        let mut rest = format!("[switch.default]\nbuffer = '{SIZE}B'\nsharing = 'shared'\nalpha = {alpha}\n");
        for (i, name) in ["a", "b", "c"].into_iter().take(queues).enumerate() {
            rest += &class(name, "", 0);
            rest += &incast(name, &format!("{}..{}", 3 * i, 3 * i + 3), 19, "");
        }
        let outcome = run(&star(&rest));
        let held = experiment::link_value(&outcome, "tor0>h19", "queue_mean_bytes") + 1000.0;
        let n = queues as f64;
        let share = n * alpha / (1.0 + n * alpha) * SIZE;
        assert!((held - share).abs() < n * 2000.0, "alpha {alpha}, {queues} queues: {held}, share {share}");
    }
}

/// A greedy class fills its own threshold's worth and no more; another's single packets are not dropped.
#[test]
fn a_full_class_leaves_room_for_another_in_a_shared_buffer_and_none_in_a_port_s() {
    let classes = class("full", "", 0) + &greedy("thin", "", 0) + "rate = '100Mbps'\n";
    let flows = incast("full", "0..3", 19, "") + &incast("thin", "3", 19, "");
    let shared = "[switch.default]\nbuffer = '200kB'\nsharing = 'shared'\n";
    let own = "[switch.default]\nbuffer = '200kB'\n";
    let [shared, own] = [shared, own].map(|buffer| run(&star(&format!("{buffer}{classes}{flows}"))));
    for outcome in [&shared, &own] {
        assert!(of_class(outcome, "tor0>h19", "full", "drops") > 1000);
        let drops = integers(outcome, "link_classes", "drops").iter().sum::<u64>();
        assert_eq!(drops as f64, figure(outcome, "drops"), "classes make up the link");
        assert_eq!(integers(outcome, "link_classes", "dropped_bytes").iter().sum::<u64>(), drops * 1000);
    }
    assert_eq!(of_class(&shared, "tor0>h19", "thin", "drops"), 0);
    assert!(of_class(&own, "tor0>h19", "thin", "drops") > 0);
}

/// A burst of one class that comes every 100 ns to a port that sends every microsecond, behind 50 frames of another that
/// came before it and is served first: only frames of its own count, and not the frame of the other in transmission. As they
/// come none of them has left, and all have come before the first leaves: frame i finds i of them, and 59 - i are behind it.
#[test]
fn a_threshold_is_compared_with_the_class_s_own_queue() {
    let text = |class_ecn: &str, switch_ecn: &str| {
        format!(
            "format = 1\nname = 'marks'\nduration = '1ms'\n[network]\ntopology = 'dumbbell'\nleft = 2\nright = 1\n\
             rate = '80Gbps'\nbottleneck = '8Gbps'\nmtu = '1000B'\nframing = '0B'\n[switch.default]\n{switch_ecn}\n\
             [class.first]\n[class.other]\npriority = 1\n{class_ecn}\n\
             [transport.first]\nprotocol = 'none'\nheader = '0B'\nack = '1B'\n\
             [transport.other]\nprotocol = 'dctcp'\nheader = '0B'\nack = '1B'\ninitial_cwnd = 60\nmin_cwnd = 60\n\
             class = 'other'\nmax_cwnd = 60\n\
             [[traffic]]\npattern = 'incast'\ntransport = 'first'\nfrom = 0\nto = 2\nbytes = '50kB'\n\
             [[traffic]]\npattern = 'incast'\ntransport = 'other'\nfrom = 1\nto = 2\nbytes = '60kB'\nstart = '5us'\n"
        )
    };
    for threshold in [0, 999, 1_000, 20_000, 58_999, 59_000] {
        // The first class keeps the port busy for 45 us more, their coming takes 6 us.
        let expected = (0..60).filter(|i| i * 1000 > threshold).count() as u64;
        for point in ["enqueue", "dequeue"] {
            let ecn = format!("ecn = 'step'\necn_threshold = '{threshold}B'\necn_mark_at = '{point}'");
            for outcome in [run(&text(&ecn, "")), run(&text("", &ecn))] {
                let marks = of_class(&outcome, "tor0>tor1", "other", "marks");
                assert_eq!(marks, expected, "threshold {threshold} at the {point}");
                assert_eq!(figure(&outcome, "marks"), expected as f64, "at no other port");
            }
        }
    }
    let none = run(&text("ecn = 'off'", "ecn = 'step'\necn_threshold = '0B'"));
    assert_eq!(figure(&none, "marks"), 0.0, "off for the class");
}

/// RED too, without the class's frame in transmission: as `red_marks_with_a_probability_that_rises_with_the_queue` in
/// `buffers.rs`.
#[test]
fn red_marks_by_the_class_s_own_queue() {
    let ecn = "ecn = 'red'\necn_min = '20kB'\necn_max = '120kB'\necn_pmax = 0.4";
    let text = |packets: u32, seed: u64| {
        format!(
            "format = 1\nname = 'marks'\nseed = {seed}\nduration = '50ms'\nwarmup = '10ms'\n[network]\n\
             topology = 'dumbbell'\nleft = 1\nright = 1\nrate = '80Gbps'\nbottleneck = '8Gbps'\nmtu = '1000B'\n\
             framing = '0B'\n[class.t]\n{ecn}\n[transport.t]\nprotocol = 'dctcp'\nheader = '0B'\nack = '1B'\n\
             initial_cwnd = {packets}\nmin_cwnd = {packets}\nmax_cwnd = {packets}\n\
             [[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\n"
        )
    };
    for (seed, packets) in [(1, 28), (2, 29), (3, 70), (4, 128), (5, 129)] {
        let held = f64::from(packets - 8) * 1000.0;
        let probability = match held {
            held if held <= 20_000.0 => 0.0,
            held if held > 120_000.0 => 1.0,
            held => 0.4 * (held - 20_000.0) / 100_000.0,
        };
        let outcome = run(&text(packets, seed));
        let frames = of_class(&outcome, "tor0>tor1", "t", "frames") as f64;
        let marks = of_class(&outcome, "tor0>tor1", "t", "marks") as f64;
        let error = (frames * probability * (1.0 - probability)).sqrt();
        assert!((marks - frames * probability).abs() <= 3.0 * error, "{packets}: {marks} of {frames}");
    }
}

/// A host's NIC serves its flows by class: a burst of the highest goes out in one piece, the rest by weight, and the
/// flows of a class in turn.
#[test]
fn a_nic_serves_its_flows_by_class() {
    let classes = greedy("a", "priority = 1\nweight = 3", 0)
        + &greedy("b", "priority = 1\nweight = 1", 500)
        + &greedy("c", "", 0);
    let flows = incast("a", "0", 17, "flows_per_pair = 4")
        + &incast("b", "0", 18, "flows_per_pair = 2")
        + &incast("c", "0", 19, "bytes = '3MB'\nstart = '2ms'");
    let outcome = run(&star(&(classes + &flows)));
    let sent = ["a", "b", "c"].map(|class| of_class(&outcome, "h0>tor0", class, "wire_bytes"));
    assert_eq!(sent[2], 3_000_000);
    let fct = floats(&outcome, "flows", "fct_us")[6];
    // 3000 frames, the rest of one before the first, and the way of the last.
    assert!((3003.0..=3004.5).contains(&fct), "{fct}");
    let apart = sent[0] as f64 / 3.0 - sent[1] as f64;
    assert!(apart.abs() <= 1000.0 / 3.0 + 1500.0, "{sent:?}");
    assert!(sent.iter().sum::<u64>().abs_diff(9_000_000) <= 1500, "{sent:?}");
    let delivered = integers(&outcome, "flows", "delivered_bytes");
    for alike in [&delivered[..4], &delivered[4..6]] {
        let (least, most) = (alike.iter().min(), alike.iter().max());
        assert!(most.zip(least).is_some_and(|(most, least)| most - least <= 2000), "{delivered:?}");
    }
}

/// Acknowledgements of a higher class pass a host's data of a lower, and those of a lower wait for it.
#[test]
fn acknowledgements_take_their_own_class() {
    let text = |ack_class: &str| {
        star(&format!(
            "[class.data]\npriority = 1\n[class.high]\n[class.low]\npriority = 2\n\
             [transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '1B'\nack_class = '{ack_class}'\n\
             [transport.rest]\nprotocol = 'none'\nheader = '0B'\nack = '1B'\nack_class = 'high'\n\
             [transport.least]\nprotocol = 'none'\nheader = '0B'\nack = '1B'\nclass = 'low'\nwindow = 1\n\
             [[traffic]]\npattern = 'incast'\ntransport = 'rest'\nfrom = 19\nto = 1\n\
             [[traffic]]\npattern = 'incast'\ntransport = 'least'\nfrom = 5\nto = 6\n\
             [[traffic]]\npattern = 'closed_loop'\ntransport = 't'\nfrom = 0\nto = 19\nbytes = '100B'\n\
             [record]\noperations = true\n"
        ))
    };
    // Of a class above its own host's data: never longer than 4 us of links, two ports each way, and one frame's rest.
    let outcome = run(&text("high"));
    let high: Vec<f64> =
        floats(&outcome, "operations", "latency_us").iter().copied().filter(|us| !us.is_nan()).collect();
    assert!(high.len() > 1500 && high.iter().all(|&us| us <= 4.0 + 0.2 + 0.002 + 1.0 + 1e-9), "{high:?}");
    let low = run(&text("low"));
    assert_eq!(figure(&low, "operations"), 0.0, "none comes back");
}

/// An acknowledgement that waits while the last flow of another class sends leaves as soon as that one has.
#[test]
fn an_acknowledgement_follows_the_last_frame_of_another_class() {
    let classes = class("first", "", 0) + &class("second", "priority = 1", 0);
    // Two frames of the first class from 10 us on; the frame acknowledged arrives within the first of them.
    let flows = incast("first", "0", 2, "bytes = '1kB'\nflows_per_pair = 2\nstart = '10us'")
        + &incast("second", "1", 0, "bytes = '100B'\nstart = '8us'");
    let outcome = run(&star(&(classes + &flows)).replace("warmup = '1ms'", ""));
    assert_eq!(of_class(&outcome, "h0>tor0", "first", "frames"), 2);
    assert_eq!(of_class(&outcome, "h0>tor0", "second", "frames"), 1);
    assert_eq!(link_count(&outcome, "tor0>h1", "frames"), 1, "the acknowledgement");
}

/// A host whose engine hands frames to its NIC chooses among its flows as the NIC would: 3:1, whatever the frames weigh.
#[test]
fn an_engine_gives_classes_their_shares() {
    let snap = "[host.default]\nmodel = 'snap'\nreceive_packet = '100ns'\npause = '0us'\n";
    let classes = greedy("one", "weight = 1", 500) + &greedy("three", "weight = 3", 0);
    let flows = incast("one", "0", 1, "") + &incast("three", "0", 2, "");
    let outcome = run(&star(&(snap.to_owned() + &classes + &flows)));
    let [one, three] =
        ["one", "three"].map(|class| of_class(&outcome, "h0>tor0", class, "wire_bytes") as f64);
    // Frames of 1500 and 1000 B, and those between stack and NIC at either end of the measurement: 9 us of them.
    assert!((one - three / 3.0).abs() < 15_000.0, "{one} {three}");
    assert!(one + three > 8_980_000.0, "{one} {three}");
}

struct Row {
    time_us: f64,
    class: String,
    utilisation: f64,
    sent_bytes: u64,
    dropped_bytes: u64,
    dropped_frames: u64,
}

fn series(outcome: &Outcome, link: &str) -> Vec<Row> {
    let of = |what: &str| integers(outcome, "links_series", what);
    let (time, utilisation) =
        (floats(outcome, "links_series", "time_us"), floats(outcome, "links_series", "utilisation"));
    let classes = texts(outcome, "links_series", "class");
    let row = |i: usize| Row {
        time_us: time[i],
        class: classes[i].to_owned(),
        utilisation: utilisation[i],
        sent_bytes: of("sent_bytes")[i],
        dropped_bytes: of("dropped_bytes")[i],
        dropped_frames: of("dropped_frames")[i],
    };
    let links = texts(outcome, "links_series", "link");
    links.iter().enumerate().filter(|(_, name)| **name == link).map(|(i, _)| row(i)).collect()
}

/// The series adds up to what the links counted, class by class, and knows the busy from the idle.
#[test]
fn the_series_of_links_adds_up() {
    let classes = greedy("a", "", 0) + &greedy("b", "", 0);
    let without = "[transport.a]\nprotocol = 'none'\nheader = '0B'\nack = '1B'\n\
                   [transport.b]\nprotocol = 'none'\nheader = '0B'\nack = '1B'\n";
    let flows = incast("a", "0..2", 19, "stop = '4ms'") + &incast("b", "2", 19, "stop = '6ms'");
    for tables in [classes.as_str(), without] {
        let text =
            star(&format!("[switch.default]\nbuffer = '100kB'\n{tables}{flows}[record]\nlinks = '1ms'\n"));
        let outcome = run(&text.replace("warmup = '1ms'\n", "measure_until = '10ms'\n"));
        let rows = series(&outcome, "tor0>h19");
        let expected: &[&str] = if tables == without { &[""] } else { &["a", "b"] };
        assert!(rows.iter().zip(expected.iter().cycle()).all(|(row, class)| row.class == *class));
        let of_first = || rows.iter().filter(|row| row.class == expected[0]);
        assert_eq!(of_first().map(|row| row.time_us).next(), Some(1000.0));
        // From 2 us on there is something to send, and at least until the first stop.
        assert!(of_first().skip(1).take(3).all(|row| (row.utilisation - 1.0).abs() < 1e-9));
        assert_eq!(of_first().next().map(|row| (row.utilisation * 1000.0).round()), Some(998.0));
        assert_eq!(of_first().count(), 10, "idle rows are there, too");
        assert_eq!(of_first().next_back().map(|row| row.utilisation), Some(0.0));
        let sum = |value: fn(&Row) -> u64| rows.iter().map(value).sum::<u64>();
        assert_eq!(sum(|row| row.sent_bytes), link_count(&outcome, "tor0>h19", "wire_bytes"));
        let drops = link_count(&outcome, "tor0>h19", "drops");
        assert!(drops > 0);
        assert_eq!((sum(|row| row.dropped_frames), sum(|row| row.dropped_bytes)), (drops, drops * 1000));
        assert!(series(&outcome, "h0>tor0").is_empty(), "NICs are no switch ports");
        assert!(series(&outcome, "tor0>h7").is_empty(), "nothing goes there");
    }
}
