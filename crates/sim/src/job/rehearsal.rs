//! Whether a job can end at all, and who waits for whom where it cannot.

use super::rank::Progress;
use crate::model::{Operation, OperationGraph};

/// The most operations that a message lists.
const MOST_LISTED: usize = 8;

/// Returns who waits for whom in a job that can never end, however long anything takes. `None` where it may end: a job in which several
/// receives of one channel are open at a time may still come to a standstill if they start in the wrong order.
///
/// A receive is taken to end as soon as one message of its channel has been sent, whichever receive that message will meet. So what
/// does not end here never does.
pub fn never_ends(graph: &OperationGraph) -> Option<String> {
    let mut progress = vec![Progress::Waiting; graph.operations.len()];
    let mut waits_for = graph.requirements.clone();
    let mut has_message = vec![false; graph.channels.len()];
    let mut posted = vec![Vec::new(); graph.channels.len()];
    let first = |operation: &u32| graph.requirements[*operation as usize] == 0;
    let mut ready: Vec<u32> = (0..graph.operations.len() as u32).filter(first).collect();
    let mut left = graph.operations.len();
    while let Some(operation) = ready.pop() {
        let mut ends = vec![operation];
        advance(graph, operation, true, &mut waits_for, &mut ready);
        match graph.operations[operation as usize] {
            Operation::Calc { .. } => (),
            Operation::Send { channel, .. } => {
                has_message[channel as usize] = true;
                ends.append(&mut posted[channel as usize]);
            }
            Operation::Recv { channel, .. } if has_message[channel as usize] => (),
            Operation::Recv { channel, .. } => {
                progress[operation as usize] = Progress::Started;
                posted[channel as usize].append(&mut ends);
            }
        }
        for operation in ends {
            progress[operation as usize] = Progress::Ended;
            left -= 1;
            advance(graph, operation, false, &mut waits_for, &mut ready);
        }
    }
    (left > 0).then(|| Standstill { graph, progress: &|operation| progress[operation as usize] }.cycle())
}

/// An operation starts, or ends; what waits for nothing more is ready then.
fn advance(
    graph: &OperationGraph,
    operation: u32,
    is_start: bool,
    waits_for: &mut [u32],
    ready: &mut Vec<u32>,
) {
    for follower in graph.followers_of(operation).iter().filter(|other| other.after_start == is_start) {
        let waits_for = &mut waits_for[follower.operation as usize];
        *waits_for -= 1;
        if *waits_for == 0 {
            ready.push(follower.operation);
        }
    }
}

/// A job in which nothing happens any more.
pub struct Standstill<'a> {
    /// Its operations.
    pub graph: &'a OperationGraph,
    /// How far each operation is.
    pub progress: &'a dyn Fn(u32) -> Progress,
}

impl Standstill<'_> {
    /// A sentence that names operations of which each waits for the next, and the last for the first.
    pub fn cycle(&self) -> String {
        let blocked_by = self.unmet();
        let operations = 0..self.graph.operations.len() as u32;
        let Some(first) = operations.clone().find(|&operation| (self.progress)(operation) != Progress::Ended)
        else {
            return "every operation has ended".into();
        };
        let mut seen = vec![false; operations.len()];
        let (mut at, mut way) = (first, Vec::new());
        while !std::mem::replace(&mut seen[at as usize], true) {
            way.push(at);
            match self.cause(at, &blocked_by) {
                Some(next) => at = next,
                None => break,
            }
        }
        let begins = way.iter().position(|&operation| operation == at).unwrap_or(0);
        let cycle = &way[begins..];
        let names: Vec<String> =
            cycle.iter().take(MOST_LISTED).map(|&operation| self.graph.name(operation)).collect();
        let more = match cycle.len().saturating_sub(MOST_LISTED) {
            0 => String::new(),
            more => format!(", which waits for {more} more"),
        };
        format!("{}{more}, which waits for the first", names.join(", which waits for "))
    }

    /// For each operation another one of its rank that it waits for; the largest number where there is none.
    fn unmet(&self) -> Vec<u32> {
        let mut unmet = vec![u32::MAX; self.graph.operations.len()];
        for before in 0..self.graph.operations.len() as u32 {
            let progress = (self.progress)(before);
            for follower in self.graph.followers_of(before) {
                let met =
                    progress == Progress::Ended || follower.after_start && progress == Progress::Started;
                if !met {
                    unmet[follower.operation as usize] = before;
                }
            }
        }
        unmet
    }

    /// What an operation waits for that has not ended: another one of its rank, or for a receive the send of its message.
    fn cause(&self, operation: u32, unmet: &[u32]) -> Option<u32> {
        if (self.progress)(operation) == Progress::Waiting {
            return Some(unmet[operation as usize]).filter(|&before| before != u32::MAX);
        }
        let Operation::Recv { channel, .. } = self.graph.operations[operation as usize] else { return None };
        let from = self.graph.channels[channel as usize].from;
        let open = |&other: &u32| (self.progress)(other) != Progress::Ended;
        let sends = |&other: &u32| match self.graph.operations[other as usize] {
            Operation::Send { channel: its, .. } => its == channel && open(&other),
            _ => false,
        };
        let theirs = || self.graph.operations_of(from);
        theirs().find(sends).or_else(|| theirs().find(open))
    }
}
