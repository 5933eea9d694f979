//! Endpoints in virtual time: whatever the network and strangers do, bytes arrive once and as they were sent.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use clearway_host::datagram::driver::{Arrival, Endpoint};
use clearway_host::datagram::figures::Ignored;
use clearway_host::datagram::flow::{Carried, Content, FlowId, Incoming, Keep, Outgoing};
use clearway_host::datagram::layout::Layout;
use clearway_host::datagram::machine::Machine;
use clearway_host::datagram::machine::{Event, OVERHEAD_BYTES};
use clearway_host::datagram::scheme::{AnyReceiver, AnyScheme};
use clearway_proto::machine::Readiness;
use clearway_proto::swift::SwiftParams;
use clearway_proto::units::{Span, Time};
use proptest::prelude::*;

use crate::network::{address, peer, stranger, swift, Faults, Network, IDS};

const LAYOUT: Layout = Layout { operations: 40, size: 2500, mtu: 1000, flows: 2 };

/// Datagrams, and whom they are for.
type Datagrams = Vec<(SocketAddr, Vec<u8>)>;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]
    #[test]
    fn bytes_arrive_as_they_were_sent(
        operations in 0..30_u64, size in 1..9000_u64, mtu in 300..3000_u32, flows in 1..4_u32,
        lost in prop_oneof![Just(0_u64), 5..50_u64],
        repeated in prop_oneof![Just(0_u64), 5..50_u64],
        delayed in prop_oneof![Just(0_u64), 5..50_u64],
        changed in prop_oneof![Just(0_u64), 5..50_u64],
        seed: u64,
    ) {
        let layout = Layout { operations, size, mtu, flows };
        let mut network = Network::sending(layout, Faults { lost, repeated, delayed, changed }, seed);
        network.finish();
        network.assert_whole(&layout);
        prop_assert_eq!(network.ends[0].latency().count(), operations);
        let received: u64 = network.ends[1].received().map(|(_, flow)| flow.operations).sum();
        prop_assert_eq!(received, operations);
    }
}

#[test]
fn a_flipped_bit_is_a_lost_packet() {
    let mut network = Network::sending(LAYOUT, Faults::default(), 1);
    let mut first = true;
    network.tap = Box::new(move |_, to, bytes| {
        if to == address(1) && std::mem::take(&mut first) {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        }
        true
    });
    network.finish();
    network.assert_whole(&LAYOUT);
    let ignored = network.ends[1].counted().ignored;
    assert_eq!((ignored.forged, ignored.total()), (1, 1));
    let again: u64 = network.events[0]
        .iter()
        .map(|event| match event {
            Event::Sent(_, figures) => figures.retransmissions,
            _ => 0,
        })
        .sum();
    assert_eq!(again, 1);
}

/// Every datagram comes a second time from somebody else, at once and later.
#[test]
fn a_replayed_datagram_changes_nothing() {
    let mut network = Network::sending(LAYOUT, Faults::default(), 1);
    let seen: Rc<RefCell<Datagrams>> = Rc::default();
    let tapped = seen.clone();
    network.tap = Box::new(move |_, to, bytes| {
        tapped.borrow_mut().push((to, bytes.clone()));
        true
    });
    network.finish();
    network.assert_whole(&LAYOUT);
    network.tap = Box::new(|_, _, _| true);
    let sent = seen.borrow().clone();
    for (to, bytes) in &sent {
        network.inject(stranger(), *to, bytes);
    }
    network.finish();
    let replayed: u64 = network.ends.iter().map(|end| end.counted().ignored.replayed).sum();
    assert_eq!(replayed, sent.len() as u64);
    let duplicates: u64 = network.ends[1].received().map(|(_, flow)| flow.duplicates).sum();
    assert_eq!(duplicates, 0);
    // What was replayed has moved nobody: more of the session goes where it went.
    let more = Layout { operations: 1, size: 100, mtu: 1000, flows: 3 };
    let id = FlowId { session: 0, flow: 2 };
    let carried = Carried { layout: more, part: 0 };
    assert!(network.ends[1].expect(Incoming {
        id,
        carried,
        receiver: AnyReceiver::selective(64),
        keep: None
    }));
    let outgoing = Outgoing {
        id,
        carried,
        outstanding: 1,
        content: None,
        sender: AnyScheme::Swift(swift()).sender(1000),
        shown: Arc::default(),
    };
    let now = network.now;
    assert!(network.ends[0].send(now, outgoing));
    network.finish();
    assert!(network.events[0].iter().any(|event| matches!(event, Event::Sent(sent, _) if *sent == id)));
}

