//! UDP, whose sockets have no pacing rate: its packets to each endpoint go through a class of a shaper (HTB) at the device, which has
//! the rate of one more socket of the pair.
//!
//! The classes are made, changed, asked and removed by `tc`, one process that is told command after command. What is not UDP, or goes
//! elsewhere, passes the shaper unshaped, and so does what has the priority [`OWN_PRIORITY`](crate::fastpass::link::node::OWN_PRIORITY).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::IpAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};

use clearway_proto::fastpass::fcp::Address;
use clearway_proto::units::{Span, Time};

use super::framing::Segment;
use super::work::signed;
use crate::fastpass::reach::Reach;
use crate::tcp::kernel::{error, KernelError};

/// The shaper's number.
const HANDLE: &str = "c1ea:";
/// The number of the class of endpoint 0.
const FIRST: u32 = 2;
/// Bytes that a frame takes on an Ethernet link beside what the shaper counts.
const OVERHEAD: u64 = 24;
/// The time between two rounds of questions and changes.
const ROUND: Span = Span::from_ms(20);
/// Looks over which a difference between what was told and what was counted is put right.
const CORRECTED_IN: i64 = 50;
/// The burst of a class is its rate for one part in this many of a second, and two frames at least.
const BURST_PART: u64 = 500;
const LEAST_BURST: u64 = 2 * 1538;
/// The rate of a class without a limit, in bytes a second.
const UNLIMITED: u64 = 125_000_000_000;

/// The counts of a class: bytes sent since the start, and bytes waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Class {
    bytes: u64,
    packets: u64,
    waiting: u64,
}

/// The answers of `tc`.
#[derive(Debug, Default)]
struct Answers {
    classes: BTreeMap<u32, Class>,
    /// Classes told of so far.
    count: u64,
    /// The class that it is telling of.
    current: u32,
}

impl Answers {
    /// Reads a line.
    fn take(&mut self, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let class = self.classes.entry(self.current).or_default();
        match words[..] {
            ["class", "htb", id, ..] => {
                let minor = id.split_once(':').and_then(|(_, minor)| u32::from_str_radix(minor, 16).ok());
                self.current = minor.unwrap_or(0);
            }
            ["Sent", bytes, "bytes", packets, ..] => {
                class.bytes = bytes.parse().unwrap_or(class.bytes);
                class.packets = packets.parse().unwrap_or(class.packets);
            }
            ["backlog", bytes, ..] => {
                class.waiting = size(bytes).unwrap_or(0);
                self.count += 1;
            }
            _ => {}
        }
    }
}

/// A number of bytes as `tc` writes it: 1514b, 21Kb.
fn size(text: &str) -> Option<u64> {
    let text = text.strip_suffix('b')?;
    match (text.strip_suffix('K'), text.strip_suffix('M')) {
        (Some(kilo), _) => kilo.parse().ok().map(|kilo: u64| kilo << 10),
        (_, Some(mega)) => mega.parse().ok().map(|mega: u64| mega << 20),
        _ => text.parse().ok(),
    }
}

/// UDP to an endpoint, in the payload of TCP that would take as long on the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flow {
    /// Bytes sent, a second, as its class told last.
    pub(super) rate: u64,
    /// Bytes assumed to have been sent at that rate since then.
    pub(super) assumed: u64,
    /// Bytes that were told of and not assumed, nor put right yet; negative for fewer.
    pub(super) error: i64,
    pub(super) waiting: u64,
    /// Whether bytes waited the last two times.
    pub(super) is_full: bool,
}

impl Flow {
    /// Takes what a class tells after the time `over` since it told last: bytes sent since then, and bytes waiting.
    fn hear(&mut self, sent: u64, waiting: u64, over: Span) {
        self.is_full = waiting > 0 && self.waiting > 0;
        self.waiting = waiting;
        self.error += signed(sent) - signed(self.assumed);
        self.assumed = 0;
        let per_second = u128::from(sent) * u128::from(Span::from_secs(1).as_ps());
        self.rate = (per_second / u128::from(over.as_ps().max(1))) as u64;
    }

    /// Returns the bytes sent in the time `passed` since this was last called, as far as can be known: at the rate of the class, of
    /// the limit in bytes a second if there is one, while bytes wait, and else at the last rate that was told; put right when the
    /// class has told of more or fewer. For what is sent in 20 ms and told of at the end of them looks like nothing before.
    pub(super) fn sent_in(&mut self, passed: Span, limit: Option<u64>) -> u64 {
        let rate = limit.filter(|_| self.waiting > 0).unwrap_or(self.rate);
        let second = u128::from(Span::from_secs(1).as_ps());
        let assumed = (u128::from(rate) * u128::from(passed.as_ps()) / second) as u64;
        let sent = (signed(assumed) + self.error / CORRECTED_IN).max(0);
        self.error -= sent - signed(assumed);
        self.assumed += assumed;
        sent.unsigned_abs()
    }
}

