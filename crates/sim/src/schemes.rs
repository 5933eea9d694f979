//! The senders of all schemes in one type, and the receivers in another: closed lists, so that no packet costs a virtual
//! call.
//!
//! The list of schemes is in `model::protocol`; what a scheme does follows from its parameters' [`Scheme`].

mod recorded;
mod recording;

use clearway_proto::baseline::rdma::receiver::RdmaReceiver;
use clearway_proto::machine::Readiness;
use clearway_proto::transport::{
    Ack, Ask, CongestionControl, Data, Flight, Header, InOrderReceiver, Nack, Notice, Offered, Path,
    PortState, PullTerms, Receiver, Scheme, SelectiveReceiver, SenderOf, Telemetry, Windows,
};
use clearway_proto::units::{Bytes, Rate, Span, Time};

use crate::model::{for_each_scheme, Protocol};
use recorded::{within, Recorded};

pub use recorded::SendingLog;

/// What a sender wants next.
#[derive(Clone, Copy, Debug)]
pub struct Wants {
    /// Whether it has something to send.
    pub readiness: Readiness,
    /// When it wants its timer.
    pub timeout: Option<Time>,
}

/// What switches write into the data packets of a scheme.
type TelemetryOf<P> = <<P as Scheme>::Control as CongestionControl>::Telemetry;

