//! The thread of a relay, which moves frames between its devices and its lanes.

use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use clearway_proto::swing::relay::Port;
use clearway_proto::units::{Bytes, Span, Time};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use tracing::{error, info};
use tun_rs::SyncDevice;

use super::classes::is_control;
use super::device::Devices;
use super::figures::{LaneFigures, PortFigures, State};
use super::handover::Handover;
use super::kernel::{Kernel, LaneCounters};
use super::lanes::{across, Lanes, Want, LONGEST_FRAME, PORTS};
use super::probe::{LinkFigures, Prober};
use super::settings::Settings;
use crate::datagram::clock::Clock;
use crate::datagram::driver::Waker;
use crate::tcp::kernel::KernelError;
use crate::testbed::clock::monotonic_ns;

/// Frames that are read, or sent, before anything else is looked at.
const BATCH: usize = 64;
/// The time between two signs of life, far below the time after which the kernel takes the process for dead; and the longest sleep.
const ALIVE: Span = Span::from_ms(1);
/// The longest that a relay that is told to end waits for what it stores.
const DRAINS: Span = Span::from_secs(5);
/// The longest time from the kernel's decision to send a frame here until it can be read.
const SETTLES: Span = Span::from_ms(1);

/// Where the kernel's part writes into a MAC control frame when it came.
pub(super) const STAMP: usize = 52;

/// A lane as it is seen: the port that it comes in on, its priority, and what process and kernel know of it.
pub type Lane = (Port, u8, LaneFigures, LaneCounters);

/// A relay as it is seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The time since its start, in nanoseconds.
    pub uptime_ns: u64,
    /// The counts of both ports, L before R.
    pub ports: [PortFigures; 2],
    /// The states of both.
    pub states: [State; 2],
    /// The lanes, those that come in on L first.
    pub lanes: Vec<Lane>,
    /// What probes have told of the long link.
    pub link: LinkFigures,
    /// Frames that could not be sent.
    pub send_errors: u64,
}

/// A request to the thread.
pub(super) enum Command {
    /// Tells what the relay is doing.
    Look(Sender<Seen>),
    /// Sends nothing but PFC frames, and stores whatever comes, until `Thaw` or `HandOver`.
    Freeze(Sender<()>),
    /// Sends frames again after `Freeze`.
    Thaw,
    /// Hands the lanes over, and ends.
    HandOver(Sender<Handover>),
    /// Ends when all that is stored has left.
    End,
}

/// The state of the thread.
pub(super) struct Work {
    devices: Devices,
    kernel: Kernel,
    lanes: Lanes,
    prober: Prober,
    settings: Settings,
    clock: Clock,
    started: Time,
    alive_at: Time,
    send_errors: u64,
    /// The bytes of each priority that the kernel had passed from R to L when it was last asked.
    passed: Vec<u64>,
    buffer: Vec<u8>,
}

impl Work {
    /// A relay between these devices whose programs are attached.
    pub(super) fn new(devices: Devices, kernel: Kernel, settings: &Settings, session: u64) -> Work {
        let sources = [devices.ports[0].address, devices.ports[1].address];
        let clock = Clock::start();
        let started = clock.now();
        Work {
            prober: Prober::new(sources[1], session, settings.probing, started),
            lanes: Lanes::new(
                &settings.params,
                &settings.priorities,
                settings.storm_after,
                settings.probing.response,
                sources,
            ),
            devices,
            kernel,
            settings: settings.clone(),
            clock,
            started,
            alive_at: started,
            send_errors: 0,
            passed: vec![0; settings.priorities.len()],
            buffer: vec![0; LONGEST_FRAME],
        }
    }

    /// Begins with what another process has left.
    pub(super) fn adopt(&mut self, handover: Handover) {
        let now = self.clock.now();
        for (port, frame) in self.lanes.adopt(handover, &self.settings.params, now) {
            write(&self.devices.queues[port as usize], &frame, &mut self.send_errors);
        }
    }

