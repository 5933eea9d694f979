//! What an endpoint counts, and what it measures of each flow.

use clearway_proto::units::{Span, Time};

/// Datagrams that were counted and otherwise ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored {
    /// Datagrams too short for a head, or for another endpoint.
    pub stray: u64,
    /// Datagrams of no session that is open here.
    pub session: u64,
    /// Datagrams that the peer did not seal so: forged, or changed on their way.
    pub forged: u64,
    /// Datagrams that had been here before.
    pub replayed: u64,
    /// Datagrams of the peer that make no sense: of another version, flow or packet.
    pub senseless: u64,
}

impl Ignored {
    /// The number of all ignored datagrams.
    pub fn total(&self) -> u64 {
        self.stray + self.session + self.forged + self.replayed + self.senseless
    }

    /// The number of each reason, with its name.
    pub fn by_reason(&self) -> [(&'static str, u64); 5] {
        [
            ("stray", self.stray),
            ("session", self.session),
            ("forged", self.forged),
            ("replayed", self.replayed),
            ("senseless", self.senseless),
        ]
    }

    /// The numbers of both, reason by reason.
    #[must_use]
    pub fn and(self, other: Ignored) -> Ignored {
        Ignored {
            stray: self.stray + other.stray,
            session: self.session + other.session,
            forged: self.forged + other.forged,
            replayed: self.replayed + other.replayed,
            senseless: self.senseless + other.senseless,
        }
    }
}

/// Buckets to each doubling of a [`RoundTrips`].
const PRECISION_BITS: u32 = 3;
/// Values below this many nanoseconds share the first bucket.
const SMALLEST_BITS: u32 = 9;
const OCTAVES: u32 = 26;
const BUCKETS: usize = (OCTAVES << PRECISION_BITS) as usize;

/// Round trips of one flow in little room: quantiles are at most an eighth too large, the extremes and the mean exact.
#[derive(Clone, Debug)]
pub struct RoundTrips {
    counts: Box<[u32; BUCKETS]>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for RoundTrips {
    fn default() -> RoundTrips {
        RoundTrips { counts: Box::new([0; BUCKETS]), count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }
}

fn bucket(ns: u64) -> usize {
    let ns = ns.max(1 << SMALLEST_BITS);
    let octave = ns.ilog2();
    let within = (ns >> (octave - PRECISION_BITS)) & ((1 << PRECISION_BITS) - 1);
    ((((octave - SMALLEST_BITS) << PRECISION_BITS) as u64 + within) as usize).min(BUCKETS - 1)
}

/// The largest value of a bucket, in nanoseconds.
fn upper(bucket: usize) -> u64 {
    let (octave, within) = (bucket as u32 >> PRECISION_BITS, bucket as u64 & ((1 << PRECISION_BITS) - 1));
    (((1 << PRECISION_BITS) + within + 1) << (octave + SMALLEST_BITS - PRECISION_BITS)) - 1
}

impl RoundTrips {
    /// Adds a round trip.
    pub fn record(&mut self, rtt: Span) {
        let ns = rtt.as_ps() / 1000;
        let count = &mut self.counts[bucket(ns)];
        *count = count.saturating_add(1);
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean, in nanoseconds; none of none.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The smallest, in nanoseconds; none of none.
    pub fn min_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min_ns)
    }

    /// The value that a `fraction` of all do not exceed, in nanoseconds; none of none.
    pub fn quantile_ns(&self, fraction: f64) -> Option<u64> {
        let rank = ((self.count as f64 * fraction).ceil() as u64).max(1);
        let mut seen = 0;
        self.counts.iter().enumerate().find_map(|(bucket, &count)| {
            seen += u64::from(count);
            (seen >= rank).then(|| upper(bucket).clamp(self.min_ns, self.max_ns))
        })
    }
}

/// What a sending flow measured.
#[derive(Clone, Debug, Default)]
pub struct SentFlow {
    /// When its first packet could go.
    pub began: Time,
    /// When the latest new packet was acknowledged; none before the first one was.
    pub ended: Option<Time>,
    /// Bytes of payload acknowledged.
    pub bytes: u64,
    /// Packets sent, retransmissions included.
    pub packets: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// Times a retransmission timer ran out.
    pub timeouts: u64,
    /// The window now, in packets.
    pub cwnd: f64,
    /// The latest round trip; none before the first acknowledgement.
    pub latest_rtt: Option<Span>,
    /// All round trips.
    pub rtt: RoundTrips,
}

/// What a receiving flow measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceivedFlow {
    /// When its first packet came; none before.
    pub began: Option<Time>,
    /// When its latest new packet came; none before the first one.
    pub ended: Option<Time>,
    /// Bytes of payload, each counted once.
    pub bytes: u64,
    /// Operations of which every packet arrived.
    pub operations: u64,
    /// Packets that arrived, duplicates included.
    pub packets: u64,
    /// Packets that had arrived before.
    pub duplicates: u64,
    /// Packets that were dropped as one before them is missing: of go-back-N.
    pub out_of_order: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_in_a_bucket_that_ends_at_most_an_eighth_above_it() {
        for ns in (512..100_000).chain([1_000_000, 123_456_789, 9_999_999_999]) {
            let largest = upper(bucket(ns));
            assert!(largest >= ns && largest as f64 <= ns as f64 * 1.125, "{ns} {largest}");
        }
        assert_eq!(bucket(0), bucket(512));
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_those_of_the_values_but_for_an_eighth() {
        let mut trips = RoundTrips::default();
        assert_eq!((trips.mean_ns(), trips.quantile_ns(0.5), trips.min_ns()), (None, None, None));
        (1..=1000).for_each(|us| trips.record(Span::from_us(us)));
        let near = |fraction, us: f64| {
            let ns = trips.quantile_ns(fraction).unwrap() as f64;
            assert!(ns >= us * 1e3 && ns <= us * 1.126e3, "{ns}");
        };
        near(0.5, 500.0);
        near(0.99, 990.0);
        assert_eq!(trips.quantile_ns(1.0), Some(1_000_000));
        assert_eq!((trips.mean_ns(), trips.min_ns(), trips.count()), (Some(500_500.0), Some(1000), 1000));
    }
}
