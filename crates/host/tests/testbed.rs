//! A testbed of processes on loopback: what a run prints, and what becomes of it when somebody dies.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

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

/// A directory with certificates of all hosts and of a controller, and what a run needs.
struct Testbed {
    folder: PathBuf,
    agents: Vec<Agent>,
}

/// An agent that runs.
struct Agent {
    child: Child,
    out: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        self.agents.clear();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Agent {
    fn start(folder: &Path, name: &str) -> Agent {
        let keys = folder.join("keys");
        let args = ["agent", "--keys", keys.to_str().unwrap(), "--name", name, "--listen", "127.0.0.1:0"];
        let mut child = clearwayd(&args).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening at ").expect("where it listens").trim().parse().unwrap();
        Agent { child, out, address }
    }
}

impl Testbed {
    fn start(name: &str, hosts: usize) -> Testbed {
        let folder = scratch(name);
        let names: Vec<String> =
            (0..hosts).map(|host| format!("h{host}")).chain(["controller".into()]).collect();
        make(&folder.join("keys"), &names, Validity::days(1)).unwrap();
        let agents: Vec<Agent> = (0..hosts).map(|host| Agent::start(&folder, &names[host])).collect();
        let testbed = Testbed { folder, agents };
        testbed.write_hosts();
        testbed
    }

    fn write_hosts(&self) {
        let host = |(host, agent): (usize, &Agent)| {
            format!("[[host]]\nname = \"h{host}\"\ncontrol = \"{}\"\n", agent.address)
        };
        let hosts: String = self.agents.iter().enumerate().map(host).collect();
        std::fs::write(self.folder.join("hosts.toml"), hosts).unwrap();
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).into_os_string().into_string().unwrap()
    }

    /// The controller of a plan.
    fn controller(&self, plan: &Value) -> Command {
        let file = self.file("plan.json");
        std::fs::write(&file, plan.to_string()).unwrap();
        let (keys, hosts) = (self.file("keys"), self.file("hosts.toml"));
        clearwayd(&["testbed", &file, "--hosts", &hosts, "--keys", &keys, "--name", "controller"])
    }

    fn run(&self, plan: &Value) -> (Option<i32>, Vec<Value>, String) {
        told(self.controller(plan).output().unwrap())
    }

    /// Waits until an agent does what is asked.
    fn wait_for(&self, host: usize, state: &str) {
        let (address, keys) = (self.agents[host].address.to_string(), self.file("keys"));
        let args = ["status", "--agent", &address, "--keys", &keys, "--name", "controller", "--json"];
        for _ in 0..300 {
            let asked = clearwayd(&args).output().unwrap();
            let status: Value = serde_json::from_slice(&asked.stdout).unwrap_or_default();
            if status["state"] == state {
                return;
            }
        }
        panic!("h{host} is never {state}");
    }
}

fn told(output: Output) -> (Option<i32>, Vec<Value>, String) {
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    (output.status.code(), lines, String::from_utf8(output.stderr).unwrap())
}

fn plan(carrier: &str, hosts: usize, until_ms: u64, flows: &Value) -> Value {
    let hosts: Vec<String> = (0..hosts).map(|host| format!("h{host}")).collect();
    json!({
        "version": 1, "carrier": carrier, "parameters": {}, "mtu": 1400, "until_ns": until_ms * 1_000_000,
        "sample_every_ns": 50_000_000, "hosts": hosts, "flows": flows,
    })
}

fn flow(id: u64, source: u64, destination: u64, bytes: Option<u64>) -> Value {
    json!({ "id": id, "traffic": 0, "source": source, "destination": destination, "bytes": bytes, "start_ns": 0 })
}

fn of<'a>(lines: &'a [Value], event: &'a str) -> impl Iterator<Item = &'a Value> {
    lines.iter().filter(move |line| line["event"] == event)
}

