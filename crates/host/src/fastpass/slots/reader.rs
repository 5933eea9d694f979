//! A thread that reads packets of the host from a queue of the TUN device, and puts them where they wait for their slots; without
//! an arbiter it sends them at once.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use rustix::event::{poll, PollFd, PollFlags};
use rustix::io::Errno;
use tun_rs::SyncDevice;

use super::fill::Fill;
use super::packet::{Shape, VIRTIO_BYTES};
use super::queue::LARGE_BUFFER;
use super::shared::Shared;

/// Packets that are read before something else is looked at.
const AT_ONCE: usize = 64;
/// Bytes of the wire that leave before more is read, without an arbiter.
const SENT_AT_ONCE: usize = 1 << 18;

/// A thread's part.
pub struct Reader<'a> {
    /// What all threads share.
    pub shared: &'a Shared,
    /// The queue of the device that it reads.
    pub device: &'a SyncDevice,
    /// The name of the device.
    pub name: &'a str,
    /// What ends its sleep: the carriage ends, or its mode has changed.
    pub kick: &'a OwnedFd,
}

impl Reader<'_> {
    /// Reads until the carriage ends, or the device does.
    pub fn run(&self) {
        let (mut buffer, mut fill) = (vec![0; LARGE_BUFFER], Fill::default());
        while !self.shared.ends.load(Ordering::SeqCst) {
            match self.read(&mut buffer, &mut fill) {
                Ok(count) if count > 0 => continue,
                Ok(_) => {}
                Err(error) => return self.shared.device_gone(self.device, self.name, &error),
            }
            let mut either = [PollFd::new(self.device, PollFlags::IN), PollFd::new(self.kick, PollFlags::IN)];
            let result = poll(&mut either, None);
            let (device, kick) = (either[0].revents(), either[1].revents());
            if matches!(result, Err(error) if error != Errno::INTR) {
                return self.shared.device_gone(self.device, self.name, &io::Error::last_os_error());
            }
            if !kick.is_empty() {
                let _ = rustix::io::read(self.kick, &mut [0; 8]);
                self.send_all(&mut fill);
            }
            // A device that is gone can be read, and reading says so; one that is not up says so to writers only.
            if device.contains(PollFlags::ERR) && !device.contains(PollFlags::IN) {
                let gone = io::Error::from(Errno::BADFD);
                return self.shared.device_gone(self.device, self.name, &gone);
            }
        }
    }

    /// Reads what there is, some packets at most, and returns how many they were.
    fn read(&self, buffer: &mut Vec<u8>, fill: &mut Fill) -> io::Result<usize> {
        for count in 0..AT_ONCE {
            match self.device.recv(buffer) {
                Ok(filled) => self.take(buffer, filled, fill),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    return Ok(count);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(AT_ONCE)
    }

    /// Takes a packet.
    fn take(&self, buffer: &mut Vec<u8>, filled: usize, fill: &mut Fill) {
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
        // The mode is looked at after the packet has been put there: if it changes now, who changed it sends the packet.
        if shared.unscheduled.load(Ordering::SeqCst) {
            while shared.send(fill, to, 0, SENT_AT_ONCE, &mut || None) {}
        } else if shared.need(queue) > queue.told.load(Ordering::SeqCst) {
            shared.wake();
        }
    }

    /// Sends what has waited for slots, if there are none any more.
    fn send_all(&self, fill: &mut Fill) {
        for to in 0..self.shared.queues.len() {
            while self.shared.unscheduled.load(Ordering::SeqCst)
                && self.shared.send(fill, to as u16, 0, SENT_AT_ONCE, &mut || None)
            {}
        }
    }
}
