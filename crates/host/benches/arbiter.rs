//! An arbiter through its socket, with a thousand simulated endpoints: requests that it answers for each second of a processor,
//! and how long a grant takes to come.
//!
//! `cargo bench -p clearway-host --bench arbiter -- [--endpoints=N] [--seconds=S] [--rate=REQUESTS_A_SECOND]` prints JSON. Without a
//! rate the endpoints send as fast as their thread can. Every endpoint has a socket of its own and every datagram is sealed, so
//! that the kernel joins none.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clearway_host::daemon::output::Problem;
use clearway_host::datagram::clock::Clock;
use clearway_host::datagram::driver::Arrival;
use clearway_host::datagram::seal::Secret;
use clearway_host::datagram::session;
use clearway_host::fastpass::arbiter::node::{ArbiterNode, Seen};
use clearway_host::fastpass::kept::Kept;
use clearway_host::fastpass::link::node::Handle;
use clearway_host::fastpass::link::wire::{Peer, Wire};
use clearway_host::fastpass::settings::{endpoint_params, Deployment};
use clearway_proto::fastpass::arbiter::Role;
use clearway_proto::fastpass::endpoint::{Endpoint, EndpointOutput};
use clearway_proto::fastpass::fcp::{Address, Packet};
use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::histogram::Histogram;
use clearway_proto::machine::Readiness;
use clearway_proto::units::Time;
use rustix::buffer::spare_capacity;
use rustix::event::{epoll, Timespec};
use serde_json::json;

/// The length of a slot, which is that of a batch, too: a grant waits for the next one.
const SLOT_US: u64 = 500;

struct Options {
    endpoints: u16,
    seconds: f64,
    /// Requests a second of all endpoints; none for as many as can be.
    rate: Option<f64>,
}

fn options() -> Options {
    let mut options = Options { endpoints: 1000, seconds: 3.0, rate: None };
    for arg in std::env::args().skip(1).filter(|arg| arg != "--bench") {
        let (name, value) = arg.split_once('=').unwrap_or((&arg, ""));
        let number: f64 = value.parse().unwrap_or_else(|_| panic!("{arg}: expected --NAME=NUMBER"));
        match name {
            "--endpoints" => options.endpoints = number as u16,
            "--seconds" => options.seconds = number,
            "--rate" => options.rate = Some(number),
            _ => panic!("{arg}: the options are --endpoints, --seconds and --rate"),
        }
    }
    options
}

fn deployment(endpoints: u16) -> Deployment {
    use std::fmt::Write;
    let mut text = format!(
        "[network]\ntopology = \"star\"\nhosts = {endpoints}\nrate = \"10Gbps\"\n\
         [arbiter]\nat = [\"a0\"]\nslot = \"{SLOT_US}us\"\nbatch = 1\n[endpoint]\nmode = \"slots\"\n"
    );
    for host in 0..endpoints {
        let behind = Ipv4Addr::from_bits(0x0a00_0000 + u32::from(host));
        writeln!(
            text,
            "[[host]]\nname = \"h{host}\"\ncontrol = \"127.0.0.1:7600\"\nprefixes = [\"{behind}\"]"
        )
        .unwrap();
    }
    text += "[[host]]\nname = \"a0\"\ncontrol = \"127.0.0.1:7600\"\n";
    Deployment::parse(&text).expect("a deployment")
}

/// An endpoint whose requests go over a socket, and nothing else of which is there.
struct Simulated {
    machine: Endpoint,
    wire: Wire,
    socket: UdpSocket,
    /// When the oldest request left whose slots have not been granted.
    asked: Option<Time>,
    needs: Vec<u32>,
}

/// The measurements of all endpoints.
#[derive(Default)]
struct Measured {
    requests: u64,
    slots: u64,
    latency: Histogram,
}

