//! Three network namespaces: a sender whose traffic is carried, a receiver, and another sender whose traffic is not.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(super) const SENDER: &str = "10.79.0.1";
pub(super) const OTHER: &str = "10.79.1.1";
pub(super) const RECEIVER: &str = "10.79.0.2";
pub(super) const RECEIVER_V6: &str = "fd79::2";
pub(super) const RECEIVER_OF_OTHER: &str = "10.79.1.2";

/// Says on standard error that something was not tested.
pub(super) fn skipped(what: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}

/// Returns whether this kernel has a congestion control.
pub(super) fn has_control(name: &str) -> bool {
    let all = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    all.is_ok_and(|all| all.split_whitespace().any(|one| one == name))
}

/// A process that is killed when it is no longer needed.
pub(super) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The namespaces, as long as this lives.
pub(super) struct Net {
    sender: String,
    receiver: String,
    other: String,
    servers: Vec<Running>,
}

fn ip(args: &str) -> Result<(), String> {
    let output = Command::new("ip").args(args.split(' ')).output().map_err(|e| format!("ip: {e}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("ip {args}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

fn command(namespace: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, program]).stdin(Stdio::null());
    command
}

impl Net {
    pub(super) fn make(of: &str) -> Result<Net, String> {
        for program in ["iperf3", "ss"] {
            Command::new(program).arg("--version").output().map_err(|e| format!("{program}: {e}"))?;
        }
        if !std::path::Path::new("/sys/kernel/btf/vmlinux").exists() {
            return Err("this kernel does not tell its types (BTF)".into());
        }
        let id = format!("rates-{}-{of}", std::process::id());
        let [sender, receiver, other] = ["a", "b", "c"].map(|end| format!("{id}-{end}"));
        let mut net = Net { sender, receiver, other, servers: Vec::new() };
        let (a, b, c) = (&net.sender, &net.receiver, &net.other);
        for namespace in [a, b, c] {
            ip(&format!("netns add {namespace}"))?;
            ip(&format!("-n {namespace} link set lo up"))?;
        }
        ip(&format!("-n {a} link add veth0 type veth peer name veth0 netns {b}"))?;
        ip(&format!("-n {c} link add veth0 type veth peer name veth1 netns {b}"))?;
        for (namespace, device, address) in [
            (a, "veth0", format!("{SENDER}/24")),
            (b, "veth0", format!("{RECEIVER}/24")),
            (b, "veth0", format!("{RECEIVER_V6}/64 nodad")),
            (a, "veth0", "fd79::1/64 nodad".into()),
            (c, "veth0", format!("{OTHER}/24")),
            (b, "veth1", format!("{RECEIVER_OF_OTHER}/24")),
        ] {
            ip(&format!("-n {namespace} addr add {address} dev {device}"))?;
            ip(&format!("-n {namespace} link set {device} up"))?;
        }
        for port in ["5201", "5202"] {
            net.servers.push(net.server(port)?);
        }
        Ok(net)
    }

    /// Starts a server, and returns when it listens.
    fn server(&self, port: &str) -> Result<Running, String> {
        let mut command = command(&self.receiver, "iperf3");
        command.args(["-s", "-p", port, "--forceflush"]).stdout(Stdio::piped());
        let mut running = Running(command.spawn().map_err(|e| format!("iperf3: {e}"))?);
        let said = BufReader::new(running.0.stdout.take().expect("it is a pipe")).lines();
        let mut said = said.map_while(Result::ok);
        if !said.any(|line| line.contains("listening")) {
            return Err("iperf3 does not listen".into());
        }
        std::thread::spawn(move || said.for_each(drop));
        Ok(running)
    }

    /// A command in the sender's namespace.
    pub(super) fn in_sender(&self, program: &str) -> Command {
        command(&self.sender, program)
    }

    /// Sends to the receiver until it is dropped.
    pub(super) fn iperf(&self, args: &[&str]) -> Running {
        self.iperf_at(RECEIVER, args)
    }

    /// Sends to another port of the receiver until it is dropped.
    pub(super) fn iperf_at_port(&self, port: &str, args: &[&str]) -> Running {
        Net::sending(&self.sender, &["-c", RECEIVER, "-p", port], args)
    }

    /// Sends to an address of the receiver until it is dropped.
    pub(super) fn iperf_at(&self, address: &str, args: &[&str]) -> Running {
        Net::sending(&self.sender, &["-c", address, "-p", "5201"], args)
    }

    /// Sends from the other sender.
    pub(super) fn iperf_of_other(&self, args: &[&str]) -> Running {
        Net::sending(&self.other, &["-c", RECEIVER_OF_OTHER, "-p", "5202"], args)
    }

    fn sending(namespace: &str, to: &[&str], args: &[&str]) -> Running {
        let mut command = command(namespace, "iperf3");
        Running(command.args(to).args(args).stdout(Stdio::null()).spawn().unwrap())
    }

    /// The sockets of a namespace that are established, and those of them that have limits.
    fn sockets(namespace: &str) -> (usize, usize) {
        let output = command(namespace, "ss").args(["-Htin", "state", "established"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let paced = || said.lines().filter_map(|line| line.split_once("pacing_rate ")).map(|(_, rest)| rest);
        // A limit stands after the rate: `pacing_rate 1bps/2bps`.
        let limited = paced().filter(|rest| rest.split(' ').next().is_some_and(|rate| rate.contains('/')));
        (paced().count(), limited.count())
    }

    /// The queueing discipline at the root of the sender's device, as `tc` shows it.
    pub(super) fn root(&self) -> String {
        let output = self.in_sender("tc").args(["qdisc", "show", "dev", "veth0", "root"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until the sender's device has the same at its root as before.
    #[expect(clippy::disallowed_methods, reason = "processes run in real time")]
    pub(super) fn wait_for_root(&self, before: &str) {
        for _ in 0..1000 {
            if self.root() == before {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the device has {} and had {before}", self.root());
    }

    /// How the sender's namespace sizes bursts.
    pub(super) fn bursts(&self) -> String {
        let output = self.in_sender("cat").arg("/proc/sys/net/ipv4/tcp_tso_rtt_log").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The bytes that the receiver has acknowledged of each of the sender's sockets, in the order of their ports.
    pub(super) fn acked(&self) -> Vec<u64> {
        let output = self.in_sender("ss").args(["-HtinO", "state", "established"]).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let mut lines: Vec<&str> = said.lines().collect();
        lines.sort_unstable_by_key(|line| line.split_whitespace().nth(2).map(str::to_string));
        let acked = |line: &&str| line.split_once("bytes_acked:")?.1.split(' ').next()?.parse().ok();
        lines.iter().map(|line| acked(line).unwrap_or(0)).collect()
    }

    /// Returns whether any of the other sender's sockets has a limit; it has sockets.
    pub(super) fn limits_of_other(&self) -> bool {
        let (all, limited) = Net::sockets(&self.other);
        assert!(all > 0, "the other sender sends");
        limited > 0
    }

    /// Waits until all sockets of the sender have limits, or none.
    #[expect(clippy::disallowed_methods, reason = "processes run in real time")]
    pub(super) fn wait_for_limits(&self, limits: bool) {
        let mut found = (0, 0);
        for _ in 0..1000 {
            found = Net::sockets(&self.sender);
            if found.0 > 0 && found.1 == if limits { found.0 } else { 0 } {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("of {} sockets {} have limits", found.0, found.1);
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        self.servers.clear();
        for namespace in [&self.sender, &self.receiver, &self.other] {
            // The namespace may not have been made.
            let _ = ip(&format!("netns del {namespace}"));
        }
    }
}
