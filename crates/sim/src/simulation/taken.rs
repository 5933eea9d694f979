//! What faults have taken, beside what links have lost.

use std::collections::BTreeMap;

use super::exchanged::Amount;
use crate::engine::event::Frame;

/// What faults have taken from queues, or kept from finding a way, beside what links have lost themselves.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Frames and bytes, by the number of the fault, the node and the class.
    pub by_fault: BTreeMap<(u32, u32, u8), Amount>,
}

impl Taken {
    /// Counts a frame that a fault took at a node.
    pub fn add(&mut self, fault: u32, node: u32, class: usize, frame: &Frame) {
        self.by_fault.entry((fault, node, class as u8)).or_default().add(1, frame.meta.size().into());
    }
}
