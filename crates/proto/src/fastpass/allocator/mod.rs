//! Timeslot allocation (§3): in every timeslot each endpoint sends at most one packet and receives at most one, and the
//! pairs that have waited longest (or have least left) come first.
//!
//! # The order
//!
//! The pairs of source and destination with unsatisfied demand stand in a *queue*. In each timeslot the whole queue is
//! walked from its head, and a pair is granted the slot if its source and its destination (and the links between their
//! racks, see [`Capacities`]) are all still free: a greedy maximal matching. A pair is granted at most one packet a slot.
//! What the order of the queue is, exactly:
//!
//! [`Order::MaxMin`], max-min fair (figure 4): least recently served first.
//! - A pair's place is its last event, a grant or its joining; the oldest event stands at the head.
//! - Requests join at the instant at which a batch starts, after all that was granted before, in the order in which they
//!   were made.
//! - A pair that is granted a slot and has some left goes to the tail; pairs granted in one slot do so in the order in
//!   which the walk met them.
//! - A request of a pair that is in the queue (a *top-up*) adds to what it waits for and leaves its place as it is.
//! - A pair that has got all it asked for leaves the queue. If it asks again, it joins anew.
//!
//! [`Order::MinFct`], minimum flow completion time: fewest slots left first.
//! - When a batch starts, new pairs are put at the tail, in the order of their requests; then the queue is sorted by the
//!   number of slots that each pair waits for at this instant, top-ups included. Pairs that wait for equally many keep the
//!   order that they had in the batch before.
//! - This order holds for all slots of the batch, whatever is granted meanwhile.
//!
//! # Batches
//!
//! Slots are allocated in batches of W ([`AllocatorParams::slots`]), at most 64: so an endpoint's free slots of a batch are
//! the bits of one word, and a pair's first common free slot is one instruction away. For max-min, **W changes nothing but the
//! instants at which requests join**: the grants are those of walking the queue slot by slot. For pairs are served in the
//! order of their last events: first those that wait from before the batch, then those granted in slot 0, in slot 1, and so
//! on. Each takes the first slot in which all it needs is free, after all pairs with older events have taken theirs; and that is
//! what the walk of that slot finds, since a slot once taken is never given back. For minimum completion time W also says how
//! often the queue is sorted.
//!
//! # Bounds
//!
//! After [`Allocator::new`] no memory is allocated. A pair waits for at most [`AllocatorParams::limit`] slots; a request
//! that would make it more is refused whole. So a source that asks for too much fills only its own pairs, and it is
//! granted no more than its link carries. A batch costs one step for each grant and each pair in the queue. The memory is 12
//! bytes for each pair of endpoints (20 for [`Order::MinFct`]), of which only what has been used is touched, and 8 bytes for
//! each endpoint and slot of a batch.

mod access;
mod capacities;
mod demand;
mod links;
mod pair;
mod params;
mod schedule;
mod sort;

pub use capacities::{Capacities, Carries, Node, PerSlot, Rack};
pub use demand::Refusal;
pub use pair::Pair;
pub use params::{AllocatorParams, Order, ParamsError, MOST_NODES, MOST_SLOTS};
pub use schedule::Schedule;

use access::Access;
use capacities::Counted;
use demand::Demand;
use links::Links;
use schedule::Lists;

/// The timeslot allocator: requests in, batches of slots out.
///
/// ```
/// use clearway_proto::fastpass::allocator::{Allocator, AllocatorParams};
///
/// let mut allocator = Allocator::new(&AllocatorParams { nodes: 4, slots: 2, ..AllocatorParams::default() })?;
/// allocator.request(0, 3, 2)?;
/// allocator.request(1, 3, 1)?;
/// let schedule = allocator.allocate();
/// // Both want to send to 3, and 0 asked first. In slot 1 it is 1 that was served less recently.
/// assert_eq!(schedule.slot(0).iter().map(|pair| pair.source()).collect::<Vec<_>>(), [0]);
/// assert_eq!(schedule.slot(1).iter().map(|pair| pair.source()).collect::<Vec<_>>(), [1]);
/// assert_eq!(allocator.waiting()[0].remaining(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Allocator {
    order: Order,
    demand: Demand,
    links: Fabric,
    schedule: Schedule,
    /// A copy of the queue while it is sorted; without room if it never is.
    spare: Vec<Pair>,
}

/// What the network lets pass in a slot, counted in one of two ways, so that a network without bottlenecks inside pays nothing.
#[derive(Clone, Debug)]
struct Fabric {
    /// Every endpoint sends and receives one packet a slot.
    access: Access,
    /// Racks, or endpoints with room for several packets a slot, limit as well; none where they never do.
    counted: Option<Counted>,
    /// Whether they do at present.
    limits: bool,
}

impl Allocator {
    /// An allocator without demand; or what does not go together in `params`.
    pub fn new(params: &AllocatorParams) -> Result<Allocator, ParamsError> {
        params.check()?;
        let nodes = params.nodes;
        let most_granted = params.capacities.as_ref().map_or(nodes, Capacities::most_granted);
        let counted = params.capacities.as_ref().map(|capacities| Counted::new(capacities, params.slots));
        let pairs = nodes * (nodes - 1);
        let sorted = if params.order == Order::MinFct { pairs } else { 0 };
        Ok(Allocator {
            order: params.order,
            demand: Demand::new(nodes, params.limit),
            links: Fabric {
                access: Access::new(nodes, params.slots),
                limits: counted.as_ref().is_some_and(Counted::limits),
                counted,
            },
            schedule: Schedule::new(params.slots, most_granted, pairs),
            spare: Vec::with_capacity(sorted),
        })
    }

