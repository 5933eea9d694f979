//! Arbiters as processes, endpoints of this process whose carriage records every slot, over loopback.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clearway_host::fastpass::carriage::{Carriage, Figures};
use clearway_host::fastpass::endpoint::node::{EndpointNode, Make, Seen};
use clearway_host::fastpass::kept::Kept;
use clearway_host::fastpass::link::node::Handle;
use clearway_host::fastpass::link::opening::{keep_all, Party};
use clearway_host::fastpass::link::wire::Peer;
use clearway_host::fastpass::settings::{endpoint_params, Deployment};
use clearway_host::keys::{make, Identity, Validity};
use clearway_proto::fastpass::endpoint::Mode;
use clearway_proto::fastpass::fcp::{Address, Grant};
use clearway_proto::fastpass::receipts::SlotHeader;
use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::units::{Span, Time};
use rustix::process::{kill_process, Pid, Signal};
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};
use tokio::sync::watch;

/// The longest that a test waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something is so.
#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
pub fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// A deployment whose hosts each have a loopback address of their own.
pub struct Place {
    pub folder: PathBuf,
    pub deployment: Deployment,
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Place {
    /// `endpoints` and `arbiters`, with these lines in `[arbiter]` and `[endpoint]`.
    pub fn new(name: &str, endpoints: usize, arbiters: usize, of_arbiter: &str, of_endpoint: &str) -> Place {
        static USED: AtomicU8 = AtomicU8::new(1);
        let (own, test) = (std::process::id(), USED.fetch_add(1, Ordering::Relaxed));
        let base = Ipv4Addr::new(127, 64 + (own >> 8 & 63) as u8, own as u8, 0).to_bits();
        let address = |host: usize| Ipv4Addr::from_bits(base + u32::from(test) * 20 + host as u32);
        let names: Vec<String> = (0..arbiters).map(|rank| format!("\"a{rank}\"")).collect();
        let mut text = format!(
            "[network]\ntopology = \"star\"\nhosts = {endpoints}\nrate = \"1Gbps\"\n\
             [arbiter]\nat = [{}]\n{of_arbiter}\n[endpoint]\n{of_endpoint}\n",
            names.join(", ")
        );
        for host in 0..endpoints {
            let (at, behind) = (address(host), format!("10.9.0.{host}"));
            writeln!(
                text,
                "[[host]]\nname = \"h{host}\"\ncontrol = \"{at}:7600\"\nprefixes = [\"{behind}\"]\n"
            )
            .unwrap();
        }
        for rank in 0..arbiters {
            writeln!(
                text,
                "[[host]]\nname = \"a{rank}\"\ncontrol = \"{}:7600\"\n",
                address(endpoints + rank)
            )
            .unwrap();
        }
        let folder = std::env::temp_dir().join(format!("clearway-{name}-{own}"));
        std::fs::create_dir_all(&folder).unwrap();
        let all =
            (0..endpoints).map(|host| format!("h{host}")).chain((0..arbiters).map(|rank| format!("a{rank}")));
        make(&folder.join("keys"), &all.collect::<Vec<_>>(), Validity::days(1)).unwrap();
        std::fs::write(folder.join("fastpass.toml"), &text).unwrap();
        Place { folder, deployment: Deployment::parse(&text).unwrap() }
    }

    /// Starts the arbiter of a rank.
    pub fn arbiter(&self, rank: usize) -> Arbiter {
        let path = |name: &str| self.folder.join(name).into_os_string();
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path(&format!("a{rank}.log")))
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_clearwayd"))
            .arg("arbiter")
            .arg(path("fastpass.toml"))
            .args(["--name", &format!("a{rank}"), "--keys"])
            .arg(path("keys"))
            .arg("--state")
            .arg(path("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        Arbiter(child)
    }

    /// Starts the endpoint of an address in this process.
    pub fn endpoint(&self, address: Address) -> Endpoint {
        Endpoint::start(self.deployment.clone(), address, &self.folder)
    }

    /// The log of an arbiter.
    pub fn log(&self, rank: usize) -> String {
        std::fs::read_to_string(self.folder.join(format!("a{rank}.log"))).unwrap_or_default()
    }
}

/// The process of an arbiter, which does not outlive this.
pub struct Arbiter(Child);

impl Arbiter {
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Kills it at once.
    pub fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Arbiter {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A slot that an endpoint has used: its number, and the destination.
pub type Used = (u64, Address);

/// The demand of an endpoint's carriage, and the slots that it was told of.
#[derive(Default)]
pub struct Record {
    /// Slots that wait for each destination.
    pub waiting: BTreeMap<Address, u32>,
    /// Slots used, in their order.
    pub used: Vec<Used>,
    /// Whether there is an arbiter.
    pub unscheduled: bool,
    told: BTreeMap<Address, u32>,
}

struct Recorder(Arc<Mutex<Record>>);

impl Carriage for Recorder {
    fn backlog(&mut self, _now: Time, tell: &mut dyn FnMut(Address, u32)) {
        let record = &mut *self.0.lock().unwrap();
        for (&destination, &slots) in &record.waiting {
            if record.told.insert(destination, slots) != Some(slots) {
                tell(destination, slots);
            }
        }
    }

    fn slot(&mut self, _now: Time, grant: &Grant, header: &mut dyn FnMut() -> SlotHeader) -> bool {
        let record = &mut *self.0.lock().unwrap();
        record.used.push((grant.slot, grant.destination));
        let waiting = record.waiting.entry(grant.destination).or_default();
        // The endpoint counts one less.
        record.told.entry(grant.destination).and_modify(|told| *told = told.saturating_sub(1));
        let some = *waiting > 0;
        if some {
            header();
            *waiting -= 1;
        }
        some
    }

    fn headers(&mut self, _tell: &mut dyn FnMut(Address, SlotHeader)) {}

    fn mode(&mut self, _now: Time, mode: Mode) {
        self.0.lock().unwrap().unscheduled = mode == Mode::Unscheduled;
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn figures(&self) -> Figures {
        Figures::default()
    }
}

/// An endpoint of this process.
pub struct Endpoint {
    pub record: Arc<Mutex<Record>>,
    pub handle: Arc<Handle<Seen>>,
    leave: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Endpoint {
    pub fn start(deployment: Deployment, address: Address, folder: &Path) -> Endpoint {
        let record: Arc<Mutex<Record>> = Arc::default();
        let recorder = Recorder(record.clone());
        let kept = Kept::open(&folder.join("state"), &format!("h{address}.life")).unwrap();
        let identity = Identity::read(&folder.join("keys"), Some(&format!("h{address}"))).unwrap();
        let control = deployment.endpoints[usize::from(address)].control;
        let of = deployment.clone();
        let handle = Handle::start("endpoint", control.ip(), deployment.arbiter.slot, move |start| {
            let timeslots = Timeslots::new(of.arbiter.slot);
            let (nodes, paths) = (of.endpoints.len() as u16, of.network.paths());
            let params = endpoint_params(nodes, timeslots, &of.endpoint, paths);
            let (spin, guard, arbiters) = (Span::from_us(3), Span::ZERO, of.arbiters.len() as u8);
            EndpointNode::new(
                Make { params, address, arbiters, kept, carriage: Box::new(recorder), spin, guard },
                &start,
            )
        });
        let handle = handle.unwrap();
        let party = Arc::new(Party::new(deployment, Peer::Endpoint(address), identity));
        let (leave, leaving) = watch::channel(false);
        let its = handle.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let mut left = leaving.clone();
            runtime.block_on(async {
                tokio::select! {
                    () = keep_all(party, its, leaving) => {}
                    _ = left.changed() => {}
                }
            });
        });
        Endpoint { record, handle, leave, thread: Some(thread) }
    }

    /// Lets `slots` slots wait for a destination.
    pub fn wait_for(&self, destination: Address, slots: u32) {
        *self.record.lock().unwrap().waiting.entry(destination).or_default() += slots;
        // A look wakes the endpoint's thread.
        let _ = self.handle.look();
    }

    /// Slots that wait.
    pub fn waiting(&self) -> u32 {
        self.record.lock().unwrap().waiting.values().sum()
    }

    pub fn used(&self) -> Vec<Used> {
        self.record.lock().unwrap().used.clone()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let _ = self.leave.send(true);
        let _ = self.handle.end();
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

/// A network namespace of its own, which the calling thread is in and does not leave.
pub struct Namespace(String);

impl Namespace {
    /// Makes it and enters it; an error says why there can be none.
    pub fn enter(of: &str) -> Result<Namespace, String> {
        let namespace = Namespace(format!("clearway-{}-{of}", std::process::id()));
        let name = &namespace.0;
        run("ip", &format!("netns add {name}"))?;
        run("ip", &format!("-n {name} link set lo up"))?;
        // Rules come before the table of the namespace's own addresses.
        run("ip", &format!("-n {name} rule add pref 100 lookup local"))?;
        run("ip", &format!("-n {name} rule del pref 0"))?;
        let entry = File::open(Path::new("/run/netns").join(name)).map_err(|error| error.to_string())?;
        move_into_link_name_space(entry.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|error| format!("network namespace: {error}"))?;
        Ok(namespace)
    }

    /// Lets nothing of FCP pass between two hosts, in either direction.
    pub fn cut(&self, one: &str, other: &str) {
        for (from, to) in [(one, other), (other, one)] {
            run("ip", &format!("-n {} rule add pref 10 from {from} to {to} blackhole", self.0)).unwrap();
        }
    }

    /// Lets nothing pass to and from a host, all at once.
    #[allow(dead_code, reason = "a bench uses it")]
    pub fn isolate(&self, host: &str) {
        let rules = format!("rule add pref 10 from {host} blackhole\nrule add pref 10 to {host} blackhole\n");
        let batch = std::env::temp_dir().join(format!("{}.rules", self.0));
        std::fs::write(&batch, rules).unwrap();
        run("ip", &format!("-n {} -batch {}", self.0, batch.display())).unwrap();
        std::fs::remove_file(&batch).unwrap();
    }

    /// Lets everything pass again.
    pub fn heal(&self) {
        while run("ip", &format!("-n {} rule del pref 10", self.0)).is_ok() {}
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = run("ip", &format!("netns del {}", self.0));
    }
}

fn run(program: &str, args: &str) -> Result<(), String> {
    let output =
        Command::new(program).args(args.split(' ')).output().map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} {args}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
