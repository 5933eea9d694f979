//! The loop that both ends share: it moves datagrams between a socket and a machine, and tells the machine the time.
//!
//! It keeps the machines' contract ([`clearway_proto::machine`]): whatever happens is handed to the machine, which is
//! then asked anew for its readiness and timeout. What is ready leaves in batches; no more than one batch is queued
//! below the machine.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};
use rustix::event::{eventfd, EventfdFlags};
use rustix::thread::set_current_timer_slack;

use crate::datagram::clock::Clock;
use crate::datagram::socket::{Socket, BATCH};

/// The wait that is spent polling by an end that says nothing else.
const SPIN: Span = Span::from_us(3);
/// The longest sleep, which bounds how late an end that nothing else wakes notices what its user wants.
const LONGEST_WAIT: Span = Span::from_ms(100);

/// A datagram's arrival: its sender, the time, and the switches on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The address of the datagram's sender.
    pub from: SocketAddr,
    /// When the datagram reached this host, by the driver's clock (t2 for data, t5 for acknowledgements).
    pub received: Time,
    /// How many switches the datagram crossed.
    pub hops: u8,
}

/// One end of a connection: a machine that sends and receives datagrams.
pub trait Endpoint {
    /// A datagram has arrived, in bytes that the end may change.
    fn handle_datagram(&mut self, now: Time, arrival: &Arrival, bytes: &mut [u8]);

    /// A timer may have run out.
    fn handle_timeout(&mut self, now: Time);

    /// Returns when [`Self::handle_timeout`] is wanted.
    fn poll_timeout(&self) -> Option<Time>;

    /// Returns whether a datagram is to be sent.
    fn readiness(&self, now: Time) -> Readiness;

    /// Writes the datagram that is ready into `buffer`, which has room for the longest, and returns its length and its
    /// receiver; `None` if there is none after all.
    fn transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)>;

    /// `count` datagrams could not be sent.
    fn handle_send_error(&mut self, now: Time, count: usize, error: &io::Error);

    /// Datagrams of this length are too long for the path, and leave in fragments from here on.
    fn handle_fragmentation(&mut self, length: usize);

    /// Somebody else has something for it, maybe: it is asked in each pass of the loop.
    fn handle_wake(&mut self, _now: Time) {}

    /// Waits shorter than this are spent polling instead of sleeping: so long before an instant the driver wakes up.
    fn spin(&self) -> Span {
        SPIN
    }
}

/// Wakes a driver that sleeps.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// A waker for one driver.
    pub fn new() -> io::Result<Waker> {
        Ok(Waker(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Ends the driver's sleep, or its next one.
    pub fn wake(&self) {
        // One that is full is one that wakes.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Lets the driver sleep again.
    pub fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

/// It can be read while the driver is to wake.
impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Drives one end until `done` says so, which is asked after every pass of the loop. An error of the socket itself ends
/// it, too.
pub fn drive<E: Endpoint>(
    socket: &mut Socket,
    clock: &mut Clock,
    waker: &Waker,
    endpoint: &mut E,
    mut done: impl FnMut(&mut E, &Socket, Time) -> bool,
) -> io::Result<()> {
    // By default Linux adds up to 50 us to each sleep, which is too much for a pacer. Where this fails sleeps are longer,
    // no more.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    loop {
        let received = receive(socket, clock, endpoint)?;
        let now = clock.now();
        if endpoint.poll_timeout().is_some_and(|timeout| timeout <= now) {
            endpoint.handle_timeout(now);
        }
        endpoint.handle_wake(now);
        let sent = send(socket, clock, endpoint);
        let now = clock.now();
        if done(endpoint, socket, now) {
            return Ok(());
        }
        let blocked = !socket.outbox().is_empty();
        if received == 0 && (blocked || !sent) {
            rest(socket, waker, now, endpoint, blocked)?;
        }
    }
}

/// Hands in all datagrams that have arrived, and returns how many runs of joined ones they were. What a long run made ready
/// leaves before the next is looked at.
fn receive<E: Endpoint>(socket: &mut Socket, clock: &mut Clock, endpoint: &mut E) -> io::Result<usize> {
    let runs = socket.receive()?;
    let mut waiting = 0;
    for run in 0..runs {
        let (mut at, now) = (0, clock.now());
        while let Some((envelope, bytes)) = socket.next(run, &mut at) {
            let received = clock.arrival(now, envelope.stamp);
            let arrival = Arrival { from: envelope.from, received, hops: envelope.hops };
            endpoint.handle_datagram(now, &arrival, bytes);
            waiting += 1;
        }
        if waiting >= BATCH / 2 {
            waiting = 0;
            send(socket, clock, endpoint);
        }
    }
    Ok(runs)
}

/// Sends what is ready, one batch at most, and returns whether there was something.
fn send<E: Endpoint>(socket: &mut Socket, clock: &Clock, endpoint: &mut E) -> bool {
    let mut now = clock.now();
    while !socket.outbox().is_full() && endpoint.readiness(now) == Readiness::Ready {
        socket.outbox().add(|buffer| endpoint.transmit(now, buffer));
        now = clock.now();
    }
    let some = !socket.outbox().is_empty();
    socket.flush(|count, error| endpoint.handle_send_error(now, count, &error));
    if let Some(length) = socket.take_fragmented() {
        endpoint.handle_fragmentation(length);
    }
    some
}

/// Sleeps until something can happen.
fn rest<E: Endpoint>(
    socket: &Socket,
    waker: &Waker,
    now: Time,
    endpoint: &E,
    blocked: bool,
) -> io::Result<()> {
    let ready = match endpoint.readiness(now) {
        Readiness::Ready if blocked => Time::NEVER,
        Readiness::Ready => now,
        Readiness::At(at) => at,
        Readiness::Idle => Time::NEVER,
    };
    let next = endpoint.poll_timeout().map_or(ready, |timeout| timeout.min(ready));
    let (wait, spin) = (next.since(now), endpoint.spin());
    if wait < spin {
        return Ok(());
    }
    let early = if spin > SPIN { spin } else { Span::ZERO };
    if socket.wait(&waker.0, wait.saturating_sub(early).min(LONGEST_WAIT))? {
        waker.clear();
    }
    Ok(())
}
