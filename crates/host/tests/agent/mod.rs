//! An agent as an operator meets it: its file, signals, log and metrics, and what the service manager hears.

mod metrics;
mod service;
mod settings;

use std::io::{BufRead, BufReader, Lines};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};

use clearway_host::keys::{make, Validity};
use rustix::process::{kill_process, Pid, Signal};
use serde_json::{json, Value};

use crate::network::scratch;

fn clearwayd(args: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_clearwayd")]).args(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A folder with certificates of an agent `h0` and of a `controller`, and with a file `agent.toml`.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a file of settings begins with in these tests.
const SETTINGS: &str = "keys = \"keys\"\nname = \"h0\"\nlisten = \"127.0.0.1:0\"\n";

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = Folder(scratch(name));
        folder.make_keys(1);
        folder.write(SETTINGS);
        folder
    }

    /// Makes certificates that hold for some days.
    fn make_keys(&self, days: u32) {
        make(&self.0.join("keys"), &["h0".into(), "controller".into()], Validity::days(days)).unwrap();
    }

    fn write(&self, settings: &str) {
        std::fs::write(self.0.join("agent.toml"), settings).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).into_os_string().into_string().unwrap()
    }

    fn command(&self, more: &[&str]) -> Command {
        clearwayd(&[&["agent", "--config", &self.path("agent.toml")], more].concat())
    }

    fn start(&self, more: &[&str]) -> Agent {
        Agent::spawn(&mut self.command(more))
    }

    fn status(&self, agent: &Agent) -> Value {
        let (address, keys) = (agent.address.to_string(), self.path("keys"));
        let asked =
            clearwayd(&["status", "--agent", &address, "--keys", &keys, "--name", "controller", "--json"]);
        let asked = { asked }.output().unwrap();
        serde_json::from_slice(&asked.stdout).expect("what the agent does")
    }

    /// A run of flows from `h0` to itself, told of by their bytes.
    fn run(&self, agent: &Agent, carrier: &str, flows: &[Option<u64>]) -> Output {
        let flow = |(id, bytes): (usize, &Option<u64>)| json!({ "id": id, "traffic": 0, "source": 0, "destination": 1, "bytes": bytes, "start_ns": 0 });
        let flows: Vec<Value> = flows.iter().enumerate().map(flow).collect();
        let plan = json!({
            "version": 1, "carrier": carrier, "parameters": {}, "mtu": 1400, "until_ns": 300_000_000,
            "sample_every_ns": 20_000_000, "hosts": ["h0", "h1"], "flows": flows,
        });
        make(&self.0.join("keys"), &["h1".into()], Validity::days(1)).unwrap();
        let other = self.start(&["--name", "h1"]);
        let host = |name: &str, at: SocketAddr| format!("[[host]]\nname = \"{name}\"\ncontrol = \"{at}\"\n");
        let hosts = host("h0", agent.address) + &host("h1", other.address);
        std::fs::write(self.0.join("hosts.toml"), hosts).unwrap();
        std::fs::write(self.0.join("plan.json"), plan.to_string()).unwrap();
        let (plan, hosts, keys) = (self.path("plan.json"), self.path("hosts.toml"), self.path("keys"));
        clearwayd(&["testbed", &plan, "--hosts", &hosts, "--keys", &keys, "--name", "controller"])
            .output()
            .unwrap()
    }
}

/// An agent that runs.
struct Agent {
    child: Child,
    out: BufReader<ChildStdout>,
    log: Lines<BufReader<ChildStderr>>,
    address: SocketAddr,
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Agent {
    fn spawn(command: &mut Command) -> Agent {
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let log = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = line_of(&mut out);
        let address = line.strip_prefix("listening at ").expect("where it listens").parse().unwrap();
        Agent { child, out, log, address }
    }

    /// Where its metrics are, which it prints behind the address of its control channel.
    fn metrics(&mut self) -> SocketAddr {
        let line = line_of(&mut self.out);
        let address = line.strip_prefix("metrics at http://").and_then(|rest| rest.strip_suffix("/metrics"));
        address.expect("where its metrics are").parse().unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// The next line of its log that has these words.
    fn wait_for(&mut self, words: &str) -> String {
        let mut seen = String::new();
        for line in self.log.by_ref().map(Result::unwrap) {
            if line.contains(words) {
                return line;
            }
            seen += &line;
        }
        panic!("the log ended without {words:?}: {seen}");
    }

    /// Ends it by a signal: its exit status, and the rest of its log.
    fn end(mut self, signal: Signal) -> (Option<i32>, Vec<String>) {
        self.signal(signal);
        let rest = self.log.by_ref().map(Result::unwrap).collect();
        (self.child.wait().unwrap().code(), rest)
    }
}

fn line_of(out: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    line.trim_end().to_string()
}

/// The text of a file below a folder.
fn text(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}
