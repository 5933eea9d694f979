//! What an endpoint is built from.

use super::probes::ProbeParams;
use crate::fastpass::timeslots::Timeslots;
use crate::units::Span;

/// Parameters of an [`Endpoint`](super::Endpoint).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointParams {
    /// How time is cut. Default: slots of 1251.28 ns, the release's 2^19/419 ns: one packet of full size at 10 Gb/s and 1.7 %.
    pub timeslots: Timeslots,
    /// Number of endpoints: addresses are below it. Default: 256.
    pub nodes: u16,
    /// When packets leave. Default: in their slots.
    pub send: SendMode,
    /// The least time between two requests that are not urgent. Default: 34 us, at which requests take 1/349 of the
    /// capacity of a link of 10 Gb/s; a request every 2 us would take 1/17 to 1/28.
    pub report_interval: Span,
    /// The least time between two requests, urgent ones too. Default: 2.048 us, the release's interval of maintenance.
    pub urgent_interval: Span,
    /// A demand that no arbiter has acknowledged for this long is said again. Default: 200 us, as in the release.
    pub retransmit: Span,
    /// An allocation is acknowledged after this time at the latest. Default: 100 us, half of what arbiters wait.
    pub acknowledge: Span,
    /// The most slots demanded of one destination and not granted. Default: 2^13, as in the release.
    pub limit: u32,
    /// A grant whose slot began longer ago is refused. Default: 20.02 us, the release's 16 slots; a time, as slots of faster
    /// links are shorter but hosts are no more punctual.
    pub late: Span,
    /// A grant whose slot begins later than this from now is refused. Default: 80.08 us, the release's 64 slots.
    pub early: Span,
    /// Whether grants are refused for their age. Default: yes; no is for experiments that show what it is good for.
    pub age_check: bool,
    /// A packet is lost once one that was sent this long after it has overtaken it; so it is, too, once 16 have. Default: 50 us, in
    /// which no queue of a Fastpass network holds a packet.
    pub overtaken_after: Span,
    /// Packets after which a path without losses is reported on. An arbiter does not believe a report of more packets than there
    /// were slots in its isolator's `window`. Default: 256.
    pub clean_report: u16,
    /// When receipts and probes leave beside the slots. Default: never, as packets enough are under way to tell of each other.
    pub probes: Option<ProbeParams>,
    /// With packets waiting and nothing heard from any arbiter for this long, the endpoint sends without slots. Default: 1
    /// ms, five times as long as a standby waits until it takes over.
    pub fallback: Span,
}

/// When an endpoint sends the packet of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendMode {
    /// When the slot begins by the endpoint's clock, as the paper says.
    #[default]
    AtSlot,
    /// When the allocation comes, whatever the slot, as the release's sources do. No grant is refused for its age.
    OnArrival,
}

impl Default for EndpointParams {
    fn default() -> EndpointParams {
        EndpointParams {
            timeslots: Timeslots::new(Span::from_ps(1_251_280)),
            nodes: 256,
            send: SendMode::AtSlot,
            report_interval: Span::from_us(34),
            urgent_interval: Span::from_ns(2048),
            retransmit: Span::from_us(200),
            acknowledge: Span::from_us(100),
            limit: 1 << 13,
            late: Span::from_ns(20_020),
            early: Span::from_ns(80_080),
            age_check: true,
            overtaken_after: Span::from_us(50),
            clean_report: 256,
            probes: None,
            fallback: Span::from_ms(1),
        }
    }
}
