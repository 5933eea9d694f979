//! Timeslot allocation and path selection side by side on two threads (Fastpass §4 and figure 4: its arbiter divides its work
//! among cores).
//!
//! The exact order of allocation does not let itself be divided among threads; path selection does, as no slot's paths depend on
//! another's. So one thread, the caller's, allocates, and hands the slots of a batch to the other in *parts* of a few slots, as
//! many as keep it busy during the next allocation. What there is no room for the caller selects the paths of itself, so that
//! neither waits for the other, whichever has more to do. **The schedule is the same as [`Planner`]'s, which does the same work on
//! one thread**: who selects a slot's paths makes no difference to them.
//!
//! Parts go to the other thread through a queue behind a lock, and come back through a ring with one producer and one consumer: 16
//! messages a batch of 64 slots at most. The queue has a lock so that parts can be taken back: where the system does not let the
//! other thread run, the caller does its work. Memory goes round with the parts. There is enough for [`BATCHES`] batches: a
//! caller that does not take what is planned is told so ([`Overloaded`]).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clearway_proto::fastpass::allocator::Allocator;
use clearway_proto::fastpass::paths::{LeafSpine, Pair};
use rtrb::{Consumer, PopError, Producer, PushError, RingBuffer};

/// The most batches that are on their way through the threads.
pub const BATCHES: usize = 8;
/// Slots of a part: so many that a hand-over (some 100 ns) weighs little, so few that the last part of a batch does not keep one thread
/// waiting for the other.
const PART: usize = 8;
/// The most parts that wait for the other thread: as many slots as it selects the paths of while a batch of 64 is allocated.
const AHEAD: usize = 6;
/// How often a thread looks again before it lets others run.
const SPINS: u32 = 2000;
/// How long a thread sleeps after it has looked in vain `SPINS` times and more.
const NAP: Duration = Duration::from_micros(50);

/// A batch of slots, allocated and with paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// The number of the batch, from 0 on.
    pub batch: u64,
    /// The batch's slots.
    pub slots: Vec<PlannedSlot>,
}

/// A slot's packets and their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedSlot {
    /// The pairs of source and destination that send in this slot.
    pub pairs: Vec<Pair>,
    /// The path of each pair, by spine switch; [`BYPASS`](clearway_proto::fastpass::paths::BYPASS) within a rack.
    pub paths: Vec<u8>,
}

/// No batch can be ordered, because as many as there can be have not been taken and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

/// What went otherwise than it should, and how the work was divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineCounters {
    /// Batches that were ordered when there was no room.
    pub overloaded: u64,
    /// Requests that the allocator refused.
    pub refused: u64,
    /// Slots whose paths the allocating thread has selected.
    pub slots_here: u64,
    /// Slots handed to the other thread.
    pub slots_there: u64,
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
        planned.batch = self.allocate(&mut planned.slots);
        select(&mut self.network, &mut planned.slots);
    }

    /// Requests that the allocator refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Allocates the next batch in place of what `slots` holds, and returns the batch's number.
    fn allocate(&mut self, slots: &mut Vec<PlannedSlot>) -> u64 {
        let schedule = self.allocator.allocate();
        slots.resize_with(schedule.slots() as usize, PlannedSlot::default);
        for (number, slot) in (0..).zip(slots) {
            slot.pairs.clear();
            slot.pairs.extend(schedule.slot(number).iter().map(|pair| (pair.source(), pair.destination())));
        }
        self.batches += 1;
        self.batches - 1
    }
}

/// Panics where the allocator knows endpoints that the network does not.
fn select(network: &mut LeafSpine, slots: &mut [PlannedSlot]) {
    for PlannedSlot { pairs, paths } in slots {
        paths.clear();
        paths.extend_from_slice(network.select(pairs).expect("endpoints that both know, one packet each"));
    }
}

/// A few slots of a batch.
#[derive(Debug, Default)]
struct Part {
    batch: u64,
    /// The number of the part's first slot.
    first: usize,
    slots: Vec<PlannedSlot>,
}

/// The parts that wait for the other thread, oldest first.
#[derive(Debug, Default)]
struct Parts {
    queue: Mutex<VecDeque<Part>>,
    /// The number of parts that wait, which can be read without the lock.
    waiting: AtomicUsize,
    /// Whether no more parts will come.
    ended: AtomicBool,
}

impl Parts {
    /// Does something to the queue. (A thread that fails does so outside of this.)
    fn change<T>(&self, change: impl FnOnce(&mut VecDeque<Part>) -> T) -> T {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut queue);
        self.waiting.store(queue.len(), Ordering::Release);
        result
    }

    fn take(&self) -> Option<Part> {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.change(VecDeque::pop_front)
    }
}

/// A batch of which parts may still be with the other thread.
#[derive(Debug)]
struct Pending {
    planned: Planned,
    /// The number of parts that have not come back.
    missing: usize,
}

/// Allocates on the caller's thread and selects paths there and on another.
#[derive(Debug)]
pub struct Pipeline {
    planner: Planner,
    there: Arc<Parts>,
    back: Consumer<Part>,
    /// The batches that have been ordered and not taken, in their order.
    pending: VecDeque<Pending>,
    /// Memory for batches and for parts that are not in use.
    spares: Vec<Planned>,
    spare_parts: Vec<Vec<PlannedSlot>>,
    thread: Option<JoinHandle<()>>,
    counters: PipelineCounters,
}

