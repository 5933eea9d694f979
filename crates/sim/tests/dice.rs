//! The generator's source of chance. It is its own, so that no change of the simulator changes what is drawn.

/// A stream of pseudo-random numbers: `SplitMix64` (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
/// Generators", 2014).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is above zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number from `least` to `most`, both included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// Returns `true` in `percent` of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.below(options.len() as u64) as usize].clone()
    }

    /// `unit` times one of these factors, rounded, and at least `least`.
    pub fn multiple(&mut self, unit: u64, factors: &[f64], least: u64) -> u64 {
        ((unit as f64 * self.pick(factors)).round() as u64).max(least)
    }

    /// Some of these, at least one, in their order.
    pub fn some_of<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        let mut some: Vec<T> = all.iter().filter(|_| self.percent(50)).cloned().collect();
        if some.is_empty() {
            some.push(self.pick(all));
        }
        some
    }
}
