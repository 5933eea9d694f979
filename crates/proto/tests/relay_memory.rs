//! A relay allocates no memory once it is made: the allocator of memory counts.

use clearway_proto::swing::relay::{Port, Relay, RelayParams, VirtualQueue};
use clearway_proto::units::{Bytes, Span, Time};

use crate::allocations::allocations;

#[test]
fn no_memory_is_allocated_after_construction() {
    let beyond = RelayParams {
        safety: Some(Bytes::new(40_900_000)),
        virtual_queue: Some(VirtualQueue { target: Bytes::new(20_000), above: Bytes::new(15_000) }),
        ..RelayParams::default()
    };
    for params in [RelayParams::default(), beyond] {
        let params = RelayParams { priorities: 2, ..params };
        let before = allocations();
        let mut relay = Relay::new(&params);
        assert!(allocations() > before, "the allocator of memory counts");
        let before = allocations();
        let mut pfc_frames = 0;
        for step in 0..100_000_u64 {
            let now = Time::ZERO + Span::from_ns(30) * step;
            let priority = (step % 2) as usize;
            for port in [Port::Local, Port::Remote] {
                let _ = relay.frame_arrived(port, priority, Bytes::new(1_500), now);
                let waits = relay.waiting(port, priority) > Bytes::new(150_000 + step % 60_000);
                let leaves = if port == Port::Local { Port::Remote } else { Port::Local };
                if waits && relay.may_begin(leaves, priority, now) {
                    relay.frame_left(leaves, priority, Bytes::new(1_500), now);
                    relay.frame_left(leaves, priority, Bytes::new(1_500), now);
                }
            }
            if step % 7 == 0 {
                relay.pause_received(Port::Local, priority, (step % 3) as u16 * 100, now);
            }
            if relay.poll_timeout() <= now {
                relay.handle_timeout(now);
            }
            for port in [Port::Local, Port::Remote] {
                while relay.poll_pfc(port).is_some() {
                    pfc_frames += 1;
                }
            }
        }
        assert!(pfc_frames > 5_000, "{pfc_frames}");
        assert_eq!(allocations(), before);
    }
}
