//! Priority flow control: no drop at the derived headroom and a drop one frame below it, PAUSEs that hold, are repeated and
//! run out, and a deadlock that is named.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use clearway_sim::check::load_text;
use clearway_sim::record::{Outcome, Stopped};
use clearway_sim::run_on;

use crate::experiment::{figure, floats, integers, texts};

/// Bytes of every frame on the wire.
const FRAME: u64 = 1000;
/// Bytes of a PAUSE on the wire.
const PAUSE: u64 = 84;

fn try_run(text: &str) -> Result<Outcome, Stopped> {
    let networks = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/networks");
    let loaded = load_text(text, "scenario", &networks, &[], None);
    let loaded = loaded.unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    run_on(&loaded.scenario, 1, &mut |_| ControlFlow::Continue(()))
}

fn is_lossless(text: &str) -> bool {
    match try_run(text) {
        Ok(outcome) => {
            assert_eq!(figure(&outcome, "loss_rate_whole"), 0.0);
            true
        }
        Err(Stopped::Dropped(why)) => {
            assert!(why.contains("headroom"), "{why}");
            false
        }
        Err(Stopped::Interrupted) => unreachable!("nothing interrupts it"),
        Err(Stopped::Standstill(why)) => unreachable!("there is no job: {why}"),
    }
}

/// One case of the worst alignment.
#[derive(Clone, Copy)]
struct Worst {
    gbps: u64,
    delay_us: u64,
    response_us: u64,
    /// How many of four frames that leave are of the link that is paused.
    drain: u64,
}

impl Worst {
    /// Frames that still come after the one that passed XOFF. They come back to back, the first of them begun a delay before
    /// that one was there; the last may begin until the PAUSE takes effect, which has waited for a whole frame, then takes its
    /// own time, the delay and the response.
    fn frames_after_xoff(&self) -> u64 {
        let round_trip = self.gbps * 1000 / 8 * (2 * self.delay_us + self.response_us);
        2 + (PAUSE + round_trip) / FRAME
    }

    /// The most that is ever beyond XOFF. In each frame's time one comes, and in `drain` of four one leaves as well; the one
    /// that passes XOFF comes in a time in which none leaves.
    fn headroom(&self) -> u64 {
        let frames = self.frames_after_xoff() + 1;
        FRAME * (frames * (4 - self.drain)).div_ceil(4)
    }

    /// Host 0 sends all it can to host 3, whose link others share; hosts 1 and 2 fill the link back to host 0, so that a
    /// frame begins there in the very instant in which XOFF is passed. All that is sent is in step.
    fn scenario(&self, xoff: u64, headroom: u64) -> String {
        let Worst { gbps, delay_us, response_us, drain } = *self;
        let frame_ns = FRAME * 8 / gbps;
        let mut text = format!(
            "format = 1\nname = 'worst'\nduration = '{}us'\n[network]\ntopology = 'star'\nhosts = 8\nrate = '{gbps}Gbps'\n\
             delay = '{delay_us}us'\nmtu = '{FRAME}B'\nframing = '0B'\n[switch.default]\nbuffer = '1GB'\npfc = 'static'\n\
             pfc_xoff = '{xoff}B'\npfc_headroom = '{headroom}B'\npfc_response = '{response_us}us'\n\
             [class.others]\n[class.ours]\npriority = 1\nlossless = true\n[class.acks]\npriority = 2\n",
            20 * (delay_us + response_us) + 10 * frame_ns * (self.frames_after_xoff() + xoff / FRAME) / 1000,
        );
        let mut transport = |name: &str, class: &str, keys: &str| {
            writeln!(
                text,
                "[transport.{name}]\nprotocol = 'none'\nheader = '0B'\nack = '64B'\nrto = '1s'\nclass = '{class}'\nack_class = 'acks'\n{keys}"
            )
            .expect("a string takes all");
        };
        transport("ours", "ours", "");
        transport("back", "others", "");
        transport("quarter", "others", &format!("rate = '{}Mbps'", gbps * 250));
        let mut flow = |transport: &str, from: u64, to: u64, start_ns: u64| {
            writeln!(
                text,
                "[[traffic]]\npattern = 'incast'\ntransport = '{transport}'\nfrom = {from}\nto = {to}\nstart = '{start_ns}ns'"
            )
            .expect("a string takes all");
        };
        flow("ours", 0, 3, 0);
        flow("back", 1, 0, 0);
        flow("back", 2, 0, 0);
        // Evenly spread.
        (0..4 - drain).for_each(|which| flow("quarter", 4 + which, 3, which * (4 / (4 - drain)) * frame_ns));
        text
    }
}

