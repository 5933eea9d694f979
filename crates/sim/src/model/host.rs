//! What hosts are: what their work costs, and how wrong their clocks are.

use std::ops::Range;

use clearway_proto::units::{Bytes, Rate, Span};

use super::clock::Clock;

/// The kinds of host, and which host is of which.
#[derive(Clone, Debug, PartialEq)]
pub struct HostKinds {
    /// The kinds. The first is that of every host in no other kind's ranges.
    pub kinds: Vec<HostKind>,
    /// Hosts of other kinds than the first, with the index of their kind: in rising order, apart from each other.
    ranges: Vec<(Range<u32>, usize)>,
}

/// A kind of host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostKind {
    /// The name in `[host.NAME]`.
    pub name: String,
    /// What a host's work costs.
    pub model: HostModel,
    /// The time, beside any processor's, from a read request's arrival at its target until the answer is handed to the
    /// target's transport. Any number of reads are served at once.
    pub operation_service: Span,
    /// In which order flows that are ready send.
    pub flow_order: FlowOrder,
    /// How wrong a host's clocks are.
    pub clock: Clock,
}

/// In which order the flows of a host, of one traffic class, send that are ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowOrder {
    /// They take turns, a packet each.
    #[default]
    RoundRobin,
    /// The one that was ready first sends until it is not ready any more.
    Fifo,
}

impl HostKinds {
    /// All hosts are of this kind.
    pub fn alike(kind: HostKind) -> HostKinds {
        HostKinds { kinds: vec![kind], ranges: Vec::new() }
    }

    /// Hosts are of kind `default` save those in the ranges of other kinds. Panics if two ranges share a host.
    pub fn new(default: HostKind, others: Vec<(HostKind, Vec<Range<u32>>)>) -> HostKinds {
        let (mut kinds, mut ranges) = (vec![default], Vec::new());
        for (kind, hosts) in others {
            ranges.extend(hosts.into_iter().map(|range| (range, kinds.len())));
            kinds.push(kind);
        }
        ranges.sort_unstable_by_key(|(range, _)| range.start);
        let disjoint = ranges.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start);
        assert!(disjoint, "a host of two kinds");
        HostKinds { kinds, ranges }
    }

    /// The index of a host's kind among the kinds.
    pub fn index_of(&self, host: u32) -> usize {
        let next = self.ranges.partition_point(|(range, _)| range.end <= host);
        self.ranges.get(next).filter(|(range, _)| range.contains(&host)).map_or(0, |(_, kind)| *kind)
    }

    /// A host's kind.
    pub fn of(&self, host: u32) -> &HostKind {
        &self.kinds[self.index_of(host)]
    }

    /// The hosts of the kind of this index, in rising order, in a network of `hosts` hosts.
    pub fn members(&self, kind: usize, hosts: u32) -> Vec<Range<u32>> {
        if kind > 0 {
            return self
                .ranges
                .iter()
                .filter(|(_, of)| *of == kind)
                .map(|(range, _)| range.clone())
                .collect();
        }
        let starts = [0].into_iter().chain(self.ranges.iter().map(|(range, _)| range.end));
        let ends = self.ranges.iter().map(|(range, _)| range.start).chain([hosts]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|gap| !gap.is_empty()).collect()
    }

    /// Returns whether no kind's work costs anything.
    pub fn all_ideal(&self) -> bool {
        self.kinds.iter().all(|kind| kind.model == HostModel::Ideal)
    }
}

impl HostKind {
    /// The kind `default`: of this model, which answers reads at once, with exact clocks.
    pub fn default_of(model: HostModel) -> HostKind {
        HostKind {
            name: "default".into(),
            model,
            operation_service: Span::ZERO,
            flow_order: FlowOrder::default(),
            clock: Clock::default(),
        }
    }
}

/// What a host's work costs.
#[derive(Clone, Debug, PartialEq)]
pub enum HostModel {
    /// It costs nothing: a frame is processed as it arrives, and an answer leaves at once.
    Ideal,
    /// One processor of each host serves every frame that comes or goes.
    Snap(SnapHost),
    /// Received frames wait until their host's NIC interrupts.
    Interrupts(InterruptHost),
}

impl HostModel {
    /// Room in a host's receive queue; `None` where frames do not wait for their host.
    pub fn receive_queue(&self) -> Option<Bytes> {
        match self {
            HostModel::Ideal => None,
            HostModel::Snap(host) => Some(host.receive_queue),
            HostModel::Interrupts(host) => Some(host.receive_queue),
        }
    }
}

/// A host whose frames are all served by one processor, as by an engine of Google's Snap.
#[derive(Clone, Debug, PartialEq)]
pub struct SnapHost {
    /// The processor's time for a data packet, without the time to copy its payload.
    pub receive_packet: Span,
    /// Speed at which payload is copied.
    pub copy_rate: Rate,
    /// Further time for a packet that ends an operation.
    pub operation: Span,
    /// The processor's time for an acknowledgement.
    pub receive_ack: Span,
    /// Further time for the acknowledgement of a packet that ends an operation.
    pub completion: Span,
    /// The processor's time to send a data packet.
    pub transmit: Span,
    /// The longest time that a frame takes from the stack to the NIC. The first frame of a batch draws uniformly from zero
    /// to this, and those that leave the stack meanwhile go with it.
    pub jitter: Span,
    /// Mean time from the end of a pause to the start of the next.
    pub pause_interval: Span,
    /// Mean length of a pause; zero for none.
    pub pause: Span,
    /// Room in the NIC's receive queue.
    pub receive_queue: Bytes,
}

