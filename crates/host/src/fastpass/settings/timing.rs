//! The `[arbiter]` and `[endpoint]` tables: a scenario's words, with defaults for hosts, whose timers are coarser than those of
//! the paper's network by two orders of magnitude.

use clearway_proto::fastpass::allocator::{Order, MOST_SLOTS};
use clearway_proto::fastpass::endpoint::{EndpointParams, ProbeParams, SendMode};
use clearway_proto::fastpass::endpoint_parameters::EndpointSettings;
use clearway_proto::fastpass::isolator::IsolatorParams;
use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::parameter::{Conflict, Parameter, ParameterReader, Parameters};
use clearway_proto::units::Span;

/// The way in which an endpoint follows its grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Grants become pacing rates of this host's TCP sockets.
    Rates,
    /// Packets of a TUN device leave in their slots.
    Slots,
}

/// The names of the modes.
pub const MODES: &[(&str, Mode)] = &[("rates", Mode::Rates), ("slots", Mode::Slots)];

/// The settings of an arbiter: the way it allocates, and its times.
#[derive(Clone, Debug, PartialEq)]
pub struct ArbiterSettings {
    /// The length of a timeslot.
    pub slot: Span,
    /// The number of slots that are allocated together.
    pub batch: u32,
    /// The number of slots that a batch is allocated before its first slot.
    pub ahead: u32,
    /// The order in which pairs are served.
    pub order: Order,
    /// The share of a link that is left to what has no slot.
    pub control_share: f64,
    /// The time without acknowledgement after which the counts of an allocation are said again.
    pub retransmit: Span,
    /// The longest time that a request goes without an allocation that acknowledges it.
    pub acknowledge: Span,
    /// Time between two words of the primary to the others (`T_w`).
    pub watchdog: Span,
    /// Silence of the primary after which the next takes over (`T_d`).
    pub takeover: Span,
    /// The time from the first slot that is free to the first that a new primary allocates.
    pub gap: Span,
    /// Whether failed links are found from what endpoints report, and avoided.
    pub fault_isolation: bool,
}

const MS: Span = Span::from_ms(1);
/// Packets of a host that were sent this long one after the other may overtake each other, where the processor has other work.
const OVERTAKEN_AFTER: Span = Span::from_ms(4);
/// Packets after which an endpoint reports on a path without losses: few, as a report of more than there are slots in the
/// isolator's window is not believed.
const CLEAN_REPORT: u16 = 16;
/// Probes follow a packet of which nothing is known for this long: longer than an answer takes.
const PROBED_AFTER: Span = Span::from_ms(6);
/// Slots in the isolator's window, at least: enough for a share of losses, and for what becomes known at once after a silence.
const WINDOW_SLOTS: u64 = 256;

impl ArbiterSettings {
    /// The defaults for slots of this length.
    ///
    /// A batch is up to 1 ms long, so that requests join soon, and is allocated 2 ms ahead: that long may an allocation need from
    /// one process to another on a busy host.
    pub fn with_slot(slot: Span) -> ArbiterSettings {
        let slots = |span: Span| u32::try_from(span.as_ps().div_ceil(slot.as_ps())).unwrap_or(u32::MAX);
        ArbiterSettings {
            slot,
            batch: slots(MS).clamp(1, 16),
            ahead: slots(MS * 2).clamp(2, 100_000),
            order: Order::MaxMin,
            control_share: 0.02,
            retransmit: (MS * 5).max(slot * 2),
            acknowledge: MS.max(slot),
            // A process of a host may stand still for some milliseconds.
            watchdog: MS,
            takeover: MS * 8,
            gap: Span::ZERO,
            fault_isolation: true,
        }
    }
}

const SLOT: &str = "Length of a timeslot.";
const BATCH: &str = "Timeslots that are allocated together.";
const AHEAD: &str = "Timeslots from the allocation of a batch to its first slot.";
const ORDER: &str = "Who comes first: max_min, the pair that was served least recently; min_fct, the one with the fewest packets left.";
const ORDERS: &[(&str, Order)] = &[("max_min", Order::MaxMin), ("min_fct", Order::MinFct)];
const SHARE: &str = "Share of a host's link that is left to what has no timeslot.";
const RETRANSMIT: &str =
    "How long an allocation goes without acknowledgement before what it said is said again.";
const ACKNOWLEDGE: &str =
    "How long a request goes without an allocation that acknowledges it before an empty one does.";
const WATCHDOG: &str = "Time between two words of the primary to the other arbiters.";
const TAKEOVER: &str = "Silence of the primary after which the next arbiter takes over.";
const GAP: &str =
    "How many later than the first slot that nobody can have been granted a new primary's slots begin, as a time.";
