//! Headroom to the frame: a port, its peer and the link between them, event by event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::pfc::quanta::PFC_FRAME;
use clearway_proto::units::{Bytes, Rate, Span};
use proptest::prelude::*;

/// What happens at one instant happens IN THIS ORDER.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    EgressOpens,
    Departure(u64),
    Arrival(u64),
    PfcWorks { pause: bool },
    PeerIsFree,
}

/// A peer that always has something to send, and a port that pauses it.
struct Port {
    link: LosslessLink,
    xoff: u64,
    /// Sizes of the peer's frames, over and over.
    sizes: Vec<u64>,
    /// How long each PFC frame that finds the wire free waits for the frame in transmission.
    own_frame_left: Span,
    now: u64,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    sent: usize,
    peer_paused: bool,
    peer_busy: bool,
    count: u64,
    peak: u64,
    told_to_pause: bool,
    wire_back_free_at: u64,
    waiting: VecDeque<u64>,
    egress_busy: bool,
    egress_open: bool,
    /// Whether the egress has stood idle between two frames.
    starved: bool,
    idle_since: Option<u64>,
}

impl Port {
    fn new(link: &LosslessLink, xoff: u64) -> Port {
        Port {
            sizes: vec![link.frame.get()],
            own_frame_left: link.rate.transmission(link.own_frame),
            link: link.clone(),
            xoff,
            now: 0,
            events: BinaryHeap::from([Reverse((0, Event::PeerIsFree))]),
            sent: 0,
            peer_paused: false,
            peer_busy: true,
            count: 0,
            peak: 0,
            told_to_pause: false,
            wire_back_free_at: 0,
            waiting: VecDeque::new(),
            egress_busy: false,
            egress_open: false,
            starved: false,
            idle_since: None,
        }
    }

    fn at(&mut self, later: Span, event: Event) {
        self.events.push(Reverse((self.now + later.as_ps(), event)));
    }

    /// The highest count of bytes while the peer sends `frames`; the egress opens `egress_closed` after the first can come.
    fn peak(self, frames: usize, egress_closed: Span) -> u64 {
        self.run(frames, egress_closed).peak
    }

    fn run(mut self, frames: usize, egress_closed: Span) -> Port {
        self.at(self.link.delay + egress_closed, Event::EgressOpens);
        while let Some(Reverse((at, event))) = self.events.pop() {
            self.now = at;
            match event {
                Event::EgressOpens => self.egress_open = true,
                Event::Departure(size) => self.depart(size),
                Event::Arrival(size) => self.arrive(size),
                Event::PfcWorks { pause } => self.peer_paused = pause,
                Event::PeerIsFree => self.peer_busy = false,
            }
            if self.egress_open && !self.egress_busy {
                self.begin_departure();
            }
            let more_now = self.events.peek().is_some_and(|Reverse((next, _))| *next == at);
            if !more_now && !self.peer_busy && !self.peer_paused && self.sent < frames {
                self.begin_frame();
            }
        }
        self
    }

    fn begin_frame(&mut self) {
        let size = self.sizes[self.sent % self.sizes.len()];
        let transmission = self.link.rate.transmission(Bytes::new(size));
        self.sent += 1;
        self.peer_busy = true;
        self.at(transmission, Event::PeerIsFree);
        self.at(transmission + self.link.delay, Event::Arrival(size));
    }

    fn arrive(&mut self, size: u64) {
        self.starved |= self.idle_since.take().is_some_and(|since| since < self.now);
        self.count += size;
        self.peak = self.peak.max(self.count);
        self.waiting.push_back(size);
        if self.count > self.xoff && !self.told_to_pause {
            self.tell(true);
        }
    }

    fn begin_departure(&mut self) {
        let Some(drain) = self.link.drain else { return };
        let Some(size) = self.waiting.pop_front() else { return };
        self.egress_busy = true;
        self.at(drain.transmission(Bytes::new(size)), Event::Departure(size));
    }

    fn depart(&mut self, size: u64) {
        self.egress_busy = false;
        self.idle_since = self.waiting.is_empty().then_some(self.now);
        self.count -= size;
        if self.told_to_pause && self.count + self.link.hysteresis.get() <= self.xoff {
            self.tell(false);
        }
    }

    fn tell(&mut self, pause: bool) {
        self.told_to_pause = pause;
        if self.wire_back_free_at <= self.now {
            self.wire_back_free_at = self.now + self.own_frame_left.as_ps();
        }
        self.wire_back_free_at += self.link.rate.transmission(PFC_FRAME).as_ps();
        let sent = Span::from_ps(self.wire_back_free_at - self.now);
        self.at(sent + self.link.delay + self.link.response, Event::PfcWorks { pause });
    }
}

