//! A thread that reads packets of the host from a queue of the TUN device, and puts them where they wait for their slots; without
//! an arbiter it sends them at once.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use clearway_proto::fastpass::fcp::Address;
use rustix::event::{poll, PollFd, PollFlags};
use rustix::io::Errno;
use tun_rs::SyncDevice;

use super::fill::Fill;
use super::packet::{Shape, VIRTIO_BYTES};
use super::queue::LARGE_BUFFER;
use super::shared::Shared;

/// Packets that are read before they are sent, or the driver is told of them.
const AT_ONCE: usize = 8;
/// Bytes of the wire that leave before more is read, without an arbiter.
const SENT_AT_ONCE: usize = 1 << 18;

/// A thread's part.
pub struct Reader<'a> {
    shared: &'a Shared,
    /// The queue of the device that it reads.
    device: &'a SyncDevice,
    /// The name of the device.
    name: &'a str,
    /// An event that ends its sleep: the carriage ends, or its mode has changed.
    kick: &'a OwnedFd,
    /// Destinations of packets that have just been read.
    touched: Vec<Address>,
    /// Whether there was no arbiter when this was last asked.
    unscheduled: bool,
    fill: Fill,
}

impl<'a> Reader<'a> {
    /// A thread's part that has read nothing yet.
    pub fn new(shared: &'a Shared, device: &'a SyncDevice, name: &'a str, kick: &'a OwnedFd) -> Reader<'a> {
        Reader { shared, device, name, kick, touched: Vec::new(), unscheduled: false, fill: Fill::default() }
    }

    /// Reads until the carriage ends, or the device does.
    pub fn run(&mut self) {
        let mut buffer = vec![0; LARGE_BUFFER];
        while !self.shared.ends.load(Ordering::SeqCst) {
            let read = match self.read(&mut buffer) {
                Ok(count) => count,
                Err(error) => return self.shared.device_gone(self.device, self.name, &error),
            };
            self.send();
            if read > 0 {
                continue;
            }
            let mut either = [PollFd::new(self.device, PollFlags::IN), PollFd::new(self.kick, PollFlags::IN)];
            let waited = poll(&mut either, None);
            let (device, kick) = (either[0].revents(), either[1].revents());
            if !kick.is_empty() {
                let _ = rustix::io::read(self.kick, &mut [0; 8]);
            }
            let error = match waited {
                Err(error) if error != Errno::INTR => error,
                // The device has been deleted.
                Ok(_) if device.contains(PollFlags::ERR) => Errno::BADFD,
                _ => continue,
            };
            return self.shared.device_gone(self.device, self.name, &io::Error::from(error));
        }
    }

    /// Reads what there is, some packets at most, and returns how many they were.
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        for count in 0..AT_ONCE {
            match self.device.recv(buffer) {
                Ok(filled) => self.take(buffer, filled),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    return Ok(count);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(AT_ONCE)
    }

    /// Takes a packet.
    fn take(&mut self, buffer: &mut Vec<u8>, filled: usize) {
        let shared = self.shared;
        shared.counts.reads.add(1);
        let Ok(shape) = Shape::read(&buffer[..filled]) else { return shared.counts.unsendable.add(1) };
        let to = shared.table.destination(&buffer[VIRTIO_BYTES..filled]);
        let Some(to) = to.filter(|to| *to != shared.own) else { return shared.counts.unrouted.add(1) };
        let packet = shared.pool.packet(buffer, filled, &shape);
        let queue = &shared.queues[usize::from(to)];
        if let Err(packet) = queue.push(packet, shared.wire, shared.limit) {
            shared.counts.full.add(1);
            shared.pool.give(std::iter::once(packet));
        }
        if !self.touched.contains(&to) {
            self.touched.push(to);
        }
    }

    /// Sends what has been read if there are no slots, and wakes the driver if it needs more of them than the driver knows of.
    /// The mode is looked at after packets have been queued: if it changes now, who has changed it kicks this thread.
    fn send(&mut self) {
        let shared = self.shared;
        let unscheduled = shared.unscheduled.load(Ordering::SeqCst);
        if unscheduled && !self.unscheduled {
            // What waits has been waiting for slots.
            self.touched = (0..shared.queues.len()).map(|to| to as Address).collect();
        }
        self.unscheduled = unscheduled;
        for to in self.touched.drain(..) {
            let queue = &shared.queues[usize::from(to)];
            if unscheduled {
                let mut more = true;
                while more && shared.unscheduled.load(Ordering::SeqCst) {
                    more = shared.send(&mut self.fill, to, 0, SENT_AT_ONCE, &mut || None);
                }
            } else if shared.need(queue) > queue.told.load(Ordering::SeqCst) {
                shared.wake();
            }
        }
    }
}
