//! IRN (Mittal et al., "Revisiting Network Support for RDMA", SIGCOMM 2018, section 3): RDMA that needs no lossless network.
//!
//! Two things set it apart from RoCE. Loss: the receiver takes packets in any order and answers each that is out of order
//! with a NACK, from which the sender keeps a bitmap ([`NackBitmap`]); its timer is short when few packets are under way, as
//! then nothing comes behind a lost one to tell of it. And flow control (BDP-FC): no more packets from the lowest
//! unacknowledged one on than the bitmap is long, which is the bandwidth-delay product.

use super::control::{CongestionParams, Patience, RdmaControl, RdmaShared};
use super::receiver::RdmaReceiver;
use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters, Shown};
use crate::transport::{common, AckPolicy, NackBitmap, Path, Scheme, SelectiveReceiver};
use crate::units::{Bytes, Span};

/// What a timeout gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutLoss {
    /// The lowest unacknowledged packet and what is missing below another that has arrived: section 3.1 to the letter.
    First,
    /// Everything that is not known to have arrived.
    All,
}

const TIMEOUT_LOSSES: &[(&str, TimeoutLoss)] = &[("first", TimeoutLoss::First), ("all", TimeoutLoss::All)];

/// Parameters of IRN.
#[derive(Clone, Debug, PartialEq)]
pub struct IrnParams {
    /// Packets from the lowest unacknowledged one on that may have been sent: the length of the bitmap. 110: the
    /// paper's, for 40 Gb/s over 24 us.
    pub bitmap: u32,
    /// Retransmission timeout when few packets are under way (`RTO_low`). 100 us (the paper's).
    pub rto_low: Span,
    /// Retransmission timeout otherwise (`RTO_high`). 320 us (the paper's).
    pub rto_high: Span,
    /// Packets under way that are few (`N`). 3 (the paper's).
    pub few_packets: u32,
    /// What a timeout gives up. The first packet.
    pub timeout_loss: TimeoutLoss,
    /// The congestion control.
    pub congestion: CongestionParams,
}

impl Default for IrnParams {
    fn default() -> IrnParams {
        IrnParams {
            bitmap: 110,
            rto_low: Span::from_us(100),
            rto_high: Span::from_us(320),
            few_packets: 3,
            timeout_loss: TimeoutLoss::First,
            congestion: CongestionParams::default(),
        }
    }
}

const TIMEOUT_LOSS: &str =
    "What a timeout gives up: the lowest unacknowledged packet with all that is missing below another which \
                            has arrived, or everything that is not known to have arrived.";

impl Parameters for IrnParams {
    fn read(r: &mut impl ParameterReader, d: &IrnParams) -> IrnParams {
        let bitmap = "Packets from the lowest unacknowledged one on that may have been sent: one bandwidth-delay product.";
        let bitmap = Parameter::new("bitmap", bitmap, 1..=*common::REACH.end());
        let low = common::timeout("rto_low", "Retransmission timeout when few packets are under way.");
        let high = common::timeout("rto_high", "Retransmission timeout when more packets are under way.");
        let few = "Packets from the lowest unacknowledged one on that are few.";
        IrnParams {
            bitmap: r.value(&bitmap, d.bitmap),
            rto_low: r.value(&low, d.rto_low),
            rto_high: r.value(&high, d.rto_high),
            few_packets: r.value(&Parameter::new("few_packets", few, 0..=1000), d.few_packets),
            timeout_loss: r.choice("timeout_loss", TIMEOUT_LOSS, TIMEOUT_LOSSES, d.timeout_loss),
            congestion: CongestionParams::read(r, &d.congestion),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = self.congestion.conflicts();
        if self.rto_low > self.rto_high {
            let (low, high) = (("rto_low", self.rto_low.shown()), ("rto_high", self.rto_high.shown()));
            conflicts.push(Conflict::between(low, "is above", high));
        }
        conflicts
    }
}

impl Scheme for IrnParams {
    type Control = RdmaControl;
    type Recovery = NackBitmap;
    type Receiver = RdmaReceiver;

    /// IPv4 20, UDP 8, base transport header 12, checksum 4, and in every packet the address of its data, 16 (RETH).
    const HEADER: Bytes = Bytes::new(60);

    fn ecn_capable(&self) -> bool {
        self.congestion.ecn_capable()
    }

    fn shared(&self, path: Path) -> RdmaShared {
        let longer = self.rto_high.saturating_sub(self.rto_low);
        let patience = Patience { rto: self.rto_low, few: self.few_packets, longer };
        RdmaShared::new(self.bitmap, patience, &self.congestion, path)
    }

    fn reach(&self) -> u32 {
        self.bitmap
    }

    fn recovery(&self) -> NackBitmap {
        NackBitmap::new(self.bitmap, self.timeout_loss == TimeoutLoss::All)
    }

    fn receiver(&self) -> RdmaReceiver {
        let receiver = RdmaReceiver::from(SelectiveReceiver::new(AckPolicy::EveryPacket, self.bitmap));
        self.congestion.notifying(receiver)
    }
}
