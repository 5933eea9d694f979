//! Switches with ruled ports: which of their transmissions have to end as events.
//!
//! What a ruled port does next follows from what waits there, so it need not be done when its time comes: whoever looks at a port
//! lets it catch up first, and at the end of a window all do at which frames wait. That does for everything but what others learn
//! from the end of a transmission: an account that pauses its link may then tell it to go on. So the end of a transmission is an
//! event at the ports where a frame may wait that is on such an account, and at all ports of a switch of which a memory is shared
//! or a relay is part, where each frame that leaves changes what is decided elsewhere.
//!
//! Until then an account may have more on it than is there. That does not matter below XOFF and below the most that it ever had;
//! before it gets there, all ports of the switch catch up.

use super::memory::Memory;
use super::pfc::NO_PORT;
use super::ports::Ports;
use super::scheduling::each;

/// The ports of a node, which stand one after the other.
#[derive(Debug)]
pub(super) struct Switch {
    /// The first of them.
    first: u32,
    /// How many there are.
    count: u32,
    /// The ports that transmit, or have transmitted and not caught up: a bit each.
    busy: Vec<u64>,
    /// The ports of which an account pauses the link: a bit each, and one for several where there are more than 64.
    pausing: u64,
    /// The end of each transmission is an event.
    every_end: bool,
}

impl Switch {
    /// The bit of a port among those whose accounts pause their links.
    fn bit(&self, at: u32) -> u64 {
        1 << ((at - self.first) % 64)
    }
}

impl Ports {
    /// Says that these ports are a switch's, now that all is known of them. Nothing is said of plain ones.
    pub fn join_switch(&mut self, ports: std::ops::Range<u32>) {
        let ruled: Vec<u32> = ports.clone().filter(|&at| self.rules_if_any(at).is_some()).collect();
        let every_end = ruled.iter().any(|&at| {
            let rules = self.rules(at);
            let of_others = rules.pfc().is_some_and(|pfc| pfc.relay.is_some() || !pfc.is_static());
            of_others || matches!(rules.memory, Memory::Shared(_))
        });
        let number = self.switches.len() as u32;
        for &at in &ruled {
            self.rules_mut(at).switch = number;
        }
        let words = ports.len().div_ceil(64);
        let (first, count) = (ports.start, ports.len() as u32);
        self.switches.push(Switch { first, count, busy: vec![0; words], pausing: 0, every_end });
    }

    fn switch_of(&mut self, at: u32) -> Option<&mut Switch> {
        let number = self.rules(at).switch;
        self.switches.get_mut(number as usize)
    }

    /// A port has begun to transmit.
    #[inline]
    pub(super) fn note_busy(&mut self, at: u32) {
        if let Some(switch) = self.switch_of(at) {
            let place = (at - switch.first) as usize;
            switch.busy[place / 64] |= 1 << (place % 64);
        }
    }

    /// A port's transmission has ended.
    #[inline]
    pub(super) fn note_idle(&mut self, at: u32) {
        if let Some(switch) = self.switch_of(at) {
            let place = (at - switch.first) as usize;
            switch.busy[place / 64] &= !(1 << (place % 64));
        }
    }

    /// The ports of a port's switch that transmit, or have transmitted and not caught up, to be walked through word by word.
    #[inline]
    pub fn busy_ports(&self, at: u32, word: usize) -> Option<(u32, u64)> {
        let switch = self.switches.get(self.rules(at).switch as usize)?;
        let busy = switch.busy.get(word)?;
        Some((switch.first + word as u32 * 64, *busy))
    }

    /// Whether an account may have more on it than is at the switch.
    #[inline]
    pub fn may_be_behind(&self, at: u32) -> bool {
        self.switches.get(self.rules(at).switch as usize).is_some_and(|switch| !switch.every_end)
    }

    /// An account has begun or ceased to pause its link.
    pub(super) fn note_pausing(&mut self, at: u32) {
        let Some(switch) = self.switches.get(self.rules(at).switch as usize) else { return };
        let bit = switch.bit(at);
        let alike = (switch.first..switch.first + switch.count).filter(|&other| switch.bit(other) == bit);
        let pauses = |at: u32| {
            let pfc = self.rules_if_any(at).and_then(|rules| rules.pfc());
            pfc.is_some_and(|pfc| each(pfc.lossless).any(|class| pfc.accounts[class].pausing))
        };
        let any = alike.clone().any(pauses);
        let switch = self.switch_of(at).expect("it was there");
        switch.pausing = if any { switch.pausing | bit } else { switch.pausing & !bit };
    }

    /// A frame that is on the account of port `ingress` has come to a port.
    #[inline]
    pub(super) fn note_account(&mut self, at: u32, ingress: u32) {
        if ingress != NO_PORT {
            if let Some(switch) = self.switches.get(self.rules(at).switch as usize) {
                let bit = switch.bit(ingress);
                self.rules_mut(at).accounts_seen |= bit;
            }
        }
    }

    /// Whether the end of a switch port's transmission has to be an event.
    #[inline]
    pub fn is_watched(&self, at: u32) -> bool {
        let rules = self.rules(at);
        let Some(switch) = self.switches.get(rules.switch as usize) else { return false };
        switch.every_end
            || rules.accounts_seen & switch.pausing != 0
            || rules.pfc.as_ref().is_some_and(|pfc| pfc.unsent() > 0)
    }
}
