//! The filling of slots: against a simple packing of what waits, and driven as a host would drive it.

use std::collections::VecDeque;

use clearway_proto::fastpass::endpoint::{Endpoint, EndpointOutput, EndpointParams};
use clearway_proto::fastpass::fcp::{Allocation, Grant, Granted, Heard, Request, Reset};
use clearway_proto::fastpass::filling::{Filling, Handle, Next};
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};
use proptest::prelude::*;

const ROOM: u32 = 1553;
const ACK: u32 = 90;
const DESTINATION: u16 = 7;

/// What happens at a host.
#[derive(Clone, Debug)]
enum Step {
    /// A flow offers packets.
    Offer { flow: usize, size: u32, packets: u32 },
    /// An acknowledgement waits.
    Ack(u32),
    /// A flow takes back what it offers.
    Withdraw(usize),
    /// A slot comes, this many after the last.
    Slot(u64),
}

fn step(sizes: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0_usize..5, sizes, 1_u32..6)
            .prop_map(|(flow, size, packets)| Step::Offer { flow, size, packets }),
        3 => (40..=ACK).prop_map(Step::Ack),
        1 => (0_usize..5).prop_map(Step::Withdraw),
        5 => (1_u64..50).prop_map(Step::Slot),
    ]
}

/// A machine, and beside it plain lists of what waits.
struct Twin {
    machine: Filling<u32, usize>,
    handles: Vec<Handle>,
    flows: Vec<VecDeque<u32>>,
    acks: VecDeque<u32>,
    slot: u64,
}

impl Twin {
    fn new() -> Twin {
        let mut machine = Filling::new(ROOM, ACK, Span::from_us(1));
        let handles = (0..5).map(|flow| machine.open(DESTINATION, flow)).collect();
        Twin { machine, handles, flows: vec![VecDeque::new(); 5], acks: VecDeque::new(), slot: 0 }
    }

    fn now(&self) -> Time {
        Time::ZERO + Span::from_us(1) * self.slot
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Offer { flow, size, packets } => {
                self.machine.offer(self.now(), self.handles[flow], size, packets);
                self.flows[flow].extend((0..packets).map(|_| size));
            }
            Step::Ack(size) => {
                self.machine.push_ack(self.now(), DESTINATION, size, size);
                self.acks.push_back(size);
            }
            Step::Withdraw(flow) => {
                self.machine.withdraw(self.handles[flow]);
                self.flows[flow].clear();
            }
            Step::Slot(after) => {
                self.slot += after;
                self.fill();
            }
        }
    }

    /// Fills a slot: everything in it is the first of its list, and it is no fuller than a slot.
    fn fill(&mut self) {
        let mut slot = self.machine.begin(self.now(), DESTINATION);
        let mut bytes = 0;
        loop {
            let flows = &self.flows;
            let next = self.machine.next(&mut slot, |flow: usize| flows[flow][0]);
            bytes += match next {
                Some(Next::Packet(flow, _)) => self.flows[flow].pop_front().expect("a packet that waits"),
                Some(Next::Ack(size)) => {
                    assert_eq!(self.acks.pop_front(), Some(size));
                    size
                }
                None => break,
            };
        }
        assert!(bytes <= ROOM, "{bytes} bytes in a slot");
        self.machine.end(&slot);
    }

    fn waits(&self) -> bool {
        !self.acks.is_empty() || self.flows.iter().any(|flow| !flow.is_empty())
    }

    /// Slots that any packing needs: what takes more than half of one shares it with no other.
    fn least(&self) -> u32 {
        let sizes = || self.flows.iter().flatten().chain(&self.acks);
        let large = sizes().filter(|&&size| size > ROOM / 2).count() as u32;
        sizes().sum::<u32>().div_ceil(ROOM).max(large)
    }

    /// Slots of a plain packing: flow by flow in order, then acknowledgements, each list in slots of its own.
    fn plain(&self) -> u32 {
        self.flows.iter().chain([&self.acks]).map(cut).sum()
    }

    fn assert_demand(&self) {
        let backlog = self.machine.backlog(DESTINATION);
        assert!(backlog >= self.least(), "{backlog} for at least {}", self.least());
        // A part of a flow's slot that left beside others may leave one more than a new cut would.
        let plain = self.plain() + self.flows.iter().filter(|flow| !flow.is_empty()).count() as u32;
        assert!(backlog <= plain, "{backlog} for at most {plain}");
        assert_eq!(backlog > 0, self.waits());
    }

    /// Drains it with the slots that it asks for now.
    fn drain(mut self) {
        let backlog = self.machine.backlog(DESTINATION);
        for _ in 0..backlog {
            assert!(self.waits(), "{backlog} demanded");
            self.slot += 1;
            self.fill();
            self.assert_demand();
            if !self.waits() {
                return;
            }
        }
        assert!(!self.waits(), "{backlog} slots were demanded, and it still waits");
    }
}

