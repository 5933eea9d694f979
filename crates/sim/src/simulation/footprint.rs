//! Memory that the parts of a simulation take, for those who estimate it before a run.

use clearway_proto::baseline::uec::credit::Credit;
use clearway_proto::baseline::uec::demand::Demand;
use clearway_proto::baseline::uec::nscc::Nscc;
use clearway_proto::transport::Path;
use clearway_proto::units::{Bytes, Rate, Time};

use super::capture::{FrameRow, PIECE_BYTES};
use super::counters::TransportCounters;
use super::domain_index::DomainIndex;
use super::operations::{Channel, Initiator, OperationRecord};
use super::parcels::{Parcel, Told};
use crate::engine::calendar::{Entry, EventSlot};
use crate::engine::event::Event;
use crate::host::agent::Seat;
use crate::host::arbiter::ArbiterHost;
use crate::host::endpoint::EndpointHost;
use crate::host::ends::{Losses, ReceivingEnd, SendingEnd};
use crate::host::pulls::{PullPlace, PullingNic};
use crate::host::slots::Slots;
use crate::model::{Transport, MAX_LINKS};
use crate::net::accounts::PortAccount;
use crate::net::counters::PortCounters;
use crate::net::marking::RedMarking;
use crate::net::pfc::{Pause, Pfc, Repeat};
use crate::net::port::{Port, PortFigures};
use crate::net::relay::RelayNode;
use crate::net::rules::{ClassCounters, ClassQueue, Rules, Special};
use crate::net::scheduling::Scheduler;
use crate::topology::{Link, Node};
use crate::traffic::FlowSpec;
use clearway_proto::pfc::hold::Hold;

/// The hosts that are worth a thread: with fewer, threads wait for each other longer than they work.
pub const HOSTS_A_THREAD: usize = 256;

/// Memory in bytes for a packet that is recorded in a network of this many hosts, while the run goes on and when its threads' rows
/// are put together: each thread may have as many as all have in the end, and a vector that grows twice the room. A control packet has
/// a piece of its bytes beside.
pub fn packet_bytes(hosts: usize, has_arbiter: bool) -> f64 {
    let threads = (hosts / HOSTS_A_THREAD).max(1);
    let piece = if has_arbiter { BLOCK + PIECE_BYTES } else { 0 };
    (size_of::<FrameRow>() * (2 * threads + 1) + piece * (threads + 1)) as f64
}

/// Memory in bytes for a pending event: its slot, its entry in the calendar, and its place in a window that is sorted.
const EVENT: usize = size_of::<Event>() + 2 * size_of::<Entry>() + 2 * size_of::<u32>();

/// Memory in bytes for a block of its own, beside its content.
const BLOCK: usize = 16;

/// Memory in bytes for the few words around the sets of bits.
const POINTERS: usize = 64;

/// A set of bits that takes more than a page takes whole pages.
const PAGE: usize = 4096;

/// Returns the memory in bytes for a flow of this transport and `packets` packets, without its routes and the row of its table.
pub fn flow_bytes(transport: &Transport, packets: u64) -> f64 {
    let heap = transport.protocol.receiver().heap_bytes();
    let ends = size_of::<SendingEnd>() + size_of::<ReceivingEnd>() + heap.next_multiple_of(BLOCK);
    // What each end knows of packets out of order, once there are any: four sets of bits, of which only those are
    // touched that stand for a packet, and a few words around them.
    let (reach, packets) = (transport.protocol.tracked_packets() as usize / 8, packets.div_ceil(8) as usize);
    let out_of_order = 4 * (reach.min(packets.saturating_add(PAGE)) + BLOCK) + POINTERS;
    let plan =
        size_of::<FlowSpec>() + 2 * size_of::<DomainIndex>() + size_of::<Losses>() + size_of::<[u8; 2]>();
    // A start, and the timers of both ends and of pacing.
    let events = size_of::<(Time, u32)>() + 3 * EVENT;
    // Counters at the end of the warm-up, and what fairness remembers.
    let observed = 5 * size_of::<u64>();
    // What the sender keeps of the last acknowledgement's telemetry is no more than what that itself takes.
    let told = if transport.protocol.has_telemetry() { TOLD } else { 0.0 };
    let (path, nic) = (Path::new(Bytes::new(1), Rate::from_gbps(1)), Rate::from_gbps(1));
    let credit = transport.protocol.pull_terms(path, nic).map_or(0.0, |_| CREDIT);
    (ends + out_of_order + plan + events + observed) as f64 + told + credit
}

