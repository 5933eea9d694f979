//! Swift as a congestion control of QUIC: two adapters around [`clearway_proto::swift`], which is used as it is.
//!
//! | feature | library | how |
//! |---|---|---|
//! | `s2n` | s2n-quic 1.91 | `.with_congestion_controller(clearway_quic::s2n::Swift::new(clearway_quic::defaults()))` |
//! | `quinn` | quinn 0.11 | `transport.congestion_controller_factory(Arc::new(clearway_quic::quinn::Swift::new(clearway_quic::defaults())))` |
//!
//! Both features are off by default. A window that falls below one packet becomes a time between packets (Swift §3.6), which
//! s2n-quic can keep and quinn cannot: there the window is one packet at least.
//!
//! # What a sample is
//! One acknowledgement frame is one sample: the time from the newest packet that it acknowledges for the first time to its
//! arrival, and the bytes that it acknowledges for the first time, counted in full packets. A library tells a congestion control
//! neither how long the peer held the acknowledgement back nor how many switches there are. So the whole round trip is held against
//! the fabric's target, there is no endpoint window (as in Swift-v0, §5.4), and no part of the target is for hops.
//!
//! A peer may hold back the acknowledgement of a lone packet for its `max_ack_delay`, 25 ms unless it is told otherwise (RFC 9000
//! §18.2). To Swift that is a queue. **Tell both ends not to**: `Limits::with_max_ack_delay` of s2n-quic, 1 ms;
//! `AckFrequencyConfig` of quinn.

#![forbid(unsafe_code)]

use clearway_proto::swift::SwiftParams;
use clearway_proto::units::Span;

#[cfg(any(feature = "quinn", feature = "s2n", test))]
mod flow;
#[cfg(feature = "quinn")]
pub mod quinn;
#[cfg(feature = "s2n")]
pub mod s2n;

/// Swift's defaults for a QUIC library. Its packets pass two kernels and two event loops whose timers are a millisecond coarse,
/// so the target is 1 ms and more for small windows, where the paper's stack has 25 us (§5.2). What is said of the endpoint,
/// of hops and of retransmission has no effect here.
///
/// ```
/// use clearway_proto::{swift::SwiftParams, units::Span};
///
/// // A path of 100 us, through hosts that have processors to spare:
/// let params = SwiftParams { base_target: Span::from_us(200), ..clearway_quic::defaults() };
/// # assert_eq!(params.initial_cwnd, Some(10.0));
/// ```
pub fn defaults() -> SwiftParams {
    SwiftParams {
        base_target: Span::from_ms(1),
        fs_range: Span::from_ms(1),
        fs_min_cwnd: 0.1,
        fs_max_cwnd: 100.0,
        endpoint_window: false,
        topology_scaling: false,
        max_cwnd: 4096.0,
        // RFC 9002 §7.2.
        initial_cwnd: Some(10.0),
        // How far ahead of the lowest unacknowledged packet a sender may be, QUIC knows itself.
        reach: 1 << 20,
        ..SwiftParams::default()
    }
}
