//! How far endpoints' clocks are from the arbiter's (§6: they are synchronized to less than a slot; here to up to a second).
//!
//! A grant is of use only if its slot comes when it is meant to by the *endpoint's* clock. An arbiter whose clock is 45 us
//! ahead or 100 us behind would have all its grants refused for their age, for ever. So each packet says which slot it is at
//! its sender when it leaves; that is less than the slot that it would be there when it comes, by the time on the way. Of an
//! endpoint's requests the arbiter learns how far its clock is ahead *at least*, and from what the endpoint says of the
//! arbiter's packets, how far *at most*. However long packets take, the truth lies between.
//!
//! - If most endpoints' clocks are certainly more than [`MOVED_BEYOND`] from the arbiter's count of slots, it moves that to the
//!   middle of what they say. It does so for less certain reasons when it takes over: if it would grant slots of the past or
//!   too far ahead, supposing that requests take less time than it allocates ahead.
//! - If a single endpoint's clock is certainly more than [`TRANSLATED_BEYOND`] from the arbiter's count of slots, the slots of
//!   its grants are translated.
//!
//! As long as clocks agree to within the first of these, nothing of it happens, whatever the network does. To move the count
//! never makes a slot be granted twice, as no slot is granted before the last one granted. To translate does away with
//! the promise that no two packets meet; but an endpoint with such a clock could not keep it anyway.

use crate::fastpass::fcp::{Address, Request};
use crate::fastpass::recent::Recent;
use crate::fastpass::timeslots::Timeslots;
use crate::units::{Span, Time};

/// Clocks further apart than this are not believed.
const MAX_SKEW: Span = Span::from_secs(1);
/// The arbiter's count of slots is moved if it is further than this from most endpoints': as much as the last slot of a
/// batch may be further ahead without being refused, with batches, pre-allocation and limits of age as they are by default.
const MOVED_BEYOND: Span = Span::from_us(10);
/// An endpoint's slots are translated if it is further than this from the arbiter's count of slots.
const TRANSLATED_BEYOND: Span = Span::from_us(20);
/// The median is not found more often than this, so that an endpoint whose clock is wrong makes little work.
const MEDIAN_INTERVAL: Span = Span::from_us(5);

/// What an arbiter knows of the endpoints' clocks. Differences are in slots.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    of: Box<[Clock]>,
    /// Room in which a median is found.
    sorted: Vec<i64>,
    /// The median of late, and until when it is taken for that.
    median: Clock,
    median_until: Time,
    max_skew: i64,
    moved_beyond: i64,
    translated_beyond: i64,
}

/// How far an endpoint's clock is ahead of the arbiter's.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// The least that the clock can be ahead.
    least: Recent,
    /// The most that the clock can be ahead, negated.
    most: Recent,
    /// Added to the slots of its grants.
    translation: i64,
}

/// What has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    /// Nothing.
    Stay,
    /// The arbiter has to count slots so far ahead of its clock.
    Move(i64),
    /// The endpoint's slots are translated in another way than before.
    Translated,
}

impl Clocks {
    pub(super) fn new(nodes: usize, timeslots: Timeslots) -> Clocks {
        let slots = |span: Span| {
            i64::try_from(span.as_ps().div_ceil(timeslots.length().as_ps())).unwrap_or(i64::MAX / 4)
        };
        Clocks {
            of: vec![Clock::default(); nodes].into_boxed_slice(),
            sorted: Vec::with_capacity(nodes),
            median: Clock::default(),
            median_until: Time::ZERO,
            max_skew: slots(MAX_SKEW),
            moved_beyond: slots(MOVED_BEYOND),
            translated_beyond: slots(TRANSLATED_BEYOND),
        }
    }

    /// Returns how far a slot of another machine's clock is ahead of that of this one's, `own`; `None` if that cannot be true.
    fn difference(&self, slot: u64, own: u64) -> Option<i64> {
        let difference = i64::try_from(i128::from(slot) - i128::from(own)).ok()?;
        (-self.max_skew..=self.max_skew).contains(&difference).then_some(difference)
    }

    /// Returns whether slots are too far apart to be true.
    pub(super) fn is_absurd(&self, slot: u64, own: u64) -> bool {
        self.difference(slot, own).is_none()
    }

    /// Takes what a request says of clocks, when the arbiter's shows slot `own`. Returns whether that can be true.
    pub(super) fn hear(&mut self, now: Time, request: &Request, own: u64) -> bool {
        let behind = request.arbiter_ahead.map_or(0, i64::from);
        let Some(ahead) = self.difference(request.slot, own).filter(|_| behind.abs() <= self.max_skew) else {
            return false;
        };
        self.of[usize::from(request.source)].least.note(now, ahead);
        true
    }

