//! The machine of an arbiter, driven over FCP's socket.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;

use clearway_proto::fastpass::arbiter::{
    Arbiter, ArbiterCounters, ArbiterOutput, ArbiterParams, PathParams, Role,
};
use clearway_proto::fastpass::fcp::{Packet, Watchdog};
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};
use tracing::{error, info, warn};

use super::counts::Overload;
use crate::arbiter::pipeline::Pipeline;
use crate::daemon::output::Problem;
use crate::datagram::driver::{Arrival, Endpoint};
use crate::fastpass::kept::Kept;
use crate::fastpass::link::node::{sooner, Node, Start};
use crate::fastpass::link::wire::{Ignored, LinkFigures, Peer, Wire};
use crate::realtime;

/// The time between two looks whether there is too much to do.
const LOOK: Span = Span::from_secs(1);
/// How long an arbiter that has started waits to hear all others in their sessions before it begins to count their silence: longer
/// than one that is alive takes to answer.
const ACQUAINTANCE: Span = Span::from_ms(2500);

/// An arbiter, its sessions, and what is kept of it.
pub struct ArbiterNode {
    wire: Wire,
    machine: Arbiter,
    params: ArbiterParams,
    /// Until when it waits to hear the other arbiters, deaf and mute; none once it is at work.
    waits_until: Option<Time>,
    pipeline: Option<Pipeline>,
    kept: Kept,
    role: Role,
    /// A packet that is read, in the memory of the one before.
    packet: Packet,
    /// A watchdog, and the sessions in which it has not been sent.
    watchdog: (Watchdog, VecDeque<u32>),
    started: Time,
    look_at: Time,
    overload: Overload,
    send_errors: u64,
}

/// An arbiter as it is seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Whether it is the primary.
    pub role: Role,
    /// Its term, or the newest that it knows of.
    pub term: u32,
    /// How long it has been running, in nanoseconds.
    pub uptime_ns: u64,
    /// The counts of the machine.
    pub counters: ArbiterCounters,
    /// Links that are taken for failed, in words.
    pub failed_links: Vec<String>,
    /// Its sessions.
    pub links: Vec<LinkFigures>,
    /// Datagrams that were ignored.
    pub ignored: Ignored,
    /// Datagrams that the kernel dropped at the socket: requests that came faster than they were read.
    pub socket_drops: u32,
    /// Datagrams that could not be sent.
    pub send_errors: u64,
}

impl ArbiterNode {
    /// An arbiter that starts as a standby, whatever its rank: it becomes the primary if it hears of none.
    pub fn new(params: &ArbiterParams, kept: Kept, start: &Start) -> Result<ArbiterNode, Problem> {
        let machine = Arbiter::restarted(params, start.now, kept.number());
        let machine = machine.map_err(|error| Problem::bare(format!("arbiter: {error}")))?;
        let (id, unix_ns) = start.wire;
        Ok(ArbiterNode {
            wire: Wire::new(id, unix_ns),
            role: machine.role(),
            machine,
            params: params.clone(),
            waits_until: Some(start.now + ACQUAINTANCE),
            pipeline: None,
            kept,
            packet: Packet::Watchdog(Watchdog::default()),
            watchdog: (Watchdog::default(), VecDeque::new()),
            started: start.now,
            look_at: start.now + LOOK,
            overload: Overload::default(),
            send_errors: 0,
        })
    }

    /// Goes to work if it hears all other arbiters, or has waited long enough.
    ///
    /// One that took silence for death before any other could speak to it would be a second primary whenever it is restarted.
    fn go_to_work(&mut self, now: Time) {
        let Some(until) = self.waits_until else { return };
        let others = (0..self.params.arbiters).filter(|rank| *rank != self.params.rank);
        let acquainted = others.map(Peer::Arbiter).all(|other| self.wire.hears(other));
        if !acquainted && now < until {
            return;
        }
        self.waits_until = None;
        let machine = Arbiter::restarted(&self.params, now, self.kept.number());
        self.machine = machine.expect("its parameters were right before");
        let several = !matches!(self.params.paths, PathParams::Single);
        let selector = if several { self.machine.take_selector() } else { None };
        self.pipeline = selector.map(Pipeline::new);
        info!(acquainted, "arbiter is at work");
    }

