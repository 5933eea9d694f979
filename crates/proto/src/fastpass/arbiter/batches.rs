//! Batches of slots (§3): when each is allocated, and what comes of it when its paths are selected.
//!
//! Allocation and path selection are apart, so that a driver may do the second elsewhere, on another thread:
//! [`Batches::allocate`] gives a [`Batch`], a [`Selector`](super::Selector) selects its paths, and [`Batches::handle_selected`]
//! takes it back. Meanwhile the next ones may be allocated. **When a batch comes back makes no difference to what is granted**,
//! as long as there [is room](Batches::has_room).
//!
//! A packet without a path ([`BLOCKED`]) is asked for again. So that this, too, happens at the same instant whoever selects, it
//! joins the queue with the [`REJOINS`]th batch after its own, behind what was requested until then. Where that may happen, an
//! earlier batch has to be back before. A packet between two racks that no living links join waits until the links to avoid
//! change.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::fastpass::allocator::{Allocator, AllocatorParams, Rack, Refusal};
use crate::fastpass::fcp::{Address, Grant};
use crate::fastpass::paths::{DeadLinks, Racks};

use super::batch::Batch;
use super::capacity::{capacities, own_rack, racks_left};
use super::network::BLOCKED;
use super::params::{ArbiterError, ArbiterParams, PathParams};

/// Batches that may have been allocated and not come back.
pub const MOST_IN_FLIGHT: u64 = 8;
/// A packet without a path joins again this many batches after its own: the arbiter may allocate one while it learns of it.
pub const REJOINS: u64 = 2;

/// The allocator, and which batch is next.
#[derive(Clone, Debug)]
pub struct Batches {
    allocator: Allocator,
    /// What the racks' links carry when nothing is avoided.
    racks: Vec<Rack>,
    /// Endpoints of each rack.
    sizes: Vec<usize>,
    /// The arbiter's rack, if it is in one.
    own: Option<usize>,
    avoided: Option<Arc<DeadLinks>>,
    /// Slots of a batch.
    width: u64,
    /// How many slots before it begins a batch is allocated.
    ahead: u64,
    /// The first slot of the next batch, a multiple of `width`.
    next: u64,
    /// The number of the next batch to be allocated, and of the next one to come back.
    allocated: u64,
    returned: u64,
    /// The last batch in which a packet may have no path.
    last_avoiding: Option<u64>,
    /// Packets that have no path and have not joined again, with the numbers of their batches, oldest first.
    blocked: VecDeque<(u64, Address, Address)>,
    /// Packets between racks that no living links join: they join again when that may have changed.
    cut_off: Vec<(Address, Address)>,
    /// The rack of each endpoint, where there are several paths.
    rack_of: Option<Racks>,
    /// Slots demanded and not granted, of all pairs, without those of `blocked` and `cut_off`.
    outstanding: u64,
    /// Grants to an endpoint of slots before this one are void, as it has been forgotten since.
    void_before: Box<[u64]>,
    /// Batches before this number may have void grants.
    void_until: u64,
    /// Memory of batches that are not in use.
    spares: Vec<Batch>,
}

/// What has come of the packets of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets that are granted.
    pub granted: u64,
    /// Packets without a path, of endpoints that have been forgotten meanwhile: they will not join again.
    pub forgotten: u64,
}

