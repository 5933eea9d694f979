//! Samples for a replay: what they add up to, where there is no row, windows, and what is refused.

use clearway_sim::check;

use crate::experiment::{floats, integers, loaded, run, run_on, table, texts, Outcome};

/// Two hosts send to a third with flow control and a buffer that two cannot fill, over a link that loses frames for a while.
fn incast(record: &str) -> String {
    format!(
        "format = 1\nname = 'replayed'\nduration = '400us'\n[network]\ntopology = 'star'\nhosts = 4\nrate = '8Gbps'\n\
         delay = '1us'\nmtu = '1000B'\n[transport.t]\nprotocol = 'dctcp'\n[switch.default]\nbuffer = '20kB'\necn = 'step'\n\
         ecn_threshold = '5kB'\n\
         [[traffic]]\npattern = 'incast'\nfrom = '0..3'\nto = 3\nbytes = '60kB'\nstart = '21us'\n\
         [[fault]]\nkind = 'loss'\nlink = 'h0-tor0'\nprobability = 0.5\nat = '40us'\nuntil = '60us'\n[record]\n{record}\n"
    )
}

/// The sum of a column for each link.
fn sums(outcome: &Outcome, column: &str) -> Vec<u64> {
    let mut sums = vec![0; texts(outcome, "links", "link").len()];
    let links = integers(outcome, "replay", "link_number");
    links
        .iter()
        .zip(integers(outcome, "replay", column))
        .for_each(|(&link, value)| sums[link as usize] += value);
    sums
}

#[test]
fn what_a_replay_has_of_a_link_adds_up_to_what_the_run_counted() {
    let outcome = run(&incast("replay = '7us'"));
    for (replayed, counted) in [
        ("sent_bytes", "wire_bytes"),
        ("dropped_frames", "drops"),
        ("lost_frames", "fault_losses"),
        ("marked_frames", "marks"),
    ] {
        let (sums, counts) = (sums(&outcome, replayed), integers(&outcome, "links", counted));
        assert_eq!(sums, counts, "{replayed}");
        assert!(counts.iter().sum::<u64>() > 0, "{counted}: the run has none");
    }
}

#[test]
fn a_row_is_of_something_that_happened_and_there_is_one_a_link_at_most() {
    let outcome = run(&incast("replay = '7us'"));
    let columns = ["sent_bytes", "queue_bytes", "dropped_frames", "lost_frames", "marked_frames"]
        .map(|column| integers(&outcome, "replay", column));
    let (times, links) = (floats(&outcome, "replay", "time_us"), integers(&outcome, "replay", "link_number"));
    let keys: Vec<(f64, u64)> = times.iter().copied().zip(links.iter().copied()).collect();
    assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "by instant, then by link");
    for row in 0..times.len() {
        assert!(columns.iter().any(|column| column[row] > 0), "{:?}", keys[row]);
    }
    let ports = 8.0 * (400.0f64 / 7.0).ceil();
    assert!(times.len() < ports as usize / 2, "the fourth host is idle, and so are all at the end");
    assert!(columns[1].iter().any(|&bytes| bytes > 0), "something waits");
}

#[test]
fn a_replay_changes_nothing_and_is_the_same_on_any_number_of_threads() {
    let without = run(&incast(""));
    let [one, two, three] = [1, 2, 3].map(|threads| run_on(&incast("replay = '7us'"), None, threads));
    assert_eq!(without.digest, one.digest);
    assert_eq!(without.summary, one.summary);
    assert!(without.tables.iter().all(|table| table.name != "replay"));
    for other in [two, three] {
        assert_eq!(one.digest, other.digest);
        assert_eq!(table(&one, "replay"), table(&other, "replay"));
    }
}

#[test]
fn a_window_has_the_rows_of_the_whole_that_are_in_it() {
    let rows = |record: &str| -> Vec<(u64, u64, u64, u64)> {
        let outcome = run(&incast(record));
        let times = floats(&outcome, "replay", "time_us").iter().map(|us| us.round() as u64);
        let columns = ["link_number", "sent_bytes", "queue_bytes"].map(|of| integers(&outcome, "replay", of));
        let row = |(row, time)| (time, columns[0][row], columns[1][row], columns[2][row]);
        times.enumerate().map(row).collect()
    };
    let whole = rows("replay = '10us'");
    let part = rows("replay = '10us'\nreplay_from = '50us'\nreplay_until = '90us'");
    assert!(part.len() > 4);
    assert_eq!(part, whole.into_iter().filter(|row| (51..=90).contains(&row.0)).collect::<Vec<_>>());
    let odd = rows("replay = '30us'\nreplay_from = '50us'\nreplay_until = '90us'");
    let times: std::collections::BTreeSet<u64> = odd.iter().map(|row| row.0).collect();
    assert_eq!(times.into_iter().collect::<Vec<_>>(), [80, 90], "the last interval is cut short");
    let sent = |rows: &[(u64, u64, u64, u64)]| rows.iter().map(|row| row.2).sum::<u64>();
    assert_eq!(sent(&odd), sent(&part));
}

