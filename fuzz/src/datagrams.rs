//! The bytes of datagrams and of the header in them, and what two ends of a transfer say to each other.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use clearway_host::datagram::driver::{Arrival, Endpoint};
use clearway_host::datagram::flow::{Carried, FlowId, Incoming, Outgoing};
use clearway_host::datagram::machine::Machine;
use clearway_host::datagram::scheme::{AnyReceiver, AnyScheme};
use clearway_host::datagram::seal::Secret;
use clearway_host::datagram::session::Peer;
use clearway_host::transfer::Message;
use clearway_proto::machine::Readiness;
use clearway_proto::swift::header::{Packet, HEADER_BYTES};
use clearway_proto::swift::SwiftParams;
use clearway_proto::units::{Span, Time};

/// The number of the endpoint that gets the bytes.
const ID: u32 = 7;
const FLOW: FlowId = FlowId { session: 0, flow: 0 };

/// Any bytes are a header that encodes to the same bytes, or an error that can be shown.
pub fn header(bytes: &[u8]) {
    match Packet::decode(bytes) {
        Ok((flow, packet)) => {
            let mut again = [0; HEADER_BYTES as usize];
            packet.encode(flow, &mut again);
            assert_eq!(again[..], bytes[..again.len()], "a header that is written otherwise");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// An endpoint that sends one flow and expects another in the same session.
fn endpoint(sealed: bool) -> Machine {
    let (now, mut machine) = (Time::ZERO, Machine::new(ID, true));
    let address = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), 4000));
    let peer = Peer { address, endpoint: 9, session: 0, dialed: true, secret: Secret([1; 32]), sealed };
    machine.open(now, 0, &peer);
    let carried = Carried::whole(10_000, 1000);
    let swift = SwiftParams { reach: 64, max_cwnd: 64.0, ..SwiftParams::default() };
    let sender = AnyScheme::Swift(swift).sender(1000);
    machine.send(
        now,
        Outgoing { id: FLOW, carried, outstanding: 1, content: None, sender, shown: Arc::default() },
    );
    machine.expect(Incoming { id: FLOW, carried, receiver: AnyReceiver::selective(64), keep: None });
    machine
}

/// Any bytes are taken by an endpoint: those of a peer whose datagrams are sealed change nothing, and those of one that sends
/// plain ones leave it with no more than there is.
pub fn datagram(bytes: &[u8]) {
    for sealed in [true, false] {
        let (mut machine, mut now, mut buffer) = (endpoint(sealed), Time::ZERO, vec![0; 4000]);
        // The head that every datagram to it has, in front of what nobody thought of: several, behind their lengths.
        let mut rest = bytes;
        while let Some((&length, following)) = rest.split_first() {
            let length = (usize::from(length) * 8).min(following.len());
            let mut datagram = [&ID.to_be_bytes()[..], &[0; 4], &following[..length]].concat();
            rest = &following[length..];
            now = now + Span::from_us(5);
            let from = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 3), 4000));
            machine.handle_datagram(now, &Arrival { from, received: now, hops: 1 }, &mut datagram);
            while machine.readiness(now) == Readiness::Ready {
                machine.transmit(now, &mut buffer);
            }
            machine.handle_timeout(now);
        }
        let (_, received) = machine.received().next().expect("a flow that is expected");
        assert!(received.bytes <= 10_000 && received.duplicates <= received.packets);
        let sent = machine.sending().next();
        assert!(sent.is_none_or(|(_, sent)| sent.bytes <= 10_000));
        if sealed {
            assert_eq!((received.packets, machine.counted().acks), (0, 0), "a forged datagram was believed");
        }
    }
}

/// Any bytes are a message that is written as it is read, with a layout that was looked at before it is used, or an error that can be
/// shown.
pub fn message(bytes: &[u8]) {
    match serde_json::from_slice::<Message>(bytes) {
        Ok(message) => {
            let again = serde_json::to_vec(&message).expect("a message can be written");
            assert_eq!(serde_json::from_slice::<Message>(&again).ok().as_ref(), Some(&message));
            let Message::Offer { layout, .. } = message else { return };
            if layout.check().is_ok() {
                for part in 0..layout.flows {
                    let packets = layout.packets_of(part);
                    assert_eq!(layout.bytes_before(packets), layout.bytes_of(part));
                    assert!(layout.place(part, packets).is_none());
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
