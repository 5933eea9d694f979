//! Swing's relays in the network: the share that drains is the share that the long link carries, in a buffer of one BDP; what
//! is beyond the paper; and what is refused.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clearway_sim::record::{Outcome, Stopped};
use clearway_sim::run_on;
use clearway_sim::scenario::load_text;

use crate::experiment::{figure, integers, texts};

/// Bytes of a frame on the wire, and of its payload.
const FRAME: u64 = 1500;
const PAYLOAD: u64 = 1462;

/// What may come beyond a BDP: in place of the frame that PAUSE waits for, in that of PAUSE, the frame that has just begun
/// when it works, and the one that was not wholly there when it was decided.
const FRAMES: u64 = 3 * FRAME + 84;

/// A host in the west sends all it can to one in the east, over a long link with relays, and a host beside that one may take
/// a part of its link.
#[derive(Clone)]
struct Line {
    gbps: u64,
    delay_us: u64,
    /// The share of the rate that the receiver's link has.
    drain: f64,
    ms: u64,
    /// Keys of the tables of switches.
    switches: String,
    /// Further tables.
    more: String,
    /// The relays' rate on their side of the west, in kbit/s, if it is another.
    west_kbps: Option<u64>,
    relays: bool,
}

impl Line {
    fn new(gbps: u64, delay_us: u64, drain: f64) -> Line {
        let ms = 10 * delay_us / 1000 + 10;
        let (switches, more) = (String::new(), String::new());
        Line { gbps, delay_us, drain, ms, switches, more, west_kbps: None, relays: true }
    }

    /// Bytes of 2·D·R.
    fn bdp(&self) -> u64 {
        2 * self.delay_us * self.gbps * 125
    }

    fn network(&self) -> String {
        let mut text = String::new();
        let mut nodes = vec![
            ("sender", "host"),
            ("beside", "host"),
            ("receiver", "host"),
            ("west", "dci"),
            ("east", "dci"),
        ];
        let west = self.west_kbps.unwrap_or(self.gbps * 1_000_000);
        let rate = self.gbps * 1_000_000;
        let slow = (rate as f64 * self.drain) as u64;
        let mut links = vec![
            ("'sender', 'west'", west, 1),
            ("'beside', 'east'", rate, 1),
            ("'receiver', 'east'", slow, 1),
        ];
        if self.relays {
            nodes.extend([("relay0", "relay"), ("relay1", "relay")]);
            links.extend([
                ("'west', 'relay0'", west, 1),
                ("'relay0', 'relay1'", west, self.delay_us),
                ("'relay1', 'east'", rate, 1),
            ]);
        } else {
            links.push(("'west', 'east'", rate, self.delay_us));
        }
        for (name, role) in nodes {
            writeln!(text, "[[node]]\nname = '{name}'\nrole = '{role}'").expect("a string takes all");
        }
        for (ends, kbps, delay) in links {
            writeln!(text, "[[link]]\nends = [{ends}]\nrate = '{kbps}kbps'\ndelay = '{delay}us'")
                .expect("a string takes all");
        }
        text
    }

    fn load(&self) -> Result<clearway_sim::scenario::Loaded, String> {
        let folder = folder();
        std::fs::write(folder.join("line.toml"), self.network()).expect("the file can be written");
        let text = format!(
            "format = 1\nname = 'line'\nduration = '{}ms'\nwarmup = '{}us'\n[network]\ntopology = 'file'\nfile = 'line.toml'\n\
             mtu = '{PAYLOAD}B'\n[switch.default]\npfc = 'static'\npfc_xoff = '198kB'\nbuffer = '100MB'\n{}\n\
             [record]\nqueues = '500us'\n[class.flood]\nlossless = true\npriority = 1\n[class.urgent]\n\
             [transport.flood]\nprotocol = 'none'\nheader = '0B'\nrto = '1s'\nreach = 16384\nclass = 'flood'\n\
             [transport.urgent]\nprotocol = 'none'\nheader = '0B'\nrto = '1s'\nclass = 'urgent'\n\
             [[traffic]]\npattern = 'incast'\ntransport = 'flood'\nfrom = 0\nto = 2\n{}\n",
            self.ms,
            4 * self.delay_us,
            self.switches,
            self.more,
        );
        let loaded = load_text(&text, "scenario", &folder, &[], None);
        std::fs::remove_dir_all(&folder).expect("the folder is there");
        loaded.map_err(|problems| problems.to_string())
    }

    fn try_run(&self, threads: usize) -> Result<Outcome, Stopped> {
        let loaded = self.load().unwrap_or_else(|problems| panic!("{problems}"));
        run_on(&loaded.scenario, threads, &mut |_| ControlFlow::Continue(()))
    }

