//! Samples for a replay: what they add up to, where there is no row, windows, and what is refused.

use clearway_sim::check;

use crate::experiment::{floats, integers, run, run_on, table, texts, Outcome};

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

/// Returns four hosts of a star that send to a fifth in timeslots; a small write of each every 50 us, and one long flow.
fn slotted(record: &str) -> String {
    format!(
        "format = 1\nname = 'slotted'\nduration = '2ms'\n[network]\ntopology = 'star'\nhosts = 6\nrate = '10Gbps'\n\
         delay = '1us'\nmtu = '1448B'\n[transport.t]\nprotocol = 'fastpass'\nheader = '52B'\n[arbiter]\nat = 'h5'\n\
         [[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 4\nbytes = '300kB'\nstart = '100us'\n[record]\n{record}\n"
    )
}

#[test]
fn what_a_replay_has_of_timeslots_adds_up_to_what_the_endpoints_counted() {
    // Grants that come later than a timeslot's length after theirs are refused.
    let late = "[arbiter]\nat = 'h5'\nahead = 4\n";
    for text in [slotted("replay = '7us'"), slotted("replay = '7us'").replace("[arbiter]\nat = 'h5'\n", late)] {
        let outcome = run(&text);
        let hosts = integers(&outcome, "endpoints", "host");
        for column in ["slots_used", "slots_unused", "refused_late"] {
            let mut sums = vec![0; hosts.len()];
            let rows = integers(&outcome, "replay_timeslots", "host").iter();
            for (host, value) in rows.zip(integers(&outcome, "replay_timeslots", column)) {
                sums[hosts.iter().position(|of| of == host).unwrap()] += value;
            }
            println!("{column}: {sums:?}");
            assert_eq!(sums, integers(&outcome, "endpoints", column), "{column}");
        }
    }
}
