//! Ruled ports that catch up: which ends of transmissions are events, and which ports are looked at when the window ends. See
//! [`super::switches`].

use super::pfc::NO_PORT;
use super::port::Port;
use super::ports::Ports;

impl Ports {
    /// Ends the transmission of a ruled port, as [`Self::end_transmission`] does, if that is all: nothing waits that may leave, and
    /// nobody need know what is off an account. Returns whether it did; else nothing has changed.
    #[inline(always)]
    pub fn end_alone(&mut self, at: u32) -> bool {
        let rules = &self.rules[at as usize];
        if rules.queued & !rules.paused != 0 || rules.ingress == NO_PORT {
            return false;
        }
        let (size, class, ingress) = (rules.in_transmission, usize::from(rules.sending), rules.ingress);
        let is_all = self.release_unseen(ingress, class, size);
        if is_all {
            self.all[at as usize].flags &= !Port::TRANSMITS;
        }
        is_all
    }

    /// Returns whether a ruled port has something to catch up with up to `until`.
    #[inline(always)]
    pub fn is_behind(&self, at: u32, until: u64) -> bool {
        let port = self.port(at);
        let behind = port.busy_until <= until && port.transmits();
        debug_assert!(!behind || !port.intersects(Port::ARMED), "an event to come is anticipated");
        behind
    }

    /// Says that the end of a ruled port's transmission is an event to come, if it transmits and that is not said yet: when it is.
    #[inline]
    pub fn arm(&mut self, at: u32) -> Option<u64> {
        let transmits = self.transmits(at);
        let port = &mut self.all[at as usize];
        if port.intersects(Port::ARMED) || !transmits {
            return None;
        }
        port.flags |= Port::ARMED;
        Some(port.busy_until)
    }

    /// The event has come that says so.
    #[inline]
    pub fn disarm(&mut self, at: u32) {
        self.all[at as usize].flags &= !Port::ARMED;
    }

    /// Sees to it that a switch's port at which frames wait catches up when the window ends.
    #[inline]
    pub fn fall_behind(&mut self, at: u32) {
        let port = &mut self.all[at as usize];
        if !port.intersects(Port::BEHIND) {
            port.flags |= Port::BEHIND;
            self.behind.push(at);
        }
    }

    /// Returns whether there may be any port that is to catch up when the window ends.
    #[inline(always)]
    pub fn any_behind(&self) -> bool {
        !self.behind.is_empty()
    }

    /// The first port of those from `next` on that are to catch up when the window ends and at which frames wait.
    pub fn next_behind(&mut self, next: usize) -> Option<u32> {
        while let Some(&at) = self.behind.get(next) {
            if self.rules(at).queued != 0 {
                return Some(at);
            }
            self.all[at as usize].flags &= !Port::BEHIND;
            self.behind.swap_remove(next);
        }
        None
    }

    /// Has a host's NIC catch up, if it is ruled. To be said before anything happens.
    pub fn let_catch_up(&mut self, nic: u32) {
        let port = &mut self.all[nic as usize];
        if port.intersects(Port::RULED) {
            port.flags |= Port::CATCHES_UP;
        }
    }

    /// Returns whether a NIC that catches up has ended a transmission by `until`, and has not gone on.
    #[inline(always)]
    pub fn is_nic_behind(&self, at: u32, until: u64) -> bool {
        const CATCHES_UP: u8 = Port::CATCHES_UP | Port::TRANSMITS;
        let port = self.port(at);
        port.flags & CATCHES_UP == CATCHES_UP && port.busy_until <= until
    }

    /// Sees to it that the NIC of the host at a node catches up when the window ends.
    #[inline]
    pub fn let_nic_fall_behind(&mut self, at: u32, node: u32) {
        let port = &mut self.all[at as usize];
        if !port.intersects(Port::BEHIND) {
            port.flags |= Port::BEHIND;
            self.nics_behind.push(node);
        }
    }

    /// Ends the transmission of a NIC that catches up, if it need not be looked at when the window ends, and has nothing to say.
    /// Returns whether it did; else nothing has changed.
    #[inline(always)]
    pub fn end_nic_alone(&mut self, at: u32) -> bool {
        let is_all = !self.port(at).intersects(Port::BEHIND) && !self.has_waiting(at);
        if is_all {
            self.end_transmission(at);
        }
        is_all
    }

    /// A NIC has caught up at the end of a window, and is the one of `place` in the list. It stays there if it transmits and something
    /// waits for it. Returns the place of the next one.
    pub fn note_nic(&mut self, at: u32, waits: bool, place: usize) -> usize {
        if let Some(ends) = self.ends(at).filter(|_| waits) {
            self.next_nic_turn = self.next_nic_turn.min(ends);
            return place + 1;
        }
        self.all[at as usize].flags &= !Port::BEHIND;
        self.nics_behind.swap_remove(place);
        place
    }
}