/// Sized flows, one that comes after another, and one without an end, over each kind of carrier.
#[test]
fn flows_go_over_every_carrier_and_are_told_of() {
    let testbed = Testbed::start("carriers", 3);
    let mut after = flow(3, 2, 0, Some(1000));
    (after["after"], after["start_ns"]) = (json!(2), json!(2_000_000));
    let flows = json!([flow(0, 1, 0, None), flow(1, 0, 2, Some(1)), flow(2, 2, 0, Some(300_000)), after]);
    for carrier in ["tcp:cubic", "tcp:reno", "quic:swift", "udp:swift"] {
        let (code, lines, err) = testbed.run(&plan(carrier, 3, 600, &flows));
        assert_eq!((code, err.as_str()), (Some(0), ""), "{carrier}");
        let told: Vec<&Value> = of(&lines, "flow").collect();
        assert_eq!(told.len(), 4, "{carrier}: {lines:?}");
        for line in told {
            let (id, end) = (line["id"].as_u64().unwrap(), line["end_ns"].as_u64());
            assert!(
                line["error"].is_null() && line["rtt"]["mean_ns"].as_u64().unwrap() > 0,
                "{carrier}: {line}"
            );
            match id {
                0 => assert!(end.is_none() && line["bytes"].as_u64().unwrap() > 100_000, "{carrier}: {line}"),
                _ => assert!(end.unwrap() > line["start_ns"].as_u64().unwrap(), "{carrier}: {line}"),
            }
        }
        let by = |id: u64| of(&lines, "flow").find(|line| line["id"] == id).unwrap();
        let gap = by(3)["start_ns"].as_u64().unwrap() - by(2)["end_ns"].as_u64().unwrap();
        assert!((2_000_000..100_000_000).contains(&gap), "{carrier}: {gap}");
        assert_eq!(by(2)["bytes"], 300_000);
        assert!(of(&lines, "sample").count() >= 3, "{carrier}");
        assert_eq!(of(&lines, "host").count(), 3);
        let end = lines.last().unwrap();
        assert_eq!((&end["event"], &end["complete"]), (&json!("end"), &json!(true)), "{carrier}");
    }
}

/// An agent that is killed in the middle: the run ends, with what was measured.
#[test]
#[ignore = "takes 8 s: make test-slow runs it"]
fn a_killed_agent_ends_the_run_with_what_was_measured() {
    for carrier in ["tcp:cubic", "udp:swift"] {
        let mut testbed = Testbed::start(&format!("killed-{}", &carrier[..3]), 3);
        let flows = json!([flow(0, 0, 1, None), flow(1, 2, 1, None)]);
        let running = testbed.controller(&plan(carrier, 3, 30_000, &flows)).spawn().unwrap();
        testbed.wait_for(2, "running");
        pause(300);
        testbed.agents[2].child.kill().unwrap();
        let (code, lines, err) = told(running.wait_with_output().unwrap());
        assert_eq!(code, Some(1), "{err}");
        let end = lines.last().unwrap();
        assert_eq!(end["complete"], false);
        assert!(end["reason"].as_str().unwrap().contains("h2 was lost at "), "{end}");
        assert!(err.contains("h2 was lost"), "{err}");
        let measured = of(&lines, "flow").find(|line| line["id"] == 0).expect("what was measured");
        assert!(measured["bytes"].as_u64().unwrap() > 100_000 && measured["end_ns"].is_null(), "{measured}");
        let lost: Vec<&Value> = of(&lines, "host").filter(|line| !line["lost"].is_null()).collect();
        assert!(lost.len() == 1 && lost[0]["host"] == "h2", "{lost:?}");
        // The others are free for the next run, and so is the one that comes back.
        testbed.wait_for(0, "idle");
        testbed.agents[2] = Agent::start(&testbed.folder, "h2");
        testbed.write_hosts();
        let (code, _, err) = testbed.run(&plan(carrier, 3, 200, &flows));
        assert_eq!((code, err.as_str()), (Some(0), ""));
    }
}

/// A controller that is killed: its agents drop the run, and serve the next one. Meanwhile another one is told that they are busy.
#[test]
fn a_killed_controller_leaves_agents_that_serve_the_next_one() {
    let testbed = Testbed::start("headless", 2);
    let flows = json!([flow(0, 0, 1, None)]);
    let mut running = testbed.controller(&plan("udp:swift", 2, 30_000, &flows)).spawn().unwrap();
    testbed.wait_for(0, "running");
    let (code, _, err) = testbed.run(&plan("tcp:cubic", 2, 100, &flows));
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("it is busy with a run of controller"), "{err}");
    running.kill().unwrap();
    running.wait().unwrap();
    testbed.wait_for(0, "idle");
    testbed.wait_for(1, "idle");
    let (code, _, err) = testbed.run(&plan("tcp:cubic", 2, 100, &flows));
    assert_eq!((code, err.as_str()), (Some(0), ""));
}

#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Runs `run`, kills the third agent after `ms` milliseconds and starts it again. `false` when the run was refused
/// because agents were still busy with another one.
fn restarts_in_a_run(testbed: &mut Testbed, run: &Value, ms: u64) -> bool {
    let controller = testbed.controller(run).spawn().unwrap();
    pause(ms);
    testbed.agents[2] = Agent::start(&testbed.folder, "h2");
    let (code, lines, err) = told(controller.wait_with_output().unwrap());
    testbed.write_hosts();
    if err.contains("it is busy with a run of controller") {
        return false;
    }
    let is_complete = lines.last().is_some_and(|line| line["complete"] == true);
    assert_eq!(code, Some(u8::from(!is_complete).into()), "{ms} ms: {err}");
    assert!(is_complete || err.contains("h2"), "{ms} ms: {err}");
    true
}

