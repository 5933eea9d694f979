//! The handle of an endpoint, whose thread drives its socket.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread::JoinHandle;

use clearway_proto::histogram::Histogram;
use clearway_proto::units::Time;

use super::clock::Clock;
use super::driver::{drive, Waker};
use super::figures::{ReceivedFlow, SentFlow};
use super::flow::{FlowId, Incoming, Outgoing};
use super::machine::{Counted, Event, Machine};
use super::measured::Measured;
use super::session::{random_id, Peer};
use super::socket::Socket;

/// How an endpoint is made.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The address to bind its socket to; port 0 for any that is free.
    pub bind: SocketAddr,
    /// Whether round trips and windows of all flows together are kept ([`Measured`]).
    pub measure: bool,
}

/// What an endpoint has measured up to an instant.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When, by the endpoint's clock.
    pub at: Time,
    /// The flows that are being sent.
    pub sending: Vec<(FlowId, SentFlow)>,
    /// The flows that were expected, complete or not.
    pub received: Vec<(FlowId, ReceivedFlow)>,
    /// Datagrams, packets and messages that were counted, and the bytes in them.
    pub counted: Counted,
    /// Switches on the way from the peer of each session that was asked for.
    pub hops_from: Option<u8>,
    /// Datagrams that the kernel dropped at the socket, for want of room or as they are for another endpoint.
    pub socket_drops: u32,
    /// Round trips and windows of all flows together, if they are measured.
    pub measured: Option<Measured>,
    /// The time from each operation's issue to its last acknowledgement, if it is measured.
    pub latency: Option<Histogram>,
}

enum Command {
    Open(u32, Peer),
    Close(u32),
    Send(Box<Outgoing>),
    Expect(Box<Incoming>),
    Look(Sender<Snapshot>),
    End,
}

/// An endpoint that is at work. It ends, and its sessions with it, when this is dropped.
#[derive(Debug)]
pub struct Endpoint {
    id: u32,
    address: SocketAddr,
    commands: Sender<Command>,
    waker: Waker,
    sessions: AtomicU32,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Endpoint {
    /// Binds a socket and starts its thread, which tells `events` what happens. `events` must not take long.
    pub fn start(settings: Settings, events: impl FnMut(Event) + Send + 'static) -> io::Result<Endpoint> {
        let id = random_id()?;
        let waker = Waker::new()?;
        let (commands, received) = channel();
        let (told, bound) = channel();
        let its_waker = waker.clone();
        let thread = std::thread::Builder::new().name("datagrams".into()).spawn(move || {
            // A socket is of the thread that made it.
            let socket = Socket::bind(settings.bind).and_then(|socket| {
                socket.admit(id.to_be_bytes())?;
                Ok(socket)
            });
            let mut socket = match socket {
                Ok(socket) => socket,
                Err(error) => {
                    let _ = told.send(Err(error));
                    return Ok(());
                }
            };
            let _ = told.send(socket.local_addr());
            work(&mut socket, &its_waker, Machine::new(id, settings.measure), &received, events)
        })?;
        let address = bound.recv().map_err(|_| io::Error::other("the thread of datagrams has ended"))??;
        Ok(Endpoint { id, address, commands, waker, sessions: AtomicU32::new(0), thread: Some(thread) })
    }

    /// The endpoint's number, which peers must know.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The address that it is bound to.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// A session number that has not been used. Sessions are numbered from zero.
    pub fn new_session(&self) -> u32 {
        self.sessions.fetch_add(1, Ordering::Relaxed)
    }

    /// Opens a session.
    pub fn open(&self, session: u32, peer: Peer) {
        self.tell(Command::Open(session, peer));
    }

    /// Closes a session; nothing more is told of its flows.
    pub fn close(&self, session: u32) {
        self.tell(Command::Close(session));
    }

    /// Begins to send a flow of an open session at once. One whose session is not open, or whose number is taken, is never told of.
    pub fn send(&self, flow: Outgoing) {
        self.tell(Command::Send(Box::new(flow)));
    }

    /// Expects a flow of an open session. One that comes before is ignored, and sent again.
    pub fn expect(&self, flow: Incoming) {
        self.tell(Command::Expect(Box::new(flow)));
    }

    /// The measurements so far; none if the thread has ended, which only an error of the socket does.
    pub fn look(&self) -> Option<Snapshot> {
        let (told, heard) = channel();
        self.tell(Command::Look(told));
        heard.recv().ok()
    }

    /// Ends the thread, and returns what had ended it before, if something had.
    pub fn end(mut self) -> io::Result<()> {
        self.join()
    }

    fn join(&mut self) -> io::Result<()> {
        self.tell(Command::End);
        let ended = self.thread.take().map(JoinHandle::join);
        ended.map_or(Ok(()), |ended| ended.map_err(|_| io::Error::other("the thread of datagrams failed"))?)
    }

    /// A thread that has ended takes no command, and needs none.
    fn tell(&self, command: Command) {
        let _ = self.commands.send(command);
        self.waker.wake();
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.join();
    }
}

/// The work of an endpoint's thread.
fn work(
    socket: &mut Socket,
    waker: &Waker,
    mut machine: Machine,
    commands: &Receiver<Command>,
    mut events: impl FnMut(Event),
) -> io::Result<()> {
    let mut clock = Clock::start();
    drive(socket, &mut clock, waker, &mut machine, |machine, socket, now| {
        while let Some(event) = machine.poll_event() {
            events(event);
        }
        while let Ok(command) = commands.try_recv() {
            match command {
                Command::Open(session, peer) => machine.open(now, session, &peer),
                Command::Close(session) => machine.close(session),
                Command::Send(flow) => _ = machine.send(now, *flow),
                Command::Expect(flow) => _ = machine.expect(*flow),
                Command::Look(told) => _ = told.send(snapshot(machine, socket, now)),
                Command::End => return true,
            }
        }
        false
    })
}

fn snapshot(machine: &Machine, socket: &Socket, now: Time) -> Snapshot {
    let measured = machine.measured().cloned();
    Snapshot {
        at: now,
        sending: machine.sending().collect(),
        received: machine.received().collect(),
        counted: machine.counted().clone(),
        hops_from: machine.hops_from(0),
        socket_drops: socket.overflow(),
        latency: measured.as_ref().map(|_| machine.latency().clone()),
        measured,
    }
}
