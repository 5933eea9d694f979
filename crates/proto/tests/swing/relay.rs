//! Two relays with a fibre between them, frame by frame: a source that always has data, the switches as thresholds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::pfc::quanta::{lasting, LONGEST, PFC_FRAME};
use clearway_proto::swing::relay::{Admission, Port, Relay, RelayParams, VirtualQueue};
use clearway_proto::units::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const FRAME: Bytes = Bytes::new(1_500);

/// The transmitters, from the source to the sink. The far relay is the one that sends data over the fibre.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Source,
    FarR,
    NearL,
    /// The near switch's egress.
    Sink,
}

const STAGES: [Stage; 4] = [Stage::Source, Stage::FarR, Stage::NearL, Stage::Sink];

/// What happens at one instant happens IN THIS ORDER.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A frame's last bit has left.
    Left(Stage),
    /// A frame's last bit has come over the link behind this transmitter.
    Came(Stage),
    /// A PFC frame reaches this transmitter.
    Told(Stage, u16),
    /// A relay's timer, or the end of the source's pause.
    Timer,
    /// The sink's share changes; by number.
    Share(usize),
}

/// What the sink takes, from an instant on.
type Shares = Vec<(Time, f64)>;

struct World {
    far: Relay,
    near: Relay,
    rate: Rate,
    fibre: Span,
    local: Span,
    /// The far relay's clock runs faster by this share.
    far_is_faster: f64,
    /// How much longer the n-th PFC frame over the fibre waits; over and over.
    waits: Vec<Span>,
    shares: Shares,
    /// The near switch's thresholds towards the relay.
    xoff: u64,
    xon: u64,
    now: Time,
    events: BinaryHeap<Reverse<(Time, Event)>>,
    busy: [bool; 4],
    source_paused_until: Time,
    share: f64,
    at_sink: u64,
    sink_told: bool,
    fibre_back_free_at: Time,
    forwarded: usize,
    timer_at: Time,
    result: Outcome,
}

#[derive(Default, Debug)]
struct Outcome {
    /// Frames through the sink.
    taken: u64,
    dropped: u64,
    /// The highest counts at R of the near relay and at L of the far one, in bytes.
    near_peak: u64,
    far_peak: u64,
    /// What waits at R of the near relay at the end.
    near_end: u64,
    pfc_frames: usize,
}

impl World {
    /// 100 Gb/s, 40 us one way: 1 BDP is 1 MB.
    fn new(params: &RelayParams, shares: &[(u64, f64)]) -> World {
        let shares: Shares =
            shares.iter().map(|&(us, share)| (Time::ZERO + Span::from_us(us), share)).collect();
        World {
            far: Relay::new(params),
            near: Relay::new(params),
            rate: params.rate,
            fibre: Span::from_us(40),
            local: Span::from_ns(100),
            far_is_faster: 0.0,
            waits: vec![Span::ZERO],
            xoff: 60_000,
            xon: 57_000,
            now: Time::ZERO,
            events: (0..shares.len()).map(|n| Reverse((shares[n].0, Event::Share(n)))).collect(),
            shares,
            busy: [false; 4],
            source_paused_until: Time::ZERO,
            share: 1.0,
            at_sink: 0,
            sink_told: false,
            fibre_back_free_at: Time::ZERO,
            forwarded: 0,
            timer_at: Time::NEVER,
            result: Outcome::default(),
        }
    }

