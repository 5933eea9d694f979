//! The mode `rates`: an endpoint's grants become pacing rates of unmodified TCP sockets of its host.
//!
//! Every 2 ms a look at the sockets to other endpoints tells what each has to send, which is the endpoint's demand. The slots granted
//! for an endpoint, over a window of 10 ms, make the rate of the pair of hosts; it is divided among the sockets of the pair that have
//! something to send, as `SO_MAX_PACING_RATE`, in bytes of payload: of a slot's time on the link, the part that the payload of
//! full-size frames takes (with a payload of 1448 bytes, 52 of headers and 38 of Ethernet: 94.1 %). In the order in which data meets
//! them:
//!
//! 1. `bpf/rates.bpf.c` and `kernel`: the kernel's programs, which look at sockets and set their rates.
//! 2. `sockets` and `framing`: what they have to send, in time on the link.
//! 3. `demand`: the slots that are needed for it.
//! 4. `work`: from slots granted to the rate of a pair; `destination`: to that of each socket.
//! 5. [`watch`]: the process that lifts the limits if this one is killed.
//!
//! # Before the first grant
//!
//! A new connection begins with two packets ([`Settings::initial_window`]) and, like all sockets of a pair without grants, at the
//! pair's *idle rate*: a twentieth of the link divided by the number of other endpoints, so that what all of them send to one host
//! unasked takes no more than a twentieth of its link; but two segments in 5 ms if that is more, as a socket of a lower rate would
//! notice its first grants too late (the kernel holds back a packet as long as the rate says at which the one before left). It is on
//! account: what was sent at it counts against the first grants, and after two slots' worth without any it falls to two segments in 40 ms
//! for each socket.
//! The kernel does not pace the first ten packets of a connection, which thus are held back by its window alone.
//!
//! # Limits
//!
//! Rates, not timeslots: packets of a pair leave at any time, at no more than its rate. A limit that an application has set by
//! itself for a socket to another endpoint is replaced, and none is left at the end. Above 34 Gb/s sockets are not limited, as the
//! option has 32 bits.

mod bursts;
mod demand;
mod destination;
mod framing;
mod kernel;
mod settings;
mod sockets;
mod udp;
pub mod watch;
mod work;

use std::collections::BTreeMap;

use clearway_proto::fastpass::endpoint::Mode;
use clearway_proto::fastpass::fcp::{Address, Grant};
use clearway_proto::fastpass::receipts::SlotHeader;
use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::units::{Span, Time};
use rustix::time::{clock_gettime, ClockId};

use super::carriage::{Carriage, Figures};
use super::reach::Reach;
use crate::tcp::kernel::KernelError;
use bursts::Bursts;
use destination::Destination;
use framing::Segment;
use kernel::{Kernel, Limits};
pub use settings::Settings;
use sockets::Sockets;
use udp::Classes;
use watch::Watcher;

/// The shortest time between two rounds of all sockets.
const ROUND: Span = Span::from_ms(20);
/// The longest: it corrects what others have set.
const LONGEST_ROUND: Span = Span::from_secs(1);
/// A round takes no more than one part in this many of the time, and a look one in `LOOK_PART`.
const ROUND_PART: u64 = 50;
const LOOK_PART: u64 = 10;

/// Counts of events since the start.
#[derive(Debug, Default)]
struct Counts {
    scheduled_bytes: u64,
    unscheduled_bytes: u64,
    received_bytes: u64,
    grants: u64,
    useless_grants: u64,
    looks: u64,
    look_time: Span,
    rounds: u64,
    round_time: Span,
    failures: u64,
}

/// Carries the traffic of an endpoint by rates. The driver's thread opens it and calls it, in the network namespace of the sockets.
///
/// Dropping it lifts the limits of all sockets.
#[derive(Debug)]
pub struct Rates {
    kernel: Kernel,
    classes: Option<Classes>,
    reach: Reach,
    timeslots: Timeslots,
    settings: Settings,
    destinations: BTreeMap<Address, Destination>,
    mode: Mode,
    looked: Time,
    next_look: Time,
    earliest_round: Time,
    latest_round: Time,
    counts: Counts,
    _bursts: Bursts,
    /// Dropped last: it lifts what limits are left.
    _watcher: Option<Watcher>,
}