    /// Works until it is told to end. Returns the frames that were lost then.
    pub(super) fn run(mut self, waker: &Waker, commands: &Receiver<Command>) -> Result<u64, KernelError> {
        let mut ends_at = None;
        loop {
            // Before anything is read: after a standstill a PAUSE that has run out is not taken for one that lasts.
            self.lanes.handle_timeout(self.clock.now());
            let read = self.receive()?;
            let now = self.clock.now();
            self.hear_of_passed(now)?;
            let sent = self.send(now);
            for (port, priority, want) in self.lanes.openable(now) {
                let is_open = self.kernel.command(port, priority, want)?;
                if want == Want::Open {
                    self.lanes.opened(port, priority, is_open);
                }
            }
            if self.alive_at <= now {
                self.alive_at = now + ALIVE;
                self.kernel.set_alive(true)?;
                self.hear_of_lanes(now)?;
                self.probe(now);
            }
            while let Ok(command) = commands.try_recv() {
                match command {
                    Command::Look(tell) => _ = tell.send(self.seen(now)?),
                    Command::Freeze(tell) => {
                        self.freeze()?;
                        let _ = tell.send(());
                    }
                    Command::Thaw => {
                        self.lanes.freeze(false);
                        self.kernel.attach(&self.devices)?;
                    }
                    Command::HandOver(tell) => {
                        let _ = tell.send(self.hand_over()?);
                        return Ok(0);
                    }
                    Command::End => {
                        self.lanes.leave(now);
                        ends_at = Some(now + DRAINS);
                    }
                }
            }
            // With all lanes open nothing is on its way through here that the kernel's frames could overtake.
            if ends_at.is_some_and(|at| (self.lanes.are_open() && !read && !sent) || at <= now) {
                return self.end();
            }
            if !read && !sent {
                self.rest(waker, now)?;
            }
        }
    }

    /// What the kernel has passed out of a port that frames wait for.
    fn hear_of_passed(&mut self, now: Time) -> Result<(), KernelError> {
        for port in PORTS {
            if self.lanes.waits_for(port) {
                let passed = self.kernel.passed(port)?;
                self.lanes.passed(port, passed, now);
            }
        }
        Ok(())
    }

    /// What the kernel has passed from R to L, of each priority, for the virtual queue.
    fn hear_of_lanes(&mut self, now: Time) -> Result<(), KernelError> {
        if self.settings.params.virtual_queue.is_none() {
            return Ok(());
        }
        for (priority, before) in self.settings.priorities.iter().zip(&mut self.passed) {
            let passed = self.kernel.counters(Port::Remote, *priority)?.passed_bytes;
            let since = passed - std::mem::replace(before, passed);
            self.lanes.passed_of_lane(*priority, Bytes::new(since), now);
        }
        Ok(())
    }

    /// Sends a probe if one is due, and says what has been found of the long link.
    fn probe(&mut self, now: Time) {
        if let Some(probe) = self.prober.poll(now) {
            // One for which there is no room has no answer.
            write(&self.devices.queues[Port::Remote as usize], &probe, &mut self.send_errors);
        }
        if let Some(finding) = self.prober.poll_finding() {
            finding.log(self.settings.probing, self.prober.figures());
        }
    }

    /// Lets nothing pass any more: whatever comes is stored here.
    fn freeze(&mut self) -> Result<(), KernelError> {
        self.lanes.freeze(true);
        for port in PORTS {
            for priority in &self.settings.priorities {
                self.kernel.command(port, *priority, Want::Close)?;
            }
        }
        Ok(())
    }

    /// Takes out all that waits, when another's programs have taken the place of these.
    fn hand_over(&mut self) -> Result<Handover, KernelError> {
        // What the kernel has sent here before.
        let until = self.clock.now() + SETTLES;
        while self.receive()? || self.clock.now() < until {}
        Ok(self.lanes.hand_over(self.clock.now()))
    }

    /// Lets everything pass from here on.
    fn end(&mut self) -> Result<u64, KernelError> {
        self.kernel.set_alive(false)?;
        // What the kernel has sent here meanwhile.
        let until = self.clock.now() + SETTLES;
        while self.receive()? || self.clock.now() < until {}
        let now = self.clock.now();
        self.lanes.left(now);
        while self.send(now) {}
        let lost: u64 =
            PORTS.iter().flat_map(|port| self.lanes.lanes(*port, now)).map(|(_, lane)| lane.frames).sum();
        if lost > 0 {
            error!(frames = lost, "frames that waited are lost: their port was paused to the end");
        }
        info!("relay has left: the kernel passes everything on");
        Ok(lost)
    }

