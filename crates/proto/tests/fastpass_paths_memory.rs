//! Selecting paths and finding failed links allocate nothing: the allocator counts.

use clearway_proto::fastpass::fcp::PathReport;
use clearway_proto::fastpass::isolator::{Isolator, IsolatorParams};
use clearway_proto::fastpass::paths::{DeadLinks, FatTree, FatTreeShape, LeafSpine, Link, Racks};
use clearway_proto::units::{Span, Time};

use crate::allocations::allocations;

#[test]
fn selecting_paths_allocates_nothing() {
    let before = allocations();
    let slots: Vec<Vec<_>> =
        (0..8).map(|by| (0..512).map(|i| (i, (i * 5 + by * 37) % 512)).collect()).collect();
    assert!(allocations() > before, "the allocator counts");

    let (racks, of_tree) = (Racks::uniform(16, 32).unwrap(), Racks::uniform(64, 8).unwrap());
    let shape = FatTreeShape { racks_per_pod: 8, aggregation: 8, cores: 7 };
    let mut tree = FatTree::new(of_tree.clone(), shape).unwrap();
    let mut dead_of_tree = DeadLinks::fat_tree(&of_tree, shape).unwrap();
    let mut networks = [2, 4, 5, 8, 32].map(|paths| LeafSpine::new(racks.clone(), paths).unwrap());
    let mut dead = [2, 4, 5, 8, 32].map(|paths| DeadLinks::leaf_spine(&racks, paths).unwrap());
    for rack in 0..3 {
        for (network, dead) in networks.iter_mut().zip(&mut dead) {
            network.avoid(dead).unwrap();
            dead.set(Link::FromRack { rack, switch: rack % 2 }, true).unwrap();
        }
        tree.avoid(&dead_of_tree).unwrap();
        dead_of_tree.set(Link::ToRack { rack, switch: rack }, true).unwrap();
        dead_of_tree.set(Link::ToCore { pod: 3, aggregation: rack, core: 2 }, true).unwrap();
        let before = allocations();
        for slot in &slots {
            for network in &mut networks {
                network.select(slot).unwrap();
            }
            tree.select(slot).unwrap();
        }
        assert_eq!(allocations(), before);
    }
}

/// Every endpoint loses something to all others on all paths, so that the memory for losses runs out.
#[test]
fn finding_failed_links_allocates_nothing() {
    let shape = FatTreeShape { racks_per_pod: 2, aggregation: 2, cores: 2 };
    let racks = || Racks::uniform(8, 32).unwrap();
    let mut isolators = [
        Isolator::leaf_spine(&IsolatorParams::default(), racks(), 4).unwrap(),
        Isolator::fat_tree(&IsolatorParams::default(), racks(), shape).unwrap(),
    ];
    let before = allocations();
    for isolator in &mut isolators {
        for ms in 1..30 {
            let now = Time::ZERO + Span::from_ms(ms);
            for (source, destination) in (0..256).flat_map(|from| (0..256).map(move |to| (from, to))) {
                let lost = u16::from(source % 7 == 3 || destination / 32 == 2);
                let path = source % 4;
                isolator.handle_report(now, source, &PathReport { destination, path, sent: 2, lost });
            }
            isolator.handle_timeout(now);
        }
        assert!(isolator.counters().no_room > 0 && isolator.failed().next().is_some());
    }
    assert_eq!(allocations(), before);
}