/// Memory in bytes for a port with its link and a node. A plain port has no `queues` of its own, any other at least one.
pub fn port_bytes(queues: usize) -> f64 {
    let link = size_of::<Link>() + 3 * size_of::<u32>() + size_of::<Node>() + 2 * BLOCK;
    let port = size_of::<Port>() + size_of::<PortCounters>() + size_of::<DomainIndex>();
    let observed = size_of::<PortFigures>() + size_of::<f64>() + size_of::<PortCounters>();
    // Each may mark at random, and several have a scheduler.
    let queue = size_of::<ClassQueue>() + 2 * size_of::<ClassCounters>() + size_of::<RedMarking>() + BLOCK;
    let scheduler =
        if queues > 1 { size_of::<Special>() + 3 * BLOCK + Scheduler::heap_bytes(queues) } else { 0 };
    let rules = if queues == 0 { 0 } else { size_of::<Rules>() + BLOCK + queue * queues + scheduler };
    (link + port + observed + rules + EVENT) as f64
}

/// Returns the memory in bytes for flow control at a port with `classes` classes, with two events of each.
pub fn pfc_bytes(classes: usize) -> f64 {
    let of_class =
        size_of::<PortAccount>() + size_of::<Repeat>() + size_of::<Hold>() + size_of::<Pause>() + 2 * EVENT;
    (size_of::<Pfc>() + 4 * BLOCK + of_class * classes) as f64
}

/// Returns the memory in bytes for a relay with `classes` lossless classes: for each, three sums over a round trip in 257 parts.
pub fn relay_bytes(classes: usize) -> f64 {
    let of_class = 3 * (257 * size_of::<u64>() + BLOCK) + 2 * POINTERS;
    (size_of::<RelayNode>() + EVENT + of_class * classes) as f64
}

/// Memory in bytes for a frame that waits or is under way, with the departure that is known of it or the frame behind it, and with the
/// copy of its slot while the slots become more.
pub const FRAME: f64 = (EVENT + size_of::<EventSlot>() + size_of::<u64>()) as f64;

/// Memory in bytes for the telemetry of a frame.
pub const TOLD: f64 = (size_of::<Told>() + size_of::<Option<Parcel>>() + size_of::<u32>() + BLOCK) as f64;

/// Memory in bytes for what is counted for a transport, in the simulation and at the end.
pub fn transport_bytes() -> f64 {
    2.0 * TransportCounters::bytes() as f64
}

/// Returns the memory in bytes for a prober and its responder that exchange `packets` packets.
pub fn probe_bytes(packets: f64) -> f64 {
    let seats = 2 * (size_of::<Seat>() + EVENT) + size_of::<Losses>();
    seats as f64 + packets * size_of::<(Time, Option<Time>)>() as f64
}

/// Memory in bytes for what both ends of a flow know of credit that its receiver grants, with the pacer's event.
const CREDIT: f64 = (size_of::<Credit>()
    + size_of::<Nscc>()
    + size_of::<Demand>()
    + size_of::<PullPlace>()
    + size_of::<PullingNic>()
    + EVENT
    + 2 * BLOCK) as f64;

/// Memory in bytes for the flow of a loop, beside that of any flow.
pub const CHANNEL: f64 = (size_of::<Channel>() + size_of::<Initiator>() + BLOCK) as f64;

/// Memory in bytes for an operation that is open.
pub const OPEN_OPERATION: f64 = (2 * size_of::<Time>() + EVENT) as f64;

/// Memory in bytes for the record of an operation: as it was made, in the order of all, and while they are sorted.
pub const OPERATION: f64 = (3 * size_of::<OperationRecord>()) as f64;

/// Memory in bytes for a route of a network that is routed around faults: as many steps as a frame can cross links, there and back, and
/// its usual links.
pub const STEERED_ROUTE: f64 =
    (4 * MAX_LINKS as usize * size_of::<u32>() + 2 * size_of::<Option<[u32; 2]>>()) as f64;

/// Returns the memory in bytes for the distances of `switches` switches from `destinations` ones, without each of `sets` sets of links.
pub fn distance_bytes(switches: f64, destinations: f64, sets: f64) -> f64 {
    sets * destinations * (switches * size_of::<Option<u32>>() as f64 + BLOCK as f64)
}

/// Ways drawn for each conversation of control packets, which take them in turn.
pub const CONTROL_WAYS: usize = 16;

/// Returns the memory in bytes for one of `endpoints` endpoints: its machine has a few words for each, its host a queue.
pub fn endpoint_bytes(endpoints: f64) -> f64 {
    let own = size_of::<Seat>() + size_of::<EndpointHost>() + size_of::<Slots>() + EVENT;
    // A destination's counts, and its queue with the node of the map that holds it; slots held and remembered.
    own as f64 + endpoints * 448.0 + 200_000.0
}

/// Returns the memory in bytes for an arbiter of `endpoints` endpoints: 24 bytes for each pair, and what it knows of each.
pub fn arbiter_bytes(endpoints: f64) -> f64 {
    size_of::<ArbiterHost>() as f64 + endpoints * endpoints * 40.0 + endpoints * 4096.0
}
