//! One random stream per entity.
//!
//! A stream is derived from the scenario's seed, the kind of entity and its id, so adding an entity disturbs
//! no other. Values are made here from raw 64-bit words alone, and every machine draws the same bits.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a stream belongs to. THE NUMBERS ARE PART OF EVERY RESULT: add at the end, never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u64)]
pub enum Entity {
    /// A traffic table's own choices, such as its permutation; the id is [`in_table`]`(table, 0)`.
    TrafficTable = 1,
    /// A flow's choice among equal-cost paths.
    FlowPath = 2,
    /// A flow's draw from the range of starts; the id is [`in_table`]`(table, index of the flow)`.
    FlowStart = 3,
    /// A Poisson source's arrivals, receivers and sizes; the id is [`in_table`]`(table, host)`.
    PoissonSource = 4,
    /// Which frames a faulty link loses; the id is the directed link.
    LinkLoss = 5,
    /// Which frames a port marks with a probability; the id is the directed link it feeds.
    Marking = 6,
    /// When a host's processor is preempted or its stack stands still, and for how long; the id is the host.
    HostPause = 7,
    /// How long a host's frames take from its stack to its NIC; the id is the host.
    HostJitter = 8,
    /// When an initiator issues its operations, and to whom; the id is [`in_table`]`(table, host)`.
    Initiator = 9,
    /// The errors of a host's clock; the id is the host.
    HostClock = 10,
    /// The errors of a NIC's clock; the id is the host.
    NicClock = 11,
    /// The error of one reading for the map between two clocks, under a seed that the clock drew; the id is the
    /// reading's number.
    ClockMap = 12,
    /// A probe's choice among equal-cost paths; the id is the probe.
    ProbePath = 13,
    /// A host's own interval between interrupts, and how long its stack takes to answer each; the id is the host.
    HostInterrupt = 14,
    /// A choice among equal-cost paths of what arbiters exchange with endpoints and each other; the id is the conversation's
    /// number among all of these.
    ControlPath = 15,
    /// On which hosts the ranks of a job are; the id is the job's number.
    JobPlacement = 16,
    /// Whether a full port cuts the packet that comes or the last one that waits; the id is the directed link it feeds.
    Trimming = 17,
    /// Which requests of a storage job are reads and which servers have each object; the id is
    /// [`in_table`]`(job, rank)` for a client, and for a dead server what is rebuilt of it.
    StorageRank = 18,
}

/// The id of member `index` of a traffic table: no two tables share one.
pub fn in_table(table: u32, index: u32) -> u64 {
    u64::from(table) << 32 | u64::from(index)
}

