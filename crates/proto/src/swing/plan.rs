//! What to set at the ends of a long link, and how much buffer that takes: the two laws of [`super::model`] with the frame
//! terms of [`crate::pfc::headroom`], for PFC and for the relay.
//!
//! All is of one priority, unless it says that it is of the link. A priority's buffer is its own: priorities congest at
//! different times, and each may then receive a whole headroom.

use super::holding::Holding;
use super::model::LongLink;
use super::relay::RelayParams;
use crate::pfc::headroom::{Headroom, LosslessLink};
use crate::pfc::quanta::{lasting, refresh_interval, LONGEST};
use crate::units::{Bytes, Rate, Span};

/// A relay's port R has this part of a BDP more than it must: its counts and the far relay's may differ for a while. (41 MB
/// for 40 in section 6.1.)
const RELAY_MARGIN: u64 = 40;

/// The longest delay that is tried: ten times around the earth.
const LONGEST_DELAY: Span = Span::from_secs(2);

/// A long link to plan for.
#[derive(Clone, Debug, PartialEq)]
pub struct DciLink {
    /// The rate of the long link, and of the link between relay and switch.
    pub rate: Rate,
    /// Propagation one way, transponders included.
    pub delay: Span,
    /// Propagation one way between relay and switch.
    pub local_delay: Span,
    /// The lowest share of the rate that surely drains; below it frames may be dropped.
    pub least_drain: f64,
    /// The highest share up to which no throughput may be lost.
    pub most_drain: f64,
    /// Longest frame of a lossless priority, on the wire.
    pub frame: Bytes,
    /// Longest frame of any priority that PAUSE may have to wait for, on the wire.
    pub own_frame: Bytes,
    /// How long a peer takes to obey a PAUSE.
    pub response: Span,
    /// Lossless priorities.
    pub priorities: u8,
    /// XOFF less XON.
    pub hysteresis: Bytes,
}

/// What a lossless priority is set to at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// The bytes above which the peer is told to pause.
    pub xoff: Bytes,
    /// The bytes at which the peer is told to resume.
    pub xon: Bytes,
    /// Room above XOFF.
    pub headroom: Bytes,
}

/// How to keep a long link lossless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// PFC with the lowest threshold: nothing is dropped.
    PfcWithoutDrop,
    /// PFC with a threshold that loses no throughput either.
    PfcWithoutLoss,
    /// The relay, whose buffer this is then; the switch keeps that of a short link.
    Relay,
}

impl Scheme {
    /// From the least to the most throughput for its buffer.
    pub const ALL: [Scheme; 3] = [Scheme::PfcWithoutDrop, Scheme::PfcWithoutLoss, Scheme::Relay];
}

/// PAUSE on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseTimes {
    /// What a PAUSE asks for: the most there is.
    pub quanta: u16,
    /// How long that lasts.
    pub lasts: Span,
    /// When it must be repeated at the latest; none: it cannot be in time.
    pub repeat_within: Option<Span>,
}

/// The buffer of a relay's port R for one priority, whatever drains.
pub fn relay_buffer(fibre: &LosslessLink) -> Bytes {
    let whole = LosslessLink { drain: None, ..fibre.clone() }.headroom().any_sizes();
    let bdp = LongLink { rate: fibre.rate, delay: fibre.delay }.bdp();
    Bytes::new(whole.get() + bdp.get() / RELAY_MARGIN)
}

/// The buffer of a relay inside a switch for one priority, whatever drains: what it lets the far end send
/// ([`super::holding`]).
pub fn inside_buffer(fibre: &LosslessLink) -> Bytes {
    let Holding { window, overrun, .. } = Holding::of(fibre);
    RelayParams { rate: fibre.rate, round_trip: window, overrun, ..RelayParams::default() }.least_safety()
}

impl Thresholds {
    /// Threshold and headroom together.
    pub fn buffer(&self) -> Bytes {
        Bytes::new(self.xoff.get() + self.headroom.get())
    }
}

impl DciLink {
    /// Returns what the headroom of the long link is made of.
    pub fn headroom(&self) -> Headroom {
        self.lossless(self.delay).headroom()
    }

    /// 2·D·R.
    pub fn bdp(&self) -> Bytes {
        self.fluid().bdp()
    }

    /// PFC's thresholds at the switch. `None` for the relay: its port R has no threshold.
    pub fn thresholds(&self, scheme: Scheme) -> Option<Thresholds> {
        match scheme {
            // A frame waits when the peer resumes.
            Scheme::PfcWithoutDrop => Some(self.above(self.frame, self.delay)),
            Scheme::PfcWithoutLoss => Some(self.without_loss(self.delay, self.most_drain)),
            Scheme::Relay => None,
        }
    }

