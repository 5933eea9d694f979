//! What racks' links carry while some of them are avoided: so fewer packets are granted, and still none queues.

use crate::fastpass::allocator::{Capacities, Carries, Node, PerSlot, Rack};
use crate::fastpass::paths::{DeadLinks, PathError, Racks};

use super::params::{ArbiterParams, PathParams};

/// The allocator's capacities while nothing is avoided. Where there are several paths they have racks, so that what those carry
/// may be changed; they limit nothing if the parameters do not.
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

/// Endpoints whose control packets fill one link in each direction: what an arbiter tells an endpoint with every slot full takes
/// 1/240 of a link, and what it is told 1/349; a third more than that is left to them.
const ENDPOINTS_A_LINK: u64 = 160;

/// Returns what is left of each rack's links without the dead ones, and without a part for the control packets of its endpoints:
/// in the arbiter's own rack, of all endpoints, and so in the others of its pod where those share what is left of the links to
/// the core. For the latter there was room before, as the arbiter's host sends nothing else, and for the former in the links that
/// are dead.
pub(super) fn racks_left<'a>(
    racks: &'a [Rack],
    dead: &'a DeadLinks,
    own: Option<usize>,
    sizes: &'a [usize],
) -> impl Iterator<Item = Rack> + 'a {
    let endpoints: usize = sizes.iter().sum();
    racks.iter().enumerate().map(move |(number, &rack)| {
        if dead.spares(number) {
            return rack;
        }
        let (up, down) = dead.capacity(number);
        let with_own = |own: usize| own == number || dead.share_fewer_cores(own, number);
        let spoken_to = if own.is_some_and(with_own) { endpoints } else { sizes[number] };
        let control = (spoken_to as u64).min(ENDPOINTS_A_LINK);
        let left = |packets: u16| {
            let parts = ENDPOINTS_A_LINK * u64::from(packets);
            Carries { links: 1, each: PerSlot::new(parts.saturating_sub(control).max(1), ENDPOINTS_A_LINK) }
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
    use crate::fastpass::paths::FatTreeShape;

    fn racks_left_of_own(racks: &[Rack], dead: &DeadLinks) -> Rack {
        racks_left(racks, dead, Some(1), &[14, 10, 16]).nth(1).expect("a rack")
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
            assert_eq!(racks_left(&racks, &dead, None, &[14, 10, 16]).collect::<Vec<_>>(), racks);
            dead.set(Link::ToRack { rack: 1, switch: 0 }, true).expect("a link");
            let racks_left: Vec<_> = racks_left(&racks, &dead, None, &[14, 10, 16]).collect();
            assert_eq!((racks_left[0], racks_left[2]), (racks[0], racks[2]));
            assert_eq!(racks_left[1].up.each.as_f64(), f64::from(racks[1].up.whole()) - 10.0 / 160.0);
            assert_eq!(racks_left[1].down.each.as_f64(), f64::from(left) - 10.0 / 160.0);
            let own = racks_left_of_own(&racks, &dead);
            // Forty endpoints speak with the arbiter: a quarter of a link is theirs.
            assert_eq!((4.0 * own.down.each.as_f64()) as u16, 4 * left - 1);
        }
    }

    /// What the arbiter tells other pods passes what is left of its own pod's links to the core, with the data of both racks.
    #[test]
    fn racks_of_the_arbiters_pod_leave_room_where_a_link_to_the_core_is_dead() {
        let shape = FatTreeShape { racks_per_pod: 2, aggregation: 2, cores: 2 };
        let params = ArbiterParams {
            allocator: AllocatorParams { nodes: 16, ..AllocatorParams::default() },
            paths: PathParams::FatTree { racks: Racks::uniform(8, 2).expect("racks"), shape },
            ..ArbiterParams::default()
        };
        let racks = capacities(&params).expect("racks").racks;
        let left = |link: Link| {
            let mut dead = dead_links(&params).expect("a network").expect("several paths");
            dead.set(link, true).expect("a link");
            let left = racks_left(&racks, &dead, Some(5), &[2; 8]).map(|rack| rack.up.each.as_f64());
            left.map(|packets| (160.0 * packets).round() as u32).collect::<Vec<_>>()
        };
        let of_core = left(Link::ToCore { pod: 2, aggregation: 1, core: 0 });
        assert_eq!(of_core, [160, 160, 160, 160, 320 - 16, 320 - 16, 160, 160]);
        // One by its own rack leaves the other rack of the pod as it is.
        let of_rack = left(Link::FromRack { rack: 4, switch: 1 });
        assert_eq!(of_rack, [160, 160, 160, 160, 160 - 2, 160, 160, 160]);
    }
}
