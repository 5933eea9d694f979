//! What a port does that is told to PAUSE: it begins no frame of that class until it is told to RESUME, or the PAUSE has run out.

use crate::units::{Span, Time};

/// A class that the link's other end pauses, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The class is paused.
    paused: bool,
    /// When the last PAUSE runs out.
    until: Time,
    /// When somebody asks next whether it has, as was said; [`Time::NEVER`]: nobody will.
    asked_at: Time,
    /// Since when the class is paused.
    since: Time,
    /// How long it was paused before.
    total: Span,
    /// How often it has begun to be paused.
    pub times: u64,
    /// How often a PAUSE has run out.
    pub ran_out: u64,
}

impl Default for Hold {
    fn default() -> Hold {
        Hold {
            paused: false,
            until: Time::ZERO,
            asked_at: Time::NEVER,
            since: Time::ZERO,
            total: Span::ZERO,
            times: 0,
            ran_out: 0,
        }
    }
}

impl Hold {
    /// Lets a PAUSE for `pause` take effect, or a RESUME, which is one for no time. Returns when [`Self::expire`] is to be
    /// called, if that is not to be anyway.
    pub fn take(&mut self, pause: Span, now: Time) -> Option<Time> {
        if pause == Span::ZERO {
            self.end(now);
            return None;
        }
        if !self.paused {
            (self.paused, self.since) = (true, now);
            self.times += 1;
        }
        self.until = now + pause;
        // One that is shorter than what is left runs out earlier.
        let asks = self.until < self.asked_at;
        if asks {
            self.asked_at = self.until;
        }
        asks.then_some(self.until)
    }

    /// The class is paused no more.
    pub fn end(&mut self, now: Time) {
        if self.paused {
            self.paused = false;
            self.total += now.since(self.since);
        }
    }

    /// The time has come that [`Self::take`] named, unless it was another's: when to call this again, if that is to be.
    pub fn expire(&mut self, now: Time) -> Option<Time> {
        if self.asked_at != now {
            return None;
        }
        self.asked_at = Time::NEVER;
        if !self.paused {
            return None;
        }
        if self.until > now {
            self.asked_at = self.until;
            return Some(self.until);
        }
        self.end(now);
        self.ran_out += 1;
        None
    }

    /// Returns whether the class is paused.
    #[inline]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// Returns whether the last PAUSE does not hold any more when all before `now` has happened.
    pub fn has_run_out(&self, now: Time) -> bool {
        self.until < now
    }

    /// Returns how long the class was paused so far.
    pub fn paused_for(&self, now: Time) -> Span {
        if self.paused {
            self.total + now.since(self.since)
        } else {
            self.total
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_paused_goes_on_when_told_or_when_the_last_pause_has_run_out() {
        let (at, span) = (Time::from_ps, Span::from_ps);
        let mut hold = Hold::default();
        assert_eq!(hold.take(span(100), at(10)), Some(at(110)));
        assert_eq!(hold.take(span(100), at(50)), None, "one that holds longer needs no call of its own");
        assert_eq!(hold.expire(at(110)), Some(at(150)));
        assert_eq!(hold.paused_for(at(120)), span(110));
        assert!(hold.is_paused());
        assert_eq!(hold.expire(at(150)), None);
        assert_eq!((hold.is_paused(), hold.ran_out, hold.paused_for(at(900))), (false, 1, span(140)));
        // One that is shorter runs out earlier; a RESUME ends it at once.
        assert_eq!(hold.take(span(500), at(1000)), Some(at(1500)));
        assert_eq!(hold.take(span(10), at(1001)), Some(at(1011)));
        assert_eq!(hold.take(Span::ZERO, at(1005)), None);
        assert_eq!((hold.paused_for(at(2000)), hold.times, hold.is_paused()), (span(145), 2, false));
        assert_eq!(hold.expire(at(1011)), None);
        assert_eq!(hold.ran_out, 1);
    }

    #[test]
    fn a_pause_has_run_out_after_its_last_instant_and_is_asked_about_once() {
        let (at, span) = (Time::from_ps, Span::from_ps);
        let mut hold = Hold::default();
        assert_eq!(hold.take(span(100), at(10)), Some(at(110)));
        let run_out: Vec<bool> = [at(109), at(110), at(111)].map(|now| hold.has_run_out(now)).to_vec();
        assert_eq!(run_out, [false, false, true]);
        // One that ends at the same instant needs no second call.
        assert_eq!(hold.take(span(60), at(50)), None);
    }
}
