//! What a selection of paths promises, counted anew in debug builds.

use super::path_set::PathSet;
use super::slot::{BYPASS, MAX_PATHS, MAX_RACKS};

/// Panics if the law of balance does not hold: of a node's packets, out and in, each of the paths of `kept` carries the same
/// number, rounded up at most, and where their number is a power of two, rounded down at least. So none carries two where the
/// paths are at least as many as the packets.
pub(super) fn check(graph: impl Iterator<Item = ((usize, usize), u8)>, kept: PathSet) {
    let mut load = [[[0_u16; MAX_PATHS]; MAX_RACKS]; 2];
    for ((row, column), path) in graph {
        if path == BYPASS {
            continue;
        }
        load[0][row][usize::from(path)] += 1;
        load[1][column][usize::from(path)] += 1;
    }
    let paths = kept.len() as u16;
    for (node, load) in load.iter().flatten().enumerate() {
        let degree: u16 = load.iter().sum();
        let least = if paths.is_power_of_two() { degree / paths } else { 0 };
        for path in 0..MAX_PATHS {
            let (excluded, load) = (!kept.contains(path), load[path]);
            let most = if excluded { 0 } else { degree.div_ceil(paths) };
            assert!(
                load <= most && (excluded || load >= least),
                "path {path} has {load} of {degree} packets at {node}"
            );
        }
    }
}