    /// Asks for `slots` more timeslots from one endpoint to another, from the next batch on. What is refused changes
    /// nothing.
    ///
    /// Takes constant time, but for at most one request between two batches that takes a step for each waiting pair.
    #[inline]
    pub fn request(&mut self, source: usize, destination: usize, slots: u32) -> Result<(), Refusal> {
        self.demand.request(source, destination, slots, &mut self.schedule)
    }

    /// Forgets what a source waits for, as when its endpoint has been started anew and asks for all it wants again. The
    /// slots that were forgotten.
    ///
    /// That takes effect at once. Of all requests of this source, to any destination, what has not been granted is dropped, what
    /// was asked since the last batch included; its pairs leave the queue, and the others keep their order. If it
    /// asks again, before the next batch or later, its pairs join anew, at the tail. What was granted stays so,
    /// the last batch among it, and what others ask for packets to this endpoint is not touched. A source that waits for
    /// nothing, or that there is none of, has nothing to be forgotten.
    ///
    /// Takes a step for each waiting pair.
    pub fn forget(&mut self, source: usize) -> u64 {
        self.demand.forget(source, &mut self.schedule)
    }

    /// Forgets what all sources wait for, as [`Allocator::forget`] does for each of them: it is then as good as new. The slots
    /// that were forgotten.
    ///
    /// Takes a step for each waiting pair.
    pub fn forget_all(&mut self) -> u64 {
        self.demand.forget_all(&mut self.schedule)
    }

    /// From the next batch on, the links of the racks carry this, one entry for each rack of the [`Capacities`] that the
    /// allocator was made with. What waits stays and keeps its order.
    ///
    /// Takes a step for each rack. Panics if the allocator was made without capacities or with another number of racks, or if a
    /// rack carries nothing.
    pub fn limit_racks(&mut self, racks: impl IntoIterator<Item = Rack>) {
        let counted = self.links.counted.as_mut().expect("an allocator that was made with capacities");
        counted.limit(racks);
        self.links.limits = counted.limits();
    }

    /// Allocates the next batch of slots, and what was requested until now takes part in it.
    pub fn allocate(&mut self) -> &Schedule {
        self.schedule.clear();
        let Allocator { order, demand, links, schedule, spare } = self;
        match (order, links.counted.as_mut().filter(|_| links.limits)) {
            (Order::MaxMin, None) => max_min(demand, &mut links.access, schedule),
            (Order::MaxMin, Some(counted)) => max_min(demand, counted, schedule),
            (Order::MinFct, None) => min_fct(demand, &mut links.access, schedule, spare),
            (Order::MinFct, Some(counted)) => min_fct(demand, counted, schedule, spare),
        }
        demand.end_batch();
        &self.schedule
    }

    /// The batch that was allocated last.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The pairs that wait, in the order of the queue, with what each waits for. (For minimum completion time, as the queue
    /// was in the last batch, and what joined since.) Takes a step for each if there were requests since the last batch.
    pub fn waiting(&mut self) -> &[Pair] {
        self.demand.top_up(&mut self.schedule);
        self.schedule.queue()
    }
}

/// One batch, least recently served pair first.
fn max_min(demand: &mut Demand, links: &mut impl Links, schedule: &mut Schedule) {
    links.open();
    serve_queue(demand, links, schedule);
    let oldest = schedule.queue().len();
    for slot in 0..schedule.slots() {
        links.pass(slot);
        serve_granted(slot, links, schedule);
    }
    schedule.settle(oldest, |pair| demand.leave(pair));
}

// Each of these loops is a function of its own so that what it uses stays in registers.

/// Serves the pairs that wait from before the batch, oldest event first. Those without a free slot keep their places, as
/// they are older than all that is granted now.
#[inline(never)]
fn serve_queue(demand: &mut Demand, links: &mut impl Links, schedule: &mut Schedule) {
    let (places, mut lists) = schedule.take_queue();
    lists.serve(places, |pair| {
        *pair = demand.up_to_date(*pair);
        links.take_first(*pair)
    });
}

/// Serves the pairs that were granted a slot once more, for later ones. Those that there is no slot for go to the queue, and so
/// do those that wait for nothing more.
#[inline(never)]
fn serve_granted(slot: u32, links: &mut impl Links, schedule: &mut Schedule) {
    let (places, mut lists) = schedule.served_in(slot);
    lists.serve(places, |pair| links.take_first(*pair));
}

/// One batch, fewest slots left first: as the order is the same in all slots, a pair takes all it wants at once.
fn min_fct(demand: &mut Demand, links: &mut impl Links, schedule: &mut Schedule, spare: &mut Vec<Pair>) {
    links.open();
    demand.top_up(schedule);
    sort::sort(schedule.queue_mut(), spare);
    schedule.retain(|lists, pair| {
        let pair = serve_all(pair, links, lists);
        if pair.waits() {
            return Some(pair);
        }
        demand.leave_outlined(pair);
        None
    });
}

/// Grants a pair its first free slots, as many as it waits for. The pair with what is left.
#[inline(always)]
fn serve_all(pair: Pair, links: &mut impl Links, lists: &mut Lists) -> Pair {
    let free = links.free(pair);
    let (mut rest, mut left) = (free, pair);
    while rest != 0 && left.waits() {
        left = left.granted_one();
        lists.append([rest.trailing_zeros()], [left]);
        rest &= rest - 1;
    }
    if rest != free {
        links.take(pair, free ^ rest);
    }
    left
}
