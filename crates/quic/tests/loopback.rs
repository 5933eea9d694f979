//! A transfer of each library over loopback, bounded in time: all bytes come, and delay keeps a window.

use std::sync::Arc;

use crate::transfer::{in_time, quinn, s2n};

const BYTES: u64 = 4_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn s2n_quic_carries_a_transfer_with_swift() {
    let swift = clearway_quic::s2n::Swift::new(clearway_quic::defaults());
    let address = "127.0.0.1:0".parse().expect("an address");
    let outcome = in_time(s2n::transfer(address, BYTES, swift)).await.expect("a transfer");
    assert!(outcome.rtt > std::time::Duration::ZERO, "{outcome}");
}

#[tokio::test(flavor = "multi_thread")]
async fn quinn_carries_a_transfer_with_swift() {
    let swift = Arc::new(clearway_quic::quinn::Swift::new(clearway_quic::defaults()));
    let address = "127.0.0.1:0".parse().expect("an address");
    let outcome = in_time(quinn::transfer(address, BYTES, Some(swift))).await.expect("a transfer");
    assert_eq!(outcome.bytes, BYTES);
}
