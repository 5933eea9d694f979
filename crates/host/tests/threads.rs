//! An arbiter on two threads: the machine, and what selects its paths beside it. A test and a benchmark drive it.

use std::thread;

use clearway_host::arbiter::pipeline::Pipeline;
use clearway_proto::fastpass::arbiter::Arbiter;
use clearway_proto::units::Time;

/// An arbiter's machine on two threads: this one, which calls it, and one that selects paths.
///
/// It is driven as the machine is: [`ThreadedArbiter::handle_timeout`] in place of the machine's, and everything else by
/// [`ThreadedArbiter::machine`]. What it grants is what the machine alone would grant. Its endpoints are told as soon as paths
/// are selected, that is, when [`ThreadedArbiter::advance`] is called next: between any two packets.
#[derive(Debug)]
pub struct ThreadedArbiter {
    /// The machine. Its `handle_timeout`, `poll_batch` and `handle_selected` are this type's to call.
    pub machine: Arbiter,
    pipeline: Pipeline,
}

impl ThreadedArbiter {
    /// Puts an arbiter that selects paths itself on two threads. `None` if its selector has been taken.
    pub fn new(mut machine: Arbiter) -> Option<ThreadedArbiter> {
        let pipeline = Pipeline::new(machine.take_selector()?);
        Some(ThreadedArbiter { machine, pipeline })
    }

    /// Does what time has come for, and has paths selected for the batches that were allocated. Waits for the other thread only
    /// if a batch is due for which there is no room until an earlier one is ready.
    pub fn handle_timeout(&mut self, now: Time) {
        loop {
            self.machine.handle_timeout(now);
            while let Some(batch) = self.machine.poll_batch() {
                self.pipeline.select(batch);
            }
            if !self.machine.lacks_room(now) {
                return;
            }
            self.pipeline.relieve();
            while !self.advance() {
                thread::yield_now();
            }
        }
    }

    /// Takes what batches are ready, and has their endpoints told. Returns whether there were any.
    pub fn advance(&mut self) -> bool {
        let mut any = false;
        while let Some(batch) = self.pipeline.poll_selected() {
            self.machine.handle_selected(batch);
            any = true;
        }
        any
    }

    /// Waits until all batches that were allocated are ready, and has their endpoints told: then the machine is where it would be
    /// on one thread.
    pub fn finish(&mut self) {
        while !self.pipeline.is_empty() {
            self.pipeline.relieve();
            if !self.advance() {
                thread::yield_now();
            }
        }
    }
}