#[test]
fn garbage_is_counted_and_ignored() {
    let head = |endpoint: u32, session: u32, counter: u64| {
        let mut bytes = Vec::new();
        bytes.extend(endpoint.to_be_bytes());
        bytes.extend(session.to_be_bytes());
        bytes.extend(counter.to_be_bytes());
        bytes.resize(OVERHEAD_BYTES + 100, 7);
        bytes
    };
    let mut network = Network::sending(LAYOUT, Faults::default(), 1);
    for garbage in [
        vec![],
        vec![0; 31],
        head(1, 0, 5),
        head(IDS[1], 1, 5),
        head(IDS[1], u32::MAX, 5),
        head(IDS[1], 0, 5),
        head(IDS[1], 0, 1 << 22),
        head(IDS[1], 0, u64::MAX),
    ] {
        network.inject(stranger(), address(1), &garbage);
    }
    network.finish();
    network.assert_whole(&LAYOUT);
    let expected = Ignored { stray: 3, session: 2, forged: 2, replayed: 1, senseless: 0 };
    assert_eq!(network.ends[1].counted().ignored, expected);
}

/// A peer that is who it is, and wrong: what it sends of flows and packets that there are not.
#[test]
fn what_makes_no_sense_is_not_acknowledged() {
    let mut network = Network::new(Faults::default(), 1);
    let other = Layout { mtu: 999, ..LAYOUT };
    network.expect(Layout { flows: 1, operations: 2, ..LAYOUT });
    network.send(other, &swift());
    network.run_until(Time::ZERO + Span::from_ms(500));
    assert_eq!(network.kept.0.lock().unwrap().len(), 0);
    let senseless = network.ends[1].counted().ignored.senseless;
    assert!(senseless > 0 && network.ends[0].counted().acks == 0);
    assert_eq!(senseless, network.ends[1].counted().ignored.total());
}

/// The same endpoint, reached at other addresses: what it sealed moves it, and what anyone changed does not.
#[test]
fn a_peer_that_moves_is_followed() {
    let mut network = Network::sending(LAYOUT, Faults::default(), 1);
    let now = network.now;
    let mut next = || {
        let mut buffer = vec![0; 4000];
        let (length, _) = network.ends[0].transmit(now, &mut buffer).unwrap();
        buffer.truncate(length);
        buffer
    };
    let datagrams = [next(), next()];
    let mut changed = datagrams[1].clone();
    *changed.last_mut().unwrap() ^= 1;
    let mut receiver = Network::new(Faults::default(), 1);
    receiver.expect(LAYOUT);
    let mut answered = |from, datagram: &Vec<u8>| {
        let arrival = Arrival { from, received: now, hops: 0 };
        receiver.ends[1].handle_datagram(now, &arrival, &mut datagram.clone());
        receiver.ends[1].transmit(now, &mut vec![0; 4000]).map(|(_, to)| to)
    };
    assert_eq!(answered(stranger(), &datagrams[0]), Some(stranger()));
    assert_eq!(answered(address(0), &changed), None);
    assert_eq!(answered(stranger(), &datagrams[1]), Some(stranger()));
}

/// A path that stalls for two seconds: the flow goes on within a quarter of a second once it is back.
#[test]
fn a_flow_goes_on_soon_after_its_path_does() {
    let (down, up) = (Time::ZERO + Span::from_ms(3), Time::ZERO + Span::from_ms(2003));
    let layout = Layout { operations: 400, size: 10_000, mtu: 1000, flows: 1 };
    let params = SwiftParams { max_rto: Span::from_ms(200), ..swift() };
    let mut network = Network::new(Faults::default(), 1);
    network.expect(layout);
    network.send(layout, &params);
    network.tap = Box::new(move |now, _, _| now < down || now >= up);
    network.run_until(up);
    assert!(network.events[0].is_empty(), "it was done before the path stalled");
    network.finish();
    network.assert_whole(&layout);
    let took = network.now.since(up);
    assert!(took < Span::from_ms(450), "{took:?}");
}

/// Keys change in the middle of a transfer, and datagrams of both keys overtake each other.
#[test]
fn keys_change_while_packets_fly() {
    let layout = Layout { operations: 300, size: 10_000, mtu: 1000, flows: 1 };
    let mut network = Network::sending(layout, Faults { delayed: 5, lost: 40, ..Faults::default() }, 5);
    network.run_until(Time::ZERO + Span::from_ms(2));
    // Ten minutes later, as far as both ends can tell.
    network.now = Time::ZERO + Span::from_secs(601);
    network.finish();
    network.assert_whole(&layout);
    assert_eq!(network.ends[1].counted().ignored.forged, 0);
}