    /// Takes what a request in the present term says of this arbiter's clock.
    fn hear_of_own(&mut self, now: Time, request: &Request) {
        let Some(ahead) = request.arbiter_ahead else { return };
        if i64::from(ahead).abs() <= self.max_skew {
            self.of[usize::from(request.source)].most.note(now, ahead.into());
        }
    }

    /// Added to the slots of an endpoint's grants.
    pub(super) fn translation(&self, endpoint: Address) -> i64 {
        self.of[usize::from(endpoint)].translation
    }

    /// Takes what a request in the present term says of clocks, and what follows from it for the arbiter, which counts slots
    /// `frame` ahead of its clock.
    pub(super) fn advise(&mut self, now: Time, request: &Request, frame: i64) -> Advice {
        self.hear_of_own(now, request);
        let clock = self.of[usize::from(request.source)];
        // The frequent case, without looking at others: this endpoint agrees.
        if clock.translation == 0 && !clock.is_beyond(now, frame, self.moved_beyond) {
            return Advice::Stay;
        }
        if now >= self.median_until {
            self.median = self.find_median(now);
            self.median_until = now + MEDIAN_INTERVAL;
        }
        let median = self.median;
        if median.is_beyond(now, frame, self.moved_beyond) {
            let moved = median.estimate(now).unwrap_or(frame);
            self.translate_by(frame - moved);
            return Advice::Move(moved);
        }
        // As long as it is not known whether most endpoints are with this one, the arbiter may have to move instead; what it
        // had translated until then would meet what it grants afterwards.
        if median.most.greatest(now).is_none() {
            return Advice::Stay;
        }
        let clock = &mut self.of[usize::from(request.source)];
        let translation = if clock.is_beyond(now, frame, self.translated_beyond) {
            clock.estimate(now).map_or(0, |estimate| estimate - frame)
        } else {
            0
        };
        // An estimate wavers a little; to follow it each time would be no better.
        if (translation - clock.translation).abs() <= self.moved_beyond && translation != 0 {
            return Advice::Stay;
        }
        let changed = translation != clock.translation;
        clock.translation = translation;
        if changed {
            Advice::Translated
        } else {
            Advice::Stay
        }
    }

    /// Returns where an arbiter that takes over should move its count of slots. `most` is how many slots it allocates ahead.
    pub(super) fn advise_new_primary(&mut self, now: Time, frame: i64, most: u32) -> Option<i64> {
        for clock in &mut self.of {
            // That was about the arbiter's clock when it was primary before.
            clock.most = Recent::default();
        }
        let median = self.find_median(now).least.greatest(now);
        let moved = median.filter(|median| (median - frame).abs() > i64::from(most))?;
        self.translate_by(frame - moved);
        Some(moved)
    }

    /// Adds to the translation of those endpoints that have one.
    fn translate_by(&mut self, slots: i64) {
        for clock in self.of.iter_mut().filter(|clock| clock.translation != 0) {
            clock.translation += slots;
        }
    }

    /// A clock of which at least half of the endpoints are as far ahead or further, and as far behind or further.
    fn find_median(&mut self, now: Time) -> Clock {
        let mut clock = Clock::default();
        let heard = |clock: &&Clock| clock.least.greatest(now).is_some();
        let middle = self.of.iter().filter(heard).count() / 2;
        self.sorted.clear();
        self.sorted.extend(self.of.iter().filter_map(|clock| clock.least.greatest(now)));
        if !self.sorted.is_empty() {
            clock.least.note(now, *self.sorted.select_nth_unstable(middle).1);
        }
        // Endpoints that have not said anything of this arbiter's clock may be ahead without end.
        self.sorted.clear();
        self.sorted.extend(self.of.iter().filter_map(|clock| clock.most.greatest(now)).map(|most| -most));
        if self.sorted.len() > middle {
            clock.most.note(now, -*self.sorted.select_nth_unstable(middle).1);
        }
        clock
    }
}

impl Clock {
    /// Returns whether the clock is certainly further than this from one that is `frame` ahead of the arbiter's.
    fn is_beyond(&self, now: Time, frame: i64, slots: i64) -> bool {
        let ahead = self.least.greatest(now).is_some_and(|least| least > frame + slots);
        let behind = self.most.greatest(now).is_some_and(|most| -most < frame - slots);
        ahead || behind
    }

    /// Returns how far the clock is ahead of the arbiter's: the middle of what is possible, or the least if that is all there is.
    fn estimate(&self, now: Time) -> Option<i64> {
        let least = self.least.greatest(now)?;
        Some(self.most.greatest(now).map_or(least, |most| (least - most).div_euclid(2)))
    }
}
