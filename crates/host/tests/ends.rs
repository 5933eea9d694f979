//! Both ends in virtual time: whatever the network and strangers do, bytes arrive as they were sent or both ends say
//! that they did not, and nothing waits for ever.

use clearway_host::daemon::driver::{Arrival, Endpoint};
use clearway_host::daemon::layout::Layout;
use clearway_host::daemon::packet::{Body, Datagram, Finish, Finished, Open, Reason, Verdict, PREFIX_BYTES};
use clearway_host::daemon::receive::ReceiveError;
use clearway_host::daemon::report::Ignored;
use clearway_host::daemon::send::{SendError, Sending, Task};
use clearway_proto::machine::Readiness;
use clearway_proto::swift::header::Packet;
use clearway_proto::swift::{SwiftParams, Variant};
use clearway_proto::transport::{Ack, Data};
use clearway_proto::units::{Span, Time};
use proptest::prelude::*;
use rustix::io::Errno;

use crate::network::{
    is_generated, partials, receiver_address, scratch, sender_address, stranger, task, Faults, Network,
    Random, CONNECTION, IDLE,
};

const LAYOUT: Layout = Layout { operations: 40, size: 2500, mtu: 1000, flows: 2 };

fn datagram(connection: u64, body: Body, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; PREFIX_BYTES];
    Datagram { connection, body }.encode(&mut bytes);
    bytes.extend(payload);
    bytes
}

fn data(seq: u32, payload: u32, last: bool) -> Body {
    Body::Flow(0, Packet::Data(Data { seq, payload, last, sent: Time::ZERO }))
}

fn ack(seq: u32, cumulative: u32) -> Ack {
    Ack {
        seq,
        cumulative,
        sack: 0,
        echo: Time::ZERO,
        congestion_experienced: false,
        hops: 0,
        remote_queuing_us: 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]
    #[test]
    fn bytes_arrive_as_they_were_sent(
        operations in 0..30_u64, size in 1..9000_u64, mtu in 300..3000_u32, flows in 1..4_u32,
        lost in prop_oneof![Just(0_u64), 5..50_u64],
        repeated in prop_oneof![Just(0_u64), 5..50_u64],
        delayed in prop_oneof![Just(0_u64), 5..50_u64],
        seed: u64,
    ) {
        let layout = Layout { operations, size, mtu, flows };
        let out = scratch(&format!("ends-{seed:x}"));
        let faults = Faults { lost, repeated, delayed, changed: 0 };
        let outcome = Network::new(task(layout), Some(out.clone()), faults, seed).finish();
        outcome.assert_whole(layout.bytes());
        prop_assert_eq!(outcome.transfers[0].received.messages, operations);
        prop_assert_eq!(outcome.sent.latency.count(), operations);
        prop_assert!(is_generated(&out, layout.bytes()));
        std::fs::remove_file(&out).unwrap();
    }

    /// Changed datagrams are garbage or a wrong payload; never a transfer that only looks whole.
    #[test]
    fn changed_bytes_never_pass(changed in 3..300_u64, seed: u64) {
        let out = scratch(&format!("changed-{seed:x}"));
        let faults = Faults { changed, ..Faults::default() };
        let outcome = Network::new(task(LAYOUT), Some(out.clone()), faults, seed).finish();
        let kept = outcome.transfers.iter().any(|transfer| transfer.error.is_none());
        prop_assert_eq!(out.exists(), kept);
        if kept {
            prop_assert!(is_generated(&out, LAYOUT.bytes()));
            std::fs::remove_file(&out).unwrap();
        }
        if outcome.error.is_none() {
            prop_assert!(kept, "the sender believes what the receiver does not");
        }
    }
}

#[test]
fn a_payload_that_changes_fails_at_both_ends() {
    let out = scratch("differs");
    let mut network = Network::new(task(LAYOUT), Some(out.clone()), Faults::default(), 1);
    let mut first = true;
    network.tap = Box::new(move |_, to, bytes| {
        if to == receiver_address() && bytes[8] == 0x11 && std::mem::take(&mut first) {
            bytes[PREFIX_BYTES + 3] ^= 1;
        }
        true
    });
    let outcome = network.finish();
    assert!(matches!(outcome.error, Some(SendError::Differs)), "{:?}", outcome.error);
    assert!(matches!(outcome.transfers[0].error, Some(ReceiveError::Differs)));
    assert!(!out.exists() && partials(&out).is_empty());
}