#[test]
fn a_closed_session_forgets_its_flows_and_its_number_can_be_used_again() {
    let mut network = Network::sending(LAYOUT, Faults::default(), 1);
    network.run_until(Time::ZERO + Span::from_us(1015));
    network.ends[0].close(0);
    assert_eq!(network.ends[0].sending().count(), 0);
    network.finish();
    assert!(network.events[0].is_empty());
    let now = network.now;
    network.ends.iter_mut().enumerate().for_each(|(end, machine)| machine.open(now, 0, &peer(end)));
    network.expect(LAYOUT);
    network.send(LAYOUT, &swift());
    network.finish();
    network.assert_whole(&LAYOUT);
}

struct Broken;

impl Content for Broken {
    fn read(&mut self, _: u64, _: &mut [u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::UnexpectedEof.into())
    }
}

impl Keep for Broken {
    fn write(&mut self, _: u64, _: &[u8]) -> std::io::Result<()> {
        Err(std::io::ErrorKind::StorageFull.into())
    }
}

#[test]
fn a_source_that_cannot_be_read_and_a_file_that_cannot_be_written_are_told() {
    let mut network = Network::new(Faults::default(), 1);
    let (id, carried) = (FlowId { session: 0, flow: 0 }, Carried::whole(5000, 1000));
    let keep = Some(Box::new(Broken) as Box<dyn Keep>);
    network.ends[1].expect(Incoming { id, carried, receiver: AnyReceiver::selective(64), keep });
    let sender = AnyScheme::Swift(swift()).sender(1000);
    let content = Some(Box::new(Broken) as Box<dyn Content>);
    let now = network.now;
    network.ends[0].send(
        now,
        Outgoing { id, carried, outstanding: 1, content, sender: sender.clone(), shown: Arc::default() },
    );
    network.finish();
    assert!(matches!(network.events[0][..], [Event::Unreadable(FlowId { flow: 0, .. }, _)]));
    network.ends[0]
        .send(now, Outgoing { id, carried, outstanding: 1, content: None, sender, shown: Arc::default() });
    network.run_until(network.now + Span::from_ms(50));
    assert!(matches!(network.events[1][..], [Event::Unkept(FlowId { flow: 0, .. }, _)]));
}

#[test]
fn a_stamp_before_the_packet_went_is_not_believed() {
    let mut network = Network::sending(LAYOUT, Faults::default(), 1);
    network.early = Span::from_ms(1);
    network.finish();
    let latest = network.ends[0].measured().and_then(|measured| measured.latest).unwrap();
    assert_eq!((latest.rtt, latest.endpoint), (Span::from_us(20), Span::from_us(20)));
}

#[test]
fn endpoint_delay_is_what_passed_in_hosts() {
    let mut network = Network::sending(LAYOUT, Faults::default(), 1);
    network.finish();
    // Hosts that take no time, and a network that takes 10 us each way.
    let latest = network.ends[0].measured().and_then(|measured| measured.latest).unwrap();
    assert_eq!((latest.rtt, latest.endpoint), (Span::from_us(20), Span::ZERO));
}

/// An endpoint with ten thousand flows: each gets its turn, and what is done is forgotten.
#[test]
fn many_flows_share_an_endpoint() {
    let layout = Layout { operations: 10_000, size: 3000, mtu: 1000, flows: 5000 };
    let mut network = Network::new(Faults::default(), 1);
    network.ends = IDS.map(|id| Machine::new(id, false));
    let now = network.now;
    network.ends.iter_mut().enumerate().for_each(|(end, machine)| machine.open(now, 0, &peer(end)));
    let sender = AnyScheme::Swift(swift()).sender(1000);
    for part in 0..layout.flows {
        let (id, carried) = (FlowId { session: 0, flow: part }, Carried { layout, part });
        network.ends[1].expect(Incoming { id, carried, receiver: AnyReceiver::selective(64), keep: None });
        let flow = Outgoing {
            id,
            carried,
            outstanding: 1,
            content: None,
            sender: sender.clone(),
            shown: Arc::default(),
        };
        assert!(network.ends[0].send(now, flow));
    }
    let mut buffer = vec![0; 4000];
    // Each has sent something before any has sent all: turns are of a few packets.
    let mut flows = std::collections::BTreeSet::new();
    for _ in 0..5000 * 3 {
        if network.ends[0].readiness(now) != Readiness::Ready {
            break;
        }
        network.ends[0].transmit(now, &mut buffer);
    }
    for (id, figures) in network.ends[0].sending() {
        if figures.packets > 0 {
            flows.insert(id.flow);
        }
    }
    assert_eq!(flows.len(), 5000);
    // Those first packets are lost; timers bring them back.
    network.finish();
    assert_eq!(network.ends[0].sending().count(), 0);
    assert_eq!(network.events[0].len(), 5000);
    assert_eq!(network.ends[1].received().map(|(_, flow)| flow.bytes).sum::<u64>(), layout.bytes());
}
