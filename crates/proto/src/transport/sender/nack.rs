//! What a sender does about packets that switches have trimmed, of which their receiver tells it.

use super::{CongestionControl, Recovery, Sender, Time};
use crate::transport::{Nack, TrimSample};

impl<C: CongestionControl, R: Recovery> Sender<C, R> {
    /// The receiver says that it has had only the header of a packet; that arrived at the NIC at `received` and is processed
    /// `now`. What cannot be, or is known already, is ignored.
    pub fn handle_nack(&mut self, now: Time, received: Time, nack: &Nack) {
        let (una, next) = (self.una, self.next);
        if nack.seq < una || nack.seq >= next {
            return;
        }
        let repair = self.repair_mut();
        repair.timeouts_in_a_row = 0;
        let lost = repair.recovery.handle_nack(una, next, nack);
        self.look_around();
        if lost {
            let sample = TrimSample {
                rtt: now.since(nack.echo),
                endpoint_delay: nack.remote_queuing() + now.since(received),
                last_hop: nack.last_hop,
                cumulative: una,
                next,
            };
            self.control.on_trim(&self.common.control, now, &sample);
        }
        if !self.packets().is_waited_for() {
            // Armed anew by the transmission that follows.
            self.timeout = Time::NEVER;
        }
    }
}