/// Slots that packets need which leave in this order.
fn cut(sizes: &VecDeque<u32>) -> u32 {
    let (mut slots, mut room) = (0, 0);
    for &size in sizes {
        if size > room {
            (slots, room) = (slots + 1, ROOM);
        }
        room -= size;
    }
    slots
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_demanded_drains_what_waits(steps in prop::collection::vec(step(40..=ROOM), 1..60)) {
        let mut twin = Twin::new();
        for step in &steps {
            twin.take(step);
            twin.assert_demand();
        }
        twin.drain();
    }

    #[test]
    fn what_is_demanded_drains_small_packets(steps in prop::collection::vec(step(40..=ROOM / 2), 1..60)) {
        let mut twin = Twin::new();
        for step in &steps {
            twin.take(step);
            twin.assert_demand();
        }
        twin.drain();
    }

    #[test]
    fn small_packets_of_a_size_need_what_they_fill(
        size in 40..=ROOM / 2,
        counts in prop::collection::vec(1_u32..30, 1..5),
    ) {
        let mut twin = Twin::new();
        for (flow, &packets) in counts.iter().enumerate() {
            twin.take(&Step::Offer { flow, size, packets });
        }
        let all: u32 = counts.iter().sum();
        prop_assert_eq!(twin.machine.backlog(DESTINATION), all.div_ceil(ROOM / size));
        twin.drain();
    }

    #[test]
    fn packets_of_a_flow_need_what_their_order_needs(sizes in prop::collection::vec(40..=ROOM, 1..50)) {
        let mut twin = Twin::new();
        for &size in &sizes {
            twin.take(&Step::Offer { flow: 0, size, packets: 1 });
        }
        prop_assert!(twin.machine.backlog(DESTINATION) <= twin.plain());
        twin.drain();
    }
}

/// A host that sends datagrams over UDP, as far as slots are concerned: sockets that hold what was written to them, and
/// acknowledgements as they would go on the wire.
struct Host {
    endpoint: Endpoint,
    filling: Filling<Vec<u8>, usize>,
    sockets: Vec<(Handle, u16, VecDeque<Vec<u8>>)>,
    /// What went on the wire: the slot's grant, and the datagram.
    wire: Vec<(Grant, Vec<u8>)>,
}

impl Host {
    fn new(destinations: &[u16]) -> Host {
        let endpoint = Endpoint::new(&EndpointParams { nodes: 4, ..EndpointParams::default() }, 1, 1);
        let slot = EndpointParams::default().timeslots.length();
        let mut filling = Filling::new(1538, 90, slot);
        let open = |(socket, &to): (usize, &u16)| (filling.open(to, socket), to, VecDeque::new());
        let sockets = destinations.iter().enumerate().map(open).collect();
        Host { endpoint, filling, sockets, wire: Vec::new() }
    }

    fn write(&mut self, now: Time, socket: usize, datagram: Vec<u8>) {
        let (handle, to, waiting) = &mut self.sockets[socket];
        self.filling.offer(now, *handle, datagram.len() as u32, 1);
        waiting.push_back(datagram);
        self.endpoint.handle_backlog(now, *to, self.filling.backlog(*to));
    }

