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

use std::ops::Range;

use super::memory::Memory;
use super::pfc::NO_PORT;
use super::ports::Ports;
use super::scheduling::each;

/// The ports of a node, which stand one after the other.
#[derive(Debug)]
pub(super) struct Switch {
    ports: Range<u32>,
    /// The ports of which an account pauses the link: a bit each, and one for several where there are more than 64. All, where the
    /// end of each transmission is to be an event.
    pausing: u64,
    every_end: bool,
}

/// The bit of the port that has a frame on its account, at a switch with this first port. What is on none has the first one's.
#[inline(always)]
pub(super) fn bit_of_account(first: u32, at: u32) -> u64 {
    if at == NO_PORT {
        return 1;
    }
    1 << (at.wrapping_sub(first) % 64)
}

impl Ports {
    /// Says that these ports are a switch's, now that all is known of them. Nothing is said of plain ones.
    pub fn join_switch(&mut self, ports: Range<u32>) {
        let ruled: Vec<u32> = ports.clone().filter(|&at| self.rules_if_any(at).is_some()).collect();
        let every_end = ruled.iter().any(|&at| {
            let rules = self.rules(at);
            let of_others = rules.pfc().is_some_and(|pfc| pfc.relay.is_some() || !pfc.is_static());
            of_others || matches!(rules.memory, Memory::Shared(_))
        });
        let number = self.switches.len() as u32;
        for &at in &ruled {
            let rules = self.rules_mut(at);
            (rules.switch, rules.first_port) = (number, ports.start);
            if let Some(pfc) = &mut rules.pfc {
                pfc.is_lazy = !every_end;
            }
        }
        self.switches.push(Switch { ports, pausing: if every_end { u64::MAX } else { 0 }, every_end });
    }

    /// The ports of a port's switch, if what happens at them may be known late; none else.
    pub fn ports_of_switch(&self, at: u32) -> Range<u32> {
        let switch = self.rules_if_any(at).and_then(|rules| self.switches.get(rules.switch as usize));
        switch.filter(|switch| !switch.every_end).map_or(0..0, |switch| switch.ports.clone())
    }

    /// An account of a port has begun or ceased to pause its link.
    pub(super) fn note_pausing(&mut self, at: u32) {
        let Some(switch) = self.switches.get(self.rules(at).switch as usize) else { return };
        if switch.every_end {
            return;
        }
        let (first, bit) = (switch.ports.start, bit_of_account(switch.ports.start, at));
        let pauses = |at: u32| {
            let pfc = self.rules_if_any(at).and_then(|rules| rules.pfc());
            pfc.is_some_and(|pfc| each(pfc.lossless).any(|class| pfc.accounts[class].pausing))
        };
        let any = switch.ports.clone().filter(|&other| bit_of_account(first, other) == bit).any(pauses);
        let number = self.rules(at).switch as usize;
        let switch = &mut self.switches[number];
        switch.pausing = if any { switch.pausing | bit } else { switch.pausing & !bit };
    }

    /// Whether the end of the transmission of a switch's ruled port has to be an event.
    #[inline(always)]
    pub fn is_watched(&self, at: u32) -> bool {
        let rules = self.rules(at);
        rules.accounts_seen & self.switches[rules.switch as usize].pausing != 0
    }
}
