//! The bytes of datagrams and of the header in them.

use clearway_host::daemon::packet::{Body, Datagram, PREFIX_BYTES};
use clearway_proto::swift::header::{Packet, HEADER_BYTES};

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

/// Any bytes are a datagram that encodes to the same bytes, or an error that can be shown.
pub fn datagram(bytes: &[u8]) {
    match Datagram::decode(bytes) {
        Ok((datagram, rest)) => {
            match datagram.body {
                Body::Open(_) => {}
                Body::Flow(_, Packet::Data(data)) => assert_eq!(data.payload as usize, rest.len()),
                body => assert!(rest.is_empty(), "{} bytes behind {body:?}", rest.len()),
            }
            let mut again = vec![0; PREFIX_BYTES];
            datagram.encode(&mut again);
            again.extend(rest);
            assert_eq!(again, bytes, "a datagram that is written otherwise");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
