//! Path selection beside timeslot allocation, on two threads (Fastpass §4 and figure 4: its arbiter divides its work among
//! cores).
//!
//! The exact order of allocation does not let itself be divided among threads; path selection does, as no slot's paths depend on
//! another's. So one thread, the caller's, allocates batches ([`Arbiter`](clearway_proto::fastpass::arbiter::Arbiter), or its
//! [`Batches`](clearway_proto::fastpass::arbiter::Batches) alone), and hands each to a [`Pipeline`], which hands most of its
//! slots to the other thread, in *parts* of a few slots, as many as keep it busy during the next allocation. What there is no
//! room for the caller selects the paths of itself, so that neither waits for the other, whichever has more to do. Batches come
//! back in their order. **The grants are the same as with one thread**: who selects a slot's paths makes no difference to them.
//!
//! Parts go to the other thread through a queue behind a lock, and come back through a ring with one producer and one consumer:
//! 16 messages a batch of 64 slots at most. The queue has a lock so that parts can be taken back: where the system does not let
//! the other thread run, the caller does its work. Memory goes round with the parts.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clearway_proto::fastpass::arbiter::{Batch, Selector, Slot, MOST_IN_FLIGHT};
use clearway_proto::fastpass::paths::DeadLinks;
use rtrb::{Consumer, PopError, Producer, PushError, RingBuffer};

/// Slots of a part: enough that a hand-over (some 100 ns) weighs little, and few enough that the last part of a batch does not
/// keep one thread waiting for the other.
const PART: usize = 8;
/// The most parts that wait for the other thread: as many slots as it selects the paths of while a batch of 64 is allocated.
const AHEAD: usize = 6;
/// How often a thread looks again before it lets others run.
const SPINS: u32 = 2000;
/// How long a thread sleeps after it has looked in vain `SPINS` times and more.
const NAP: Duration = Duration::from_micros(50);

/// How the work was divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipelineCounters {
    /// Slots whose paths the caller's thread has selected.
    pub slots_here: u64,
    /// Slots whose paths the other thread has selected, or has been given to.
    pub slots_there: u64,
}

/// A few slots of a batch.
#[derive(Debug, Default)]
struct Part {
    batch: u64,
    /// The number of the part's first slot within its batch.
    first: usize,
    avoided: Option<Arc<DeadLinks>>,
    slots: Vec<Slot>,
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
    batch: Batch,
    /// The number of parts that have not come back.
    missing: usize,
}

/// Selects the paths of batches on the caller's thread and on another.
#[derive(Debug)]
pub struct Pipeline {
    selector: Selector,
    there: Arc<Parts>,
    back: Consumer<Part>,
    /// The batches that have not been taken, in their order.
    pending: VecDeque<Pending>,
    /// Memory of parts that are not in use.
    spares: Vec<Vec<Slot>>,
    thread: Option<JoinHandle<()>>,
    counters: PipelineCounters,
}

impl Pipeline {
    /// A pipeline without batches, whose threads select paths as this selector does.
    ///
    /// Panics if the system gives no thread.
    pub fn new(selector: Selector) -> Pipeline {
        let there = Arc::new(Parts::default());
        there.change(|queue| queue.reserve(AHEAD));
        // The ring has room for all parts that there can be.
        let (selected, back) = RingBuffer::new(MOST_IN_FLIGHT as usize * 64_usize.div_ceil(PART));
        let (other, parts) = (selector.clone(), Arc::clone(&there));
        Pipeline {
            selector,
            there,
            back,
            pending: VecDeque::with_capacity(MOST_IN_FLIGHT as usize),
            spares: Vec::new(),
            thread: Some(thread::spawn(move || select_all(other, &parts, selected))),
            counters: PipelineCounters::default(),
        }
    }

    /// Has the paths of a batch selected, the one that was allocated after the last one handed over.
    ///
    /// Panics if more batches than an arbiter lets out of its hands have not been taken.
    pub fn select(&mut self, mut batch: Batch) {
        assert!(
            self.pending.len() < MOST_IN_FLIGHT as usize,
            "more batches than an arbiter lets out of its hands"
        );
        let (mut first, mut missing) = (0, 0);
        while first < batch.slots.len() {
            let end = batch.slots.len().min(first + PART);
            let some = &mut batch.slots[first..end];
            if self.there.waiting.load(Ordering::Relaxed) < AHEAD {
                let mut slots = self.spares.pop().unwrap_or_default();
                slots.extend(some.iter_mut().map(std::mem::take));
                self.counters.slots_there += slots.len() as u64;
                let part = Part { batch: batch.number, first, avoided: batch.avoided.clone(), slots };
                self.there.change(|queue| queue.push_back(part));
                missing += 1;
            } else {
                self.selector.select(batch.avoided.as_ref(), some);
                self.counters.slots_here += some.len() as u64;
            }
            first = end;
        }
        self.pending.push_back(Pending { batch, missing });
        self.take_back();
    }

    /// Does what the other thread was to do for the oldest batch and has not begun: for a caller that can go on only when that
    /// batch is ready.
    pub fn relieve(&mut self) {
        self.take_back();
        while self.pending.front().is_some_and(|pending| pending.missing > 0) {
            let Some(mut part) = self.there.take() else { return };
            self.selector.select(part.avoided.as_ref(), &mut part.slots);
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
        let oldest = self.pending.front().map_or(part.batch, |pending| pending.batch.number);
        let pending = &mut self.pending[(part.batch - oldest) as usize];
        for (place, slot) in pending.batch.slots[part.first..].iter_mut().zip(part.slots.drain(..)) {
            *place = slot;
        }
        pending.missing -= 1;
        self.spares.push(part.slots);
    }

    /// The next batch with paths, in the order in which they were handed over; `None` if it is not ready.
    pub fn poll_selected(&mut self) -> Option<Batch> {
        self.take_back();
        if self.pending.front()?.missing > 0 {
            return None;
        }
        self.pending.pop_front().map(|pending| pending.batch)
    }

    /// Returns whether no batch is to be taken, now or later.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns what has been counted so far.
    pub fn counters(&self) -> PipelineCounters {
        self.counters
    }
}

impl Drop for Pipeline {
    /// Ends the other thread. Batches that have not been taken are forgotten.
    fn drop(&mut self) {
        self.there.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let well = thread.join().is_ok();
            assert!(well || thread::panicking(), "the thread that selects paths has failed");
        }
    }
}

/// Selects paths until no more slots are to come.
fn select_all(mut selector: Selector, parts: &Parts, mut selected: Producer<Part>) {
    let mut tries = 0;
    while !parts.ended.load(Ordering::Acquire) {
        let Some(mut part) = parts.take() else {
            wait(&mut tries);
            continue;
        };
        tries = 0;
        selector.select(part.avoided.as_ref(), &mut part.slots);
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
