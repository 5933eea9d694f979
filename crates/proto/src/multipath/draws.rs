//! Paths that need no memory: drawn at random, or taken in turn.

/// One of `paths`, uniformly over random bits.
pub fn drawn(random: u64, paths: u32) -> u32 {
    ((u128::from(random) * u128::from(paths)) >> 64) as u32
}

/// The path of the packet with this number among those that a flow has sent, in turn: each path once, then each once again, in
/// the same order from another one on, as bits drawn for each such cycle say.
pub fn in_turn(number: u64, paths: u32, random_of_cycle: impl FnOnce(u64) -> u64) -> u32 {
    let (cycle, place) = (number / u64::from(paths), number % u64::from(paths));
    let first = drawn(random_of_cycle(cycle), paths);
    ((u64::from(first) + place) % u64::from(paths)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_has_its_turn_once_in_a_cycle() {
        for paths in [1_u32, 3, 4, 16] {
            for cycle in 0..5_u64 {
                let from = cycle * u64::from(paths);
                let random = |cycle: u64| cycle.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mut taken: Vec<u32> =
                    (from..from + u64::from(paths)).map(|number| in_turn(number, paths, random)).collect();
                assert_eq!(taken[0], drawn(random(cycle), paths));
                taken.sort_unstable();
                assert_eq!(taken, (0..paths).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn draws_reach_the_first_path_and_the_last() {
        assert_eq!((drawn(0, 7), drawn(u64::MAX, 7), drawn(1 << 63, 8)), (0, 6, 4));
    }
}