impl Rates {
    /// Loads the programs into the kernel and begins to limit the sockets of the calling thread's network namespace that go to other
    /// endpoints. `timeslots` tells when slots begin by the driver's clock.
    ///
    /// Fails without root's capabilities, where the kernel does not tell its types (BTF) or is too old, and where the watcher cannot
    /// be started.
    pub fn open(reach: Reach, timeslots: Timeslots, settings: Settings) -> Result<Rates, KernelError> {
        settings.check(reach.slot)?;
        let bursts = Bursts::by_rate()?;
        let watcher = Watcher::start(
            &settings.watcher,
            &kernel::prefixes(&reach),
            &bursts,
            settings.udp_device.as_deref(),
        )?;
        let kernel = Kernel::open(&reach, settings.group.as_ref(), settings.initial_window)?;
        let classes =
            settings.udp_device.as_deref().map(|device| Classes::open(device, &reach)).transpose()?;
        let others = (0..reach.places.len() as Address).filter(|&at| at != reach.own);
        let destinations = others.map(|at| (at, Destination::new(&reach, &settings))).collect();
        let mut rates = Rates {
            kernel,
            classes,
            reach,
            timeslots,
            settings,
            destinations,
            mode: Mode::Scheduled,
            looked: Time::ZERO,
            next_look: Time::ZERO,
            earliest_round: Time::ZERO,
            latest_round: Time::ZERO,
            counts: Counts::default(),
            _bursts: bursts,
            _watcher: watcher,
        };
        rates.look(Time::ZERO);
        rates.round(Time::ZERO);
        Ok(rates)
    }

    /// Looks at the sockets, and sets demands and rates by what they have to send.
    fn look(&mut self, now: Time) {
        let began = monotonic();
        self.destinations.values_mut().for_each(|destination| destination.sockets = Sockets::default());
        let destinations = &mut self.destinations;
        let outcome = self.kernel.look(|record| {
            if let Some(destination) = destinations.get_mut(&record.destination) {
                destination.sockets.add(record);
            }
        });
        self.counts.looks += 1;
        self.counts.failures += u64::from(outcome.is_err());
        self.hear_udp();
        let passed = now.since(self.looked);
        self.looked = now;
        let addresses: Vec<Address> = self.destinations.keys().copied().collect();
        for address in addresses {
            self.settle(now, address, passed);
        }
        if let Some(classes) = &mut self.classes {
            classes.tell_rates(now);
        }
        let took = monotonic().since(began);
        self.counts.look_time += took;
        self.next_look = now + self.settings.look.max(took * LOOK_PART);
    }

    /// Takes what the classes of UDP have told.
    fn hear_udp(&mut self) {
        let (segment, destinations) = (Segment::usual(self.reach.mtu), &mut self.destinations);
        if let Some(classes) = &mut self.classes {
            classes.hear(segment, |address, hear| {
                destinations.get_mut(&address).into_iter().for_each(|destination| hear(&mut destination.udp));
            });
        }
    }

    /// Sets the demand and the rates for an endpoint by what a look has found.
    fn settle(&mut self, now: Time, address: Address, passed: Span) {
        let destination = self.destinations.get_mut(&address).expect("it is one of them");
        let udp_limit = self.classes.as_ref().and_then(|classes| classes.limit(address, destination.segment));
        let limits = destination.settle(now, passed, udp_limit, (&self.reach, &self.settings));
        let sockets = &destination.sockets;
        self.counts.received_bytes += sockets.received;
        let limits = match self.mode {
            Mode::Scheduled => {
                self.counts.scheduled_bytes += sockets.sent;
                limits
            }
            Mode::Unscheduled => {
                self.counts.unscheduled_bytes += sockets.sent;
                Limits::NONE
            }
        };
        if limits != destination.limits {
            destination.limits = limits;
            let outcome = self.kernel.set(address, limits);
            self.counts.failures += u64::from(outcome.is_err());
        }
        if let Some(classes) = &mut self.classes {
            let share = (limits != Limits::NONE).then_some(u64::from(limits.share));
            classes.set(address, share, destination.segment);
        }
    }

