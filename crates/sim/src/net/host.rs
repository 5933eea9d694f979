//! A host's flows that are ready to send: the NIC asks them in turn whenever its port is free, so no queue
//! forms below the transport (the pull model of Swift §3.2).

use std::collections::VecDeque;

/// One host.
#[derive(Debug, Default)]
pub struct Host {
    ready: VecDeque<u32>,
}

impl Host {
    /// A flow waits for its turn. The caller sees to it that no flow waits twice.
    #[inline]
    pub fn wait(&mut self, flow: u32) {
        self.ready.push_back(flow);
    }

    /// The flow whose turn it is.
    #[inline]
    pub fn take_turn(&mut self) -> Option<u32> {
        self.ready.pop_front()
    }

    /// Whether any flow waits for its turn.
    #[inline]
    pub fn has_waiting(&self) -> bool {
        !self.ready.is_empty()
    }
}
