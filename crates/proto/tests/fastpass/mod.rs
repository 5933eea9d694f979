//! Fastpass's endpoints and arbiters together, in one process.

mod epoch;
mod failover;
mod fallback;
mod mischief;
mod net;
mod rejected;
mod reports;

use clearway_proto::fastpass::allocator::AllocatorParams;
use clearway_proto::fastpass::arbiter::{ArbiterParams, PathParams};
use clearway_proto::fastpass::endpoint::EndpointParams;
use clearway_proto::fastpass::paths::Racks;
use net::{us, Net};

fn endpoint(nodes: u16) -> EndpointParams {
    EndpointParams { nodes, ..EndpointParams::default() }
}

fn arbiter(nodes: u16) -> ArbiterParams {
    let allocator = AllocatorParams { nodes: nodes.into(), slots: 16, ..AllocatorParams::default() };
    ArbiterParams { allocator, ..ArbiterParams::default() }
}

#[test]
fn a_demand_becomes_a_request_an_allocation_and_a_slot() {
    let mut net = Net::new(endpoint(2), arbiter(2), 1);
    net.offer(us(100), 0, 1, 3);
    net.run(us(300));
    assert_eq!((net.waiting(), net.unused), (0, 0));
    let slots: Vec<_> = net.sent.iter().map(|sent| sent.grant.slot).collect();
    // The request comes at 103 us, clocks show 10 ms more: slot 8074. With what is allocated 40 slots ahead, batches begin
    // at multiples of 16.
    assert_eq!(slots, [8128, 8129, 8130]);
    let counters = net.primary().expect("an arbiter").counters();
    assert_eq!((counters.demanded, counters.granted), (3, 3));
}

#[test]
fn endpoints_of_a_rack_share_a_receiver() {
    let mut net = Net::new(endpoint(6), arbiter(6), 1);
    for source in 0..5 {
        net.offer(us(100), source, 5, 100);
    }
    net.run(us(2000));
    assert_eq!((net.waiting(), net.unused, net.slots_used_twice()), (0, 0, 0));
    // Once all are asked for, no slot is left out.
    let slots: Vec<_> = net.sent.iter().map(|sent| sent.grant.slot).collect();
    assert!(slots.windows(2).all(|pair| pair[1] == pair[0] + 1));
}

#[test]
fn no_link_of_a_leaf_spine_network_carries_two_packets_of_a_slot() {
    let (racks, hosts) = (4, 4);
    let paths = PathParams::LeafSpine { racks: Racks::uniform(racks, hosts).expect("racks"), paths: hosts };
    let mut net = Net::new(endpoint(16), ArbiterParams { paths, ..arbiter(16) }, 1);
    for source in 0..16 {
        for destination in (0..16).filter(|&destination| destination != source) {
            net.offer(us(100), source, destination, 10);
        }
    }
    net.run(us(2000));
    assert_eq!((net.waiting(), net.unused, net.slots_used_twice()), (0, 0, 0));
    let mut links = std::collections::BTreeSet::new();
    for sent in &net.sent {
        let racks = (sent.source / 4, sent.grant.destination / 4);
        if racks.0 != racks.1 {
            assert!(links.insert((sent.grant.slot, sent.grant.path, true, racks.0)));
            assert!(links.insert((sent.grant.slot, sent.grant.path, false, racks.1)));
        }
    }
}
