use super::*;

fn data(seq: u32) -> Data {
    Data { seq, payload: 100, last: false, sent: Time::from_ps(u64::from(seq)) }
}

fn arrive(receiver: &mut SelectiveReceiver, seq: u32, marked: bool) {
    receiver.handle_data(Time::ZERO, Time::ZERO, &data(seq), marked, 1);
}

/// The acknowledgements that leave: of each the packet that caused it, the cumulative number, and the mark.
fn drain(receiver: &mut SelectiveReceiver) -> Vec<(u32, u32, bool)> {
    let mut acks = Vec::new();
    while receiver.readiness() == Readiness::Ready {
        let ack = receiver.transmit(Time::ZERO);
        acks.push((ack.seq, ack.cumulative, ack.congestion_experienced));
    }
    acks
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_receiver_is_small() {
    assert_eq!(size_of::<SelectiveReceiver>(), 40);
}

#[test]
fn every_change_of_the_mark_is_told_even_where_none_could_leave_between() {
    let delayed =
        AckPolicy::Delayed { every: 8, delay: Span::from_us(500), marked_at_once: false, any_order: false };
    for (policy, at_once) in [(AckPolicy::EveryPacket, true), (delayed, false)] {
        let mut receiver = SelectiveReceiver::new(policy, 64);
        for (seq, marked) in [false, false, true, false, true, true].into_iter().enumerate() {
            arrive(&mut receiver, seq as u32, marked);
        }
        let mut expected = vec![(1, 2, false), (2, 3, true), (3, 4, false)];
        if at_once {
            expected.push((5, 6, true));
        }
        assert_eq!(drain(&mut receiver), expected, "{policy:?}");
    }
}

#[test]
fn messages_that_nobody_asks_for_are_counted() {
    let mut receiver = SelectiveReceiver::new(AckPolicy::EveryPacket, 64);
    // The third fills a hole and completes two.
    for seq in [0, 1, 3, 2] {
        receiver.handle_data(Time::ZERO, Time::ZERO, &Data { last: true, ..data(seq) }, false, 1);
    }
    assert_eq!((receiver.poll_completed(), receiver.poll_completed()), (4, 0));
    receiver.handle_data(Time::ZERO, Time::ZERO, &Data { last: true, ..data(4) }, false, 1);
    assert_eq!((receiver.poll_completed(), receiver.poll_completed()), (1, 0));
}

#[test]
fn an_acknowledgement_speaks_of_the_newest_packet() {
    let mut receiver = SelectiveReceiver::new(AckPolicy::EveryPacket, 64);
    let mut spoken = Vec::new();
    // In order, again, beyond a hole, into the hole, and in order once more.
    for seq in [0, 0, 2, 1, 3] {
        arrive(&mut receiver, seq, false);
        let ack = receiver.transmit(Time::ZERO);
        spoken.push((ack.seq, ack.cumulative, ack.sack, ack.echo));
    }
    let sent = |seq| Time::from_ps(seq);
    let expected =
        [(0, 1, 0, sent(0)), (0, 1, 0, sent(0)), (2, 1, 1, sent(2)), (1, 3, 0, sent(1)), (3, 4, 0, sent(3))];
    assert_eq!(spoken, expected);
}

#[test]
fn changes_without_end_take_bounded_room() {
    let mut receiver = SelectiveReceiver::new(AckPolicy::EveryPacket, 64);
    for repetition in 0..1000 {
        arrive(&mut receiver, 0, repetition % 2 == 1);
    }
    let acks = drain(&mut receiver);
    assert_eq!(acks.len(), 64 + 1);
    assert!(acks.iter().all(|&(seq, cumulative, _)| (seq, cumulative) == (0, 1)));
}

/// The first packet is acknowledged, then every fourth, a marked one, one that came before, and the last, in whatever order packets
/// come.
#[test]
fn where_any_order_will_do_disorder_is_not_told_at_once() {
    let sparse =
        |any_order| AckPolicy::Delayed { every: 4, delay: Span::from_us(1), marked_at_once: true, any_order };
    let spoken = |any_order, packets: &[(u32, bool, bool)]| {
        let mut receiver = SelectiveReceiver::new(sparse(any_order), 64);
        let mut spoken = Vec::new();
        for &(seq, marked, last) in packets {
            receiver.handle_data(Time::ZERO, Time::ZERO, &Data { last, ..data(seq) }, marked, 1);
            spoken.extend(drain(&mut receiver).into_iter().map(|(seq, ..)| seq));
        }
        spoken
    };
    let plain = |seqs: &[u32]| seqs.iter().map(|&seq| (seq, false, false)).collect::<Vec<_>>();
    let mixed_up = plain(&[5, 0, 3, 1, 7, 2, 9, 4, 8]);
    assert_eq!(spoken(true, &mixed_up), [5, 7, 8]);
    assert_eq!(spoken(false, &mixed_up), [5, 0, 3, 1, 7, 2, 9, 4, 8]);
    // A mark is told with its own packet only, and what comes again at once.
    let marked =
        [(0, false, false), (1, false, false), (2, true, false), (3, false, false), (1, false, false)];
    assert_eq!(spoken(true, &marked), [0, 2, 1]);
    assert_eq!(spoken(false, &marked[..3]), [1, 2]);
    assert_eq!(spoken(true, &[(0, false, false), (3, false, true), (1, false, false)]), [0, 3]);
}

/// A mark that has not left yet is not forgotten over the packet that comes next.
#[test]
fn a_mark_that_is_due_is_told_before_another_packet() {
    let policy =
        AckPolicy::Delayed { every: 4, delay: Span::from_us(1), marked_at_once: true, any_order: true };
    let mut receiver = SelectiveReceiver::new(policy, 64);
    arrive(&mut receiver, 0, false);
    drain(&mut receiver);
    arrive(&mut receiver, 1, true);
    arrive(&mut receiver, 2, false);
    assert_eq!(drain(&mut receiver)[0], (1, 2, true));
}
