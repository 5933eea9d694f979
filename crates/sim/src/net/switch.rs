//! A switch with ruled ports: which of them may have frames on whose accounts, and which accounts pause their links. See
//! [`super::switches`].

use std::ops::Range;

use super::pfc::NO_PORT;

/// A switch with ruled ports. A port has a bit, and shares it with others where there are more than 64.
#[derive(Debug)]
pub(super) struct Switch {
    /// The first of its ports, which stand one after the other.
    pub first: u32,
    /// For each port the bits of those that may have frames on their accounts which are at it; what is on none counts as the
    /// first port's.
    pub seen: Vec<u64>,
    /// The ports of which an account pauses the link; all where the end of each transmission is to be an event.
    pub pausing: u64,
    /// The end of each transmission is to be an event.
    pub every_end: bool,
}

impl Switch {
    /// Its ports.
    pub fn ports(&self) -> Range<u32> {
        self.first..self.first + self.seen.len() as u32
    }

    /// A frame comes to a port that is on the account of port `ingress`, and nothing else waits there if it is `alone`. Returns
    /// whether the end of what the port transmits has to be an event.
    #[inline(always)]
    pub fn see(&mut self, at: u32, ingress: u32, alone: bool) -> bool {
        let bit = self.bit(ingress);
        let seen = &mut self.seen[(at - self.first) as usize];
        *seen = if alone { bit } else { *seen | bit };
        *seen & self.pausing != 0
    }

    /// The bit of a port.
    #[inline(always)]
    pub fn bit(&self, at: u32) -> u64 {
        if at == NO_PORT {
            return 1;
        }
        1 << (at.wrapping_sub(self.first) % 64)
    }
}
