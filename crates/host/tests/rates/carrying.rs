//! A process that carries the traffic of a namespace by a script's grants: this program once more, as its tests [`carry`] and
//! [`watch`], which do nothing if nobody asks them to.

use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

use clearway_host::fastpass::carriage::Carriage;
use clearway_host::fastpass::rates::{watch, Rates, Settings};
use clearway_host::fastpass::reach::{Place, Prefix, Reach};
use clearway_host::tcp::kernel::KernelError;
use clearway_proto::fastpass::endpoint::Mode;
use clearway_proto::fastpass::fcp::Grant;
use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::units::{Rate, Span, Time};
use rustix::time::{clock_gettime, ClockId};

use super::net::{Net, OTHER, RECEIVER, RECEIVER_OF_OTHER, RECEIVER_V6, SENDER};
use super::PAYLOAD;

/// Says that this process is to carry, or to watch.
const ASKED: &str = "CLEARWAY_RATES_TEST";
/// Begins the line in which a process says that the kernel refuses its programs.
const REFUSED: &str = "refused: ";
const SLOT: Span = Span::from_us(500);
const LINK: Rate = Rate::from_gbps(1);
/// How long before a slot it is granted, and how many are granted at a time: what an arbiter takes to answer.
const AHEAD: u64 = 3;

/// The payload of a slot: 62,500 bytes on the wire, in frames of 1538.
pub(super) fn slot_payload() -> u64 {
    LINK.sent_in(SLOT).get() * PAYLOAD / 1538
}

/// The counts of a carrying process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Report {
    pub(super) us: u64,
    pub(super) offered: u64,
    pub(super) granted: u64,
    pub(super) sent: u64,
    pub(super) backlogged: u64,
}

/// A carrying process.
pub(super) struct Carrying {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Carrying {
    /// Returns why this kernel refuses the programs of such a process, where it does, to root as to anybody.
    pub(super) fn refusal(net: &Net) -> Option<String> {
        let mut command = carry_in(net);
        let mut process = command.env(ASKED, "1").stdout(Stdio::piped()).spawn().unwrap();
        process.stdin.take().unwrap().write_all(b"exit\n").unwrap();
        let said = process.wait_with_output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        said.lines().find_map(|line| Some(line.split_once(REFUSED)?.1.to_string()))
    }

    /// Starts one in the sender's namespace.
    pub(super) fn start(net: &Net) -> Carrying {
        Carrying::start_at(net, None)
    }

