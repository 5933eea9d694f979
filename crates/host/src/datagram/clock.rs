//! The driver's one clock, and arrivals put onto it.
//!
//! Machines count [`Time`] from the driver's start, by the monotonic clock. The kernel stamps arrivals with the wall
//! clock, which others may set. As with a NIC's own clock (Swift, appendix A), the map between the two is
//! `host = ratio * stamp + offset` through the two latest readings of both clocks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clearway_proto::units::{Span, Time};

/// How long a reading of both clocks is used before they are read again.
const REFRESH: Span = Span::from_ms(100);
/// Datagrams that have waited longer than this for the driver are rarer than a wall clock that was set.
const LONGEST_WAIT: Span = Span::from_ms(10);
/// How old a reading must be to be doubted.
const LEAST_AGE: Span = Span::from_us(100);
/// How often a reading is attempted; the attempt that took the shortest time counts.
const ATTEMPTS: u32 = 5;
/// Two clocks that both run correctly differ in rate by less than this part; a larger difference means that one was
/// set.
const MOST_DRIFT: f64 = 1e-3;

/// When the kernel received a datagram, by the wall clock, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(pub i64);

/// The map from the kernel's stamps to the driver's clock.
#[derive(Clone, Copy, Debug)]
struct Map {
    host: Time,
    stamp: Stamp,
    ratio: f64,
}

impl Map {
    fn new(host: Time, stamp: Stamp) -> Map {
        Map { host, stamp, ratio: 1.0 }
    }

    /// The map with a later reading. A ratio too far from one is not a clock's rate: a clock has been set in between.
    fn advanced(self, host: Time, stamp: Stamp) -> Map {
        let quotient = host.since(self.host).as_ps() as f64 / ((stamp.0 - self.stamp.0) as f64 * 1e3);
        let ratio = if (quotient - 1.0).abs() <= MOST_DRIFT { quotient } else { 1.0 };
        Map { host, stamp, ratio }
    }

    fn at(self, stamp: Stamp) -> Time {
        let ps = stamp.0.saturating_sub(self.stamp.0) as f64 * 1e3 * self.ratio;
        if ps >= 0.0 {
            self.host + Span::from_ps(ps as u64)
        } else {
            Time::from_ps(self.host.as_ps().saturating_sub(-ps as u64))
        }
    }

    /// Returns when a datagram that is looked at `now` arrived, no later than that. Both clocks are read anew where the last
    /// reading is old, or where the wall clock seems to have been set since.
    fn arrival(&mut self, now: Time, stamp: Stamp, read: impl FnOnce() -> (Time, Stamp)) -> Time {
        let at = self.at(stamp);
        let age = now.since(self.host);
        let is_set = at.since(now) > Span::ZERO || now.since(at) > LONGEST_WAIT;
        if age <= REFRESH && !(is_set && age > LEAST_AGE) {
            return at.min(now);
        }
        let (host, wall) = read();
        *self = self.advanced(host, wall);
        self.at(stamp).min(now)
    }
}

/// The driver's clock.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    map: Map,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Clock {
        let start = instant();
        let (host, stamp) = reading(start);
        Clock { start, map: Map::new(host, stamp) }
    }

    /// The time since the clock's start.
    #[inline]
    pub fn now(&self) -> Time {
        since(self.start, instant())
    }

    /// Returns when a datagram that is looked at `now` arrived: by its stamp, or `now` where it has none or one that lies in
    /// the future.
    pub fn arrival(&mut self, now: Time, stamp: Option<Stamp>) -> Time {
        let Some(stamp) = stamp else { return now };
        self.map.arrival(now, stamp, || reading(self.start))
    }
}

/// Nanoseconds since 1970 by the wall clock when this clock started.
pub fn unix_at_start(clock: &Clock) -> u64 {
    let (host, stamp) = reading(clock.start);
    u64::try_from(stamp.0).unwrap_or(0).saturating_sub(host.as_ps() / 1000)
}

/// Both clocks at one instant, as nearly as they can be read.
fn reading(start: Instant) -> (Time, Stamp) {
    let attempt = || {
        let (before, wall, after) = (instant(), wall(), instant());
        (after - before, before + (after - before) / 2, wall)
    };
    let (_, host, wall) = (0..ATTEMPTS).map(|_| attempt()).min_by_key(|&(took, ..)| took).expect("attempts");
    (since(start, host), Stamp(wall.as_nanos() as i64))
}

fn since(start: Instant, at: Instant) -> Time {
    Time::ZERO + Span::from_ns(at.duration_since(start).as_nanos() as u64)
}

#[allow(clippy::disallowed_methods, reason = "this is the driver's clock")]
fn instant() -> Instant {
    Instant::now()
}

#[allow(clippy::disallowed_methods, reason = "kernel stamps are of this clock")]
fn wall() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reading that must not be taken.
    fn none() -> (Time, Stamp) {
        panic!("the map is fresh, and the stamp agrees with it")
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    /// A wall clock at 5 s when the host's began.
    fn stamp(us: i64) -> Stamp {
        Stamp(5_000_000_000 + us * 1000)
    }

    #[test]
    fn stamps_before_and_after_a_reading_are_mapped_by_their_distance() {
        let map = Map::new(us(100), stamp(100));
        assert_eq!(map.at(stamp(130)), us(130));
        assert_eq!(map.at(stamp(70)), us(70));
        assert_eq!(map.at(stamp(-200)), Time::ZERO);
    }

    #[test]
    fn a_clock_that_runs_fast_is_slowed_down() {
        // The stamps' clock gains 100 us a second.
        let map = Map::new(us(0), stamp(0)).advanced(us(1_000_000), stamp(1_000_100));
        let half = map.at(stamp(1_500_150));
        assert!(
            half.since(us(1_500_000)) < Span::from_ns(10) && us(1_500_000).since(half) < Span::from_ns(10)
        );
    }

    #[test]
    fn a_clock_that_was_set_is_believed_at_once() {
        for set_to in [3_600_000_000, -3_600_000_000] {
            let map = Map::new(us(0), stamp(0)).advanced(us(100_000), stamp(set_to));
            assert_eq!(map.at(stamp(set_to - 20)), us(99_980));
        }
    }

    /// Somebody sets the wall clock while datagrams arrive, just after it was read.
    #[test]
    fn no_datagram_is_late_because_a_clock_was_set() {
        for set_to in [3_600_000_000, -3_600_000_000, 40_000, -400_000] {
            let host = |since: u32| us(1_000_000 + u64::from(since));
            let wall = |since: u32| stamp(1_000_000 + i64::from(since));
            let set = |since: u32| stamp(1_000_000 + set_to + i64::from(since));
            let mut map = Map::new(host(0), wall(0));
            assert_eq!(map.arrival(host(50), wall(30), none), host(30));
            assert_eq!(map.arrival(host(210), set(200), || (host(210), set(210))), host(200), "{set_to}");
            assert_eq!(map.arrival(host(310), set(300), none), host(300), "{set_to}");
        }
    }

    #[test]
    fn an_arrival_is_never_ahead_of_its_processing() {
        let mut clock = Clock::start();
        let now = clock.now();
        assert_eq!(clock.arrival(now, Some(Stamp(i64::MAX))), now);
        assert_eq!(clock.arrival(now, None), now);
    }

    #[test]
    fn a_stamp_of_now_is_mapped_to_now() {
        let mut clock = Clock::start();
        let stamp = Stamp(wall().as_nanos() as i64);
        let now = clock.now();
        let arrival = clock.arrival(now, Some(stamp));
        assert!(now.since(arrival) < Span::from_ms(50), "{now:?} {arrival:?}");
    }
}
