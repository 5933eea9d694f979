//! A switch with ruled ports: which of them may have frames on whose accounts, and which accounts pause their links. See
//! [`super::switches`].

use std::ops::Range;

/// The bit of frames that are on no account. Where there are too many ports for a bit each, it is that of all ports, too, of which
/// no account has paused its link yet.
const QUIET: u64 = 1;

/// How many ports are looked at together for those that may have frames on accounts that pause their links: mostly there are few.
const LOOKED_AT: usize = 8;

/// A switch with ruled ports. A port has a bit; where there are more than 63, ports share bits.
#[derive(Debug)]
pub(super) struct Switch {
    /// The first of its ports, which stand one after the other.
    pub first: u32,
    ports: Vec<SwitchPort>,
    /// For each port the bits of those that may have frames on their accounts which are at this port; zeros make a whole number of
    /// [`LOOKED_AT`].
    seen: Vec<u64>,
    /// The bits of ports of which an account pauses the link.
    pub pausing: u64,
    /// The bits of those of which such an account may tell the link to go on before the window ends; all where the end of each
    /// transmission is to be an event.
    watched: u64,
    /// It is among those of which it is found out at each window's end which accounts are to be watched.
    pub is_listed: bool,
    /// For how many windows all accounts are watched that pause their links, and nothing is found out.
    pub rests: u32,
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
    /// The port's own bit.
    bit: u64,
    /// By how many bytes its accounts that pause the link are above XON, at least, when what was counted has left; and in which round
    /// that is so. See [`super::watching`].
    above: u64,
    round: u64,
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
            let (bit, last) = (bit(place), ports.start);
            SwitchPort { bit, above: 0, round: 0, last, any_to: 0, all_to: u32::MAX }
        };
        Switch {
            first: ports.start,
            ports: (0..ports.len()).map(port).collect(),
            seen: vec![0; ports.len().next_multiple_of(LOOKED_AT)],
            pausing: 0,
            watched: if every_end { u64::MAX } else { 0 },
            is_listed: false,
            rests: 0,
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
        let seen = &mut self.seen[(at - self.first) as usize];
        *seen = if alone { bit } else { *seen | bit };
        *seen & self.watched != 0
    }

    /// Returns whether the end of the transmission of a port has to be an event.
    #[inline(always)]
    pub fn is_watched(&self, at: u32) -> bool {
        self.seen[(at - self.first) as usize] & self.watched != 0
    }

    /// Returns whether any account is watched.
    pub fn watches_any(&self) -> bool {
        self.watched != 0
    }

    /// Watches no account any more.
    pub fn watch_none(&mut self) {
        self.watched = 0;
    }

    /// Watches all accounts that pause their links.
    pub fn watch_all(&mut self) {
        self.watched |= self.pausing;
    }

    /// Puts the ports that may have frames on accounts that pause their links into a list.
    pub fn list_with_paused(&self, list: &mut Vec<u32>) {
        for (some, first) in self.seen.chunks_exact(LOOKED_AT).zip((self.first..).step_by(LOOKED_AT)) {
            if some.iter().fold(0, |all, seen| all | seen) & self.pausing != 0 {
                for (seen, at) in some.iter().zip(first..) {
                    if seen & self.pausing != 0 {
                        list.push(at);
                    }
                }
            }
        }
    }

    /// A frame may leave before the next window ends that is on an account of port `ingress`, which is watched if it may then tell its
    /// link to go on. `above` tells by how many bytes the accounts are above XON, at least, that pause the link.
    #[inline(always)]
    pub fn leave(&mut self, round: u64, ingress: u32, size: u32, above: impl FnOnce() -> u64) {
        let Some(from) = self.ports.get_mut(ingress.wrapping_sub(self.first) as usize) else { return };
        if from.round != round {
            (from.round, from.above) = (round, above());
        }
        from.above = from.above.saturating_sub(size.into());
        if from.above == 0 {
            self.watched |= from.bit;
        }
    }

    /// The next port, from this one on, that may have frames on an account of port `ingress`.
    #[inline]
    pub fn next_with_account(&self, from: u32, ingress: u32) -> Option<u32> {
        let (place, bit) = (from.saturating_sub(self.first) as usize, self.bit(ingress));
        if let Some(only) = self.port(ingress).and_then(SwitchPort::only_to) {
            return (from <= only).then_some(only);
        }
        let next = self.seen.get(place..)?.iter().position(|seen| seen & bit != 0)?;
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
        if *accounts == 0 {
            self.pausing &= !bit;
            self.watched &= !bit;
        } else {
            self.pausing |= bit;
        }
        if begins {
            self.watched |= bit;
        }
    }

    /// The bit of a port that pauses its link, which it gets the first time. So those that never do stand apart from those that do.
    fn bit_of_pausing(&mut self, at: u32) -> u64 {
        if self.bit(at) == QUIET {
            let bit = 2 << (self.late % (u64::BITS - 1));
            self.late += 1;
            self.ports[(at - self.first) as usize].bit = bit;
            self.seen.iter_mut().filter(|seen| **seen & QUIET != 0).for_each(|seen| *seen |= bit);
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
    fn an_account_is_watched_just_where_what_leaves_takes_it_to_xon() {
        for (count, above, watched) in
            [(20, 9000, false), (20, 8000, true), (100, 9000, false), (100, 7999, true)]
        {
            let mut switch = Switch::new(10..10 + count, false);
            switch.see(13, 12, false);
            switch.see(21, 12, false);
            switch.note_pausing(12, true);
            assert!(switch.is_watched(13), "an account that begins to pause its link");
            let mut listed = Vec::new();
            switch.list_with_paused(&mut listed);
            assert_eq!(listed, [13, 21]);
            switch.watch_none();
            // Two frames of its own, one of a port that pauses nothing, and one on no account.
            for (ingress, above) in [(12, above), (14, u64::MAX), (NO_PORT, 0), (12, 0)] {
                assert!(!switch.watches_any());
                switch.leave(1, ingress, 4000, || above);
            }
            assert_eq!(
                (switch.is_watched(13), switch.is_watched(21)),
                (watched, watched),
                "{above} bytes above"
            );
            switch.watch_none();
            switch.leave(2, 12, 4000, || above);
            assert!(!switch.watches_any(), "what was counted for one window is forgotten in the next");
            switch.watch_all();
            assert!(switch.is_watched(13));
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
