//! The traffic classes: queues that every port has.

use super::switch::Ecn;

/// A traffic class: a queue at every port.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficClass {
    /// The name in `[class.NAME]`.
    pub name: String,
    /// 0 is served first; a class waits while one of a smaller number has a frame.
    pub priority: u32,
    /// Its share of the capacity left to the classes of its priority; above zero.
    pub weight: u32,
    /// How its queues at switches mark, by the length of the class's own queue; none: as the switch's table says.
    pub ecn: Option<Ecn>,
    /// Switches with flow control pause what sends to them rather than drop frames of this class.
    pub lossless: bool,
}
