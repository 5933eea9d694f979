//! The schemes that flows over sealed datagrams may have: Swift, and a fixed window with selective repeat or with go-back-N.

use clearway_proto::baseline::go_back_n::GoBackNParams;
use clearway_proto::baseline::none::NoneParams;
use clearway_proto::machine::Readiness;
use clearway_proto::swift::SwiftParams;
use clearway_proto::transport::{
    Ack, AckPolicy, Arrival, Data, Flight, InOrderReceiver, Path, Receiver, Scheme, SelectiveReceiver,
    SenderOf, Windows,
};
use clearway_proto::units::{Bytes, Time, RATES};

/// A scheme with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyScheme {
    /// Swift, with selective repeat.
    Swift(SwiftParams),
    /// A fixed window, with selective repeat.
    Selective(NoneParams),
    /// A fixed window, with go-back-N.
    GoBackN(GoBackNParams),
}

impl AnyScheme {
    /// A sender of packets with up to `mtu` bytes of payload, from which those of all flows with the same parameters are cloned.
    pub fn sender(&self, mtu: u32) -> AnySender {
        // Any rate will do: Swift uses it only together with the round trip of the empty path, which nobody knows here, and the
        // others do not.
        let path = Path::new(Bytes::new(u64::from(mtu)), *RATES.end());
        match self {
            AnyScheme::Swift(params) => AnySender::Swift(params.sender(mtu, path)),
            AnyScheme::Selective(params) => AnySender::Selective(params.sender(mtu, path)),
            AnyScheme::GoBackN(params) => AnySender::GoBackN(params.sender(mtu, path)),
        }
    }

    /// A receiver to which nothing has come yet.
    pub fn receiver(&self) -> AnyReceiver {
        match self {
            AnyScheme::Swift(params) => AnyReceiver::selective(params.reach),
            AnyScheme::Selective(params) => AnyReceiver::selective(params.reach),
            AnyScheme::GoBackN(params) => AnyReceiver::InOrder(params.receiver()),
        }
    }
}

/// The sending machine of a flow.
#[derive(Clone, Debug)]
pub enum AnySender {
    /// A sender of [`AnyScheme::Swift`].
    Swift(SenderOf<SwiftParams>),
    /// A sender of [`AnyScheme::Selective`].
    Selective(SenderOf<NoneParams>),
    /// A sender of [`AnyScheme::GoBackN`].
    GoBackN(SenderOf<GoBackNParams>),
}

/// Asks the machine of whichever scheme.
macro_rules! whichever {
    ($sender:expr, $machine:ident => $asked:expr) => {
        match $sender {
            AnySender::Swift($machine) => $asked,
            AnySender::Selective($machine) => $asked,
            AnySender::GoBackN($machine) => $asked,
        }
    };
}

impl AnySender {
    pub(super) fn handle_message(&mut self, size: Bytes) {
        whichever!(self, sender => sender.handle_message(size));
    }

    pub(super) fn readiness(&self, now: Time) -> Readiness {
        whichever!(self, sender => sender.readiness(now))
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        whichever!(self, sender => sender.poll_timeout())
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        whichever!(self, sender => sender.handle_timeout(now));
    }

    pub(super) fn believes(&self, ack: &Ack) -> bool {
        whichever!(self, sender => sender.believes(ack))
    }

    pub(super) fn handle_ack(&mut self, now: Time, received: Time, ack: &Ack) {
        whichever!(self, sender => sender.handle_ack(now, received, ack));
    }

    pub(super) fn poll_completed(&mut self) -> u32 {
        whichever!(self, sender => sender.poll_completed())
    }

    pub(super) fn transmit(&mut self, now: Time) -> Data {
        whichever!(self, sender => sender.transmit(now))
    }

    pub(super) fn windows(&self) -> Windows {
        whichever!(self, sender => sender.windows())
    }

    pub(super) fn flight(&self) -> Flight {
        whichever!(self, sender => sender.flight())
    }
}

/// The receiving machine of a flow.
#[derive(Debug)]
pub enum AnyReceiver {
    /// It takes packets in any order.
    Selective(SelectiveReceiver),
    /// It takes packets in order only.
    InOrder(InOrderReceiver),
}

impl AnyReceiver {
    /// A receiver that takes packets in any order, from a sender that is at most this many packets ahead of the lowest missing one.
    pub fn selective(reach: u32) -> AnyReceiver {
        AnyReceiver::Selective(SelectiveReceiver::new(AckPolicy::EveryPacket, reach))
    }

    pub(super) fn handle_data(&mut self, now: Time, received: Time, data: &Data, hops: u8) -> Arrival {
        match self {
            AnyReceiver::Selective(receiver) => receiver.handle_data(now, received, data, false, hops),
            AnyReceiver::InOrder(receiver) => receiver.handle_data(now, received, data, false, hops),
        }
    }

    pub(super) fn poll_completed(&mut self) -> u32 {
        match self {
            AnyReceiver::Selective(receiver) => receiver.poll_completed(),
            AnyReceiver::InOrder(receiver) => receiver.poll_completed(),
        }
    }

    pub(super) fn readiness(&self) -> Readiness {
        match self {
            AnyReceiver::Selective(receiver) => receiver.readiness(),
            AnyReceiver::InOrder(receiver) => receiver.readiness(),
        }
    }

    pub(super) fn transmit(&mut self, now: Time) -> Ack {
        match self {
            AnyReceiver::Selective(receiver) => receiver.transmit(now),
            AnyReceiver::InOrder(receiver) => receiver.transmit(now),
        }
    }
}