    fn acknowledge(&mut self, now: Time, to: u16, ack: Vec<u8>) {
        self.filling.push_ack(now, to, ack.len() as u32, ack);
        self.endpoint.handle_backlog(now, to, self.filling.backlog(to));
    }

    /// Sends what the endpoint has, and returns its requests.
    fn poll(&mut self, now: Time) -> Vec<Request> {
        let mut requests = Vec::new();
        while self.endpoint.readiness(now) == Readiness::Ready {
            match self.endpoint.transmit(now) {
                EndpointOutput::Answer(..) | EndpointOutput::Trial(..) => {
                    unreachable!("nobody tries links here")
                }
                EndpointOutput::Request(request) => requests.push(request),
                EndpointOutput::Slot(grant) => self.send(now, grant),
            }
        }
        requests
    }

    fn send(&mut self, now: Time, grant: Grant) {
        let mut slot = self.filling.begin(now, grant.destination);
        loop {
            let sockets = &self.sockets;
            let next = self.filling.next(&mut slot, |socket: usize| sockets[socket].2[0].len() as u32);
            let datagram = match next {
                Some(Next::Packet(socket, _)) => self.sockets[socket].2.pop_front().expect("it was offered"),
                Some(Next::Ack(ack)) => ack,
                None => break,
            };
            self.wire.push((grant, datagram));
        }
        self.filling.end(&slot);
        self.endpoint.handle_backlog(now, grant.destination, self.filling.backlog(grant.destination));
    }
}

#[test]
fn a_host_fills_the_slots_of_its_endpoint() {
    let timeslots = EndpointParams::default().timeslots;
    let now = timeslots.start(8000);
    let mut host = Host::new(&[2, 2, 3]);
    host.endpoint.handle_reset(now, &Reset { to: 1, slot: 8000, term: 1, first_slot: 8000, back: None });
    // Two sockets write small datagrams to endpoint 2, a third writes to endpoint 3.
    for datagram in 0..5 {
        host.write(now, 0, vec![datagram; 200]);
        host.write(now, 1, vec![100 + datagram; 100]);
    }
    host.write(now, 2, vec![7; 1538]);
    host.acknowledge(now, 2, vec![9; 30]);
    let requests = host.poll(now);
    let demands: Vec<_> =
        requests[0].demands.iter().map(|demand| (demand.destination, demand.demanded)).collect();
    // 1530 bytes to endpoint 2.
    assert_eq!((requests.len(), demands), (1, vec![(2, 1), (3, 1)]));

    let granted = [(2, 1), (3, 1)].map(|(destination, granted)| Granted { destination, granted });
    let mut allocation =
        Allocation { to: 1, incarnation: 1, term: 1, seq: 1, slot: 8001, ..Allocation::default() };
    allocation.heard = Heard { latest: 1, before: 0 };
    allocation.granted = granted.into_iter().collect();
    for (slot, destination) in [(8010, 3), (8011, 2)] {
        assert!(allocation.grant(Grant { slot, destination, path: 0 }));
    }
    host.endpoint.handle_allocation(now, &allocation);
    for slot in 8010..=8011 {
        host.poll(timeslots.start(slot));
    }
    let sent = |slot| {
        let of = host.wire.iter().filter(move |(grant, _)| grant.slot == slot);
        of.map(|(_, datagram)| (datagram[0], datagram.len())).collect::<Vec<_>>()
    };
    assert_eq!(sent(8010), [(7, 1538)]);
    let mut all: Vec<_> = (0..5).map(|datagram| (datagram, 200)).collect();
    all.extend((0..5).map(|datagram| (100 + datagram, 100)));
    all.push((9, 30));
    assert_eq!(sent(8011), all, "what fits shares a slot");
    assert_eq!((host.filling.used(), host.filling.unused()), (2, 0));
}