    fn run(mut self, end: Span) -> Outcome {
        let end = Time::ZERO + end;
        self.begin_what_can();
        while let Some(Reverse((at, event))) = self.events.pop() {
            if at > end {
                break;
            }
            self.now = at;
            self.handle(event);
            self.send_pfc();
            self.begin_what_can();
            self.set_timer();
        }
        self.result.near_end = self.near.waiting(Port::Remote, 0).get();
        self.result
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Left(stage) => self.left(stage),
            Event::Came(stage) => self.came(stage),
            Event::Told(Stage::Source, quanta) => {
                self.source_paused_until = self.now + lasting(quanta, self.rate);
            }
            Event::Told(Stage::FarR, quanta) => self.far.pause_received(Port::Remote, 0, quanta, self.now),
            Event::Told(Stage::NearL, quanta) => self.near.pause_received(Port::Local, 0, quanta, self.now),
            Event::Told(Stage::Sink, _) => unreachable!("nobody pauses the sink"),
            // An earlier timer has replaced this one; whatever is still due has been given a timer since.
            Event::Timer if self.now < self.timer_at => {}
            Event::Timer => {
                self.timer_at = Time::NEVER;
                self.near.handle_timeout(self.now);
                self.far.handle_timeout(self.now);
            }
            Event::Share(n) => self.share = self.shares[n].1,
        }
    }

    fn left(&mut self, stage: Stage) {
        self.busy[stage as usize] = false;
        match stage {
            Stage::Source => {}
            Stage::FarR => self.far.frame_left(Port::Remote, 0, FRAME, self.now),
            Stage::NearL => self.near.frame_left(Port::Local, 0, FRAME, self.now),
            Stage::Sink => {
                self.at_sink -= FRAME.get();
                self.result.taken += 1;
                if self.sink_told && self.at_sink <= self.xon {
                    self.sink_told = false;
                    self.events.push(Reverse((self.now + self.local, Event::Told(Stage::NearL, 0))));
                }
            }
        }
    }

    fn came(&mut self, behind: Stage) {
        let admission = match behind {
            Stage::Source => self.far.frame_arrived(Port::Local, 0, FRAME, self.now),
            Stage::FarR => self.near.frame_arrived(Port::Remote, 0, FRAME, self.now),
            Stage::NearL => {
                self.at_sink += FRAME.get();
                if self.at_sink > self.xoff && !self.sink_told {
                    self.sink_told = true;
                    self.events.push(Reverse((self.now + self.local, Event::Told(Stage::NearL, LONGEST))));
                }
                Admission::Accepted
            }
            Stage::Sink => unreachable!("nothing is behind the sink"),
        };
        self.result.dropped += u64::from(admission == Admission::Dropped);
        self.result.near_peak = self.result.near_peak.max(self.near.waiting(Port::Remote, 0).get());
        self.result.far_peak = self.result.far_peak.max(self.far.waiting(Port::Local, 0).get());
    }

    fn send_pfc(&mut self) {
        while let Some(pfc) = self.far.poll_pfc(Port::Local) {
            self.events.push(Reverse((self.now + self.local, Event::Told(Stage::Source, pfc.quanta))));
        }
        while let Some(pfc) = self.near.poll_pfc(Port::Remote) {
            let wait = self.waits[self.forwarded % self.waits.len()];
            self.forwarded += 1;
            // In order: one behind the other on the wire.
            let begins = (self.now + wait).max(self.fibre_back_free_at);
            self.fibre_back_free_at = begins + self.rate.transmission(PFC_FRAME);
            let there = self.fibre_back_free_at + self.fibre;
            self.events.push(Reverse((there, Event::Told(Stage::FarR, pfc.quanta))));
        }
        assert_eq!(self.near.poll_pfc(Port::Local), None, "nobody sends that way");
        self.result.pfc_frames = self.forwarded;
    }

    fn begin_what_can(&mut self) {
        for stage in STAGES {
            let (may, rate) = match stage {
                Stage::Source => (self.source_paused_until <= self.now, self.rate),
                Stage::FarR => (
                    self.far.waiting(Port::Local, 0) > Bytes::new(0)
                        && self.far.may_begin(Port::Remote, 0, self.now),
                    Rate::from_bps((self.rate.as_bps() as f64 * (1.0 + self.far_is_faster)) as u64),
                ),
                Stage::NearL => (
                    self.near.waiting(Port::Remote, 0) > Bytes::new(0)
                        && self.near.may_begin(Port::Local, 0, self.now),
                    self.rate,
                ),
                Stage::Sink => (
                    self.at_sink > 0 && self.share > 0.0,
                    Rate::from_bps((self.rate.as_bps() as f64 * self.share.max(1e-3)) as u64),
                ),
            };
            if !may || self.busy[stage as usize] {
                continue;
            }
            self.busy[stage as usize] = true;
            let left = self.now + rate.transmission(FRAME);
            self.events.push(Reverse((left, Event::Left(stage))));
            let delay = if stage == Stage::FarR { self.fibre } else { self.local };
            if stage != Stage::Sink {
                self.events.push(Reverse((left + delay, Event::Came(stage))));
            }
        }
    }

    fn set_timer(&mut self) {
        let due = self.near.poll_timeout().min(self.far.poll_timeout());
        self.wake_at(due);
        self.wake_at(self.source_paused_until);
    }

    fn wake_at(&mut self, due: Time) {
        if due > self.now && due < self.timer_at {
            self.timer_at = due;
            self.events.push(Reverse((due, Event::Timer)));
        }
    }
}

fn params() -> RelayParams {
    RelayParams {
        rate: Rate::from_gbps(100),
        remote_buffer: Bytes::new(20_000_000),
        round_trip: Span::from_us(81),
        ..RelayParams::default()
    }
}

const BDP: u64 = 1_000_000;

/// Returns one BDP and its frames: what a threshold of zero needs as headroom, where PFC frames wait for `wait`.
fn one_bdp(wait: Span) -> u64 {
    let link = LosslessLink::new(Rate::from_gbps(100), Span::from_us(40), FRAME);
    LosslessLink { own_frame: Bytes::new(0), response: wait, ..link }.headroom().bytes().get()
}

fn share_taken(outcome: &Outcome, over: Span) -> f64 {
    let bits = (outcome.taken * FRAME.get() * 8) as f64;
    bits / over.as_secs_f64() / 100e9
}

