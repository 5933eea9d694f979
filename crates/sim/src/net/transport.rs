//! The kinds of transport there are: a closed list, matched in this one file.

use std::sync::Arc;

use clearway_proto::baseline::dctcp::{Dctcp, DctcpParams};
use clearway_proto::baseline::none::{NoControl, NoneParams};
use clearway_proto::machine::Readiness;
use clearway_proto::swift::control::{Swift, SwiftConfig};
use clearway_proto::transport::{Ack, AckPolicy, CongestionControl, Data, Flight, Receiver, Sender};
use clearway_proto::units::{Bytes, Span, Time};

use crate::scenario::{Network, Protocol, Transport};

/// Makes the senders and receivers of one transport of a scenario.
#[derive(Debug)]
pub struct Maker {
    control: SharedParams,
    mtu: u32,
    reach: u32,
    ack_policy: AckPolicy,
    /// Bytes of a data frame beside its payload.
    pub overhead: u32,
    /// Bytes of an acknowledgement's frame.
    pub ack_frame: u32,
    /// Its data may be marked instead of dropped early.
    pub ecn_capable: bool,
}

#[derive(Debug)]
enum SharedParams {
    Swift(Arc<SwiftConfig>),
    Dctcp(Arc<DctcpParams>),
    None(NoneParams),
}

impl Maker {
    /// For this transport in this network.
    pub fn new(transport: &Transport, network: &Network) -> Maker {
        let (control, reach, ack_policy, ecn_capable) = match &transport.protocol {
            Protocol::Swift(params) => {
                let reach = params.reach;
                (SharedParams::Swift(SwiftConfig::new(params.clone())), reach, AckPolicy::EveryPacket, false)
            }
            Protocol::Dctcp(params) => {
                let policy = params.ack_policy();
                (SharedParams::Dctcp(Arc::new(params.clone())), params.reach, policy, true)
            }
            Protocol::None(params) => {
                (SharedParams::None(params.clone()), params.reach, AckPolicy::EveryPacket, false)
            }
        };
        Maker {
            control,
            mtu: network.mtu,
            reach,
            ack_policy,
            overhead: transport.header + network.framing,
            ack_frame: transport.ack + network.framing,
            ecn_capable,
        }
    }

    /// Bytes of a full data frame.
    pub fn data_frame(&self) -> u32 {
        self.mtu + self.overhead
    }

    /// A sender of a new flow.
    pub fn sender(&self) -> AnySender {
        let (mtu, reach) = (self.mtu, self.reach);
        match &self.control {
            SharedParams::Swift(config) => {
                AnySender::Swift(Sender::new(Swift::new(Arc::clone(config)), mtu, reach))
            }
            SharedParams::Dctcp(params) => {
                AnySender::Dctcp(Sender::new(Dctcp::new(Arc::clone(params)), mtu, reach))
            }
            SharedParams::None(params) => {
                let frame = Bytes::new(u64::from(self.data_frame()));
                AnySender::None(Sender::new(NoControl::new(params, frame), mtu, reach))
            }
        }
    }

    /// A receiver of a new flow.
    pub fn receiver(&self) -> Receiver {
        Receiver::new(self.ack_policy, self.reach)
    }
}

/// A sender of any kind.
#[derive(Debug)]
pub enum AnySender {
    /// Swift.
    Swift(Sender<Swift>),
    /// DCTCP.
    Dctcp(Sender<Dctcp>),
    /// No congestion control.
    None(Sender<NoControl>),
}

/// Windows of a sender, in packets; NaN where its protocol has none of that name.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// The one that rules.
    pub cwnd: f64,
    /// Swift's fabric window.
    pub fcwnd: f64,
    /// Swift's endpoint window.
    pub ecwnd: f64,
    /// Smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
}

macro_rules! each {
    ($any:expr, $sender:ident => $action:expr) => {
        match $any {
            AnySender::Swift($sender) => $action,
            AnySender::Dctcp($sender) => $action,
            AnySender::None($sender) => $action,
        }
    };
}

/// Each method is the [`Sender`]'s of that name.
#[allow(missing_docs)]
impl AnySender {
    #[inline]
    pub fn handle_ack(&mut self, now: Time, received: Time, ack: &Ack) {
        each!(self, s => s.handle_ack(now, received, ack));
    }

    pub fn handle_message(&mut self, bytes: Bytes) {
        each!(self, s => s.handle_message(bytes));
    }

    pub fn handle_endless(&mut self) {
        each!(self, s => s.handle_endless());
    }

    pub fn handle_stop(&mut self) {
        each!(self, s => s.handle_stop());
    }

    pub fn handle_timeout(&mut self, now: Time) {
        each!(self, s => s.handle_timeout(now));
    }

    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        each!(self, s => s.poll_timeout())
    }

    #[inline]
    pub fn poll_completed(&mut self) -> u32 {
        each!(self, s => s.poll_completed())
    }

    #[inline]
    pub fn readiness(&self, now: Time) -> Readiness {
        each!(self, s => s.readiness(now))
    }

    #[inline]
    pub fn transmit(&mut self, now: Time) -> Data {
        each!(self, s => s.transmit(now))
    }

    pub fn flight(&self) -> Flight {
        each!(self, s => s.flight())
    }

    pub fn windows(&self) -> Windows {
        let none = Windows { cwnd: f64::NAN, fcwnd: f64::NAN, ecwnd: f64::NAN, srtt: Span::ZERO };
        match self {
            AnySender::Swift(s) => {
                let swift = s.control();
                let (fcwnd, ecwnd) = (swift.fcwnd(), swift.ecwnd());
                Windows { cwnd: swift.window(), fcwnd, ecwnd, srtt: swift.srtt() }
            }
            AnySender::Dctcp(s) => Windows { cwnd: s.control().cwnd(), srtt: s.control().srtt(), ..none },
            AnySender::None(s) => Windows { cwnd: s.control().window(), ..none },
        }
    }
}