/// Whoever is killed, and whenever: the others are told, and what lives serves the next run.
#[test]
#[ignore = "takes 21 s: make test-slow runs it"]
fn a_process_that_is_killed_in_any_phase_keeps_nobody() {
    let mut testbed = Testbed::start("any-phase", 3);
    let flows = json!([flow(0, 0, 1, None), flow(1, 1, 2, Some(100_000)), flow(2, 2, 0, None)]);
    let run = plan("udp:swift", 3, 200, &flows);
    // Dialing, preparing and connecting take some hundredths of a second; the run begins .3 s later and takes .2 s.
    for (round, ms) in [5, 20, 40, 80, 200, 350, 450, 550].into_iter().enumerate() {
        if round % 2 == 0 {
            let mut controller = testbed.controller(&run).spawn().unwrap();
            pause(ms);
            controller.kill().unwrap();
            controller.wait().unwrap();
        } else {
            // The last words of the controller killed before may reach an agent that was idle a moment ago: it is
            // busy then until their connection times out.
            let mut tries = 0..20;
            while !restarts_in_a_run(&mut testbed, &run, ms) {
                tries.next().expect("agents leave a dead controller");
                (0..3).for_each(|host| testbed.wait_for(host, "idle"));
            }
        }
        (0..3).for_each(|host| testbed.wait_for(host, "idle"));
    }
    let (code, lines, err) = testbed.run(&run);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(of(&lines, "flow").count(), 3);
}

/// A signal to the controller ends the run in order: what was measured is told, and the agents are free.
#[test]
fn an_interrupted_controller_tells_what_was_measured() {
    let testbed = Testbed::start("interrupted-run", 2);
    let mut running =
        testbed.controller(&plan("tcp:cubic", 2, 30_000, &json!([flow(0, 0, 1, None)]))).spawn().unwrap();
    let mut out = BufReader::new(running.stdout.take().unwrap()).lines().map(Result::unwrap);
    out.by_ref().find(|line| line.contains("\"sample\"")).expect("a sample");
    kill_process(Pid::from_child(&running), Signal::INT).unwrap();
    let lines: Vec<Value> = out.map(|line| serde_json::from_str(&line).unwrap()).collect();
    let (code, _, err) = told(running.wait_with_output().unwrap());
    assert_eq!(code, Some(130), "{err}");
    assert!(err.starts_with("error: interrupted"), "{err}");
    assert!(of(&lines, "flow").next().unwrap()["bytes"].as_u64().unwrap() > 0);
    assert_eq!(lines.last().unwrap()["complete"], false);
    testbed.wait_for(1, "idle");
}

