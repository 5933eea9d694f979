//! What an operator may set of an endpoint; what follows from the network is in the endpoint's own parameters.

use super::endpoint::SendMode;
use crate::parameter::{Parameter, ParameterReader, Parameters};
use crate::units::Span;

/// Parameters of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointSettings {
    /// When packets leave. In their slots, as the paper describes.
    pub send: SendMode,
    /// Least time between two requests, but for the first after a silence. 34 us: one part in 350 of a busy link.
    pub report_interval: Span,
    /// How long a request goes without acknowledgement before it is made again. 200 us (the authors' release).
    pub retransmit: Span,
    /// Most slots outstanding for one destination. 2^13 (the authors' release).
    pub limit: u32,
    /// How old a grant may be on arrival; older ones are refused and demanded again. 20.02 us: 16 slots of 10 Gb/s (the
    /// release). It is a time, as what makes grants late does not shrink with the slot.
    pub late: Span,
    /// How far ahead of its slot a grant may be on arrival. 80.08 us: 64 slots of 10 Gb/s (the release).
    pub early: Span,
    /// Grants that are too late or too early are refused.
    pub age_check: bool,
    /// With demand and no word from any arbiter for this long, flows go on by Swift. 1 ms: longer than a takeover.
    pub fallback_after: Span,
}

impl EndpointSettings {
    /// Slots that a grant may be late, where that is longer than [`Self::late`].
    pub const LATE_SLOTS: u32 = 16;
    /// Slots that a grant may be ahead, where that is longer than [`Self::early`].
    pub const EARLY_SLOTS: u32 = 64;
}

impl Default for EndpointSettings {
    fn default() -> EndpointSettings {
        EndpointSettings {
            send: SendMode::AtSlot,
            report_interval: Span::from_us(34),
            retransmit: Span::from_us(200),
            limit: 1 << 13,
            late: Span::from_ns(20_020),
            early: Span::from_ns(80_080),
            age_check: true,
            fallback_after: Span::from_ms(1),
        }
    }
}

const SEND: &str =
    "When a packet leaves that was granted a timeslot: in the slot, or as soon as the allocation comes.";
const SENDS: &[(&str, SendMode)] = &[("at_slot", SendMode::AtSlot), ("on_arrival", SendMode::OnArrival)];
const REPORT_INTERVAL: &str = "Least time between two requests, but for the first after a silence.";
const RETRANSMIT: &str = "How long a request waits for an answer before it is made again.";
const LIMIT: &str = "Most timeslots outstanding for one destination.";
const LATE: &str = "How old a granted timeslot may be on arrival; never less than 16 slots.";
const EARLY: &str = "How far ahead of its time a granted timeslot may arrive; never less than 64 slots.";
const AGE_CHECK: &str = "Refuse timeslots that arrive too late or too early.";
const FALLBACK: &str = "Time without word from any arbiter until flows go on by Swift.";

impl Parameters for EndpointSettings {
    fn read(r: &mut impl ParameterReader, d: &EndpointSettings) -> EndpointSettings {
        let span = |name, doc| Parameter::new(name, doc, Span::from_ns(100)..=Span::from_secs(10));
        EndpointSettings {
            send: r.choice("send", SEND, SENDS, d.send),
            report_interval: r.value(&span("report_interval", REPORT_INTERVAL), d.report_interval),
            retransmit: r.value(&span("request_timeout", RETRANSMIT), d.retransmit),
            limit: r.value(&Parameter::new("limit", LIMIT, 1..=1 << 15), d.limit),
            late: r.value(&span("late", LATE), d.late),
            early: r.value(&span("early", EARLY), d.early),
            age_check: r.flag("age_check", AGE_CHECK, d.age_check),
            fallback_after: r.value(&span("fallback_after", FALLBACK), d.fallback_after),
        }
    }
}
