//! What a selection of paths promises, counted anew in debug builds.

use super::path_set::PathSet;
use super::slot::{BLOCKED, BYPASS, MAX_PATHS, MAX_RACKS};

/// The packets of each node, out and in, on each path.
type Loads = [[[u16; MAX_PATHS]; MAX_RACKS]; 2];

/// Panics if the law of balance does not hold where all links of the paths `kept` live: of a node's packets, out and in, each of
/// these paths carries the same number, rounded up at most, and where their number is a power of two, rounded down at least. So
/// none carries two where the paths are at least as many as the packets.
pub(super) fn check(graph: impl Iterator<Item = ((usize, usize), u8)>, kept: PathSet) {
    let paths = kept.len() as u16;
    for (node, load) in count(graph).iter().flatten().enumerate() {
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

/// Panics if a link, out of a node or into it, carries more packets than `most` says of the node and the path: none on a dead
/// one.
pub(super) fn check_living(
    graph: impl Iterator<Item = ((usize, usize), u8)>,
    most: impl Fn(usize, usize) -> [u16; 2],
) {
    let [out, into] = count(graph);
    for (node, (out, into)) in out.iter().zip(&into).enumerate() {
        for (path, load) in out.iter().zip(into).map(|(&out, &into)| [out, into]).enumerate() {
            let fits = load == [0; 2] || load.iter().zip(most(node, path)).all(|(&load, most)| load <= most);
            assert!(fits, "path {path} has {load:?} packets out of and into {node}");
        }
    }
}

fn count(graph: impl Iterator<Item = ((usize, usize), u8)>) -> Loads {
    let mut loads = [[[0_u16; MAX_PATHS]; MAX_RACKS]; 2];
    for ((row, column), path) in graph.filter(|&(_, path)| path != BYPASS && path != BLOCKED) {
        loads[0][row][usize::from(path)] += 1;
        loads[1][column][usize::from(path)] += 1;
    }
    loads
}
