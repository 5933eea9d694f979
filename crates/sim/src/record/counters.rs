//! What is counted all the time, for each transport.

use super::histogram::Histogram;

/// Of all flows of one transport.
#[derive(Clone, Debug, Default)]
pub struct TransportCounters {
    /// Data frames lost anywhere.
    pub lost_data: u64,
    /// Every acknowledgement's round-trip time.
    pub rtt: Histogram,
}
