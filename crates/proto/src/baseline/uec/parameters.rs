//! The parameters of NSCC, each with the place in ultraethernet/uet-htsim that it is from: `htsim/sim/uec.cpp`, unless it says
//! otherwise.

use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters};
use crate::transport::common;
use crate::units::Span;

/// Parameters of NSCC. `None` stands for what follows from the base round trip.
#[derive(Clone, Debug, PartialEq)]
pub struct NsccParams {
    /// Base round-trip time of the network, the same for all flows (`_network_rtt`). None: that of each flow's own path.
    pub base_rtt: Option<Span>,
    /// Queuing delay aimed at (`_target_Qdelay`). None: three quarters of the base round trip, as `initNsccParams` has it with
    /// switches that trim; with others it has a whole one.
    pub target: Option<Span>,
    /// Window of a new flow and the largest one, as a multiple of the bandwidth-delay product. 1.5 (`initNscc`).
    pub max_window: f64,
    /// Weight of a new sample of the queuing delay (`_delay_alpha`). 0.0125 (`initNsccParams`).
    pub gain: f64,
    /// Greatest part of a decrease, by which delay beyond the target cuts the window (`_gamma`). 0.8 (`initNsccParams`).
    pub gamma: f64,
    /// Increase by delay below the target, in packets a round trip at the reference bandwidth-delay product (α). 4
    /// (`initNsccParams`).
    pub proportional_increase: f64,
    /// Increase without a mark, of delay at or beyond the target (`_fi`), counted in the same way. 5 (`initNsccParams`).
    pub fair_increase: f64,
    /// Increase once a round trip, whatever happens (`_eta`), counted in the same way. 0.15 (`initNsccParams`).
    pub eta: f64,
    /// Share of a packet by which each acknowledged one lets the window grow while there is no queue (`_fi_scale`), counted in
    /// the same way. 0.25 (`initNsccParams`).
    pub fast_increase: f64,
    /// Whether much loss makes the window what has arrived in the last round trip (`quick_adapt`). Yes.
    pub quick_adapt: bool,
    /// Quick adapt acts on less than this share of the largest window. 1/8 (`_qa_gate` of 3).
    pub quick_adapt_below: f64,
    /// Packets for one acknowledgement. 1; htsim has one for 16,384 bytes, and the sender asks for others.
    pub ack_every: u32,
    /// Longest wait of an acknowledgement for more packets, if there is to be one for several. 1 us, which is ours.
    pub ack_delay: Span,
    /// Retransmission timeout, which nothing lengthens. None: 15 us and six base round trips, which is what six full queues
    /// take (`_min_rto` in `main_uec.cpp`).
    pub rto: Option<Span>,
    /// Packets that must have arrived above a hole before it counts as lost. Never, as `uec.cpp` has it: packets overtake each
    /// other on many paths, and trimmed ones are told of.
    pub dup_threshold: u32,
    /// How far ahead of the lowest unacknowledged packet a sender may be, in packets. A power of two; 4096.
    pub reach: u32,
}

/// A `dup_threshold` that nothing reaches: no hole counts as lost before the timer runs out.
const NEVER: u32 = *common::REACH.end();

impl Default for NsccParams {
    fn default() -> NsccParams {
        NsccParams {
            base_rtt: None,
            target: None,
            max_window: 1.5,
            gain: 0.0125,
            gamma: 0.8,
            proportional_increase: 4.0,
            fair_increase: 5.0,
            eta: 0.15,
            fast_increase: 0.25,
            quick_adapt: true,
            quick_adapt_below: 0.125,
            ack_every: 1,
            ack_delay: Span::from_us(1),
            rto: None,
            dup_threshold: NEVER,
            reach: 4096,
        }
    }
}

impl Parameters for NsccParams {
    fn read(r: &mut impl ParameterReader, d: &NsccParams) -> NsccParams {
        let time = Span::from_ns(1)..=Span::from_secs(1);
        let base_rtt = "Base round-trip time of the network, the same for all flows.";
        let base_rtt = Parameter::new("base_rtt", base_rtt, time.clone());
        let target = Parameter::new("target", "Queuing delay aimed at.", time.clone());
        let largest =
            "Window of a new flow and the largest one, as a multiple of the bandwidth-delay product.";
        let gain = "Weight of a new sample of the queuing delay.";
        let gamma = "Greatest part of a decrease, by which delay beyond the target cuts the window.";
        let increase = |name, doc| Parameter::new(name, doc, 0.0..=1000.0);
        let proportional = "Increase by delay below the target, in packets a round trip at 100 Gb/s and 12 us; more of both, more of it.";
        let fair = "Increase without marks of delay beyond the target, in the same measure.";
        let eta = "Increase once a round trip, whatever happens, in the same measure.";
        let fast = "Share of each acknowledged packet by which the window grows while there is no queue, in the same measure.";
        let adapts = "Whether much loss makes the window what has arrived in the last round trip.";
        let below = "Quick adapt acts on less than this share of the largest window.";
        let every =
            "Packets for one acknowledgement, in any order; the first, one with a mark, and one that ends a message are acknowledged at once.";
        let delay = "Longest wait of an acknowledgement for more packets.";
        let rto = common::rto();
        let threshold = "Packets received above a hole before it counts as lost; the most there can be, if only a timer is to say so.";
        NsccParams {
            base_rtt: r.optional(&base_rtt, "that of each flow's path").or(d.base_rtt),
            target: r.optional(&target, "three quarters of the base round trip").or(d.target),
            max_window: r.value(&Parameter::new("max_window", largest, 0.01..=100.0), d.max_window),
            gain: r.value(&Parameter::new("gain", gain, 1e-6..=1.0), d.gain),
            gamma: r.value(&Parameter::new("gamma", gamma, 0.0..=1.0), d.gamma),
            proportional_increase: r
                .value(&increase("proportional_increase", proportional), d.proportional_increase),
            fair_increase: r.value(&increase("fair_increase", fair), d.fair_increase),
            eta: r.value(&increase("eta", eta), d.eta),
            fast_increase: r.value(&increase("fast_increase", fast), d.fast_increase),
            quick_adapt: r.flag("quick_adapt", adapts, d.quick_adapt),
            quick_adapt_below: r
                .value(&Parameter::new("quick_adapt_below", below, 0.0..=1.0), d.quick_adapt_below),
            ack_every: r.value(&Parameter::new("ack_every", every, 1..=1000), d.ack_every),
            ack_delay: r.value(&Parameter::new("ack_delay", delay, time), d.ack_delay),
            rto: r.optional(&rto, "15us and six base round trips").or(d.rto),
            dup_threshold: r.value(&Parameter::new("dup_threshold", threshold, 1..=NEVER), d.dup_threshold),
            reach: r.value(&common::reach(), d.reach),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        common::check_reach(self.reach)
    }
}
