//! Three network namespaces in a row, `cqA`, `cqR` and `cqB`, with a bottleneck from the second to the third.

use std::fs::File;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::thread;

use rustix::process::geteuid;
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};

use crate::transfer::Result;

const NAMES: [&str; 3] = ["cqA", "cqR", "cqB"];

/// Addresses of the first and of the last.
const ADDRESSES: [&str; 2] = ["10.98.1.1", "10.98.2.1"];

/// The namespaces. They are deleted when this is dropped.
pub struct Network(());

impl Network {
    /// A network whose bottleneck has this rate, as `tc` writes it, and a queue of `queue` bytes.
    pub fn new(rate: &str, queue: u32) -> Result<Network> {
        delete();
        let network = Network(());
        for name in NAMES {
            run(&format!("ip netns add {name}"))?;
            run(&format!("ip -n {name} link set lo up"))?;
        }
        run("ip -n cqA link add v0 type veth peer name v0 netns cqR")?;
        run("ip -n cqR link add v1 type veth peer name v1 netns cqB")?;
        for (name, link, address) in [
            ("cqA", "v0", "10.98.1.1"),
            ("cqR", "v0", "10.98.1.2"),
            ("cqR", "v1", "10.98.2.2"),
            ("cqB", "v1", "10.98.2.1"),
        ] {
            run(&format!("ip -n {name} addr add {address}/24 dev {link}"))?;
            run(&format!("ip -n {name} link set {link} up"))?;
        }
        run("ip -n cqA route add default via 10.98.1.2")?;
        run("ip -n cqB route add default via 10.98.2.2")?;
        run("ip netns exec cqR sysctl -qw net.ipv4.ip_forward=1")?;
        run(&format!("tc -n cqR qdisc add dev v1 root tbf rate {rate} burst 70000 limit {queue}"))?;
        Ok(network)
    }

    /// A socket at each end of the network, on ports that are free.
    #[allow(clippy::unused_self, reason = "without a network there are no sockets")]
    pub fn sockets(&self) -> Result<[UdpSocket; 2]> {
        Ok([socket(NAMES[0], ADDRESSES[0])?, socket(NAMES[2], ADDRESSES[1])?])
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        delete();
    }
}

fn delete() {
    for name in NAMES {
        // One that is not there is no failure.
        let _ = Command::new("ip").args(["netns", "del", name]).stderr(Stdio::null()).status();
    }
}

/// A socket stays in the namespace in which it was made, whichever thread has it.
fn socket(name: &'static str, address: &'static str) -> Result<UdpSocket> {
    let made = thread::spawn(move || {
        let namespace = File::open(format!("/run/netns/{name}"))?;
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
        Ok(UdpSocket::bind((address, 0))?)
    });
    made.join().expect("it does not panic")
}

fn run(command: &str) -> Result<()> {
    let mut words = command.split_whitespace();
    let program = words.next().expect("a program");
    let done = Command::new(program).args(words).output().map_err(|error| format!("{program}: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("{command}: {}", String::from_utf8_lossy(&done.stderr).trim()).into())
}

/// Why there can be no such network here.
pub fn missing() -> Option<&'static str> {
    let found = |program: &str| {
        Command::new(program).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    if !geteuid().is_root() {
        return Some("only root makes network namespaces");
    }
    if !found("ip") || !found("tc") {
        return Some("ip and tc are missing (Debian and Ubuntu: apt-get install iproute2)");
    }
    match Network::new("1gbit", 100_000) {
        Ok(_) => None,
        Err(_) => Some("this machine makes no network namespaces with a token bucket filter"),
    }
}
