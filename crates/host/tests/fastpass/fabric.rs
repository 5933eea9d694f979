//! A leaf-spine network of namespaces: two hosts under each of two leaves, two spines, and arbiters on a network of their own. Leaves
//! send what leaves from the UDP port of a path over the spine of that path, and nowhere else.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clearway_host::keys::{make, Validity};

use super::flow::{enter, wait_until, Flow};

/// The first UDP port of data: path `k` leaves from `PORT + k`.
const PORT: u16 = 7611;
/// Racks, and spines.
const TWO: usize = 2;
/// The device of an endpoint.
const TUN: &str = "clearway0";

/// The rack of a host.
fn rack(host: usize) -> usize {
    host / TWO
}

/// The way in which the link between leaf 0 and a spine dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// The spine drops what comes from the leaf, and nobody is told.
    OneWay,
    /// The spine drops what comes from the leaf and what goes to it, and nobody is told.
    BothWays,
    /// The link is taken down at the spine: the leaf loses its carrier.
    AtSpine,
    /// The link is taken down at the leaf, which loses its routes over it.
    AtLeaf,
}

/// The network that the arbiters are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// On a network of their own, which hosts have a second link to.
    Beside,
    /// In the fabric, one at each leaf.
    InFabric,
}

/// The processes, those of endpoints by their addresses first.
const NAMES: [&str; 6] = ["h0", "h1", "h2", "h3", "a0", "a1"];
/// The network's nodes.
const NODES: [&str; 9] = ["h0", "h1", "h2", "h3", "l0", "l1", "s0", "s1", "m"];

/// The network, as long as this lives, and the processes in it.
pub struct Fabric {
    id: String,
    pub folder: PathBuf,
    control: Control,
    /// Processes in the namespaces of the spines, so that the kernel shows their devices.
    spines: Vec<Child>,
    processes: Vec<Child>,
}

impl Fabric {
    /// Makes the network, in which links carry `mbps`; says why that is impossible.
    pub fn make(of: &str, mbps: u32, control: Control) -> Result<Fabric, String> {
        if !Path::new("/dev/net/tun").exists() {
            return Err("there is no /dev/net/tun".into());
        }
        let id = format!("paths-{}-{of}", std::process::id());
        let folder = std::env::temp_dir().join(format!("clearway-{id}"));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let mut fabric = Fabric { id, folder, control, spines: Vec::new(), processes: Vec::new() };
        for name in NODES {
            ip(&["netns", "add", &fabric.namespace(name)])?;
            fabric.run(name, "sysctl", "-qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 net.ipv4.fib_multipath_hash_policy=1")?;
            fabric.batch(name, "link set lo up\n")?;
        }
        fabric.batch("m", "link add name mgmt type bridge\n")?;
        fabric.batch(
            "m",
            "link set mgmt up\naddr add 10.99.0.100/24 dev mgmt\naddr add 10.99.0.101/24 dev mgmt\n",
        )?;
        for spine in 0..TWO {
            for leaf in 0..TWO {
                fabric.connect(
                    &format!("l{leaf}"),
                    &format!("s{spine}"),
                    &format!("192.168.{}", leaf * TWO + spine),
                )?;
                let route = format!("route add 10.{leaf}.0.0/16 via 192.168.{}.1\n", leaf * TWO + spine);
                fabric.batch(&format!("s{spine}"), &route)?;
            }
        }
        for host in 0..TWO * TWO {
            fabric.add_host(host, mbps)?;
        }
        for leaf in 0..TWO {
            fabric.route_leaf(leaf)?;
            for spine in 0..TWO {
                fabric.limit(&format!("l{leaf}"), &format!("s{spine}"), mbps)?;
                fabric.limit(&format!("s{spine}"), &format!("l{leaf}"), mbps)?;
            }
        }
        for spine in ["s0", "s1"] {
            let mut sleeper = Command::new("ip");
            let sleeper = sleeper.args(["netns", "exec", &fabric.namespace(spine), "sleep", "1000"]);
            fabric.spines.push(sleeper.spawn().map_err(|error| error.to_string())?);
        }
        fabric.write_deployment(mbps);
        Ok(fabric)
    }

