//! Nodes and links as a file lists them, routed by their distances.

use std::collections::BTreeMap;

use clearway_proto::units::{Rate, Span};

use super::contract::{Cut, Shape, ShortestPaths};
use super::rates::HostRates;
use crate::model::MAX_LINKS;
use crate::model::{ListedLink, ListedNode, SwitchRole};
use crate::topology::distances::{descend, distances_to, each_descent, path_counts, UNREACHED};
use crate::topology::graph::{Graph, NodeKind, Plan};

/// See [`Topology::Listed`](crate::model::Topology::Listed).
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed<'a> {
    pub(super) nodes: &'a [ListedNode],
    pub(super) links: &'a [ListedLink],
}

impl Listed<'_> {
    /// Draws what is listed, which gives every link a rate and a delay of its own.
    fn add_to(&self, plan: &mut Plan) {
        let (mut next_host, mut next_switch) = (0, self.hosts());
        let mut number = Vec::with_capacity(self.nodes.len());
        for node in self.nodes {
            let next = if node.switch.is_none() { &mut next_host } else { &mut next_switch };
            number.push(*next);
            *next += 1;
        }
        let hosts = self.nodes.iter().filter(|node| node.switch.is_none());
        for (node, host) in hosts.zip(0..) {
            plan.node(&node.name, NodeKind::Host(host));
        }
        for node in self.nodes {
            if let Some(role) = node.switch {
                plan.node(&node.name, NodeKind::Switch(role));
            }
        }
        for link in self.links {
            let (a, b) = (number[link.ends.0 as usize], number[link.ends.1 as usize]);
            plan.join(a, b, link.rate, link.delay);
        }
    }

    /// Ports of role long.
    fn long_ports(&self) -> usize {
        let role = |i: u32| self.nodes[i as usize].switch;
        let ends = self.links.iter().flat_map(|link| [link.ends, (link.ends.1, link.ends.0)]);
        let roles = ends.filter_map(|(from, to)| Some(role(from)?.of_port(role(to))));
        roles.filter(|&role| role == SwitchRole::Long).count()
    }
}

impl Shape for Listed<'_> {
    fn hosts(&self) -> u32 {
        self.nodes.iter().filter(|node| node.switch.is_none()).count() as u32
    }

    fn links(&self) -> f64 {
        self.links.len() as f64
    }

    fn roles(&self) -> Vec<SwitchRole> {
        let mut roles: Vec<SwitchRole> = self.nodes.iter().filter_map(|node| node.switch).collect();
        if self.long_ports() > 0 {
            roles.push(SwitchRole::Long);
        }
        roles.sort_unstable();
        roles.dedup();
        roles
    }

    fn switch_ports(&self, role: SwitchRole) -> (f64, f64) {
        if role == SwitchRole::Long {
            // Its switches are those of role dci.
            return (0.0, self.long_ports() as f64);
        }
        let of_role = |i: u32| f64::from(u8::from(self.nodes[i as usize].switch == Some(role)));
        let switches = self.nodes.iter().filter(|node| node.switch == Some(role)).count() as f64;
        (switches, self.links.iter().map(|link| of_role(link.ends.0) + of_role(link.ends.1)).sum())
    }

    fn least_delay(&self, delay: Span) -> Span {
        self.links.iter().map(|link| link.delay).min().unwrap_or(delay)
    }

    fn host_rates(&self, rate: Rate) -> HostRates {
        let mut rates = vec![rate; self.nodes.len()];
        for link in self.links {
            rates[link.ends.0 as usize] = link.rate;
            rates[link.ends.1 as usize] = link.rate;
        }
        let hosts = self.nodes.iter().zip(rates).filter(|(node, _)| node.switch.is_none());
        HostRates::Listed(hosts.map(|(_, rate)| rate).collect())
    }

    fn extremes(&self, rate: Rate, delay: Span) -> (Rate, Span) {
        let larger =
            |(rate, delay): (Rate, Span), link: &ListedLink| (rate.max(link.rate), delay.max(link.delay));
        self.links.iter().fold((rate, delay), larger)
    }

    /// The hosts of each switch.
    fn cuts(&self) -> Vec<Cut> {
        let is_host = |node: u32| self.nodes[node as usize].switch.is_none();
        let mut number = vec![0; self.nodes.len()];
        let hosts = (0..self.nodes.len() as u32).filter(|&node| is_host(node));
        hosts.zip(0..).for_each(|(node, host)| number[node as usize] = host);
        let mut cuts = BTreeMap::<u32, Cut>::new();
        for link in self.links {
            let (a, b) = link.ends;
            for (switch, peer) in [(a, b), (b, a)].into_iter().filter(|&(switch, _)| !is_host(switch)) {
                let cut = cuts.entry(switch).or_insert_with(|| Cut {
                    hosts: Vec::new(),
                    links: format!("the links of {} to other switches", self.nodes[switch as usize].name),
                    bps: 0.0,
                    remedy: "give them higher rates in network.file",
                });
                if is_host(peer) {
                    cut.hosts.push(number[peer as usize]);
                } else {
                    cut.bps += link.rate.as_bps() as f64;
                }
            }
        }
        let sorted = |mut cut: Cut| {
            cut.hosts.sort_unstable();
            cut
        };
        cuts.into_values().filter(|cut| !cut.hosts.is_empty()).map(sorted).collect()
    }

    fn draw(&self, plan: &mut Plan, _: Rate, _: Span) {
        self.add_to(plan);
    }

    fn shortest_paths(&self, graph: &Graph) -> Box<dyn ShortestPaths> {
        Box::new(Routes::new(graph))
    }

    fn longest_name(&self) -> usize {
        self.nodes.iter().map(|node| node.name.len()).max().unwrap_or(0)
    }

    fn most_paths(&self) -> u32 {
        let mut plan = Plan::default();
        self.add_to(&mut plan);
        Routes::new(&plan.finish()).most_paths()
    }

    fn is_regular(&self) -> bool {
        false
    }

    /// As for regular shapes, but with the most links that a path may have.
    fn path_bytes(&self) -> f64 {
        8.0 * MAX_LINKS as f64
    }

    /// Distances take 4 B for each pair of switches.
    fn route_bytes(&self) -> f64 {
        let switches = self.nodes.iter().filter(|node| node.switch.is_some()).count() as f64;
        switches * switches * 4.0
    }
}

