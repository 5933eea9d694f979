//! Jobs in GOAL's text format.

use std::fmt::Write;
use std::sync::Arc;

use clearway_proto::units::Span;
use clearway_sim::model::{Operation, OperationGraph, Origin, Pattern};

use crate::folder::Texts;
use crate::scenarios::check;

/// Hosts of the network times ranks that each has room for.
const ROOM: u32 = 64;

/// Any bytes are a job or are refused. One that is read names ranks and operations that there are, has a receive for each message,
/// and gives the same again when it is written down.
pub fn goal(bytes: &[u8]) {
    let Some(graph) = read(bytes, "1ns") else { return };
    assert!(graph.ranks() <= ROOM, "more ranks than there is room for");
    assert_eq!(graph.operations.len(), graph.origins.len(), "an operation of no line");
    let ends = [graph.first_operation.last(), graph.first_follower.last()];
    assert_eq!(ends, [Some(&(graph.operations.len() as u32)), Some(&(graph.followers.len() as u32))]);
    for pair in &graph.pairs {
        assert!(pair.from != pair.to && pair.from.max(pair.to) < graph.ranks(), "{pair:?}");
    }
    assert_eq!(sum_of(&graph, true), sum_of(&graph, false), "messages without their receives");
    let text = goal_text(&graph);
    let again = read(text.as_bytes(), "1ps").unwrap_or_else(|| panic!("written down it is refused:\n{text}"));
    let without_origins =
        |graph: &OperationGraph| OperationGraph { origins: Vec::<Origin>::new(), ..graph.clone() };
    assert_eq!(without_origins(&again), without_origins(&graph), "written down it is another job:\n{text}");
}

/// The graph of a job that is given as a file; nothing if it is refused.
fn read(bytes: &[u8], unit: &str) -> Option<Arc<OperationGraph>> {
    let scenario = format!(
        "format = 1\nname = \"any job\"\nduration = \"1s\"\ntransport.a.protocol = \"none\"\n\
         network = {{ topology = \"star\", hosts = 8, rate = \"100Gbps\" }}\n\
         job = [{{ file = \"job.goal\", ranks_per_host = 8, calc_unit = \"{unit}\" }}]\n"
    );
    let loaded = check(&scenario, &Texts::from([("job.goal", bytes)]), &[])?;
    let [traffic] = &loaded.scenario.traffic[..] else { panic!("one job") };
    let Pattern::Job(job) = &traffic.pattern else { panic!("a job") };
    Some(Arc::clone(&job.graph))
}

/// The count and bytes of all messages that are sent, or received.
fn sum_of(graph: &OperationGraph, is_sent: bool) -> (usize, u128) {
    let sizes = graph.operations.iter().filter_map(|operation| match *operation {
        Operation::Send { bytes, .. } if is_sent => Some(u128::from(bytes)),
        Operation::Recv { bytes, .. } if !is_sent => Some(u128::from(bytes)),
        _ => None,
    });
    sizes.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes))
}

/// The job as a file, with a picosecond as its unit of time.
fn goal_text(graph: &OperationGraph) -> String {
    let mut text = format!("num_ranks {}\n", graph.ranks());
    for rank in 0..graph.ranks() {
        let _ = writeln!(text, "rank {rank} {{");
        for number in graph.operations_of(rank) {
            let _ = write!(text, "l{number}: ");
            let channel = |channel: u32| graph.channels[channel as usize];
            let _ = match graph.operations[number as usize] {
                Operation::Send { channel: at, bytes } => {
                    writeln!(text, "send {bytes}b to {} tag {}", channel(at).to, channel(at).tag)
                }
                Operation::Recv { channel: at, bytes } => {
                    writeln!(text, "recv {bytes}b from {} tag {}", channel(at).from, channel(at).tag)
                }
                Operation::Calc { stream, time } => {
                    writeln!(text, "calc {} cpu {stream}", Span::as_ps(time))
                }
            };
        }
        for before in graph.operations_of(rank) {
            for follower in graph.followers_of(before) {
                let word = if follower.after_start { "irequires" } else { "requires" };
                let _ = writeln!(text, "l{} {word} l{before}", follower.operation);
            }
        }
        text.push_str("}\n");
    }
    text
}
