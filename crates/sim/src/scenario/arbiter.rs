//! `[arbiter]`: where Fastpass's arbiters are, and how they allocate.

use clearway_proto::fastpass::allocator::{Order, MOST_SLOTS};
use clearway_proto::units::{Bytes, Span};

use super::class;
use super::key::{Key, Shown};
use super::node;
use super::reader::Section;
use crate::model::{ArbiterTimes, Arbiters, Protocol, Transport};
use crate::topology::shape;

/// The largest number of arbiters.
pub(crate) const MAX_ARBITERS: usize = 8;

/// Reads the table.
pub(crate) fn read(r: &mut Section, scene: &node::Scene) -> Arbiters {
    let doc = "Where they are, in the order of their ranks: the first is the primary, and the next takes over when it is dead.";
    let nodes = node::read_several(r, "at", doc, scene.names).unwrap_or_default();
    let control_share = read_control_share(r);
    let slot = read_slot(r, scene, control_share);
    let count = |name, doc, range| Key::new(name, doc, range);
    let batch = count("batch", "Timeslots that are allocated together.", 1..=MOST_SLOTS);
    let ahead = count("ahead", "Timeslots from the allocation of a batch to its first slot.", 1..=100_000);
    let orders = [("max_min", Order::MaxMin), ("min_fct", Order::MinFct)];
    let doc = "Who comes first: max_min, the pair that was served least recently; min_fct, the one with the fewest packets left.";
    let batch = r.get(&batch.or(16));
    let ahead = r.get(&ahead.or(40));
    let order = r.one_of("order", doc, Some("max_min"), &orders);
    let rate =
        count("allocation_rate", "Allocations to one endpoint a second, in the mean.", 1..=MOST_ALLOCATIONS);
    let doc = "Allocations to one endpoint that may leave at once after a silence, as far as allocation_gap lets them.";
    let burst = Key::new("allocation_burst", doc, 1.0..=1000.0);
    let class_doc = "NAME of the [class.NAME] of requests and allocations.";
    let doc = "Control packets that wait for an arbiter's processor at most; more are dropped.";
    let queue = count("request_queue", doc, 1..=1_000_000);
    let request_queue = r.get(&queue.or(4096));
    let doc = "Failed links are found from the packets that endpoints report as lost, and avoided. Without it every path is used.";
    let fault_isolation = r.flag("fault_isolation", doc, true);
    let times = read_times(r);
    Arbiters {
        nodes,
        slot,
        control_share,
        batch,
        ahead,
        order,
        allocation_rate: r
            .get(&rate.or_as(two_a_batch(slot, batch), "two for each batch, and at least 50000")),
        allocation_burst: r.get(&burst.or(1.5)),
        class: class::read_name_or_first(r, "class", class_doc, scene.classes),
        crashes: Vec::new(),
        times,
        fault_isolation,
        request_queue,
    }
}

/// Allocations to one endpoint a second. The authors' release has 50,000, one for each of its batches. An allocation names 15
/// destinations at most: who is granted 16 slots to as many endpoints needs two. With fewer, grants come later with each
/// batch, until all are refused.
fn two_a_batch(slot: Span, batch: u32) -> u32 {
    let batches = 1e12 / (slot.as_ps() as f64 * f64::from(batch));
    ((2.0 * batches).ceil() as u32).clamp(50_000, MOST_ALLOCATIONS)
}

/// The largest rate of allocations to one endpoint.
const MOST_ALLOCATIONS: u32 = 10_000_000;

fn read_control_share(r: &mut Section) -> f64 {
    let doc =
        "Share of a host's link that is left to requests, allocations and whatever else has no timeslot.";
    let share = Key::new("control_share", doc, 0.0..=0.5);
    r.get(&share.or(0.01))
}

/// The length of a slot: by default what a full frame takes on a host's link, and a share for what has no slot.
fn read_slot(r: &mut Section, scene: &node::Scene, share: f64) -> Span {
    let full = scene.network.zip(scene.transports).and_then(|(network, transports)| {
        let slotted = transports.iter().filter(|transport| is_fastpass(transport));
        let header = slotted.map(|transport| transport.header).max()?;
        let frame = Bytes::new((network.mtu + header + network.framing).into());
        let slowest = shape::host_rates(network).slowest()?;
        Some(Span::from_ps((slowest.transmission(frame).as_ps() as f64 / (1.0 - share)) as u64))
    });
    let shortest = Span::from_ns(1);
    let slot = Key::new("slot", "Length of a timeslot.", shortest..=LONGEST_SLOT);
    let default = full.unwrap_or(Span::from_us(1));
    if r.sound() && default > LONGEST_SLOT {
        let whole = Span::from_us(default.as_ps() / Span::from_us(1).as_ps());
        let (default, longest) = (whole.shown(), LONGEST_SLOT.shown());
        let message = format!(
            "a full frame takes {default} on the slowest host's link, and a timeslot is {longest} at most: use faster links or a \
             smaller mtu"
        );
        r.conflict("slot", message);
    }
    r.get(&slot.or_as(
        default.clamp(shortest, LONGEST_SLOT),
        "a full frame on a host's link, over 1 - control_share",
    ))
}

/// The longest timeslot: those of hosts whose timers are coarse are of some hundreds of microseconds.
const LONGEST_SLOT: Span = Span::from_ms(10);

fn read_times(r: &mut Section) -> ArbiterTimes {
    let mut time = |name, doc, default| {
        let least = if default == Span::ZERO { Span::ZERO } else { Span::from_ns(100) };
        r.get(&Key::new(name, doc, least..=Span::from_secs(10)).or(default))
    };
    let times = ArbiterTimes {
        allocation_gap: time(
            "allocation_gap",
            "Least time between two allocations to one endpoint.",
            Span::from_us(2),
        ),
        retransmit: time(
            "retransmit",
            "How long an allocation goes without acknowledgement before what it said is said again.",
            Span::from_us(200),
        ),
        acknowledge: time(
            "acknowledge",
            "How long a request goes without an allocation that acknowledges it before an empty one does.",
            Span::from_us(100),
        ),
        watchdog: time(
            "watchdog",
            "Time between two words of the primary to the other arbiters.",
            Span::from_us(100),
        ),
        takeover: time(
            "takeover",
            "Silence of the primary after which the next arbiter takes over.",
            Span::from_us(200),
        ),
        gap: time(
            "gap",
            "How many later than the first slot that nobody can have been granted a new primary's slots begin, as a time.",
            Span::ZERO,
        ),
        poll_interval: time(
            "poll_interval",
            "Time between two looks of an idle arbiter's processor at its NIC: what comes waits for the next.",
            Span::ZERO,
        ),
        request_service: time(
            "request_service",
            "Time that an arbiter's processor takes for a control packet that comes.",
            Span::ZERO,
        ),
        slot_service: time("slot_service", "Time that it takes for a timeslot of the network.", Span::ZERO),
        allocation_service: time(
            "allocation_service",
            "Time that it takes for an allocation that leaves.",
            Span::ZERO,
        ),
        latency: time(
            "latency",
            "Time from there until the packet is at the NIC, as a pipeline of several cores has it.",
            Span::ZERO,
        ),
    };
    if r.sound() && times.takeover <= times.watchdog {
        let (takeover, watchdog) = (times.takeover.shown(), times.watchdog.shown());
        r.conflict("takeover", format!("{takeover} is not above watchdog, {watchdog}"));
    }
    times
}

/// Returns whether a transport's packets have timeslots.
pub(crate) fn is_fastpass(transport: &Transport) -> bool {
    matches!(transport.protocol, Protocol::Fastpass(_))
}
