//! One flow's Swift between a library, which counts bytes, and Algorithm 1, whose windows are in packets.

use std::sync::Arc;
use std::time::Duration;

use clearway_proto::parameter::Parameters;
use clearway_proto::swift::control::{Swift, SwiftConfig};
use clearway_proto::swift::SwiftParams;
use clearway_proto::transport::{AckSample, CongestionControl, Path, Timeout};
use clearway_proto::units::{Bytes, Rate, Span, Time};

/// What the flows of one endpoint share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    swift: Arc<SwiftConfig>,
    /// Timeouts in a row after which the window falls to its floor.
    retx_reset_threshold: u32,
}

impl Shared {
    /// Panics if parameters contradict each other.
    pub(crate) fn new(params: &SwiftParams) -> Shared {
        let conflicts: Vec<String> =
            params.conflicts().iter().map(|conflict| conflict.message(str::to_string)).collect();
        assert!(conflicts.is_empty(), "Swift's parameters: {}", conflicts.join("; "));
        let retx_reset_threshold = params.retx_reset_threshold;
        // No library tells of the endpoint's delay or of hops: the round trip is held against the base target.
        let params = SwiftParams { endpoint_window: false, topology_scaling: false, ..params.clone() };
        // Nobody knows the path, so a window that is not given is the one of unknown paths.
        let path = Path::new(Bytes::new(1500), Rate::from_gbps(1));
        Shared { swift: Arc::new(SwiftConfig::new(params, &path)), retx_reset_threshold }
    }
}

/// The congestion control of one path of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    shared: Shared,
    swift: Swift,
    /// Payload of a full datagram, in bytes: what Swift calls a packet.
    packet: u64,
    /// Bytes that were acknowledged and do not make a whole packet yet.
    part: u64,
    /// When packets were last found to be lost; none before.
    lost: Option<Time>,
}

impl Flow {
    /// A flow that has sent nothing, in datagrams of `packet` bytes of payload.
    pub(crate) fn new(shared: &Shared, packet: u16) -> Flow {
        let swift = Swift::new(&shared.swift);
        Flow { shared: shared.clone(), swift, packet: u64::from(packet.max(1)), part: 0, lost: None }
    }

    /// An acknowledgement of `bytes` arrived, the newest of which had been sent `rtt` ago. Without `grows`, the flow had less to
    /// send than its window let it, and its delay is no reason for a larger one (RFC 9002 §7.8).
    pub(crate) fn on_ack(&mut self, now: Time, rtt: Duration, bytes: u64, grows: bool) {
        self.part += if grows { bytes } else { 0 };
        let newly_acked = (self.part / self.packet) as u32;
        self.part %= self.packet;
        let sample = AckSample {
            rtt: span(rtt).max(Span::from_ns(1)),
            endpoint_delay: Span::ZERO,
            hops: 0,
            newly_acked,
            congestion_experienced: false,
            cumulative: 0,
            next: 0,
        };
        self.swift.on_ack(&self.shared.swift, now, &sample);
    }

    /// Packets were found to be lost. What is found at one instant is one loss; what is found within a round trip, Swift knows to
    /// be one.
    pub(crate) fn on_loss(&mut self, now: Time) {
        if self.lost != Some(now) {
            self.lost = Some(now);
            self.swift.on_loss(&self.shared.swift, now, 0, 0);
        }
    }

    /// Everything was lost that was sent in some time. This is what takes the place of timeouts in a row (RFC 9002 §7.6.1).
    pub(crate) fn on_persistent_congestion(&mut self, now: Time) {
        let timeout = Timeout { in_a_row: self.shared.retx_reset_threshold, cumulative: 0, next: 0 };
        self.swift.on_timeout(&self.shared.swift, now, &timeout);
    }

    /// Full datagrams have `packet` bytes of payload from now on. The window keeps its packets.
    pub(crate) fn set_packet(&mut self, packet: u16) {
        self.packet = u64::from(packet.max(1));
    }

    /// Payload of a full datagram, in bytes.
    #[cfg(feature = "s2n")]
    pub(crate) fn packet(&self) -> u64 {
        self.packet
    }

    /// The window in bytes; below one packet, a part of it.
    pub(crate) fn window(&self) -> u64 {
        (self.swift.window(&self.shared.swift) * self.packet as f64) as u64
    }

    /// What may be under way, in bytes: one packet at least, which below one is spaced by [`Self::gap`].
    pub(crate) fn allowance(&self) -> u64 {
        self.window().max(self.packet)
    }

    /// Least time between the starts of two packets; none at a window of one packet and more.
    #[cfg(any(feature = "s2n", test))]
    pub(crate) fn gap(&self) -> Option<Duration> {
        self.swift.pacing_gap(&self.shared.swift).map(|gap| Duration::from_nanos(gap.as_ps().div_ceil(1000)))
    }
}

/// The flow's time of an instant that is `since` later than the first that it knew. [`Time::ZERO`] means never to Swift, so time
/// begins far from it.
pub(crate) fn time(since: Duration) -> Time {
    Time::ZERO + Span::from_secs(1000) + span(since)
}

