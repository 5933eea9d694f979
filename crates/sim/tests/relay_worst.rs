//! The worst that can come over a fibre to a relay, one network for each kind of relay: it fills the room that is derived to the
//! byte, and a byte less drops a frame, with a message that says so.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::swing::plan::inside_buffer;
use clearway_proto::units::{Bytes, Rate, Span};
use clearway_sim::check::load_text;
use clearway_sim::record::{Outcome, Stopped};
use clearway_sim::run_on;

use crate::experiment::{floats, integers, texts};

/// A frame on the wire, 120 ns at 100 Gb/s.
const FRAME: u64 = 1500;
const FRAME_PS: u64 = 120_000;
const PS_PER_BYTE: u64 = 80;

fn rate() -> Rate {
    Rate::from_gbps(100)
}

fn fibre(delay: Span) -> LosslessLink {
    LosslessLink { hysteresis: Bytes::new(3000), ..LosslessLink::new(rate(), delay, Bytes::new(FRAME)) }
}

/// The room that a relay inside a switch needs.
fn room_inside(delay: Span) -> u64 {
    inside_buffer(&fibre(delay)).get()
}

/// A host in the west floods one in the east; beside that one is a host that takes its link for a while, and one that sends
/// single frames back.
struct Line {
    delay: Span,
    relays: bool,
    /// Keys of the tables of switches.
    switches: String,
    /// When the receiver's link is taken: from when on, and to when, in picoseconds.
    taken: Vec<(u64, u64)>,
    /// When frames go back: the first, how many, in picoseconds.
    back: Option<(u64, u64)>,
    /// When all ends, in picoseconds.
    end: u64,
}

impl Line {
    fn run(&self) -> Result<Outcome, Stopped> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder: PathBuf =
            std::env::temp_dir().join(format!("clearway-worst-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder of its own");
        std::fs::write(folder.join("line.toml"), self.network()).expect("the file can be written");
        let loaded = load_text(&self.scenario(), "scenario", &folder, &[], None)
            .unwrap_or_else(|problems| panic!("{problems}"));
        std::fs::remove_dir_all(&folder).expect("the folder is there");
        run_on(&loaded.scenario, 1, &mut |_| ControlFlow::Continue(()))
    }

    fn network(&self) -> String {
        let hosts = ["sender", "beside", "receiver", "back"].map(|name| (name, "host"));
        let mut nodes = [hosts.as_slice(), &[("west", "dci"), ("east", "dci")]].concat();
        let host_delay = 1_000_000;
        let mut links = vec![
            ("sender", "west", host_delay),
            ("beside", "east", host_delay),
            ("receiver", "east", host_delay),
            ("back", "east", host_delay),
        ];
        if self.relays {
            nodes.extend([("relay0", "relay"), ("relay1", "relay")]);
            links.extend([("west", "relay0", 100_000), ("relay1", "east", 100_000)]);
            links.push(("relay0", "relay1", self.delay.as_ps()));
        } else {
            links.push(("west", "east", self.delay.as_ps()));
        }
        let nodes = nodes.iter().map(|(name, role)| format!("[[node]]\nname = '{name}'\nrole = '{role}'\n"));
        let links = links.iter().map(|(a, b, ps)| {
            format!("[[link]]\nends = ['{a}', '{b}']\nrate = '100Gbps'\ndelay = '{ps}ps'\n")
        });
        nodes.chain(links).collect()
    }

    fn scenario(&self) -> String {
        let mut text = format!(
            "format = 1\nname = 'worst'\nduration = '{}ps'\n[network]\ntopology = 'file'\nfile = 'line.toml'\nmtu = '1462B'\n\
             [switch.default]\npfc = 'static'\npfc_xoff = '198kB'\nbuffer = '100MB'\n{}\n[class.flood]\nlossless = true\n\
             priority = 1\n[class.urgent]\n",
            self.end, self.switches
        );
        for class in ["flood", "urgent"] {
            write!(
                text,
                "[transport.{class}]\nprotocol = 'none'\nheader = '0B'\nrto = '1s'\nreach = 16384\nclass = '{class}'\n"
            )
            .expect("a string takes all");
        }
        text += "[[traffic]]\npattern = 'incast'\ntransport = 'flood'\nfrom = 0\nto = 2\n";
        for (from, to) in self.taken.iter().filter(|(from, _)| *from < self.end) {
            let to = to.min(&self.end);
            write!(
                text,
                "[[traffic]]\npattern = 'incast'\ntransport = 'urgent'\nfrom = 1\nto = 2\nstart = '{from}ps'\nstop = '{to}ps'\n"
            )
            .expect("a string takes all");
        }
        if let Some((start, frames)) = self.back {
            write!(
                text,
                "[[traffic]]\npattern = 'incast'\ntransport = 'urgent'\nfrom = 3\nto = 0\nbytes = '{}B'\nstart = '{start}ps'\n",
                1462 * frames
            )
            .expect("a string takes all");
        }
        text
    }

    fn outcome(&self) -> Outcome {
        self.run().unwrap_or_else(|stopped| panic!("{stopped:?}"))
    }
}