    fn run(&self) -> Outcome {
        self.try_run(1).unwrap_or_else(|stopped| panic!("{stopped:?}"))
    }
}

/// A folder that no other test has.
fn folder() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("clearway-relays-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder of its own");
    folder
}

/// A column of the table of pauses, for a link and the class of the flood.
fn of_link(outcome: &Outcome, link: &str, column: &str) -> u64 {
    let (links, classes) = (texts(outcome, "pauses", "link"), texts(outcome, "pauses", "class"));
    let row = links.iter().zip(classes).position(|(of, class)| *of == link && class == "flood");
    integers(outcome, "pauses", column)[row.unwrap_or_else(|| panic!("no pauses of {link}"))]
}

/// The mean length of a port's queue over the second half of a run.
fn queue(outcome: &Outcome, link: &str) -> f64 {
    let bytes = integers(outcome, "queues", "queue_bytes");
    let of_link = texts(outcome, "queues", "link").into_iter().zip(bytes).filter(|(of, _)| *of == link);
    let all: Vec<u64> = of_link.map(|(_, bytes)| *bytes).collect();
    let late = &all[all.len() / 2..];
    late.iter().sum::<u64>() as f64 / late.len() as f64
}

/// The share of the long link that arrives.
fn share(outcome: &Outcome, line: &Line) -> f64 {
    figure(outcome, "goodput_gbps") * FRAME as f64 / PAYLOAD as f64 / line.gbps as f64
}

#[test]
fn the_long_link_carries_what_drains_in_a_buffer_of_one_bdp() {
    for (gbps, delay_us) in [(100, 100), (100, 400), (400, 100), (25, 400)] {
        for drain in [0.2, 0.5, 0.8, 0.95] {
            let line = Line::new(gbps, delay_us, drain);
            let outcome = line.run();
            let found = share(&outcome, &line);
            let name = format!("{gbps} Gb/s, {delay_us} us, drain {drain}");
            assert!((found / drain - 1.0).abs() < 0.01, "{name}: {found} of the rate");
            let peak = of_link(&outcome, "relay0>relay1", "account_peak_bytes");
            let standing = ((1.0 - drain) * line.bdp() as f64) as u64;
            assert!(peak <= line.bdp() + FRAMES, "{name}: {peak} bytes, a BDP is {}", line.bdp());
            assert!(peak + FRAMES >= standing, "{name}: {peak} bytes, {standing} are to stand there");
            assert_eq!(figure(&outcome, "loss_rate_whole"), 0.0);
        }
    }
}

/// The host beside the receiver takes all of its link for a while.
const URGENT: &str =
    "[[traffic]]\npattern = 'incast'\ntransport = 'urgent'\nfrom = 1\nto = 2\nstart = '3ms'\nstop = '9ms'\n";

#[test]
fn a_drain_that_stops_fills_one_bdp_and_no_more() {
    let line = Line { more: URGENT.into(), ..Line::new(100, 400, 1.0) };
    let outcome = line.run();
    let peak = of_link(&outcome, "relay0>relay1", "account_peak_bytes");
    assert!(peak <= line.bdp() + FRAMES, "{peak}");
    assert!(peak + FRAMES >= line.bdp(), "{peak}");
    // The switch has the buffer of a link of a microsecond.
    let switch = of_link(&outcome, "relay1>east", "account_peak_bytes");
    assert!(switch < 198_000 + 30_000, "{switch}");
}

#[test]
fn any_number_of_threads_comes_to_the_same() {
    let line = Line { more: URGENT.into(), ..Line::new(25, 100, 0.6) };
    let alone = line.try_run(1).expect("no drop");
    for threads in [2, 3, 7] {
        assert_eq!(line.try_run(threads).expect("no drop").digest, alone.digest, "{threads} threads");
    }
}

/// Runs with a buffer at the relay that is a little larger than a BDP, without safety and with the lowest there may be.
fn without_and_with_safety(line: &Line, margin: u64) -> [Result<Outcome, Stopped>; 2] {
    let buffer = line.bdp() + margin;
    let safety = line.bdp() + line.bdp() / 100 + 8 * FRAME;
    [String::new(), format!("relay_safety = '{safety}B'")].map(|safety| {
        let keys = format!("[switch.relay]\npfc_quanta = 2000\nrelay_buffer = '{buffer}B'\n{safety}");
        Line { switches: keys, ..line.clone() }.try_run(1)
    })
}

#[test]
fn a_relay_has_lossless_classes_alone_of_any_number_of_classes() {
    // A PAUSE has eight priorities, and a network up to sixteen classes.
    let mut more = String::new();
    for i in 0..12 {
        write!(
            more,
            "[class.more{i}]\npriority = 1\nlossless = {}\n[transport.more{i}]\nprotocol = 'none'\nheader = '0B'\nrto = '1s'\n\
             reach = 16384\nclass = 'more{i}'\n",
            i % 2 == 1
        )
        .expect("a string takes all");
    }
    more.push_str("[[traffic]]\npattern = 'incast'\ntransport = 'more11'\nfrom = 0\nto = 2\n");
    let line = Line { more, ..Line::new(100, 100, 0.5) };
    let found = share(&line.run(), &line) / line.drain;
    assert!((found - 1.0).abs() < 0.01, "{found}");
}

