//! A digest of all that a run did: equal digests mean equal runs.
//!
//! What it covers (`record/digest.rs`) is part of its version.

use std::fmt;

/// Two FNV-1a sums of 64 bits with different starts, side by side. They are made to tell runs apart, not to resist an
/// attacker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    sums: [u64; 2],
}

const PRIME: u64 = 0x0000_0100_0000_01b3;
const STARTS: [u64; 2] = [0xcbf2_9ce4_8422_2325, 0x6c62_272e_07bb_0142];
/// The version of what the digest covers: it changes when that changes.
const VERSION: u32 = 2;

impl Digest {
    /// Returns a digest to which nothing has been added.
    pub fn new() -> Digest {
        Digest { sums: STARTS }
    }

    /// Adds a number.
    pub fn add(&mut self, value: u64) {
        for (i, sum) in self.sums.iter_mut().enumerate() {
            for byte in value.rotate_left(i as u32 * 32).to_le_bytes() {
                *sum = (*sum ^ u64::from(byte)).wrapping_mul(PRIME);
            }
        }
    }
}

impl Default for Digest {
    fn default() -> Digest {
        Digest::new()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{VERSION}:{:016x}{:016x}", self.sums[0], self.sums[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> String {
        let mut digest = Digest::new();
        for &value in values {
            digest.add(value);
        }
        digest.to_string()
    }

    #[test]
    fn order_and_value_both_count() {
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[0, 0]));
        assert_ne!(of(&[0]), of(&[1 << 63]));
    }

    #[test]
    fn the_same_values_give_the_same_line_everywhere() {
        assert_eq!(of(&[1, 2, 3]), of(&[1, 2, 3]));
    }
}
