//! The packets that an arbiter sends (§5), each of which says what holds when it leaves.

use crate::fastpass::fcp::{Address, Allocation, Granted, Path, Reset, Watchdog};
use crate::units::Time;

use super::Arbiter;

impl Arbiter {
    /// A watchdog, and when the next follows.
    pub(super) fn watchdog(&mut self, now: Time) -> Watchdog {
        self.counters.watchdogs += 1;
        self.succession.watchdog_at = self.succession.next_watchdog(now, &self.params);
        let horizon = self.frame.slot(now) + u64::from(self.params.ahead);
        Watchdog { term: self.succession.term, rank: self.params.rank, horizon }
    }

    /// A reset for an endpoint.
    pub(super) fn reset(&mut self, now: Time, endpoint: Address, back: Option<Path>) -> Reset {
        self.counters.resets += 1;
        self.clients[usize::from(endpoint)].sent_reset(now, &self.params);
        let slot = self.params.timeslots.of(now);
        Reset { to: endpoint, slot, term: self.succession.term, first_slot: self.first_slot, back }
    }

    /// An allocation for an endpoint: the grants that it has not been told of, and counts that it may not know.
    pub(super) fn allocation(&mut self, now: Time, endpoint: Address, back: Option<Path>) -> Allocation {
        let Arbiter { params, clients, counts, counters, succession, .. } = self;
        let client = &mut clients[usize::from(endpoint)];
        counters.retransmissions += u64::from(client.give_up(now, params.retransmit));
        client.seq += 1;
        let mut allocation = Allocation {
            to: endpoint,
            incarnation: client.incarnation,
            term: succession.term,
            seq: client.seq,
            slot: params.timeslots.of(now),
            heard: client.heard,
            back,
            ..Allocation::default()
        };
        while let Some(grant) = client.pending.front() {
            if !allocation.grant(*grant) {
                break;
            }
            let granted = counts.granted(endpoint, grant.destination);
            *granted = granted.wrapping_add(1);
            client.pending.pop_front();
        }
        let listed = &mut allocation.granted;
        client.untold.retain(|&destination| {
            let known = listed.iter().any(|granted| granted.destination == destination);
            !known && !listed.push(Granted { destination, granted: 0 })
        });
        for entry in listed.iter_mut() {
            entry.granted = *counts.granted(endpoint, entry.destination);
        }
        client.sent(now, allocation.granted, params);
        counters.allocations += 1;
        counters.empty_allocations += u64::from(allocation.grants.is_empty());
        allocation
    }
}
