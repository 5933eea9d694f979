//! What follows from section 4.1 for thresholds, buffers and delays, which nothing but these tests asks.

use clearway_proto::swing::model::LongLink;
use clearway_proto::units::{Bytes, Rate, Span};

/// The laws of a long link.
pub trait Laws {
    /// Packets of `size` in one BDP: what a sender tracks that has the link to itself, as IRN's bitmap does (section 4.2).
    fn packets_in_flight(&self, size: Bytes) -> u64;

    /// The highest threshold at which `buffer` drops nothing while at least the share `least` drains; `None`: any threshold
    /// drops.
    fn highest_threshold(&self, buffer: Bytes, least: f64) -> Option<Bytes>;

    /// The lowest threshold at which no throughput is lost while at most the share `most` drains. (A drain of the whole rate
    /// loses nothing, as there is never a PAUSE; what is a hair below it needs one BDP.)
    fn lowest_threshold(&self, most: f64) -> Bytes;

    /// The buffer that neither drops nor loses throughput while a share from `least` to `most` drains: `2DR(1 - least +
    /// most)`.
    fn buffer(&self, least: f64, most: f64) -> Bytes;

    /// The delay that the standing queue adds, `2D(1-α)/α`; `drain` is more than zero.
    fn standing_delay(&self, drain: f64) -> Span;

    /// The highest count in the relay's port R while the share that drains follows `pattern` (for how long, and which share),
    /// after a time in which all drained: equation (5), `R_in(t) = R_out(t - 2D)`. Never more than one BDP.
    fn relay_peak(&self, pattern: &[(Span, f64)]) -> Bytes;
}

impl Laws for LongLink {
    fn packets_in_flight(&self, size: Bytes) -> u64 {
        self.bdp().get().div_ceil(size.get())
    }

    fn highest_threshold(&self, buffer: Bytes, least: f64) -> Option<Bytes> {
        let headroom = of_bdp(self, 1.0 - checked(least)).ceil() as u64;
        buffer.get().checked_sub(headroom).map(Bytes::new)
    }

    fn lowest_threshold(&self, most: f64) -> Bytes {
        Bytes::new(of_bdp(self, checked(most)).ceil() as u64)
    }

    fn buffer(&self, least: f64, most: f64) -> Bytes {
        let headroom = of_bdp(self, 1.0 - checked(least)).ceil() as u64;
        Bytes::new(self.lowest_threshold(most).get() + headroom)
    }

    fn standing_delay(&self, drain: f64) -> Span {
        assert!(drain > 0.0, "what does not drain waits for ever");
        span(2.0 * self.delay.as_secs_f64() * (1.0 - checked(drain)) / drain)
    }

    fn relay_peak(&self, pattern: &[(Span, f64)]) -> Bytes {
        let round_trip = 2.0 * self.delay.as_secs_f64();
        // When each share begins.
        let mut begins = vec![(f64::NEG_INFINITY, 1.0)];
        let mut end = 0.0;
        for &(length, share) in pattern {
            begins.push((end, checked(share)));
            end += length.as_secs_f64();
        }
        let share_at = |t: f64| begins[begins.partition_point(|&(from, _)| from <= t) - 1].1;
        let mut turns: Vec<f64> = begins.iter().flat_map(|&(t, _)| [t, t + round_trip]).collect();
        turns.push(end);
        turns.retain(|t| (0.0..=end).contains(t));
        turns.sort_by(f64::total_cmp);
        let (mut queue, mut peak) = (0.0_f64, 0.0_f64);
        for step in turns.windows(2) {
            let middle = f64::midpoint(step[0], step[1]);
            let growth = share_at(middle - round_trip) - share_at(middle);
            queue = (queue + growth * bytes_per_s(self) * (step[1] - step[0])).max(0.0);
            peak = peak.max(queue);
        }
        Bytes::new(peak.round() as u64)
    }
}

/// The longest delay one way at which `buffer` holds `bdps` bandwidth-delay products: 1 for no drop, and for the relay; 2 for
/// PFC without loss of throughput, whatever drains.
pub fn longest_delay(buffer: Bytes, rate: Rate, bdps: f64) -> Span {
    span(buffer.get() as f64 * 8.0 / rate.as_bps() as f64 / 2.0 / bdps)
}

/// `share` of 2·D·R, in bytes.
fn of_bdp(link: &LongLink, share: f64) -> f64 {
    2.0 * link.delay.as_secs_f64() * bytes_per_s(link) * share
}

fn bytes_per_s(link: &LongLink) -> f64 {
    link.rate.as_bps() as f64 / 8.0
}

fn checked(share: f64) -> f64 {
    assert!((0.0..=1.0).contains(&share), "a share from 0 to 1, not {share}");
    share
}

fn span(seconds: f64) -> Span {
    Span::from_ps((seconds * 1e12).round() as u64)
}
