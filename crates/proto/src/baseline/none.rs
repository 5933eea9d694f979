//! No congestion control: a fixed window, a fixed rate, or neither. Made for closed forms.

use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters};
use crate::transport::common;
use crate::transport::{
    AckPolicy, AckSample, CongestionControl, Path, Scheme, SelectiveReceiver, SelectiveRepeat, Timeout,
};
use crate::units::{Bytes, Rate, Span, Time, RATES};

/// Parameters of a transport without congestion control.
#[derive(Clone, Debug, PartialEq)]
pub struct NoneParams {
    /// Packets under way at most; none: as many as `reach`.
    pub window: Option<u32>,
    /// One packet every frame length at this rate; none: as fast as the NIC takes them.
    pub rate: Option<Rate>,
    /// Packets received above a hole before it counts as lost. 1: a flow keeps to one path.
    pub dup_threshold: u32,
    /// Retransmission timeout. 10 ms.
    pub rto: Span,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two; 65536.
    pub reach: u32,
}

impl Default for NoneParams {
    fn default() -> NoneParams {
        NoneParams { window: None, rate: None, dup_threshold: 1, rto: Span::from_ms(10), reach: 65_536 }
    }
}

impl Parameters for NoneParams {
    fn read(r: &mut impl ParameterReader, d: &NoneParams) -> NoneParams {
        let rate = Parameter::new("rate", "One packet every frame length at this rate.", RATES);
        NoneParams {
            window: r.optional(&common::fixed_window(), "reach").or(d.window),
            rate: r.optional(&rate, "no limit").or(d.rate),
            dup_threshold: r.value(&common::dup_threshold(), d.dup_threshold),
            rto: r.value(&common::rto(), d.rto),
            reach: r.value(&common::reach(), d.reach),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = common::check_reach(self.reach);
        if let Some(window) = self.window.filter(|window| *window > self.reach) {
            conflicts.push(Conflict::between(("window", window), "is above", ("reach", self.reach)));
        }
        conflicts
    }
}

impl Scheme for NoneParams {
    type Control = NoControl;
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;

    /// IPv4 20, UDP 8.
    const HEADER: Bytes = Bytes::new(28);

    fn shared(&self, path: Path) -> Fixed {
        let gap = self.rate.map(|rate| rate.transmission(path.frame));
        Fixed::new(self.window.unwrap_or(self.reach), gap, self.rto)
    }

    fn reach(&self) -> u32 {
        self.reach
    }

    fn dup_threshold(&self) -> u32 {
        self.dup_threshold
    }

    fn max_window(&self) -> f64 {
        f64::from(self.window.unwrap_or(self.reach))
    }

    fn recovery(&self) -> SelectiveRepeat {
        SelectiveRepeat::new(self.reach, self.dup_threshold)
    }

    fn receiver(&self) -> SelectiveReceiver {
        SelectiveReceiver::new(AckPolicy::EveryPacket, self.reach)
    }
}

/// A window and a spacing that nothing changes, and a timeout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed {
    window: f64,
    gap: Option<Span>,
    rto: Span,
}

impl Fixed {
    /// A window in packets, the least time between the starts of two packets, and a timeout.
    pub(in crate::baseline) fn new(window: u32, gap: Option<Span>, rto: Span) -> Fixed {
        Fixed { window: f64::from(window), gap, rto }
    }
}

/// No congestion control: all of it is the same for every flow.
#[derive(Clone, Copy, Debug)]
pub struct NoControl;

impl CongestionControl for NoControl {
    type Shared = Fixed;
    type Telemetry = ();

    fn new(_fixed: &Fixed) -> NoControl {
        NoControl
    }

    fn on_ack(&mut self, _fixed: &Fixed, _now: Time, _sample: &AckSample) {}

    fn on_loss(&mut self, _fixed: &Fixed, _now: Time, _cumulative: u32, _next: u32) {}

    fn on_timeout(&mut self, _fixed: &Fixed, _now: Time, _timeout: &Timeout) {}

    #[inline]
    fn window(&self, fixed: &Fixed) -> f64 {
        fixed.window
    }

    #[inline]
    fn pacing_gap(&self, fixed: &Fixed) -> Option<Span> {
        fixed.gap
    }

    #[inline]
    fn retransmission_timeout(&self, fixed: &Fixed, _timeouts: u32) -> Span {
        fixed.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_window_the_reach_is_the_window() {
        let fixed = NoneParams::default().shared(Path::new(Bytes::new(1500), Rate::from_gbps(10)));
        assert_eq!(NoControl.window(&fixed), 65_536.0);
        assert_eq!(NoControl.pacing_gap(&fixed), None);
    }

    #[test]
    fn a_rate_spaces_packets_by_what_one_takes_on_the_wire() {
        let params = NoneParams { window: Some(4), rate: Some(Rate::from_gbps(10)), ..NoneParams::default() };
        let fixed = params.shared(Path::new(Bytes::new(1250), Rate::from_gbps(100)));
        assert_eq!(NoControl.window(&fixed), 4.0);
        assert_eq!(NoControl.pacing_gap(&fixed), Some(Span::from_us(1)));
    }
}