    /// Reads what has come, of both ports, and returns whether there was anything.
    fn receive(&mut self) -> Result<bool, KernelError> {
        let mut some = false;
        for port in PORTS {
            for _ in 0..BATCH {
                let length = match self.devices.queues[port as usize].recv(&mut self.buffer) {
                    Ok(length) => length,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => return Err(self.gone(port, &error)),
                };
                some = true;
                let (now, frame) = (self.clock.now(), &self.buffer[..length]);
                if port == Port::Remote && self.prober.take(frame) {
                    continue;
                }
                if is_control(frame) {
                    let arrived = arrived(frame, now, self.settings.dead_after);
                    self.lanes.obey(port, frame, arrived, now);
                } else if let Some(priority) = self.settings.classes.of(frame) {
                    self.lanes.store(port, priority, frame, now);
                } else {
                    // The host's own, or of a kind that the kernel sees otherwise: it is in no lane.
                    let is_sent =
                        write(&self.devices.queues[across(port) as usize], frame, &mut self.send_errors);
                    self.send_errors += u64::from(!is_sent);
                }
            }
        }
        Ok(some)
    }

    fn gone(&self, port: Port, error: &dyn std::fmt::Display) -> KernelError {
        error_of(&format!("{}: {error}", self.devices.stores[port as usize].name))
    }

    /// Sends what may leave, on both ports, and returns whether there was anything.
    fn send(&mut self, now: Time) -> bool {
        let mut some = false;
        for port in PORTS {
            let (device, errors) = (&self.devices.queues[port as usize], &mut self.send_errors);
            for _ in 0..BATCH {
                if !self.lanes.transmit(port, now, |frame| write(device, frame, errors)) {
                    break;
                }
                some = true;
            }
        }
        some
    }

    fn rest(&self, waker: &Waker, now: Time) -> Result<(), KernelError> {
        let until = self.lanes.poll_timeout(now).min(self.alive_at);
        let sleep = Duration::from_nanos(until.since(self.clock.now()).as_ps() / 1000);
        let timeout = Timespec::try_from(sleep).ok();
        let [local, remote] = &self.devices.queues;
        let files = &mut [
            PollFd::new(local, PollFlags::IN),
            PollFd::new(remote, PollFlags::IN),
            PollFd::new(waker, PollFlags::IN),
        ];
        match poll(files, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error_of(&format!("the relay's devices: {error}"))),
        }
        for (file, port) in files.iter().zip(PORTS) {
            if file.revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
                return Err(self.gone(port, &"the device is gone"));
            }
        }
        if !files[2].revents().is_empty() {
            waker.clear();
        }
        Ok(())
    }

    fn seen(&mut self, now: Time) -> Result<Seen, KernelError> {
        let mut lanes = Vec::new();
        for port in PORTS {
            for (priority, figures) in self.lanes.lanes(port, now) {
                lanes.push((port, priority, figures, self.kernel.counters(port, priority)?));
            }
        }
        Ok(Seen {
            uptime_ns: now.since(self.started).as_ps() / 1000,
            ports: PORTS.map(|port| self.lanes.port(port)),
            states: [State::Up; 2],
            lanes,
            link: self.prober.figures(),
            send_errors: self.send_errors,
        })
    }
}

/// Returns when a MAC control frame that is read now came to the host: the kernel writes that into what pads it. One that is too short for
/// that came now, and so did one that says to have waited longer than the kernel waits for a process.
fn arrived(frame: &[u8], now: Time, dead_after: Span) -> Time {
    let Some(stamp) = frame.get(STAMP..STAMP + 8) else { return now };
    let at_ns = u64::from_ne_bytes(stamp.try_into().expect("eight bytes"));
    let waited = Span::from_ps(monotonic_ns().saturating_sub(at_ns).saturating_mul(1000));
    if waited > dead_after {
        return now;
    }
    Time::from_ps(now.as_ps().saturating_sub(waited.as_ps()))
}

/// An error that nothing on the host explains.
pub(super) fn error_of(message: &str) -> KernelError {
    KernelError { message: message.into(), remedy: "report it".into() }
}

/// Writes a frame to a device, and returns whether it is done with: a device without room takes it later.
fn write(device: &SyncDevice, frame: &[u8], errors: &mut u64) -> bool {
    match device.send(frame) {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::WouldBlock => false,
        Err(_) => {
            *errors += 1;
            true
        }
    }
}
