//! What a scheme says of itself: which machines its two ends are, and what these have to know.

use std::sync::Arc;

use super::{Common, CongestionControl, Receiver, Recovery, Sender};
use crate::units::Bytes;

/// The sender of a scheme.
pub type SenderOf<P> = Sender<<P as Scheme>::Control, <P as Scheme>::Recovery>;

/// A scheme, by its parameters: it names the sender, as a congestion control and a recovery from loss, and the receiver
/// that goes with it.
pub trait Scheme {
    /// The congestion control of one flow.
    type Control: CongestionControl;
    /// How its sender recovers from loss.
    type Recovery: Recovery;
    /// The receiving machine of one flow. It must answer what the recovery asks of it: selective repeat lives from
    /// acknowledgements of what came out of order, go-back-N from NACKs.
    type Receiver: Receiver;

    /// What a data frame carries beside payload and framing, unless a scenario says otherwise.
    const HEADER: Bytes;

    /// Data may be marked where it would be dropped early (ECN).
    const ECN_CAPABLE: bool = false;

    /// What flows share whose full packet, with everything that takes time on the wire, weighs `frame`.
    fn shared(&self, frame: Bytes) -> <Self::Control as CongestionControl>::Shared;

    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two from 64 on.
    fn reach(&self) -> u32;

    /// The largest that the window can be, in packets.
    fn max_window(&self) -> f64 {
        f64::from(self.reach())
    }

    /// Packets that must have arrived above a hole before it counts as lost. One where a flow keeps to one path.
    fn dup_threshold(&self) -> u32 {
        1
    }

    /// A receiver to which nothing has come yet. It acknowledges as the scheme wants.
    fn receiver(&self) -> Self::Receiver;

    /// A sender with nothing to send yet, of packets with up to `mtu` bytes of payload and of frames as for
    /// [`Self::shared`]. Flows of one transport are clones of one sender: they share what [`Self::shared`] gives.
    fn sender(&self, mtu: u32, frame: Bytes) -> SenderOf<Self> {
        let (reach, dup_threshold) = (self.reach(), self.dup_threshold());
        Sender::new(Arc::new(Common { mtu, reach, dup_threshold, control: self.shared(frame) }))
    }
}
