//! Slots: a host's packets wait for the slots that they were granted, and leave in them.
//!
//! What the host sends to the prefixes of other endpoints is routed to a TUN device; everything else, such as ARP, NTP, PTP and the
//! endpoint's own packets, goes past it. From there it takes this way, a file for each part:
//!
//! 1. `device`: the TUN device and its routes. The kernel gives super-packets of up to 64 kB, as to a network card that cuts them.
//! 2. `reader`: a thread that reads them, finds their destinations (`table`) and queues them (`queue`), destination by destination.
//! 3. `fill`: which packets, and pieces of super-packets (`packet`), leave in a slot.
//! 4. `wire`: the format of the datagrams that they leave in, and what these cost on the wire.
//! 5. `ports`: the sockets, one for each path. Many datagrams leave with one call of the kernel (UDP GSO).
//! 6. `receiver`: a thread that receives datagrams, joins the pieces (`join`) and writes them to its own TUN device.
//!
//! The driver's thread sends, when a slot begins; without an arbiter the reader does, as soon as it has read. What is queued too
//! long is dropped (`queue` says why), and congestion is then the business of the kernel's TCP.
//!
//! Beside the slots leave receipts and probes, datagrams without records, by which endpoints learn which paths are dead.
//!
//! The data is not sealed, other than FCP: see `wire`.

mod counts;
mod device;
mod fill;
mod join;
mod packet;
mod ports;
mod queue;
mod reader;
mod receiver;
mod settings;
mod shared;
mod table;
mod wire;

pub use self::settings::Settings;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::thread::JoinHandle;

use clearway_proto::fastpass::endpoint::{Mode, Probe};
use clearway_proto::fastpass::fcp::{Address, Grant};
use clearway_proto::fastpass::receipts::SlotHeader;
use clearway_proto::units::{Span, Time};
use rustix::event::{eventfd, EventfdFlags};
use rustix::process::setpriority_process;
use tun_rs::SyncDevice;

use self::fill::{Fill, MOST_BYTES};
use self::ports::Ports;
use self::reader::Reader;
use self::receiver::Receiver;
use self::shared::{Parts, Shared};
use self::table::Table;
use self::wire::Wire;
use crate::daemon::output::Problem;
use crate::datagram::driver::Waker;
use crate::fastpass::carriage::{Carriage, Figures};
use crate::fastpass::reach::Reach;

/// Super-packets of 64 kB that a queue takes at least.
const LEAST_QUEUED: usize = 8 * 65_536;
/// Bytes that the kernel may hold of a socket before it takes no more, besides two slots.
const UNSENT: usize = 1 << 18;

/// Super-packets of fewer pieces than this cost more than what is left over at the end of slots.
const FEW_PIECES: usize = 16;
/// The priority of threads that carry packets, of -20 (first) to 19.
const NICENESS: i32 = -15;

/// The carriage of an endpoint that sends in slots. When it is dropped its threads end, and the device is gone with its routes.
pub struct Slots {
    shared: Arc<Shared>,
    reach: Reach,
    fill: Fill,
    /// Headers that are being told.
    headers: Vec<(Address, SlotHeader)>,
    threads: Vec<(Arc<OwnedFd>, JoinHandle<()>)>,
}

impl Slots {
    /// Makes the device and its routes, binds the sockets, and starts the threads. Needs `CAP_NET_ADMIN`, `ip` of iproute2, and that
    /// the calling thread is in the network namespace of the host.
    pub fn open(reach: &Reach, settings: &Settings, waker: Waker) -> Result<Slots, Problem> {
        let wire = wire_of(reach)?;
        let slot_bytes = slot_bytes(reach, settings.guard, wire)?;
        let data: Vec<SocketAddr> =
            reach.places.iter().map(|place| SocketAddr::new(place.data, settings.port)).collect();
        let own = data[usize::from(reach.own)];
        let paths = reach.paths.max(1);
        let ports = Ports::open(own.ip(), own.port(), paths, UNSENT + 2 * slot_bytes)?;
        let queued =
            (reach.rate.as_bps() as u128 * u128::from(settings.queue.as_ps()) / 8_000_000_000_000) as usize;
        let devices: Arc<[SyncDevice]> = device::open(reach, settings, together(wire, slot_bytes))?.into();
        let shared = Arc::new(Shared::new(Parts {
            own: reach.own,
            data,
            paths,
            table: Table::new(reach),
            limit: queued.max(LEAST_QUEUED),
            wire,
            slot_bytes,
            ports,
            waker,
        }));
        let reach = reach.clone();
        let mut slots =
            Slots { shared, reach, fill: Fill::default(), headers: Vec::new(), threads: Vec::new() };
        for queue in 0..devices.len() {
            let (devices, name) = (devices.clone(), settings.tun.clone());
            slots.start("tun-reader", move |shared, kick| {
                Reader::new(shared, &devices[queue], &name, kick).run();
            })?;
        }
        let name = settings.tun.clone();
        slots.start("slot-receiver", move |shared, kick| {
            Receiver { shared, devices: &devices, name: &name, kick, last: BTreeMap::new() }.run();
        })?;
        Ok(slots)
    }

