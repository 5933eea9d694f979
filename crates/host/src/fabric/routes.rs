//! The ways through a software network: by hops, and where several are equally short by a hash of the frame's flow.

use std::collections::VecDeque;

use super::plan::Plan;

/// The first bytes of a host's hardware address; its number follows.
const PREFIX: [u8; 4] = [0x02, 0xc1, 0, 0];

/// The links that lead nearer to each host.
#[derive(Clone, Debug)]
pub struct Routes {
    hosts: usize,
    /// For each node and host, the links out of the node that are on a shortest way.
    next: Vec<Vec<usize>>,
}

impl Routes {
    /// The routes of a plan. An error names a host that another cannot reach.
    pub fn new(plan: &Plan) -> Result<Routes, String> {
        let hosts = plan.hosts();
        let mut next = vec![Vec::new(); plan.nodes.len() * hosts];
        for host in 0..hosts {
            let distances = distances(plan, host);
            if let Some(other) = distances.iter().position(Option::is_none) {
                let [host, other] = [host, other].map(|node| &plan.nodes[node].name);
                return Err(format!("links: there is no way from {other} to {host}"));
            }
            for (number, link) in plan.links.iter().enumerate() {
                if distances[link.to] < distances[link.from] {
                    next[link.from * hosts + host].push(number);
                }
            }
        }
        Ok(Routes { hosts, next })
    }

    /// The link by which a frame leaves a node; none if it is for no host.
    pub fn next(&self, node: usize, frame: &[u8]) -> Option<usize> {
        let host = host_of(frame.get(..6)?)?;
        let links = (host < self.hosts).then(|| &self.next[node * self.hosts + host])?;
        match links.as_slice() {
            [] => None,
            [one] => Some(*one),
            several => Some(several[(hash(frame) % several.len() as u64) as usize]),
        }
    }
}

/// The hops from each node to a host; none where there is no way.
fn distances(plan: &Plan, host: usize) -> Vec<Option<u32>> {
    let mut distances = vec![None; plan.nodes.len()];
    distances[host] = Some(0);
    let mut reached = VecDeque::from([(host, 0)]);
    while let Some((node, hops)) = reached.pop_front() {
        for link in plan.links.iter().filter(|link| link.to == node) {
            if distances[link.from].is_none() {
                distances[link.from] = Some(hops + 1);
                reached.push_back((link.from, hops + 1));
            }
        }
    }
    distances
}

/// The hardware address of a host.
pub fn address(host: usize) -> [u8; 6] {
    let [a, b, c, d] = PREFIX;
    [a, b, c, d, (host >> 8) as u8, host as u8]
}

/// The host with this hardware address.
fn host_of(address: &[u8]) -> Option<usize> {
    let number = address.strip_prefix(&PREFIX)?;
    Some(usize::from(number[0]) << 8 | usize::from(number[1]))
}

/// A hash of what all frames of a flow share: the addresses and ports of IPv4, or both hardware addresses (FNV-1a).
fn hash(frame: &[u8]) -> u64 {
    let is_ipv4 = frame.get(12..14) == Some(&[0x08, 0x00]);
    let flow = if is_ipv4 { frame.get(26..38) } else { frame.get(..12) }.unwrap_or_default();
    let mixed = flow.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mixed ^ mixed >> 32
}
