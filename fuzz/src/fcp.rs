//! The bytes of Fastpass's control packets.

use clearway_proto::fastpass::fcp::header::{DecodeError, MAX_BYTES};
use clearway_proto::fastpass::fcp::Packet;

/// Any bytes are a packet that encodes to the same bytes, or an error that can be shown. The checksum is put right first, as
/// no fuzzer would guess it.
pub fn fcp(bytes: &[u8]) {
    match Packet::decode(bytes) {
        Err(DecodeError::Checksum { wanted, .. }) => {
            let mut sealed = bytes.to_vec();
            sealed[2..4].copy_from_slice(&wanted.to_be_bytes());
            has_one_form(&sealed);
        }
        _ => has_one_form(bytes),
    }
}

fn has_one_form(bytes: &[u8]) {
    match Packet::decode(bytes) {
        Ok(packet) => {
            let mut again = [0; MAX_BYTES];
            let len = packet.encode(&mut again).expect("a packet that was read");
            assert_eq!(&again[..len], bytes, "a packet that is written otherwise");
            assert_eq!(packet.bytes() as usize, len);
        }
        Err(error) => {
            assert!(
                !matches!(error, DecodeError::Checksum { .. }),
                "a checksum that is wrong when put right"
            );
            assert!(!error.to_string().is_empty());
        }
    }
}
