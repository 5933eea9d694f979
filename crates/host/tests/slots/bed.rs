//! Two network namespaces with a link between them, and an endpoint in each whose grants are scripted: a destination gets the
//! slots that its backlog asks for, of those that a rule allows.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{channel, Sender};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use clearway_host::datagram::clock::Clock;
use clearway_host::datagram::driver::Waker;
use clearway_host::fastpass::carriage::{Carriage, Figures};
use clearway_host::fastpass::reach::{Place, Prefix, Reach};
use clearway_host::fastpass::slots::{Settings, Slots};
use clearway_host::realtime::{prepare, OF_ENDPOINTS, SPIN};
use clearway_proto::fastpass::endpoint::Mode;
use clearway_proto::fastpass::fcp::Grant;
use clearway_proto::fastpass::receipts::{Arrivals, SlotHeader};
use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::histogram::Histogram;
use clearway_proto::units::{Rate, Span, Time};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};

/// The address behind each endpoint.
pub const INNER: [&str; 2] = ["10.201.0.1", "10.201.0.2"];
pub const INNER_V6: [&str; 2] = ["fd63::1", "fd63::2"];
/// The addresses of the link.
pub const OUTER: [&str; 2] = ["10.200.0.1", "10.200.0.2"];

/// Two namespaces with a link between them, as long as this lives.
pub struct Namespaces(pub [String; 2]);

/// Runs `ip`.
pub fn ip(args: &str) -> Result<String, String> {
    let output = Command::new("ip").args(args.split(' ')).output().map_err(|e| format!("ip: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("ip {args}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

impl Namespaces {
    /// Makes them; says why that is impossible.
    pub fn make(of: &str) -> Result<Namespaces, String> {
        if !Path::new("/dev/net/tun").exists() {
            return Err("there is no /dev/net/tun".into());
        }
        let id = format!("slots-{}-{of}", std::process::id());
        let made = Namespaces([format!("{id}-a"), format!("{id}-b")]);
        let [a, b] = &made.0;
        ip(&format!("netns add {a}"))?;
        ip(&format!("netns add {b}"))?;
        ip(&format!("-n {a} link add veth0 type veth peer name veth0 netns {b}"))?;
        for (namespace, address) in made.0.iter().zip(OUTER) {
            ip(&format!("-n {namespace} addr add {address}/24 dev veth0"))?;
            ip(&format!("-n {namespace} link set veth0 up"))?;
            ip(&format!("-n {namespace} link set lo up"))?;
        }
        Ok(made)
    }

    /// A command in the namespace of an endpoint.
    pub fn run(&self, of: usize, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0[of], program]).args(args).stdin(Stdio::null());
        command
    }

    /// Lets a thread enter the namespace of an endpoint, which it never leaves.
    pub fn enter(&self, of: usize) {
        enter(&self.0[of]);
    }
}

fn enter(namespace: &str) {
    let entry = File::open(Path::new("/run/netns").join(namespace)).unwrap();
    move_into_link_name_space(entry.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for namespace in &self.0 {
            // The namespace may not have been made.
            let _ = ip(&format!("netns del {namespace}"));
        }
    }
}

/// The two endpoints, as one of them sees them.
pub fn reach(own: u16, slot: Span, rate: Rate) -> Reach {
    let place = |at: usize| Place {
        name: format!("h{at}"),
        control: format!("{}:7600", OUTER[at]).parse().unwrap(),
        data: OUTER[at].parse().unwrap(),
        prefixes: vec![
            Prefix { address: INNER[at].parse().unwrap(), length: 32 },
            Prefix { address: INNER_V6[at].parse().unwrap(), length: 128 },
        ],
    };
    // An Ethernet frame without the headers of IPv4 and UDP.
    Reach { places: vec![place(0), place(1)], own, slot, rate, mtu: 1472, paths: 2 }
}

/// The figures of an endpoint.
#[allow(dead_code, reason = "the tests assert nothing of time")]
pub struct Done {
    pub figures: Figures,
    pub lateness: Histogram,
    /// Slots that began, and those whose beginning was noticed only after their end.
    pub slots: u64,
    pub missed: u64,
    /// Headers that came.
    pub headers: u64,
    pub trouble: Option<String>,
    pub real_time: bool,
}

/// A running endpoint.
pub struct Endpoint {
    ends: Arc<AtomicBool>,
    mode: Arc<AtomicU8>,
    waker: Waker,
    thread: JoinHandle<Done>,
}

/// Which slots an endpoint may use.
pub type Rule = fn(slot: u64, own: u16) -> bool;

impl Endpoint {
    /// Starts one in a namespace, with a clock that it shares with the other.
    pub fn start(namespaces: &Namespaces, reach: Reach, clock: &Arc<Clock>, rule: Rule) -> Endpoint {
        Endpoint::with(namespaces, reach, Settings::default(), clock, rule)
    }

    /// Starts one with other settings.
    pub fn with(
        namespaces: &Namespaces,
        reach: Reach,
        settings: Settings,
        clock: &Arc<Clock>,
        rule: Rule,
    ) -> Endpoint {
        let (ends, mode) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU8::new(0)));
        let waker = Waker::new().unwrap();
        let (started, starts) = channel();
        let parts = (namespaces.0[usize::from(reach.own)].clone(), ends.clone(), mode.clone(), waker.clone());
        let clock = clock.clone();
        let run = move || drive(parts, (&reach, &settings), &clock, rule, &started);
        let thread = std::thread::Builder::new().name("driver".into()).spawn(run).unwrap();
        starts.recv().expect("the endpoint starts");
        Endpoint { ends, mode, waker, thread }
    }

    /// Tells it whether there is an arbiter.
    pub fn mode(&self, mode: Mode) {
        self.mode.store(u8::from(mode == Mode::Unscheduled), Ordering::SeqCst);
        self.waker.wake();
    }

    /// Ends it.
    pub fn end(self) -> Done {
        self.ends.store(true, Ordering::SeqCst);
        self.waker.wake();
        self.thread.join().unwrap()
    }
}