#[test]
fn a_verdict_is_believed_with_the_right_digest_only() {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    network.tap = Box::new(|_, _, bytes| {
        if bytes[8] == 0x16 {
            bytes[39] ^= 1;
        }
        true
    });
    assert!(matches!(network.finish().error, Some(SendError::Differs)));
}

#[test]
fn nobody_there_ends_after_the_idle_time() {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    network.tap = Box::new(|_, _, _| false);
    let outcome = network.finish();
    assert!(
        matches!(outcome.error, Some(SendError::NoAnswer(attempts)) if attempts == 8),
        "{:?}",
        outcome.error
    );
    assert!(outcome.now.since(Time::ZERO) < IDLE * 2);
    assert!(outcome.transfers.is_empty());
}

#[test]
fn a_peer_that_stops_is_given_up_by_the_other_end() {
    // From some datagram on, nothing passes any more: first early, then in the midst of it, then at its end.
    for passing in [3, 60, 200, 242] {
        let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
        let mut seen = 0;
        network.tap = Box::new(move |_, _, _| {
            seen += 1;
            seen <= passing
        });
        let outcome = network.finish();
        assert!(matches!(outcome.error, Some(SendError::Stopped(IDLE))), "{passing}: {:?}", outcome.error);
        let transfer = &outcome.transfers[0];
        assert!(
            matches!(transfer.error, Some(ReceiveError::Stopped(IDLE))),
            "{passing}: {:?}",
            transfer.error
        );
    }
}

#[test]
fn a_peer_that_answers_without_progress_is_given_up() {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    // Acknowledgements say for ever what the first one said.
    let mut first: Option<Vec<u8>> = None;
    network.tap = Box::new(move |_, to, bytes| {
        if to == sender_address() && bytes[8] == 0x12 {
            *bytes = first.get_or_insert_with(|| bytes.clone()).clone();
        }
        true
    });
    let outcome = network.finish();
    assert!(matches!(outcome.error, Some(SendError::Stopped(IDLE))), "{:?}", outcome.error);
    assert!(matches!(outcome.transfers[0].error, Some(ReceiveError::Stopped(IDLE))));
}

#[test]
fn a_lost_end_is_told_again() {
    // The finish, what answers it, and the close are each lost twice.
    for kind in [0x15, 0x16, 0x17] {
        let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
        let mut lost = 0;
        network.tap = Box::new(move |_, _, bytes| {
            lost += u32::from(bytes[8] == kind);
            bytes[8] != kind || lost > 2
        });
        network.finish().assert_whole(LAYOUT.bytes());
    }
}

/// A transfer into which `garbage` is sent with every seventh of its datagrams, to where that goes.
fn disturbed(from: impl Fn(bool) -> std::net::SocketAddr + 'static, garbage: Vec<Vec<u8>>) -> [Ignored; 2] {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    let injected = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let queue = injected.clone();
    let mut seen = 0_usize;
    network.tap = Box::new(move |_, to, _| {
        seen += 1;
        if seen % 7 == 0 {
            queue.borrow_mut().push((to, garbage[seen / 7 % garbage.len()].clone()));
        }
        true
    });
    let outcome = loop {
        let more: Vec<_> = injected.borrow_mut().drain(..).collect();
        for (to, bytes) in more {
            network.inject(from(to == receiver_address()), to, &bytes);
        }
        if !network.advance() {
            break network.finish();
        }
    };
    outcome.assert_whole(LAYOUT.bytes());
    [outcome.sent.ignored, outcome.transfers[0].received.ignored]
}

fn peer_of(receiver: bool) -> std::net::SocketAddr {
    if receiver {
        sender_address()
    } else {
        receiver_address()
    }
}