/// A stream of random values: xoshiro256++, seeded by `SplitMix64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of entity `id` of this kind under the scenario's `seed`.
    pub fn new(seed: u64, kind: Entity, id: u64) -> Stream {
        // For a given seed and kind the key is a bijection of the id: no two entities share a stream.
        let key = mix(mix(mix(seed) ^ kind as u64) ^ id);
        Stream(Xoshiro256PlusPlus::seed_from_u64(key))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..n`, without bias (Lemire 2019, "Fast random integer generation in an interval").
    /// Panics when `n` is zero.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a draw from nothing");
        let mut wide = u128::from(self.bits()) * u128::from(n);
        if (wide as u64) < n {
            // 2^64 mod n of the low words would make some results one word likelier than others: reject them.
            let surplus = n.wrapping_neg() % n;
            while (wide as u64) < surplus {
                wide = u128::from(self.bits()) * u128::from(n);
            }
        }
        (wide >> 64) as u64
    }

    /// Uniform in [0, 1): a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        (self.bits() >> 11) as f64 * STEP
    }

    /// Exponentially distributed with this mean; never negative, finite for a finite mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - unit() lies in (0, 1], so the logarithm is finite.
        -libm::log(1.0 - self.unit()) * mean
    }

    /// Puts the items in an order drawn uniformly from all orders (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// The output function of `SplitMix64`: a bijection in which every bit of the result depends on every bit of
/// `x`.
#[inline]
pub(crate) const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [[u64; 3]; 4] = [
        [0x74a9_3a92_9f98_f7a6, 0xc5b5_2dfb_207c_c0f1, 0x2fee_f006_9852_e91d],
        [0x970e_d1d9_205b_5de1, 0x3f01_0eff_9521_cf65, 0x52ba_a34d_de9f_de27],
        [0x9654_04a0_3702_b024, 0x56d6_510b_8781_2bbf, 0xe65f_14db_4adb_9aae],
        [0x37e7_f4ac_e738_2150, 0xfdc2_73ba_b95e_becb, 0x0771_ec9d_d7c0_202a],
    ];
    const BELOW: u64 = 515_550;
    const UNIT: u64 = 0x3fed_4d29_45b7_7ad7;
    const EXPONENTIAL: u64 = 0x4002_8d2d_27d7_11a0;
    const SHUFFLED: [i32; 8] = [6, 4, 0, 2, 3, 7, 5, 1];

    fn stream(id: u64) -> Stream {
        Stream::new(7, Entity::FlowPath, id)
    }

    fn words(mut stream: Stream) -> [u64; 3] {
        [stream.bits(), stream.bits(), stream.bits()]
    }

    /// Computed by an independent implementation of `SplitMix64` and xoshiro256++ from their authors'
    /// listings.
    #[test]
    fn the_streams_are_pinned() {
        assert_eq!(words(Stream::new(0, Entity::TrafficTable, 0)), KNOWN[0]);
        assert_eq!(words(Stream::new(1, Entity::FlowPath, 0)), KNOWN[1]);
        assert_eq!(words(Stream::new(1, Entity::FlowPath, 1)), KNOWN[2]);
        assert_eq!(words(Stream::new(u64::MAX, Entity::Marking, u64::MAX)), KNOWN[3]);
    }

    #[test]
    fn the_values_are_pinned() {
        let mut s = stream(42);
        assert_eq!(s.below(1_000_000), BELOW);
        assert_eq!(s.unit().to_bits(), UNIT);
        assert_eq!(s.exponential(1.0).to_bits(), EXPONENTIAL);
        let mut items = [0, 1, 2, 3, 4, 5, 6, 7];
        s.shuffle(&mut items);
        assert_eq!(items, SHUFFLED);
    }

    #[test]
    fn seed_kind_and_id_each_make_another_stream() {
        let base = words(Stream::new(1, Entity::FlowPath, 2));
        assert_ne!(base, words(Stream::new(2, Entity::FlowPath, 2)));
        assert_ne!(base, words(Stream::new(1, Entity::FlowStart, 2)));
        assert_ne!(base, words(Stream::new(1, Entity::FlowPath, 3)));
        assert_ne!(base, words(Stream::new(1, Entity::FlowPath, 2 << 32)));
    }

    #[test]
    fn first_words_of_neighbouring_ids_are_independent_bits() {
        // Each of 64 bits is set in half of 4096 streams, within 4.5 standard deviations (32 each).
        let mut set = [0i32; 64];
        for id in 0..4096 {
            let word = stream(id).bits();
            for (bit, count) in set.iter_mut().enumerate() {
                *count += (word >> bit & 1) as i32;
            }
        }
        assert!(set.iter().all(|&count| (count - 2048).abs() < 144), "{set:?}");
    }

    #[test]
    fn below_rejects_what_would_bias_it() {
        // With n = 3 * 2^62, multiply-shift alone would give every third result twice as often as the others.
        let n = 3u64 << 62;
        let mut s = stream(1);
        let mut thirds = [0u32; 3];
        for _ in 0..30_000 {
            thirds[(s.below(n) % 3) as usize] += 1;
        }
        // Standard deviation sqrt(30000 * 1/3 * 2/3) = 81.6.
        assert!(thirds.iter().all(|&count| count.abs_diff(10_000) < 245), "{thirds:?}");
    }

    #[test]
    fn below_is_in_range_and_reaches_all() {
        let mut s = stream(2);
        let mut seen = [false; 7];
        for _ in 0..200 {
            seen[s.below(7) as usize] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(s.below(1), 0);
    }

    #[test]
    fn unit_is_uniform() {
        let mut s = stream(3);
        let n = 100_000;
        let values: Vec<f64> = (0..n).map(|_| s.unit()).collect();
        assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let standard_error = (1.0 / 12.0 / f64::from(n)).sqrt();
        assert!((mean - 0.5).abs() < 3.0 * standard_error, "{mean}");
    }

    #[test]
    fn exponential_has_its_mean_and_its_variance() {
        let mut s = stream(4);
        let n = 100_000;
        let values: Vec<f64> = (0..n).map(|_| s.exponential(5.0)).collect();
        let mean = values.iter().sum::<f64>() / f64::from(n);
        let square = values.iter().map(|v| v * v).sum::<f64>() / f64::from(n);
        // Var(X) = 25; E(X^2) = 50, Var(X^2) = 24 * 5^4 - 50^2 = 12500.
        assert!((mean - 5.0).abs() < 3.0 * (25.0 / f64::from(n)).sqrt(), "{mean}");
        assert!((square - 50.0).abs() < 3.0 * (12_500.0 / f64::from(n)).sqrt(), "{square}");
    }

    #[test]
    fn shuffle_reaches_every_order_alike() {
        let mut s = stream(5);
        let mut counts = [0u32; 27];
        for _ in 0..6000 {
            let mut items = [0usize, 1, 2];
            s.shuffle(&mut items);
            counts[items[0] * 9 + items[1] * 3 + items[2]] += 1;
        }
        let reached: Vec<u32> = counts.into_iter().filter(|&count| count > 0).collect();
        assert_eq!(reached.len(), 6);
        // Standard deviation sqrt(6000 * 1/6 * 5/6) = 28.9.
        assert!(reached.iter().all(|&count| count.abs_diff(1000) < 87), "{reached:?}");
    }
}
