//! 1 GB between two network namespaces over a veth pair, through a relay that loses, repeats and reorders: every byte
//! arrives. Needs root and `ip` (iproute2); says so and passes where there is neither.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use clearway_host::daemon::content::generate;
use clearway_host::datagram::socket::Socket;
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};

use crate::daemon::with_keys;
use crate::network::{scratch, Faults};
use crate::relay::{relayed, Relay};

const BYTES: u64 = 1_000_000_000;
/// What the relay does to the datagrams of each direction: each fault once in a thousand.
const FAULTS: Faults = Faults { lost: 1000, repeated: 1000, delayed: 1000, changed: 0 };
const SEED: u64 = 20;
/// The MTU of the link: with jumbo frames a debug build needs few packets.
const LINK_MTU: &str = "9000";
const PAYLOAD: &str = "8900B";
/// Targets that a busy machine meets, a relay and its two wake-ups included.
const PATIENT: [&str; 4] = ["--base-target", "5ms", "--endpoint-target", "20ms"];
/// The longest that a command may take; one that is not done by then never will be.
const MOST_SECONDS: &str = "300";
const SENDER: &str = "10.77.0.1";
const RECEIVER: &str = "10.77.0.2";
/// The receiver's host too, where the relays are: at the ports that the receiver has at its own address.
const RELAYS: &str = "10.77.0.3";
const DATA_PORT: u16 = 4601;

#[test]
#[ignore = "takes 6 s: make test-slow runs it"]
fn a_gigabyte_crosses_a_veth_pair_through_a_relay() {
    match Namespaces::make("relay") {
        // Not by a macro, whose output the harness keeps to itself: that nothing was tested must not go unseen.
        Err(reason) => writeln!(std::io::stderr(), "skipped: 1 GB across a veth pair: {reason}").unwrap(),
        Ok(namespaces) => transfer(&namespaces),
    }
}

/// While a transfer is under way, its link comes to carry shorter packets than those that it sends.
#[test]
fn a_transfer_goes_on_in_fragments_when_the_mtu_shrinks() {
    match Namespaces::make("mtu") {
        Err(reason) => writeln!(std::io::stderr(), "skipped: an MTU that shrinks: {reason}").unwrap(),
        Ok(namespaces) => shrink(&namespaces),
    }
}

#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
fn shrink(namespaces: &Namespaces) {
    let daemon = Path::new(env!("CARGO_BIN_EXE_clearwayd"));
    let any = format!("{RECEIVER}:0");
    let mut command = Namespaces::run(&namespaces.receiver, daemon, &[]);
    command.args(with_keys(&["receive", "--listen", &any, "--once"]));
    let (mut receiver, mut told, address) = listening(command);
    // A window of four packets, so that the link shrinks long before the end.
    let send = ["send", "--to", &address, "--operations", "1", "--size", "100MB", "--max-cwnd", "4"];
    let mut command = Namespaces::run(&namespaces.sender, Path::new("timeout"), &[MOST_SECONDS]);
    let options = ["--initial-cwnd", "4", "--json"];
    command.arg(daemon).args(with_keys(&[&send[..], &options, &PATIENT].concat()));
    let sender = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    for namespace in [&namespaces.sender, &namespaces.receiver] {
        ip(&format!("-n {namespace} link set veth0 mtu 1280")).unwrap();
    }
    let sent = sender.wait_with_output().unwrap();
    let err = String::from_utf8(sent.stderr).unwrap();
    assert!(sent.status.success(), "{err}");
    assert!(err.contains("the path does not carry datagrams of") && err.contains("fragments"), "{err}");
    let figures: serde_json::Value = serde_json::from_slice(&sent.stdout).unwrap();
    assert_eq!(figures["payload_bytes"], 100_000_000, "{figures}");
    let mut report = String::new();
    told.read_to_string(&mut report).unwrap();
    assert!(receiver.0.wait().unwrap().success(), "{report}");
}

