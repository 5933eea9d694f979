//! Allocating timeslots allocates no memory: the allocator of memory counts.

use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams, Capacities, Node, Order, Rack};

use crate::allocations::allocations;

#[test]
fn no_memory_is_allocated_after_construction() {
    let racks = Capacities {
        nodes: (0..16).map(|node| Node::endpoint(node / 4)).collect(),
        racks: vec![Rack::whole(2, 3); 4],
    };
    for order in [Order::MaxMin, Order::MinFct] {
        for capacities in [None, Some(racks.clone())] {
            let params = AllocatorParams { nodes: 16, slots: 8, limit: 300, order, capacities };
            let before = allocations();
            let mut allocator = Allocator::new(&params).expect("parameters that go together");
            assert!(allocations() > before, "the allocator of memory counts");
            let before = allocations();
            for _ in 0..20 {
                // Every pair there is, and topped up as well.
                for pair in 0..2 * 16 * 16 {
                    // A pair of an endpoint with itself is refused, and what is over the limit.
                    let _ = allocator.request(pair % 16, pair / 16 % 16, 290);
                    let _ = allocator.request(pair % 16, pair / 16 % 16, 3);
                }
                allocator.allocate();
                assert_eq!(allocator.waiting().len(), 16 * 15);
            }
            assert!(allocator.forget(3) > 0);
            allocator.allocate();
            if params.capacities.is_some() {
                allocator.limit_racks([Rack::whole(4, 4); 4]);
                allocator.allocate();
                allocator.limit_racks([Rack::whole(1, 2); 4]);
            }
            allocator.allocate();
            assert!(allocator.forget_all() > 0);
            allocator.allocate();
            assert_eq!(allocations(), before);
        }
    }
}
