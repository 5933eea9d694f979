//! Flowlets (Vanini et al., "Let It Flow: Resilient Asymmetric Load Balancing with Flowlet Switching", NSDI 2017): packets that
//! follow each other closely take one path; after a pause the path is drawn anew. The paper's switches do so, and here the
//! sender does.

use super::draws::drawn;
use crate::units::{Span, Time};

/// The pause that ends a flowlet: that of htsim's switches (`_sticky_delta` in `fat_tree_switch.cpp`).
pub const FLOWLET_GAP: Span = Span::from_us(10);

/// The flowlet of one flow.
#[derive(Clone, Debug)]
pub struct Flowlet {
    /// A longer pause begins a new flowlet.
    gap: Span,
    /// When the flow sent last, and on which path; none before its first packet.
    last: Option<(Time, u32)>,
}

impl Flowlet {
    /// A flow that has sent nothing; pauses longer than `gap` end its flowlets.
    pub fn new(gap: Span) -> Flowlet {
        Flowlet { gap, last: None }
    }

    /// See [`PathSelector::choose`](super::PathSelector::choose).
    pub(super) fn choose(&mut self, now: Time, paths: u32, random: u64) -> u32 {
        let path = match self.last {
            Some((at, path)) if now.since(at) <= self.gap => path,
            _ => drawn(random, paths),
        };
        self.last = Some((now, path));
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_pause_draws_anew() {
        let mut flowlet = Flowlet::new(Span::from_us(10));
        let at = |us: u64| Time::ZERO + Span::from_us(us);
        let last = u64::MAX;
        assert_eq!(flowlet.choose(at(5), 4, 0), 0);
        // Each packet is measured from the one before it.
        assert_eq!([15, 25, 35].map(|us| flowlet.choose(at(us), 4, last)), [0, 0, 0]);
        assert_eq!(flowlet.choose(at(46), 4, last), 3);
        assert_eq!(flowlet.choose(at(47), 4, 0), 3);
    }
}
