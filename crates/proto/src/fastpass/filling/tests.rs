//! The rules of who goes first and of what shares a slot, one by one.

use super::*;

/// Slots of 1000 bytes and 1 us.
fn filling() -> Filling<u32, &'static str> {
    Filling::new(1000, 100, Span::from_us(1))
}

/// An instant in the middle of a slot.
fn slot(number: u64) -> Time {
    Time::from_ps(number * 1_000_000 + 500_000)
}

/// Returns what leaves in a slot: for each packet its flow, for each acknowledgement "ack". `size` are the flows' sizes.
fn fill(
    filling: &mut Filling<u32, &'static str>,
    now: Time,
    size: impl Fn(&str) -> u32,
) -> Vec<&'static str> {
    let mut slot = filling.begin(now, 7);
    let mut left = Vec::new();
    while let Some(next) = filling.next(&mut slot, &size) {
        left.push(match next {
            Next::Packet(flow, _) => flow,
            Next::Ack(_) => "ack",
        });
    }
    filling.end(&slot);
    left
}

fn full(_: &str) -> u32 {
    1000
}

#[test]
fn acknowledgements_wait_for_others_while_there_is_data() {
    let mut filling = filling();
    filling.push_ack(slot(5), 7, 100, 0);
    assert_eq!(fill(&mut filling, slot(5), full), ["ack"], "there is no data");
    let bulk = filling.open(7, "bulk");
    filling.offer(slot(6), bulk, 1000, 99);
    filling.push_ack(slot(6), 7, 100, 0);
    for now in 6..38 {
        assert_eq!(fill(&mut filling, slot(now), full), ["bulk"]);
    }
    assert_eq!(fill(&mut filling, slot(38), full), ["ack"], "it has waited for 32 slots");
    assert_eq!((filling.used(), filling.unused()), (34, 0));
}

#[test]
fn a_slotful_of_acknowledgements_has_every_other_slot_while_there_is_data() {
    let mut filling = filling();
    let bulk = filling.open(7, "bulk");
    filling.offer(slot(0), bulk, 1000, 2);
    (0..40).for_each(|ack| filling.push_ack(slot(0), 7, 100, ack));
    let lengths: Vec<_> = (1..8).map(|now| fill(&mut filling, slot(now), full).len()).collect();
    assert_eq!(lengths, [10, 1, 10, 1, 10, 10, 0], "with no data left, every slot");
    assert_eq!((filling.used(), filling.unused()), (6, 1));
}

#[test]
fn a_small_write_beside_a_bulk_flow_leaves_in_turn() {
    let mut filling = filling();
    let (bulk, write) = (filling.open(7, "bulk"), filling.open(7, "write"));
    filling.offer(slot(0), bulk, 1000, 1000);
    filling.offer(slot(0), write, 100, 1);
    let size = |flow: &str| if flow == "bulk" { 1000 } else { 100 };
    let sent: Vec<_> = (1..40).flat_map(|now| fill(&mut filling, slot(now), size)).collect();
    assert_eq!(sent.iter().position(|&flow| flow == "write"), Some(31), "after 32 slots");
    filling.offer(slot(40), write, 100, 30);
    let lengths: Vec<_> = (41..47).map(|now| fill(&mut filling, slot(now), size).len()).collect();
    assert_eq!(lengths, [10, 1, 10, 1, 10, 1], "a slotful has every other slot");
}

#[test]
fn large_flows_take_turns_and_so_do_small_ones() {
    let mut filling = filling();
    for flow in ["a", "b"] {
        let handle = filling.open(7, flow);
        filling.offer(slot(0), handle, 1000, 2);
    }
    let sent: Vec<_> = (1..5).flat_map(|now| fill(&mut filling, slot(now), full)).collect();
    assert_eq!(sent, ["a", "b", "a", "b"]);
    for flow in ["c", "d"] {
        let handle = filling.open(7, flow);
        filling.offer(slot(5), handle, 500, 4);
    }
    let sent: Vec<_> = (6..10).map(|now| fill(&mut filling, slot(now), |_| 500)).collect();
    assert_eq!(sent, [["c", "c"], ["d", "d"], ["c", "c"], ["d", "d"]]);
}

