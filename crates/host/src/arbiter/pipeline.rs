//! Timeslot allocation and path selection side by side on two threads (Fastpass §4 and figure 4: its arbiter divides its work
//! among cores).
//!
//! The exact order of allocation does not let itself be divided among threads; the work after it does: while one thread
//! selects the paths of a batch, the other allocates the next. Between them, and from and to the caller, are bounded rings with
//! one producer and one consumer each.
//!
//! Requests and orders for batches come through one ring. So the caller decides which batch a request joins before any thread
//! sees it, and **the schedule is the same as [`Planner`]'s, which does the same work on the caller's own thread**.
//!
//! Where a ring is full there is back-pressure: the caller is told ([`Overloaded`]), and the allocating thread waits. Both are
//! counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clearway_proto::fastpass::allocator::Allocator;
use clearway_proto::fastpass::paths::{LeafSpine, Pair};
use rtrb::{Consumer, PopError, Producer, PushError, RingBuffer};

/// Batches on their way through the threads at most.
const BATCHES: usize = 8;
/// How often a thread looks again before it lets others run.
const SPINS: u32 = 200;
/// How long a thread sleeps that has looked in vain for longer than that.
const NAP: Duration = Duration::from_micros(50);

/// A batch of slots, allocated and with paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// The number of the batch, from 0 on.
    pub batch: u64,
    /// The pairs of source and destination that send in each slot.
    pub pairs: Vec<Vec<Pair>>,
    /// The path of each of these, by spine switch; [`BYPASS`](clearway_proto::fastpass::paths::BYPASS) within a rack.
    pub paths: Vec<Vec<u8>>,
}

/// There is no room for a request or an order: the arbiter has more to do than it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

/// What went otherwise than it should.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineCounters {
    /// Requests and orders that found no room.
    pub overloaded: u64,
    /// Requests that the allocator refused.
    pub refused: u64,
    /// Batches whose allocation had to wait until one before was taken.
    pub waited: u64,
}

/// Allocates and selects paths on the caller's thread.
#[derive(Clone, Debug)]
pub struct Planner {
    allocator: Allocator,
    network: LeafSpine,
    batches: u64,
    refused: u64,
}

impl Planner {
    /// A planner without demand.
    pub fn new(allocator: Allocator, network: LeafSpine) -> Planner {
        Planner { allocator, network, batches: 0, refused: 0 }
    }

    /// Asks for slots, from the next batch on.
    pub fn request(&mut self, source: usize, destination: usize, slots: u32) {
        self.refused += u64::from(self.allocator.request(source, destination, slots).is_err());
    }

    /// Plans the next batch in place of what `planned` holds.
    pub fn plan(&mut self, planned: &mut Planned) {
        planned.batch = self.batches;
        self.batches += 1;
        allocate(&mut self.allocator, planned);
        select(&mut self.network, planned);
    }

    /// Requests that the allocator refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

fn allocate(allocator: &mut Allocator, planned: &mut Planned) {
    let schedule = allocator.allocate();
    planned.pairs.resize(schedule.slots() as usize, Vec::new());
    for (slot, pairs) in (0..).zip(&mut planned.pairs) {
        pairs.clear();
        pairs.extend(schedule.slot(slot).iter().map(|pair| (pair.source(), pair.destination())));
    }
}

/// Panics where the allocator knows endpoints that the network does not.
fn select(network: &mut LeafSpine, planned: &mut Planned) {
    planned.paths.resize(planned.pairs.len(), Vec::new());
    for (pairs, paths) in planned.pairs.iter().zip(&mut planned.paths) {
        paths.clear();
        paths.extend_from_slice(network.select(pairs).expect("endpoints that both know, one packet each"));
    }
}

#[derive(Debug)]
enum Order {
    Request { source: u16, destination: u16, slots: u32 },
    Batch(u64),
}

/// Allocates on one thread and selects paths on another.
#[derive(Debug)]
pub struct Pipeline {
    orders: Option<Producer<Order>>,
    planned: Consumer<Planned>,
    spares: Producer<Planned>,
    threads: Vec<JoinHandle<()>>,
    batches: u64,
    overloaded: u64,
    shared: Arc<Shared>,
}

/// What the allocating thread counts.
#[derive(Debug, Default)]
struct Shared {
    refused: AtomicU64,
    waited: AtomicU64,
}

impl Pipeline {
    /// A pipeline without demand, with room for so many requests that have not been seen to.
    ///
    /// Panics if the system gives no threads.
    pub fn new(allocator: Allocator, network: LeafSpine, requests: usize) -> Pipeline {
        let (orders, orders_in) = RingBuffer::new(requests.max(1));
        let (mut spares, spares_in) = RingBuffer::new(BATCHES);
        let (allocated, allocated_in) = RingBuffer::new(BATCHES);
        let (selected, planned) = RingBuffer::new(BATCHES);
        for _ in 0..BATCHES {
            give(&mut spares, Planned::default());
        }
        let shared = Arc::new(Shared::default());
        let counters = Arc::clone(&shared);
        let threads = vec![
            thread::spawn(move || allocate_all(allocator, orders_in, spares_in, allocated, &counters)),
            thread::spawn(move || select_all(network, allocated_in, selected)),
        ];
        Pipeline { orders: Some(orders), planned, spares, threads, batches: 0, overloaded: 0, shared }
    }

