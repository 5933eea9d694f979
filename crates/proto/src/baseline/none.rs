//! No congestion control: a fixed window, a fixed rate, or neither. Made for closed forms.

use crate::units::{Rate, Span};

/// Parameters of a transport without congestion control.
#[derive(Clone, Debug, PartialEq)]
pub struct NoneParams {
    /// Packets under way at most; none: as many as `reach`.
    pub window: Option<u32>,
    /// One packet every frame length at this rate; none: as fast as the NIC takes them.
    pub rate: Option<Rate>,
    /// Retransmission timeout. 10 ms.
    pub rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two; 65536.
    pub reach: u32,
}

impl Default for NoneParams {
    fn default() -> NoneParams {
        NoneParams { window: None, rate: None, rto: Span::from_ms(10), reach: 65_536 }
    }
}