#[test]
fn what_fits_beside_a_large_packet_goes_with_it() {
    let mut filling = filling();
    let (large, write) = (filling.open(7, "large"), filling.open(7, "write"));
    filling.offer(slot(0), large, 700, 2);
    filling.offer(slot(0), write, 150, 1);
    filling.push_ack(slot(0), 7, 100, 0);
    let size = |flow: &str| if flow == "large" { 700 } else { 150 };
    assert_eq!(fill(&mut filling, slot(1), size), ["large", "ack", "write"]);
    assert_eq!(filling.backlog(7), 1);
}

#[test]
fn small_packets_of_many_flows_are_demanded_together() {
    let mut filling = filling();
    for _ in 0..25 {
        let flow = filling.open(7, "write");
        filling.offer(slot(0), flow, 100, 1);
    }
    assert_eq!((filling.backlog(7), filling.backlog(8)), (3, 0));
    (0..5).for_each(|ack| filling.push_ack(slot(0), 7, 100, ack));
    assert_eq!(filling.backlog(7), 3, "acknowledgements share the third slot");
    filling.push_ack(slot(0), 7, 100, 5);
    assert_eq!(filling.backlog(7), 4);
}

#[test]
fn what_fits_into_a_slot_that_is_demanded_demands_none() {
    let mut filling = filling();
    let flow = filling.open(7, "write");
    let mut slots = Vec::new();
    for _ in 0..11 {
        filling.offer(slot(0), flow, 100, 1);
        slots.push(filling.backlog(7));
    }
    assert_eq!(slots, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    let large = filling.open(9, "large");
    filling.offer(slot(0), large, 700, 1);
    (0..3).for_each(|ack| filling.push_ack(slot(0), 9, 100, ack));
    assert_eq!(filling.backlog(9), 1, "acknowledgements have room beside the large packet");
    filling.push_ack(slot(0), 9, 100, 3);
    assert_eq!(filling.backlog(9), 2);
    assert_eq!((filling.backlog(7), filling.whole_backlog()), (2, 4), "of both destinations");
}

#[test]
fn a_flow_that_is_withdrawn_needs_nothing_and_may_offer_again() {
    let mut filling = filling();
    let flow = filling.open(7, "bulk");
    filling.offer(slot(0), flow, 1000, 5);
    filling.push_ack(slot(0), 7, 100, 3);
    filling.withdraw(flow);
    assert_eq!(filling.backlog(7), 1);
    filling.offer(slot(0), flow, 300, 3);
    assert_eq!(filling.take_all(), [3]);
    assert_eq!(filling.backlog(7), 0);
    filling.offer(slot(0), flow, 300, 3);
    assert_eq!(fill(&mut filling, slot(1), |_| 300), ["bulk"; 3]);
}

#[test]
fn a_packet_larger_than_a_slot_has_one_of_its_own() {
    let mut filling = filling();
    let flow = filling.open(7, "jumbo");
    filling.offer(slot(0), flow, 1200, 2);
    assert_eq!(filling.backlog(7), 2);
    assert_eq!(fill(&mut filling, slot(1), |_| 1200), ["jumbo"]);
    assert_eq!(filling.backlog(7), 1);
}

#[test]
fn room_that_a_packet_did_not_need_is_for_others() {
    let mut filling = filling();
    let flow = filling.open(7, "again");
    filling.offer(slot(0), flow, 1000, 1);
    filling.push_ack(slot(0), 7, 100, 3);
    let mut at = filling.begin(slot(1), 7);
    assert_eq!(filling.next(&mut at, full), Some(Next::Packet("again", 1000)));
    at.give_back(900);
    assert_eq!(filling.next(&mut at, full), Some(Next::Ack(3)));
}