#[test]
fn garbage_is_counted_and_ignored() {
    let mut random = Random::new(7);
    let mut noise = |len: usize| (0..len).map(|_| random.next() as u8).collect::<Vec<u8>>();
    let whole = datagram(CONNECTION, data(0, 4, false), b"1234");
    let mut other_version = whole.clone();
    other_version[8] = 0x21;
    let mut garbage =
        vec![Vec::new(), noise(1), noise(43), noise(44), noise(300), noise(2000), other_version];
    garbage.extend([whole[..whole.len() - 1].to_vec(), whole[..20].to_vec(), [&whole[..], b"5"].concat()]);
    for ignored in disturbed(peer_of, garbage) {
        assert!(ignored.malformed > 10, "{ignored:?}");
        assert_eq!(ignored.total(), ignored.malformed);
    }
}

#[test]
fn another_connections_datagrams_are_counted_and_ignored() {
    let bodies = [
        Body::Flow(0, Packet::Ack(ack(0, 1))),
        Body::Accept,
        Body::Finish(Finish { sent: 0, digest: 0 }),
        Body::Finished(Finished { verdict: Verdict::Differs, arrived: 0, digest: 0 }),
        Body::Close(Reason::Done),
    ];
    let garbage = bodies.map(|body| datagram(CONNECTION + 1, body, &[])).to_vec();
    for ignored in disturbed(peer_of, garbage) {
        assert!(ignored.connection > 5, "{ignored:?}");
        assert_eq!(ignored.total(), ignored.connection);
    }
}

#[test]
fn another_addresss_datagrams_are_counted_and_ignored() {
    let bodies = [
        Body::Accept,
        Body::Finish(Finish { sent: 0, digest: 0 }),
        Body::Finished(Finished { verdict: Verdict::Differs, arrived: 0, digest: 0 }),
        Body::Close(Reason::Done),
    ];
    let mut garbage = bodies.map(|body| datagram(CONNECTION, body, &[])).to_vec();
    garbage.push(datagram(CONNECTION, data(0, 1000, false), &[0xff; 1000]));
    for ignored in disturbed(|_| stranger(), garbage) {
        assert!(ignored.address > 5, "{ignored:?}");
    }
}

#[test]
fn packets_that_there_are_not_are_counted_and_ignored() {
    let packets = LAYOUT.packets_of(0);
    let far = |seq| datagram(CONNECTION, data(seq, 1000, false), &[0xff; 1000]);
    let odd = datagram(CONNECTION, data(packets - 1, 400, true), &[0xff; 400]);
    let flow = Body::Flow(2, Packet::Data(Data { seq: 0, payload: 1, last: false, sent: Time::ZERO }));
    let never_sent =
        |seq, cumulative| datagram(CONNECTION, Body::Flow(0, Packet::Ack(ack(seq, cumulative))), &[]);
    let future = Ack { echo: Time::NEVER, ..ack(0, 1) };
    let garbage = vec![
        far(packets),
        far(u32::MAX - 1),
        odd,
        datagram(CONNECTION, flow, b"?"),
        never_sent(packets + 7, 0),
        never_sent(0, u32::MAX),
        never_sent(5, 5),
        datagram(CONNECTION, Body::Flow(0, Packet::Ack(future)), &[]),
    ];
    for ignored in disturbed(peer_of, garbage) {
        assert!(ignored.sequence > 5, "{ignored:?}");
        assert_eq!(ignored.total(), ignored.sequence + ignored.unexpected, "{ignored:?}");
    }
}

#[test]
fn a_second_sender_is_told_to_wait_and_disturbs_nothing() {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    let open = Body::Open(Open { layout: LAYOUT, reach: 64 });
    let answers = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = answers.clone();
    network.tap = Box::new(move |_, to, bytes| {
        if to == stranger() {
            seen.borrow_mut().push(Datagram::decode(bytes).unwrap().0);
        }
        true
    });
    for _ in 0..5 {
        network.advance();
    }
    network.inject(stranger(), receiver_address(), &datagram(99, open, &[0; 100]));
    network.finish().assert_whole(LAYOUT.bytes());
    assert_eq!(answers.borrow()[..], [Datagram { connection: 99, body: Body::Close(Reason::Busy) }]);
}

