//! What a scheme says of itself: which machines its two ends are, and what these have to know.

use std::sync::Arc;

use super::{Common, CongestionControl, Receiver, Recovery, Sender};
use crate::units::{Bytes, Rate};

/// The sender of a scheme.
pub type SenderOf<P> = Sender<<P as Scheme>::Control, <P as Scheme>::Recovery>;

/// What a scheme's flows have to know of the NIC by which their packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nic {
    /// What a full packet weighs, with everything that takes time on the wire.
    pub frame: Bytes,
    /// The rate of its link.
    pub rate: Rate,
}

impl Nic {
    /// A NIC of this rate, on whose link a full packet weighs `frame`.
    pub fn new(frame: Bytes, rate: Rate) -> Nic {
        Nic { frame, rate }
    }
}

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

    /// Whether data may be marked where it would be dropped early (ECN).
    fn ecn_capable(&self) -> bool {
        false
    }

    /// What the flows share that leave by this NIC.
    fn shared(&self, nic: Nic) -> <Self::Control as CongestionControl>::Shared;

    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets.
    fn reach(&self) -> u32;

    /// For how many packets, from the lowest unacknowledged one on, each end may have to keep a note of its own. Zero for
    /// go-back-N.
    fn noted(&self) -> u32 {
        self.reach()
    }

    /// The largest that the window can be, in packets.
    fn max_window(&self) -> f64 {
        f64::from(self.reach())
    }

    /// Packets that must have arrived above a hole before it counts as lost. One where a flow keeps to one path.
    fn dup_threshold(&self) -> u32 {
        1
    }

    /// The recovery of a sender whose packets are all under way.
    fn recovery(&self) -> Self::Recovery;

    /// A receiver to which nothing has come yet. It acknowledges as the scheme wants.
    fn receiver(&self) -> Self::Receiver;

    /// A sender with nothing to send yet, of packets with up to `mtu` bytes of payload that leave by this NIC.
    /// Flows of one transport and NIC are clones of one sender: they share what [`Self::shared`] gives.
    fn sender(&self, mtu: u32, nic: Nic) -> SenderOf<Self> {
        let (reach, recovery) = (self.reach(), self.recovery());
        Sender::new(Arc::new(Common { mtu, reach, recovery, control: self.shared(nic) }))
    }
}