fn span(duration: Duration) -> Span {
    Span::from_ns(duration.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::defaults;

    const PACKET: u16 = 1200;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A flow, and proto's Swift with the same parameters.
    fn pair(params: &SwiftParams) -> (Flow, Swift, SwiftConfig) {
        let config = SwiftConfig::new(params.clone(), &Path::new(Bytes::new(1500), Rate::from_gbps(1)));
        (Flow::new(&Shared::new(params), PACKET), Swift::new(&config), config)
    }

    fn sample(rtt: Duration, newly_acked: u32) -> AckSample {
        AckSample {
            rtt: span(rtt),
            endpoint_delay: Span::ZERO,
            hops: 0,
            newly_acked,
            congestion_experienced: false,
            cumulative: 0,
            next: 0,
        }
    }

    #[test]
    fn the_same_samples_give_the_same_window_in_bytes() {
        let (mut flow, mut swift, config) = pair(&defaults());
        for step in 0..2000_u64 {
            // From far below the target to far above, and with losses.
            let (now, rtt) = (time(ms(step)), Duration::from_micros(100 + step * 37 % 4000));
            let packets = step % 4;
            flow.on_ack(now, rtt, packets * u64::from(PACKET), true);
            swift.on_ack(&config, now, &sample(rtt, packets as u32));
            if step % 97 == 0 {
                flow.on_loss(now);
                swift.on_loss(&config, now, 0, 0);
            }
            let window = swift.window(&config);
            assert_eq!(flow.window(), (window * 1200.0) as u64, "after step {step}");
            assert_eq!(flow.gap().is_some(), window < 1.0, "after step {step}");
        }
    }

    #[test]
    fn bytes_that_are_no_whole_packet_count_with_the_next_ones() {
        let (mut flow, mut swift, config) = pair(&defaults());
        for step in 0..10 {
            flow.on_ack(time(ms(step)), ms(0), 600, true);
            let packets = u32::from(step % 2 == 1);
            swift.on_ack(&config, time(ms(step)), &sample(Duration::from_nanos(1), packets));
            assert_eq!(flow.window(), (swift.window(&config) * 1200.0) as u64);
        }
        assert!(flow.window() > 10 * 1200, "five whole packets were acknowledged below the target");
    }

    #[test]
    fn losses_cost_half_of_the_window_once_a_round_trip() {
        let mut flow = Flow::new(&Shared::new(&defaults()), PACKET);
        flow.on_ack(time(ms(0)), ms(10), 0, true);
        let window = flow.window();
        // The acknowledgement was over the target: the window was decreased then.
        flow.on_loss(time(ms(9)));
        assert_eq!(flow.window(), window);
        flow.on_loss(time(ms(10)));
        flow.on_loss(time(ms(10)));
        flow.on_loss(time(ms(19)));
        assert_eq!(flow.window(), window / 2);
        flow.on_loss(time(ms(20)));
        assert_eq!(flow.window(), window / 4);
    }

    #[test]
    fn packets_lost_before_the_first_sample_are_one_loss() {
        let mut flow = Flow::new(&Shared::new(&defaults()), PACKET);
        for _ in 0..10 {
            flow.on_loss(time(ms(5)));
        }
        assert_eq!(flow.window(), 5 * 1200);
    }

    #[test]
    fn persistent_congestion_takes_the_window_to_its_floor() {
        let params = SwiftParams { min_cwnd: 0.5, ..defaults() };
        let mut flow = Flow::new(&Shared::new(&params), PACKET);
        flow.on_persistent_congestion(time(ms(5)));
        assert_eq!(flow.window(), 600);
        assert_eq!(flow.allowance(), 1200);
    }

    #[test]
    fn a_flow_that_sends_less_than_it_may_does_not_grow_but_shrinks() {
        let mut flow = Flow::new(&Shared::new(&defaults()), PACKET);
        flow.on_ack(time(ms(0)), ms(0), 12_000, false);
        assert_eq!(flow.window(), 12_000);
        flow.on_ack(time(ms(50)), ms(50), 12_000, false);
        assert_eq!(flow.window(), 6000);
        flow.on_ack(time(ms(100)), ms(0), 12_000, true);
        assert!(flow.window() > 6000);
    }

    #[test]
    fn below_one_packet_the_gap_is_the_round_trip_over_the_window() {
        let params = SwiftParams {
            gap_limit: Span::from_secs(1000),
            gap_limit_max: Span::from_secs(1000),
            ..defaults()
        };
        let mut flow = Flow::new(&Shared::new(&SwiftParams { initial_cwnd: Some(0.5), ..params }), PACKET);
        flow.on_ack(time(ms(0)), ms(10), 0, true);
        // 1 - .8 * (10 - target) / 10 is less than half: the window is .25, and one round trip is all that there is to smooth.
        assert_eq!(flow.window(), 300);
        assert_eq!(flow.gap(), Some(ms(40)));
    }

    #[test]
    fn a_larger_packet_leaves_the_window_its_packets() {
        let mut flow = Flow::new(&Shared::new(&defaults()), PACKET);
        flow.set_packet(1400);
        assert_eq!(flow.window(), 14_000);
    }

    #[test]
    #[should_panic(expected = "fs_min_cwnd")]
    fn parameters_that_contradict_each_other_are_refused() {
        Shared::new(&SwiftParams { fs_min_cwnd: 200.0, ..defaults() });
    }
}