/// The row of the table of pauses for a link and the flood.
fn row(outcome: &Outcome, link: &str) -> usize {
    let links = texts(outcome, "pauses", "link").into_iter().zip(texts(outcome, "pauses", "class"));
    links.into_iter().position(|of| of == (link, "flood")).expect("a link with flow control")
}

fn peak(outcome: &Outcome, link: &str) -> u64 {
    integers(outcome, "pauses", "account_peak_bytes")[row(outcome, link)]
}

/// Returns how long the fibre was paused so far, in picoseconds.
fn paused(line: &Line) -> u64 {
    let outcome = line.outcome();
    (floats(&outcome, "pauses", "paused_us")[row(&outcome, "west>east")] * 1e6).round() as u64
}

/// Returns the first delay from 20 us on at which the room for a grant inside a switch is a whole number of frames.
fn delay_inside() -> Span {
    let whole = |ps: &u64| room_inside(Span::from_ps(*ps)) % FRAME == 0;
    Span::from_ps((20_000_000..).step_by(40).find(whole).expect("one of some thousands"))
}

#[test]
fn one_grant_after_a_long_hold_fills_the_room_inside_a_switch_to_the_byte() {
    let (delay, us) = (delay_inside(), 1_000_000);
    let room = room_inside(delay);
    // The drain stops, and what waits and comes holds the far end. Long after, frames leave, enough for it
    // to be let go once.
    let line = |back: Option<u64>, end: u64| Line {
        delay,
        relays: false,
        switches: "[switch.long]\npfc = 'relay'".into(),
        taken: vec![(200 * us, 399 * us), (400 * us, 900 * us)],
        back: back.map(|start| (start, 1)),
        end,
    };
    // When the far end hears of it, from how long it was paused until some time: held until 390 us, then let go and held again.
    let held_since = 390 * us - paused(&line(None, 390 * us));
    let mut during = 410 * us;
    while paused(&line(None, during)) + held_since == during {
        during += 200_000;
    }
    let let_go = held_since + paused(&line(None, during));
    let grant = 500 * us - held_since - paused(&line(None, 500 * us));
    // A PAUSE is decided a delay and its own transmission before it is heard of.
    let decided = let_go + grant - delay.as_ps() - 84 * PS_PER_BYTE;
    // The frame that goes back has crossed a link of a microsecond at that very instant, and is transmitted first.
    let back = decided - FRAME_PS - us;
    let alone = line(None, 600 * us).outcome();
    assert!(peak(&alone, "west>east") < room, "nothing makes the PAUSE wait");
    let worst = line(Some(back), 600 * us);
    assert_eq!(peak(&worst.outcome(), "west>east"), room);
    // A later one does not go first, and of an earlier one less is left.
    for other in [back + 1, back - 2 * PS_PER_BYTE] {
        assert!(peak(&line(Some(other), 600 * us).outcome(), "west>east") < room);
    }
    let with_room = |room: u64| {
        let switches = format!("[switch.long]\npfc = 'relay'\nrelay_buffer = '{room}B'");
        Line { switches, ..line(Some(back), 600 * us) }
    };
    assert_eq!(peak(&with_room(room).outcome(), "west>east"), room);
    let Err(Stopped::Dropped(why)) = with_room(room - 1).run() else { panic!("a byte less is enough") };
    let says = format!("in a relay_buffer of {} bytes. The far end is held only for {room}: ", room - 1);
    assert!(why.contains(&says) && why.contains("Leave relay_buffer out, or give that much"), "{why}");
    assert!(!why.contains("clock"), "{why}");
}

#[test]
fn a_drain_that_stops_fills_the_room_of_a_box_to_the_byte() {
    // The round trip, an own frame and a PAUSE are together a whole number of frames.
    let us = 1_000_000;
    let delay = Span::from_ps((200 * FRAME_PS - FRAME_PS - 84 * PS_PER_BYTE) / 2);
    let needed = fibre(delay).headroom();
    assert_eq!(needed.window().as_ps(), 200 * FRAME_PS);
    let room = needed.bytes().get();
    let line = |phase: u64, buffer: u64| Line {
        delay,
        relays: true,
        switches: format!("[switch.relay]\nrelay_buffer = '{buffer}B'\n[switch.long]\npfc_xoff = '6kB'"),
        taken: vec![(100 * us + 17_000, 200 * us)],
        // Frames go back when it is said, so that it waits for one; for how long, depends on when the first was sent.
        back: Some((100 * us + phase * FRAME_PS / 12, 12)),
        end: 190 * us,
    };
    let peaks: Vec<u64> =
        (0..12).map(|phase| peak(&line(phase, 2 * room).outcome(), "relay0>relay1")).collect();
    let worst = (0..12).max_by_key(|&phase| peaks[phase as usize]).expect("some phases");
    assert_eq!(peaks[worst as usize], room, "{peaks:?}");
    assert!(line(worst, room).run().is_ok());
    let Err(Stopped::Dropped(why)) = line(worst, room - 1).run() else { panic!("a byte less is enough") };
    let says = format!("in a relay_buffer of {} bytes. A round trip brings ", room - 1);
    assert!(why.contains(&says) && why.contains("leave relay_buffer out, or raise it"), "{why}");
    assert!(!why.contains("clock"), "{why}");
}
