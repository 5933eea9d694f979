//! The test that `veth.rs` starts: the namespaces, the relay between them, and the transfer.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};

use crate::network::{scratch, Faults};
use crate::relay::Relay;
use clearway_host::daemon::clock::Clock;
use clearway_host::daemon::content::generate;
use clearway_host::daemon::driver::drive;
use clearway_host::daemon::socket::Socket;

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

/// Runs the test, or the relay where the program is started with the relay's arguments.
pub fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let [_, relay, listen, to] = &args[..] {
        assert_eq!(relay, "relay");
        run_relay(listen.parse().expect("an address"), to.parse().expect("an address"));
        return ExitCode::SUCCESS;
    }
    match Namespaces::make() {
        Err(reason) => println!("skipped: 1 GB across a veth pair: {reason}"),
        Ok(namespaces) => {
            transfer(&namespaces);
            println!("1 GB across a veth pair: ok");
        }
    }
    ExitCode::SUCCESS
}

/// Runs the relay until it is killed, and prints where it listens.
fn run_relay(listen: SocketAddr, to: SocketAddr) {
    let mut socket = Socket::bind(listen).unwrap();
    println!("listening at {}", socket.local_addr().unwrap());
    let mut relay = Relay::new(to, FAULTS, SEED);
    drive(&mut socket, &mut Clock::start(), &mut relay, |_, _| false).unwrap();
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
    fn make() -> Result<Namespaces, String> {
        let id = std::process::id();
        let made = Namespaces { sender: format!("clearway-{id}-a"), receiver: format!("clearway-{id}-b") };
        let (a, b) = (&made.sender, &made.receiver);
        ip(&format!("netns add {a}"))?;
        ip(&format!("netns add {b}"))?;
        ip(&format!(
            "-n {a} link add veth0 mtu {LINK_MTU} type veth peer name veth0 mtu {LINK_MTU} netns {b}"
        ))?;
        for (namespace, address) in [(a, SENDER), (b, RECEIVER)] {
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

fn transfer(namespaces: &Namespaces) {
    let daemon = Path::new(env!("CARGO_BIN_EXE_clearwayd"));
    let out = scratch("veth");
    let any = format!("{RECEIVER}:0");
    let receive = ["receive", "--listen", &any, "--once", "--out", out.to_str().unwrap()];
    let (mut receiver, mut told, address) =
        listening(Namespaces::run(&namespaces.receiver, daemon, &receive));
    let myself = std::env::current_exe().unwrap();
    let relay = Namespaces::run(&namespaces.receiver, &myself, &["relay", &any, &address]);
    let (_relay, _, address) = listening(relay);
    let size = format!("{BYTES}B");
    let send = ["send", "--to", &address, "--operations", "1", "--size", &size, "--mtu", PAYLOAD, "--json"];
    let args = [&[MOST_SECONDS, daemon.to_str().unwrap()], &send[..], &PATIENT].concat();
    let sent = Namespaces::run(&namespaces.sender, Path::new("timeout"), &args).output().unwrap();
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
