//! An endpoint that sockets go to: from what they have to send and what is granted to the slots that it needs and the rate of each.

use clearway_proto::units::{Span, Time};

use super::demand::needed;
use super::framing::Segment;
use super::kernel::{Limits, UNLIMITED};
use super::sockets::{share, Sockets};
use super::udp::Flow;
use super::work::Work;
use super::Settings;
use crate::fastpass::reach::Reach;

/// The lowest rate of a socket, in bytes a second: the kernel takes 0 for none.
const LEAST_SHARE: u64 = 1000;
/// Each socket of a pair that has sent enough on account sends two segments in this time, as far as the idle rate allows.
const OVERDRAWN: Span = Span::from_ms(40);
/// The idle rate is two segments in this time or more.
const IDLE: Span = Span::from_ms(5);
/// And this part of the link, divided by the number of other endpoints.
const IDLE_PART: u64 = 20;
/// All sockets get their rates at once when that of one has changed by more than this part.
const CHANGED_PART: u64 = 16;

/// An endpoint that sockets go to.
#[derive(Debug)]
pub(super) struct Destination {
    pub(super) work: Work,
    /// Its sockets as the last look found them.
    pub(super) sockets: Sockets,
    /// Its UDP, which is one socket more.
    pub(super) udp: Flow,
    /// The segments that its slots are used for.
    pub(super) segment: Segment,
    /// Bytes a second that its sockets without a backlog have used of late.
    used: u64,
    /// Slots that it needs.
    pub(super) needed: u32,
    /// Slots that the endpoint's driver was told of and has not been granted.
    pub(super) told: u32,
    pub(super) limits: Limits,
    /// The rate of each socket when all last got theirs at once.
    pub(super) in_round: u32,
}

impl Destination {
    /// One without sockets.
    pub(super) fn new(reach: &Reach, settings: &Settings) -> Destination {
        Destination {
            work: Work::new(reach.slot, settings.window),
            sockets: Sockets::default(),
            udp: Flow::default(),
            segment: Segment::usual(reach.mtu),
            used: 0,
            needed: 0,
            told: 0,
            limits: Limits::NONE,
            in_round: UNLIMITED,
        }
    }

    /// Sets the slots that are needed by what the last look has found, `passed` after the one before, and returns the rates.
    /// `udp_limit` is the rate that UDP has had since then.
    pub(super) fn settle(
        &mut self,
        now: Time,
        passed: Span,
        udp_limit: Option<u64>,
        (reach, settings): (&Reach, &Settings),
    ) -> Limits {
        let sent_by_udp = self.udp.sent_in(passed, udp_limit);
        self.sockets.add_udp(&self.udp, sent_by_udp);
        // Even if the next look comes later: slots that have not been granted yet would be missing from a longer time.
        let (sockets, rate, next) = (self.sockets, reach.rate, settings.look);
        self.segment = sockets.segment.unwrap_or(self.segment);
        let segment = self.segment;
        let to_use = self.work.settle(now, segment.link_time(sockets.sent, rate), next);
        self.average(sockets.sent_without_backlog, passed, settings.window);
        let waiting = segment.link_time(sockets.waiting, rate);
        self.needed = needed(waiting, self.work.outstanding(), sockets.is_full, reach.slot, settings.horizon);
        let others = reach.places.len().saturating_sub(1).max(1) as u64;
        let overdrawn_by = self.work.is_overdrawn().then_some(sockets.active.max(1));
        let link = segment.payload_rate(next, next, rate);
        let idle = idle_rate(link, others, segment, overdrawn_by);
        let of_pair = segment.payload_rate(to_use, next, rate).max(idle);
        let each = share(of_pair, self.used, sockets.backlogged, sockets.active);
        Limits { share: within(each), newcomer: within(idle) }
    }

    /// Keeps the average of what sockets without a backlog use: `sent` bytes in the time `passed`.
    fn average(&mut self, sent: u64, passed: Span, window: Span) {
        let (passed, window) = (passed.min(window).as_ps(), window.as_ps());
        let old = u128::from(self.used) * u128::from(window - passed) / u128::from(window);
        let new = u128::from(sent) * u128::from(Span::from_secs(1).as_ps()) / u128::from(window);
        self.used = (old + new) as u64;
    }

    /// Returns whether the rate of its sockets has changed too much to wait for their next round-trip times.
    pub(super) fn has_changed(&self) -> bool {
        let (is, was) = (u64::from(self.limits.share), u64::from(self.in_round));
        self.sockets.count > 0 && is.abs_diff(was) * CHANGED_PART > was
    }
}

/// The rate of a pair without grants, on a link of rate `link` and with this many other endpoints, all in bytes of payload a second.
/// A pair that has sent enough on account has less: `overdrawn_by` is the number of its sockets then.
fn idle_rate(link: u64, others: u64, segment: Segment, overdrawn_by: Option<u32>) -> u64 {
    let two_in = |time: Span| 2 * segment.payload() * Span::from_secs(1).as_ps() / time.as_ps();
    let most = link / IDLE_PART;
    let idle = (most / others).max(two_in(IDLE).min(most));
    overdrawn_by.map_or(idle, |sockets| idle.min(two_in(OVERDRAWN) * u64::from(sockets)))
}

/// A socket's rate within what the option can say.
fn within(rate: u64) -> u32 {
    u32::try_from(rate.max(LEAST_SHARE)).unwrap_or(UNLIMITED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_grants_a_pair_has_its_part_of_a_twentieth_of_the_link() {
        let (segment, gigabit) = (Segment::usual(1448), 117_685_305);
        assert_eq!(idle_rate(gigabit, 3, segment, None), gigabit / 20 / 3);
        // Among many two segments in 5 ms, on a slow link no more than a twentieth of it.
        assert_eq!(idle_rate(gigabit, 63, segment, None), 2 * 1448 * 200);
        assert_eq!(idle_rate(gigabit / 100, 63, segment, None), gigabit / 100 / 20);
        // Enough sent on account: two segments in 40 ms for each socket.
        assert_eq!(idle_rate(gigabit, 3, segment, Some(8)), 8 * 2 * 1448 * 25);
        assert_eq!(idle_rate(gigabit, 3, segment, Some(1000)), gigabit / 20 / 3);
    }

    #[test]
    fn rates_are_those_that_the_option_can_say() {
        assert_eq!((within(0), within(5_000_000), within(1 << 40)), (1000, 5_000_000, UNLIMITED));
    }
}