    /// Asks for slots, from the next batch ordered on.
    ///
    /// Errors: [`Overloaded`]; then nothing has changed.
    pub fn request(&mut self, source: u16, destination: u16, slots: u32) -> Result<(), Overloaded> {
        self.order(Order::Request { source, destination, slots })
    }

    /// Orders the next batch.
    ///
    /// Errors: [`Overloaded`]; then nothing has changed.
    pub fn order_batch(&mut self) -> Result<(), Overloaded> {
        self.order(Order::Batch(self.batches))?;
        self.batches += 1;
        Ok(())
    }

    fn order(&mut self, order: Order) -> Result<(), Overloaded> {
        let orders = self.orders.as_mut().ok_or(Overloaded)?;
        orders.push(order).map_err(|PushError::Full(_)| {
            self.overloaded += 1;
            Overloaded
        })
    }

    /// The next batch that is planned, in the order in which they were ordered; none if it is not ready. To be
    /// [given back](Pipeline::give_back) when it has been seen to.
    pub fn poll_planned(&mut self) -> Option<Planned> {
        self.planned.pop().ok()
    }

    /// Gives back the memory of a batch.
    pub fn give_back(&mut self, planned: Planned) {
        give(&mut self.spares, planned);
    }

    /// What has been counted so far.
    pub fn counters(&self) -> PipelineCounters {
        PipelineCounters {
            overloaded: self.overloaded,
            refused: self.shared.refused.load(Ordering::Relaxed),
            waited: self.shared.waited.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Pipeline {
    /// Ends both threads. What is ordered and not planned is forgotten.
    fn drop(&mut self) {
        self.orders = None;
        while self.threads.iter().any(|thread| !thread.is_finished()) {
            // A thread that waits for room has to find it.
            while let Ok(planned) = self.planned.pop() {
                drop(self.spares.push(planned));
            }
            thread::yield_now();
        }
        for thread in self.threads.drain(..) {
            let well = thread.join().is_ok();
            assert!(well || thread::panicking(), "a thread of the arbiter has failed");
        }
    }
}

fn allocate_all(
    mut allocator: Allocator,
    mut orders: Consumer<Order>,
    mut spares: Consumer<Planned>,
    mut allocated: Producer<Planned>,
    shared: &Shared,
) {
    while let Some(order) = take(&mut orders) {
        match order {
            Order::Request { source, destination, slots } => {
                let asked = allocator.request(source.into(), destination.into(), slots);
                shared.refused.fetch_add(u64::from(asked.is_err()), Ordering::Relaxed);
            }
            Order::Batch(batch) => {
                shared.waited.fetch_add(u64::from(spares.is_empty()), Ordering::Relaxed);
                let Some(mut planned) = take(&mut spares) else { return };
                planned.batch = batch;
                allocate(&mut allocator, &mut planned);
                give(&mut allocated, planned);
            }
        }
    }
}

fn select_all(mut network: LeafSpine, mut allocated: Consumer<Planned>, mut selected: Producer<Planned>) {
    while let Some(mut planned) = take(&mut allocated) {
        select(&mut network, &mut planned);
        give(&mut selected, planned);
    }
}

/// The next of a ring, waited for; none when its producer is gone and nothing is left.
fn take<T>(ring: &mut Consumer<T>) -> Option<T> {
    let mut tries = 0;
    loop {
        let abandoned = ring.is_abandoned();
        match ring.pop() {
            Ok(value) => return Some(value),
            Err(PopError::Empty) if abandoned => return None,
            Err(PopError::Empty) => wait(&mut tries),
        }
    }
}

/// Puts a batch into a ring. There are no more batches than a ring has room for.
fn give(ring: &mut Producer<Planned>, planned: Planned) {
    assert!(ring.push(planned).is_ok(), "more batches than there are");
}

/// Waits a little: the longer it has been in vain, the more.
// These are threads of a driver: machines never wait.
#[allow(clippy::disallowed_methods)]
fn wait(tries: &mut u32) {
    *tries = tries.saturating_add(1);
    if *tries < SPINS {
        std::hint::spin_loop();
    } else if *tries < 2 * SPINS {
        thread::yield_now();
    } else {
        thread::sleep(NAP);
    }
}
