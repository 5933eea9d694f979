//! Which way an endpoint's control packet takes, where there are several: that of the arbiter's last one, or each in its turn.

use crate::units::{Span, Time};

/// A way by which the other side was heard is taken for so long.
const KEPT: Span = Span::from_ms(1);
/// For so long it is taken for every second packet: links on the others may have failed, or on this one.
const REMEMBERED: Span = Span::from_secs(1);

/// The ways of control packets from one machine to another, by number.
///
/// An arbiter knows which links have failed and keeps off them in both directions; an endpoint does not, and answers by the way
/// by which it was spoken to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotation {
    next: u32,
    heard: Option<(u32, Time)>,
    /// Whether the last packet took the way by which the other side was heard.
    other: bool,
}

impl Rotation {
    /// Notes that a packet of the other side has come by this way.
    pub fn hear(&mut self, now: Time, way: u32) {
        self.heard = Some((way, now));
    }

    /// The way of a packet that leaves now, of `ways`: that by which the other side was heard of late, or else the next one.
    pub fn choose(&mut self, now: Time, ways: u32) -> u32 {
        if let Some((way, at)) = self.heard.filter(|&(_, at)| now < at + REMEMBERED) {
            self.other = !self.other;
            if now < at + KEPT || self.other {
                return way;
            }
        }
        let way = self.next % ways;
        self.next = (way + 1) % ways;
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_take_turns_and_an_answer_comes_back_the_same_way() {
        let mut rotation = Rotation::default();
        let now = Time::ZERO + Span::from_ms(5);
        let ways: Vec<_> = (0..4).map(|_| rotation.choose(now, 3)).collect();
        assert_eq!(ways, [0, 1, 2, 0]);
        rotation.hear(now, 0);
        assert_eq!((rotation.choose(now, 3), rotation.choose(now, 3)), (0, 0));
        let ways: Vec<_> = (0..6).map(|_| rotation.choose(now + KEPT, 3)).collect();
        assert_eq!(ways, [0, 1, 0, 2, 0, 0]);
        assert_eq!(rotation.choose(now + REMEMBERED, 3), 1);
    }
}
