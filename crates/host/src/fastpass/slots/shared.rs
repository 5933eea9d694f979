//! The state that the threads of the carriage share.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use clearway_proto::fastpass::endpoint::Probe;
use clearway_proto::fastpass::fcp::{Address, Path};
use clearway_proto::fastpass::receipts::SlotHeader;
use tun_rs::SyncDevice;

use super::counts::{Count, Counts};
use super::fill::Fill;
use super::ports::Ports;
use super::queue::{lock, Pool, Queue};
use super::table::Table;
use super::wire::{Header, Wire};
use crate::daemon::output::Problem;
use crate::datagram::driver::Waker;

/// Everything that is not a thread's own.
#[derive(Debug)]
pub struct Shared {
    /// This endpoint.
    pub own: Address,
    /// The address that encapsulated packets for each endpoint go to.
    pub data: Vec<SocketAddr>,
    /// The number of ports that they come from: that of `data` is the first.
    pub paths: u16,
    /// The prefixes behind each endpoint.
    pub table: Table,
    /// The packets that wait for each endpoint.
    pub queues: Vec<Queue>,
    /// The most that may wait for one, in bytes.
    pub limit: usize,
    /// The cost of datagrams on the wire.
    pub wire: Wire,
    /// Bytes of the wire that a slot has.
    pub slot_bytes: AtomicUsize,
    /// Buffers that are not used.
    pub pool: Pool,
    /// The sockets.
    pub ports: Ports,
    /// Counts.
    pub counts: Counts,
    /// Whether there is no arbiter, and readers send what they read.
    pub unscheduled: AtomicBool,
    /// Whether threads are to end.
    pub ends: AtomicBool,
    /// Headers that have come, for the driver.
    headers: Mutex<Vec<(Address, SlotHeader)>>,
    /// Headers of receipts that have come, for the driver.
    receipts: Mutex<Vec<(Address, SlotHeader)>>,
    waker: Waker,
    /// Whether the driver has been woken and has not looked since.
    woken: AtomicBool,
    trouble: OnceLock<Problem>,
}

/// The arguments of [`Shared::new`].
pub struct Parts {
    /// This endpoint.
    pub own: Address,
    /// The address that encapsulated packets for each endpoint go to.
    pub data: Vec<SocketAddr>,
    /// The number of paths.
    pub paths: u16,
    /// The prefixes behind each endpoint.
    pub table: Table,
    /// The most that may wait for one, in bytes.
    pub limit: usize,
    /// The cost of datagrams on the wire.
    pub wire: Wire,
    /// Bytes of the wire that a slot has.
    pub slot_bytes: usize,
    /// The sockets.
    pub ports: Ports,
    /// The waker of the driver.
    pub waker: Waker,
}

impl Shared {
    /// Nothing waits; packets leave in slots.
    pub fn new(parts: Parts) -> Shared {
        let Parts { own, data, paths, table, limit, wire, slot_bytes, ports, waker } = parts;
        Shared {
            own,
            queues: data.iter().map(|_| Queue::default()).collect(),
            data,
            paths,
            table,
            limit,
            wire,
            slot_bytes: AtomicUsize::new(slot_bytes),
            pool: Pool::default(),
            ports,
            counts: Counts::default(),
            unscheduled: AtomicBool::new(false),
            ends: AtomicBool::new(false),
            headers: Mutex::default(),
            receipts: Mutex::default(),
            waker,
            woken: AtomicBool::new(false),
            trouble: OnceLock::new(),
        }
    }

    /// Slots that what waits for a destination needs.
    pub fn need(&self, queue: &Queue) -> u32 {
        u32::try_from(queue.cost().div_ceil(self.slot_bytes.load(Ordering::Relaxed) as u64))
            .unwrap_or(u32::MAX)
    }

    /// Wakes the driver, unless it has been woken and has not looked yet.
    pub fn wake(&self) {
        if !self.woken.swap(true, Ordering::SeqCst) {
            self.waker.wake();
        }
    }

    /// The driver looks: what comes from now on wakes it again.
    pub fn looks(&self) {
        self.woken.store(false, Ordering::SeqCst);
    }

    /// Keeps a header for the driver.
    pub fn add_header(&self, source: Address, header: SlotHeader) {
        lock(&self.headers).push((source, header));
    }

    /// Keeps the header of a receipt for the driver.
    pub fn add_receipt(&self, source: Address, header: SlotHeader) {
        lock(&self.receipts).push((source, header));
    }

    /// Takes the headers of receipts that have come.
    pub fn take_receipts(&self, into: &mut Vec<(Address, SlotHeader)>) {
        std::mem::swap(&mut *lock(&self.receipts), into);
    }

    /// Sends a packet without content; what the kernel does not take is lost.
    pub fn probe(&self, probe: &Probe) {
        let header = Header { source: self.own, slot: Some(probe.header), is_receipt: probe.is_receipt };
        if let Some(&to) = self.data.get(usize::from(probe.to)) {
            self.counts.probes.add(1);
            self.counts.unsent.add(usize::from(!self.ports.send_one(probe.path, to, &header.to_bytes())));
        }
    }

    /// Takes the headers that have come.
    pub fn take_headers(&self, into: &mut Vec<(Address, SlotHeader)>) {
        std::mem::swap(&mut *lock(&self.headers), into);
    }

    /// Keeps the first trouble that a thread ends with, and wakes the driver for it.
    pub fn fail(&self, problem: Problem) {
        if !self.ends.load(Ordering::SeqCst) {
            tracing::error!("{}", problem.message);
            let _ = self.trouble.set(problem);
            self.waker.wake();
        }
    }

    /// The trouble that a thread has ended with.
    pub fn trouble(&self) -> Option<&Problem> {
        self.trouble.get()
    }

    /// Sends up to `budget` bytes of the wire of what waits for a destination, and returns whether anything was taken. `header`
    /// is called if so, and gives the header of the slot if there is one.
    pub fn send(
        &self,
        fill: &mut Fill,
        to: Address,
        path: Path,
        budget: usize,
        header: &mut dyn FnMut() -> Option<SlotHeader>,
    ) -> bool {
        let queue = &self.queues[usize::from(to)];
        let _claimed = queue.claim();
        let none = Header { source: self.own, slot: None, is_receipt: false };
        let any = queue.with(|waiting| fill.take(waiting, none, self.wire, budget));
        self.counts.unsendable.add(fill.oversized());
        if any {
            let slot = header();
            if slot.is_some() {
                fill.set_header(Header { slot, ..none });
            }
            let sent = self.ports.send(path, self.data[usize::from(to)], fill, slot.is_none());
            let sum: &Count = if slot.is_some() { &self.counts.scheduled } else { &self.counts.unscheduled };
            sum.add(sent.bytes);
            self.counts.unsent.add(sent.failed);
        }
        if let Some(packet) = fill.stays() {
            queue.with(|waiting| waiting.put_back(packet, self.wire));
        }
        self.pool.give(fill.done());
        any
    }

    /// The TUN device is gone, or its file cannot be read or written any more: this ends the carriage.
    pub fn device_gone(&self, device: &SyncDevice, name: &str, error: &std::io::Error) {
        let is_there = device.name().is_ok();
        let told = if is_there {
            format!("TUN device {name}: {error}")
        } else {
            format!("TUN device {name} is gone")
        };
        self.fail(Problem::new(told, "start the endpoint again; nothing but it may delete the device"));
    }
}
