//! Counts of the carriage, by all its threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fastpass::carriage::Figures;

/// A number that threads add to.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds to it.
    pub fn add(&self, more: usize) {
        if more > 0 {
            self.0.fetch_add(more as u64, Ordering::Relaxed);
        }
    }

    /// The number so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counts of the carriage, which all of its threads add to.
#[derive(Debug, Default)]
pub struct Counts {
    /// Bytes of datagrams sent in slots, without the IP and UDP headers around them.
    pub scheduled: Count,
    /// Bytes of IP packets sent without an arbiter.
    pub unscheduled: Count,
    /// Bytes of IP packets received.
    pub received: Count,
    /// Packets dropped as a queue was full.
    pub full: Count,
    /// Slots in which something was sent.
    pub slots_used: Count,
    /// Slots in which nothing waited.
    pub slots_empty: Count,
    /// Datagrams that the kernel did not take: there is no way, no room.
    pub unsent: Count,
    /// Receipts and probes: datagrams without content.
    pub probes: Count,
    /// Datagrams that were malformed, in whole or in part.
    pub malformed: Count,
    /// Datagrams of an unknown endpoint, or not from its address.
    pub strange: Count,
    /// Packets of the device to none of the other endpoints, such as multicast.
    pub unrouted: Count,
    /// Packets of the device that cannot be what they say, or are longer than its MTU.
    pub unsendable: Count,
    /// Packets that the device did not take.
    pub unwritten: Count,
    /// Reads of the device, and writes to it.
    pub reads: Count,
    /// Writes to the device.
    pub writes: Count,
}

impl Counts {
    /// The figures, without what waits.
    pub fn figures(&self) -> Figures {
        let more = [
            ("slots_used", &self.slots_used),
            ("slots_empty", &self.slots_empty),
            ("unsent_datagrams", &self.unsent),
            ("probes", &self.probes),
            ("malformed_datagrams", &self.malformed),
            ("strange_datagrams", &self.strange),
            ("unrouted_packets", &self.unrouted),
            ("unsendable_packets", &self.unsendable),
            ("unwritten_packets", &self.unwritten),
            ("device_reads", &self.reads),
            ("device_writes", &self.writes),
        ];
        Figures {
            waiting_bytes: 0,
            scheduled_bytes: self.scheduled.get(),
            unscheduled_bytes: self.unscheduled.get(),
            received_bytes: self.received.get(),
            dropped_packets: self.full.get(),
            more: more.map(|(name, count)| (name, count.get())).into_iter().collect::<BTreeMap<_, _>>(),
        }
    }
}