/// A sender at twice the rate of the receiver's link is paused half of the time; the table `pauses` says how long in all.
#[test]
fn pauses_add_up_to_what_flow_control_counted() {
    let text = incast("replay = '10us'")
        .replace("ecn = 'step'\necn_threshold = '5kB'", "pfc = 'static'\npfc_xoff = '10kB'")
        .replace("buffer = '20kB'", "buffer = '2MB'")
        .replace("protocol = 'dctcp'", "protocol = 'none'");
    let outcome = run(&text);
    let names = texts(&outcome, "links", "link");
    let (links, paused) =
        (integers(&outcome, "replay", "link_number"), floats(&outcome, "replay", "paused_us"));
    assert!(paused.iter().all(|&us| us <= 10.0 + 1e-9));
    let pauses = texts(&outcome, "pauses", "link");
    let counted = floats(&outcome, "pauses", "paused_us");
    assert!(counted.iter().any(|&us| us > 10.0), "{counted:?}");
    for (name, expected) in pauses.iter().zip(counted) {
        let of_link = links.iter().zip(paused).filter(|(link, _)| names[**link as usize] == *name);
        let sum: f64 = of_link.map(|(_, us)| us).sum();
        assert!((sum - expected).abs() < 1e-6, "{name}: {sum}, counted {expected}");
    }
}

/// What is said of a scenario: its problems, or its warnings.
fn said(text: &str) -> String {
    match check::load_text(text, "scenario", std::path::Path::new(""), &[], None) {
        Ok(loaded) => loaded.warnings.join("\n"),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn a_replay_that_no_page_could_hold_is_refused_and_a_large_one_warned_of() {
    let lasting = |duration: &str, record: &str| {
        incast(record).replace("duration = '400us'", &format!("duration = '{duration}'"))
    };
    assert_eq!(said(&lasting("100ms", "replay = '1us'")), "", "800,000 rows");
    let large = said(&lasting("500ms", "replay = '1us'"));
    assert!(large.contains("record.replay: its page may become 32.0 MB large"), "{large}");
    assert!(large.contains("sample every 2us or less often, or set replay_from"), "{large}");
    let refused = said(&lasting("10s", "replay = '1us'"));
    assert!(refused.contains("record.replay"), "{refused}");
    assert!(refused.contains("80000000 rows; the most is 15000000: sample every 6us"), "{refused}");
    assert_eq!(said(&lasting("10s", "replay = '1us'\nreplay_from = '5s'\nreplay_until = '5100ms'")), "");
    let late = said(&lasting("1ms", "replay = '1us'\nreplay_from = '1ms'"));
    assert!(late.contains("record.replay_from: found 1ms, expected less than duration, 1ms"), "{late}");
    let empty = said(&lasting("1s", "replay = '1us'\nreplay_from = '2us'\nreplay_until = '1us'"));
    assert!(empty.contains("found 1us, expected more than replay_from, 2us"), "{empty}");
}

/// Returns hosts of a star that send in timeslots. Their stacks stand still for a while, so that grants are refused as late, and
/// the arbiter is dead for so long that they send without it; when it is back, grants come for which nothing waits.
fn slotted(record: &str) -> String {
    format!(
        "format = 1\nname = 'slotted'\nduration = '5ms'\n[network]\ntopology = 'star'\nhosts = 6\nrate = '10Gbps'\n\
         delay = '1us'\nmtu = '1448B'\n[transport.t]\nprotocol = 'fastpass'\nheader = '52B'\n\
         [host.default]\nmodel = 'interrupts'\nwake_interval = '0us'\nsoftirq = '0us'\nsoftirq_mean = '0us'\n\
         stall_interval = '2ms'\nstall = '100us'\n[arbiter]\nat = 'h5'\n\
         [[fault]]\nkind = 'crash'\narbiter = 0\nat = '500us'\nuntil = '2ms'\n\
         [[traffic]]\npattern = 'permutation'\nhosts = '0..5'\n[record]\n{record}\n"
    )
}

#[test]
fn what_a_replay_has_of_timeslots_adds_up_to_what_the_endpoints_counted() {
    let outcome = run(&slotted("replay = '70us'"));
    let hosts = integers(&outcome, "endpoints", "host");
    for column in ["slots_used", "slots_unused", "refused_late"] {
        let mut sums = vec![0; hosts.len()];
        let rows = integers(&outcome, "replay_timeslots", "host").iter();
        for (host, value) in rows.zip(integers(&outcome, "replay_timeslots", column)) {
            sums[hosts.iter().position(|of| of == host).expect("an endpoint")] += value;
        }
        assert_eq!(sums, integers(&outcome, "endpoints", column), "{column}");
        assert!(sums.iter().sum::<u64>() > 0, "{column}: the run has none");
    }
}

/// The rows of the table of timeslots: instant, host, and the other columns in their order.
fn slot_rows(outcome: &Outcome) -> Vec<(u64, u64, [u64; 4])> {
    let columns = ["slots_used", "slots_unused", "refused_late", "slots_waiting"]
        .map(|column| integers(outcome, "replay_timeslots", column));
    let hosts = integers(outcome, "replay_timeslots", "host");
    let times = floats(outcome, "replay_timeslots", "time_us").iter().map(|us| us.round() as u64);
    times.enumerate().map(|(row, time)| (time, hosts[row], columns.map(|column| column[row]))).collect()
}

#[test]
fn a_row_of_timeslots_is_of_something_at_an_instant_of_a_sample() {
    let outcome = run(&slotted("replay = '70us'"));
    let rows = slot_rows(&outcome);
    assert!(
        rows.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1)),
        "by instant and host"
    );
    for (time, host, values) in &rows {
        assert!(time % 70 == 0 || *time == 5000, "{time} us");
        assert!(values.iter().any(|value| *value > 0), "h{host} at {time} us");
    }
    assert!(rows.iter().any(|(.., [used, unused, late, waiting])| used + unused + late == 0 && *waiting > 0));
    let end = rows.iter().filter(|(time, ..)| *time == 5000).count();
    assert!(end > 0, "what happened after the last whole interval is in rows of the end");
}

