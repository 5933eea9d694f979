//! The transport above the endpoint: reliable flows whose packets leave in timeslots, and by Swift when no arbiter answers.
//!
//! Who has a timeslot needs no congestion control: the window is as large as it may be (the paper's endpoints keep TCP
//! and take the sting out of its congestion control with large windows, §6). While the endpoint [has no
//! arbiter](Notice::Unscheduled), each flow begins anew as a flow of Swift, which shares links with whatever else is
//! there; when an arbiter is back, Swift's windows are forgotten.

use super::endpoint_parameters::EndpointSettings;
use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters};
use crate::swift::control::{Swift, SwiftConfig};
use crate::swift::SwiftParams;
use crate::transport::{
    AckPolicy, AckSample, CongestionControl, Notice, Path, Scheme, SelectiveReceiver, SelectiveRepeat,
    Timeout, Windows,
};
use crate::units::{Bytes, Span, Time};

/// Parameters of a transport whose packets leave in timeslots.
#[derive(Clone, Debug, PartialEq)]
pub struct FastpassParams {
    /// What the endpoints do whose flows these are.
    pub endpoint: EndpointSettings,
    /// Flows of at most this many packets send at once, without timeslots. 0: none do. A short message then need not wait for an
    /// arbiter's answer, and may meet others in a queue.
    pub unscheduled: u32,
    /// The longest retransmission timeout of packets that had a timeslot. 50 ms: what is lost is lost by a fault, and an
    /// acknowledgement waits for a timeslot too, with shortest first for more than 10 ms. The first timeout is 1 ms, if that is
    /// shorter, and each further one without an answer twice as long: an early one costs one packet, which asks.
    pub rto: Span,
    /// Swift's parameters, for when no arbiter answers. Its `reach` and `dup_threshold` hold at all times; a threshold of 16,
    /// as the packets of a flow take different paths.
    pub fallback: SwiftParams,
}

/// The timeout of a packet of which nothing has been heard: longer than an acknowledgement waits for a slot where no other
/// demand has to be served first.
const FIRST_TIMEOUT: Span = Span::from_ms(1);

impl Default for FastpassParams {
    fn default() -> FastpassParams {
        FastpassParams {
            endpoint: EndpointSettings::default(),
            unscheduled: 0,
            rto: Span::from_ms(50),
            fallback: SwiftParams { dup_threshold: 16, ..SwiftParams::default() },
        }
    }
}

impl Parameters for FastpassParams {
    fn read(r: &mut impl ParameterReader, d: &FastpassParams) -> FastpassParams {
        let rto = Parameter::new(
            "rto",
            "Longest retransmission timeout of packets that had a timeslot; the first is 1 ms if that is shorter.",
            Span::from_us(1)..=Span::from_secs(100),
        );
        let doc = "Flows of at most this many packets send at once, without timeslots.";
        let unscheduled = Parameter::new("unscheduled", doc, 0..=1000);
        FastpassParams {
            endpoint: EndpointSettings::read(r, &d.endpoint),
            unscheduled: r.value(&unscheduled, d.unscheduled),
            rto: r.value(&rto, d.rto),
            fallback: SwiftParams::read(r, &d.fallback),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        self.fallback.conflicts()
    }
}

/// What the flows of one transport share.
#[derive(Clone, Debug)]
pub struct FastpassConfig {
    window: f64,
    rto: Span,
    fallback: SwiftConfig,
}

/// One flow's congestion control: none while its packets have timeslots, and then Swift's.
#[derive(Clone, Debug, Default)]
pub struct Fastpass {
    fallback: Option<Box<Swift>>,
}

impl CongestionControl for Fastpass {
    type Shared = FastpassConfig;
    type Telemetry = ();

    fn new(_config: &FastpassConfig) -> Fastpass {
        Fastpass::default()
    }

    fn on_ack(&mut self, config: &FastpassConfig, now: Time, sample: &AckSample) {
        if let Some(swift) = &mut self.fallback {
            swift.on_ack(&config.fallback, now, sample);
        }
    }