    /// Starts one that shapes UDP at a device.
    pub(super) fn start_at(net: &Net, device: Option<&str>) -> Carrying {
        let mut command = carry_in(net);
        let mut process = command.env(ASKED, device.unwrap_or("1")).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut carrying = Carrying { input: process.stdin.take().unwrap(), output, process };
        carrying.report();
        carrying
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// From now on this many million bits a second are offered to the receiver.
    pub(super) fn rate(&mut self, megabits: u64) {
        self.tell(&format!("rate {megabits}"));
    }

    pub(super) fn unscheduled(&mut self, is: bool) {
        self.tell(if is { "unscheduled" } else { "scheduled" });
    }

    /// Asks for a report.
    pub(super) fn report(&mut self) -> Report {
        self.tell("report");
        loop {
            let line = self.output.next().expect("it says what it has counted").unwrap();
            let Some((_, line)) = line.split_once("report ") else { continue };
            let mut numbers = line.split(' ').map(|number| number.parse().unwrap());
            let mut next = || numbers.next().unwrap();
            return Report { us: next(), offered: next(), granted: next(), sent: next(), backlogged: next() };
        }
    }

    /// Waits until a report says something.
    #[expect(clippy::disallowed_methods, reason = "processes run in real time")]
    pub(super) fn wait_for(&mut self, what: &str, is: impl Fn(&Report) -> bool) {
        for _ in 0..6000 {
            if is(&self.report()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{what}: not in a minute, {:?}", self.report());
    }

    /// Waits until `more` more slots are granted.
    pub(super) fn granted_slots(&mut self, more: u64) {
        let granted = self.report().granted;
        self.wait_for("slots", |report| report.granted >= granted + more);
    }

    /// Lets the process end by itself.
    pub(super) fn exit(mut self) {
        self.tell("exit");
        assert!(self.process.wait().unwrap().success());
    }

    /// Kills the process as nothing can prevent.
    pub(super) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Carrying {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// This program as a process that carries in the sender's namespace, once it is asked to.
fn carry_in(net: &Net) -> Command {
    let mut command = net.in_sender(std::env::current_exe().unwrap().to_str().unwrap());
    command.args(["--exact", "rates::carrying::carry", "--nocapture"]).stdin(Stdio::piped());
    command
}

fn is_asked() -> bool {
    std::env::var_os(ASKED).is_some()
}

#[test]
fn watch() {
    if is_asked() {
        watch::run().unwrap();
    }
}

#[test]
fn carry() {
    if is_asked() {
        match Script::new() {
            Ok(mut script) => script.run(&commands()),
            // The kernel's verifier has other errors for a program that is wrong.
            Err(e) if e.message.ends_with("Operation not permitted (os error 1)") => {
                println!("{REFUSED}{}", e.message);
            }
            Err(e) => panic!("{e:?}"),
        }
    }
}

/// The lines of standard input, as they come.
fn commands() -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        std::io::stdin().lock().lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    receiver
}

fn reach() -> Reach {
    let place = |name: &str, prefixes: &[&str]| Place {
        name: name.into(),
        control: "192.0.2.1:1".parse().unwrap(),
        data: "192.0.2.1".parse().unwrap(),
        prefixes: prefixes.iter().map(|prefix| prefix.parse().unwrap()).map(host).collect(),
    };
    let places = vec![
        place("h0", &[SENDER]),
        place("h1", &[RECEIVER, RECEIVER_OF_OTHER, RECEIVER_V6]),
        place("h2", &[OTHER]),
    ];
    Reach { places, own: 0, slot: SLOT, rate: LINK, mtu: PAYLOAD as u32, paths: 1 }
}

fn host(address: std::net::IpAddr) -> Prefix {
    Prefix { address, length: if address.is_ipv4() { 32 } else { 128 } }
}

/// An arbiter's part and a driver's, by a script: slots are offered to one destination at an even rate, and granted as far as they are
/// demanded.
struct Script {
    rates: Rates,
    began: Time,
    timeslots: Timeslots,
    /// The next slot to be offered or not.
    next: u64,
    /// The part of the link that is offered, in millions of bits a second, and what is left over of the last slot.
    megabits: u64,
    rest: u64,
    /// Slots demanded.
    needed: u32,
    counts: Report,
}

fn clock() -> Time {
    let time = clock_gettime(ClockId::Monotonic);
    Time::ZERO + Span::from_secs(time.tv_sec as u64) + Span::from_ns(time.tv_nsec as u64)
}

impl Script {
    fn new() -> Result<Script, KernelError> {
        let exe = std::env::current_exe().unwrap().to_str().unwrap().to_string();
        let watcher = [&exe, "--exact", "rates::carrying::watch", "--nocapture"].map(str::to_string).to_vec();
        let device = std::env::var(ASKED).unwrap();
        let udp_device = (device != "1").then_some(device);
        let settings = Settings { watcher, udp_device, ..Settings::default() };
        let timeslots = Timeslots::new(SLOT).agreed(123_456_789_123_456_789);
        let rates = Rates::open(reach(), timeslots, settings)?;
        let counts = Report::default();
        Ok(Script { rates, began: clock(), timeslots, next: 0, megabits: 0, rest: 0, needed: 0, counts })
    }

    fn now(&self) -> Time {
        Time::ZERO + clock().since(self.began)
    }

    #[expect(clippy::disallowed_methods, reason = "a driver sleeps")]
    fn run(&mut self, commands: &Receiver<String>) {
        loop {
            let now = self.now();
            if self.rates.poll_timeout().is_some_and(|at| at <= now) {
                self.rates.handle_timeout(now);
            }
            let needed = &mut self.needed;
            self.rates.backlog(now, &mut |destination, slots| {
                assert_eq!(destination, 1, "nothing is sent to others");
                *needed = slots;
            });
            self.offer(now);
            match commands.try_recv().as_deref() {
                Ok("exit") => return,
                Ok(command) => self.obey(command),
                Err(_) => std::thread::sleep(Duration::from_micros(200)),
            }
        }
    }

    /// Offers the slots that begin until `AHEAD` slots from now.
    fn offer(&mut self, now: Time) {
        let until = self.timeslots.of(now) + AHEAD;
        self.next = self.next.max(until - 2 * AHEAD);
        while self.next <= until {
            let slot = self.next;
            self.next += 1;
            self.rest += self.megabits;
            if self.rest < LINK.as_bps() / 1_000_000 {
                continue;
            }
            self.rest -= LINK.as_bps() / 1_000_000;
            self.counts.offered += 1;
            if self.needed > 0 {
                self.needed -= 1;
                self.counts.granted += 1;
                let grant = Grant { slot, destination: 1, path: 0 };
                self.rates.slot(now, &grant, &mut || panic!("sockets carry no header"));
            }
        }
    }

    fn obey(&mut self, command: &str) {
        let now = self.now();
        match command.split_once(' ') {
            Some(("rate", megabits)) => self.megabits = megabits.parse().unwrap(),
            _ if command == "unscheduled" => self.rates.mode(now, Mode::Unscheduled),
            _ if command == "scheduled" => self.rates.mode(now, Mode::Scheduled),
            _ => {
                let (figures, counts) = (self.rates.figures(), self.counts);
                assert_eq!(figures.more["failures"], 0, "{figures:?}");
                let (sent, backlogged) = (figures.scheduled_bytes, figures.more["sockets_with_backlog"]);
                let us = now.as_ps() / 1_000_000;
                println!("report {us} {} {} {sent} {backlogged}", counts.offered, counts.granted);
                if std::env::var_os("CLEARWAY_RATES_FIGURES").is_some() {
                    eprintln!("{figures:?}");
                }
            }
        }
    }
}
