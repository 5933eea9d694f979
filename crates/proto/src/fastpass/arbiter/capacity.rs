//! What racks' links carry while some of them are avoided: so fewer packets are granted, and still none queues.

use crate::fastpass::allocator::{Capacities, Carries, Node, PerSlot, Rack};
use crate::fastpass::paths::{DeadLinks, PathError, Racks};

use super::params::{ArbiterParams, PathParams};

/// The allocator's capacities while nothing is avoided. Where there are several paths they have racks, so that what those carry may
/// be changed; they limit nothing if the parameters do not.
pub(super) fn capacities(params: &ArbiterParams) -> Option<Capacities> {
    let (racks, switches) = match &params.paths {
        PathParams::Single => return params.allocator.capacities.clone(),
        PathParams::LeafSpine { racks, paths } => (racks, *paths),
        PathParams::FatTree { racks, shape } => (racks, shape.aggregation),
    };
    Some(params.allocator.capacities.clone().unwrap_or_else(|| unlimited(racks, switches)))
}

/// The network of an arbiter with no dead link; none where there is one path.
pub(super) fn dead_links(params: &ArbiterParams) -> Result<Option<DeadLinks>, PathError> {
    let dead = match &params.paths {
        PathParams::Single => return Ok(None),
        PathParams::LeafSpine { racks, paths } => DeadLinks::leaf_spine(racks, *paths)?,
        PathParams::FatTree { racks, shape } => DeadLinks::fat_tree(racks, *shape)?,
    };
    let racks = capacities(params).map_or_else(Vec::new, |capacities| capacities.racks);
    Ok(Some(dead.carrying(racks.iter().map(|rack| (rack.up.whole(), rack.down.whole())))))
}

/// The rack of the arbiter, if it is in one.
pub(super) fn own_rack(params: &ArbiterParams) -> Option<usize> {
    match &params.paths {
        PathParams::Single => None,
        PathParams::LeafSpine { racks, .. } | PathParams::FatTree { racks, .. } => {
            params.address.map(|own| racks.rack_of(own.into()))
        }
    }
}

/// What is left of each rack's links without the dead ones. In the arbiter's own rack half a link is left to control packets, for
/// which there was room before, as the arbiter's host sends nothing else.
pub(super) fn racks_left<'a>(
    racks: &'a [Rack],
    dead: &'a DeadLinks,
    own: Option<usize>,
) -> impl Iterator<Item = Rack> + 'a {
    racks.iter().enumerate().map(move |(number, &rack)| {
        if dead.spares(number) {
            return rack;
        }
        let (up, down) = dead.capacity(number);
        let halves = u64::from(own == Some(number));
        let left = |packets: u16| {
            let each = PerSlot::new((2 * u64::from(packets)).saturating_sub(halves).max(1), 2);
            Carries { links: 1, each }
        };
        Rack { up: left(up), down: left(down) }
    })
}

/// Racks whose links carry together what all their endpoints can send, and each at least what one can.
fn unlimited(racks: &Racks, switches: usize) -> Capacities {
    let mut sizes = vec![0_u64; racks.racks()];
    let mut nodes = Vec::with_capacity(racks.endpoints());
    for endpoint in 0..racks.endpoints() {
        let rack = racks.rack_of(endpoint);
        sizes[rack] += 1;
        nodes.push(Node::endpoint(rack));
    }
    let of = |size: u64| {
        let each = PerSlot::new(size.div_ceil(switches as u64).max(1), 1);
        let all = Carries { links: switches as u16, each };
        Rack { up: all, down: all }
    };
    Capacities { nodes, racks: sizes.into_iter().map(of).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fastpass::allocator::AllocatorParams;
    use crate::fastpass::isolator::Link;

    fn racks_left_of_own(racks: &[Rack], dead: &DeadLinks) -> Rack {
        racks_left(racks, dead, Some(1)).nth(1).expect("a rack")
    }

    #[test]
    fn a_rack_carries_less_without_a_link_if_it_needs_all() {
        for (paths, left) in [(4, 3), (8, 7), (2, 2)] {
            let racks = Racks::uniform(3, 4).expect("racks");
            let params = ArbiterParams {
                allocator: AllocatorParams { nodes: 12, ..AllocatorParams::default() },
                paths: PathParams::LeafSpine { racks, paths },
                ..ArbiterParams::default()
            };
            let Capacities { nodes, racks } = capacities(&params).expect("racks");
            assert_eq!((nodes[3], nodes[4]), (Node::endpoint(0), Node::endpoint(1)));
            let mut dead = dead_links(&params).expect("a network").expect("several paths");
            assert_eq!(racks_left(&racks, &dead, None).collect::<Vec<_>>(), racks);
            dead.set(Link::ToRack { rack: 1, switch: 0 }, true).expect("a link");
            let racks_left: Vec<_> = racks_left(&racks, &dead, None).collect();
            assert_eq!((racks_left[0], racks_left[2]), (racks[0], racks[2]));
            assert_eq!(racks_left[1], Rack::whole(racks[1].up.whole(), left));
            let own = racks_left_of_own(&racks, &dead);
            assert_eq!((2.0 * own.down.each.as_f64()) as u16, 2 * left - 1);
        }
    }
}