/// Waits until the clock shows `until`, and then polls it for the last [`SPIN`], or until one of `files` can be read. Returns
/// whether the instant has come.
fn wait(clock: &Clock, until: Time, files: &mut [PollFd<'_>]) -> bool {
    loop {
        let left = until.since(clock.now());
        if left <= SPIN {
            break;
        }
        let sleep = Duration::from_nanos((left - SPIN).as_ps() / 1000);
        let timeout = if until == Time::NEVER { None } else { Timespec::try_from(sleep).ok() };
        match poll(files, timeout.as_ref()) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return false,
            Err(error) => panic!("poll: {error}"),
        }
    }
    while clock.now() < until {
        std::hint::spin_loop();
    }
    true
}

fn drive(
    (namespace, ends, wanted, waker): (String, Arc<AtomicBool>, Arc<AtomicU8>, Waker),
    (reach, settings): (&Reach, &Settings),
    clock: &Clock,
    rule: Rule,
    started: &Sender<()>,
) -> Done {
    enter(&namespace);
    let mut slots = Slots::open(reach, settings, waker.clone()).unwrap();
    let real_time = prepare(OF_ENDPOINTS);
    started.send(()).unwrap();
    let (own, other, timeslots) = (reach.own, 1 - reach.own, Timeslots::new(reach.slot));
    let (mut need, mut mode, mut number, mut heard) = (0, 0, 0, Arrivals::default());
    let mut done = Done {
        figures: Figures::default(),
        lateness: Histogram::default(),
        slots: 0,
        missed: 0,
        headers: 0,
        trouble: None,
        real_time,
    };
    let mut next = timeslots.of(clock.now()) + 1;
    while !ends.load(Ordering::SeqCst) {
        // Like an arbiter it grants nothing while nothing is asked for.
        let until = if need > 0 && mode == 0 { timeslots.start(next) } else { Time::NEVER };
        let is_due = wait(clock, until, &mut [PollFd::new(&waker, PollFlags::IN)]);
        let now = clock.now();
        if is_due {
            done.lateness.record(now.since(until));
            (done.slots, done.missed) = (done.slots + 1, done.missed + timeslots.of(now) - next);
            let grant = Grant { slot: next, destination: other, path: (next % 2) as u16 };
            if rule(next, own) {
                slots.slot(now, &grant, &mut || {
                    number += 1;
                    SlotHeader { number, heard }
                });
            }
        } else {
            waker.clear();
        }
        next = timeslots.of(clock.now()) + 1;
        if wanted.load(Ordering::SeqCst) != mode {
            mode = wanted.load(Ordering::SeqCst);
            slots.mode(now, if mode == 0 { Mode::Scheduled } else { Mode::Unscheduled });
        }
        slots.headers(&mut |source, header| {
            assert_eq!(source, other);
            heard.note(header.number);
            done.headers += 1;
        });
        slots.backlog(now, &mut |to, slots| {
            assert_eq!(to, other);
            need = slots;
        });
        done.trouble = slots.trouble().map(|problem| problem.message.clone());
    }
    Done { figures: slots.figures(), ..done }
}