impl Default for SnapHost {
    /// The set of values named `snap`: calibrated on figures of the Swift paper, as docs/DEVIATIONS.md says value by
    /// value.
    fn default() -> SnapHost {
        SnapHost {
            receive_packet: Span::from_ns(305),
            copy_rate: Rate::from_gbps(149),
            operation: Span::from_ns(250),
            receive_ack: Span::from_ns(300),
            completion: Span::from_ns(900),
            transmit: Span::ZERO,
            jitter: Span::from_us(9),
            pause_interval: Span::from_us(2500),
            pause: Span::from_us(20),
            receive_queue: Bytes::new(16_000_000),
        }
    }
}

/// A host as under Linux, whose NIC interrupts it for all received frames that wait.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptHost {
    /// The shortest time from one interrupt of a host to the next, as a mean over hosts. After a longer silence a frame
    /// interrupts as it arrives.
    pub wake_interval: Span,
    /// Most by which a host's own interval is longer or shorter, as a part of the mean: each draws its own uniformly.
    pub wake_spread: f64,
    /// The constant part of the time from an interrupt until the stack takes the frames.
    pub softirq: Span,
    /// Mean of the exponential part of that time.
    pub softirq_mean: Span,
    /// Mean time from the end of a stall, in which the stack stands still, to the start of the next.
    pub stall_interval: Span,
    /// Mean length of a stall, drawn uniformly from half of it to one and a half times it; zero for none.
    pub stall: Span,
    /// The time that a frame takes from the stack to the NIC.
    pub send_delay: Span,
    /// The most that a frame takes beside; each draws its own uniformly, and none overtakes another.
    pub send_jitter: Span,
    /// The most at which a host's flows together hand frames to the NIC, as a rate on the wire: the mean over hosts.
    pub send_rate: Option<Rate>,
    /// Most by which a host's own such rate is higher or lower, as a part of the mean: each draws its own uniformly.
    pub send_spread: f64,
    /// Room in the NIC's receive queue.
    pub receive_queue: Bytes,
}

impl Default for InterruptHost {
    /// The set of values named `interrupts`: of Fastpass's rack, as docs/DEVIATIONS.md says value by value.
    fn default() -> InterruptHost {
        InterruptHost {
            wake_interval: Span::from_us(72),
            wake_spread: 0.1,
            softirq: Span::from_us(1),
            softirq_mean: Span::from_us(2),
            stall_interval: Span::from_ms(16_667),
            stall: Span::ZERO,
            send_delay: Span::ZERO,
            send_jitter: Span::ZERO,
            send_rate: None,
            send_spread: 0.0,
            receive_queue: Bytes::new(16_000_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> HostKind {
        HostKind { name: name.into(), ..HostKind::default_of(HostModel::Ideal) }
    }

    fn hosts(ranges: &[(u32, u32)]) -> Vec<Range<u32>> {
        ranges.iter().map(|(start, end)| *start..*end).collect()
    }

    #[test]
    fn hosts_are_of_the_kind_whose_range_holds_them() {
        let others = vec![(kind("a"), hosts(&[(2, 4), (8, 9)])), (kind("b"), hosts(&[(4, 6), (0, 1)]))];
        let kinds = HostKinds::new(kind("default"), others);
        let names: Vec<&str> = (0..10).map(|host| kinds.of(host).name.as_str()).collect();
        let default = "default";
        assert_eq!(names, ["b", default, "a", "a", "b", "b", default, default, "a", default]);
        assert_eq!(kinds.members(0, 10), [1..2, 6..8, 9..10]);
        assert_eq!(kinds.members(0, 9), [1..2, 6..8]);
        assert_eq!(kinds.members(1, 10), [2..4, 8..9]);
        assert_eq!(kinds.members(2, 10), [0..1, 4..6]);
        assert_eq!(HostKinds::alike(kind("default")).members(0, 3), hosts(&[(0, 3)]));
    }

    #[test]
    #[should_panic(expected = "a host of two kinds")]
    fn no_host_is_of_two_kinds() {
        let others = vec![(kind("a"), hosts(&[(2, 4)])), (kind("b"), hosts(&[(3, 5)]))];
        HostKinds::new(kind("default"), others);
    }

    #[test]
    fn one_kind_that_costs_something_is_enough() {
        let snap = HostKind { model: HostModel::Snap(SnapHost::default()), ..kind("a") };
        assert!(HostKinds::alike(kind("default")).all_ideal());
        assert!(!HostKinds::new(kind("default"), vec![(snap, hosts(&[(0, 1)]))]).all_ideal());
    }
}
