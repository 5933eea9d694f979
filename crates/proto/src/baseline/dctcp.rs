//! DCTCP (RFC 8257): the fraction of marked packets, smoothed over windows, scales the cut.

use crate::units::Span;

/// DCTCP's parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct DctcpParams {
    /// Weight of a new window's marked fraction (`g`). 1/16 (RFC 8257 §4.2).
    pub gain: f64,
    /// Estimate of the marked fraction before the first window ends (`DCTCP.Alpha`). 1 (RFC 8257 §3.3).
    pub initial_alpha: f64,
    /// Window in packets of a new flow. 10 (RFC 6928).
    pub initial_cwnd: f64,
    /// Smallest window in packets. 1; Linux has 2.
    pub min_cwnd: f64,
    /// Largest window in packets. 1024.
    pub max_cwnd: f64,
    /// Packets for one delayed acknowledgement; a change of the congestion mark is acknowledged at once. 1.
    pub ack_every: u32,
    /// Longest that a delayed acknowledgement waits. 1 ms.
    pub ack_delay: Span,
    /// Packets received above a hole before it counts as lost. 3 (RFC 6675).
    pub dup_threshold: u32,
    /// Least retransmission timeout. 10 ms (RFC 8257 §5 advises lowering it to the data center's scale).
    pub min_rto: Span,
    /// Retransmission timeout before the first round-trip sample. 10 ms (RFC 6298: 1 s).
    pub initial_rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two; 2048.
    pub reach: u32,
}

impl Default for DctcpParams {
    fn default() -> DctcpParams {
        DctcpParams {
            gain: 1.0 / 16.0,
            initial_alpha: 1.0,
            initial_cwnd: 10.0,
            min_cwnd: 1.0,
            max_cwnd: 1024.0,
            ack_every: 1,
            ack_delay: Span::from_ms(1),
            dup_threshold: 3,
            min_rto: Span::from_ms(10),
            initial_rto: Span::from_ms(10),
            reach: 2048,
        }
    }
}
