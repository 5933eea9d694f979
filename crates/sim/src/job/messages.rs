//! Messages of a job and their receives.

use super::problem::Problem;
use crate::model::{Operation, OperationGraph};

/// Messages, or receives, by channel: the size and the operation of each, in the order of operations.
struct ByChannel {
    firsts: Vec<u32>,
    messages: Vec<(u64, u32)>,
}

impl ByChannel {
    /// Takes the operations of which `message` tells the channel and the size.
    fn new(graph: &OperationGraph, message: impl Fn(&Operation) -> Option<(u32, u64)>) -> ByChannel {
        let mut firsts = vec![0; graph.channels.len() + 1];
        for (channel, _) in graph.operations.iter().filter_map(&message) {
            firsts[channel as usize + 1] += 1;
        }
        let mut free = accumulated(&mut firsts);
        let mut messages = vec![(0, 0); *firsts.last().expect("one more than channels") as usize];
        for (number, operation) in (0..).zip(&graph.operations) {
            let Some((channel, bytes)) = message(operation) else { continue };
            let place = &mut free[channel as usize];
            messages[*place as usize] = (bytes, number);
            *place += 1;
        }
        ByChannel { firsts, messages }
    }

    fn of(&mut self, channel: usize) -> &mut [(u64, u32)] {
        &mut self.messages[self.firsts[channel] as usize..self.firsts[channel + 1] as usize]
    }
}

/// Every message has a receive of its size. In which order they meet is known when they happen, so where sizes are not the same one by
/// one they are compared as sets.
pub(super) fn match_sizes(graph: &OperationGraph) -> Result<(), Problem> {
    if are_in_order(graph) {
        return Ok(());
    }
    let mut sends = ByChannel::new(graph, |operation| match *operation {
        Operation::Send { channel, bytes } => Some((channel, bytes)),
        _ => None,
    });
    let mut receives = ByChannel::new(graph, |operation| match *operation {
        Operation::Recv { channel, bytes } => Some((channel, bytes)),
        _ => None,
    });
    for channel in 0..graph.channels.len() {
        let (sends, receives) = (sends.of(channel), receives.of(channel));
        if sends.iter().map(|send| send.0).eq(receives.iter().map(|receive| receive.0)) {
            continue;
        }
        sends.sort_unstable();
        receives.sort_unstable();
        if let Some((number, what)) = without_partner(sends, receives) {
            let line = graph.origins.get(number as usize).map_or(0, |origin| origin.line);
            let message = format!(
                "{} {what}: every send needs a recv of the same ranks, tag and size, and every recv a send",
                graph.name(number)
            );
            return Err(Problem { line, message });
        }
    }
    Ok(())
}

/// Returns whether the sizes of each channel's receives are, one by one, those of its messages.
fn are_in_order(graph: &OperationGraph) -> bool {
    let mut firsts = vec![0; graph.channels.len() + 1];
    for operation in &graph.operations {
        if let Operation::Send { channel, .. } = *operation {
            firsts[channel as usize + 1] += 1;
        }
    }
    let mut free = accumulated(&mut firsts);
    let mut due = free.clone();
    let mut sizes = vec![0; *firsts.last().expect("one more than channels") as usize];
    for operation in &graph.operations {
        if let Operation::Send { channel, bytes } = *operation {
            let place = &mut free[channel as usize];
            sizes[*place as usize] = bytes;
            *place += 1;
        }
    }
    for operation in &graph.operations {
        if let Operation::Recv { channel, bytes } = *operation {
            let place = &mut due[channel as usize];
            if *place == firsts[channel as usize + 1] || sizes[*place as usize] != bytes {
                return false;
            }
            *place += 1;
        }
    }
    due[..] == firsts[1..]
}

/// The first of these operations of a channel, sorted by size, that has no partner of its size, and what is wrong with it.
fn without_partner(sends: &[(u64, u32)], receives: &[(u64, u32)]) -> Option<(u32, &'static str)> {
    let (mut send, mut receive) = (sends.iter().peekable(), receives.iter().peekable());
    loop {
        match (send.peek(), receive.peek()) {
            (None, None) => return None,
            (Some(one), Some(other)) if one.0 == other.0 => {
                send.next();
                receive.next();
            }
            (Some(one), other) if other.is_none_or(|other| one.0 < other.0) => {
                return Some((one.1, "is never received"));
            }
            (_, Some(other)) => return Some((other.1, "waits for a message that nobody sends")),
            (Some(_), None) => unreachable!("it is the case before"),
        }
    }
}

/// Counts the messages and the bytes of each pair.
pub(super) fn count_messages(graph: &mut OperationGraph) -> Result<(), Problem> {
    for number in 0..graph.operations.len() {
        let Operation::Send { channel, bytes } = graph.operations[number] else { continue };
        let pair = &mut graph.pairs[graph.pair_of[channel as usize] as usize];
        pair.messages += 1;
        let Some(sum) = pair.bytes.checked_add(bytes.max(1)) else {
            let line = graph.origins.get(number).map_or(0, |origin| origin.line);
            let message = format!("all messages to this rank make more than {} bytes: send less", u64::MAX);
            return Err(Problem { line, message });
        };
        pair.bytes = sum;
    }
    Ok(())
}

/// Makes the place of each group's first member of how many members each group has, which stands behind the group; returns the places
/// without the last.
pub(super) fn accumulated(counts: &mut [u32]) -> Vec<u32> {
    for at in 1..counts.len() {
        counts[at] += counts[at - 1];
    }
    counts[..counts.len() - 1].to_vec()
}
