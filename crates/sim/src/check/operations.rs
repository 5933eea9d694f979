//! What loops of operations demand of the network.

use crate::model::{Operations, Scenario};
use crate::scenario::key::Shown;
use crate::scenario::operations::LEAST_GAP_PS;
use crate::scenario::reader::Section;
use crate::scenario::traffic::MAX_PACKETS;
use crate::topology::Graph;
use crate::traffic::pattern::{self, OperationLoop};
use crate::traffic::Table;

/// What loops of operations demand of the network: targets for each initiator, and sequence numbers for what an
/// open loop's flows are offered.
pub(super) fn check(r: &Section, scenario: &Scenario) {
    let mut graph = None;
    for table in Table::all(scenario) {
        let (pattern, i) = (pattern::of(&table.traffic.pattern), table.number);
        let Some(OperationLoop { operations, issued, .. }) = pattern.operation_loop() else { continue };
        if !operations.remote && issued.is_none() {
            continue;
        }
        let graph = graph.get_or_insert_with(|| Graph::build(&scenario.network));
        let targets = targets(operations, graph);
        for (&host, &targets) in operations.from.iter().zip(&targets) {
            if targets == 0 {
                let switch = &graph.nodes()[graph.switch_of(host) as usize].name;
                let message = format!("all targets of host {host} are under its own switch, {switch}");
                r.conflict_at(&format!("traffic[{i}].remote"), message);
                break;
            }
        }
        if r.sound() {
            check_offered(r, &table, operations, &targets);
        }
    }
}

/// A load of an open loop is at most as many operations as a rate can be, and what a flow is offered has to have
/// sequence numbers, sent or not.
fn check_offered(r: &Section, table: &Table<'_>, operations: &Operations, targets: &[u64]) {
    let Some(most) = pattern::of(&table.traffic.pattern).most_offered(table, targets) else { return };
    let key = |name: &str| format!("traffic[{}].{name}", table.number);
    if most.shortest_gap_ps < LEAST_GAP_PS {
        let (each, bytes) = (1e12 / most.shortest_gap_ps, operations.bytes.shown());
        let message =
            format!("is {each:.3e} operations of {bytes} a second of each initiator; the most is 1G/s: make them larger");
        r.conflict_at(&key("load"), message);
    }
    // Half of the sequence numbers for what is offered; the other half is what a spread beyond this could take.
    if most.packets_a_flow > MAX_PACKETS as f64 {
        let message = format!(
            "a flow could be offered {:.0} packets; the most is 2^31, {MAX_PACKETS}: make operations smaller or fewer, \
             raise flows_per_pair, or shorten duration",
            most.packets_a_flow
        );
        r.conflict_at(&key("bytes"), message);
    }
}

/// The number of targets of each initiator.
fn targets(operations: &Operations, graph: &Graph) -> Vec<u64> {
    let mut under = vec![0u64; graph.nodes().len()];
    for &host in &operations.to {
        under[graph.switch_of(host) as usize] += 1;
    }
    let all = operations.to.len() as u64;
    let own = |host: u32| {
        if operations.remote {
            under[graph.switch_of(host) as usize]
        } else {
            u64::from(operations.to.binary_search(&host).is_ok())
        }
    };
    operations.from.iter().map(|&host| all - own(host)).collect()
}
