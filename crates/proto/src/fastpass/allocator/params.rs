//! What an allocator is built from.

use std::fmt;

use super::capacities::Capacities;

/// Addresses are below this. The paper speaks of hundreds to low thousands of endpoints for one arbiter.
pub const MOST_NODES: usize = 8192;
/// A batch has no more slots, as its free slots are the bits of a word.
pub const MOST_SLOTS: u32 = 64;

/// Parameters of an [`Allocator`](super::Allocator).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocatorParams {
    /// Endpoints, 2 to [`MOST_NODES`]; their addresses are 0 to one less. Default: 256, as in experiment F.
    pub nodes: usize,
    /// Slots in a batch (W), 1 to [`MOST_SLOTS`]. Default: 64, which costs least for each grant; the authors' release has 16,
    /// which lets requests join sooner.
    pub slots: u32,
    /// Slots that a pair may wait for. Default: 2^13, as in the authors' release.
    pub limit: u16,
    /// Who comes first. Default: max-min.
    pub order: Order,
    /// What limits beside one packet out of and into each endpoint and slot. Default: nothing.
    pub capacities: Option<Capacities>,
}

/// Which pair comes first where several want the same slot. The module says it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Max-min fairness: the least recently served pair.
    MaxMin,
    /// Minimum flow completion time: the pair that waits for the fewest slots.
    MinFct,
}

impl Default for AllocatorParams {
    fn default() -> AllocatorParams {
        AllocatorParams {
            nodes: 256,
            slots: MOST_SLOTS,
            limit: 1 << 13,
            order: Order::MaxMin,
            capacities: None,
        }
    }
}

/// Why no allocator can be built from some parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamsError {
    /// Fewer than 2 endpoints or more than [`MOST_NODES`].
    Nodes(usize),
    /// A batch of no slots, or of more than [`MOST_SLOTS`].
    Slots(u32),
    /// A limit of no slots.
    Limit,
    /// The capacities are of this many nodes, and there are others.
    CapacitiesOf(usize),
    /// This node can send nothing or receive nothing.
    NodeCarriesNothing(usize),
    /// This node stands in a rack that there is none of.
    NodeInUnknownRack(usize),
    /// Nothing can leave this rack, or nothing come into it.
    RackCarriesNothing(usize),
}

impl AllocatorParams {
    /// Returns an error unless an allocator can be built.
    pub(in crate::fastpass) fn check(&self) -> Result<(), ParamsError> {
        if !(2..=MOST_NODES).contains(&self.nodes) {
            return Err(ParamsError::Nodes(self.nodes));
        }
        if !(1..=MOST_SLOTS).contains(&self.slots) {
            return Err(ParamsError::Slots(self.slots));
        }
        if self.limit == 0 {
            return Err(ParamsError::Limit);
        }
        self.capacities.as_ref().map_or(Ok(()), |capacities| check_capacities(capacities, self.nodes))
    }
}

/// Returns an error unless these capacities are of `nodes` nodes and each lets something pass.
fn check_capacities(capacities: &Capacities, nodes: usize) -> Result<(), ParamsError> {
    if capacities.nodes.len() != nodes {
        return Err(ParamsError::CapacitiesOf(capacities.nodes.len()));
    }
    for (address, node) in capacities.nodes.iter().enumerate() {
        if node.sends == 0 || node.receives == 0 {
            return Err(ParamsError::NodeCarriesNothing(address));
        }
        if node.rack.is_some_and(|rack| rack >= capacities.racks.len()) {
            return Err(ParamsError::NodeInUnknownRack(address));
        }
    }
    match capacities.racks.iter().position(|rack| rack.up.is_nothing() || rack.down.is_nothing()) {
        Some(rack) => Err(ParamsError::RackCarriesNothing(rack)),
        None => Ok(()),
    }
}

impl fmt::Display for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamsError::Nodes(nodes) => write!(f, "{nodes} endpoints: expected 2 to {MOST_NODES}"),
            ParamsError::Slots(slots) => write!(f, "a batch of {slots} slots: expected 1 to {MOST_SLOTS}"),
            ParamsError::Limit => write!(f, "a limit of 0 slots for a pair: expected 1 or more"),
            ParamsError::CapacitiesOf(nodes) => {
                write!(f, "capacities of {nodes} nodes: expected one for each endpoint")
            }
            ParamsError::NodeCarriesNothing(node) => {
                write!(f, "node {node} sends or receives 0 packets a slot: expected 1 or more of each")
            }
            ParamsError::NodeInUnknownRack(node) => write!(f, "node {node} is in a rack that is not there"),
            ParamsError::RackCarriesNothing(rack) => {
                write!(f, "0 packets a slot leave or enter rack {rack}: expected more than 0 of each")
            }
        }
    }
}

impl std::error::Error for ParamsError {}