/// XOFF of 8 to 12 frames: in which of four frames' times it is passed depends on it.
fn all_are_lossless(case: &Worst, headroom: u64) -> bool {
    (8..13).all(|frames| is_lossless(&case.scenario(frames * FRAME, headroom)))
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes 15 s in debug builds: make test-release runs it")]
fn nothing_is_dropped_at_the_derived_headroom_and_something_one_frame_below() {
    for gbps in [10, 100, 400] {
        for delay_us in [1, 10, 100] {
            for drain in 0..4 {
                let case = Worst { gbps, delay_us, response_us: delay_us % 3, drain };
                let headroom = case.headroom();
                let name = format!("{gbps} Gb/s, {delay_us} us, drain {drain}/4, headroom {headroom}");
                assert!(all_are_lossless(&case, headroom), "{name}");
                assert!(!all_are_lossless(&case, headroom - FRAME), "{name}: a frame less");
            }
        }
    }
}

/// An incast of four into a switch with these keys.
fn incast(switch: &str, more: &str) -> String {
    format!(
        "format = 1\nname = 'pfc'\nduration = '2ms'\n{more}\n[network]\ntopology = 'star'\nhosts = 5\n[switch.default]\n{switch}\n\
         [transport.flood]\nprotocol = 'none'\nrto = '1s'\n[[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 4\n"
    )
}

/// Returns what flow control did to the links from the first four hosts.
fn of_hosts<T>(all: &[T]) -> &[T] {
    &all[..4]
}

#[test]
fn an_incast_shares_the_link_and_drops_nothing() {
    for switch in
        ["pfc = 'static'\npfc_xoff = '20kB'", "sharing = 'shared'\nbuffer = '200kB'\npfc = 'dynamic'"]
    {
        let outcome = try_run(&incast(switch, "")).unwrap_or_else(|why| panic!("{why:?}"));
        assert_eq!(figure(&outcome, "drops"), 0.0);
        // 4000 of 4066 bytes, and the first 10 us.
        let goodput = figure(&outcome, "goodput_gbps");
        assert!((97.0..98.4).contains(&goodput), "{goodput}");
        // Each host sends a quarter of the time; a frame that has begun goes on when its link is paused.
        let paused: f64 = of_hosts(floats(&outcome, "pauses", "paused_us")).iter().sum();
        assert!((5900.0..6250.0).contains(&paused), "{paused}");
        let (peaks, rooms) =
            ["headroom_peak_bytes", "headroom_bytes"].map(|name| integers(&outcome, "pauses", name)).into();
        assert!(of_hosts(peaks).iter().zip(rooms).all(|(peak, room)| 0 < *peak && peak <= room), "{peaks:?}");
    }
}

/// Nothing leaves for the whole run, as a higher class fills the link: a PAUSE of 83.9 us must be repeated.
#[test]
fn a_pause_is_repeated_while_it_is_needed() {
    let case = Worst { gbps: 400, delay_us: 1, response_us: 0, drain: 0 };
    let text = case.scenario(8 * FRAME, case.headroom());
    let begin = text.find("duration = '").expect("a duration") + "duration = '".len();
    let end = begin + text[begin..].find('\'').expect("its end");
    let outcome = try_run(&format!("{}1ms{}", &text[..begin], &text[end..])).expect("no drop");
    let link = texts(&outcome, "pauses", "link").iter().position(|&link| link == "h0>tor0").expect("a row");
    // Every 41.94 us from the first microseconds on.
    assert_eq!(integers(&outcome, "pauses", "pfc_frames")[link], 24);
    assert_eq!(integers(&outcome, "pauses", "pauses")[link], 1);
    assert!(floats(&outcome, "pauses", "paused_us")[link] > 996.0);
}

/// One host sends at 100 Gb/s over a link that is ten times slower until `until_ns`, where what is stored by then is a little above XON.
/// Returns for how many microseconds it is paused.
fn paused_at_a_link_that_is_slow_until(until_ns: u64) -> f64 {
    let outcome = try_run(&format!(
        "format = 1\nname = 'slow'\nduration = '400us'\n[network]\ntopology = 'star'\nhosts = 3\nrate = '100Gbps'\n\
         delay = '5us'\nmtu = '{FRAME}B'\n[switch.default]\nbuffer = '10MB'\npfc = 'static'\n\
         pfc_xoff = '300kB'\npfc_xon = '200kB'\n[transport.flood]\nprotocol = 'none'\nrto = '1s'\n\
         [[traffic]]\npattern = 'incast'\nfrom = '0..1'\nto = 1\n[[fault]]\nlink = 'tor0>h1'\nkind = 'slow'\n\
         rate = '10Gbps'\nat = '0us'\nuntil = '{until_ns}ns'\n"
    ))
    .unwrap_or_else(|why| panic!("{why:?}"));
    let link = texts(&outcome, "pauses", "link").iter().position(|&link| link == "h0>tor0").expect("a row");
    assert_eq!(integers(&outcome, "pauses", "pauses")[link], 1);
    floats(&outcome, "pauses", "paused_us")[link]
}

/// For each microsecond that the link is slow for longer, the sender is paused for 0.9 us longer: what leaves in it would have taken a tenth
/// of that after it. So it is in the middle of a window as at its ends, to a frame, which takes 0.85 us.
#[test]
fn a_link_that_is_fast_again_tells_its_senders_to_go_on_when_it_should() {
    let first = 185_000;
    let earliest = paused_at_a_link_that_is_slow_until(first);
    for later in (0..10_000).step_by(250) {
        let paused = paused_at_a_link_that_is_slow_until(first + later);
        let expected = earliest + 0.9 * later as f64 / 1000.0;
        assert!(
            (paused - expected).abs() < 0.9,
            "slow for {later} ns more: {paused} us, expected {expected}"
        );
    }
}

#[test]
fn lost_pauses_cost_frames_and_end_the_run_unless_it_may_lose_some() {
    let down = "[[fault]]\nkind = 'loss'\nlink = 'tor0>h0'\nprobability = 1.0\n";
    let switch = "pfc = 'static'\npfc_xoff = '20kB'";
    let Err(Stopped::Dropped(why)) = try_run(&format!("{}{down}", incast(switch, ""))) else {
        panic!("it goes on in spite of drops")
    };
    assert!(why.contains("that came over h0>tor0") && why.contains("allow_loss"), "{why}");
    let outcome =
        try_run(&format!("{}{down}", incast(switch, "allow_loss = true"))).expect("it may lose some");
    assert!(figure(&outcome, "drops") > 1000.0);
    let lost = integers(&outcome, "pauses", "pfc_frames_lost");
    assert!(lost[0] > 10 && lost[1..].iter().all(|&lost| lost == 0), "{lost:?}");
}

/// Frames of 4166 bytes at 100 Gb/s over 1 us, as `clearway plan dci-buffer` has it: 25,000 bytes there and back, the port's own
/// frame, PAUSE, and two frames. A transport that nothing uses sends none of its 9 kB.
#[test]
fn derived_headroom_is_for_the_longest_frame_that_anybody_sends() {
    let switch = "pfc = 'static'\npfc_xoff = '20kB'\npfc_xon = '10kB'";
    let headroom = |text: &str| {
        let outcome = try_run(text).expect("no drop");
        integers(&outcome, "pauses", "headroom_bytes")[0]
    };
    let text = incast(switch, "").replace("protocol = 'none'", "protocol = 'none'\nheader = '32B'");
    let text =
        text.replace("[switch", "rate = '100Gbps'\ndelay = '1us'\nmtu = '4096B'\nframing = '38B'\n[switch");
    assert_eq!(headroom(&text), 25_000 + 84 + 3 * 4166);
    let text = text.replace("pattern", "transport = 'flood'\npattern");
    let other = "[transport.other]\nprotocol = 'none'\nheader = '5kB'\n";
    assert_eq!(headroom(&format!("{text}{other}")), 25_000 + 84 + 3 * 4166);
    let probe = "[[probe]]\nfrom = 'h0'\nto = 'h1'\ninterval = '1ms'\nsize = '9kB'\n";
    assert_eq!(headroom(&format!("{text}{other}{probe}")), 25_000 + 84 + 3 * 9000);
    let used = "[[traffic]]\npattern = 'incast'\ntransport = 'other'\nfrom = 1\nto = 0\nstart = '1999us'\n";
    assert_eq!(headroom(&format!("{text}{other}{used}")), 25_000 + 84 + 3 * 9134);
}

/// A class that may lose frames does, beside one that may not.
#[test]
fn lossy_classes_lose_what_they_would_without_flow_control() {
    let classes = "[class.lossy]\n[class.lossless]\nlossless = true\n";
    let text = incast("buffer = '100kB'\npfc = 'static'\npfc_xoff = '20kB'", "");
    let text = text.replace("[transport.flood]", &format!("{classes}[transport.flood]\nclass = 'lossless'"));
    let both = "[transport.other]\nprotocol = 'none'\nclass = 'lossy'\n[[traffic]]\npattern = 'incast'\ntransport = 'other'\n\
                from = '0..4'\nto = 4\n";
    let text =
        text.replace("pattern = 'incast'\nfrom", "pattern = 'incast'\ntransport = 'flood'\nfrom") + both;
    let outcome = try_run(&text).expect("no lossless class drops");
    let (names, drops) =
        (texts(&outcome, "link_classes", "class"), integers(&outcome, "link_classes", "drops"));
    let of = |class: &str| -> u64 {
        names.iter().zip(drops).filter(|(name, _)| **name == class).map(|(_, drops)| drops).sum()
    };
    assert_eq!(of("lossless"), 0);
    assert!(of("lossy") > 1000, "{}", of("lossy"));
}

/// The first and the last of three datacenters send to the one between them, of which only the ports to the long links pause
/// anybody: what has come over these and waits for another port of the switch is on their accounts all the same.
#[test]
fn flow_control_of_long_ports_alone_counts_what_leaves_by_the_others() {
    let text = "format = 1\nname = 'long'\nduration = '4ms'\n[network]\ntopology = 'datacenters'\ndatacenters = 3\nk = 2\n\
                long_km = 10.0\n[switch.dci]\nbuffer = '100kB'\n[switch.long]\nbuffer = '1GB'\npfc = 'static'\n\
                pfc_xoff = '200kB'\n[transport.flood]\nprotocol = 'none'\nrto = '1s'\nreach = 16384\n\
                [[traffic]]\npattern = 'incast'\nfrom = 0\nto = 2\n[[traffic]]\npattern = 'incast'\nfrom = 4\nto = 2\n";
    let outcome = try_run(text).expect("no drop in a lossless class");
    assert_eq!(figure(&outcome, "drops"), 0.0);
    let links = texts(&outcome, "pauses", "link").into_iter();
    let paused = links.zip(floats(&outcome, "pauses", "paused_us"));
    for (link, paused) in paused {
        // Each long link carries half of what leaves.
        assert_eq!(*paused > 1500.0, ["dci0>dci1", "dci2>dci1"].contains(&link), "{link}: {paused} us");
    }
}

#[test]
fn links_that_wait_for_each_other_for_ever_are_named() {
    let mut flows = String::new();
    for host in 0..5 {
        let to = (host + 2) % 5;
        writeln!(flows, "[[traffic]]\npattern = 'incast'\nfrom = {host}\nto = {to}")
            .expect("a string takes all");
    }
    let text = |xoff: &str| {
        format!(
            "format = 1\nname = 'ring'\nduration = '3ms'\n[network]\ntopology = 'file'\nfile = 'five_around.toml'\n\
             [switch.default]\npfc = 'static'\npfc_xoff = '{xoff}'\n[transport.flood]\nprotocol = 'none'\nrto = '1s'\nack = '1B'\n{flows}"
        )
    };
    let outcome = try_run(&text("20kB")).expect("no drop");
    let cycle = texts(&outcome, "deadlock", "link");
    assert_eq!(figure(&outcome, "deadlocked_links"), 5.0);
    let mut sorted = cycle.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["s0>s1", "s1>s2", "s2>s3", "s3>s4", "s4>s0"]);
    // One waits for the next.
    for (one, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
        assert_eq!(one.split_once('>').expect("a link").1, next.split_once('>').expect("a link").0);
    }
    // With room for everything, nobody waits.
    let outcome = try_run(&text("1GB")).expect("no drop");
    assert_eq!(figure(&outcome, "deadlocked_links"), 0.0);
}

