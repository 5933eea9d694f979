//! A switch with ruled ports: which of them may have frames on whose accounts, and which accounts pause their links. See
//! [`super::switches`].

use std::ops::Range;

/// The bit of frames that are on no account. Where there are too many ports for a bit each, it is that of all ports, too, of which
/// no account has paused its link yet.
const QUIET: u64 = 1;

/// A switch with ruled ports. A port has a bit; where there are more than 63, ports share bits.
#[derive(Debug)]
pub(super) struct Switch {
    /// The first of its ports, which stand one after the other.
    pub first: u32,
    ports: Vec<SwitchPort>,
    /// The bits of ports of which an account pauses the link; all where the end of each transmission is to be an event.
    pausing: u64,
    /// For each bit how many accounts pause their links.
    accounts: [u32; u64::BITS as usize],
    /// Ports that got their bits when they first paused their links.
    late: u32,
    /// The end of each transmission is to be an event.
    pub every_end: bool,
}

/// A port of a switch.
#[derive(Clone, Copy, Debug)]
struct SwitchPort {
    /// The bits of those that may have frames on their accounts which are at this port.
    seen: u64,
    /// The port's own bit.
    bit: u64,
    /// The port to which the frame went that came last over this one's link.
    last: u32,
    /// All bits, and the common bits, of the ports to which frames went that came over this one's link: where these are the same, it
    /// is always one port.
    any_to: u32,
    all_to: u32,
}

impl SwitchPort {
    /// The only port to which frames went that came over this one's link.
    fn only_to(&self) -> Option<u32> {
        (self.any_to == self.all_to).then_some(self.last)
    }
}

impl Switch {
    /// A switch with these ports, at which there is nothing yet.
    pub fn new(ports: Range<u32>, every_end: bool) -> Switch {
        let is_small = ports.len() < u64::BITS as usize;
        let bit = |place: usize| if is_small { QUIET << (place + 1) } else { QUIET };
        let port = |place| {
            let (seen, bit, last) = (0, bit(place), ports.start);
            SwitchPort { seen, bit, last, any_to: 0, all_to: u32::MAX }
        };
        Switch {
            first: ports.start,
            ports: (0..ports.len()).map(port).collect(),
            pausing: if every_end { u64::MAX } else { 0 },
            accounts: [0; u64::BITS as usize],
            late: 0,
            every_end,
        }
    }

    /// Its ports.
    pub fn ports(&self) -> Range<u32> {
        self.first..self.first + self.ports.len() as u32
    }

    /// A frame comes to a port that is on the account of port `ingress`, and nothing else waits there if it is `alone`. Returns
    /// whether the end of what the port transmits has to be an event.
    #[inline(always)]
    pub fn see(&mut self, at: u32, ingress: u32, alone: bool) -> bool {
        let from = self.ports.get_mut(ingress.wrapping_sub(self.first) as usize);
        let bit = from.map_or(QUIET, |from| {
            from.last = at;
            from.any_to |= at;
            from.all_to &= at;
            from.bit
        });
        let seen = &mut self.ports[(at - self.first) as usize].seen;
        *seen = if alone { bit } else { *seen | bit };
        *seen & self.pausing != 0
    }

    /// Returns whether the end of the transmission of a port has to be an event.
    #[inline(always)]
    pub fn is_watched(&self, at: u32) -> bool {
        self.ports[(at - self.first) as usize].seen & self.pausing != 0
    }

    /// The next port, from this one on, that may have frames on an account of port `ingress`.
    #[inline]
    pub fn next_with_account(&self, from: u32, ingress: u32) -> Option<u32> {
        let (place, bit) = (from.saturating_sub(self.first) as usize, self.bit(ingress));
        if let Some(only) = self.port(ingress).and_then(SwitchPort::only_to) {
            return (from <= only).then_some(only);
        }
        let next = self.ports.get(place..)?.iter().position(|port| port.seen & bit != 0)?;
        Some(self.first + (place + next) as u32)
    }