impl Simulated {
    /// Takes what has come.
    fn receive(&mut self, now: Time, measured: &mut Measured) {
        let mut buffer = [0; 2048];
        while let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            let arrival = Arrival { from, received: now, hops: 0 };
            let Some((_, text)) = self.wire.receive(now, &arrival, &mut buffer[..length]) else { continue };
            match Packet::decode(text).expect("an arbiter's packet") {
                Packet::Allocation(allocation) => {
                    if !allocation.grants.is_empty() {
                        measured.slots += allocation.grants.len() as u64;
                        if let Some(asked) = self.asked.take() {
                            measured.latency.record(now.since(asked));
                        }
                    }
                    self.machine.handle_allocation(now, &allocation);
                }
                Packet::Reset(reset) => self.machine.handle_reset(now, &reset),
                _ => {}
            }
        }
    }

    /// Sends what is ready; slots are used and nothing leaves in them.
    fn send(&mut self, now: Time, measured: &mut Measured) {
        if self.machine.poll_timeout().is_some_and(|at| at <= now) {
            self.machine.handle_timeout(now);
        }
        while self.machine.readiness(now) == Readiness::Ready {
            match self.machine.transmit(now) {
                EndpointOutput::Request(request) => {
                    let mut datagram = [0; 2048];
                    let packet = Packet::Request(request);
                    let Some((length, to)) = self.wire.write(Peer::Arbiter(0), &packet, &mut datagram) else {
                        return;
                    };
                    // What the kernel has no room for is lost.
                    let _ = self.socket.send_to(&datagram[..length], to);
                    measured.requests += 1;
                    if !request.demands.is_empty() {
                        self.asked = self.asked.or(Some(now));
                    }
                }
                EndpointOutput::Slot(grant) => {
                    let need = &mut self.needs[usize::from(grant.destination)];
                    *need = need.saturating_sub(1);
                }
                EndpointOutput::Answer(..) | EndpointOutput::Trial(..) => {}
            }
        }
    }

    /// Needs another slot.
    fn need(&mut self, now: Time, destination: Address) {
        let need = &mut self.needs[usize::from(destination)];
        *need += 1;
        self.machine.handle_backlog(now, destination, *need);
    }
}

fn simulated(deployment: &Deployment, handle: &Handle<Seen>, unix_ns: u64) -> Vec<Simulated> {
    let nodes = deployment.endpoints.len() as u16;
    let timeslots = Timeslots::new(deployment.arbiter.slot).agreed(unix_ns);
    let params = endpoint_params(nodes, timeslots, &deployment.endpoint, deployment.network.paths());
    (0..nodes)
        .map(|own| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
            socket.set_nonblocking(true).expect("a socket that does not wait");
            let (id, secret) = (u32::from(own) + 1, Secret([own as u8; 32]));
            let mut wire = Wire::new(id, unix_ns);
            let number = handle.new_session();
            let of = |address, endpoint, session, dialed| session::Peer {
                address,
                endpoint,
                session,
                dialed,
                secret: secret.clone(),
                sealed: true,
            };
            let at = socket.local_addr().expect("a bound socket");
            handle.open(number, Peer::Endpoint(own), of(at, id, 0, false));
            wire.open(Time::ZERO, 0, Peer::Arbiter(0), &of(handle.address(), handle.id(), number, true));
            let (machine, needs) = (Endpoint::new(&params, own, 1), vec![0; usize::from(nodes)]);
            Simulated { machine, wire, socket, asked: None, needs }
        })
        .collect()
}

/// Nanoseconds that the arbiter's thread has had of a processor.
fn arbiter_cpu_ns() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a list of threads");
    let of = |task: std::path::PathBuf| {
        let name = std::fs::read_to_string(task.join("comm")).ok()?;
        let spent = std::fs::read_to_string(task.join("schedstat")).ok()?;
        (name.trim() == "arbiter").then(|| spent.split(' ').next()?.parse().ok()).flatten()
    };
    tasks.flatten().find_map(|task| of(task.path())).expect("the arbiter's thread")
}