const ISOLATION: &str = "Failed links are found from the packets that endpoints report as lost, and avoided.";

impl Parameters for ArbiterSettings {
    fn read(r: &mut impl ParameterReader, defaults: &ArbiterSettings) -> ArbiterSettings {
        let slots = Span::from_us(20)..=Span::from_ms(100);
        let slot = r.value(&Parameter::new("slot", SLOT, slots), defaults.slot);
        let d = ArbiterSettings::with_slot(slot);
        let span = |name, doc| Parameter::new(name, doc, Span::from_us(10)..=Span::from_secs(10));
        ArbiterSettings {
            slot,
            batch: r.value(&Parameter::new("batch", BATCH, 1..=MOST_SLOTS), d.batch),
            ahead: r.value(&Parameter::new("ahead", AHEAD, 1..=100_000), d.ahead),
            order: r.choice("order", ORDER, ORDERS, d.order),
            control_share: r.value(&Parameter::new("control_share", SHARE, 0.0..=0.5), d.control_share),
            retransmit: r.value(&span("retransmit", RETRANSMIT), d.retransmit),
            acknowledge: r.value(&span("acknowledge", ACKNOWLEDGE), d.acknowledge),
            watchdog: r.value(&span("watchdog", WATCHDOG), d.watchdog),
            takeover: r.value(&span("takeover", TAKEOVER), d.takeover),
            gap: r.value(&Parameter::new("gap", GAP, Span::ZERO..=Span::from_secs(10)), d.gap),
            fault_isolation: r.flag("fault_isolation", ISOLATION, d.fault_isolation),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        if self.takeover <= self.watchdog {
            let rule =
                "a standby would take over before the next watchdog can come: it has to be longer than";
            conflicts.push(Conflict::between(
                ("takeover", &shown(self.takeover)),
                rule,
                ("watchdog", &shown(self.watchdog)),
            ));
        }
        conflicts
    }
}

fn shown(span: Span) -> String {
    clearway_proto::parameter::Shown::shown(span)
}

/// The defaults of an endpoint with this mode under this arbiter.
pub fn endpoint_defaults(mode: Mode, arbiter: &ArbiterSettings) -> EndpointSettings {
    let horizon = arbiter.slot * u64::from(arbiter.ahead + 2 * arbiter.batch) + MS * 10;
    EndpointSettings {
        send: match mode {
            Mode::Rates => SendMode::OnArrival,
            Mode::Slots => SendMode::AtSlot,
        },
        report_interval: Span::from_us(250),
        // A lost datagram is rare, and an arbiter that is late must not be asked again by everybody.
        retransmit: MS * 10,
        // Later than this a packet would still be on the link when the next slot begins.
        late: arbiter.slot / 2,
        early: horizon,
        // Longer than a takeover takes, and a process may stand still for some milliseconds.
        fallback_after: (arbiter.takeover * 4).max(MS * 40),
        ..EndpointSettings::default()
    }
}

/// The parameters of an endpoint's machine.
///
/// Receipts and probes leave where paths are told apart: in the mode `slots`, of more than one path.
pub fn endpoint_params(
    nodes: u16,
    timeslots: Timeslots,
    settings: &EndpointSettings,
    paths: u16,
) -> EndpointParams {
    let probes = ProbeParams {
        paths,
        receipt_after: MS * 2,
        silence: PROBED_AFTER,
        interval: timeslots.length().max(Span::from_us(250)),
        most: 64,
    };
    EndpointParams {
        probes: (paths > 1 && settings.send == SendMode::AtSlot).then_some(probes),
        timeslots,
        nodes,
        send: settings.send,
        report_interval: settings.report_interval,
        urgent_interval: Span::from_us(50).min(settings.report_interval),
        retransmit: settings.retransmit,
        acknowledge: MS,
        limit: settings.limit,
        late: settings.late,
        early: settings.early,
        age_check: settings.age_check,
        overtaken_after: OVERTAKEN_AFTER,
        clean_report: CLEAN_REPORT,
        fallback: settings.fallback_after,
    }
}

/// The parameters of the part that finds failed links, with slots of this length.
///
/// Nobody tries a link but by using it: each time costs what is sent over it until it has failed again, some milliseconds. So the
/// first time comes soon, and later ones once in a second.
pub fn isolator_params(slot: Span) -> IsolatorParams {
    IsolatorParams {
        window: (slot * WINDOW_SLOTS).max(MS * 100),
        longest: MS * 1000,
        ..IsolatorParams::default()
    }
}