#[test]
fn safety_holds_the_far_relay_where_clocks_differ() {
    // The west is faster by 200 millionths: 2.5 MB a second more come than leave.
    let line = Line { west_kbps: Some(100_020_000), ms: 150, ..Line::new(100, 10, 1.0) };
    let [without, with] = without_and_with_safety(&line, 100_000);
    match without {
        Err(Stopped::Dropped(why)) => assert!(why.contains("relay_safety"), "{why}"),
        other => panic!("{other:?}"),
    }
    let outcome = with.expect("no drop");
    assert!(share(&outcome, &line) > 0.999, "{}", share(&outcome, &line));
}

#[test]
fn safety_keeps_what_lost_pauses_bring_from_adding_up() {
    // A PAUSE that is lost brings what comes in a swing, a RESUME takes as much: what waits wanders.
    let lossy = "[[fault]]\nkind = 'loss'\nlink = 'relay1>relay0'\nprobability = 0.3\n";
    let line = Line { more: lossy.into(), ms: 150, ..Line::new(100, 100, 0.5) };
    let [without, with] = without_and_with_safety(&line, 100_000);
    assert!(matches!(without, Err(Stopped::Dropped(_))), "{without:?}");
    let outcome = with.expect("no drop");
    assert!(share(&outcome, &line) > 0.98 * line.drain, "{}", share(&outcome, &line));
}

#[test]
fn a_lost_pause_costs_what_comes_until_it_is_repeated() {
    // When the drain stops, nothing gets through to the far relay for 50 us: the PAUSE is lost, and those that repeat it.
    let fault =
        "[[fault]]\nkind = 'loss'\nlink = 'relay1>relay0'\nprobability = 1.0\nat = '3ms'\nuntil = '3050us'\n";
    let (more, switches) = (
        format!("{URGENT}{fault}"),
        "[switch.relay]\npfc_quanta = 2000\nrelay_buffer = '12MB'\n[switch.long]\npfc_quanta = 2000".into(),
    );
    let outcome = Line { switches, more, ..Line::new(100, 400, 1.0) }.run();
    let beyond = of_link(&outcome, "relay0>relay1", "account_peak_bytes") as f64 - 10_000_000.0;
    // The switch first fills up to its threshold, 198 kB: what 15.84 us bring. A PAUSE is repeated after 5.12 us at most.
    let (least, most) = ((50.0 - 15.84 - 1.0) * 12_500.0, (50.0 - 15.84 + 5.2) * 12_500.0);
    assert!(
        (least..most + 12_000.0).contains(&beyond),
        "{beyond} bytes beyond a BDP, not from {least} to {most}"
    );
}

#[test]
fn a_virtual_queue_keeps_the_throughput_with_a_short_queue() {
    for drain in [0.2, 0.5, 0.8] {
        let line = Line { ms: 40, ..Line::new(100, 400, drain) };
        let outcome = line.run();
        let standing = (1.0 - drain) * line.bdp() as f64;
        assert!((queue(&outcome, "relay1>east") / standing - 1.0).abs() < 0.02, "{drain}");
        let keys = "[switch.relay]\nrelay_virtual_queue = '250kB'\nrelay_virtual_queue_above = '125kB'";
        let short = Line { switches: keys.into(), ..line };
        let outcome = short.run();
        let (found, queue) = (share(&outcome, &short) / drain, queue(&outcome, "relay1>east"));
        assert!(found > 0.99, "drain {drain}: {found} of it");
        assert!((125_000.0..300_000.0).contains(&queue), "drain {drain}: {queue} bytes wait");
    }
}

#[test]
fn a_relay_inside_the_switch_does_as_much() {
    for drain in [0.2, 0.5, 0.8, 0.95] {
        let keys = "[switch.long]\npfc = 'relay'";
        let line = Line { relays: false, switches: keys.into(), ..Line::new(100, 400, drain) };
        let outcome = line.run();
        let found = share(&outcome, &line) / drain;
        assert!((found - 1.0).abs() < 0.01, "drain {drain}: {found} of it");
        // What waits and what is granted are counted in parts of a 256th of a round trip.
        let most = line.bdp() + line.bdp() / 40;
        let peak = of_link(&outcome, "west>east", "account_peak_bytes");
        assert!(peak <= most, "drain {drain}: {peak} bytes");
    }
    let stops = Line {
        relays: false,
        switches: "[switch.long]\npfc = 'relay'".into(),
        more: URGENT.into(),
        ..Line::new(100, 400, 1.0)
    };
    let peak = of_link(&stops.run(), "west>east", "account_peak_bytes");
    assert!((stops.bdp()..stops.bdp() + stops.bdp() / 40).contains(&peak), "{peak}");
}

