//! Which way a control packet takes, where there are several: each in its turn, but none over links that have failed.

use crate::units::{Span, Time};

/// A way by which the other side was heard is taken for so long.
const KEPT: Span = Span::from_ms(1);

/// The ways of control packets from one machine to another, by number.
///
/// An arbiter knows which links have failed and keeps off them in both directions; an endpoint does not, and answers by the way
/// by which it was spoken to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotation {
    next: u32,
    heard: Option<(u32, Time)>,
}

impl Rotation {
    /// Notes that a packet of the other side has come by this way.
    pub fn hear(&mut self, now: Time, way: u32) {
        self.heard = Some((way, now));
    }

    /// The way of a packet that leaves now, of `ways`: that by which the other side was heard of late, or else the next one that is
    /// not avoided; the next one if all are.
    pub fn choose(&mut self, now: Time, ways: u32, avoided: impl Fn(u32) -> bool) -> u32 {
        if let Some((way, _)) = self.heard.filter(|&(_, at)| now < at + KEPT) {
            return way;
        }
        let first = self.next % ways;
        let way = (0..ways).map(|i| (first + i) % ways).find(|&way| !avoided(way)).unwrap_or(first);
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
        let none = |_: u32| false;
        let now = Time::ZERO + Span::from_ms(5);
        let ways: Vec<_> = (0..4).map(|_| rotation.choose(now, 3, none)).collect();
        assert_eq!(ways, [0, 1, 2, 0]);
        let ways: Vec<_> = (0..4).map(|_| rotation.choose(now, 3, |way| way == 1)).collect();
        assert_eq!(ways, [2, 0, 2, 0]);
        assert_eq!(rotation.choose(now, 3, |_| true), 1, "one must be taken");
        rotation.hear(now, 0);
        assert_eq!((rotation.choose(now, 3, none), rotation.choose(now, 3, none)), (0, 0));
        assert_eq!(rotation.choose(now + KEPT, 3, none), 2);
    }
}
