//! The thread of an arbiter or an endpoint, which drives its machine over its socket, and the handle that others have of it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tracing::warn;

use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

use super::wire::{Peer, Wire};
use crate::daemon::output::Problem;
use crate::datagram::clock::{unix_at_start, Clock};
use crate::datagram::driver::{drive, Endpoint, Waker};
use crate::datagram::session::{self, random_id};
use crate::datagram::socket::Socket;
use crate::realtime;

/// The priority (`SO_PRIORITY`) of packets by which endpoints and arbiters speak: no shaper of UDP holds them up.
pub const OWN_PRIORITY: u32 = 0xc1ea_0000;

/// An arbiter or an endpoint, as its thread drives it.
pub trait Node: Endpoint {
    /// The real-time priority of its thread, where it may have one.
    const PRIORITY: u8;

    /// A snapshot of the node.
    type Seen: Send + 'static;

    /// Its sessions.
    fn wire(&mut self) -> &mut Wire;

    /// A snapshot of the node now; `drops` are the datagrams that the kernel dropped at the socket.
    fn look(&mut self, now: Time, drops: u32) -> Self::Seen;

    /// The error that has ended it, if there is one.
    fn trouble(&self) -> Option<Problem> {
        None
    }

    /// Ends in order, as the process does.
    fn end(&mut self, now: Time);
}

/// The sooner of two readinesses.
pub(in crate::fastpass) fn sooner(one: Readiness, other: Readiness) -> Readiness {
    match (one, other) {
        (Readiness::Ready, _) | (_, Readiness::Ready) => Readiness::Ready,
        (Readiness::At(one), Readiness::At(other)) => Readiness::At(one.min(other)),
        (Readiness::Idle, only) | (only, Readiness::Idle) => only,
    }
}

enum Command<S> {
    Open(u32, Peer, Box<session::Peer>),
    Look(Sender<S>),
    End,
}

/// The parts that a node's thread builds it from.
#[derive(Clone, Debug)]
pub struct Start {
    /// The driver's clock shows this.
    pub now: Time,
    /// Slots of the length that was asked for, counted from 1970.
    pub timeslots: Timeslots,
    /// Wakes the thread.
    pub waker: Waker,
    /// The number that the socket admits, and nanoseconds since 1970 at the driver's start: what a wire is built from.
    pub wire: (u32, u64),
}

/// The handle of a node at work. The node ends when this is dropped.
#[derive(Debug)]
pub struct Handle<S> {
    id: u32,
    address: SocketAddr,
    commands: Mutex<Sender<Command<S>>>,
    waker: Waker,
    sessions: AtomicU32,
    lost: Mutex<Option<UnboundedReceiver<u32>>>,
    thread: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl<S: Send + 'static> Handle<S> {
    /// Binds a UDP socket at an address of this host, at any port that is free, and starts the thread of the node that `make`
    /// makes. An error is that of the socket, or what `make` says.
    pub fn start<N: Node<Seen = S>, E: From<io::Error> + Send + 'static>(
        name: &str,
        at: IpAddr,
        slot: Span,
        make: impl FnOnce(Start) -> Result<N, E> + Send + 'static,
    ) -> Result<Arc<Handle<S>>, E> {
        let id = random_id()?;
        let waker = Waker::new()?;
        let (commands, received) = channel();
        let (told, heard) = channel();
        let (lose, lost) = unbounded_channel();
        let its_waker = waker.clone();
        let work = move || {
            if !realtime::prepare(N::PRIORITY) {
                warn!("the thread that sends has no real-time priority, and sends late when the host is busy: give it CAP_SYS_NICE or a limit on real-time priorities (ulimit -r)");
            }
            let mut clock = Clock::start();
            let unix_ns = unix_at_start(&clock);
            let start = Start {
                now: clock.now(),
                timeslots: Timeslots::new(slot).agreed(unix_ns),
                waker: its_waker.clone(),
                wire: (id, unix_ns),
            };
            // A socket is of the thread that made it.
            let made = Socket::bind((at, 0).into()).and_then(|socket| {
                socket.admit(id.to_be_bytes())?;
                // So that no shaper of UDP holds them up; it takes CAP_NET_ADMIN, and who has it not shapes nothing.
                let _ = socket.set_priority(OWN_PRIORITY);
                Ok((socket.local_addr()?, socket))
            });
            let made = made.map_err(E::from).and_then(|made| Ok((made, make(start)?)));
            let ((address, mut socket), mut node) = match made {
                Ok(made) => made,
                Err(error) => {
                    let _ = told.send(Err(error));
                    return Ok(());
                }
            };
            let _ = told.send(Ok(address));
            work(&mut socket, &mut clock, &its_waker, &mut node, &received, &lose)
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(work)?;
        let ended = || io::Error::other("its thread has ended");
        let address = heard.recv().map_err(|_| ended())??;
        Ok(Arc::new(Handle {
            id,
            address,
            commands: Mutex::new(commands),
            waker,
            sessions: AtomicU32::new(0),
            lost: Mutex::new(Some(lost)),
            thread: Mutex::new(Some(thread)),
        }))
    }

    /// The number that datagrams to it begin with.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The address of its socket.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A session number that has not been used.
    pub fn new_session(&self) -> u32 {
        self.sessions.fetch_add(1, Ordering::Relaxed)
    }

    /// Opens a session with a peer.
    pub fn open(&self, number: u32, peer: Peer, of: session::Peer) {
        self.tell(Command::Open(number, peer, Box::new(of)));
    }

    /// A snapshot of the node; none if the thread has ended, which only an error of the socket does.
    pub fn look(&self) -> Option<S> {
        let (told, heard) = channel();
        self.tell(Command::Look(told));
        heard.recv().ok()
    }

    /// The numbers of sessions that die, from now on; once.
    pub fn take_lost(&self) -> Option<UnboundedReceiver<u32>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns whether the thread has ended, which only an error of the socket does by itself.
    pub fn has_ended(&self) -> bool {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl<S> Handle<S> {
    /// Ends the thread in order. Returns what had ended it before, if something had.
    pub fn end(&self) -> io::Result<()> {
        self.tell(Command::End);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let ended = thread.map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| ended.map_err(|_| io::Error::other("its thread failed"))?)
    }

    /// A thread that has ended takes no command, and needs none.
    fn tell(&self, command: Command<S>) {
        let _ = self.commands.lock().unwrap_or_else(PoisonError::into_inner).send(command);
        self.waker.wake();
    }
}

impl<S> Drop for Handle<S> {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// The work of a node's thread.
fn work<N: Node>(
    socket: &mut Socket,
    clock: &mut Clock,
    waker: &Waker,
    node: &mut N,
    commands: &Receiver<Command<N::Seen>>,
    lose: &UnboundedSender<u32>,
) -> io::Result<()> {
    let mut ended = Ok(());
    let driven = drive(socket, clock, waker, node, |node, socket, now| {
        if let Some(problem) = node.trouble() {
            ended = Err(io::Error::other(problem.message));
            return true;
        }
        while let Some(number) = node.wire().poll_lost() {
            // Who does not listen any more has ended.
            let _ = lose.send(number);
        }
        while let Ok(command) = commands.try_recv() {
            match command {
                Command::Open(number, peer, of) => node.wire().open(now, number, peer, &of),
                Command::Look(told) => _ = told.send(node.look(now, socket.overflow())),
                Command::End => {
                    node.end(now);
                    return true;
                }
            }
        }
        false
    });
    driven.and(ended)
}