/// Routes of a listed network: from every switch, the links to each switch that has hosts.
#[derive(Clone, Debug)]
pub(super) struct Routes {
    graph: Graph,
    /// For each destination switch, how many links away every switch (counted from the first) is.
    distances: BTreeMap<u32, Vec<u32>>,
    longest: usize,
}

impl Routes {
    pub(super) fn new(graph: &Graph) -> Routes {
        let mut distances = BTreeMap::new();
        let mut hosts_at: BTreeMap<u32, u32> = BTreeMap::new();
        for host in 0..graph.host_count() {
            *hosts_at.entry(graph.switch_of(host)).or_default() += 1;
        }
        for &switch in hosts_at.keys() {
            distances.insert(switch, distances_to(graph, switch));
        }
        let longest = longest(graph, &distances, &hosts_at);
        Routes { graph: graph.clone(), distances, longest }
    }

    /// The first switch of the way between two hosts, and how far every switch is from the last. Panics where no path
    /// joins the hosts.
    fn ends(&self, from: u32, to: u32) -> (u32, &[u32]) {
        let graph = &self.graph;
        let (first, last) = (graph.switch_of(from), graph.switch_of(to));
        let distances = &self.distances[&last];
        let joined = distances[(first - graph.host_count()) as usize] != UNREACHED;
        assert!(joined, "no path from host {from} to host {to}");
        (first, distances)
    }

    /// The most paths between any two switches with hosts; with two hosts at one there is at least one path.
    fn most_paths(&self) -> u32 {
        let first = self.graph.host_count();
        let all = self.distances.values().flat_map(|distances| {
            let counts = path_counts(&self.graph, distances);
            self.distances.keys().map(move |from| counts[(from - first) as usize])
        });
        all.max().unwrap_or(0)
    }
}

impl ShortestPaths for Routes {
    fn cross(&self, (from, to): (u32, u32), choose: &dyn Fn(u64, u32) -> u32, out: &mut Vec<u32>) {
        let (first, distances) = self.ends(from, to);
        out.push(self.graph.nic(from));
        descend(&self.graph, distances, first, choose, out);
        out.push(self.graph.downlink(to));
    }

    fn paths(&self, from: u32, to: u32) -> u32 {
        let (first, distances) = self.ends(from, to);
        path_counts(&self.graph, distances)[(first - self.graph.host_count()) as usize]
    }

    fn each_path(&self, from: u32, to: u32, visit: &mut dyn FnMut(&[u32])) {
        let (first, distances) = self.ends(from, to);
        let mut path = vec![self.graph.nic(from)];
        each_descent(&self.graph, distances, first, &mut path, &mut |path| {
            path.push(self.graph.downlink(to));
            visit(path);
            path.pop();
        });
    }

    fn longest(&self) -> usize {
        self.longest
    }
}

/// The links on the longest of the shortest paths between hosts: the most between two switches with hosts (a switch and
/// itself when it has two), and the two links of the hosts.
fn longest(graph: &Graph, distances: &BTreeMap<u32, Vec<u32>>, hosts_at: &BTreeMap<u32, u32>) -> usize {
    let between = distances.iter().flat_map(|(to, distances)| {
        hosts_at
            .iter()
            .filter(move |(from, count)| *from != to || **count > 1)
            .map(|(from, _)| distances[(from - graph.host_count()) as usize])
    });
    between.filter(|&links| links != UNREACHED).max().map_or(0, |links| links as usize + 2)
}
