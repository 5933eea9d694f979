//! Any bytes are a header that encodes to the same bytes, or an error; never a panic.
#![no_main]

use clearway_proto::swift::header::{Packet, HEADER_BYTES};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((flow, packet)) = Packet::decode(bytes) {
        let mut again = [0; HEADER_BYTES as usize];
        packet.encode(flow, &mut again);
        assert_eq!(again[..], bytes[..again.len()]);
    }
});