    /// The thresholds of the switch's port to the relay, and of the relay's port L: those of a short link.
    pub fn local_thresholds(&self) -> Thresholds {
        // Whatever drains: the relay must not run dry, and the far end may stop it altogether.
        DciLink { least_drain: 0.0, ..self.clone() }.without_loss(self.local_delay, 1.0)
    }

    /// The buffer of one priority: at the switch with PFC, at the relay's port R with the relay.
    pub fn buffer(&self, scheme: Scheme) -> Bytes {
        if let Some(thresholds) = self.thresholds(scheme) {
            return thresholds.buffer();
        }
        relay_buffer(&self.lossless(self.delay))
    }

    /// The buffer of one priority in a switch that has the relay inside.
    pub fn inside_buffer(&self) -> Bytes {
        inside_buffer(&self.lossless(self.delay))
    }

    /// The buffer of the link, all priorities together.
    pub fn link_buffer(&self, scheme: Scheme) -> Bytes {
        Bytes::new(self.buffer(scheme).get() * u64::from(self.priorities))
    }

    /// The buffer that the link takes in the switch: with the relay, that of a short link.
    pub fn switch_buffer(&self, scheme: Scheme) -> Bytes {
        match scheme {
            Scheme::Relay => Bytes::new(self.local_thresholds().buffer().get() * u64::from(self.priorities)),
            _ => self.link_buffer(scheme),
        }
    }

    /// The share of the rate that the link carries while the share `drain` drains, from nothing to all.
    pub fn carries(&self, scheme: Scheme, drain: f64) -> f64 {
        let Some(thresholds) = self.thresholds(scheme) else { return drain };
        if drain <= 0.0 || drain >= 1.0 || self.delay == Span::ZERO {
            return drain;
        }
        let cycle = self.fluid().cycle(thresholds.xon, drain);
        cycle.active.as_secs_f64() / cycle.period.as_secs_f64()
    }

