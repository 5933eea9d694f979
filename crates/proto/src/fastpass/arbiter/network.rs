//! The paths of a slot's packets, whatever the network.

use crate::fastpass::fcp::Path;
use crate::fastpass::paths::{FatTree, LeafSpine, PathError, BYPASS};

use super::params::PathParams;

/// Selects the path of each packet of a slot.
#[derive(Clone, Debug)]
pub(super) enum Network {
    /// There is one path.
    Single,
    /// A leaf-spine network.
    LeafSpine(Box<LeafSpine>),
    /// A fat tree, and how many core switches each aggregation switch reaches.
    FatTree(Box<FatTree>, u16),
}

impl Network {
    pub(super) fn new(params: &PathParams) -> Result<Network, PathError> {
        Ok(match params {
            PathParams::Single => Network::Single,
            PathParams::LeafSpine { racks, paths } => {
                Network::LeafSpine(Box::new(LeafSpine::new(racks.clone(), *paths)?))
            }
            PathParams::FatTree { racks, shape } => {
                Network::FatTree(Box::new(FatTree::new(racks.clone(), *shape)?), shape.cores as u16)
            }
        })
    }

    /// Puts the path of each packet of slot `number` into `paths`.
    pub(super) fn select(
        &mut self,
        number: u64,
        slot: &[(u16, u16)],
        paths: &mut Vec<Path>,
    ) -> Result<(), PathError> {
        let path = |number| if number == BYPASS { 0 } else { u16::from(number) };
        paths.clear();
        match self {
            Network::Single => paths.resize(slot.len(), 0),
            Network::LeafSpine(network) => {
                network.turn(number);
                paths.extend(network.select(slot)?.iter().map(|&number| path(number)));
            }
            Network::FatTree(network, cores) => {
                network.turn(number);
                let ways = network.select(slot)?.iter();
                paths.extend(ways.map(|way| path(way.aggregation) * *cores + path(way.core)));
            }
        }
        Ok(())
    }
}
