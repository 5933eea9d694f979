//! The paths of a slot's packets, whatever the network.

use crate::fastpass::fcp::Path;
use crate::fastpass::paths::{DeadLinks, FatTree, LeafSpine, PathError, BLOCKED as NO_PATH, BYPASS};

use super::params::PathParams;

/// In place of a path: there is none that leads the packet around the links to avoid. It is not granted, and a slot for it is asked
/// for again, with the [`REJOINS`](super::REJOINS)th batch after its own.
pub const BLOCKED: Path = Path::MAX;

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

    /// From now on no packet takes these links, and packets may take all others, whatever was avoided before.
    pub(super) fn avoid(&mut self, links: Option<&DeadLinks>) -> Result<(), PathError> {
        match (self, links) {
            (Network::Single, _) => {}
            (Network::LeafSpine(network), Some(links)) => network.avoid(links)?,
            (Network::LeafSpine(network), None) => network.avoid_none(),
            (Network::FatTree(network, _), Some(links)) => network.avoid(links)?,
            (Network::FatTree(network, _), None) => network.avoid_none(),
        }
        Ok(())
    }

    /// Puts the path of each packet of slot `number` into `paths`.
    pub(super) fn select(
        &mut self,
        number: u64,
        slot: &[(u16, u16)],
        paths: &mut Vec<Path>,
    ) -> Result<(), PathError> {
        let path = |number| match number {
            BYPASS => 0,
            NO_PATH => BLOCKED,
            number => Path::from(number),
        };
        paths.clear();
        match self {
            Network::Single => paths.resize(slot.len(), 0),
            Network::LeafSpine(network) => {
                network.turn(spread(number));
                paths.extend(network.select(slot)?.iter().map(|&number| path(number)));
            }
            Network::FatTree(network, cores) => {
                network.turn(spread(number));
                let ways = network.select(slot)?.iter();
                paths.extend(ways.map(|way| match path(way.aggregation) {
                    BLOCKED => BLOCKED,
                    aggregation => aggregation * *cores + path(way.core),
                }));
            }
        }
        Ok(())
    }
}

/// A slot's number, spread out: a pair that is granted every second slot, or every sixteenth, is to use all paths in the long run.
fn spread(number: u64) -> u64 {
    (number ^ number >> 16).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}
