use super::*;
use crate::baseline::none::NoneParams;
use crate::transport::{Path, Scheme};
use crate::units::Rate;

fn ack(seq: u32, cumulative: u32) -> Ack {
    Ack {
        seq,
        cumulative,
        sack: 0,
        echo: Time::ZERO,
        congestion_experienced: false,
        hops: 1,
        remote_queuing_us: 0,
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn what_every_packet_touches_comes_first() {
    use crate::swift::control::Swift;
    use crate::transport::recovery::SelectiveRepeat;

    type SwiftSender = Sender<Swift, SelectiveRepeat>;
    assert_eq!(std::mem::offset_of!(SwiftSender, control), 40);
    assert_eq!(std::mem::offset_of!(SwiftSender, control) + Swift::TOUCHED_BY_ALL, 104);
    assert_eq!(size_of::<SwiftSender>(), 144);
}

#[test]
fn acknowledgements_that_cannot_be_are_ignored() {
    let mut sender = NoneParams::default().sender(1500, Path::new(Bytes::new(1500), Rate::from_gbps(10)));
    sender.handle_endless();
    for _ in 0..2 {
        sender.transmit(Time::ZERO);
    }
    let timeout = sender.poll_timeout();
    // Of packets never sent, and of the arrival of the packet that it says is missing.
    for (seq, cumulative) in [(2, 2), (2, 0), (0, 3), (0, 0), (1, 1)] {
        assert!(!sender.believes(&ack(seq, cumulative)));
        sender.handle_ack(Time::ZERO, Time::ZERO, &ack(seq, cumulative));
        assert_eq!((sender.flight().inflight, sender.poll_timeout()), (2, timeout));
    }
    sender.handle_ack(Time::ZERO, Time::ZERO, &ack(1, 2));
    assert_eq!((sender.flight().inflight, sender.poll_timeout()), (0, None));
}