impl Pipeline {
    /// A pipeline without demand.
    ///
    /// Panics if the system gives no thread.
    pub fn new(allocator: Allocator, network: LeafSpine) -> Pipeline {
        let there = Arc::new(Parts::default());
        there.change(|queue| queue.reserve(AHEAD));
        // Each ring has room for all parts that there can be.
        let (selected, back) = RingBuffer::new(BATCHES * 64_usize.div_ceil(PART));
        let (other, parts) = (network.clone(), Arc::clone(&there));
        Pipeline {
            planner: Planner::new(allocator, network),
            there,
            back,
            pending: VecDeque::with_capacity(BATCHES),
            spares: vec![Planned::default(); BATCHES],
            spare_parts: Vec::new(),
            thread: Some(thread::spawn(move || select_all(other, &parts, selected))),
            counters: PipelineCounters::default(),
        }
    }

    /// Asks for slots, from the next batch ordered on.
    pub fn request(&mut self, source: usize, destination: usize, slots: u32) {
        self.planner.request(source, destination, slots);
    }

    /// Allocates the next batch, and has its paths selected.
    ///
    /// Errors: [`Overloaded`]; then nothing has changed.
    pub fn order_batch(&mut self) -> Result<(), Overloaded> {
        let Some(mut planned) = self.spares.pop() else {
            self.counters.overloaded += 1;
            self.relieve();
            return Err(Overloaded);
        };
        planned.batch = self.planner.allocate(&mut planned.slots);
        let (mut first, mut missing) = (0, 0);
        while first < planned.slots.len() {
            let end = planned.slots.len().min(first + PART);
            let some = &mut planned.slots[first..end];
            if self.hand_over(planned.batch, first, some) {
                missing += 1;
            } else {
                select(&mut self.planner.network, some);
                self.counters.slots_here += some.len() as u64;
            }
            first = end;
        }
        self.pending.push_back(Pending { planned, missing });
        self.take_back();
        Ok(())
    }

    /// Hands slots to the other thread if there is room.
    fn hand_over(&mut self, batch: u64, first: usize, some: &mut [PlannedSlot]) -> bool {
        if self.there.waiting.load(Ordering::Relaxed) >= AHEAD {
            return false;
        }
        let mut slots = self.spare_parts.pop().unwrap_or_default();
        slots.extend(some.iter_mut().map(std::mem::take));
        self.counters.slots_there += slots.len() as u64;
        self.there.change(|queue| queue.push_back(Part { batch, first, slots }));
        true
    }

    /// Does what the other thread was to do for the oldest batch and has not begun.
    fn relieve(&mut self) {
        self.take_back();
        while self.pending.front().is_some_and(|pending| pending.missing > 0) {
            let Some(mut part) = self.there.take() else { return };
            select(&mut self.planner.network, &mut part.slots);
            let slots = part.slots.len() as u64;
            self.counters.slots_here += slots;
            self.counters.slots_there -= slots;
            self.put_back(part);
        }
    }

    /// Puts what has come back from the other thread into its place.
    ///
    /// Panics if that thread has failed.
    fn take_back(&mut self) {
        loop {
            let abandoned = self.back.is_abandoned();
            match self.back.pop() {
                Ok(part) => self.put_back(part),
                Err(PopError::Empty) if abandoned => panic!("the thread that selects paths has failed"),
                Err(PopError::Empty) => return,
            }
        }
    }

    /// Puts slots with paths into their batch.
    fn put_back(&mut self, mut part: Part) {
        let oldest = self.pending.front().map_or(part.batch, |pending| pending.planned.batch);
        let pending = &mut self.pending[(part.batch - oldest) as usize];
        for (place, slot) in pending.planned.slots[part.first..].iter_mut().zip(part.slots.drain(..)) {
            *place = slot;
        }
        pending.missing -= 1;
        self.spare_parts.push(part.slots);
    }

    /// The next batch that is planned, in the order in which they were ordered; none if it is not ready. To be
    /// [given back](Pipeline::give_back) when it has been seen to.
    pub fn poll_planned(&mut self) -> Option<Planned> {
        self.take_back();
        if self.pending.front()?.missing > 0 {
            return None;
        }
        self.pending.pop_front().map(|pending| pending.planned)
    }

    /// Gives back the memory of a batch.
    pub fn give_back(&mut self, planned: Planned) {
        assert!(self.spares.len() + self.pending.len() < BATCHES, "more batches than there are");
        self.spares.push(planned);
    }

    /// What has been counted so far.
    pub fn counters(&self) -> PipelineCounters {
        PipelineCounters { refused: self.planner.refused, ..self.counters }
    }
}

impl Drop for Pipeline {
    /// Ends the other thread. What is ordered and not planned is forgotten.
    fn drop(&mut self) {
        self.there.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let well = thread.join().is_ok();
            assert!(well || thread::panicking(), "the thread that selects paths has failed");
        }
    }
}

/// Selects paths until no more slots are to come.
fn select_all(mut network: LeafSpine, parts: &Parts, mut selected: Producer<Part>) {
    let mut tries = 0;
    while !parts.ended.load(Ordering::Acquire) {
        let Some(mut part) = parts.take() else {
            wait(&mut tries);
            continue;
        };
        tries = 0;
        select(&mut network, &mut part.slots);
        // The ring has room for all parts that there are.
        if let Err(PushError::Full(_)) = selected.push(part) {
            unreachable!("more parts than there are");
        }
    }
}

/// Waits a little: the longer it has been in vain, the more.
// This is the thread of a driver: machines never wait.
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
