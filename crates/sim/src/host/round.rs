//! A round: the flows of a host, of one traffic class, that are ready to send. The NIC asks the first whenever its port is free,
//! and that goes to the end, or back to the front where the host serves first in, first out. So no queue forms below the
//! transport (the pull model of Swift §3.2).

/// The number that stands for no flow.
pub const NO_FLOW: u32 = u32::MAX;

/// The flows that wait for the NIC, as a list through the flows themselves.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The flow whose turn it is.
    pub first: u32,
    /// The flow whose turn comes last.
    pub last: u32,
}

impl Round {
    /// No flow waits.
    pub const EMPTY: Round = Round { first: NO_FLOW, last: NO_FLOW };

    /// Returns whether any flow waits for its turn.
    #[inline]
    pub fn has_waiting(self) -> bool {
        self.first != NO_FLOW
    }
}