#[test]
fn what_no_receiver_takes_is_refused() {
    let bad = [
        Open { layout: Layout { mtu: 0, ..LAYOUT }, reach: 64 },
        Open { layout: Layout { operations: u64::MAX, ..LAYOUT }, reach: 64 },
        Open { layout: LAYOUT, reach: 63 },
        Open { layout: LAYOUT, reach: 1 << 31 },
        Open { layout: LAYOUT, reach: 0 },
    ];
    for open in bad {
        let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
        network.tap = Box::new(move |_, to, bytes| {
            if to == receiver_address() && bytes[8] == 0x13 {
                *bytes = datagram(CONNECTION, Body::Open(open), &[]);
            }
            true
        });
        let outcome = network.finish();
        assert!(
            matches!(outcome.error, Some(SendError::Closed(Reason::Layout))),
            "{open:?}: {:?}",
            outcome.error
        );
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_to_the_sender() {
    let out = scratch("no-such-directory").join("file");
    let outcome = Network::new(task(LAYOUT), Some(out), Faults::default(), 1).finish();
    assert!(matches!(outcome.error, Some(SendError::Closed(Reason::File))), "{:?}", outcome.error);
    assert!(matches!(outcome.transfers[0].error, Some(ReceiveError::Sink(_))));
}

#[test]
fn a_file_that_becomes_shorter_is_told_to_the_receiver() {
    let path = scratch("shorter");
    std::fs::write(&path, vec![7; 50_000]).unwrap();
    let source = clearway_host::daemon::content::Source::file(std::fs::File::open(&path).unwrap());
    let layout = Layout { operations: 1, size: 100_000, mtu: 1000, flows: 1 };
    let mut task = task(layout);
    task.source = source;
    let outcome = Network::new(task, None, Faults::default(), 1).finish();
    assert!(matches!(outcome.error, Some(SendError::Source(_))), "{:?}", outcome.error);
    assert!(matches!(outcome.transfers[0].error, Some(ReceiveError::Closed(Reason::File))));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_second_transfer_follows_the_first() {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    while network.advance() {}
    network.sending = Sending::new(network.now, Task { connection: CONNECTION + 1, ..task(LAYOUT) });
    let outcome = network.finish();
    assert!(outcome.error.is_none());
    assert_eq!(outcome.transfers.len(), 2);
    assert!(outcome.transfers.iter().all(|t| t.error.is_none() && t.received.payload == LAYOUT.bytes()));
}

#[test]
fn an_open_that_comes_late_opens_nothing() {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    while network.advance() {}
    let open = Body::Open(Open { layout: LAYOUT, reach: 64 });
    network.inject(sender_address(), receiver_address(), &datagram(CONNECTION, open, &[0; 1000]));
    let outcome = network.finish();
    outcome.assert_whole(LAYOUT.bytes());
    assert!(outcome.now.since(Time::ZERO) < IDLE);
}

#[test]
fn a_receiver_answers_as_long_as_it_is_asked() {
    let task = Task { idle_timeout: Span::from_secs(2), ..task(LAYOUT) };
    let mut network = Network::new(task, None, Faults::default(), 1);
    let mut lost = 0;
    network.tap = Box::new(move |_, _, bytes| {
        lost += u32::from(bytes[8] == 0x16);
        bytes[8] != 0x16 || lost > 20
    });
    network.finish().assert_whole(LAYOUT.bytes());
}

#[test]
fn a_finish_that_comes_early_finishes_nothing() {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    for _ in 0..3 {
        network.advance();
    }
    let finish = datagram(CONNECTION, Body::Finish(Finish { sent: 0, digest: 0 }), &[]);
    network.inject(sender_address(), receiver_address(), &finish);
    let outcome = network.finish();
    outcome.assert_whole(LAYOUT.bytes());
    assert_eq!(outcome.transfers[0].received.ignored.unexpected, 1);
}

#[test]
fn echoes_of_the_future_acknowledge_nothing() {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    network.tap = Box::new(|_, to, bytes| {
        if to == sender_address() && bytes[8] == 0x12 {
            bytes[24..32].fill(0xff);
        }
        true
    });
    let outcome = network.finish();
    assert!(matches!(outcome.error, Some(SendError::Stopped(IDLE))), "{:?}", outcome.error);
    assert_eq!(outcome.sent.ignored.sequence, outcome.sent.ignored.total());
    assert!(outcome.sent.ignored.sequence > 0 && outcome.sent.acks == 0);
}

#[test]
fn acknowledgements_of_nothing_new_are_no_progress() {
    let start = Time::ZERO + Span::from_ms(1);
    let mut sending = Sending::new(start, task(LAYOUT));
    let mut buffer = vec![0; 2000];
    let arrival = |now| Arrival { from: receiver_address(), received: now, hops: 0 };
    sending.transmit(start, &mut buffer);
    sending.handle_datagram(start, &arrival(start), &datagram(CONNECTION, Body::Accept, &[]));
    while sending.readiness(start) == Readiness::Ready {
        sending.transmit(start, &mut buffer);
    }
    let same = datagram(CONNECTION, Body::Flow(0, Packet::Ack(ack(0, 1))), &[]);
    for step in 1..=50 {
        let now = start + Span::from_ms(10 * step);
        sending.handle_datagram(now, &arrival(now), &same);
        sending.handle_timeout(now);
        assert_eq!(sending.is_over(), Span::from_ms(10 * (step - 1)) >= IDLE, "after {step}");
    }
    assert!(matches!(sending.into_report().1, Some(SendError::Stopped(IDLE))));
}

#[test]
fn a_stamp_before_the_packet_went_is_not_believed() {
    let mut network = Network::new(task(LAYOUT), None, Faults::default(), 1);
    network.early = Span::from_ms(1);
    let outcome = network.finish();
    let latest = outcome.sent.delays.latest().unwrap();
    assert_eq!((latest.rtt, latest.endpoint), (Span::from_us(20), Span::from_us(20)));
}

#[test]
fn endpoint_delay_is_what_passed_in_hosts() {
    let outcome = Network::new(task(LAYOUT), None, Faults::default(), 1).finish();
    // Hosts that take no time, and a network that takes 10 us each way.
    let latest = outcome.sent.delays.latest().unwrap();
    assert_eq!((latest.rtt, latest.endpoint), (Span::from_us(20), Span::ZERO));
}

/// A delay that no window watches has no target to miss.
#[test]
fn only_a_target_that_a_window_has_can_be_missed() {
    let watched = |endpoint_window, variant| {
        let mut task = task(LAYOUT);
        task.swift = SwiftParams {
            variant,
            endpoint_window,
            base_target: Span::from_us(5),
            endpoint_target: Span::from_us(10),
            topology_scaling: false,
            flow_scaling: false,
            min_cwnd: 1.0,
            ..task.swift
        };
        let mut network = Network::new(task, None, Faults::default(), 1);
        // Round trips of 20 us, all of them in the hosts.
        network.early = Span::from_ms(1);
        while network.advance() {}
        network.sending.unmet_target().map(|unmet| (unmet.option, unmet.least))
    };
    let round_trip = Span::from_us(20);
    assert_eq!(watched(true, Variant::Swift), Some(("endpoint-target", round_trip)));
    assert_eq!(watched(false, Variant::Swift), None);
    assert_eq!(watched(true, Variant::V0), Some(("base-target", round_trip)));
}

/// A host that has no room for a datagram has some a little later; one that has no way to the peer has none then either.
#[test]
fn an_error_of_sending_ends_an_opening_unless_it_may_pass() {
    for (code, ends) in [(Errno::NOBUFS, false), (Errno::NOMEM, false), (Errno::NETUNREACH, true)] {
        let now = Time::ZERO + Span::from_ms(1);
        let mut sending = Sending::new(now, task(LAYOUT));
        sending.handle_send_error(now, &std::io::Error::from(code));
        assert_eq!(sending.is_over(), ends, "{code:?}");
        let (sent, error) = sending.into_report();
        assert_eq!((sent.unsendable, error.is_some()), (1, ends));
    }
}