    /// The name of a node's namespace.
    fn namespace(&self, node: &str) -> String {
        format!("{}-{node}", self.id)
    }

    /// Runs a command at a node.
    fn run(&self, node: &str, program: &str, args: &str) -> Result<(), String> {
        let namespace = self.namespace(node);
        let mut all = vec!["netns", "exec", &namespace, program];
        all.extend(args.split(' '));
        ip(&all)
    }

    /// Has `ip` do several things at a node.
    fn batch(&self, node: &str, commands: &str) -> Result<(), String> {
        let mut child = Command::new("ip")
            .args(["-n", &self.namespace(node), "-batch", "-"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("ip: {error}"))?;
        let written = child.stdin.take().expect("it is piped").write_all(commands.as_bytes());
        written.map_err(|error| error.to_string())?;
        finish(child.wait_with_output(), commands)
    }

    /// Puts a link between two nodes, each end with the name of the other: the first address of a network for the first.
    fn connect(&self, one: &str, other: &str, network: &str) -> Result<(), String> {
        let at = self.namespace(other);
        self.batch(one, &format!("link add {other} type veth peer name {one} netns {at}\n"))?;
        self.batch(one, &format!("addr add {network}.1/24 dev {other}\nlink set {other} up\n"))?;
        self.batch(other, &format!("addr add {network}.2/24 dev {one}\nlink set {one} up\n"))
    }

    /// Gives a host its links.
    fn add_host(&self, host: usize, mbps: u32) -> Result<(), String> {
        let (name, leaf, at) = (format!("h{host}"), format!("l{}", rack(host)), self.namespace("m"));
        let (network, own) = (format!("10.{}.{host}", rack(host)), beside(host));
        self.connect(&leaf, &name, &network)?;
        self.limit(&leaf, &name, mbps)?;
        self.limit(&name, &leaf, mbps)?;
        self.batch(&name, &format!("route add 10.0.0.0/15 via {network}.1\nlink add name beside type veth peer name {name} netns {at}\naddr add {own}/24 dev beside\nlink set beside up\n"))?;
        self.batch("m", &format!("link set {name} master mgmt\nlink set {name} up\n"))
    }

    /// Lets what leaves a node for another have no more than a rate, as a port of a switch does.
    fn limit(&self, node: &str, towards: &str, mbps: u32) -> Result<(), String> {
        let args = format!("qdisc add dev {towards} root tbf rate {mbps}mbit burst 6000 limit 400000");
        self.run(node, "tc", &args)
    }

    /// Gives a leaf its ways to the other rack: a table for each path, and both spines for everything else.
    fn route_leaf(&self, leaf: usize) -> Result<(), String> {
        let other = 1 - leaf;
        let (name, mut rules) = (format!("l{leaf}"), String::new());
        writeln!(rules, "addr add 10.{leaf}.100.1/32 dev lo").unwrap();
        for path in 0..TWO {
            let port = usize::from(PORT) + path;
            writeln!(rules, "rule add pref {} ipproto udp sport {port} lookup {}", 100 + path, 100 + path)
                .unwrap();
            // A path that is down loses its packets, other than to take the way of another one.
            writeln!(rules, "route add blackhole 10.{other}.0.0/16 metric 9999 table {}", 100 + path)
                .unwrap();
        }
        self.batch(&name, &rules)?;
        self.restore_routes(leaf)
    }

    /// Puts back the routes of a leaf that are gone when a link goes down.
    fn restore_routes(&self, leaf: usize) -> Result<(), String> {
        let (other, mut all, mut routes) = (1 - leaf, String::new(), String::new());
        for spine in 0..TWO {
            let via = format!("via 192.168.{}.2", leaf * TWO + spine);
            writeln!(routes, "route replace 10.{other}.0.0/16 {via} table {}", 100 + spine).unwrap();
            write!(all, " nexthop {via}").unwrap();
        }
        // What an arbiter at the leaf sends is from its address in the rack.
        writeln!(routes, "route replace 10.{other}.0.0/16 src 10.{leaf}.100.1{all}").unwrap();
        self.batch(&format!("l{leaf}"), &routes)
    }

    /// Lets the link between leaf 0 and a spine die.
    pub fn kill(&self, spine: usize, death: Death) {
        let name = format!("s{spine}");
        let done = match death {
            Death::OneWay => self.batch(&name, "rule add pref 10 iif l0 blackhole\n"),
            Death::BothWays => self.batch(
                &name,
                "rule add pref 10 iif l0 blackhole\nrule add pref 10 to 10.0.0.0/16 blackhole\n",
            ),
            Death::AtSpine => self.batch(&name, "link set l0 down\n"),
            Death::AtLeaf => self.batch("l0", &format!("link set s{spine} down\n")),
        };
        done.unwrap();
    }

    /// Lets it live again.
    pub fn revive(&self, spine: usize, death: Death) {
        let name = format!("s{spine}");
        let done = match death {
            Death::OneWay => self.batch(&name, "rule del pref 10\n"),
            Death::BothWays => self.batch(&name, "rule del pref 10\nrule del pref 10\n"),
            Death::AtSpine => {
                let route = format!("link set l0 up\nroute replace 10.0.0.0/16 via 192.168.{spine}.1\n");
                self.batch(&name, &route)
            }
            Death::AtLeaf => {
                self.batch("l0", &format!("link set s{spine} up\n")).and_then(|()| self.restore_routes(0))
            }
        };
        done.unwrap();
    }

    fn write_deployment(&self, mbps: u32) {
        let mut text = format!(
            "[network]\ntopology = \"leaf_spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nrate = \"{mbps}Mbps\"\n\
             [arbiter]\nat = [\"a0\", \"a1\"]\n[endpoint]\nmode = \"slots\"\nport = {PORT}\ntun = \"{TUN}\"\n"
        );
        for host in 0..TWO * TWO {
            let data = format!("10.{}.{host}.2", rack(host));
            let control = self.control_of(host);
            writeln!(text, "[[host]]\nname = \"h{host}\"\ncontrol = \"{control}\"\ndata = \"{data}\"\nprefixes = [\"{}\"]", inner(host)).unwrap();
        }
        for rank in 0..TWO {
            writeln!(text, "[[host]]\nname = \"a{rank}\"\ncontrol = \"{}\"", self.arbiter(rank)).unwrap();
        }
        std::fs::write(self.folder.join("fastpass.toml"), text).unwrap();
        make(&self.folder.join("keys"), &NAMES.map(String::from), Validity::days(1)).unwrap();
    }

    /// The control address of an arbiter.
    fn arbiter(&self, rank: usize) -> String {
        match self.control {
            Control::Beside => format!("10.99.0.{}:7600", 100 + rank),
            Control::InFabric => format!("10.{rank}.100.1:7600"),
        }
    }

    /// The control address of an endpoint.
    fn control_of(&self, host: usize) -> String {
        match self.control {
            Control::Beside => format!("{}:7600", beside(host)),
            Control::InFabric => format!("10.{}.{host}.2:7600", rack(host)),
        }
    }

    /// The node that the process of this name is at.
    fn node_of(&self, name: &str) -> String {
        match (name.strip_prefix('a'), self.control) {
            (None, _) => name.into(),
            (Some(_), Control::Beside) => "m".into(),
            (Some(rank), Control::InFabric) => format!("l{rank}"),
        }
    }

    /// Starts all arbiters and endpoints, and waits until they hear each other.
    pub fn start(&mut self) {
        for name in NAMES {
            let what = if name.starts_with('a') { "arbiter" } else { "endpoint" };
            let process = self.process(what, name);
            self.processes.push(process);
        }
        wait_until("all are in session", || {
            let sessions =
                |name| self.metrics(name).matches("\nclearway_arbiter_clock_offset_seconds{").count();
            self.of_primary("term").is_some() && ["a0", "a1"].map(sessions).iter().all(|all| *all >= 5)
        });
    }

    fn process(&self, what: &str, name: &str) -> Child {
        let path = |name: &str| self.folder.join(name).into_os_string();
        let log = std::fs::File::create(path(&format!("{name}.log"))).unwrap();
        let mut command = Command::new("ip");
        let namespace = self.namespace(&self.node_of(name));
        command.args(["netns", "exec", &namespace, env!("CARGO_BIN_EXE_clearwayd"), what]);
        command.arg(path("fastpass.toml")).args(["--name", name, "--keys"]).arg(path("keys"));
        command.args(["--metrics", &metrics_at(name), "--state"]).arg(path("state"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    /// The metrics of a process; empty if it does not tell.
    pub fn metrics(&self, name: &str) -> String {
        let (namespace, at) = (self.namespace(&self.node_of(name)), metrics_at(name));
        let asked = std::thread::spawn(move || {
            enter(&namespace);
            let mut stream = TcpStream::connect(at).ok()?;
            stream
                .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .ok()?;
            let mut text = String::new();
            stream.read_to_string(&mut text).ok().map(|_| text)
        });
        asked.join().unwrap().unwrap_or_default()
    }

    /// A metric of the primary; none if there is no primary.
    pub fn of_primary(&self, metric: &str) -> Option<f64> {
        let pages = ["a0", "a1"].map(|name| self.metrics(name));
        let page = pages.iter().find(|page| value(page, "clearway_arbiter_primary") == Some(1.0))?;
        value(page, &format!("clearway_arbiter_{metric}"))
    }

    /// The bytes that a spine has sent to leaf 1.
    pub fn passed(&self, spine: usize) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/net/dev", self.spines[spine].id()));
        device_bytes(&text.unwrap_or_default(), "l1", 8)
    }

    /// The bytes that an endpoint has given to its host.
    pub fn carried_to(&self, host: usize) -> u64 {
        let process = self.processes[host].id();
        let text = std::fs::read_to_string(format!("/proc/{process}/net/dev")).unwrap_or_default();
        device_bytes(&text, TUN, 0)
    }

    /// The log of a process.
    pub fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(format!("{name}.log"))).unwrap_or_default()
    }

    /// Lets TCP flow from one host to another, through the slots, as fast as it can.
    pub fn flow(&self, from: usize, to: usize) -> Flow {
        Flow::start(&self.namespace(&format!("h{from}")), &self.namespace(&format!("h{to}")), &inner(to))
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().chain(&mut self.spines) {
            let _ = process.kill();
            let _ = process.wait();
        }
        for name in NODES {
            // It may not have been made.
            let _ = ip(&["netns", "del", &self.namespace(name)]);
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Where the process of a name tells its metrics, in its own namespace.
fn metrics_at(name: &str) -> String {
    format!("127.0.0.1:91{}{}", u8::from(name.starts_with('a')), &name[1..])
}

/// The value of a metric without labels.
pub fn value(page: &str, metric: &str) -> Option<f64> {
    page.lines().find_map(|line| line.strip_prefix(metric)?.strip_prefix(' ')?.parse().ok())
}

/// The address of a host on the network of the arbiters.
fn beside(host: usize) -> String {
    format!("10.99.0.{}", host + 1)
}

/// The address that applications use for a host.
fn inner(host: usize) -> String {
    format!("10.200.0.{}", host + 1)
}

fn ip(args: &[&str]) -> Result<(), String> {
    finish(Command::new("ip").args(args).output(), &args.join(" "))
}

fn finish(output: std::io::Result<std::process::Output>, what: &str) -> Result<(), String> {
    let output = output.map_err(|error| format!("ip: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ip {what}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// A column of a device in the kernel's table.
fn device_bytes(table: &str, device: &str, column: usize) -> u64 {
    let line = table.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().nth(column)?.parse().ok()).unwrap_or(0)
}
