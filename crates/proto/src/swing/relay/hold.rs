//! Whether the far relay is held, for a reason beyond the paper, and the grants that this takes counting.

use super::{Pfc, Port, Relay};
use crate::units::{Bytes, Span, Time};

impl Relay {
    /// Begins or ends to hold the far relay.
    pub(super) fn reconsider_hold(&mut self, priority: usize, now: Time) {
        if self.params.safety.is_none() && self.params.virtual_queue.is_none() {
            return;
        }
        self.count_grants(priority, now);
        let holds = self.priorities[priority].refresh_hold.is_some();
        if self.has_reason_to_hold(priority, now, holds) != holds {
            let grants = self.grants(priority, now);
            let state = &mut self.priorities[priority];
            if holds {
                state.refresh_hold = None;
                self.pass_pause_on(priority, now);
            } else {
                state.refresh_hold = Some(now + self.refresh[Port::Remote as usize]);
                self.pending[Port::Remote as usize].push(Pfc { priority, quanta: self.params.quanta });
            }
            self.note_end_of_grant(priority, grants, now);
        }
        if let Some(safety) = self.params.safety {
            self.priorities[priority].look_at = self.when_to_look(safety, priority, now);
        }
    }

    fn has_reason_to_hold(&mut self, priority: usize, now: Time, holds: bool) -> bool {
        let unsafe_now = self.params.safety.is_some_and(|limit| {
            let slack = if holds { self.params.safety_hysteresis() } else { 0 };
            let granted = self.priorities[priority].granted.sum(now);
            let granted = self.params.rate.sent_in(Span::from_ps(granted)).get();
            granted + self.beside_grants(priority, now) + slack > limit.get()
        });
        let state = &mut self.priorities[priority];
        let slack = if holds { self.params.hysteresis.get() } else { 0 };
        let queue = state.remote;
        let too_long = self.params.virtual_queue.is_some_and(|virtual_queue| {
            let granted = self.params.rate.sent_in(Span::from_ps(state.granted.sum(now))).get();
            queue > virtual_queue.above.get()
                && queue + granted + slack > state.sent.sum(now) + virtual_queue.target.get()
        });
        unsafe_now || too_long
    }

    /// The bytes by which what waits and what the grants of the last round trip may bring exceed a round trip of the link. Nothing, to some
    /// frames, while both ends count alike; a clock that is faster, and PAUSEs that are lost, let it grow, until `safety` holds the far
    /// relay. None without `safety` and `virtual_queue`, as grants are not counted then.
    pub fn drift(&self, priority: usize, now: Time) -> Option<Bytes> {
        if self.params.safety.is_none() && self.params.virtual_queue.is_none() {
            return None;
        }
        let mut seen = self.clone();
        seen.count_grants(priority, now);
        let granted = Span::from_ps(seen.priorities[priority].granted.sum(now));
        let most = seen.params.rate.sent_in(seen.priorities[priority].granted.length());
        let counted = seen.waiting(Port::Remote, priority).get() + seen.params.rate.sent_in(granted).get();
        Some(Bytes::new(counted.saturating_sub(most.get())))
    }

    /// Returns what waits, and what grants may bring beyond their length: those that have ended, and the one that has not or that
    /// would begin.
    fn beside_grants(&mut self, priority: usize, now: Time) -> u64 {
        let open = self.grants(priority, now) || self.holds(priority);
        let state = &mut self.priorities[priority];
        let of_open = if open { self.params.overrun.get() } else { 0 };
        state.remote + state.overruns.sum(now) + of_open
    }

    /// Returns when what waits and what may come could first exceed `safety` if nothing comes and nothing leaves; while the far
    /// relay is held and nothing waits, so that nothing will leave, when grants are next forgotten.
    fn when_to_look(&mut self, safety: Bytes, priority: usize, now: Time) -> Time {
        let (holds, grants) = (self.holds(priority), self.grants(priority, now));
        let beside = self.beside_grants(priority, now);
        let state = &mut self.priorities[priority];
        if holds {
            let waits = state.remote > 0;
            return if waits { Time::NEVER } else { state.granted.next_part() };
        }
        let room = Bytes::new(safety.get().saturating_sub(beside));
        let longest = state.granted.length();
        if !grants || self.params.rate.sent_in(longest) <= room {
            // When a pause of the switch runs out, the timer tells that.
            return Time::NEVER;
        }
        let granted = Span::from_ps(state.granted.sum(now));
        now + (self.params.rate.lasting(room) + Span::from_ps(1)).saturating_sub(granted)
    }

    /// Returns whether the far relay is allowed to send, as far as it has been or is being told.
    pub(super) fn grants(&self, priority: usize, now: Time) -> bool {
        let state = &self.priorities[priority];
        state.refresh_hold.is_none() && state.paused_until[Port::Local as usize] <= now
    }

    /// Counts the overrun of a grant that has ended, if there was one before.
    pub(super) fn note_end_of_grant(&mut self, priority: usize, before: bool, now: Time) {
        if self.params.safety.is_some() && before && !self.grants(priority, now) {
            self.priorities[priority].overruns.add(now, self.params.overrun.get());
        }
    }

    /// Counts the time up to `now` for which the far relay was allowed to send.
    pub(super) fn count_grants(&mut self, priority: usize, now: Time) {
        if self.params.safety.is_none() && self.params.virtual_queue.is_none() {
            return;
        }
        let state = &mut self.priorities[priority];
        if state.refresh_hold.is_none() {
            let from = state.granted_until.max(state.paused_until[Port::Local as usize]);
            state.granted.add_time(from, now);
        }
        state.granted_until = now;
    }
}
