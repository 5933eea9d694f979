//! What racks' links carry while some switches of the middle are avoided: so fewer packets are granted, and still none
//! queues.

use crate::fastpass::allocator::{Capacities, Node, Rack};
use crate::fastpass::paths::{PathSet, Racks};

use super::params::{ArbiterParams, PathParams};

impl PathParams {
    /// Switches of the middle, of which one is on each path out of a rack; none where there is one path.
    pub(super) fn switches(&self) -> usize {
        match self {
            PathParams::Single => 0,
            PathParams::LeafSpine { paths, .. } => *paths,
            PathParams::FatTree { shape, .. } => shape.aggregation,
        }
    }
}

/// The allocator's capacities while nothing is avoided. Where there are several paths they have racks, so that what those carry may
/// be changed; they limit nothing if the parameters do not.
pub(super) fn capacities(params: &ArbiterParams) -> Option<Capacities> {
    let racks = match &params.paths {
        PathParams::Single => return params.allocator.capacities.clone(),
        PathParams::LeafSpine { racks, .. } | PathParams::FatTree { racks, .. } => racks,
    };
    Some(params.allocator.capacities.clone().unwrap_or_else(|| unlimited(racks)))
}

/// What is left of each rack's links without these switches.
pub(super) fn racks_left(
    racks: &[Rack],
    switches: usize,
    avoided: PathSet,
) -> impl Iterator<Item = Rack> + '_ {
    let left = switches - avoided.len();
    let less = move |packets: u16| ((usize::from(packets) * left / switches) as u16).max(1);
    racks.iter().map(move |rack| Rack { up: less(rack.up), down: less(rack.down) })
}

/// Racks whose links carry what all their endpoints can send.
fn unlimited(racks: &Racks) -> Capacities {
    let mut sizes = vec![0_u16; racks.racks()];
    let mut nodes = Vec::with_capacity(racks.endpoints());
    for endpoint in 0..racks.endpoints() {
        let rack = racks.rack_of(endpoint);
        sizes[rack] += 1;
        nodes.push(Node::endpoint(rack));
    }
    let racks = sizes.into_iter().map(|size| Rack { up: size.max(1), down: size.max(1) }).collect();
    Capacities { nodes, racks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fastpass::allocator::AllocatorParams;

    #[test]
    fn racks_carry_less_without_a_switch() {
        let racks = Racks::uniform(3, 4).expect("racks");
        let params = ArbiterParams {
            allocator: AllocatorParams { nodes: 12, ..AllocatorParams::default() },
            paths: PathParams::LeafSpine { racks, paths: 4 },
            ..ArbiterParams::default()
        };
        let Capacities { nodes, racks } = capacities(&params).expect("racks");
        assert_eq!((nodes[3], nodes[4]), (Node::endpoint(0), Node::endpoint(1)));
        let left = |avoided| racks_left(&racks, 4, avoided).collect::<Vec<_>>();
        assert_eq!(left(PathSet::EMPTY), [Rack { up: 4, down: 4 }; 3]);
        assert_eq!(left(PathSet::EMPTY.with(2)), [Rack { up: 3, down: 3 }; 3]);
    }
}