    fn on_loss(&mut self, config: &FastpassConfig, now: Time, cumulative: u32, next: u32) {
        if let Some(swift) = &mut self.fallback {
            swift.on_loss(&config.fallback, now, cumulative, next);
        }
    }

    fn on_timeout(&mut self, config: &FastpassConfig, now: Time, timeout: &Timeout) {
        if let Some(swift) = &mut self.fallback {
            swift.on_timeout(&config.fallback, now, timeout);
        }
    }

    fn on_notice(&mut self, config: &FastpassConfig, _now: Time, notice: Notice) {
        match notice {
            Notice::Unscheduled => self.fallback = Some(Box::new(Swift::new(&config.fallback))),
            Notice::Scheduled => self.fallback = None,
            Notice::Nack { .. } | Notice::Congestion | Notice::Pull(_) => {}
        }
    }

    fn window(&self, config: &FastpassConfig) -> f64 {
        self.fallback.as_ref().map_or(config.window, |swift| swift.window(&config.fallback))
    }

    fn pacing_gap(&self, config: &FastpassConfig) -> Option<Span> {
        self.fallback.as_ref().and_then(|swift| swift.pacing_gap(&config.fallback))
    }

    fn retransmission_timeout(&self, config: &FastpassConfig, timeouts: u32) -> Span {
        match &self.fallback {
            Some(swift) => swift.retransmission_timeout(&config.fallback, timeouts),
            None => (FIRST_TIMEOUT * (1 << timeouts.min(16))).min(config.rto),
        }
    }

    fn windows(&self, config: &FastpassConfig) -> Windows {
        match &self.fallback {
            Some(swift) => swift.windows(&config.fallback),
            None => Windows::new(config.window, Span::ZERO),
        }
    }
}

impl Scheme for FastpassParams {
    type Control = Fastpass;
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;

    const HEADER: Bytes = SwiftParams::HEADER;

    fn shared(&self, path: Path) -> FastpassConfig {
        FastpassConfig {
            window: f64::from(self.reach()),
            rto: self.rto,
            fallback: self.fallback.shared(path),
        }
    }

    fn reach(&self) -> u32 {
        self.fallback.reach
    }

    fn dup_threshold(&self) -> u32 {
        self.fallback.dup_threshold
    }

    fn recovery(&self) -> SelectiveRepeat {
        SelectiveRepeat::new(self.reach(), self.dup_threshold())
    }

    fn receiver(&self) -> SelectiveReceiver {
        SelectiveReceiver::new(AckPolicy::EveryPacket, self.reach())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Readiness;
    use crate::units::Rate;

    #[test]
    fn a_flow_is_swifts_only_while_there_is_no_arbiter() {
        let params = FastpassParams::default();
        let path = Path::new(Bytes::new(1538), Rate::from_gbps(10));
        let initial_cwnd = params.fallback.initial_cwnd(&path);
        let mut sender = params.sender(1500, path);
        sender.handle_endless();
        assert_eq!(sender.sendable(), params.reach());
        sender.handle_notice(Time::ZERO, Notice::Unscheduled);
        assert_eq!(f64::from(sender.sendable()), initial_cwnd);
        while sender.readiness(Time::ZERO) == Readiness::Ready {
            sender.transmit(Time::ZERO);
        }
        let timeout = sender.poll_timeout().expect("packets are under way");
        sender.handle_timeout(timeout);
        assert!(sender.windows().cwnd < initial_cwnd);
        sender.handle_notice(timeout, Notice::Scheduled);
        assert_eq!(sender.windows().cwnd, f64::from(params.reach()));
        // A timeout changes nothing for packets that have timeslots.
        sender.transmit(timeout);
        let second = timeout + FIRST_TIMEOUT * 2;
        assert_eq!(sender.poll_timeout(), Some(second));
        sender.handle_timeout(second);
        assert_eq!(sender.windows().cwnd, f64::from(params.reach()));
    }
}
