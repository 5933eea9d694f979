//! A scenario as the simulator sees it: resolved, in range, free of files and of unit strings.
//!
//! [`super::load`] makes one out of TOML. Every value here is valid; the engine checks none of them again.

use clearway_proto::units::{Bytes, Rate, Span, Time};

pub use crate::schemes::Protocol;

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What a person calls it.
    pub name: String,
    /// Root of every random stream.
    pub seed: u64,
    /// When the run ends at the latest.
    pub duration: Span,
    /// Left out of steady-state figures; at most a fifth of the duration.
    pub warmup: Span,
    /// End on the first point of a 10 us grid at which every sized flow is complete.
    pub stop_when_complete: bool,
    /// Nodes and links.
    pub network: Network,
    /// What ports of each role of switch do; looked up with [`SwitchKinds::of`].
    pub switches: SwitchKinds,
    /// What a host's work costs.
    pub host: HostModel,
    /// The traffic classes, in the file's order; transports refer to them by index. Without any, ports have one queue.
    pub classes: Vec<TrafficClass>,
    /// The transports, in the file's order; traffic refers to them by index.
    pub transports: Vec<Transport>,
    /// The traffic tables, in the file's order.
    pub traffic: Vec<Traffic>,
    /// What goes wrong with links, and when.
    pub faults: Vec<Fault>,
    /// What is sampled.
    pub record: Record,
}

/// Nodes, links, and what a frame weighs.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The shape.
    pub topology: Topology,
    /// Of every link that the topology does not say otherwise of.
    pub rate: Rate,
    /// One way, per link; above zero.
    pub delay: Span,
    /// Largest payload of a frame, in bytes.
    pub mtu: u32,
    /// Bytes a frame takes on the wire beyond payload and header (preamble, gap, Ethernet header, FCS).
    pub framing: u32,
}

/// The shapes of network that can be built.
#[derive(Clone, Debug, PartialEq)]
pub enum Topology {
    /// `hosts` hosts around one switch of role tor.
    Star {
        /// How many.
        hosts: u32,
    },
    /// `left` hosts, a switch, one bottleneck link, a switch, `right` hosts. Hosts 0..left are on the left.
    Dumbbell {
        /// Hosts on the left.
        left: u32,
        /// Hosts on the right.
        right: u32,
        /// Of the link between the switches.
        bottleneck: Rate,
        /// Of the link between the switches, one way.
        bottleneck_delay: Span,
    },
    /// Every leaf joined to every spine.
    LeafSpine {
        /// Switches of role tor.
        leaves: u32,
        /// Switches of role spine.
        spines: u32,
        /// Hosts under each leaf; host h is under leaf h / `hosts_per_leaf`.
        hosts_per_leaf: u32,
        /// Of each leaf-to-spine link: hosts a leaf times rate, over spines times oversubscription.
        uplink: Rate,
    },
    /// The three-tier Clos network of k-port switches: k^3/4 hosts.
    FatTree {
        /// Ports a switch; even.
        k: u32,
    },
    /// Nodes and links as listed in a file.
    Listed {
        /// Names and roles; hosts are numbered in this order.
        nodes: Vec<ListedNode>,
        /// Two-way links between them.
        links: Vec<ListedLink>,
    },
}

/// A node of a topology file.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedNode {
    /// Unique.
    pub name: String,
    /// None for a host, the role's name for a switch.
    pub switch: Option<SwitchRole>,
}

/// A two-way link of a topology file.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedLink {
    /// Indices into the nodes.
    pub ends: (u32, u32),
    /// Each way.
    pub rate: Rate,
    /// One way.
    pub delay: Span,
}

/// What a switch is for; a topology gives each of its switches one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchRole {
    /// Joins hosts (edge switches of a fat tree too).
    Tor,
    /// The middle tier of a fat tree.
    Aggregation,
    /// The top tier (spine of a leaf-spine, core of a fat tree).
    Spine,
}

/// One kind of switch a role.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchKinds {
    /// For [`SwitchRole::Tor`].
    pub tor: SwitchKind,
    /// For [`SwitchRole::Aggregation`].
    pub aggregation: SwitchKind,
    /// For [`SwitchRole::Spine`].
    pub spine: SwitchKind,
}

impl SwitchKinds {
    /// The kind of the switches of this role.
    pub fn of(&self, role: SwitchRole) -> &SwitchKind {
        match role {
            SwitchRole::Tor => &self.tor,
            SwitchRole::Aggregation => &self.aggregation,
            SwitchRole::Spine => &self.spine,
        }
    }
}

/// Buffer and marking of a switch's ports.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchKind {
    /// How frames are admitted.
    pub buffer: Buffer,
    /// How ECN-capable frames are marked on arrival at the queue.
    pub ecn: Ecn,
}

