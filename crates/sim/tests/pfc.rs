//! Priority flow control: no drop at the derived headroom and a drop one frame below it, PAUSEs that hold, are repeated and
//! run out, and a deadlock that is named.

mod experiment;

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use clearway_sim::record::{Outcome, Stopped};
use clearway_sim::run_on;
use clearway_sim::scenario::load_text;
use experiment::{figure, floats, integers, texts};

/// Every frame weighs so much on the wire.
const FRAME: u64 = 1000;
/// What a PAUSE weighs.
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