impl Batches {
    /// Batches without demand.
    ///
    /// Errors: [`ArbiterError::Allocator`].
    pub fn new(params: &ArbiterParams) -> Result<Batches, ArbiterError> {
        let capacities = capacities(params);
        let racks = capacities.as_ref().map_or_else(Vec::new, |capacities| capacities.racks.clone());
        let rack_of = match &params.paths {
            PathParams::Single => None,
            PathParams::LeafSpine { racks, .. } | PathParams::FatTree { racks, .. } => Some(racks),
        };
        let with_racks = AllocatorParams { capacities, ..params.allocator.clone() };
        Ok(Batches {
            allocator: Allocator::new(&with_racks).map_err(ArbiterError::Allocator)?,
            racks,
            own: own_rack(params),
            avoided: None,
            width: u64::from(params.allocator.slots),
            ahead: u64::from(params.ahead),
            next: 0,
            allocated: 0,
            returned: 0,
            last_avoiding: None,
            blocked: VecDeque::new(),
            cut_off: Vec::new(),
            sizes: rack_of.map_or_else(Vec::new, |racks| {
                let mut sizes = vec![0; racks.racks()];
                (0..racks.endpoints()).for_each(|endpoint| sizes[racks.rack_of(endpoint)] += 1);
                sizes
            }),
            rack_of: rack_of.cloned(),
            outstanding: 0,
            void_before: vec![0; params.allocator.nodes].into_boxed_slice(),
            void_until: 0,
            spares: Vec::with_capacity(MOST_IN_FLIGHT as usize),
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

    /// Returns whether a batch may be allocated: too many are with the driver otherwise.
    pub fn has_room(&self) -> bool {
        // None of those that are with the driver avoids anything, if the last one that did is back.
        let avoiding = self.last_avoiding >= Some(self.returned);
        self.allocated - self.returned < if avoiding { REJOINS } else { MOST_IN_FLIGHT }
    }

    /// The slot at whose beginning the next batch is to be allocated; `None` while nothing is demanded.
    pub(super) fn due(&self) -> Option<u64> {
        // Whether packets of a batch are blocked counts from when they join again, even if it is known before.
        let unsettled = self.last_avoiding.is_some_and(|batch| self.allocated <= batch + REJOINS);
        let wanted = self.outstanding > 0 || unsettled || !self.blocked.is_empty();
        wanted.then(|| self.next.saturating_sub(self.ahead))
    }

    /// Demands slots for a pair, from the next batch on that can still be allocated in time: now is slot `slot_now`.
    ///
    /// Errors: as the allocator's.
    pub fn request(
        &mut self,
        slot_now: u64,
        source: Address,
        destination: Address,
        slots: u32,
    ) -> Result<(), Refusal> {
        self.allocator.request(usize::from(source), usize::from(destination), slots)?;
        if self.due().is_none() {
            self.leave_out_before(slot_now + self.ahead);
        }
        self.outstanding += u64::from(slots);
        Ok(())
    }

    /// Forgets what an endpoint has demanded, and what it is granted in batches that have not come back. Returns how many slots
    /// were demanded and not granted.
    pub fn forget(&mut self, source: Address) -> u64 {
        let forgotten = self.allocator.forget(usize::from(source));
        self.outstanding -= forgotten;
        let without_path = self.blocked.len() + self.cut_off.len();
        self.blocked.retain(|&(_, of, _)| of != source);
        self.cut_off.retain(|&(of, _)| of != source);
        if let Some(before) = self.void_before.get_mut(usize::from(source)) {
            *before = self.next;
            self.void_until = self.allocated;
        }
        forgotten + (without_path - self.blocked.len() - self.cut_off.len()) as u64
    }

    /// Forgets what all have demanded, as [`Batches::forget`] does for each. Returns how many slots that is.
    pub fn forget_all(&mut self) -> u64 {
        let without_path = self.blocked.len() + self.cut_off.len();
        let forgotten = self.allocator.forget_all() + without_path as u64;
        self.blocked.clear();
        self.cut_off.clear();
        self.last_avoiding = None;
        self.outstanding = 0;
        self.void_before.fill(self.next);
        self.void_until = self.allocated;
        forgotten
    }

    /// From the next batch on no packet takes these links, and racks are granted what their others carry. What is demanded stays
    /// so, and keeps its order.
    pub fn avoid(&mut self, links: Arc<DeadLinks>) {
        self.allocator.limit_racks(racks_left(&self.racks, &links, self.own, &self.sizes));
        self.avoided = (!links.is_empty()).then_some(links);
        let joins = self.allocated.saturating_sub(REJOINS);
        self.blocked.extend(self.cut_off.drain(..).map(|(source, destination)| (joins, source, destination)));
    }

    /// Allocates the next batch, without paths; only if there [is room](Batches::has_room).
    pub fn allocate(&mut self) -> Batch {
        assert!(self.has_room(), "{} batches that have not come back", self.allocated - self.returned);
        self.rejoin();
        let mut batch = self.spares.pop().unwrap_or_default();
        (batch.number, batch.avoided) = (self.allocated, self.avoided.clone());
        batch.slots.resize_with(self.width as usize, Default::default);
        let schedule = self.allocator.allocate();
        let mut packets = 0;
        for (within, slot) in (0..).zip(&mut batch.slots) {
            slot.number = self.next + u64::from(within);
            slot.pairs.clear();
            slot.paths.clear();
            slot.pairs.extend(schedule.slot(within).iter().map(|pair| (pair.source(), pair.destination())));
            packets += slot.pairs.len() as u64;
        }
        if packets > 0 && batch.may_be_blocked() {
            self.last_avoiding = Some(self.allocated);
        }
        self.outstanding -= packets;
        self.next += self.width;
        self.allocated += 1;
        batch
    }

    /// Demands again what has had no path in batches that are long enough ago.
    fn rejoin(&mut self) {
        let Batches { allocator, blocked, cut_off, rack_of, avoided, allocated, outstanding, .. } = self;
        let is_cut_off = |source: Address, destination: Address| {
            let (Some(racks), Some(dead)) = (&*rack_of, &*avoided) else { return false };
            !dead.joins(racks.rack_of(source.into()), racks.rack_of(destination.into()))
        };
        blocked.retain(|&(batch, source, destination)| {
            if batch + REJOINS > *allocated {
                return true;
            }
            if is_cut_off(source, destination) {
                cut_off.push((source, destination));
                return false;
            }
            // If the pair waits for as much as it may, this one waits for the next batch.
            let refused = allocator.request(usize::from(source), usize::from(destination), 1).is_err();
            *outstanding += u64::from(!refused);
            refused
        });
    }

    /// Takes back a batch whose paths are selected, and gives each grant with its source to `give`. Batches come back in the
    /// order in which they were allocated.
    pub fn handle_selected(&mut self, batch: Batch, mut give: impl FnMut(Address, Grant)) -> Outcome {
        assert_eq!(batch.number, self.returned, "the number of the next batch to come back");
        self.returned += 1;
        let mut outcome = Outcome { granted: batch.packets(), forgotten: 0 };
        let plain = self.void_until <= batch.number && !batch.may_be_blocked();
        for slot in &batch.slots {
            assert_eq!(slot.pairs.len(), slot.paths.len(), "a path for each packet");
            for (&(source, destination), &path) in slot.pairs.iter().zip(&slot.paths) {
                let is_void = !plain && slot.number < self.void_before[usize::from(source)];
                if !plain && path == BLOCKED {
                    outcome.granted -= 1;
                    outcome.forgotten += u64::from(is_void);
                    if !is_void {
                        self.blocked.push_back((batch.number, source, destination));
                    }
                } else if !is_void {
                    give(source, Grant { slot: slot.number, destination, path });
                }
            }
        }
        self.spares.push(batch);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fastpass::arbiter::{PathParams, Selector};
    use crate::fastpass::paths::{Link, Racks};

    /// The network of these parameters, in which rack 0 cannot send to switch 1.
    fn one_dead(params: &ArbiterParams) -> Arc<DeadLinks> {
        let mut dead = super::super::capacity::dead_links(params).expect("a network").expect("several paths");
        dead.set(Link::FromRack { rack: 0, switch: 1 }, true).expect("a link");
        Arc::new(dead)
    }

    /// Batches are due for as long as something may join again, whether that is known already or not; and no longer.
    #[test]
    fn batches_are_due_until_it_is_settled_whether_all_have_paths() {
        let params = ArbiterParams {
            allocator: AllocatorParams { nodes: 4, slots: 16, ..AllocatorParams::default() },
            paths: PathParams::LeafSpine { racks: Racks::uniform(2, 2).expect("racks"), paths: 2 },
            ..ArbiterParams::default()
        };
        let mut selector = Selector::new(&params).expect("parameters that go together");
        let mut select = |batch: &mut Batch, blocked: bool| {
            selector.select(batch.avoided.as_ref(), &mut batch.slots);
            if blocked {
                batch.slots.iter_mut().flat_map(|slot| &mut slot.paths).for_each(|path| *path = BLOCKED);
            }
        };
        for (avoids, blocked, late) in
            [(false, false, false), (true, false, false), (true, true, false), (true, true, true)]
        {
            let mut batches = Batches::new(&params).expect("parameters that go together");
            if avoids {
                batches.avoid(one_dead(&params));
            }
            batches.request(100, 0, 3, 1).expect("room");
            let mut in_flight = VecDeque::new();
            let mut granted = Vec::new();
            for number in 0..6 {
                if batches.due().is_none() {
                    break;
                }
                let mut batch = batches.allocate();
                select(&mut batch, blocked && number == 0);
                in_flight.push_back(batch);
                while in_flight.len() > usize::from(late) {
                    let batch = in_flight.pop_front().expect("some");
                    batches.handle_selected(batch, |_, grant| granted.push(grant.slot));
                }
            }
            let expected = match (avoids, blocked) {
                (false, _) => (1, 144),
                // The living link of a rack with a dead one leaves this slot to control packets.
                (true, false) => (1 + REJOINS, 145),
                (true, true) => (1 + 2 * REJOINS, 144 + 16 * REJOINS),
            };
            assert_eq!(
                (batches.allocated, granted),
                (expected.0, vec![expected.1]),
                "{avoids} {blocked} {late}"
            );
        }
    }

    /// A packet between racks that no living links join waits, costs no batch meanwhile, and is granted when a link is used
    /// again.
    #[test]
    fn what_is_cut_off_waits_until_links_are_used_again() {
        let params = ArbiterParams {
            allocator: AllocatorParams { nodes: 4, slots: 16, ..AllocatorParams::default() },
            paths: PathParams::LeafSpine { racks: Racks::uniform(2, 2).expect("racks"), paths: 2 },
            ..ArbiterParams::default()
        };
        let mut selector = Selector::new(&params).expect("parameters that go together");
        let mut batches = Batches::new(&params).expect("parameters that go together");
        let mut both_dead = DeadLinks::clone(&one_dead(&params));
        both_dead.set(Link::ToRack { rack: 1, switch: 0 }, true).expect("a link");
        batches.avoid(Arc::new(both_dead));
        batches.request(100, 0, 3, 2).expect("room");
        batches.request(100, 2, 1, 1).expect("room");
        let mut granted = Vec::new();
        let mut run = |batches: &mut Batches| {
            let mut count = 0;
            while batches.due().is_some() && count < 20 {
                let mut batch = batches.allocate();
                selector.select(batch.avoided.as_ref(), &mut batch.slots);
                batches.handle_selected(batch, |source, _| granted.push(source));
                count += 1;
            }
            count
        };
        assert!(run(&mut batches) <= 3 + REJOINS, "batches without end for what cannot be granted");
        batches.avoid(one_dead(&params));
        run(&mut batches);
        assert_eq!(granted, [2, 0, 0]);
        // What is forgotten does not come back.
        batches.request(1000, 0, 3, 2).expect("room");
        assert_eq!(batches.forget(0), 2);
    }

    #[test]
    fn batches_are_not_due_when_all_is_forgotten() {
        let params = ArbiterParams {
            allocator: AllocatorParams { nodes: 4, slots: 16, ..AllocatorParams::default() },
            paths: PathParams::LeafSpine { racks: Racks::uniform(2, 2).expect("racks"), paths: 2 },
            ..ArbiterParams::default()
        };
        let mut batches = Batches::new(&params).expect("parameters that go together");
        batches.avoid(one_dead(&params));
        batches.request(100, 0, 3, 1).expect("room");
        drop(batches.allocate());
        assert!(batches.due().is_some());
        assert_eq!((batches.forget_all(), batches.due()), (0, None));
    }
}