macro_rules! senders {
    ($($Kind:ident($Params:ty) = $name:literal, $what:literal;)*) => {
        impl Protocol {
            /// See [`Scheme::sender`].
            pub fn sender(&self, mtu: u32, path: Path) -> AnySender {
                match self {
                    $(Protocol::$Kind(p) => AnySender::$Kind(p.sender(mtu, path)),)*
                }
            }

            /// See [`Scheme::pull_terms`].
            pub fn pull_terms(&self, path: Path, nic: Rate) -> Option<PullTerms> {
                match self { $(Protocol::$Kind(p) => p.pull_terms(path, nic),)* }
            }

            /// See [`Scheme::receiver`].
            pub fn receiver(&self) -> AnyReceiver {
                match self { $(Protocol::$Kind(p) => p.receiver().into(),)* }
            }
        }

        impl Protocol {
            /// The telemetry of a data packet as it leaves its sender.
            pub fn telemetry(&self) -> AnyTelemetry {
                match self { $(Protocol::$Kind(_) => AnyTelemetry::$Kind(TelemetryOf::<$Params>::default()),)* }
            }
        }

        /// What switches write into a data packet of any kind of sender.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        #[allow(clippy::large_enum_variant, reason = "schemes without telemetry have no values of this type")]
        pub enum AnyTelemetry {
            $($Kind(TelemetryOf<$Params>),)*
        }

        impl AnyTelemetry {
            /// See [`Telemetry::write`].
            pub fn write(&mut self, port: &PortState) {
                match self { $(AnyTelemetry::$Kind(telemetry) => telemetry.write(port),)* }
            }
        }

        /// A sender of any kind. Each method is the one of that name of
        /// [`Sender`](clearway_proto::transport::Sender).
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum AnySender {
            $($Kind(SenderOf<$Params>),)*
            Recorded(Box<Recorded<AnySender>>),
        }

        #[allow(missing_docs)]
        impl AnySender {
            /// Takes an acknowledgement. Returns how many messages are wholly acknowledged with it, and what the sender wants.
            #[inline(always)]
            pub fn handle_ack(&mut self, now: Time, received: Time, ack: &Ack) -> (u32, Wants) {
                let answer = match self.inner_mut() {
                    $(AnySender::$Kind(s) => {
                        s.handle_ack(now, received, ack);
                        let wants = Wants { readiness: s.readiness(now), timeout: s.poll_timeout() };
                        (s.poll_completed(), wants)
                    })*
                    AnySender::Recorded(_) => within(),
                };
                self.note(now, answer.1.readiness);
                answer
            }

            /// Panics on the telemetry of another kind.
            pub fn handle_telemetry(&mut self, now: Time, ack: &Ack, telemetry: &AnyTelemetry) {
                match (self.inner_mut(), telemetry) {
                    $((AnySender::$Kind(s), AnyTelemetry::$Kind(t)) => s.handle_telemetry(now, ack, t),)*
                    _ => unreachable!("telemetry goes back to the sender of its packet"),
                }
            }

            pub fn handle_message(&mut self, bytes: Bytes) {
                match self.inner_mut() {
                    $(AnySender::$Kind(s) => s.handle_message(bytes),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn is_drained(&self) -> bool {
                match self.inner() {
                    $(AnySender::$Kind(s) => s.is_drained(),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn handle_endless(&mut self) {
                match self.inner_mut() {
                    $(AnySender::$Kind(s) => s.handle_endless(),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn handle_stop(&mut self) {
                match self.inner_mut() {
                    $(AnySender::$Kind(s) => s.handle_stop(),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn handle_timeout(&mut self, now: Time) {
                match self.inner_mut() {
                    $(AnySender::$Kind(s) => s.handle_timeout(now),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            #[inline(always)]
            pub fn poll_timeout(&self) -> Option<Time> {
                match self.inner() {
                    $(AnySender::$Kind(s) => s.poll_timeout(),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            #[inline(always)]
            pub fn readiness(&self, now: Time) -> Readiness {
                let answer = match self.inner() {
                    $(AnySender::$Kind(s) => s.readiness(now),)*
                    AnySender::Recorded(_) => within(),
                };
                self.note(now, answer);
                answer
            }

            #[inline(always)]
            pub fn wants(&self, now: Time) -> Wants {
                let wants = match self.inner() {
                    $(AnySender::$Kind(s) => Wants { readiness: s.readiness(now), timeout: s.poll_timeout() },)*
                    AnySender::Recorded(_) => within(),
                };
                self.note(now, wants.readiness);
                wants
            }

            /// The next packet, and what the sender wants when it has sent that.
            #[inline(always)]
            pub fn transmit(&mut self, now: Time) -> (Data, Wants) {
                let answer = match self.inner_mut() {
                    $(AnySender::$Kind(s) => {
                        let data = s.transmit(now);
                        (data, Wants { readiness: s.readiness(now), timeout: s.poll_timeout() })
                    })*
                    AnySender::Recorded(_) => within(),
                };
                self.note_sent(now, &answer.0, answer.1.readiness);
                answer
            }

            pub fn handle_notice(&mut self, now: Time, notice: Notice) {
                match self.inner_mut() {
                    $(AnySender::$Kind(s) => s.handle_notice(now, notice),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn handle_nack(&mut self, now: Time, received: Time, nack: &Nack) {
                match self.inner_mut() {
                    $(AnySender::$Kind(s) => s.handle_nack(now, received, nack),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn handle_lost(&mut self, seq: u32, again: bool) {
                match self.inner_mut() {
                    $(AnySender::$Kind(s) => s.handle_lost(seq, again),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn ask(&self, senders: u32) -> Ask {
                match self.inner() {
                    $(AnySender::$Kind(s) => s.ask(senders),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn offered(&self) -> Offered {
                match self.inner() {
                    $(AnySender::$Kind(s) => s.offered(),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn payload_from(&self, seq: u32) -> (u32, u32) {
                match self.inner() {
                    $(AnySender::$Kind(s) => s.payload_from(seq),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn next_payload(&self) -> u32 {
                match self.inner() {
                    $(AnySender::$Kind(s) => s.next_payload(),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn retransmission_timeout(&self) -> Span {
                match self.inner() {
                    $(AnySender::$Kind(s) => s.retransmission_timeout(),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn flight(&self) -> Flight {
                match self.inner() {
                    $(AnySender::$Kind(s) => s.flight(),)*
                    AnySender::Recorded(_) => within(),
                }
            }

            pub fn windows(&self) -> Windows {
                match self.inner() {
                    $(AnySender::$Kind(s) => s.windows(),)*
                    AnySender::Recorded(_) => within(),
                }
            }
        }
    };
}

for_each_scheme!(senders);

macro_rules! receivers {
    ($($Kind:ident($Held:ty);)*) => {
        /// A receiver of any kind; many schemes have the same. What is always asked together is one method. Only the
        /// commonest is held in place, and all others are one more kind, so that this takes no more room than that one.
        #[derive(Debug)]
        #[allow(missing_docs)]
        pub enum AnyReceiver {
            $($Kind($Held),)*
        }

        $(impl From<$Kind> for AnyReceiver {
            fn from(receiver: $Kind) -> AnyReceiver {
                AnyReceiver::$Kind(receiver.into())
            }
        })*

        impl From<InOrderReceiver> for AnyReceiver {
            fn from(receiver: InOrderReceiver) -> AnyReceiver {
                RdmaReceiver::from(receiver).into()
            }
        }

        #[allow(missing_docs)]
        impl AnyReceiver {
            /// [`Receiver::handle_data`], and then [`Receiver::poll_completed`].
            #[inline(always)]
            pub fn handle_data(
                &mut self,
                now: Time,
                received: Time,
                data: &Data,
                congestion_experienced: bool,
                hops: u8,
            ) -> u32 {
                match self {
                    $(AnyReceiver::$Kind(r) => {
                        r.handle_data(now, received, data, congestion_experienced, hops);
                        r.poll_completed()
                    })*
                }
            }

            pub fn handle_header(&mut self, now: Time, received: Time, header: &Header) -> Option<Nack> {
                match self { $(AnyReceiver::$Kind(r) => r.handle_header(now, received, header),)* }
            }

            /// Returns whether [`Receiver::readiness`] is `Ready`.
            #[inline(always)]
            pub fn is_due(&self) -> bool {
                match self { $(AnyReceiver::$Kind(r) => r.readiness() == Readiness::Ready,)* }
            }

            #[inline(always)]
            pub fn transmit(&mut self, now: Time) -> Ack {
                match self { $(AnyReceiver::$Kind(r) => r.transmit(now),)* }
            }

            pub fn handle_timeout(&mut self, now: Time) {
                match self { $(AnyReceiver::$Kind(r) => r.handle_timeout(now),)* }
            }

            #[inline(always)]
            pub fn poll_timeout(&self) -> Option<Time> {
                match self { $(AnyReceiver::$Kind(r) => r.poll_timeout(),)* }
            }

            #[inline(always)]
            pub fn payload(&self) -> u64 {
                match self { $(AnyReceiver::$Kind(r) => r.payload(),)* }
            }

            pub fn duplicates(&self) -> u64 {
                match self { $(AnyReceiver::$Kind(r) => r.duplicates(),)* }
            }
        }
    };
}

receivers! {
    SelectiveReceiver(SelectiveReceiver);
    RdmaReceiver(Box<RdmaReceiver>);
}

impl AnyReceiver {
    /// Returns the bytes that a receiver has on the heap, beside its own size.
    pub fn heap_bytes(&self) -> usize {
        match self {
            AnyReceiver::SelectiveReceiver(_) => 0,
            AnyReceiver::RdmaReceiver(_) => size_of::<RdmaReceiver>(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_receiver_of_any_kind_takes_no_more_than_the_commonest() {
        assert_eq!(size_of::<AnyReceiver>(), size_of::<SelectiveReceiver>());
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_largest_sender_is_swifts() {
        assert_eq!(size_of::<AnySender>(), 8 + size_of::<SenderOf<clearway_proto::swift::SwiftParams>>());
    }
}