    /// Does what follows when something has happened to the machine: paths are selected, and a new term is kept before a word of
    /// it is said.
    fn follow_up(&mut self, now: Time) {
        if let Some(pipeline) = &mut self.pipeline {
            select(&mut self.machine, pipeline, now);
        }
        if self.machine.term() != self.kept.number() {
            if let Err(error) = self.kept.write(self.machine.term()) {
                error!(term = self.machine.term(), %error, "the term cannot be kept: a restart may use it twice");
            }
        }
        if self.machine.role() != self.role {
            self.role = self.machine.role();
            match self.role {
                Role::Primary => info!(term = self.machine.term(), "arbiter is the primary"),
                Role::Standby => warn!(term = self.machine.term(), "arbiter is a standby"),
            }
        }
    }

    /// Writes the watchdog for the next session with another arbiter.
    fn write_watchdog(&mut self, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let number = self.watchdog.1.pop_front()?;
        let packet = Packet::Watchdog(self.watchdog.0);
        self.wire.write_in(number, &packet, buffer)
    }
}

/// Has the paths of all batches selected that are allocated, on this thread and the other.
fn select(machine: &mut Arbiter, pipeline: &mut Pipeline, now: Time) {
    loop {
        while let Some(batch) = machine.poll_batch() {
            pipeline.select(batch);
        }
        while !pipeline.is_empty() {
            match pipeline.poll_selected() {
                Some(batch) => machine.handle_selected(batch),
                None => pipeline.relieve(),
            }
        }
        if !machine.lacks_room(now) {
            return;
        }
        machine.handle_timeout(now);
    }
}

