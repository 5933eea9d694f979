//! A batch of slots on its way through path selection, and who selects.
//!
//! Which way a packet takes depends on its slot alone: so a driver may have the slots of a batch seen to elsewhere, in any order
//! and by any number of selectors, and the grants are the same.

use std::sync::Arc;

use crate::fastpass::fcp::Path;
use crate::fastpass::paths::{DeadLinks, Pair};

use super::network::Network;
use super::params::{ArbiterError, ArbiterParams};

/// A batch of slots, allocated. Its paths are selected by a [`Selector`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The number of the batch: 0 for the first that its arbiter allocates.
    pub number: u64,
    /// The links that its packets have to avoid, if there are any; the same memory for all batches as long as they do not change.
    pub avoided: Option<Arc<DeadLinks>>,
    /// The slots of the batch, in their order.
    pub slots: Vec<Slot>,
}

/// A slot's packets and their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// The number of the slot.
    pub number: u64,
    /// The pairs of source and destination that send in this slot.
    pub pairs: Vec<Pair>,
    /// The path of each pair, once it is selected; [`BLOCKED`](super::BLOCKED) if there is none.
    pub paths: Vec<Path>,
}

impl Batch {
    /// Packets in the batch.
    pub fn packets(&self) -> u64 {
        self.slots.iter().map(|slot| slot.pairs.len() as u64).sum()
    }

    /// Returns whether there may be packets without a path.
    pub(super) fn may_be_blocked(&self) -> bool {
        self.avoided.is_some()
    }
}

/// Selects the paths of slots. Any number of them, made from the same parameters or cloned, select alike.
#[derive(Clone, Debug)]
pub struct Selector {
    network: Network,
    avoided: Option<Arc<DeadLinks>>,
}

impl Selector {
    /// A selector for an arbiter of these parameters.
    ///
    /// Errors: [`ArbiterError::Paths`].
    pub fn new(params: &ArbiterParams) -> Result<Selector, ArbiterError> {
        let network = Network::new(&params.paths).map_err(ArbiterError::Paths)?;
        Ok(Selector { network, avoided: None })
    }

    /// Selects the paths of a batch's slots, or of some of them: `avoided` is [`Batch::avoided`].
    ///
    /// Panics if they are not those of an arbiter with the same parameters.
    pub fn select(&mut self, avoided: Option<&Arc<DeadLinks>>, slots: &mut [Slot]) {
        let same = match (avoided, &self.avoided) {
            (Some(new), Some(old)) => Arc::ptr_eq(new, old),
            (new, old) => new.is_none() && old.is_none(),
        };
        if !same {
            self.network.avoid(avoided.map(Arc::as_ref)).expect("links of the same network");
            self.avoided = avoided.cloned();
        }
        for Slot { number, pairs, paths } in slots {
            self.network.select(*number, pairs, paths).expect("endpoints that both know, one packet each");
        }
    }
}