    /// The port to which the frame went that came last over the link of one of its ports.
    pub fn last_from(&self, ingress: u32) -> Option<u32> {
        Some(self.port(ingress)?.last)
    }

    /// An account of a port has begun to pause its link, or has ceased to.
    pub fn note_pausing(&mut self, at: u32, begins: bool) {
        let bit = self.bit_of_pausing(at);
        let accounts = &mut self.accounts[bit.trailing_zeros() as usize];
        *accounts = if begins { *accounts + 1 } else { *accounts - 1 };
        self.pausing = if *accounts > 0 { self.pausing | bit } else { self.pausing & !bit };
    }

    /// The bit of a port that pauses its link, which it gets the first time. So those that never do stand apart from those that do.
    fn bit_of_pausing(&mut self, at: u32) -> u64 {
        if self.bit(at) == QUIET {
            let bit = 2 << (self.late % (u64::BITS - 1));
            self.late += 1;
            self.ports[(at - self.first) as usize].bit = bit;
            for port in self.ports.iter_mut().filter(|port| port.seen & QUIET != 0) {
                port.seen |= bit;
            }
        }
        self.bit(at)
    }

    /// The bit of a port, or of what is on no account.
    #[inline(always)]
    fn bit(&self, at: u32) -> u64 {
        self.port(at).map_or(QUIET, |port| port.bit)
    }

    #[inline(always)]
    fn port(&self, at: u32) -> Option<&SwitchPort> {
        self.ports.get(at.wrapping_sub(self.first) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::pfc::NO_PORT;
    use super::*;

    #[test]
    fn a_port_is_watched_while_a_link_is_paused_whose_frames_it_has() {
        for count in [63, 64, 200] {
            let mut switch = Switch::new(10..10 + count, false);
            let [quiet, pausing] = [10, 12];
            assert!(!switch.see(11, quiet, true) && !switch.see(13, pausing, true));
            assert!(!switch.see(13, quiet, false));
            switch.note_pausing(pausing, true);
            assert!(switch.is_watched(13), "{count} ports");
            // What never pauses its link shares no bit with what does.
            assert!(!switch.see(11, quiet, true) && !switch.see(14, quiet, true));
            assert!(switch.see(14, pausing, false) && switch.see(14, NO_PORT, false));
            // Two accounts of one port, of which one goes on.
            switch.note_pausing(pausing, true);
            switch.note_pausing(pausing, false);
            assert!(switch.is_watched(13) && switch.is_watched(14));
            switch.note_pausing(pausing, false);
            assert!(!switch.is_watched(13) && !switch.is_watched(14));
        }
    }

    #[test]
    fn a_port_that_shares_its_bit_is_watched_for_the_other() {
        let mut switch = Switch::new(0..100, false);
        (0..64).for_each(|at| switch.note_pausing(at, true));
        (1..63).for_each(|at| switch.note_pausing(at, false));
        switch.note_pausing(0, false);
        assert!(switch.see(99, 0, true), "the first shares its bit with the last");
        assert!(!switch.see(99, 1, true));
    }

    #[test]
    fn the_ports_are_found_to_which_frames_went_over_a_link() {
        let mut switch = Switch::new(10..20, false);
        let all = |switch: &Switch| {
            let next = |from: u32| switch.next_with_account(from, 15);
            std::iter::successors(next(0), |&at| next(at + 1)).collect::<Vec<u32>>()
        };
        assert_eq!((all(&switch), switch.last_from(15)), (vec![], Some(10)));
        switch.see(17, 15, true);
        assert_eq!((all(&switch), switch.last_from(15)), (vec![17], Some(17)));
        switch.see(12, 15, true);
        assert_eq!((all(&switch), switch.last_from(15)), (vec![12, 17], Some(12)));
        assert_eq!(switch.last_from(NO_PORT), None);
    }
}
