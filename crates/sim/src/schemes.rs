//! The schemes there are: a closed list, so that no packet costs a virtual call.
//!
//! A line of the list at the end is a scheme: the kind it is, its parameters, its name in a scenario, and what it is.
//! What a scheme does follows from its parameters' [`Scheme`] and `Keys`.

use clearway_proto::baseline::cubic::CubicParams;
use clearway_proto::baseline::dctcp::DctcpParams;
use clearway_proto::baseline::gcn::GcnParams;
use clearway_proto::baseline::none::NoneParams;
use clearway_proto::baseline::reno::RenoParams;
use clearway_proto::machine::Readiness;
use clearway_proto::swift::SwiftParams;
use clearway_proto::transport::{Ack, AckPolicy, Data, Flight, Scheme, Sender, Windows};
use clearway_proto::units::{Bytes, Time};

use crate::scenario::{Keys, Section};

/// Reads the keys of one scheme: its parameters, and what its data frames carry by default.
pub(crate) type Reader = fn(&mut Section) -> (Protocol, Bytes);

macro_rules! schemes {
    ($($Kind:ident($Params:ident) = $name:literal, $what:literal;)*) => {
        /// What a transport runs, with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Protocol {
            $(#[doc = concat!($what, ".")] $Kind($Params),)*
        }

        impl Protocol {
            /// What there is, in a sentence.
            pub(crate) const DOC: &str =
                concat!("What decides how much is under way" $(, "; ", $name, ": ", $what)*, ".");

            /// Name and reader of each.
            pub(crate) const READERS: &[(&str, Reader)] =
                &[$(($name, |r| (Protocol::$Kind($Params::read(r)), $Params::HEADER)),)*];

            /// See [`Scheme::sender`].
            pub fn sender(&self, mtu: u32, frame: Bytes) -> AnySender {
                match self {
                    $(Protocol::$Kind(p) => AnySender::$Kind(p.sender(mtu, frame)),)*
                }
            }

            /// See [`Scheme::ECN_CAPABLE`].
            pub fn ecn_capable(&self) -> bool {
                match self { $(Protocol::$Kind(_) => $Params::ECN_CAPABLE,)* }
            }

            /// See [`Scheme::reach`].
            pub fn reach(&self) -> u32 {
                match self { $(Protocol::$Kind(p) => p.reach(),)* }
            }

            /// See [`Scheme::max_window`].
            pub fn max_window(&self) -> f64 {
                match self { $(Protocol::$Kind(p) => p.max_window(),)* }
            }

            /// See [`Scheme::ack_policy`].
            pub fn ack_policy(&self) -> AckPolicy {
                match self { $(Protocol::$Kind(p) => p.ack_policy(),)* }
            }
        }

        /// A sender of any kind. Each method is the [`Sender`]'s of that name.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)]
        pub enum AnySender {
            $($Kind(Sender<<$Params as Scheme>::Control>),)*
        }

        #[allow(missing_docs)]
        impl AnySender {
            #[inline(always)]
            pub fn handle_ack(&mut self, now: Time, received: Time, ack: &Ack) {
                match self { $(AnySender::$Kind(s) => s.handle_ack(now, received, ack),)* }
            }

            pub fn handle_message(&mut self, bytes: Bytes) {
                match self { $(AnySender::$Kind(s) => s.handle_message(bytes),)* }
            }

            pub fn handle_endless(&mut self) {
                match self { $(AnySender::$Kind(s) => s.handle_endless(),)* }
            }

            pub fn handle_stop(&mut self) {
                match self { $(AnySender::$Kind(s) => s.handle_stop(),)* }
            }

            pub fn handle_timeout(&mut self, now: Time) {
                match self { $(AnySender::$Kind(s) => s.handle_timeout(now),)* }
            }

            #[inline(always)]
            pub fn poll_timeout(&self) -> Option<Time> {
                match self { $(AnySender::$Kind(s) => s.poll_timeout(),)* }
            }

            #[inline(always)]
            pub fn poll_completed(&mut self) -> u32 {
                match self { $(AnySender::$Kind(s) => s.poll_completed(),)* }
            }

            #[inline(always)]
            pub fn readiness(&self, now: Time) -> Readiness {
                match self { $(AnySender::$Kind(s) => s.readiness(now),)* }
            }

            #[inline(always)]
            pub fn transmit(&mut self, now: Time) -> Data {
                match self { $(AnySender::$Kind(s) => s.transmit(now),)* }
            }

            pub fn flight(&self) -> Flight {
                match self { $(AnySender::$Kind(s) => s.flight(),)* }
            }

            pub fn windows(&self) -> Windows {
                match self { $(AnySender::$Kind(s) => s.windows(),)* }
            }
        }
    };
}

schemes! {
    Swift(SwiftParams) = "swift", "Swift (SIGCOMM 2020)";
    Dctcp(DctcpParams) = "dctcp", "DCTCP (RFC 8257)";
    Gcn(GcnParams) = "gcn", "GCN (SIGCOMM 2020, section 4)";
    Cubic(CubicParams) = "cubic", "Cubic (RFC 9438)";
    Reno(RenoParams) = "reno", "Reno (RFC 5681, RFC 6675)";
    None(NoneParams) = "none", "no congestion control: a fixed window, a fixed rate, or neither";
}
