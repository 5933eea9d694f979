//! The windows of the baselines, whatever acknowledgements, losses and timeouts come: within their bounds, and numbers.

use clearway_proto::baseline::cubic::CubicParams;
use clearway_proto::baseline::dctcp::DctcpParams;
use clearway_proto::baseline::gcn::GcnParams;
use clearway_proto::baseline::reno::RenoParams;
use clearway_proto::baseline::tcp::TcpParams;
use clearway_proto::transport::{AckSample, CongestionControl, Path, Scheme, Timeout};
use clearway_proto::units::{Bytes, Rate, Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

const MIN_RTO: Span = Span::from_us(100);

#[derive(Clone, Debug)]
enum Step {
    /// `sent` packets go out, and `acked` packets are acknowledged `rtt_ns` after they were sent.
    Ack {
        sent: u32,
        acked: u32,
        rtt_ns: u64,
        marked: bool,
    },
    Loss,
    Timeout,
}

fn step() -> impl Strategy<Value = Step> {
    let ack = (0_u32..40, 0_u32..20, prop_oneof![0_u64..1_000_000, 0_u64..100_000_000_000], any::<bool>());
    prop_oneof![
        8 => ack.prop_map(|(sent, acked, rtt_ns, marked)| Step::Ack { sent, acked, rtt_ns, marked }),
        1 => Just(Step::Loss),
        1 => Just(Step::Timeout),
    ]
}

/// Takes the steps; the window stays within `min` and `max`, and what is no acknowledgement never raises it, save to
/// `min`.
fn check<P: Scheme>(params: &P, [min, max]: [f64; 2], steps: &[Step]) {
    let shared = &params.shared(Path::new(Bytes::new(1500), Rate::from_gbps(10)));
    let mut control = P::Control::new(shared);
    let (mut now, mut cumulative, mut next) = (Time::ZERO, 0_u32, 1_u32);
    for step in steps {
        let before = control.window(shared);
        match *step {
            Step::Ack { sent, acked, rtt_ns, marked } => {
                next += sent;
                let newly_acked = acked.min(next - cumulative);
                cumulative += newly_acked;
                now = now + Span::from_ns(rtt_ns / 10);
                let sample = AckSample {
                    rtt: Span::from_ns(rtt_ns),
                    endpoint_delay: Span::ZERO,
                    hops: 1,
                    newly_acked,
                    congestion_experienced: marked,
                    cumulative,
                    next,
                };
                control.on_ack(shared, now, &sample);
                assert!(newly_acked > 0 || control.window(shared) <= before, "{before}, {sample:?}");
            }
            Step::Loss => control.on_loss(shared, now, cumulative, next),
            Step::Timeout => control.on_timeout(shared, now, &Timeout { in_a_row: 1, cumulative, next }),
        }
        let window = control.window(shared);
        assert!((min..=max).contains(&window), "{step:?}: {window}");
        assert!(
            matches!(step, Step::Ack { .. }) || window <= before.max(min),
            "{step:?}: {before} to {window}"
        );
        assert!(control.retransmission_timeout(shared, 0) >= MIN_RTO);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn windows_keep_their_bounds(
        min in 0.1_f64..4.0,
        above in 0.0_f64..100.0,
        start in 0.0_f64..=1.0,
        steps in vec(step(), 0..200),
    ) {
        let (min_cwnd, max_cwnd, initial_cwnd, min_rto) = (min, min + above, min + start * above, MIN_RTO);
        let bounds = [min_cwnd, max_cwnd];
        let tcp = TcpParams { initial_cwnd, min_cwnd, max_cwnd, min_rto, ..TcpParams::default() };
        let dctcp = DctcpParams { tcp: tcp.clone(), ..DctcpParams::default() };
        check(&dctcp, bounds, &steps);
        let gcn = GcnParams { tcp: tcp.clone(), ..GcnParams::default() };
        check(&gcn, bounds, &steps);
        let reno = RenoParams { tcp };
        check(&reno, bounds, &steps);
    }

    #[test]
    fn cubic_windows_keep_their_bounds(
        (c, beta, fast_convergence) in (1e-6_f64..1e12, 0.01_f64..0.99, any::<bool>()),
        min in 0.1_f64..4.0,
        above in 0.0_f64..100.0,
        start in 0.0_f64..=1.0,
        steps in vec(step(), 0..200),
    ) {
        let (min_cwnd, max_cwnd, initial_cwnd, min_rto) = (min, min + above, min + start * above, MIN_RTO);
        let tcp = TcpParams { initial_cwnd, min_cwnd, max_cwnd, min_rto, ..TcpParams::default() };
        let cubic = CubicParams { c, beta, fast_convergence, tcp };
        check(&cubic, [min_cwnd, max_cwnd], &steps);
    }
}