/// A socket in a namespace, which the calling thread enters and never leaves: a network namespace is a thread's own.
fn socket_in(namespace: &str, port: u16) -> Socket {
    let entry = File::open(Path::new("/run/netns").join(namespace)).unwrap();
    move_into_link_name_space(entry.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
    Socket::bind(format!("{RELAYS}:{port}").parse().unwrap()).unwrap()
}

/// Two namespaces with a link between them, as long as this lives.
struct Namespaces {
    sender: String,
    receiver: String,
}

fn ip(args: &str) -> Result<(), String> {
    let output = Command::new("ip").args(args.split(' ')).output().map_err(|e| format!("ip: {e}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("ip {args}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

impl Namespaces {
    fn make(of: &str) -> Result<Namespaces, String> {
        let id = format!("clearway-{}-{of}", std::process::id());
        let made = Namespaces { sender: format!("{id}-a"), receiver: format!("{id}-b") };
        let (a, b) = (&made.sender, &made.receiver);
        ip(&format!("netns add {a}"))?;
        ip(&format!("netns add {b}"))?;
        ip(&format!(
            "-n {a} link add veth0 mtu {LINK_MTU} type veth peer name veth0 mtu {LINK_MTU} netns {b}"
        ))?;
        for (namespace, address) in [(a, SENDER), (b, RECEIVER), (b, RELAYS)] {
            ip(&format!("-n {namespace} addr add {address}/24 dev veth0"))?;
            ip(&format!("-n {namespace} link set veth0 up"))?;
            ip(&format!("-n {namespace} link set lo up"))?;
        }
        Ok(made)
    }

    fn run(namespace: &str, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace]).arg(program).args(args).stdin(Stdio::null());
        command
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for namespace in [&self.sender, &self.receiver] {
            // The namespace may not have been made.
            let _ = ip(&format!("netns del {namespace}"));
        }
    }
}

/// A process that is killed when it is no longer needed.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a process that says where it listens.
fn listening(mut command: Command) -> (Running, BufReader<std::process::ChildStdout>, String) {
    let mut running = Running(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut out = BufReader::new(running.0.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let address = line.strip_prefix("listening at ").expect("where it listens").trim().to_string();
    (running, out, address)
}

/// Sends the gigabyte to an address, and returns what the sender has said.
fn send(namespaces: &Namespaces, daemon: &Path, to: &str) -> Output {
    let size = format!("{BYTES}B");
    let send = ["send", "--to", to, "--operations", "1", "--size", &size, "--mtu", PAYLOAD, "--json"];
    let mut command = Namespaces::run(&namespaces.sender, Path::new("timeout"), &[MOST_SECONDS]);
    command.arg(daemon).args(with_keys(&[&send[..], &PATIENT].concat())).output().unwrap()
}

fn transfer(namespaces: &Namespaces) {
    let daemon = Path::new(env!("CARGO_BIN_EXE_clearwayd"));
    let out = scratch("veth");
    let any = format!("{RECEIVER}:0");
    let data_port = DATA_PORT.to_string();
    let receive =
        ["receive", "--listen", &any, "--data-port", &data_port, "--once", "--out", out.to_str().unwrap()];
    let mut command = Namespaces::run(&namespaces.receiver, daemon, &[]);
    command.args(with_keys(&receive));
    let (mut receiver, mut told, address) = listening(command);
    let control: SocketAddr = address.parse().unwrap();
    let data = SocketAddr::new(control.ip(), DATA_PORT);
    let at = |port| {
        let namespace = namespaces.receiver.clone();
        move || socket_in(&namespace, port)
    };
    let carry = |_| {
        let clean = Relay::new(control, Faults::default(), SEED);
        relayed(clean, at(control.port()), |address| send(namespaces, daemon, &address.to_string())).0
    };
    let (sent, _) = relayed(Relay::new(data, FAULTS, SEED), at(DATA_PORT), carry);
    let figures: serde_json::Value =
        serde_json::from_slice(&sent.stdout).expect("one JSON object, before it takes too long");
    assert!(sent.status.success(), "{figures}");
    assert!(figures["retransmissions"].as_u64().unwrap() > 50, "{figures}");
    let mut report = String::new();
    told.read_to_string(&mut report).unwrap();
    assert!(receiver.0.wait().unwrap().success(), "{report}");
    assert_generated(&out);
    std::fs::remove_file(&out).unwrap();
    println!(
        "{} packets, {} again, {} Gb/s",
        figures["packets"], figures["retransmissions"], figures["goodput_gbps"]
    );
}

/// Asserts that the file holds the generated bytes, a piece at a time.
fn assert_generated(path: &Path) {
    let mut file = File::open(path).unwrap();
    assert_eq!(file.metadata().unwrap().len(), BYTES);
    let (mut found, mut expected) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    let mut offset = 0;
    while offset < BYTES {
        let len = (BYTES - offset).min(1 << 20) as usize;
        file.read_exact(&mut found[..len]).unwrap();
        generate(offset, &mut expected[..len]);
        assert!(found[..len] == expected[..len], "a byte from {offset} on differs");
        offset += len as u64;
    }
}
