//! A small UDP relay between a sender and a receiver, which loses, repeats and holds back what a seed says. It is driven
//! as an end is, by [`clearway_host::datagram::driver::drive`].

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::Arc;
use std::thread;

use clearway_host::datagram::clock::Clock;
use clearway_host::datagram::driver::{drive, Arrival, Endpoint, Waker};
use clearway_host::datagram::socket::Socket;
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

use crate::network::{Faults, Random};

/// How long a datagram that others overtake is held back.
const HELD: Span = Span::from_us(200);

/// A relay between a receiver and a sender, whose address it learns.
pub struct Relay {
    to: SocketAddr,
    sender: Option<SocketAddr>,
    faults: Faults,
    random: Random,
    ready: VecDeque<(SocketAddr, Vec<u8>)>,
    held: VecDeque<(Time, SocketAddr, Vec<u8>)>,
    pub counts: Counts,
}

/// What the relay did, in both directions together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub carried: u64,
    pub lost: u64,
    pub repeated: u64,
    pub held: u64,
}

impl Relay {
    /// A relay that sends what comes from `to` to whoever else was last heard, and everything else to `to`.
    pub fn new(to: SocketAddr, faults: Faults, seed: u64) -> Relay {
        let random = Random::new(seed);
        let (ready, held, counts) = (VecDeque::new(), VecDeque::new(), Counts::default());
        Relay { to, sender: None, faults, random, ready, held, counts }
    }
}

/// Runs a relay on a thread of its own, which binds its socket, while `work` runs with its address. Returns what became of
/// the work, and what the relay did.
pub fn relayed<T>(
    mut relay: Relay,
    bind: impl FnOnce() -> Socket + Send + 'static,
    work: impl FnOnce(SocketAddr) -> T,
) -> (T, Counts) {
    let over = Arc::new(AtomicBool::new(false));
    let told = over.clone();
    let (tell, address) = channel();
    // Not within a scope: one would wait for the relay for ever where the work panics.
    let running = thread::spawn(move || {
        let mut socket = bind();
        tell.send(socket.local_addr().unwrap()).unwrap();
        let (mut clock, waker) = (Clock::start(), Waker::new().unwrap());
        drive(&mut socket, &mut clock, &waker, &mut relay, |_, _, _| told.load(Ordering::Relaxed)).unwrap();
        relay.counts
    });
    let done = work(address.recv().unwrap());
    over.store(true, Ordering::Relaxed);
    (done, running.join().unwrap())
}

impl Endpoint for Relay {
    fn handle_datagram(&mut self, now: Time, arrival: &Arrival, bytes: &mut [u8]) {
        let to = if arrival.from == self.to {
            self.sender
        } else {
            self.sender = Some(arrival.from);
            Some(self.to)
        };
        let Some(to) = to else { return };
        self.counts.carried += 1;
        if self.random.one(self.faults.lost) {
            self.counts.lost += 1;
            return;
        }
        if self.random.one(self.faults.repeated) {
            self.counts.repeated += 1;
            self.ready.push_back((to, bytes.to_vec()));
        }
        if self.random.one(self.faults.delayed) {
            self.counts.held += 1;
            self.held.push_back((now + HELD, to, bytes.to_vec()));
            return;
        }
        self.ready.push_back((to, bytes.to_vec()));
    }

    fn handle_timeout(&mut self, now: Time) {
        while self.held.front().is_some_and(|&(at, ..)| at <= now) {
            let Some((_, to, bytes)) = self.held.pop_front() else { return };
            self.ready.push_back((to, bytes));
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.held.front().map(|&(at, ..)| at)
    }

    fn readiness(&self, _now: Time) -> Readiness {
        if self.ready.is_empty() {
            Readiness::Idle
        } else {
            Readiness::Ready
        }
    }

    fn transmit(&mut self, _now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let (to, bytes) = self.ready.pop_front()?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Some((bytes.len(), to))
    }

    fn handle_send_error(&mut self, _now: Time, _count: usize, error: &io::Error) {
        panic!("the relay cannot send: {error}");
    }

    fn handle_fragmentation(&mut self, length: usize) {
        panic!("the relay cannot send {length} bytes at once");
    }
}
