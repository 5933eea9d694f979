//! Clocks that err, and what transports make of the stamps that they read; [`Clock`] says what a clock shows.

use clearway_proto::units::Time;

use crate::model::Clock;
use crate::random::{mix, Entity, Stream};

/// One clock. A reading is in picoseconds.
#[derive(Clone, Debug)]
pub struct LocalClock {
    offset: i128,
    /// The rate error, in parts per billion.
    drift: i128,
    jitter: u64,
    /// The errors of single readings, in their order.
    errors: Stream,
    /// The seed from which the errors of the readings for the map are drawn, each by its number.
    map_seed: u64,
}

impl LocalClock {
    /// The clock of this kind and id, with errors drawn within the limits of `clock`.
    pub fn new(seed: u64, entity: Entity, id: u32, clock: &Clock) -> LocalClock {
        let mut errors = Stream::new(seed, entity, u64::from(id));
        let offset = symmetric(&mut errors, clock.offset.as_ps());
        let drift = symmetric(&mut errors, clock.drift.0);
        let map_seed = errors.bits();
        LocalClock { offset, drift, jitter: clock.jitter.as_ps(), errors, map_seed }
    }

    /// Returns what the clock shows at simulated time `at`, without the error of a reading.
    fn shows(&self, at: i128) -> i128 {
        i128::from(Clock::BASE.as_ps()) + at + (at * self.drift).div_euclid(1_000_000_000) + self.offset
    }

    /// A reading at simulated time `at`.
    pub fn read(&mut self, at: u64) -> i128 {
        let error = symmetric(&mut self.errors, self.jitter);
        self.shows(i128::from(at)) + error
    }

    /// Returns what the clock shows at simulated time `at`, as a local time.
    pub fn local(&self, at: Time) -> Time {
        if at == Time::NEVER {
            return at;
        }
        Time::from_ps(self.shows(i128::from(at.as_ps())).max(0) as u64)
    }

    /// The first simulated time at which the clock shows `local` or more.
    pub fn simulated(&self, local: Time) -> Time {
        if local == Time::NEVER {
            return local;
        }
        let local = i128::from(local.as_ps());
        let since = local - i128::from(Clock::BASE.as_ps()) - self.offset;
        let mut at = (since * 1_000_000_000).div_euclid(1_000_000_000 + self.drift) - 1;
        while self.shows(at) < local {
            at += 1;
        }
        Time::from_ps(at.max(0) as u64)
    }

    /// The simulated time at which a reading, with its error, shows `local`.
    pub fn wake(&mut self, local: Time) -> Time {
        let at = self.simulated(local);
        if at == Time::NEVER || self.jitter == 0 {
            return at;
        }
        let error = symmetric(&mut self.errors, self.jitter);
        Time::from_ps((i128::from(at.as_ps()) + error).max(0) as u64)
    }

    /// The reading for the map at multiple `number` of [`Clock::MAP_INTERVAL`].
    fn read_for_map(&self, number: i128) -> i128 {
        let mut error = Stream::new(mix(self.map_seed), Entity::ClockMap, number as u64);
        self.shows(number * i128::from(Clock::MAP_INTERVAL.as_ps())) + symmetric(&mut error, self.jitter)
    }
}

/// A draw from `-most..=most`, uniformly; nothing is drawn where there is no choice.
fn symmetric(stream: &mut Stream, most: u64) -> i128 {
    if most == 0 {
        return 0;
    }
    i128::from(stream.below(2 * most + 1)) - i128::from(most)
}

/// The clock of a host and that of its NIC.
#[derive(Clone, Debug)]
pub struct HostClocks {
    host: LocalClock,
    nic: LocalClock,
}

/// What a sender is told of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// When the packet was sent.
    pub echo: Time,
    /// When the acknowledgement arrived at the NIC.
    pub received: Time,
}

impl HostClocks {
    /// The clocks of a host.
    pub fn new(seed: u64, host: u32, clock: &Clock) -> HostClocks {
        HostClocks {
            host: LocalClock::new(seed, Entity::HostClock, host, clock),
            nic: LocalClock::new(seed, Entity::NicClock, host, clock),
        }
    }

    /// Returns when a packet arrived at the NIC, as the stack, which takes it `now`, makes it out (t2 of Swift §3.2).
    pub fn arrival(&mut self, now: Time, arrived: Time) -> Time {
        let host = self.host.read(now.as_ps());
        before(now, host - self.mapped(now, arrived))
    }

