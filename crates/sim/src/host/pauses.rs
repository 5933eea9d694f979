//! When a host's stack does not run: a Poisson process of pauses.

use crate::random::{Entity, Stream};

/// How long pauses are, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// Exponentially distributed with this mean; zero for no pauses at all.
    Exponential(f64),
    /// Uniform from half to one and a half times this mean; zero for no pauses at all.
    AroundMean(u64),
}

impl Length {
    fn is_zero(self) -> bool {
        match self {
            Length::Exponential(mean) => mean <= 0.0,
            Length::AroundMean(mean) => mean == 0,
        }
    }

    fn draw(self, stream: &mut Stream) -> u64 {
        match self {
            Length::Exponential(mean) => stream.exponential(mean) as u64,
            Length::AroundMean(mean) => mean - mean / 2 + stream.below(mean + 1),
        }
    }
}

/// The pauses of one host, in their order.
#[derive(Clone, Debug)]
pub struct Pauses {
    stream: Stream,
    /// Mean time from the end of a pause to the start of the next, in picoseconds.
    interval: f64,
    length: Length,
    /// The pause under way, or the next.
    from: u64,
    until: u64,
}

impl Pauses {
    /// Returns the pauses of `host`, each of a length drawn from `length`, on average `interval` picoseconds apart.
    pub fn new(seed: u64, host: u32, interval: u64, length: Length) -> Pauses {
        let stream = Stream::new(seed, Entity::HostPause, u64::from(host));
        let mut pauses =
            Pauses { stream, interval: interval as f64, length, from: u64::MAX, until: u64::MAX };
        if !length.is_zero() {
            pauses.until = 0;
            pauses.draw();
        }
        pauses
    }

    fn draw(&mut self) {
        self.from = self.until + self.stream.exponential(self.interval) as u64;
        self.until = self.from + self.length.draw(&mut self.stream);
    }

    /// Returns when work of this length is done that begins at `start`. Instants asked about may not fall behind the end of
    /// work already begun.
    pub fn work(&mut self, start: u64, cost: u64) -> u64 {
        let (mut at, mut left) = (self.end(start), cost);
        loop {
            self.forget(at);
            if self.from >= at + left {
                return at + left;
            }
            left -= self.from.saturating_sub(at);
            at = self.until;
        }
    }

    /// The end of the pause that `now` is in, or `now`.
    pub fn end(&mut self, now: u64) -> u64 {
        self.forget(now);
        if self.from <= now {
            self.until
        } else {
            now
        }
    }

    /// Goes on to the first pause that is not over by then.
    fn forget(&mut self, now: u64) {
        while self.until <= now {
            self.draw();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a walk over all pauses of the same stream.
    #[test]
    fn work_goes_on_after_a_pause_where_it_was() {
        for length in [Length::Exponential(20e6), Length::AroundMean(20_000_000)] {
            let new = || Pauses::new(3, 9, 100_000_000, length);
            let mut all = new();
            let mut list = Vec::new();
            for _ in 0..2000 {
                list.push((all.from, all.until));
                all.draw();
            }
            let paused = |at: u64| list.iter().any(|&(from, until)| from <= at && at < until);
            let mut pauses = new();
            let mut draws = Stream::new(4, Entity::HostPause, 9);
            let (mut start, mut met) = (0, 0);
            while start < 100_000_000_000 {
                let cost = draws.below(3_000_000);
                let done = pauses.work(start, cost);
                // What ran between is the cost: the time, less what of each pause lies in it.
                let idle: u64 =
                    list.iter().map(|&(from, until)| until.min(done).saturating_sub(from.max(start))).sum();
                assert_eq!(done - start - idle, cost, "from {start}");
                assert!(cost == 0 || !paused(done - 1), "it ends at work");
                met += u32::from(idle > 0);
                let around = list.iter().find(|&&(from, until)| from <= done && done < until);
                assert_eq!(pauses.end(done), around.map_or(done, |&(_, until)| until));
                start = done + draws.below(5_000_000);
            }
            assert!(met > 500, "{met}");
        }
    }

    #[test]
    fn lengths_around_a_mean_are_from_half_to_one_and_a_half_times_it() {
        for mean in [1, 2, 1_000_000] {
            let mut stream = Stream::new(1, Entity::HostPause, 0);
            let lengths: Vec<u64> = (0..1000).map(|_| Length::AroundMean(mean).draw(&mut stream)).collect();
            let (least, most) = (mean - mean / 2, mean + mean.div_ceil(2));
            assert!(lengths.iter().all(|length| (least..=most).contains(length)));
            let average = lengths.iter().sum::<u64>() as f64 / 1000.0;
            // A standard error of 0.009 of the mean, and half a picosecond of rounding.
            assert!((average - mean as f64).abs() <= 0.03 * mean as f64 + 0.5, "{average}");
        }
    }

    #[test]
    fn without_a_length_there_is_no_pause() {
        for length in [Length::Exponential(0.0), Length::AroundMean(0)] {
            let mut pauses = Pauses::new(1, 0, 1, length);
            assert_eq!(pauses.end(1 << 60), 1 << 60);
        }
    }
}
