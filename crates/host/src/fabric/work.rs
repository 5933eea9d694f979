//! A software network by the clock: its devices, and the loop that moves frames between them and the machine.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::time::Duration;

use clearway_proto::units::{Span, Time};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use tun_rs::SyncDevice;

use super::figures::{Figures, Lateness};
use super::network::Network;
use super::plan::{Kind, Plan};
use crate::daemon::output::Problem;
use crate::daemon::stops;
use crate::datagram::clock::Clock;
use crate::tap;
use crate::testbed::clock::monotonic_ns;

/// Frames that wait in the kernel for the network to take them: a host whose adapter is paused keeps this many, and drops more.
const RING: u32 = 32_768;
/// Frames that are read from a device before anything else is looked at.
const BATCH: usize = 32;
/// Bytes that wait at a host's adapter above which no more is taken from the host.
const TAKEN_AHEAD: u64 = 100_000;
/// The longest sleep, which bounds how late a signal is noticed.
const LONGEST_SLEEP: Span = Span::from_ms(20);
/// The longest frame, in bytes.
const LONGEST: usize = 65_600;

/// A device, and the link that begins there.
struct Port {
    device: SyncDevice,
    name: String,
    link: usize,
    is_host: bool,
    /// Whether more may wait in the device, as it had not run empty when the network last took from it.
    has_more: bool,
}

/// A network with its devices.
pub struct Work {
    network: Network,
    ports: Vec<Port>,
    /// The port at the end of each link, if there is a device.
    port_of: Vec<Option<usize>>,
    clock: Clock,
    samples: Option<BufWriter<File>>,
    sample_every: Span,
    send_errors: u64,
    buffer: Vec<u8>,
}

impl Work {
    /// Makes the devices of a plan; samples go to this file. They are down, and go with this.
    pub fn open(plan: &Plan, samples: Option<File>) -> Result<Work, Problem> {
        let network = Network::new(plan).map_err(Problem::bare)?;
        let mut ports = Vec::new();
        let mut port_of = vec![None; plan.links.len()];
        for (link, of) in plan.links.iter().enumerate() {
            let Some(name) = &of.device else { continue };
            port_of[link ^ 1] = Some(ports.len());
            let is_host = plan.nodes[of.from].kind == Kind::Host;
            ports.push(Port {
                device: tap::open(name, plan.mtu, RING)?,
                name: name.clone(),
                link,
                is_host,
                has_more: false,
            });
        }
        Ok(Work {
            network,
            ports,
            port_of,
            clock: Clock::start(),
            samples: samples.map(BufWriter::new),
            sample_every: Span::from_ns(plan.sample_every_ns),
            send_errors: 0,
            buffer: vec![0; LONGEST],
        })
    }

    /// Works until a signal comes, and returns its exit status and what was counted.
    pub fn run(mut self) -> Result<(u8, Figures), Problem> {
        let mut sample_at = self.clock.now();
        let status = loop {
            let read = self.receive()?;
            let now = self.clock.now();
            while let Some(at) = self.network.step(now) {
                self.take_for(at)?;
            }
            self.send();
            if sample_at <= now {
                sample_at = (sample_at + self.sample_every).max(now);
                self.sample()?;
            }
            if let Some(status) = stops::status() {
                break status;
            }
            if !read {
                self.rest(sample_at)?;
            }
        };
        let now = self.clock.now();
        self.sample()?;
        if let Some(samples) = &mut self.samples {
            samples.flush().map_err(|error| not_written(&error))?;
        }
        let figures = Figures {
            elapsed_ns: now.since(Time::ZERO).as_ps() / 1000,
            lateness: Lateness::of(self.network.lateness()),
            send_errors: self.send_errors,
            links: self.network.figures(now),
        };
        Ok((status, figures))
    }

    /// Returns whether more is taken from a port now: a host whose adapter has enough waits, and a relay never does.
    fn takes(&self, port: &Port) -> bool {
        !port.is_host || self.network.waiting(port.link) < TAKEN_AHEAD
    }

    /// Takes what the devices have, and returns whether there was anything.
    fn receive(&mut self) -> Result<bool, Problem> {
        let mut some = false;
        for number in 0..self.ports.len() {
            some |= self.take(number, self.clock.now())?;
        }
        Ok(some)
    }

    /// Takes what hosts had waiting at a time that has passed: this process may have stood still, but an adapter has no part in that.
    fn take_for(&mut self, at: Time) -> Result<(), Problem> {
        for number in 0..self.ports.len() {
            if self.ports[number].is_host && self.ports[number].has_more {
                self.take(number, at)?;
            }
        }
        Ok(())
    }

    /// Takes what a device has, as of a time, and returns whether there was anything.
    fn take(&mut self, number: usize, at: Time) -> Result<bool, Problem> {
        let mut some = false;
        self.ports[number].has_more = true;
        for _ in 0..BATCH {
            let port = &self.ports[number];
            if !self.takes(port) {
                break;
            }
            match port.device.recv(&mut self.buffer) {
                Ok(length) => self.network.take(port.link, &self.buffer[..length], at),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // A device that is down gives nothing; one that is gone tells so when it is waited for.
                Err(error) if error.kind() == ErrorKind::WouldBlock || is_down(&error) => {
                    self.ports[number].has_more = false;
                    break;
                }
                Err(error) => return Err(gone(&port.name, &error)),
            }
            some = true;
        }
        Ok(some)
    }

    /// Gives the devices what is for them.
    fn send(&mut self) {
        while let Some((link, frame)) = self.network.give() {
            let Some(port) = self.port_of[link].map(|port| &self.ports[port]) else { continue };
            self.send_errors += u64::from(port.device.send(&frame).is_err());
        }
    }

    fn sample(&mut self) -> Result<(), Problem> {
        let Some(file) = &mut self.samples else { return Ok(()) };
        for sample in self.network.samples(monotonic_ns()) {
            file.write_all(&sample.to_bytes()).map_err(|error| not_written(&error))?;
        }
        Ok(())
    }

    /// Waits for a frame or for the next event.
    fn rest(&self, sample_at: Time) -> Result<(), Problem> {
        let now = self.clock.now();
        let until =
            self.network.poll_timeout().unwrap_or(Time::NEVER).min(sample_at).min(now + LONGEST_SLEEP);
        let sleep = Duration::from_nanos(until.since(now).as_ps() / 1000);
        let waited: Vec<&Port> = self.ports.iter().filter(|port| self.takes(port)).collect();
        let mut files: Vec<PollFd<'_>> =
            waited.iter().map(|port| PollFd::new(&port.device, PollFlags::IN)).collect();
        match poll(&mut files, Timespec::try_from(sleep).ok().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(Problem::bare(format!("the network's devices: {error}"))),
        }
        let is_lost =
            |file: &PollFd<'_>| file.revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL);
        let lost = files.iter().zip(&waited).find(|(file, _)| is_lost(file));
        lost.map_or(Ok(()), |(_, port)| Err(gone(&port.name, &"the device is gone")))
    }
}

fn is_down(error: &io::Error) -> bool {
    [Errno::IO, Errno::BADFD].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn gone(name: &str, error: &dyn std::fmt::Display) -> Problem {
    Problem::bare(format!("{name}: {error}"))
}

fn not_written(error: &io::Error) -> Problem {
    Problem::new(format!("samples: {error}"), "write them where there is room")
}