    /// Gives all sockets their rates at once.
    fn round(&mut self, now: Time) {
        let began = monotonic();
        let outcome = self.kernel.walk();
        self.counts.rounds += 1;
        self.counts.failures += u64::from(outcome.is_err());
        for destination in self.destinations.values_mut() {
            destination.in_round = destination.limits.share;
        }
        let took = monotonic().since(began);
        self.counts.round_time += took;
        self.earliest_round = now + ROUND.max(took * ROUND_PART);
        self.latest_round = now + LONGEST_ROUND;
    }
}

/// The kernel's clock, to tell how long a look takes.
fn monotonic() -> Time {
    let time = clock_gettime(ClockId::Monotonic);
    Time::ZERO + Span::from_secs(time.tv_sec as u64) + Span::from_ns(time.tv_nsec as u64)
}

impl Carriage for Rates {
    fn backlog(&mut self, _now: Time, tell: &mut dyn FnMut(Address, u32)) {
        for (&address, destination) in &mut self.destinations {
            if destination.needed != destination.told {
                destination.told = destination.needed;
                tell(address, destination.needed);
            }
        }
    }

    /// Counts the slot into the rate of its pair. No header is asked for, as unmodified sockets carry none: so nothing is learnt of
    /// links from what they lose.
    fn slot(&mut self, now: Time, grant: &Grant, _header: &mut dyn FnMut() -> SlotHeader) -> bool {
        let start = self.timeslots.start(grant.slot);
        let Some(destination) = self.destinations.get_mut(&grant.destination) else { return false };
        // The first slot ends a pair's idle rate at once.
        let is_first = destination.work.is_empty();
        let is_useful = destination.work.grant(now, start);
        self.counts.grants += 1;
        self.counts.useless_grants += u64::from(!is_useful);
        if is_useful && is_first {
            self.next_look = self.next_look.min(now);
        }
        // As the endpoint itself counts: of what was needed, this is granted. With more in the application the need stays.
        destination.told = destination.told.saturating_sub(1);
        if !destination.sockets.is_full {
            destination.needed = destination.needed.saturating_sub(1);
        }
        is_useful && destination.sockets.backlogged > 0
    }

    fn headers(&mut self, _tell: &mut dyn FnMut(Address, SlotHeader)) {}

    fn mode(&mut self, now: Time, mode: Mode) {
        if mode == self.mode {
            return;
        }
        self.mode = mode;
        // Grants of an arbiter that is gone, and those of none, are void.
        self.destinations.values_mut().for_each(|destination| destination.work.clear());
        self.look(now);
        self.round(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.next_look <= now {
            self.look(now);
        }
        let has_changed =
            self.earliest_round <= now && self.destinations.values().any(Destination::has_changed);
        if has_changed || self.latest_round <= now {
            self.round(now);
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        Some(self.next_look.min(self.latest_round))
    }

    fn figures(&self) -> Figures {
        let microseconds = |span: Span| span.as_ps() / 1_000_000;
        let sum = |of: fn(&Sockets) -> u64| self.destinations.values().map(|it| of(&it.sockets)).sum();
        let more = [
            ("sockets", sum(|sockets| u64::from(sockets.count))),
            ("sockets_with_backlog", sum(|sockets| u64::from(sockets.backlogged))),
            ("sockets_set_by_rounds", sum(|sockets| u64::from(sockets.unfollowing))),
            ("slots_granted", self.counts.grants),
            ("slots_of_no_use", self.counts.useless_grants),
            ("looks", self.counts.looks),
            ("look_microseconds", microseconds(self.counts.look_time)),
            ("rounds", self.counts.rounds),
            ("round_microseconds", microseconds(self.counts.round_time)),
            ("failures", self.counts.failures),
        ];
        Figures {
            waiting_bytes: sum(|sockets| sockets.waiting),
            scheduled_bytes: self.counts.scheduled_bytes,
            unscheduled_bytes: self.counts.unscheduled_bytes,
            received_bytes: self.counts.received_bytes,
            dropped_packets: 0,
            more: more.into(),
        }
    }
}

impl Drop for Rates {
    fn drop(&mut self) {
        for &address in self.destinations.keys() {
            // What fails here the watcher does once more.
            let _ = self.kernel.set(address, Limits::NONE);
        }
        let _ = self.kernel.walk();
    }
}