#[test]
fn wrong_thresholds_are_refused_with_the_arithmetic() {
    let refused = |switch: &str, more: &str| {
        load_text(&incast(switch, more), "scenario", Path::new("."), &[], None)
            .err()
            .unwrap_or_else(|| panic!("{switch} is accepted"))
            .to_string()
    };
    let wrong = [
        ("pfc = 'static'\npfc_xoff = '20kB'\npfc_xon = '21kB'", "", "21kB is above pfc_xoff, 20kB"),
        ("pfc = 'dynamic'", "", "give sharing = \"shared\""),
        ("pfc = 'static'\npfc_xoff = '1kB'\npfc_quanta = 100", "", "at least 152"),
        ("pfc = 'static'", "", "pfc_xoff"),
        ("", "allow_loss = true", "no switch has pfc"),
    ];
    for (switch, more, says) in wrong {
        let message = refused(switch, more);
        assert!(message.contains(says), "{message}");
    }
}

/// Two senders of small frames to one receiver, with XON equal to XOFF: each frame that comes brings a PAUSE, each that leaves
/// a RESUME, and both are longer than two frames. `unsent` is what becomes of those that wait.
fn swinging(unsent: &str) -> String {
    format!(
        "format = 1\nname = 'swinging'\nduration = '1ms'\n[network]\ntopology = 'star'\nhosts = 3\nrate = '10Gbps'\n\
         delay = '1us'\nmtu = '64B'\nframing = '0B'\n[switch.default]\npfc = 'static'\npfc_xoff = '10kB'\npfc_xon = '10kB'\n\
         pfc_unsent = '{unsent}'\n[transport.t]\nprotocol = 'roce'\nheader = '0B'\nack = '64B'\nrto = '1s'\n[[traffic]]\n\
         pattern = 'incast'\nfrom = '0..2'\nto = 2\nstart = '0us..10us'\n"
    )
}

#[test]
fn what_replaces_unsent_pauses_says_less_and_is_lossless_with_xon_equal_to_xoff() {
    assert!(is_lossless(&swinging("replace")));
    let frames = |unsent: &str| {
        let text = swinging(unsent) + "[switch.tor]\npfc_headroom = '1MB'\n";
        let outcome = try_run(&text).expect("there is room for all that PAUSEs could be late");
        integers(&outcome, "pauses", "pfc_frames").iter().sum::<u64>()
    };
    let (kept, replaced) = (frames("keep"), frames("replace"));
    assert!(replaced < kept && replaced > 500, "{replaced} of {kept}");
}
