//! The thread that receives encapsulated packets and writes them to the TUN device, in the order in which they came.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use clearway_proto::fastpass::fcp::Address;
use rustix::event::{poll, PollFd, PollFlags};
use rustix::io::Errno;
use tun_rs::SyncDevice;

use super::join::Joiner;
use super::ports::control;
use super::shared::Shared;
use super::wire::Header;
use crate::daemon::output::Problem;

/// Receipts that are taken before the driver is woken for the headers that they brought.
const AT_ONCE: usize = 64;
/// Bytes of the longest run of joined datagrams.
const LONGEST: usize = 65_535;

/// A thread's part.
pub struct Receiver<'a> {
    /// The part that all threads share.
    pub shared: &'a Shared,
    /// The queues of the device.
    pub devices: &'a [SyncDevice],
    /// The name of the device.
    pub name: &'a str,
    /// An event that ends its sleep: the carriage ends.
    pub kick: &'a OwnedFd,
    /// The last header of each endpoint: all datagrams of a slot have the same.
    pub last: BTreeMap<Address, u32>,
}

impl Receiver<'_> {
    /// Receives until the carriage ends.
    pub fn run(mut self) {
        let (mut buffer, mut control) = (vec![0; LONGEST], control());
        while !self.shared.ends.load(Ordering::SeqCst) {
            let socket = self.shared.ports.receiving();
            let mut either = [PollFd::new(socket, PollFlags::IN), PollFd::new(self.kick, PollFlags::IN)];
            let waited = poll(&mut either, None);
            if !either[1].revents().is_empty() {
                let _ = rustix::io::read(self.kick, &mut [0; 8]);
            }
            let received = match waited {
                Err(error) if error != Errno::INTR => Err(error.into()),
                _ => self.receive(&mut buffer, &mut control),
            };
            if let Err(error) = received {
                let told = format!("receiving data: {error}");
                return self.shared.fail(Problem::new(told, "start the endpoint again"));
            }
        }
    }

    /// Receives what has come, some runs of datagrams at most, and wakes the driver if they brought headers.
    fn receive(&mut self, buffer: &mut [u8], control: &mut [u8]) -> io::Result<()> {
        let mut any = false;
        for _ in 0..AT_ONCE {
            let Some((from, bytes, segment)) = self.shared.ports.receive(buffer, control)? else { break };
            any |= self.take(from, &buffer[..bytes], segment);
        }
        if any {
            self.shared.wake();
        }
        Ok(())
    }

    /// Takes datagrams, and returns whether they brought a header.
    fn take(&mut self, from: SocketAddr, bytes: &[u8], segment: usize) -> bool {
        let (shared, mut any) = (self.shared, false);
        shared.counts.received.add(bytes.len());
        let (devices, name) = (self.devices, self.name);
        let mut device = &devices[0];
        let mut joiner = Joiner::new(device.udp_gso());
        for datagram in bytes.chunks(segment) {
            let Some((header, records)) = Header::read(datagram) else {
                shared.counts.malformed.add(1);
                continue;
            };
            if !self.is_from(header.source, from) {
                shared.counts.strange.add(1);
                continue;
            }
            // What an endpoint's packets were written to last is where the kernel puts the answers: so all of one endpoint go by
            // one queue, and in order.
            device = &devices[usize::from(header.source) % devices.len()];
            let mut write = |buffers: &[IoSlice<'_>]| write(shared, device, name, buffers);
            if let Some(slot) = header.slot {
                if header.is_receipt {
                    shared.add_receipt(header.source, slot);
                    any = true;
                } else if self.last.insert(header.source, slot.number) != Some(slot.number) {
                    shared.add_header(header.source, slot);
                    any = true;
                }
            }
            for record in records {
                match record {
                    Ok(record) => joiner.add(record, &mut write),
                    Err(_) => shared.counts.malformed.add(1),
                }
            }
        }
        joiner.finish(&mut |buffers| write(shared, device, name, buffers));
        any
    }

    /// Returns whether an endpoint's data comes from this address.
    fn is_from(&self, source: Address, from: SocketAddr) -> bool {
        let shared = self.shared;
        source != shared.own
            && shared.data.get(usize::from(source)).is_some_and(|data| {
                let port = from.port().checked_sub(data.port());
                data.ip() == from.ip() && port.is_some_and(|port| port < shared.paths)
            })
    }
}

/// Writes a packet to the device.
fn write(shared: &Shared, device: &SyncDevice, name: &str, buffers: &[IoSlice<'_>]) {
    shared.counts.writes.add(1);
    if let Err(error) = device.send_vectored(buffers) {
        shared.counts.unwritten.add(1);
        if Errno::from_io_error(&error) == Some(Errno::BADFD) {
            shared.device_gone(device, name, &error);
        }
    }
}