impl Endpoint for ArbiterNode {
    fn handle_datagram(&mut self, now: Time, arrival: &Arrival, bytes: &mut [u8]) {
        let Some((peer, text)) = self.wire.receive(now, arrival, bytes) else { return };
        if self.waits_until.is_some() {
            return;
        }
        if self.packet.decode_into(text).is_err() {
            self.wire.refuse();
            return;
        }
        // A process that stood still learns that before it does anything that it was asked for meanwhile. What else time has come
        // for waits until all that has come is read: a word of another primary among it ends this one's grants.
        if self.machine.poll_timeout().is_some_and(|at| at <= now) {
            self.machine.wakes_late(now);
        }
        // Clocks are compared by when a packet came, which may be long before the process goes on.
        match (peer, &self.packet) {
            (Peer::Endpoint(own), Packet::Request(request)) if request.source == own => {
                self.machine.handle_request(arrival.received, request);
            }
            (Peer::Arbiter(rank), Packet::Watchdog(watchdog)) if watchdog.rank == rank => {
                self.machine.handle_watchdog(arrival.received, watchdog);
            }
            _ => {
                self.wire.refuse();
                return;
            }
        }
        self.follow_up(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.waits_until.is_none() && self.machine.poll_timeout().is_some_and(|at| at <= now) {
            self.machine.handle_timeout(now);
            self.follow_up(now);
        }
        if self.look_at <= now {
            self.look_at = now + LOOK;
            self.overload.look(self.machine.counters());
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        let of_machine = self.waits_until.or_else(|| self.machine.poll_timeout());
        Some(of_machine.unwrap_or(Time::NEVER).min(self.look_at))
    }

    fn readiness(&self, now: Time) -> Readiness {
        if !self.watchdog.1.is_empty() {
            return Readiness::Ready;
        }
        if self.waits_until.is_some() {
            return self.wire.readiness(now);
        }
        sooner(self.machine.readiness(now), self.wire.readiness(now))
    }

    fn transmit(&mut self, now: Time, buffer: &mut [u8]) -> Option<(usize, SocketAddr)> {
        if !self.watchdog.1.is_empty() {
            return self.write_watchdog(buffer);
        }
        if self.waits_until.is_some() || self.machine.readiness(now) != Readiness::Ready {
            return self.wire.transmit(now, buffer);
        }
        let output = self.machine.transmit(now);
        self.follow_up(now);
        // Which way control packets take is the network's affair: FCP has one socket.
        match output {
            ArbiterOutput::Allocation(allocation, _) => {
                self.wire.write(Peer::Endpoint(allocation.to), &Packet::Allocation(allocation), buffer)
            }
            ArbiterOutput::Reset(reset, _) => {
                self.wire.write(Peer::Endpoint(reset.to), &Packet::Reset(reset), buffer)
            }
            ArbiterOutput::Watchdog(watchdog) => {
                let others = (0..self.params.arbiters).filter(|rank| *rank != watchdog.rank);
                let sessions = others.flat_map(|rank| self.wire.sessions(Peer::Arbiter(rank)));
                self.watchdog = (watchdog, sessions.collect());
                self.write_watchdog(buffer)
            }
            ArbiterOutput::Trial(..) => unreachable!("an arbiter without an endpoint's link tries no path"),
        }
    }

    fn handle_wake(&mut self, now: Time) {
        self.go_to_work(now);
    }

    fn handle_send_error(&mut self, _now: Time, count: usize, _error: &io::Error) {
        self.send_errors += count as u64;
    }

    fn handle_fragmentation(&mut self, length: usize) {
        warn!(
            length,
            "the path to an endpoint does not carry datagrams of this many bytes: they leave in fragments"
        );
    }
}

impl Node for ArbiterNode {
    const PRIORITY: u8 = realtime::OF_ARBITERS;

    type Seen = Seen;

    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn look(&mut self, now: Time, drops: u32) -> Seen {
        Seen {
            role: self.machine.role(),
            term: self.machine.term(),
            uptime_ns: now.since(self.started).as_ps() / 1000,
            failed_links: self.machine.failed_links().map(|link| link.to_string()).collect(),
            counters: *self.machine.counters(),
            links: self.wire.figures(now),
            ignored: self.wire.ignored(),
            socket_drops: drops,
            send_errors: self.send_errors,
        }
    }

    fn end(&mut self, _now: Time) {}
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::datagram::driver::Waker;
    use crate::datagram::seal::Secret;
    use crate::datagram::session;

    const NOW: Time = Time::from_ps(1_000_000_000_000);

    /// The second of two arbiters, which has just started.
    fn started(folder: &Path) -> ArbiterNode {
        let params = ArbiterParams { arbiters: 2, rank: 1, ..ArbiterParams::default() };
        let kept = Kept::open(folder, "a1.term").unwrap();
        let waker = Waker::new().unwrap();
        let start = Start { now: NOW, timeslots: params.timeslots, waker, wire: (22, 0) };
        ArbiterNode::new(&params, kept, &start).unwrap()
    }

    #[test]
    fn an_arbiter_goes_to_work_once_it_hears_the_others_and_not_once_they_have_dialed() {
        let folder = tempfile::tempdir().unwrap();
        let mut node = started(folder.path());
        let address = ([10, 0, 0, 1], 7600).into();
        let of = |endpoint, session, dialed| session::Peer {
            address,
            endpoint,
            session,
            dialed,
            secret: Secret([9; 32]),
            sealed: true,
        };
        node.wire.open(NOW, 7, Peer::Arbiter(0), &of(11, 3, false));
        node.handle_wake(NOW);
        assert!(node.waits_until.is_some(), "the one that has dialed may not know yet that it is answered");
        let mut other = Wire::new(11, 0);
        other.open(NOW, 3, Peer::Arbiter(1), &of(22, 7, true));
        let mut ping = [0; 2048];
        let (length, _) =
            other.transmit(NOW, &mut ping).expect("a session that was dialed begins with a ping");
        node.handle_datagram(NOW, &Arrival { from: address, received: NOW, hops: 0 }, &mut ping[..length]);
        node.handle_wake(NOW);
        assert!(node.waits_until.is_none(), "it has been heard");
    }

    #[test]
    fn an_arbiter_that_hears_nobody_waits_so_long_and_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        let mut node = started(folder.path());
        node.handle_wake(NOW + Span::from_ms(2499));
        assert!(node.waits_until.is_some());
        node.handle_wake(NOW + ACQUAINTANCE);
        assert!(node.waits_until.is_none());
    }
}