#[test]
fn the_swinging_switch_lets_the_long_link_carry_what_drains() {
    for share in [0.2, 0.5, 0.8, 0.95] {
        let end = Span::from_ms(20);
        let outcome = World::new(&params(), &[(0, share)]).run(end);
        let taken = share_taken(&outcome, end);
        assert!((taken - share).abs() < 0.01 * share, "{taken} of {share}");
        assert_eq!(outcome.dropped, 0);
        // The standing queue of (1 - α) BDP. The switch's own 60 kB are still unpaid for at first.
        let standing = (1.0 - share) * BDP as f64;
        assert!(
            (outcome.near_end as f64 - standing).abs() < 0.01 * BDP as f64,
            "{} {standing}",
            outcome.near_end
        );
        // The far relay's switch is pushed back: XOFF, and what comes over 100 ns.
        assert!((198_000..204_001).contains(&outcome.far_peak), "{}", outcome.far_peak);
    }
}

#[test]
fn a_drain_that_stops_fills_one_bdp_to_the_frame() {
    // The switch's PAUSE, which it does not repeat here, holds for 335 us.
    let outcome = World::new(&params(), &[(0, 1.0), (500, 0.0)]).run(Span::from_us(800));
    assert_eq!(outcome.near_peak, one_bdp(Span::ZERO));
    assert_eq!(outcome.near_peak, outcome.near_end);
}

#[test]
fn a_faster_far_side_overflows_without_the_safety_threshold_and_not_with_it() {
    // A hundredth faster, which is exaggerated, while almost all drains; then nothing does, which costs what is under way.
    let (stops, end) = (Span::from_ms(40), Span::from_us(40_300));
    let buffer = Bytes::new(1_100_000);
    let safety = Some(Bytes::new(1_060_000));
    let plain = RelayParams { remote_buffer: buffer, ..params() };
    let safe = RelayParams { safety, ..plain.clone() };
    let run = |params: &RelayParams, far_is_faster| {
        let world = World::new(params, &[(0, 0.99), (40_000, 0.0)]);
        World { far_is_faster, ..world }.run(end)
    };
    let unguarded = run(&plain, 0.01);
    assert!(unguarded.dropped > 100, "{unguarded:?}");
    let guarded = run(&safe, 0.01);
    assert_eq!(guarded.dropped, 0);
    assert!(guarded.near_peak > 1_030_000, "{guarded:?}");
    assert!((share_taken(&guarded, stops) - 0.99).abs() < 0.01, "{guarded:?}");
    // With equal clocks it never says a word.
    let (with, without) = (run(&safe, 0.0), run(&plain, 0.0));
    assert_eq!((with.taken, with.pfc_frames), (without.taken, without.pfc_frames));
}

#[test]
fn the_virtual_queue_takes_the_standing_queue_down_at_full_throughput() {
    let virtual_queue = Some(VirtualQueue { target: Bytes::new(25_000), above: Bytes::new(12_500) });
    let end = Span::from_ms(20);
    let short = RelayParams { virtual_queue, ..params() };
    let (long, short) = (World::new(&params(), &[(0, 0.5)]), World::new(&short, &[(0, 0.5)]));
    let (long, short) = (long.run(end), short.run(end));
    assert!(long.near_end > 480_000, "{long:?}");
    assert!(short.near_end < 60_000, "{short:?}");
    assert!((share_taken(&short, end) - 0.5).abs() < 0.005, "{}", share_taken(&short, end));
    assert_eq!(short.dropped, 0);
}

#[test]
fn pfc_frames_that_wait_unequally_cost_more_than_one_bdp() {
    // Every PAUSE behind a frame that has just begun, no RESUME.
    let waits = vec![Span::from_ns(120), Span::ZERO];
    let world = World::new(&params(), &[(0, 0.9), (8_000, 0.0)]);
    let even = World::new(&params(), &[(0, 0.9), (8_000, 0.0)]).run(Span::from_ms(9));
    let uneven = World { waits, ..world }.run(Span::from_ms(9));
    assert!(even.near_peak <= one_bdp(Span::ZERO), "{even:?}");
    assert!(uneven.near_peak > one_bdp(Span::ZERO) + 100_000, "{uneven:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn one_bdp_is_enough_whatever_the_drain_does(
        pattern in prop::collection::vec((1_u64..120, prop::sample::select(vec![0.0, 0.0, 0.3, 1.0, 1.0])), 1..40),
        xoff_frames in 2_u64..40,
        wait in 0_u64..120,
    ) {
        let mut at = 0;
        let shares: Vec<(u64, f64)> = pattern.iter().map(|&(us, share)| { at += us; (at, share) }).collect();
        let mut world = World::new(&params(), &shares);
        (world.xoff, world.xon) = (xoff_frames * FRAME.get(), (xoff_frames - 2) * FRAME.get());
        // All wait alike, as behind frames of one size that follow each other.
        let wait = Span::from_ns(wait);
        world.waits = vec![wait];
        let end = Span::from_us(at + 300);
        let outcome = world.run(end);
        prop_assert_eq!(outcome.dropped, 0);
        prop_assert!(outcome.near_peak <= one_bdp(wait), "{:?}", outcome);
    }
}