fn link(gbps: u64, delay: Span, frame: u64) -> LosslessLink {
    LosslessLink::new(Rate::from_gbps(gbps), delay, Bytes::new(frame))
}

/// Returns what the peak is above XOFF, when nothing leaves.
fn excess(link: &LosslessLink, xoff: u64) -> u64 {
    Port::new(link, xoff).peak(9_000, Span::ZERO) - xoff
}

#[test]
fn the_worst_alignment_reaches_the_headroom_to_the_byte() {
    let delays = [Span::ZERO, Span::from_ns(10), Span::from_us(1), Span::from_ns(3_333), Span::from_us(20)];
    for gbps in [25, 100, 400] {
        for frame in [256, 1500, 4096, 9000] {
            for delay in delays {
                for response in [Span::ZERO, Span::from_ns(600)] {
                    for own_frame in [0, 1500, 9000] {
                        let own_frame = Bytes::new(own_frame);
                        let link = LosslessLink { response, own_frame, ..link(gbps, delay, frame) };
                        assert_eq!(excess(&link, 7 * frame), link.headroom().bytes().get(), "{link:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn each_term_is_needed() {
    // Delays at which taking a term away takes a frame away.
    let whole = LosslessLink { response: Span::from_ns(120), ..link(100, Span::from_ns(1_000), 1500) };
    let frames = |link: &LosslessLink| excess(link, 15_000) / 1500;
    // 2 us, 120 ns, 6.72 ns and 120 ns are 18.7 frames of 120 ns.
    assert_eq!(frames(&whole), 1 + 19);
    assert_eq!(frames(&LosslessLink { response: Span::ZERO, ..whole.clone() }), 1 + 18);
    assert_eq!(frames(&LosslessLink { own_frame: Bytes::new(0), ..whole.clone() }), 1 + 18);
    assert_eq!(frames(&LosslessLink { delay: Span::from_ns(900), ..whole.clone() }), 1 + 18);
    // 2.159_88 us, the own frame and the response are 20 frames less 120 ps, without PAUSE's 6.72 ns; with it they are more than
    // 20.
    let short_of = LosslessLink { delay: Span::from_ps(1_079_940), ..whole };
    assert_eq!(frames(&short_of), 1 + 21);
}

#[test]
fn an_xoff_that_is_no_multiple_of_the_frame_leaves_room() {
    let link = link(100, Span::from_us(1), 1500);
    assert_eq!(excess(&link, 15_000), link.headroom().bytes().get());
    assert_eq!(excess(&link, 15_500), link.headroom().bytes().get() - 500);
}

#[test]
fn a_drain_is_worth_what_leaves_in_the_worst_phase() {
    for (gbps, delay, frame) in [(100, 1_000, 1500), (400, 2_000, 4096), (100, 7_000, 9000), (25, 500, 1000)]
    {
        for percent in [10, 25, 50, 80, 95] {
            let rate = Rate::from_gbps(gbps);
            let drain = Rate::from_bps(rate.as_bps() / 100 * percent);
            let link = LosslessLink { drain: Some(drain), ..link(gbps, Span::from_ns(delay), frame) };
            let period = drain.transmission(Bytes::new(frame));
            let alignments = (12..18).flat_map(|xoff| (0..40).map(move |phase| (xoff * frame, phase)));
            let worst = alignments
                .map(|(xoff, phase)| {
                    let egress_closed = Span::from_ps(period.as_ps() * phase / 40);
                    Port::new(&link, xoff).peak(1_000, egress_closed) - xoff
                })
                .max();
            assert_eq!(worst, Some(link.headroom().bytes().get()), "{link:?}");
        }
    }
}

#[test]
fn the_phase_of_the_drain_is_exact_and_without_hysteresis_at_most_a_frame_more_is_reserved() {
    // A delay at which the window is a hair below 20 frames, and a drain whose seventh frame leaves 2.5 ns after them if the
    // one before left as late as it can.
    let (rate, frame) = (Rate::from_gbps(100), Bytes::new(1500));
    let delay = Span::from_ps((20 * 120_000 - 120_000 - 6_720) / 2 - 10);
    let drain = Some(Rate::from_bps(33_300_000_000));
    let with = LosslessLink { drain, ..LosslessLink::new(rate, delay, frame) };
    let without = LosslessLink { hysteresis: Bytes::new(0), ..with.clone() };
    let worst = |link: &LosslessLink| {
        let peak = |phase: u64| Port::new(link, 15_000).peak(100, Span::from_ps(phase * 500)) - 15_000;
        (0..1_000).map(peak).max().expect("a thousand")
    };
    assert_eq!(worst(&with), with.headroom().bytes().get());
    assert_eq!(without.headroom().pfc_ahead, rate.transmission(PFC_FRAME));
    let reserved = without.headroom().bytes().get();
    assert!((reserved - 1_500..=reserved).contains(&worst(&without)));
}

#[test]
fn the_least_xon_never_starves_the_egress_and_a_frame_less_does() {
    for (gbps, delay, frame) in [(100, 7_000, 1500), (400, 2_000, 4096), (100, 1_000, 9000)] {
        for percent in [20, 50, 80, 95] {
            let rate = Rate::from_gbps(gbps);
            let drain = Rate::from_bps(rate.as_bps() / 100 * percent);
            let link = LosslessLink { drain: Some(drain), ..link(gbps, Span::from_ns(delay), frame) };
            let starved = |xon: u64| {
                let period = drain.transmission(link.frame).as_ps();
                (0..20).any(|phase| {
                    let port = Port::new(&link, xon + link.hysteresis.get());
                    port.run(6_000, Span::from_ps(period * phase / 20)).starved
                })
            };
            // In whole frames, as a RESUME falls at a whole number of them.
            let least = link.least_xon(percent as f64 / 100.0).get();
            let needed = (least - frame).div_ceil(frame) * frame;
            assert!(!starved(needed) && !starved(least), "{link:?}");
            assert!(starved(needed - frame), "{link:?}");
        }
    }
}

#[test]
fn other_priorities_each_put_a_pfc_frame_before_pause() {
    let one = link(100, Span::from_us(1), 1500);
    let three = LosslessLink { priorities: 3, ..one.clone() };
    assert_eq!(three.headroom().window(), one.headroom().window() + Span::from_ps(2 * 6_720));
    assert_eq!(three.longest_wait(), one.longest_wait() + Span::from_ps(2 * 6_720));
}

#[test]
fn the_papers_headroom_is_enough_for_its_frames_and_not_for_jumbo_frames() {
    // Section 6.1: 30 KB at 100 Gb/s and 120 KB at 400 Gb/s, links of 1 us.
    let needed = |gbps, frame| link(gbps, Span::from_us(1), frame).headroom().bytes().get();
    assert_eq!(needed(100, 1500), 28_500);
    assert_eq!(needed(400, 1500), 103_500);
    assert_eq!(needed(100, 9000), 45_000);
    assert_eq!(needed(400, 9000), 126_000);
}

#[test]
fn the_papers_long_link_needs_one_bdp_and_a_few_frames() {
    let headroom = link(400, Span::from_us(400), 1500).headroom();
    // 26 666.7 frames there and back, 1.06 of the own frame and PAUSE, and the one that crossed.
    assert_eq!(headroom.bytes().get(), 26_669 * 1_500);
    assert_eq!(headroom.any_sizes().get(), 40_000_000 + 1_500 + 84 + 1_500 + 1_500);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_alignment_and_no_sizes_need_more(
        gbps in prop::sample::select(vec![25_u64, 100, 400]),
        delay_ns in 0_u64..5_000,
        response_ns in 0_u64..1_000,
        frame in 500_u64..9_000,
        own_left in 0.0..=1.0,
        sizes in prop::collection::vec(168_u64..9_000, 1..40),
        one_size in any::<bool>(),
        percent in 0_u64..100,
        no_hysteresis in any::<bool>(),
        xoff in 30_000_u64..60_000,
        egress_stands_for in 0_u64..20_000,
    ) {
        let rate = Rate::from_gbps(gbps);
        let sizes: Vec<u64> = if one_size { vec![frame] } else { sizes.iter().map(|s| 168 + s % (frame - 167)).collect() };
        let link = LosslessLink {
            response: Span::from_ns(response_ns),
            hysteresis: Bytes::new(if no_hysteresis { 0 } else { frame }),
            drain: (percent > 0).then(|| Rate::from_bps(rate.as_bps() / 100 * percent)),
            ..LosslessLink::new(rate, Span::from_ns(delay_ns), Bytes::new(frame))
        };
        let mut port = Port::new(&link, xoff);
        port.own_frame_left = rate.transmission(link.own_frame).scaled(own_left);
        port.sizes = sizes;
        let peak = port.peak(1_000, rate.transmission(Bytes::new(egress_stands_for)));
        let headroom = link.headroom();
        prop_assert!(peak <= xoff + headroom.any_sizes().get());
        if one_size {
            prop_assert!(peak <= xoff + headroom.bytes().get(), "{peak} above {xoff} and {headroom:?}");
        }
    }
}
