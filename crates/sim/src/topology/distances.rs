//! Shortest paths between switches, found by their distances from one of them.

use super::graph::Graph;

/// The distance of a switch that no path joins.
pub(super) const UNREACHED: u32 = u32::MAX;

/// Adds the links from a switch to the one that the distances are to, one of the equal-cost links at each hop.
pub(super) fn descend(
    graph: &Graph,
    distances: &[u32],
    first: u32,
    choose: &dyn Fn(u64, u32) -> u32,
    out: &mut Vec<u32>,
) {
    let (mut at, mut hop) = (first, 0);
    while distances[(at - graph.host_count()) as usize] > 0 {
        let equal_cost = closer(graph, distances, at).count();
        let choice = choose(hop, equal_cost as u32) as usize;
        let link = closer(graph, distances, at).nth(choice).expect("counted above");
        out.push(link);
        at = graph.link(link).to;
        hop += 1;
    }
}

/// Calls `visit` with `path` followed by each shortest way from a switch to the one that the distances are to.
pub(super) fn each_descent(
    graph: &Graph,
    distances: &[u32],
    at: u32,
    path: &mut Vec<u32>,
    visit: &mut dyn FnMut(&mut Vec<u32>),
) {
    if distances[(at - graph.host_count()) as usize] == 0 {
        return visit(path);
    }
    for link in closer(graph, distances, at) {
        path.push(link);
        each_descent(graph, distances, graph.link(link).to, path, visit);
        path.pop();
    }
}

/// The links of a switch that lead to switches nearer to the one that the distances are to, in rising order.
fn closer<'a>(graph: &'a Graph, distances: &'a [u32], at: u32) -> impl Iterator<Item = u32> + 'a {
    let hosts = graph.host_count();
    let distance = move |switch: u32| distances[(switch - hosts) as usize];
    graph.outgoing(at).iter().copied().filter(move |&link| {
        let next = graph.link(link).to;
        next >= hosts && distance(next) < distance(at)
    })
}

/// Returns, for every switch, the number of shortest paths from it to the one that the distances are to, or `u32::MAX` where
/// there are more; zero where there is none.
pub(super) fn path_counts(graph: &Graph, distances: &[u32]) -> Vec<u32> {
    let hosts = graph.host_count();
    let mut nearest_first: Vec<u32> =
        (0..distances.len() as u32).filter(|&switch| distances[switch as usize] != UNREACHED).collect();
    nearest_first.sort_unstable_by_key(|&switch| distances[switch as usize]);
    let mut counts = vec![0u32; distances.len()];
    for switch in nearest_first {
        counts[switch as usize] = match distances[switch as usize] {
            0 => 1,
            _ => closer(graph, distances, hosts + switch)
                .map(|link| counts[(graph.link(link).to - hosts) as usize])
                .fold(0, u32::saturating_add),
        };
    }
    counts
}

/// Returns how far every switch is from this one.
pub(super) fn distances_to(graph: &Graph, switch: u32) -> Vec<u32> {
    distances_over(graph, switch, &|_| true)
}

/// Returns how far every switch is from this one over usable links alone. Breadth first over switches; hosts do not forward.
/// Every link has its way back: what leaves a switch is asked for the way to it.
pub(super) fn distances_over(graph: &Graph, switch: u32, is_usable: &dyn Fn(u32) -> bool) -> Vec<u32> {
    let hosts = graph.host_count();
    let mut distances = vec![UNREACHED; graph.switch_count() as usize];
    distances[(switch - hosts) as usize] = 0;
    let mut reached = vec![switch];
    let mut next = 0;
    while let Some(&at) = reached.get(next) {
        next += 1;
        let further = distances[(at - hosts) as usize] + 1;
        for &link in graph.outgoing(at) {
            let peer = graph.link(link).to;
            let is_new = peer >= hosts && distances[(peer - hosts) as usize] == UNREACHED;
            if is_new && is_usable(link ^ 1) {
                distances[(peer - hosts) as usize] = further;
                reached.push(peer);
            }
        }
    }
    distances
}
