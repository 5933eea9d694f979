//! Switches with ruled ports: which of their transmissions have to end as events.
//!
//! What a ruled port does next follows from what waits there, so it need not be done when its time comes: whoever looks at a port
//! lets it catch up first, and at the end of a window all do at which frames wait. That does for everything but what others learn
//! from the end of a transmission: an account that pauses its link may then tell it to go on. So the end of a transmission is an
//! event at the ports where a frame may wait that is on such an account, unless that cannot come down to XON before the window ends
//! (see `watching`); and at all ports of a switch of which a relay is part or whose thresholds are shares of a memory,
//! where each frame that leaves changes what is decided elsewhere.
//!
//! Until then an account may have more on it than is there, and a shared memory less room. That does not matter to an account
//! below XOFF, or above XON while it pauses its link, and below the most that it ever had; nor to a memory that has room all the
//! same. Otherwise all ports of the switch catch up first.

use std::ops::Range;

use super::memory::Memory;
use super::ports::Ports;
use super::switch::Switch;

impl Ports {
    /// Says that these ports are a switch's, now that all is known of them. Nothing is said of plain ones.
    pub fn join_switch(&mut self, ports: Range<u32>) {
        let ruled: Vec<u32> = ports.clone().filter(|&at| self.rules_if_any(at).is_some()).collect();
        let every_end = ruled.iter().any(|&at| {
            let rules = self.rules(at);
            rules.pfc().is_some_and(|pfc| pfc.relay.is_some() || !pfc.is_static())
        });
        let number = self.switches.len() as u32;
        for &at in &ruled {
            let rules = self.rules_mut(at);
            rules.switch = number;
            if let Some(pfc) = &mut rules.pfc {
                pfc.is_lazy = !every_end;
            }
        }
        self.switches.push(Switch::new(ports, every_end));
    }

    /// A port's switch, if what happens at it may be known late.
    #[inline]
    fn lazy_switch(&self, at: u32) -> Option<&Switch> {
        let switch = self.switches.get(self.rules_if_any(at)?.switch as usize);
        switch.filter(|switch| !switch.every_end)
    }

    /// The next port of a switch, from this one on, that may have frames on an account of port `ingress`; `None` if what happens
    /// there is known at once.
    #[inline]
    pub fn next_with_account(&self, from: u32, ingress: u32) -> Option<u32> {
        self.lazy_switch(ingress)?.next_with_account(from, ingress)
    }

    /// The port of a switch to which the frame went that came last to port `ingress`; `None` if what happens there is known at once.
    pub fn last_from(&self, ingress: u32) -> Option<u32> {
        self.lazy_switch(ingress)?.last_from(ingress)
    }

    /// The next port, from this one on, of the same switch as port `at`, if that one's memory is shared and what happens at the
    /// switch may be known late.
    #[inline]
    pub fn next_with_memory(&self, from: u32, at: u32) -> Option<u32> {
        let switch = self.lazy_switch(at)?;
        if matches!(self.rules(at).memory, Memory::Own(_)) {
            return None;
        }
        (from.max(switch.first)..switch.ports().end).find(|&other| self.rules_if_any(other).is_some())
    }

    /// An account of a port has begun to pause its link, or has ceased to.
    pub(super) fn note_pausing(&mut self, at: u32, begins: bool) {
        if self.lazy_switch(at).is_none() {
            return;
        }
        let number = self.rules(at).switch;
        let switch = &mut self.switches[number as usize];
        if begins && !switch.is_listed {
            switch.is_listed = true;
            self.pausing_switches.push(number);
        }
        switch.note_pausing(at, begins);
        if begins {
            self.pausing_anew.push(at);
        }
    }

    /// A frame comes to a switch's ruled port that is on the account of port `ingress`; whether nothing else waits at the port.
    #[inline(always)]
    pub(super) fn see_account(&mut self, at: u32, ingress: u32, alone: bool) {
        let number = self.rules(at).switch as usize;
        if let Some(switch) = self.switches.get_mut(number) {
            switch.see(at, ingress, alone);
        }
    }

    /// Returns whether the end of the transmission of a switch's ruled port has to be an event.
    #[inline(always)]
    pub fn is_watched(&self, at: u32) -> bool {
        self.switches[self.rules(at).switch as usize].is_watched(at)
    }
}
