//! The names of nodes: `h0`, `tor2`, `agg1`, `spine3`, or a topology file's own; and which of them are linked.

use std::collections::{BTreeMap, BTreeSet};

use super::suggest;
use super::types::{Network, Topology};

/// The nodes of a network by name.
pub(super) enum Names<'a> {
    /// Numbered by kind.
    Numbered(&'a Topology),
    /// As a topology file lists them.
    Listed {
        /// Their indices.
        index: BTreeMap<&'a str, u32>,
        /// Linked pairs, the lower index first.
        links: BTreeSet<(u32, u32)>,
    },
}

/// A node with a number of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Host(u32),
    Tor(u32),
    Aggregation(u32),
    Spine(u32),
}

/// How many nodes of each kind there are, with the prefix of their names.
fn kinds(topology: &Topology) -> [(&'static str, u32); 4] {
    let (hosts, tors, aggregations, spines) = match topology {
        Topology::Star { hosts } => (*hosts, 1, 0, 0),
        Topology::Dumbbell { left, right, .. } => (left + right, 2, 0, 0),
        Topology::LeafSpine { leaves, spines, hosts_per_leaf, .. } => {
            (leaves * hosts_per_leaf, *leaves, 0, *spines)
        }
        Topology::FatTree { k } => (k * k * k / 4, k * k / 2, k * k / 2, k * k / 4),
        Topology::Listed { .. } => (0, 0, 0, 0),
    };
    [("h", hosts), ("tor", tors), ("agg", aggregations), ("spine", spines)]
}

impl<'a> Names<'a> {
    /// Of this network.
    pub(super) fn of(network: &'a Network) -> Names<'a> {
        let Topology::Listed { nodes, links } = &network.topology else {
            return Names::Numbered(&network.topology);
        };
        let index = nodes.iter().enumerate().map(|(i, node)| (node.name.as_str(), i as u32)).collect();
        let links = links.iter().map(|link| (link.ends.0.min(link.ends.1), link.ends.0.max(link.ends.1)));
        Names::Listed { index, links: links.collect() }
    }

    /// Whether there is a node of this name.
    pub(super) fn contains(&self, name: &str) -> bool {
        match self {
            Names::Numbered(topology) => parse(name, topology).is_some(),
            Names::Listed { index, .. } => index.contains_key(name),
        }
    }

    /// Whether a link joins the two.
    pub(super) fn linked(&self, a: &str, b: &str) -> bool {
        match self {
            Names::Numbered(topology) => match (parse(a, topology), parse(b, topology)) {
                (Some(a), Some(b)) => joined(topology, a, b) || joined(topology, b, a),
                _ => false,
            },
            Names::Listed { index, links } => match (index.get(a), index.get(b)) {
                (Some(a), Some(b)) => links.contains(&(*a.min(b), *a.max(b))),
                _ => false,
            },
        }
    }

    /// The node most likely meant by `name`.
    pub(super) fn nearest(&self, name: &str) -> Option<String> {
        let topology = match self {
            Names::Numbered(topology) => topology,
            Names::Listed { index, .. } => return suggest::nearest(name, index.keys().copied()),
        };
        let digits = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let (prefix, number) = name.split_at(digits);
        let there = kinds(topology).into_iter().filter(|(_, count)| *count > 0);
        let aliases = there.clone().flat_map(|(kind, _)| match kind {
            "h" => vec![kind, "host", "server"],
            "tor" => vec![kind, "leaf", "edge", "switch"],
            "agg" => vec![kind, "aggregation"],
            _ => vec![kind, "core"],
        });
        let meant = suggest::nearest(prefix, aliases)?;
        let kind = match meant.as_str() {
            "h" | "host" | "server" => "h",
            "tor" | "leaf" | "edge" | "switch" => "tor",
            "agg" | "aggregation" => "agg",
            _ => "spine",
        };
        let (_, count) = there.clone().find(|(name, _)| *name == kind)?;
        let number = number.parse::<u32>().unwrap_or(0).min(count - 1);
        Some(format!("{kind}{number}"))
    }

    /// What the node is linked to, in words.
    pub(super) fn neighbours(&self, name: &str) -> String {
        let most = 8;
        let mut linked: Vec<String> = match self {
            Names::Listed { index, .. } => {
                let there = index.keys().filter(|other| self.linked(name, other));
                there.take(most + 1).map(ToString::to_string).collect()
            }
            Names::Numbered(topology) => {
                let all = kinds(topology)
                    .into_iter()
                    .rev()
                    .flat_map(|(kind, count)| (0..count).map(move |number| format!("{kind}{number}")));
                all.filter(|other| self.linked(name, other)).take(most + 1).collect()
            }
        };
        if linked.len() > most {
            linked[most] = "...".into();
        }
        linked.join(", ")
    }
}

fn parse(name: &str, topology: &Topology) -> Option<Node> {
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let (prefix, number) = name.split_at(digits);
    // `h07` is no name: every node has one.
    let number = number.parse::<u32>().ok().filter(|parsed| parsed.to_string() == number)?;
    let (_, count) = kinds(topology).into_iter().find(|(kind, _)| *kind == prefix)?;
    let node = match prefix {
        "h" => Node::Host(number),
        "tor" => Node::Tor(number),
        "agg" => Node::Aggregation(number),
        _ => Node::Spine(number),
    };
    (number < count).then_some(node)
}

/// Whether a link joins `a` to `b`, which is not below it.
fn joined(topology: &Topology, a: Node, b: Node) -> bool {
    match (topology, a, b) {
        (Topology::Star { .. }, Node::Host(_), Node::Tor(_))
        | (Topology::LeafSpine { .. }, Node::Tor(_), Node::Spine(_)) => true,
        (Topology::Dumbbell { left, .. }, Node::Host(host), Node::Tor(tor)) => (host >= *left) == (tor == 1),
        (Topology::Dumbbell { .. }, Node::Tor(a), Node::Tor(b)) => a != b,
        (Topology::LeafSpine { hosts_per_leaf, .. }, Node::Host(host), Node::Tor(tor)) => {
            host / hosts_per_leaf == tor
        }
        (Topology::FatTree { k }, Node::Host(host), Node::Tor(tor)) => host / (k / 2) == tor,
        (Topology::FatTree { k }, Node::Tor(tor), Node::Aggregation(agg)) => tor / (k / 2) == agg / (k / 2),
        (Topology::FatTree { k }, Node::Aggregation(agg), Node::Spine(spine)) => {
            agg % (k / 2) == spine / (k / 2)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_links(topology: &Topology) -> usize {
        let names = Names::Numbered(topology);
        let all =
            || kinds(topology).into_iter().flat_map(|(kind, n)| (0..n).map(move |i| format!("{kind}{i}")));
        all().flat_map(|a| all().map(move |b| (a.clone(), b))).filter(|(a, b)| names.linked(a, b)).count() / 2
    }

    #[test]
    fn every_topology_has_its_links() {
        use clearway_proto::units::{Rate, Span};
        let rate = Rate::from_gbps(1);
        assert_eq!(count_links(&Topology::Star { hosts: 5 }), 5);
        let dumbbell =
            Topology::Dumbbell { left: 3, right: 2, bottleneck: rate, bottleneck_delay: Span::from_us(1) };
        assert_eq!(count_links(&dumbbell), 6);
        assert!(Names::Numbered(&dumbbell).linked("h2", "tor0"));
        assert!(!Names::Numbered(&dumbbell).linked("h2", "tor1"));
        let leaf_spine = Topology::LeafSpine { leaves: 3, spines: 2, hosts_per_leaf: 4, uplink: rate };
        assert_eq!(count_links(&leaf_spine), 12 + 6);
        // k^3/4 links in each of the three tiers.
        assert_eq!(count_links(&Topology::FatTree { k: 4 }), 3 * 16);
        let names = Topology::FatTree { k: 4 };
        assert!(Names::Numbered(&names).linked("agg3", "spine2"));
        assert!(!Names::Numbered(&names).linked("agg3", "spine1"));
    }

    #[test]
    fn names_that_are_not_there_find_one_that_is() {
        let star = Topology::Star { hosts: 5 };
        let names = Names::Numbered(&star);
        assert!(
            names.contains("h4")
                && !names.contains("h5")
                && !names.contains("h04")
                && !names.contains("agg0")
        );
        assert_eq!(names.nearest("h5"), Some("h4".into()));
        assert_eq!(names.nearest("host3"), Some("h3".into()));
        assert_eq!(names.nearest("leaf0"), Some("tor0".into()));
        assert_eq!(names.nearest("tro1"), Some("tor0".into()));
        assert_eq!(names.nearest("router"), None);
        assert_eq!(names.neighbours("h1"), "tor0");
    }
}