    /// Returns when a packet was sent and its acknowledgement arrived at the NIC (t1 and t5), as the stack, which takes it
    /// `now`, makes them out.
    pub fn stamps(&mut self, now: Time, sent: Time, arrived: Time) -> Stamps {
        let host = self.host.read(now.as_ps());
        let echo = before(now, host - self.host.read(sent.as_ps()));
        Stamps { echo, received: before(now, host - self.mapped(now, arrived)) }
    }

    /// The NIC's stamp of an arrival on the host's clock, through the two latest readings of both.
    fn mapped(&mut self, now: Time, arrived: Time) -> i128 {
        let latest = i128::from(now.as_ps() / Clock::MAP_INTERVAL.as_ps());
        let [n0, n1] = [latest - 1, latest].map(|number| self.nic.read_for_map(number));
        let [h0, h1] = [latest - 1, latest].map(|number| self.host.read_for_map(number));
        let stamp = self.nic.read(arrived.as_ps());
        h1 + ((h1 - h0) * (stamp - n1)).div_euclid((n1 - n0).max(1))
    }
}

/// The instant this many picoseconds before `now`; a span below zero counts as zero.
fn before(now: Time, span: i128) -> Time {
    let span = span.clamp(0, i128::from(now.as_ps()));
    Time::from_ps(now.as_ps() - span as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{PartsPerBillion, Timestamps};
    use clearway_proto::units::Span;

    fn clock(offset: Span, drift: u64, jitter: Span) -> Clock {
        Clock { offset, drift: PartsPerBillion(drift), jitter, timestamps: Timestamps::Clock }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn ago(now: Time, span: Span) -> Time {
        Time::from_ps(now.as_ps() - span.as_ps())
    }

    #[test]
    fn offsets_alone_change_nothing() {
        for host in 0..50 {
            let mut clocks = HostClocks::new(7, host, &clock(Span::from_ms(500), 0, Span::ZERO));
            for now in [3, 99_999, 250_003] {
                assert_eq!(clocks.arrival(at(now), at(now - 2)), at(now - 2));
                let stamps = clocks.stamps(at(now), at(now - 3), at(now - 1));
                assert_eq!(stamps, Stamps { echo: at(now - 3), received: at(now - 1) });
            }
        }
    }

    #[test]
    fn a_rate_error_stretches_what_is_measured_by_itself() {
        let mut spread = (i128::MAX, i128::MIN);
        for host in 0..200 {
            let mut clocks = HostClocks::new(7, host, &clock(Span::ZERO, 1_000_000, Span::ZERO));
            let drift = clocks.host.drift;
            let now = at(500_000);
            // A millisecond under a rate error of parts per billion is this many picoseconds longer.
            let longer = |told: Time| i128::from(now.since(told).as_ps()) - 1_000_000_000;
            let stamps = clocks.stamps(now, ago(now, Span::from_ms(1)), ago(now, Span::from_ms(1)));
            assert!((longer(stamps.echo) - drift).abs() <= 1, "host {host}");
            assert!((longer(stamps.received) - drift).abs() <= 2, "host {host}");
            spread = (spread.0.min(drift), spread.1.max(drift));
        }
        assert!(spread.0 < -900_000 && spread.1 > 900_000, "{spread:?}");
    }

    #[test]
    fn jitter_errs_by_two_readings_at_most() {
        let jitter = Span::from_ns(50);
        let mut clocks = HostClocks::new(7, 3, &clock(Span::ZERO, 0, jitter));
        let mut largest = 0;
        for step in 0..2000 {
            let now = at(300 + step);
            let rtt = now.since(clocks.stamps(now, ago(now, Span::from_us(20)), now).echo);
            largest = largest.max(rtt.as_ps().abs_diff(Span::from_us(20).as_ps()));
        }
        assert!(largest <= 2 * jitter.as_ps() && largest > jitter.as_ps(), "{largest}");
    }

    #[test]
    fn local_and_simulated_time_are_each_others_inverse() {
        for host in 0..100 {
            let clock = clock(Span::from_secs(1), 1_000_000, Span::from_ns(50));
            let clock = LocalClock::new(1, Entity::HostClock, host, &clock);
            for ps in [0, 1, 999_999, 1_000_000_007, 123_456_789_012_345] {
                let local = clock.local(Time::from_ps(ps));
                let back = clock.simulated(local);
                assert!(clock.local(back) >= local && back <= Time::from_ps(ps));
                assert!(back == Time::ZERO || clock.local(ago(back, Span::from_ps(1))) < local);
            }
        }
    }
}