/// An agent that is told to end says so to its controller.
#[test]
fn an_agent_that_ends_says_why() {
    let mut testbed = Testbed::start("leaving", 2);
    let running =
        testbed.controller(&plan("tcp:cubic", 2, 30_000, &json!([flow(0, 0, 1, None)]))).spawn().unwrap();
    testbed.wait_for(1, "running");
    kill_process(Pid::from_child(&testbed.agents[1].child), Signal::TERM).unwrap();
    let (code, lines, err) = told(running.wait_with_output().unwrap());
    assert_eq!(code, Some(1), "{err}");
    let reason = lines.last().unwrap()["reason"].as_str().unwrap().to_string();
    assert!(reason.contains("h1 was lost") && reason.contains("its agent was told to end"), "{reason}");
    assert_eq!(testbed.agents[1].child.wait().unwrap().code(), Some(143));
    let mut rest = String::new();
    testbed.agents[1].out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn bad_input_is_told_with_its_place_and_nothing_is_run() {
    let testbed = Testbed::start("bad-plans", 2);
    let good = plan("tcp:cubic", 2, 100, &json!([flow(0, 0, 1, Some(1000))]));
    let with = |key: &str, value: Value| {
        let mut changed = good.clone();
        changed[key] = value;
        changed
    };
    let mut misspelt = with("parameters", json!({ "base_taget": "5us" }));
    misspelt["carrier"] = json!("udp:swift");
    for (bad, words) in [
        (with("carrier", json!("tcp:nosuch")), "its kernel does not have the congestion control nosuch"),
        (with("carrier", json!("udp:cubic")), "carrier: there is no \"udp:cubic\""),
        (with("version", json!(2)), "version: found 2"),
        (misspelt, "parameters.base_taget: there is no such parameter"),
        (with("flows", json!([flow(0, 0, 2, None)])), "flows[0].destination: found 2, and there are 2 hosts"),
        (with("flow", json!([])), "unknown field `flow`"),
        (with("hosts", json!(["h0", "h7"])), "h7"),
    ] {
        let (code, lines, err) = testbed.run(&bad);
        assert_eq!(code, Some(2), "{words}: {err}");
        assert!(err.starts_with("error: ") && err.contains(words), "{words}: {err}");
        assert_eq!(of(&lines, "flow").count(), 0, "{words}");
    }
    for (hosts, words) in [
        ("[[host]]\nname = \"h0\"\ncontrl = \"127.0.0.1:1\"\n", "contrl"),
        ("[[host]]\nname = \"h0\"\n", "control"),
        ("[[host]]\nname = \"h0\"\ncontrol = \"here\"\n", "expected an address"),
        ("host = 3", "host"),
    ] {
        std::fs::write(testbed.file("hosts.toml"), hosts).unwrap();
        let (code, _, err) = testbed.run(&good);
        assert_eq!(code, Some(2), "{hosts}: {err}");
        assert!(err.contains("hosts.toml") && err.contains(words), "{hosts}: {err}");
    }
}

/// Agents that are not there, whose certificates are of another authority, or that have expired.
#[test]
fn peers_that_are_not_there_or_not_believed_are_named() {
    let testbed = Testbed::start("strangers", 1);
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    std::fs::write(testbed.file("hosts.toml"), format!("[[host]]\nname = \"h0\"\ncontrol = \"{nobody}\"\n"))
        .unwrap();
    let plain = plan("tcp:cubic", 1, 100, &json!([flow(0, 0, 0, None)]));
    assert_eq!(testbed.run(&plain).0, Some(2), "a host that sends to itself");

    let other = Testbed::start("other-authority", 2);
    let two = |one: SocketAddr, another: SocketAddr| {
        format!("[[host]]\nname = \"h0\"\ncontrol = \"{one}\"\n[[host]]\nname = \"h1\"\ncontrol = \"{another}\"\n")
    };
    let run = plan("tcp:cubic", 2, 100, &json!([flow(0, 0, 1, None)]));
    std::fs::write(other.file("hosts.toml"), two(other.agents[0].address, nobody)).unwrap();
    let (code, lines, err) = other.run(&run);
    assert_eq!((code, lines.len()), (Some(1), 0), "{err}");
    assert!(
        err.contains("h1 at") && err.contains("no answer") && err.contains("is it running there"),
        "{err}"
    );
    other.wait_for(0, "idle");

    std::fs::write(other.file("hosts.toml"), two(other.agents[0].address, testbed.agents[0].address))
        .unwrap();
    let (code, _, err) = other.run(&run);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("h1 at") && err.contains("another authority has signed it"), "{err}");

    // The agent of h1 under the name of h0.
    other.wait_for(0, "idle");
    std::fs::write(other.file("hosts.toml"), two(other.agents[1].address, other.agents[1].address)).unwrap();
    let (code, _, err) = other.run(&run);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("h0 at") && err.contains("it is not that of h0"), "{err}");

    let expired = testbed.folder.join("keys");
    let past = std::time::UNIX_EPOCH;
    let validity = Validity { from: past, until: past + Duration::from_secs(86_400) };
    make(&expired, &["controller".into()], validity).unwrap();
    std::fs::write(testbed.file("hosts.toml"), two(testbed.agents[0].address, nobody)).unwrap();
    let (code, _, err) = testbed.run(&run);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("controller") && err.contains("expired"), "{err}");
    let keys = testbed.file("keys");
    let checked = clearwayd(&["keys", &keys, "--check"]).output().unwrap();
    let said = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(1));
    assert!(
        said.contains("controller  has expired, on 1970-01-02") && said.contains("h0          holds until"),
        "{said}"
    );
    let agent = ["agent", "--keys", &keys, "--name", "controller", "--listen", "127.0.0.1:0"];
    let refused = clearwayd(&agent).output().unwrap();
    let err = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && err.contains("it has expired, on 1970-01-02"), "{err}");
}

/// Sixty-four agents start within 100 ms of each other.
#[test]
fn many_agents_start_together() {
    let hosts = 64;
    let testbed = Testbed::start("many", hosts);
    let flows: Vec<Value> = (1..hosts as u64).map(|source| flow(source, source, 0, Some(1000))).collect();
    let (code, lines, err) = testbed.run(&plan("tcp:cubic", hosts, 2000, &json!(flows)));
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let spread = of(&lines, "started").next().unwrap()["spread_ns"].as_u64().unwrap();
    println!("64 agents started within {} us", spread / 1000);
    assert!(spread < 100_000_000, "{spread} ns");
    assert_eq!(of(&lines, "flow").filter(|line| line["end_ns"].is_u64()).count(), hosts - 1);
}
