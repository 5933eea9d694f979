//! The contract between a protocol machine and whatever drives it, the simulator or a real host.
//!
//! A machine learns of the world through `handle_*(now, input)`, which never blocks, reads a clock, draws a
//! random number or calls back. The driver then asks three things, each cheap: `readiness`, whether there is
//! something to send; `poll_timeout()`, when `handle_timeout` is wanted; and `poll_completed()`, how many messages
//! are complete since it was last asked. A machine may have several timers, such as a sender's for retransmission and its
//! congestion control's own: `poll_timeout` is the first of them, and `handle_timeout` sees to each that has run out.
//! `transmit(now)` is called only when the machine is ready and the wire can take what it gives.
//!
//! After every `handle_*` or `transmit` the driver asks anew: an answer from before is void. A late timeout is
//! harmless, an early one does nothing.

use crate::units::Time;

/// Whether a machine has something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// Now: `transmit` may be called.
    Ready,
    /// Not before this instant: the sender is paced.
    At(Time),
    /// Not until something happens.
    Idle,
}
