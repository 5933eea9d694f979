//! Round trips and windows over all acknowledgements of an endpoint, and whether the path can meet the target at all.

use clearway_proto::histogram::Histogram;
use clearway_proto::swift::{SwiftParams, Variant};
use clearway_proto::units::Span;

use super::sending::Delays;

/// Round trips with hardly anything of ours on the way, after which they are taken for what the path itself takes.
const SAMPLES_TO_TELL: u64 = 64;

/// Round trips and windows over all acknowledgements.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The round-trip time.
    pub rtt: Histogram,
    /// The part of the round trip outside the two hosts.
    pub fabric: Histogram,
    /// The part of the round trip in the two hosts.
    pub endpoint: Histogram,
    /// Windows, kept as spans of as many microseconds.
    pub cwnd: Histogram,
    /// Fabric windows, kept alike.
    pub fcwnd: Histogram,
    /// Endpoint windows, kept alike.
    pub ecwnd: Histogram,
    /// After the latest acknowledgement.
    pub latest: Option<Delays>,
    /// What the path and the hosts take while at most one packet of ours is on the way: no queue there is ours.
    alone: Alone,
}

#[derive(Clone, Debug, Default)]
struct Alone {
    rtt: Histogram,
    fabric: Histogram,
    endpoint: Histogram,
}

/// A target that the path does not meet, however little is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The option that sets the target.
    pub option: &'static str,
    /// The value of that option.
    pub base: Span,
    /// The largest value that the target can have, with what the path and the smallest window add to it.
    pub target: Span,
    /// What half of the packets took with at most one of ours on the way.
    pub median: Span,
    /// The value of the option that nine of ten of them would have met.
    pub remedy: Span,
}

impl Measured {
    /// Takes the delays of an acknowledgement into account, of one of `under_way` flows.
    pub(crate) fn record(&mut self, delays: &Delays, under_way: usize) {
        let fabric = delays.rtt.saturating_sub(delays.endpoint);
        self.rtt.record(delays.rtt);
        self.endpoint.record(delays.endpoint);
        self.fabric.record(fabric);
        let packets = |window: f64| Span::from_us(1).scaled(window);
        self.cwnd.record(packets(delays.windows.cwnd));
        self.fcwnd.record(packets(delays.windows.fcwnd));
        // Without a window for the endpoint delay there is no number.
        if !delays.windows.ecwnd.is_nan() {
            self.ecwnd.record(packets(delays.windows.ecwnd));
        }
        self.latest = Some(*delays);
        if delays.windows.cwnd * under_way as f64 <= 1.0 {
            self.alone.rtt.record(delays.rtt);
            self.alone.fabric.record(fabric);
            self.alone.endpoint.record(delays.endpoint);
        }
    }

    /// A target that keeps windows at their floor whatever is sent, once there are enough round trips to tell. `hops` is the number
    /// of switches on the way.
    pub fn unmet_target(&self, swift: &SwiftParams, hops: u8) -> Option<Unmet> {
        let hops = if swift.topology_scaling { u64::from(hops) } else { 0 };
        let scaling = if swift.flow_scaling { swift.fs_range } else { Span::ZERO };
        let added = swift.hop_scaling * hops + scaling;
        let fabric = match swift.variant {
            Variant::Swift => &self.alone.fabric,
            Variant::V0 => &self.alone.rtt,
        };
        let unmet = |option, base: Span, added: Span, delays: &Histogram| {
            let at = |fraction| delays.quantile(fraction).map(Span::from_ps);
            let (median, target) = (at(0.5)?, base + added);
            let told = delays.count() >= SAMPLES_TO_TELL && median > target;
            let remedy = round_up(at(0.9)?.saturating_sub(added).max(base));
            told.then_some(Unmet { option, base, target, median, remedy })
        };
        unmet("base-target", swift.base_target, added, fabric).or_else(|| {
            let endpoint = &self.alone.endpoint;
            let watched = swift.watches_endpoint();
            unmet("endpoint-target", swift.endpoint_target, Span::ZERO, endpoint).filter(|_| watched)
        })
    }
}

/// Two digits, as a person would give it.
fn round_up(span: Span) -> Span {
    let us = span.as_ps().div_ceil(1_000_000);
    let step = 10_u64.pow(us.max(1).ilog10().saturating_sub(1));
    Span::from_us(us.div_ceil(step) * step)
}

#[cfg(test)]
mod tests {
    use clearway_proto::transport::Windows;

    use super::*;

    fn delays(fabric_us: u64, endpoint_us: u64, cwnd: f64) -> Delays {
        let rtt = Span::from_us(fabric_us + endpoint_us);
        Delays { rtt, endpoint: Span::from_us(endpoint_us), windows: Windows::new(cwnd, rtt) }
    }

    fn params() -> SwiftParams {
        SwiftParams {
            base_target: Span::from_us(100),
            endpoint_target: Span::from_us(500),
            flow_scaling: false,
            topology_scaling: false,
            ..SwiftParams::default()
        }
    }

    /// The snapshot after 100 acknowledgements of these delays.
    fn told(swift: &SwiftParams, hops: u8, cwnd: f64, delay: impl Fn(u64) -> (u64, u64)) -> Option<Unmet> {
        let mut measured = Measured::default();
        for number in 0..100 {
            let (fabric, endpoint) = delay(number);
            measured.record(&delays(fabric, endpoint, cwnd), 1);
        }
        measured.unmet_target(swift, hops)
    }

    #[test]
    fn a_path_that_jitters_above_the_target_is_told_with_a_target_that_would_do() {
        // From 20 us, which no minimum would call too late, to 2 ms.
        let unmet = told(&params(), 0, 0.5, |number| (20 + number * 20, 10)).unwrap();
        assert_eq!((unmet.option, unmet.target), ("base-target", Span::from_us(100)));
        assert!(unmet.median > Span::from_us(1000) && unmet.median < Span::from_us(1030));
        assert_eq!(unmet.remedy, Span::from_us(1900));
    }

    #[test]
    fn late_packets_are_no_wonder_where_more_of_ours_are_on_the_way() {
        assert_eq!(told(&params(), 0, 3.0, |_| (900, 10)), None);
        let mut measured = Measured::default();
        (0..100).for_each(|_| measured.record(&delays(900, 10, 0.5), 4));
        assert_eq!(measured.unmet_target(&params(), 0), None);
    }

    #[test]
    fn a_target_that_half_of_the_packets_meet_is_met() {
        assert_eq!(told(&params(), 0, 0.5, |number| (if number < 51 { 90 } else { 5000 }, 10)), None);
    }

    #[test]
    fn what_the_path_adds_to_the_target_counts() {
        let scaled = SwiftParams { topology_scaling: true, hop_scaling: Span::from_us(50), ..params() };
        assert_eq!(told(&scaled, 4, 0.5, |_| (290, 10)), None);
        let unmet = told(&scaled, 1, 0.5, |_| (290, 10)).unwrap();
        assert!(unmet.remedy >= Span::from_us(240) && unmet.remedy <= Span::from_us(250));
    }

    #[test]
    fn only_a_target_that_a_window_has_can_be_missed() {
        let late = |_| (20, 900);
        assert_eq!(told(&params(), 0, 0.5, late).map(|unmet| unmet.option), Some("endpoint-target"));
        let v0 = SwiftParams { variant: Variant::V0, ..params() };
        assert_eq!(told(&v0, 0, 0.5, late).map(|unmet| unmet.option), Some("base-target"));
    }
}