/// The classes of a device.
#[derive(Debug)]
pub(super) struct Classes {
    device: String,
    process: Child,
    input: Option<ChildStdin>,
    answers: Arc<Mutex<Answers>>,
    /// Classes told of when the last question is answered, and whether that has been heard; before, nothing more is asked.
    awaited: u64,
    is_heard: bool,
    /// When it was asked, how long after the one before, and when to ask next.
    asked: Time,
    over: Span,
    next: Time,
    /// The rate of each endpoint's class, in bytes a second on the wire.
    rates: BTreeMap<Address, u64>,
    /// The sum of the rates that it was to have since they were last told, and how many they are: it gets their average.
    wanted: BTreeMap<Address, (u128, u128)>,
    last: BTreeMap<Address, Class>,
}

impl Classes {
    /// Makes the classes of a device, without limits. Fails if the device has another shaper already.
    pub(super) fn open(device: &str, reach: &Reach) -> Result<Classes, KernelError> {
        let root = root(device)?;
        if !root.starts_with("0:") && root != HANDLE {
            let message = format!("{device} has a queueing discipline already, of number {root}");
            let remedy = format!(
                "remove it: tc qdisc del dev {device} root; or leave UDP without limits, and without a device"
            );
            return Err(error(message, remedy));
        }
        remove(device);
        tc(&["qdisc", "add", "dev", device, "root", "handle", HANDLE, "htb", "default", "0"])?;
        let rates: BTreeMap<Address, u64> = (0..)
            .zip(&reach.places)
            .filter(|(at, _)| *at != reach.own)
            .map(|(at, _)| (at, UNLIMITED))
            .collect();
        let opened = Classes::fill(device, reach, rates);
        if opened.is_err() {
            remove(device);
        }
        opened
    }

    fn fill(device: &str, reach: &Reach, rates: BTreeMap<Address, u64>) -> Result<Classes, KernelError> {
        for &address in rates.keys() {
            let command = format!("class add {}", class(device, address, UNLIMITED));
            tc(&command.split(' ').collect::<Vec<&str>>())?;
        }
        for (at, place) in (0..).zip(&reach.places) {
            let minor = if at == reach.own { 0 } else { u32::from(at) + FIRST };
            for prefix in &place.prefixes {
                // The longest prefix is asked first.
                let (protocol, kind, order) = match prefix.address {
                    IpAddr::V4(_) => ("ip", "ip", 33 - u32::from(prefix.length)),
                    IpAddr::V6(_) => ("ipv6", "ip6", 229 - u32::from(prefix.length)),
                };
                let (address, length) = (prefix.address, prefix.length);
                let command = format!("filter add dev {device} parent {HANDLE} protocol {protocol} prio {order} u32 match {kind} protocol 17 0xff match {kind} dst {address}/{length} flowid {HANDLE}{minor:x}");
                tc(&command.split(' ').collect::<Vec<&str>>())?;
            }
        }
        let mut start = Command::new("tc");
        start.args(["-force", "-s", "-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = start.stderr(Stdio::null()).spawn().map_err(|e| missing(&e))?;
        let (input, output) = (process.stdin.take(), process.stdout.take().expect("it is a pipe"));
        let answers = Arc::new(Mutex::new(Answers::default()));
        let heard = Arc::clone(&answers);
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                heard.lock().expect("no thread has panicked").take(&line);
            }
        });
        Ok(Classes {
            device: device.to_string(),
            process,
            input,
            answers,
            awaited: 0,
            is_heard: true,
            asked: Time::ZERO,
            over: ROUND,
            next: Time::ZERO,
            wanted: BTreeMap::new(),
            rates,
            last: BTreeMap::new(),
        })
    }

    /// Takes what the classes have told since this was last called, if they have.
    pub(super) fn hear(&mut self, segment: Segment, mut flow_of: impl FnMut(Address, &dyn Fn(&mut Flow))) {
        let answers = self.answers.lock().expect("no thread has panicked");
        if answers.count < self.awaited || self.is_heard {
            return;
        }
        self.is_heard = true;
        for &address in self.rates.keys() {
            let class = answers.classes.get(&(u32::from(address) + FIRST)).copied().unwrap_or_default();
            let before = self.last.insert(address, class).unwrap_or_default();
            let bytes = class.bytes - before.bytes + OVERHEAD * (class.packets - before.packets);
            let (sent, waiting) = (segment.payload_of_wire(bytes), segment.payload_of_wire(class.waiting));
            flow_of(address, &|flow| flow.hear(sent, waiting, self.over));
        }
    }

    /// Has the class of an endpoint get a rate, in bytes of TCP's payload a second; none is no limit.
    pub(super) fn set(&mut self, address: Address, share: Option<u64>, segment: Segment) {
        let rate = share.map_or(UNLIMITED, |share| segment.wire_of_payload(share).clamp(1, UNLIMITED));
        let (sum, count) = self.wanted.entry(address).or_default();
        (*sum, *count) = (*sum + u128::from(rate), *count + 1);
    }

    /// The limit that an endpoint's class has, in bytes of TCP's payload a second.
    pub(super) fn limit(&self, address: Address, segment: Segment) -> Option<u64> {
        let rate = *self.rates.get(&address)?;
        (rate != UNLIMITED).then(|| segment.payload_of_wire(rate))
    }

    /// Tells the classes their rates, and asks what they have sent: every 20 ms, if they have answered. Changes of less than a
    /// fiftieth are left out.
    pub(super) fn tell_rates(&mut self, now: Time) {
        if now < self.next || !self.is_heard {
            return;
        }
        let mut commands = String::new();
        for (address, (sum, count)) in std::mem::take(&mut self.wanted) {
            let rate = (sum / count) as u64;
            let was = self.rates.get_mut(&address).expect("an endpoint that has a class");
            if rate.abs_diff(*was) * 50 > *was {
                *was = rate;
                let _ = writeln!(commands, "class change {}", class(&self.device, address, rate));
            }
        }
        self.over = now.since(self.asked);
        (self.asked, self.next, self.is_heard) = (now, now + ROUND, false);
        self.awaited += self.rates.len() as u64;
        let _ = writeln!(commands, "class show dev {}", self.device);
        if let Some(input) = &mut self.input {
            // If the process is gone there is nobody to tell.
            let _ = input.write_all(commands.as_bytes());
        }
    }
}

