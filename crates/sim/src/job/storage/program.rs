//! Makes the operations of a storage job: clients with their closed loops, and what servers do for them.

use clearway_proto::units::Span;

use super::draw::Draw;
use super::workload::{Redundancy, Storage};
use crate::job::{Draft, GraphBuilder};
use crate::model::{Label, Mark, Measure, Purpose, RequestSort};

/// The processor that does the work of a rank, one thing after the other.
pub(super) const WORK: u32 = 0;

/// The processor of operations that take no time: each begins or ends a request.
const MARKS: u32 = 1;

/// The first of the processors on which a client waits before requests, one for each that may be under way.
const THINKING: u32 = 2;

/// A request that has begun: where it is, and the tags of its messages.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    pub(super) sort: RequestSort,
    /// The rank that began it.
    pub(super) rank: u32,
    lane: u32,
    /// A number that no other request has that may be under way at the same time.
    slot: u32,
    /// The operation with which it began.
    pub(super) begin: u32,
}

/// What a message of a request is. A rank sends another one at most one message of each within a request.
#[derive(Clone, Copy)]
pub(super) enum Sent {
    /// Something is asked for.
    Ask = 0,
    /// Data from a client, or to the rank that asked.
    Data = 1,
    /// Data from server to server.
    Forward = 2,
    /// Something is acknowledged.
    Ack = 3,
}

/// The job so far.
pub(super) struct Program<'a> {
    pub(super) storage: &'a Storage,
    pub(super) builder: GraphBuilder,
    /// The first label of each sort of request.
    labels: [u16; 4],
    /// The first label of the end of a dead server's last block.
    last_labels: u16,
    /// The last request of each lane, of each client and then of each rebuilding server.
    ends: Vec<Option<u32>>,
    /// Blocks that each server makes anew.
    rebuilt: Vec<u32>,
}

/// The number of operations of a storage job, at most.
pub fn most_operations(storage: &Storage) -> u64 {
    let (width, needed) = (u64::from(storage.redundancy.width()), u64::from(storage.redundancy.needed()));
    // A read and each block of it: two of the rank that asks, three of the server. A write takes as many for each server.
    let [read, write] = [needed, width].map(|blocks| 2 + 5 * blocks);
    let writes = u64::from(storage.requests - storage.reads);
    let of_client = u64::from(storage.reads) * read + writes * write;
    let rebuilt = storage.lost_blocks().saturating_mul(storage.dead.len() as u64);
    of_client.saturating_mul(storage.clients.into()).saturating_add(rebuilt.saturating_mul(read))
}

/// The operations of the storage job of this number under the scenario's seed.
pub fn program(storage: &Storage, seed: u64, job: u32) -> GraphBuilder {
    let mut program = Program::new(storage);
    let mut servers: Vec<u32> = (0..storage.servers).collect();
    for client in 0..storage.clients {
        let mut draw = Draw::new(seed, job, client, &mut servers);
        for (request, is_read) in (0..).zip(draw.reads(storage)) {
            let stripe = draw.stripe(storage.redundancy.width());
            let lane = request % storage.lanes();
            if is_read {
                program.read(client, lane, &stripe);
            } else {
                program.write(client, lane, &stripe);
            }
        }
    }
    for &server in &storage.dead {
        program.rebuild(server, &mut Draw::new(seed, job, storage.clients + server, &mut servers));
    }
    program.builder
}

const SORTS: [RequestSort; 4] =
    [RequestSort::Read, RequestSort::DegradedRead, RequestSort::Write, RequestSort::Rebuild];

/// Adds the labels of a job's operations, and its measures. Returns the first label of each sort of request, that of operations without
/// a mark: behind it come those with which a request begins and ends, lane by lane.
fn add_labels(builder: &mut GraphBuilder, storage: &Storage) -> [u16; 4] {
    let mut firsts = [0; 4];
    for (at, sort) in SORTS.into_iter().enumerate() {
        let (lanes, begins, bytes) = match sort {
            RequestSort::Rebuild => {
                (storage.rebuild.map_or(0, |rebuild| rebuild.depth), sort.name(), storage.block())
            }
            RequestSort::Write => (storage.lanes(), storage.begins(sort), storage.bytes),
            _ => (storage.lanes(), storage.begins(sort), storage.read_bytes()),
        };
        firsts[at] = builder.labels.len() as u16;
        builder.labels.push(Label { name: sort.name(), purpose: Purpose::Other, mark: None });
        for lane in 0..lanes as u16 {
            let mark = Mark { measure: at as u16, lane, is_end: false, bytes: 0 };
            builder.labels.push(Label { name: begins, purpose: Purpose::Other, mark: Some(mark) });
            let mark = Mark { is_end: true, bytes, ..mark };
            builder.labels.push(Label { name: sort.name(), purpose: Purpose::Other, mark: Some(mark) });
        }
        builder.measures.push(Measure {
            name: sort.name(),
            collective: None,
            request: Some(sort),
            ranks: storage.redundancy.width() + 1,
            steps: 0,
            lanes: lanes as u16,
        });
    }
    firsts
}

/// Adds the labels with which the last block of a dead server ends, which may be shorter than the others. Returns the first one.
fn add_last_labels(builder: &mut GraphBuilder, storage: &Storage) -> u16 {
    let first = builder.labels.len() as u16;
    if let Some(rebuild) = storage.rebuild {
        let bytes = rebuild.bytes - (storage.lost_blocks() - 1) * storage.block();
        for lane in 0..rebuild.depth as u16 {
            let mark = Some(Mark { measure: RequestSort::Rebuild as u16, lane, is_end: true, bytes });
            builder.labels.push(Label { name: RequestSort::Rebuild.name(), purpose: Purpose::Other, mark });
        }
    }
    first
}

