//! Which domain owns which node, and in which place everything of a node stands there.

use super::domain_index::DomainIndex;
use crate::net::routes::Next;
use crate::topology::Graph;

/// The nodes and ports of each domain.
///
/// The order in a domain is that of the whole network: nodes by their numbers, ports by the node that they are at and
/// then by their links. So what is compared by its place at one node compares alike in any partition.
#[derive(Debug)]
pub struct Partition {
    /// The place of each node.
    nodes: Vec<DomainIndex>,
    /// For each link the place of the port that feeds it.
    ports: Vec<DomainIndex>,
    /// For each domain its nodes, in order.
    nodes_in: Vec<Vec<u32>>,
    /// For each domain the links that its ports feed, in order.
    links_in: Vec<Vec<u32>>,
}

impl Partition {
    /// Cuts a network into at most `domains` domains.
    ///
    /// Hosts are shared out in blocks of neighbours, as traffic and cabling are; a switch goes where most of its
    /// neighbours are that have been given away, and of several such domains, to the one with the fewest links.
    pub fn new(graph: &Graph, domains: usize) -> Partition {
        let hosts = graph.host_count() as usize;
        let domains = domains.clamp(1, hosts.max(1));
        let mut owner: Vec<Option<usize>> = (0..hosts).map(|host| Some(host * domains / hosts)).collect();
        owner.resize(graph.nodes().len(), None);
        let mut load = vec![0_usize; domains];
        for host in 0..hosts {
            load[owner[host].unwrap_or(0)] += graph.outgoing(host as u32).len();
        }
        for switch in switches_from_the_edge(graph) {
            let mut near = vec![0_usize; domains];
            for &link in graph.outgoing(switch) {
                if let Some(domain) = owner[graph.link(link).to as usize] {
                    near[domain] += 1;
                }
            }
            let best =
                (0..domains).min_by_key(|&domain| (std::cmp::Reverse(near[domain]), load[domain], domain));
            let best = best.unwrap_or(0);
            owner[switch as usize] = Some(best);
            load[best] += graph.outgoing(switch).len();
        }
        Partition::of(graph, domains, |node| owner[node as usize].unwrap_or(0))
    }

    fn of(graph: &Graph, domains: usize, owner: impl Fn(u32) -> usize) -> Partition {
        let nowhere = DomainIndex { domain: 0, at: 0 };
        let mut partition = Partition {
            nodes: Vec::with_capacity(graph.nodes().len()),
            ports: vec![nowhere; graph.links().len()],
            nodes_in: vec![Vec::new(); domains],
            links_in: vec![Vec::new(); domains],
        };
        for node in 0..graph.nodes().len() as u32 {
            let domain = owner(node);
            let nodes = &mut partition.nodes_in[domain];
            partition.nodes.push(DomainIndex { domain: domain as u32, at: nodes.len() as u32 });
            nodes.push(node);
            for &link in graph.outgoing(node) {
                let links = &mut partition.links_in[domain];
                partition.ports[link as usize] =
                    DomainIndex { domain: domain as u32, at: links.len() as u32 };
                links.push(link);
            }
        }
        partition
    }

    /// Returns how many domains there are.
    pub fn domains(&self) -> usize {
        self.nodes_in.len()
    }

    /// The place of a node.
    pub fn node(&self, node: u32) -> DomainIndex {
        self.nodes[node as usize]
    }

    /// The place of the port that feeds a link.
    #[inline]
    pub fn port(&self, link: u32) -> DomainIndex {
        self.ports[link as usize]
    }

    /// The nodes of a domain, in order.
    pub fn nodes_in(&self, domain: u32) -> &[u32] {
        &self.nodes_in[domain as usize]
    }

    /// The links that the ports of a domain feed, in order.
    pub fn links_in(&self, domain: u32) -> &[u32] {
        &self.links_in[domain as usize]
    }

    /// The steps of a route along these links, from their nodes' ports to its `end`.
    pub fn steps(&self, links: &[u32], end: Next, steps: &mut Vec<Next>) {
        steps.clear();
        steps.extend(links.iter().map(|&link| Next::Port(self.port(link).at)));
        steps.push(end);
    }

    /// The links of a route from a node on.
    pub fn links_of(&self, graph: &Graph, from: u32, steps: impl Iterator<Item = Next>) -> Vec<u32> {
        let mut node = from;
        let mut links = Vec::new();
        for step in steps {
            if let Next::Port(port) | Next::Choice(port) = step {
                let link = self.links_in[self.node(node).domain as usize][port as usize];
                node = graph.link(link).to;
                links.push(link);
            }
        }
        links
    }
}

/// The switches, by their distance from the nearest host and then by number.
fn switches_from_the_edge(graph: &Graph) -> Vec<u32> {
    let hosts = graph.host_count();
    let mut seen = vec![false; graph.nodes().len()];
    let mut order: Vec<u32> = (0..hosts).collect();
    seen[..hosts as usize].fill(true);
    let mut next = 0;
    while let Some(&node) = order.get(next) {
        next += 1;
        for &link in graph.outgoing(node) {
            let to = graph.link(link).to;
            if !std::mem::replace(&mut seen[to as usize], true) {
                order.push(to);
            }
        }
    }
    // Switches that no host reaches carry nothing, and come last.
    order.extend((0..graph.nodes().len() as u32).filter(|&node| !seen[node as usize]));
    order.split_off(hosts as usize)
}