#[expect(clippy::disallowed_methods, reason = "what is measured is real time")]
fn main() {
    let options = options();
    let deployment = deployment(options.endpoints);
    let (folder, of) = (tempfile::tempdir().expect("a folder"), deployment.clone());
    let kept = Kept::open(folder.path(), "a0").expect("a place to keep a term");
    let handle: Arc<Handle<Seen>> =
        Handle::start("arbiter", IpAddr::V4(Ipv4Addr::LOCALHOST), deployment.arbiter.slot, move |start| {
            let params = of.arbiter_params(0, start.timeslots).map_err(Problem::bare)?;
            ArbiterNode::new(&params, kept, &start)
        })
        .expect("an arbiter");
    let clock = Clock::start();
    let unix_ns = clearway_host::datagram::clock::unix_at_start(&clock);
    let mut endpoints = simulated(&deployment, &handle, unix_ns);
    while handle.look().expect("an arbiter").role != Role::Primary {
        std::thread::sleep(Duration::from_millis(10));
    }
    let arrivals = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a set of sockets");
    for (own, endpoint) in (0..).zip(&endpoints) {
        let data = epoll::EventData::new_u64(own);
        epoll::add(&arrivals, &endpoint.socket, data, epoll::EventFlags::IN).expect("room in the set");
    }
    let mut load = Load { at: 0, due: 0.0, random: 0x9e37_79b9_7f4a_7c15, arrivals };
    let mut measured = Measured::default();
    // All endpoints follow the arbiter, and memory is fetched.
    load.run(&options, &clock, &mut endpoints, &mut measured, 1.0);
    let (before, cpu_before) = (handle.look().expect("an arbiter"), arbiter_cpu_ns());
    measured = Measured::default();
    let since = Instant::now();
    load.run(&options, &clock, &mut endpoints, &mut measured, options.seconds);
    let seconds = since.elapsed().as_secs_f64();
    let (after, cpu) = (handle.look().expect("an arbiter"), arbiter_cpu_ns() - cpu_before);
    let requests = after.counters.requests - before.counters.requests;
    let allocations = after.counters.allocations - before.counters.allocations;
    let us = |quantile| measured.latency.quantile(quantile).map(|ps| ps as f64 / 1e6);
    println!(
        "{:#}",
        json!({
            "endpoints": options.endpoints,
            "seconds": seconds,
            "requests_sent_a_second": measured.requests as f64 / seconds,
            "requests_a_second": requests as f64 / seconds,
            "requests_a_second_of_a_processor": requests as f64 / (cpu as f64 / 1e9),
            "processor_share": cpu as f64 / 1e9 / seconds,
            "allocations_a_second": allocations as f64 / seconds,
            "slots_a_second": measured.slots as f64 / seconds,
            "latency_us": { "p50": us(0.5), "p99": us(0.99) },
            "slot_us": SLOT_US,
            "requests_shed": after.counters.flooding - before.counters.flooding,
            "empty_allocations": after.counters.empty_allocations - before.counters.empty_allocations,
            "late_batches": after.counters.late_batches - before.counters.late_batches,
            "socket_drops": after.socket_drops - before.socket_drops,
        })
    );
}

/// Whose turn it is, and what is due.
struct Load {
    at: usize,
    due: f64,
    random: u64,
    /// The sockets of all endpoints: those that something has come to.
    arrivals: OwnedFd,
}

impl Load {
    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % end as u64) as usize
    }

    fn run(
        &mut self,
        options: &Options,
        clock: &Clock,
        endpoints: &mut [Simulated],
        measured: &mut Measured,
        seconds: f64,
    ) {
        let count = endpoints.len();
        let (from, mut before) = (clock.now(), clock.now());
        let mut come = Vec::with_capacity(64);
        loop {
            come.clear();
            let none = Timespec { tv_sec: 0, tv_nsec: 0 };
            // An interruption is as good as nothing that has come.
            let _ = epoll::wait(&self.arrivals, spare_capacity(&mut come), Some(&none));
            for event in &come {
                let endpoint = &mut endpoints[event.data.u64() as usize];
                let now = clock.now();
                endpoint.receive(now, measured);
                endpoint.send(now, measured);
            }
            let now = clock.now();
            if now.since(from).as_secs_f64() >= seconds {
                return;
            }
            self.due = options
                .rate
                .map_or(1.0, |rate| (self.due + rate * now.since(before).as_secs_f64()).min(count as f64));
            before = now;
            while self.due >= 1.0 {
                self.due -= 1.0;
                let own = self.at;
                self.at = (own + 1) % count;
                let other = (own + 1 + self.below(count - 1)) % count;
                let now = clock.now();
                let endpoint = &mut endpoints[own];
                endpoint.need(now, other as Address);
                endpoint.send(now, measured);
            }
        }
    }
}