    fn start(
        &mut self,
        name: &str,
        run: impl FnOnce(&Shared, &OwnedFd) + Send + 'static,
    ) -> Result<(), Problem> {
        let told = |error| Problem::bare(format!("a thread of the endpoint: {error}"));
        let kick = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let kick = Arc::new(kick.map_err(|error| told(error.into()))?);
        let (shared, kicked) = (self.shared.clone(), kick.clone());
        let run = move || {
            // What the kernel would do at once is not to wait behind other work. Where this is not allowed it does.
            let _ = setpriority_process(None, NICENESS);
            run(&shared, &kicked);
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(run);
        self.threads.push((kick, thread.map_err(told)?));
        Ok(())
    }

    /// Bytes of the wire that a slot carries, with all headers and gaps.
    pub fn slot_bytes(&self) -> usize {
        self.shared.slot_bytes.load(Ordering::Relaxed)
    }

    fn kick(&self) {
        for (kick, _) in &self.threads {
            // One that is full is one that wakes.
            let _ = rustix::io::write(kick, &1_u64.to_ne_bytes());
        }
    }
}

impl Carriage for Slots {
    fn backlog(&mut self, _now: Time, tell: &mut dyn FnMut(Address, u32)) {
        self.shared.looks();
        for (to, queue) in (0..).zip(&self.shared.queues) {
            let need = self.shared.need(queue);
            if queue.told.swap(need, Ordering::SeqCst) != need {
                tell(to, need);
            }
        }
    }

    fn slot(&mut self, _now: Time, grant: &Grant, header: &mut dyn FnMut() -> SlotHeader) -> bool {
        let shared = &self.shared;
        if usize::from(grant.destination) >= shared.queues.len() {
            return false;
        }
        // The endpoint counts one less, whether anything leaves or not.
        let told = &shared.queues[usize::from(grant.destination)].told;
        told.store(told.load(Ordering::SeqCst).saturating_sub(1), Ordering::SeqCst);
        let budget = self.slot_bytes();
        let sent = shared.send(&mut self.fill, grant.destination, grant.path, budget, &mut || Some(header()));
        if sent { &shared.counts.slots_used } else { &shared.counts.slots_empty }.add(1);
        sent
    }

    fn headers(&mut self, tell: &mut dyn FnMut(Address, SlotHeader)) {
        self.shared.looks();
        self.shared.take_headers(&mut self.headers);
        self.headers.drain(..).for_each(|(source, header)| tell(source, header));
    }

    fn receipts(&mut self, tell: &mut dyn FnMut(Address, SlotHeader)) {
        self.shared.take_receipts(&mut self.headers);
        self.headers.drain(..).for_each(|(source, header)| tell(source, header));
    }

    fn probe(&mut self, probe: &Probe) {
        self.shared.probe(probe);
    }

    fn mode(&mut self, _now: Time, mode: Mode) {
        self.shared.unscheduled.store(mode == Mode::Unscheduled, Ordering::SeqCst);
        // What waits has been waiting for slots.
        self.kick();
    }

    /// A guard that leaves no room for a packet is not taken: one packet a slot is sent whatever the clocks say.
    fn set_guard(&mut self, guard: Span) {
        let wire = self.shared.wire;
        let bytes = slot_bytes(&self.reach, guard, wire).unwrap_or(wire.cost(wire.longest));
        self.shared.slot_bytes.store(bytes, Ordering::Relaxed);
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn trouble(&self) -> Option<Problem> {
        self.shared.trouble().cloned()
    }

    fn figures(&self) -> Figures {
        let waiting_bytes = self.shared.queues.iter().map(queue::Queue::cost).sum();
        Figures { waiting_bytes, ..self.shared.counts.figures() }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        self.kick();
        for (_, thread) in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The cost of datagrams on the wire, where all data addresses are of one version of IP.
fn wire_of(reach: &Reach) -> Result<Wire, Problem> {
    let v6 = reach.places[usize::from(reach.own)].data.is_ipv6();
    if let Some(place) = reach.places.iter().find(|place| place.data.is_ipv6() != v6) {
        let told = format!("the data address {} of {} is of another version of IP", place.data, place.name);
        return Err(Problem::new(told, "give all endpoints data addresses of one version"));
    }
    device::mtu(reach)?;
    Ok(Wire { outer: if v6 { 48 } else { 28 }, longest: reach.mtu as usize })
}

/// Pieces of super-packets that fit both into one call of the kernel and, unless these are few, into a slot.
fn together(wire: Wire, slot_bytes: usize) -> usize {
    let (call, slot) = (MOST_BYTES / wire.longest, slot_bytes / wire.cost(wire.longest));
    if slot < FEW_PIECES {
        call
    } else {
        call.min(slot)
    }
}

/// Bytes of the wire that a slot carries.
fn slot_bytes(reach: &Reach, guard: Span, wire: Wire) -> Result<usize, Problem> {
    let used = reach.slot.as_ps().saturating_sub(guard.as_ps());
    let bytes = (u128::from(reach.rate.as_bps()) * u128::from(used) / 8_000_000_000_000) as usize;
    let needed = wire.cost(wire.longest);
    if bytes < needed {
        let (slot, guard) = (reach.slot.as_us_f64(), guard.as_us_f64());
        return Err(Problem::new(
            format!("a slot of {slot} us, less {guard} us, carries {bytes} bytes; a packet takes {needed}"),
            "make the slot longer, or the guard shorter",
        ));
    }
    Ok(bytes)
}