#[test]
fn what_cannot_be_is_refused_with_the_arithmetic() {
    let refused = |line: &Line| line.load().err().unwrap_or_default();
    let good = Line::new(100, 100, 0.5);
    assert_eq!(refused(&good), "");
    let with = |switches: &str| refused(&Line { switches: switches.into(), ..good.clone() });
    assert!(with("[switch.relay]\npfc = 'off'").contains("switch.relay.pfc"));
    assert!(with("[switch.long]\npfc = 'relay'").contains("relays before them"));
    let low = with("[switch.relay]\nrelay_safety = '2MB'");
    assert!(low.contains("an idle link would be held"), "{low}");
    let high = with("[switch.relay]\nrelay_safety = '3MB'");
    assert!(high.contains("relay_safety: 3MB is above relay_buffer, 2567084B"), "{high}");
    let short = refused(&Line::new(1, 1, 0.5));
    assert!(short.contains("less than a frame"), "{short}");
    let unequal = refused(&Line { west_kbps: Some(100_021_000), ..good.clone() });
    assert!(unequal.contains("must have the same rate"), "{unequal}");
    let alone = with("[switch.relay]\nrelay_virtual_queue_above = '1MB'");
    assert!(alone.contains("there is no relay_virtual_queue"), "{alone}");
}

#[test]
fn a_bypass_takes_the_place_of_a_relay_that_fails() {
    // From 4 ms on, relay1 is a wire: the switch has the buffer of a short link, and its PAUSE works a round trip later.
    let fails = "[[fault]]\nkind = 'bypass'\nrelay = 'relay1'\nat = '4ms'\n";
    let line = Line { more: fails.into(), ms: 20, ..Line::new(100, 100, 0.5) };
    let Err(Stopped::Dropped(why)) = line.try_run(1) else { panic!("the switch has no room for a BDP") };
    assert!(why.contains("east dropped"), "{why}");
    // With room for it, PFC keeps the longer link lossless.
    let switches = "[switch.long]\npfc_headroom = '2550kB'".to_owned();
    let deep = Line { switches, ms: 40, ..line };
    let outcome = deep.run();
    assert_eq!(outcome.digest, deep.try_run(3).expect("no drop").digest);
    // What waited in the relay was dropped with it: half a BDP. What was under way was not.
    let dropped = figure(&outcome, "drops") * FRAME as f64;
    assert!((1_200_000.0..1_300_000.0).contains(&dropped), "{dropped} bytes");
}

#[test]
fn a_relay_that_is_back_does_what_it_did() {
    // relay1 is a wire from 4 to 6 ms, and the switch has room for what comes meanwhile.
    let fails = "[[fault]]\nkind = 'bypass'\nrelay = 'relay1'\nat = '4ms'\nuntil = '6ms'\n";
    let switches = "[switch.long]\npfc_headroom = '2550kB'".to_owned();
    let line = Line { more: fails.into(), switches, ms: 30, ..Line::new(100, 100, 0.5) };
    let outcome = line.run();
    assert_eq!(outcome.digest, line.try_run(3).expect("no drop").digest);
    let dropped = figure(&outcome, "drops") * FRAME as f64;
    assert!((1_200_000.0..1_300_000.0).contains(&dropped), "{dropped} bytes");
    // From then on half a BDP waits in it as before, and the long link carries what drains: all but what was lost, which is less than
    // 1 % of 30 ms, and the retransmission timer of what was.
    let standing = 0.5 * line.bdp() as f64;
    assert!(
        (queue(&outcome, "relay1>east") / standing - 1.0).abs() < 0.02,
        "{}",
        queue(&outcome, "relay1>east")
    );
    // Two outages that overlap are one.
    let twice = "[[fault]]\nkind = 'bypass'\nrelay = 'relay1'\nat = '5ms'\nuntil = '5500us'\n";
    let overlapping = Line { more: format!("{fails}{twice}"), ..line.clone() };
    assert_eq!(overlapping.run().digest, outcome.digest);
}

#[test]
fn a_relay_is_not_back_before_it_fails() {
    let fault = "[[fault]]\nkind = 'bypass'\nrelay = 'relay1'\nat = '4ms'\nuntil = '3ms'\n";
    let line = Line { more: fault.into(), ..Line::new(100, 100, 0.5) };
    let message = line.load().expect_err("it is refused");
    assert!(message.contains("fault[0].until: 3ms is not after at, 4ms"), "{message}");
}
