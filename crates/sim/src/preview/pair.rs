//! Two hosts: the shortest paths between them, and how a flow from one to the other begins.

use clearway_proto::transport::Windows;
use clearway_proto::units::Span;

use super::round_trips::{between, PathLimits};
use crate::host::transport::Maker;
use crate::model::Scenario;
use crate::topology::routing::Router;
use crate::topology::Graph;

/// The most paths that are looked through for some to list.
const MOST_ENUMERATED: u32 = 1 << 16;

/// The paths between two hosts, and how flows begin on them.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The number of shortest paths; `u32::MAX` where there are more.
    pub paths: u32,
    /// The directed links of the first of them, each from the sender's NIC on; of very many only one.
    pub listed: Vec<Vec<u32>>,
    /// The beginning of a flow of each transport, in the scenario's order.
    pub beginnings: Vec<Beginning>,
}

/// The beginning of a flow of one transport.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// The quickest and the slowest of the shortest paths.
    pub limits: [PathLimits; 2],
    /// The windows and the rate of a new flow on the first path.
    pub windows: Windows,
    /// The retransmission timeout of a new flow on the first path.
    pub rto: Span,
}

/// Describes two hosts, with at most `most` of their paths. Panics when the two are one, not joined, or none of the network's.
pub fn pair(scenario: &Scenario, graph: &Graph, (from, to): (u32, u32), most: usize) -> Pair {
    let router = Router::new(graph, &scenario.network);
    let paths = router.paths(from, to);
    let mut listed = Vec::new();
    if paths <= MOST_ENUMERATED {
        router.each_path(from, to, |links| {
            if listed.len() < most {
                listed.push(links.to_vec());
            }
        });
    } else {
        let mut first = Vec::new();
        router.path(from, to, 0, &mut first);
        listed.push(first);
    }
    let links: Vec<_> =
        listed[0].iter().map(|&link| (graph.link(link).rate, graph.link(link).delay)).collect();
    let beginning = |transport| {
        let maker = Maker::new(transport, &scenario.network);
        let sender = maker.sender(maker.path(&links));
        let limits = between(graph, &maker, from, to).expect("the two are joined");
        Beginning { limits, windows: sender.windows(), rto: sender.retransmission_timeout() }
    };
    Pair { paths, beginnings: scenario.transports.iter().map(beginning).collect(), listed }
}