impl<'a> Program<'a> {
    fn new(storage: &'a Storage) -> Program<'a> {
        let mut builder = GraphBuilder::new(storage.ranks() as u32);
        let labels = add_labels(&mut builder, storage);
        let last_labels = add_last_labels(&mut builder, storage);
        let of_clients = storage.clients as usize * storage.lanes() as usize;
        let rebuilding = storage.rebuild.map_or(0, |rebuild| rebuild.depth) as usize;
        let ends = vec![None; of_clients + rebuilding * storage.servers as usize];
        Program { storage, builder, labels, last_labels, ends, rebuilt: vec![0; storage.servers as usize] }
    }

    /// The rank of a server.
    pub(super) fn rank_of(&self, server: u32) -> u32 {
        self.storage.clients + server
    }

    /// Adds an operation of a request to a rank, which waits for these.
    pub(super) fn add(&mut self, of: &Begun, rank: u32, draft: Draft, after: &[u32]) -> u32 {
        let label = self.labels[of.sort as usize];
        self.add_labelled(rank, label, draft, after)
    }

    fn add_labelled(&mut self, rank: u32, label: u16, draft: Draft, after: &[u32]) -> u32 {
        let own = &mut self.builder.ranks[rank as usize];
        own.label = Some(label);
        let operation = own.add(draft);
        own.require_all(operation, after.iter().copied());
        operation
    }

    /// Lets a request of a client begin when the one before in its lane has ended.
    pub(super) fn begin(&mut self, sort: RequestSort, client: u32, lane: u32) -> Begun {
        let slot = client * self.storage.lanes() + lane;
        let time = self.storage.think_time;
        let cpu = if time == Span::ZERO { MARKS } else { THINKING + lane };
        self.begin_in(sort, client, lane, slot, Draft::Calc { cpu, time })
    }

    /// Lets a server begin to make a block anew when the one before in its lane is there.
    pub(super) fn begin_rebuild(&mut self, server: u32, depth: u32) -> Begun {
        let lane = self.rebuilt[server as usize] % depth;
        self.rebuilt[server as usize] += 1;
        let slot = self.storage.clients * self.storage.lanes() + server * depth + lane;
        let instant = Draft::Calc { cpu: MARKS, time: Span::ZERO };
        self.begin_in(RequestSort::Rebuild, self.rank_of(server), lane, slot, instant)
    }

    fn begin_in(&mut self, sort: RequestSort, rank: u32, lane: u32, slot: u32, draft: Draft) -> Begun {
        let before = self.ends[slot as usize];
        let label = self.labels[sort as usize] + 1 + 2 * lane as u16;
        let begin = self.add_labelled(rank, label, draft, before.as_slice());
        Begun { sort, rank, lane, slot, begin }
    }

    /// The request ends with this operation, which is its rank's and waits for these.
    pub(super) fn end(&mut self, of: &Begun, draft: Draft, after: &[u32]) {
        let label = self.labels[of.sort as usize] + 2 + 2 * of.lane as u16;
        self.end_labelled(of, label, draft, after);
    }

    /// The last block of a dead server is there with this operation.
    pub(super) fn end_last(&mut self, of: &Begun, draft: Draft, after: &[u32]) {
        self.end_labelled(of, self.last_labels + of.lane as u16, draft, after);
    }

    fn end_labelled(&mut self, of: &Begun, label: u16, draft: Draft, after: &[u32]) {
        // What takes no time does not wait for the processor.
        let draft = match draft {
            Draft::Calc { time: Span::ZERO, .. } => Draft::Calc { cpu: MARKS, time: Span::ZERO },
            other => other,
        };
        let end = self.add_labelled(of.rank, label, draft, after);
        self.ends[of.slot as usize] = Some(end);
    }

    /// A rank works for this time, if it takes any. Returns that for which what comes next has to wait.
    pub(super) fn work(&mut self, of: &Begun, rank: u32, time: Span, after: u32) -> u32 {
        if time == Span::ZERO {
            return after;
        }
        self.add(of, rank, Draft::Calc { cpu: WORK, time }, &[after])
    }

    /// A message leaves a rank when these have ended.
    pub(super) fn send(&mut self, of: &Begun, from: u32, to: u32, what: (Sent, u64), after: &[u32]) {
        let tag = tag(of, what.0);
        self.add(of, from, Draft::Send { to, tag, bytes: what.1 }, after);
    }

    /// A rank waits for a message from when these have ended.
    pub(super) fn receive(
        &mut self,
        of: &Begun,
        to: u32,
        from: u32,
        what: (Sent, u64),
        after: &[u32],
    ) -> u32 {
        let draft = receive(of, from, what);
        self.add(of, to, draft, after)
    }

    /// The message with which something is asked for or acknowledged.
    pub(super) fn small(&self, what: Sent) -> (Sent, u64) {
        (what, self.storage.request_bytes)
    }

    /// Returns whether objects are stripes of blocks.
    pub(super) fn is_striped(&self) -> bool {
        matches!(self.storage.redundancy, Redundancy::Erasure(_))
    }
}

/// The tag of a request's messages of a sort.
fn tag(of: &Begun, what: Sent) -> u32 {
    of.slot * 4 + what as u32
}

/// A rank waits for a message of a request.
pub(super) fn receive(of: &Begun, from: u32, (what, bytes): (Sent, u64)) -> Draft {
    Draft::Recv { from, tag: tag(of, what), bytes }
}