/// Where a frame that must wait finds room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buffer {
    /// Each port has its own; the frame in transmission counts until its last bit has left.
    PerPort(Bytes),
    /// All ports of a switch share one: a port, or with classes each of its queues, may hold at most `alpha` times
    /// what is free (dynamic threshold).
    Shared {
        /// Of the whole switch.
        size: Bytes,
        /// A queue's share of the free space.
        alpha: f64,
    },
}

/// What a host's work costs.
#[derive(Clone, Debug, PartialEq)]
pub enum HostModel {
    /// Nothing: a frame is processed as it arrives, and an answer leaves at once.
    Ideal,
    /// One engine a host serves all that comes and goes.
    Snap(SnapHost),
}

/// A host with one engine, as Snap's; see [`crate::net::engine`].
#[derive(Clone, Debug, PartialEq)]
pub struct SnapHost {
    /// The engine's time for a data packet, beside its payload's.
    pub receive_packet: Span,
    /// Speed at which payload is copied.
    pub copy_rate: Rate,
    /// Beside that, for a packet that ends an operation.
    pub operation: Span,
    /// The engine's time for an acknowledgement.
    pub receive_ack: Span,
    /// Beside that, for the acknowledgement of a packet that ends an operation.
    pub completion: Span,
    /// The engine's time to send a data packet.
    pub transmit: Span,
    /// Most that a frame takes from the stack to the NIC; uniform from nothing.
    pub jitter: Span,
    /// Mean time from the end of a pause to the start of the next.
    pub pause_interval: Span,
    /// Mean length of a pause; zero for none.
    pub pause: Span,
    /// Room in the NIC's receive queue.
    pub receive_queue: Bytes,
}

/// When a queue marks congestion experienced. The queue that is compared is what waits at the port as the
/// frame arrives, with the frame in transmission, without the arriving one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ecn {
    /// Never.
    Off,
    /// When the queue is above the threshold.
    Step(Bytes),
    /// Never up to `min`, always above `max`, with a probability rising linearly to `pmax` between.
    Red {
        /// Below which nothing is marked.
        min: Bytes,
        /// Above which all is marked.
        max: Bytes,
        /// At `max`; in [0, 1].
        pmax: f64,
    },
}

/// A traffic class: a queue at every port.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficClass {
    /// As in `[class.NAME]`.
    pub name: String,
    /// 0 is served first; a class waits while one of a smaller number has a frame.
    pub priority: u32,
    /// Share in what classes of its priority are left; above zero.
    pub weight: u32,
    /// How its queues at switches mark, if not as the switch's; what is compared is the class's own queue.
    pub ecn: Option<Ecn>,
}

/// A named transport: a protocol and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Transport {
    /// As in `[transport.NAME]`.
    pub name: String,
    /// Protocol and parameters.
    pub protocol: Protocol,
    /// Bytes of a data frame beside payload and framing.
    pub header: u32,
    /// Bytes of an acknowledgement beside framing.
    pub ack: u32,
    /// Index into the scenario's classes: of its data. 0 where there are none.
    pub class: usize,
    /// Of its acknowledgements.
    pub ack_class: usize,
}

/// One `[[traffic]]` table.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Who talks to whom, and how much.
    pub pattern: Pattern,
    /// Index into the scenario's transports.
    pub transport: usize,
    /// When flows start: each draws uniformly from this range (both ends alike: no draw) ...
    pub start: (Time, Time),
    /// ... and flow i of the table starts i times this later.
    pub stagger: Span,
    /// When flows stop offering data.
    pub stop: Option<Time>,
}

/// Who talks to whom. Host lists are sorted and free of repetitions unless said otherwise.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Every `from` sends `flows_per_pair` flows to the one `to`.
    Incast {
        /// Senders; `to` is not among them.
        from: Vec<u32>,
        /// The receiver.
        to: u32,
        /// Flows of each sender.
        flows_per_pair: u32,
        /// Of each flow; none: without end.
        bytes: Option<Bytes>,
    },
    /// Every host sends to one other and receives from one other, drawn from the seed.
    Permutation {
        /// At least two.
        hosts: Vec<u32>,
        /// Flows of each pair.
        flows_per_pair: u32,
        /// Of each flow; none: without end.
        bytes: Option<Bytes>,
    },
    /// Every host sends to every other.
    AllToAll {
        /// At least two.
        hosts: Vec<u32>,
        /// Flows of each ordered pair.
        flows_per_pair: u32,
        /// Of each flow; none: without end.
        bytes: Option<Bytes>,
    },
    /// Each of `from` starts flows in a Poisson process, each to a host of `to` drawn uniformly.
    Poisson {
        /// Senders.
        from: Vec<u32>,
        /// Receivers; a sender never draws itself.
        to: Vec<u32>,
        /// Payload offered, as a fraction of the sender's link rate.
        load: f64,
        /// Flow sizes.
        sizes: Sizes,
    },
    /// Each pair keeps operations open: a new one is issued when one completes.
    ClosedLoop {
        /// What, and between whom.
        operations: Operations,
        /// Operations open between each pair, for each of its flows.
        outstanding: u32,
    },
    /// Each initiator issues operations at times of its own, each to a target drawn uniformly.
    OpenLoop {
        /// What, and between whom; every initiator has a target.
        operations: Operations,
        /// When.
        arrivals: Arrivals,
        /// How many.
        offered: Offered,
        /// Operations that an initiator may have open: one that would be more fails at once.
        backlog: u32,
    },
    /// Flows as listed, in the order of the file.
    Trace {
        /// One a line.
        flows: Vec<TraceFlow>,
    },
}

