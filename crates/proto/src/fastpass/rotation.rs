//! Which path an endpoint's request takes, where there are several: that of the arbiter's last word, or each in its turn.

use crate::units::{Span, Time};

/// For this long the path by which the arbiter was heard is taken for every second request at least.
const REMEMBERED: Span = Span::from_secs(1);

/// The paths of control packets from one machine to another, by number.
///
/// An arbiter knows which links have failed and keeps off them in both directions; an endpoint does not. So it answers by the
/// path by which it was spoken to. But what came may not come back that way, as a link can fail in one direction: requests that
/// nothing was heard after are followed by one on another path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rotation {
    next: u32,
    heard: Option<(u32, Time)>,
    /// Whether the other side was heard since the last packet was sent.
    fresh: bool,
    /// Whether the last packet took the path by which the other side was heard.
    answered: bool,
}

impl Rotation {
    /// Notes that the other side has spoken on this path, which it thinks is whole in both directions: trials do not count.
    pub fn hear(&mut self, now: Time, path: u32) {
        (self.heard, self.fresh) = (Some((path, now)), true);
    }

    /// The path of a packet that leaves now, of `paths`: the one by which the other side was heard since the last packet; if it
    /// was not, that one and the next of all in turn.
    pub fn choose(&mut self, now: Time, paths: u32) -> u32 {
        if let Some((path, _)) = self.heard.filter(|&(_, at)| now < at + REMEMBERED) {
            self.answered = self.fresh || !self.answered;
            self.fresh = false;
            if self.answered {
                return path;
            }
        }
        let path = self.next % paths;
        self.next = (path + 1) % paths;
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_take_turns_and_an_answer_goes_back_the_same_way() {
        let mut rotation = Rotation::default();
        let now = Time::ZERO + Span::from_ms(5);
        let paths: Vec<_> = (0..4).map(|_| rotation.choose(now, 3)).collect();
        assert_eq!(paths, [0, 1, 2, 0]);
        for _ in 0..3 {
            rotation.hear(now, 0);
            assert_eq!(rotation.choose(now, 3), 0, "heard since the last one");
        }
        let paths: Vec<_> = (0..6).map(|_| rotation.choose(now, 3)).collect();
        assert_eq!(paths, [1, 0, 2, 0, 0, 0], "not heard since: every second one goes another way");
        assert_eq!(rotation.choose(now + REMEMBERED, 3), 1);
    }
}