impl Drop for Classes {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
        remove(&self.device);
    }
}

/// The command to `tc` that sets the rate of a class, in bytes a second on the wire.
fn class(device: &str, address: Address, rate: u64) -> String {
    let (minor, burst) = (u32::from(address) + FIRST, (rate / BURST_PART).max(LEAST_BURST));
    // The quantum is of no use among classes that do not lend to each other.
    format!("dev {device} parent {HANDLE} classid {HANDLE}{minor:x} htb rate {rate}bps burst {burst}b cburst {burst}b quantum 60000 overhead {OVERHEAD}")
}

fn missing(e: &std::io::Error) -> KernelError {
    error(format!("tc: {e}"), "install iproute2, or leave UDP without limits, and without a device")
}

/// Runs a command, and returns what it says.
fn tc(args: &[&str]) -> Result<String, KernelError> {
    let output = Command::new("tc").args(args).stdin(Stdio::null()).output().map_err(|e| missing(&e))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    let remedy = "see that the device exists, that this is root, and that the kernel has HTB and u32 filters";
    Err(error(format!("tc {}: {said}", args.join(" ")), remedy))
}

/// The number of a device's queueing discipline; of one that nobody has set it is `0:`.
fn root(device: &str) -> Result<String, KernelError> {
    let said = tc(&["qdisc", "show", "dev", device, "root"])?;
    Ok(said.split_whitespace().nth(2).unwrap_or("0:").to_string())
}

/// Removes the shaper from a device, if it is the one of this file: the device then has its default again.
pub(super) fn remove(device: &str) {
    if root(device).is_ok_and(|root| root == HANDLE) {
        let _ = tc(&["qdisc", "del", "dev", device, "root"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_late_is_counted_evenly() {
        let (mut flow, look) = (Flow::default(), Span::from_ms(2));
        let mut counted = Vec::new();
        for round in 0..50 {
            // 10 MB/s, and then 1.
            flow.hear(if round < 25 { 200_000 } else { 20_000 }, 100, ROUND);
            counted.extend((0..10).map(|_| flow.sent_in(look, None)));
        }
        assert!(counted[200..250].iter().all(|sent| sent.abs_diff(20_000) < 1000), "{counted:?}");
        assert!(counted[450..].iter().all(|&sent| sent <= 2000), "{counted:?}");
        let (all, told) = (counted.iter().sum::<u64>(), 25 * 220_000);
        assert_eq!(signed(all) + flow.error, told + signed(flow.assumed));
        assert!(flow.is_full && flow.waiting == 100);
        // Whatever was told: what waits leaves at the rate of the class.
        flow.error = 0;
        assert_eq!((flow.sent_in(look, Some(1_000_000)), flow.sent_in(look, Some(3_000_000))), (2000, 6000));
    }

    #[test]
    fn answers_are_read_as_tc_writes_them() {
        let mut answers = Answers::default();
        let said = "class htb c1ea:2 root prio 0 rate 64Mbit overhead 24 ceil 64Mbit burst 1600b cburst 1600b\n Sent 3028 bytes 2 pkt (dropped 0, overlimits 0 requeues 0)\n backlog 21Kb 14p requeues 0\n\nclass htb c1ea:1a root prio 0\n Sent 0 bytes 0 pkt (dropped 0)\n backlog 1514b 1p requeues 0\n";
        said.lines().for_each(|line| answers.take(line));
        assert_eq!(answers.count, 2);
        assert_eq!(answers.classes[&2], Class { bytes: 3028, packets: 2, waiting: 21 << 10 });
        assert_eq!(answers.classes[&26], Class { bytes: 0, packets: 0, waiting: 1514 });
        assert_eq!((size("3Mb"), size("7"), size("xb")), (Some(3 << 20), None, None));
    }
}
