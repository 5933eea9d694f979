//! The names of nodes and which of them are linked, as the simulator's own graph has them.

use std::cell::OnceCell;

use super::suggest;
use crate::model::Network;
use crate::topology::Graph;

/// The most neighbours that a message lists.
const MOST_LISTED: usize = 8;

/// The nodes of a network by name. The graph is built when it is first asked.
pub(crate) struct Names<'a> {
    network: &'a Network,
    graph: OnceCell<Graph>,
}

impl<'a> Names<'a> {
    /// The names of this network.
    pub(crate) fn of(network: &'a Network) -> Names<'a> {
        Names { network, graph: OnceCell::new() }
    }

    /// The nodes and links.
    pub(crate) fn graph(&self) -> &Graph {
        self.graph.get_or_init(|| Graph::build(self.network))
    }

    /// How many hosts there are.
    pub(crate) fn hosts(&self) -> u32 {
        self.graph().host_count()
    }

    /// The number of the node of this name.
    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.graph().node_named(name)
    }

    /// The name of the node of this number.
    pub(crate) fn name(&self, node: u32) -> &str {
        &self.graph().nodes()[node as usize].name
    }

    /// Returns whether there is a node of this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.number(name).is_some()
    }

    /// Returns whether a link joins the two.
    pub(crate) fn linked(&self, a: &str, b: &str) -> bool {
        self.graph().link_between(a, b).is_some()
    }

    /// The node most likely meant by `name`.
    pub(crate) fn nearest(&self, name: &str) -> Option<String> {
        suggest::nearest(name, self.graph().nodes().iter().map(|node| node.name.as_str()))
    }

    /// The names nearest to `name`, as a message lists them.
    pub(crate) fn nearest_listed(&self, name: &str) -> String {
        suggest::listed(name, self.graph().nodes().iter().map(|node| node.name.as_str()))
    }

    /// The names of the nodes that the node of this name is linked to, as a message lists them; for a host with several links those that
    /// its card is linked to.
    pub(crate) fn neighbours(&self, name: &str) -> String {
        let graph = self.graph();
        let node = graph.node_named(name);
        let links = node.map_or([].as_slice(), |node| graph.outgoing(graph.card_of(node)));
        let peers = links.iter().map(|&link| graph.nodes()[graph.link(link).to as usize].name.as_str());
        let peers = peers.filter(|&peer| peer != name);
        let mut listed: Vec<&str> = peers.take(MOST_LISTED).collect();
        if links.len() > MOST_LISTED {
            listed.push("...");
        }
        listed.join(", ")
    }
}