#[test]
fn a_window_has_the_rows_of_timeslots_that_are_in_it() {
    let whole = slot_rows(&run(&slotted("replay = '100us'")));
    let part = slot_rows(&run(&slotted("replay = '100us'\nreplay_from = '300us'\nreplay_until = '700us'")));
    assert!(part.len() > 4);
    assert_eq!(part, whole.into_iter().filter(|row| (301..=700).contains(&row.0)).collect::<Vec<_>>());
}

#[test]
fn timeslots_are_the_same_on_any_number_of_threads_and_there_are_none_where_none_are_asked() {
    let [one, two, three] = [1, 2, 3].map(|threads| run_on(&slotted("replay = '70us'"), None, threads));
    for other in [two, three] {
        assert_eq!(one.digest, other.digest);
        assert_eq!(table(&one, "replay_timeslots"), table(&other, "replay_timeslots"));
    }
    let without = run(&slotted(""));
    assert_eq!(without.digest, one.digest);
    for outcome in [without, run(&incast("replay = '7us'"))] {
        assert!(outcome.tables.iter().all(|table| table.name != "replay_timeslots"));
    }
}

#[test]
fn timeslots_count_in_the_sizes_that_are_said_before_a_run() {
    let sizes = |record: &str, arbiter: bool| {
        let mut text = slotted(record);
        if !arbiter {
            let (before, rest) = text.split_once("[arbiter]").expect("an arbiter");
            let traffic = rest.find("[[traffic]]").expect("traffic");
            text = before.replace("'fastpass'", "'dctcp'") + &rest[traffic..];
        }
        let scenario = loaded(&text, None).scenario;
        (check::replay_page_bytes(&scenario), check::estimate_bytes(&scenario))
    };
    // 72 instants; 6 cables, and as many hosts.
    let [with, without] = [true, false].map(|arbiter| sizes("replay = '70us'", arbiter));
    assert_eq!((with.0, without.0), (Some(72.0 * 18.0 * 8.0), Some(72.0 * 12.0 * 8.0)));
    let [more, less] = [true, false].map(|arbiter| {
        let [asked, plain] = ["replay = '70us'", ""].map(|record| sizes(record, arbiter).1);
        asked - plain
    });
    // A row is six numbers in the table, and as many of half the size before.
    assert_eq!(more - less, 72 * 6 * (48 + 24));
}