/// Operations of one kind and size on persistent flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// Initiators.
    pub from: Vec<u32>,
    /// Targets; a host is never its own.
    pub to: Vec<u32>,
    /// A host is no target of those under the same switch.
    pub remote: bool,
    /// Flows of each pair, used in turn; each with another for what is read.
    pub flows_per_pair: u32,
    /// Writes or reads.
    pub kind: OperationKind,
    /// What an operation moves.
    pub bytes: Bytes,
    /// An operation that takes longer has failed.
    pub deadline: Option<Span>,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// The initiator sends the data, and has done so once it knows that all has arrived.
    Write,
    /// The initiator sends a request of this size; the target answers with the data.
    Read(Bytes),
}

impl Operations {
    /// Flows for each of a pair's `flows_per_pair`: one, and one for answers.
    pub fn flows_each(&self) -> u32 {
        match self.kind {
            OperationKind::Write => 1,
            OperationKind::Read(_) => 2,
        }
    }
}

impl Pattern {
    /// What operations a loop has.
    pub fn operations(&self) -> Option<&Operations> {
        match self {
            Pattern::ClosedLoop { operations, .. } | Pattern::OpenLoop { operations, .. } => Some(operations),
            _ => None,
        }
    }
}

/// When an open loop's operations are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// In a Poisson process.
    Poisson,
    /// At the start, and then at a constant interval.
    Constant,
}

/// How many operations each initiator of an open loop issues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Offered {
    /// So many a second.
    Rate(PerSecond),
    /// So many that what they move is this fraction of the initiator's link; above 1, more than it can carry.
    Load(f64),
}

impl Offered {
    /// Mean time in picoseconds between operations of `bytes` of an initiator whose link has this `rate`.
    pub fn gap_ps(self, bytes: Bytes, rate: Rate) -> f64 {
        match self {
            Offered::Rate(PerSecond(times)) => 1e12 / times as f64,
            Offered::Load(load) => bytes.get() as f64 * 8.0 * 1e12 / (load * rate.as_bps() as f64),
        }
    }
}

/// Times a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerSecond(pub u64);

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceFlow {
    /// When it starts.
    pub start: Time,
    /// Host.
    pub from: u32,
    /// Host; not `from`.
    pub to: u32,
    /// Above zero.
    pub bytes: Bytes,
}

/// How flow sizes are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// All alike.
    Fixed(Bytes),
    /// Exponential with this mean, rounded up to a byte.
    Exponential(Bytes),
    /// Linear interpolation between points of a cumulative distribution: bytes and fraction not larger. The first
    /// fraction is a mass at the first size; the fractions do not fall, the last is 1.
    Distribution {
        /// Of the file or the built-in.
        name: String,
        /// In order.
        points: Vec<(f64, f64)>,
    },
}

/// One `[[fault]]` table: what happens to one direction of a link. (The file may name both at once.)
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Names of the nodes it leads from and to.
    pub link: (String, String),
    /// From when on.
    pub from: Time,
    /// Until when; [`Time::NEVER`] for good.
    pub until: Time,
    /// Probability that a frame whose transmission starts in that time is lost; 1 for a link that is down.
    pub loss: f64,
}

/// What is sampled, and how often. Nothing is by default.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Record {
    /// Bytes waiting at every switch port that ever queued.
    pub queues: Option<Span>,
    /// Every flow's windows.
    pub windows: Option<Span>,
    /// Mean and largest round-trip time of every transport in each interval.
    pub rtt: Option<Span>,
    /// Payload delivered by every transport in each interval.
    pub throughput: Option<Span>,
    /// What every switch port and class sent and dropped in each interval.
    pub links: Option<Span>,
    /// Length of the intervals over which Jain's index is taken (always on).
    pub fairness: Span,
    /// Every operation.
    pub operations: bool,
}
