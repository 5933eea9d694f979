//! Batches of slots (§3): when each is allocated, and the grants with their paths that come of it.

use crate::fastpass::allocator::{Allocator, Refusal};
use crate::fastpass::fcp::{Address, Grant, Path};
use crate::fastpass::paths::Pair;

use super::network::Network;
use super::params::{ArbiterError, ArbiterParams};

/// The allocator, the paths, and which batch is next.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    allocator: Allocator,
    network: Network,
    /// Slots of a batch.
    width: u64,
    /// A batch is allocated so many slots before it begins.
    ahead: u64,
    /// The first slot of the next batch, a multiple of `width`.
    next: u64,
    /// Slots demanded and not granted, of all pairs.
    outstanding: u64,
    pairs: Vec<Pair>,
    paths: Vec<Path>,
}

impl Batches {
    pub(super) fn new(params: &ArbiterParams) -> Result<Batches, ArbiterError> {
        let allocator = Allocator::new(&params.allocator).map_err(ArbiterError::Allocator)?;
        let network = Network::new(&params.paths).map_err(ArbiterError::Paths)?;
        Ok(Batches {
            allocator,
            network,
            width: u64::from(params.allocator.slots),
            ahead: u64::from(params.ahead),
            next: 0,
            outstanding: 0,
            pairs: Vec::with_capacity(params.allocator.nodes),
            paths: Vec::with_capacity(params.allocator.nodes),
        })
    }

    /// The first slot of the first batch that begins at `slot` or later.
    pub(super) fn aligned(&self, slot: u64) -> u64 {
        slot.checked_next_multiple_of(self.width).unwrap_or(u64::MAX)
    }

    /// Grants no slot before `slot`.
    pub(super) fn leave_out_before(&mut self, slot: u64) {
        self.next = self.next.max(self.aligned(slot));
    }

    /// The first slot not granted to anybody.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The slot at whose beginning the next batch is to be allocated; `None` while nothing is demanded.
    pub(super) fn due(&self) -> Option<u64> {
        (self.outstanding > 0).then(|| self.next.saturating_sub(self.ahead))
    }

    /// Demands slots for a pair, from the next batch on that can still be allocated in time.
    pub(super) fn request(
        &mut self,
        slot_now: u64,
        source: Address,
        destination: Address,
        slots: u32,
    ) -> Result<(), Refusal> {
        self.allocator.request(usize::from(source), usize::from(destination), slots)?;
        if self.outstanding == 0 {
            self.leave_out_before(slot_now + self.ahead);
        }
        self.outstanding += u64::from(slots);
        Ok(())
    }

    /// Forgets what an endpoint has demanded. How many slots that is.
    pub(super) fn forget(&mut self, source: Address) -> u64 {
        let forgotten = self.allocator.forget(usize::from(source));
        self.outstanding -= forgotten;
        forgotten
    }

    /// Forgets what all have demanded. How many slots that is. (An allocator without demand is as good as new.)
    pub(super) fn start_over(&mut self, params: &ArbiterParams) -> u64 {
        if self.outstanding > 0 {
            self.allocator = Allocator::new(&params.allocator).expect("the parameters of the last one");
        }
        std::mem::take(&mut self.outstanding)
    }

    /// Allocates the next batch, and gives each grant with its source to `give`. How many there are.
    pub(super) fn allocate(&mut self, mut give: impl FnMut(Address, Grant)) -> u64 {
        let Batches { allocator, network, pairs, paths, .. } = self;
        let schedule = allocator.allocate();
        let mut granted = 0;
        for slot in 0..schedule.slots() {
            pairs.clear();
            pairs.extend(schedule.slot(slot).iter().map(|pair| (pair.source(), pair.destination())));
            let number = self.next + u64::from(slot);
            network.select(number, pairs, paths).expect("endpoints that both know, one packet each");
            for (&(source, destination), &path) in pairs.iter().zip(&*paths) {
                give(source, Grant { slot: number, destination, path });
            }
            granted += pairs.len() as u64;
        }
        self.next += self.width;
        self.outstanding -= granted;
        granted
    }
}
