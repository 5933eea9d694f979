//! Two wires, and what is done to datagrams between them.

use clearway_proto::fastpass::fcp::Watchdog;

use super::*;
use crate::datagram::seal::Secret;

const IDS: [u32; 2] = [11, 22];

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn address(end: u8) -> SocketAddr {
    ([10, 0, 0, end], 7600).into()
}

/// An endpoint's wire and an arbiter's, whose clock is 3 us ahead, with a session between them.
fn ends() -> (Wire, Wire) {
    let (mut endpoint, mut arbiter) = (Wire::new(IDS[0], 5_000_000), Wire::new(IDS[1], 5_003_000));
    let secret = Secret([9; 32]);
    let of = |address, endpoint, session, dialed| session::Peer {
        address,
        endpoint,
        session,
        dialed,
        secret: secret.clone(),
        sealed: true,
    };
    endpoint.open(us(0), 3, Peer::Arbiter(0), &of(address(2), IDS[1], 7, true));
    arbiter.open(us(0), 7, Peer::Endpoint(4), &of(address(1), IDS[0], 3, false));
    (endpoint, arbiter)
}

fn sealed(wire: &mut Wire, peer: Peer, text: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; 2048];
    let write = |to: &mut [u8]| {
        to[..text.len()].copy_from_slice(text);
        text.len()
    };
    let number = wire.sessions(peer).next().expect("there is a session");
    let (length, _) = wire.seal(number, &mut buffer, write).expect("it is open");
    buffer.truncate(length);
    buffer
}

fn opened(wire: &mut Wire, from: SocketAddr, datagram: &[u8]) -> Option<(Peer, Vec<u8>)> {
    let arrival = Arrival { from, received: us(10), hops: 0 };
    let mut bytes = datagram.to_vec();
    wire.receive(us(10), &arrival, &mut bytes).map(|(peer, text)| (peer, text.to_vec()))
}

#[test]
fn a_packet_is_the_peers_and_comes_once() {
    let (mut endpoint, mut arbiter) = ends();
    let datagram = sealed(&mut endpoint, Peer::Arbiter(0), b"\x11 request");
    let found = opened(&mut arbiter, address(1), &datagram);
    assert_eq!(found, Some((Peer::Endpoint(4), b"\x11 request".to_vec())));
    assert_eq!(opened(&mut arbiter, address(1), &datagram), None);
    assert_eq!(arbiter.ignored(), Ignored { replayed: 1, ..Ignored::default() });
    let mut buffer = [0; 2048];
    assert_eq!(endpoint.write(Peer::Arbiter(1), &Packet::Watchdog(Watchdog::default()), &mut buffer), None);
}

#[test]
fn a_changed_datagram_is_ignored_whichever_bit_it_is() {
    let (mut endpoint, mut arbiter) = ends();
    let datagram = sealed(&mut endpoint, Peer::Arbiter(0), b"\x11");
    for bit in 0..datagram.len() * 8 {
        let mut changed = datagram.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(opened(&mut arbiter, address(1), &changed), None, "bit {bit}");
    }
    for length in 0..datagram.len() {
        assert_eq!(opened(&mut arbiter, address(1), &datagram[..length]), None, "{length} bytes");
    }
    // Its own datagrams, sent back to it.
    assert_eq!(opened(&mut endpoint, address(2), &datagram), None);
    assert!(opened(&mut arbiter, address(1), &datagram).is_some());
}

/// All packets due at `now` cross from one wire to the other, which takes `way_us`.
fn exchange(from: &mut Wire, to: &mut Wire, end: u8, now: Time, way_us: u64) -> u32 {
    let mut count = 0;
    while from.readiness(now) == Readiness::Ready {
        let mut buffer = vec![0; 2048];
        let Some((length, _)) = from.transmit(now, &mut buffer) else { continue };
        let received = now + Span::from_us(way_us);
        let arrival = Arrival { from: address(end), received, hops: 0 };
        assert_eq!(to.receive(received, &arrival, &mut buffer[..length]), None);
        count += 1;
    }
    count
}

#[test]
fn pings_tell_both_ends_how_far_their_clocks_are_apart() {
    let (mut endpoint, mut arbiter) = ends();
    for round in 0..3 {
        let now = Time::ZERO + PING * round;
        assert_eq!(exchange(&mut endpoint, &mut arbiter, 1, now, 20), 1);
        assert_eq!(exchange(&mut arbiter, &mut endpoint, 2, now + Span::from_us(20), 20), 1);
    }
    let offset = endpoint.offset(Peer::Arbiter(0)).unwrap();
    assert_eq!(offset, Offset { ahead_ns: 3000, within_ns: 20_000 });
    let figures = arbiter.figures(us(100_000));
    // The latest ping told of what those before had found.
    assert_eq!(figures[0].offset, Some(Offset { ahead_ns: -3000, within_ns: 20_000 }));
    assert_eq!(figures[0].peer, Peer::Endpoint(4));
}

#[test]
fn a_session_without_answers_dies_and_is_told_of_once() {
    let (mut endpoint, _) = ends();
    let mut now = us(0);
    let mut pings = 0;
    while endpoint.peers().next().is_some() {
        let Readiness::At(at) = endpoint.readiness(now) else {
            let mut buffer = [0; 2048];
            pings += u64::from(endpoint.transmit(now, &mut buffer).is_some());
            continue;
        };
        now = at;
    }
    assert!(now > Time::ZERO + SILENCE && now <= Time::ZERO + SILENCE + PING * 2, "{now:?}");
    assert_eq!(pings, SILENCE.as_ps() / PING.as_ps() + 1);
    assert_eq!((endpoint.poll_lost(), endpoint.poll_lost()), (Some(3), None));
    assert_eq!(endpoint.readiness(now), Readiness::Idle);
}

#[test]
fn a_new_session_with_a_peer_ends_the_one_before() {
    let (mut endpoint, mut arbiter) = ends();
    let old = sealed(&mut endpoint, Peer::Arbiter(0), b"\x11");
    let of = session::Peer {
        address: address(1),
        endpoint: IDS[0],
        session: 4,
        dialed: false,
        secret: Secret([8; 32]),
        sealed: true,
    };
    arbiter.open(us(20), 8, Peer::Endpoint(4), &of);
    assert_eq!(opened(&mut arbiter, address(1), &old), None);
    assert_eq!((arbiter.ignored().unknown, arbiter.peers().count()), (1, 1));
}