    /// The longest delay one way at which `buffer` is enough for the link, all priorities together; `None`: for no delay.
    pub fn longest_delay(&self, scheme: Scheme, buffer: Bytes) -> Option<Span> {
        let fits = |delay: Span| DciLink { delay, ..self.clone() }.link_buffer(scheme) <= buffer;
        if !fits(Span::ZERO) {
            return None;
        }
        // The first fits, the second does not.
        let (mut low, mut high) = (Span::ZERO, LONGEST_DELAY);
        while high.as_ps() - low.as_ps() > 1 {
            let middle = Span::from_ps(u64::midpoint(low.as_ps(), high.as_ps()));
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(low)
    }

    /// Returns how many such links a switch with `buffer` for them may have.
    pub fn links(&self, scheme: Scheme, buffer: Bytes) -> u64 {
        buffer.get() / self.switch_buffer(scheme).get()
    }

    /// The PAUSE to send over the long link.
    pub fn pause(&self) -> PauseTimes {
        PauseTimes {
            quanta: LONGEST,
            lasts: lasting(LONGEST, self.rate),
            repeat_within: refresh_interval(LONGEST, self.rate, self.lossless(self.delay).longest_wait()),
        }
    }

    fn fluid(&self) -> LongLink {
        LongLink { rate: self.rate, delay: self.delay }
    }

    fn lossless(&self, delay: Span) -> LosslessLink {
        LosslessLink {
            rate: self.rate,
            delay,
            frame: self.frame,
            own_frame: self.own_frame,
            response: self.response,
            priorities: self.priorities,
            hysteresis: self.hysteresis,
            drain: (self.least_drain > 0.0).then(|| self.rate_of(self.least_drain)),
        }
    }

    fn without_loss(&self, delay: Span, most_drain: f64) -> Thresholds {
        self.above(self.lossless(delay).least_xon(most_drain), delay)
    }

    fn above(&self, xon: Bytes, delay: Span) -> Thresholds {
        Thresholds {
            xoff: Bytes::new(xon.get() + self.hysteresis.get()),
            xon,
            headroom: self.lossless(delay).headroom().any_sizes(),
        }
    }

    fn rate_of(&self, share: f64) -> Rate {
        Rate::from_bps(((self.rate.as_bps() as f64 * share) as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(gbps: u64, km: u64) -> DciLink {
        DciLink {
            rate: Rate::from_gbps(gbps),
            delay: Span::from_us(5) * km,
            local_delay: Span::from_us(1),
            least_drain: 0.0,
            most_drain: 1.0,
            frame: Bytes::new(1_500),
            own_frame: Bytes::new(1_500),
            response: Span::ZERO,
            priorities: 1,
            hysteresis: Bytes::new(3_000),
        }
    }

    #[test]
    fn the_papers_links() {
        // Section 5.1: 10 MB a port for 80 km at 100 Gb/s, three such links on a switch of 32 MB; one without loss.
        let plan = link(100, 80);
        let of = |scheme| plan.link_buffer(scheme).get();
        assert_eq!(of(Scheme::PfcWithoutDrop), 10_000_000 + 3 * 1_500 + 84 + 1_500 + 3_000);
        assert_eq!(plan.links(Scheme::PfcWithoutDrop, Bytes::new(32_000_000)), 3);
        assert_eq!(plan.links(Scheme::PfcWithoutLoss, Bytes::new(32_000_000)), 1);
        // Two BDP: there and back of both headroom and threshold, each with its frames.
        assert!((20_000_000..20_020_000).contains(&of(Scheme::PfcWithoutLoss)));
        // Section 6.1: 41 MB at the relay, and 318 kB at the switch are plenty.
        assert!((41_000_000..41_010_000).contains(&link(400, 80).link_buffer(Scheme::Relay).get()));
        assert!(link(400, 80).switch_buffer(Scheme::Relay) < Bytes::new(318_000));
    }

    #[test]
    fn with_the_relay_the_same_buffer_reaches_twice_as_far() {
        let buffer = Bytes::new(32_000_000);
        let reach = |scheme| link(100, 80).longest_delay(scheme, buffer).expect("32 MB are much").as_us_f64();
        let ratio = reach(Scheme::Relay) / reach(Scheme::PfcWithoutLoss);
        // Less the relay's margin.
        assert!((1.94..=2.0).contains(&ratio), "{ratio}");
        assert!((reach(Scheme::PfcWithoutDrop) - 1280.0).abs() < 1.0);
    }

    #[test]
    fn the_longest_delay_is_the_last_that_fits() {
        for scheme in Scheme::ALL {
            let (plan, buffer) = (link(400, 1), Bytes::new(12_345_678));
            let longest = plan.longest_delay(scheme, buffer).expect("it fits");
            let needs = |delay| DciLink { delay, ..plan.clone() }.link_buffer(scheme);
            assert!(needs(longest) <= buffer);
            assert!(needs(longest + Span::from_ps(1)) > buffer);
            assert_eq!(plan.longest_delay(scheme, Bytes::new(1_000)), None);
        }
    }

    #[test]
    fn what_is_known_of_the_drain_saves_buffer() {
        let known = DciLink { least_drain: 0.5, most_drain: 0.5, ..link(100, 80) };
        let known = known.link_buffer(Scheme::PfcWithoutLoss).get();
        assert!((10_000_000..10_020_000).contains(&known), "{known}");
    }

    #[test]
    fn each_priority_has_a_buffer_of_its_own() {
        let three = DciLink { priorities: 3, ..link(100, 80) };
        for scheme in Scheme::ALL {
            // And the PFC frames of the two others before PAUSE.
            let one = link(100, 80).link_buffer(scheme).get();
            assert!(three.link_buffer(scheme).get() >= 3 * (one + 2 * 84));
            assert_eq!(three.link_buffer(scheme).get() % 3, 0);
        }
    }

    #[test]
    fn what_a_scheme_carries() {
        let plan = link(400, 80);
        for drain in [0.2, 0.5, 0.8, 0.95] {
            let carried = plan.carries(Scheme::PfcWithoutDrop, drain);
            assert!((carried - drain / (1.0 + drain)).abs() < 0.001, "{carried}");
            assert!((plan.carries(Scheme::PfcWithoutLoss, drain) - drain).abs() < 1e-9);
            assert_eq!(plan.carries(Scheme::Relay, drain), drain);
        }
    }

    #[test]
    fn a_relay_inside_the_switch_needs_a_bdp_and_what_counting_takes() {
        // Two frames of overrun, four of hysteresis, an own frame, a PAUSE and a frame in the window, which is rounded up to
        // 257 of its 256 parts.
        let plan = link(400, 80);
        let window = 40_000_000 + 2 * 1_500 + 84;
        let parts = window as f64 * 257.0 / 256.0;
        let needed = plan.inside_buffer().get();
        assert!((needed as f64 - (parts + 9_000.0)).abs() < 20.0, "{needed}");
        // Of other priorities three signals each may go before a PAUSE.
        let others = DciLink { priorities: 3, ..plan }.inside_buffer().get() - needed;
        assert!((4 * 6 * 84..4 * 6 * 84 + 20).contains(&others), "{others}");
        // Over a short fibre it is the frames that count.
        assert!((10_000 + 6_000..10_000 + 15_000).contains(&link(10, 1).inside_buffer().get()));
    }

    #[test]
    fn a_pause_over_80_km_is_repeated() {
        let pause = link(400, 80).pause();
        assert_eq!(pause.lasts, Span::from_ps(83_884_800));
        assert_eq!(pause.repeat_within, Some(Span::from_ps(83_884_800 - 30_000)));
    }
}
