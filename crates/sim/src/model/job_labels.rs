//! Labels of a job's operations: what each is called and is for, and which of them are measured together.

use super::collective::CollectiveKind;

/// What a message of a job is for. ORDER MATTERS: time in which messages of several purposes are under way counts for the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// It carries activations, or their gradients, from one pipeline stage to another.
    Pipeline,
    /// It is part of a collective of ranks that share the tensors of a layer.
    Tensor,
    /// It carries tokens to experts, or what comes of them back.
    Expert,
    /// It carries gradients, or parameters that were updated.
    Gradients,
    /// It is for something else, or nobody says for what.
    Other,
}

impl Purpose {
    /// All purposes, in their order.
    pub const ALL: [Purpose; 5] =
        [Purpose::Pipeline, Purpose::Tensor, Purpose::Expert, Purpose::Gradients, Purpose::Other];
}

/// An operation with which something that is measured begins or ends at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Index of what is measured.
    pub measure: u16,
    /// The lane in which it happens: what is in one lane of a rank never overlaps.
    pub lane: u16,
    /// Whether it ends.
    pub is_end: bool,
    /// The size of what was done, where it ends: of a collective the whole array.
    pub bytes: u64,
}

/// What operations have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name of the operations.
    pub name: &'static str,
    /// What their messages are for.
    pub purpose: Purpose,
    /// What begins or ends with each of them.
    pub mark: Option<Mark>,
}

/// What a request of a storage job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestSort {
    /// A client reads from servers that have what it asks for.
    Read,
    /// A client reads what a dead server had: from another replica, or from enough other blocks of a stripe.
    DegradedRead,
    /// A client writes an object.
    Write,
    /// A server makes a block anew that a dead one had.
    Rebuild,
}

impl RequestSort {
    /// The name that tables have for it.
    pub fn name(self) -> &'static str {
        match self {
            RequestSort::Read => "read",
            RequestSort::DegradedRead => "degraded read",
            RequestSort::Write => "write",
            RequestSort::Rebuild => "rebuild",
        }
    }
}

/// Something that ranks do together again and again, and that takes time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Its name.
    pub name: &'static str,
    /// The kind of the collective, if it is one.
    pub collective: Option<CollectiveKind>,
    /// What it is as a request, if it is one.
    pub request: Option<RequestSort>,
    /// Ranks that do it together.
    pub ranks: u32,
    /// Messages that follow each other in it.
    pub steps: u32,
    /// Lanes of a rank in which it can happen at a time.
    pub lanes: u16,
}

/// The labels of all operations of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// All labels.
    pub list: Vec<Label>,
    /// The label of each operation; empty where they have none.
    pub of: Vec<u16>,
    /// The measures, in the order of their numbers.
    pub measures: Vec<Measure>,
}

impl Labels {
    /// The label of an operation; `None` in a job without labels.
    pub fn of(&self, operation: u32) -> Option<&Label> {
        self.of.get(operation as usize).map(|&label| &self.list[label as usize])
    }

    /// What an operation's message is for.
    pub fn purpose_of(&self, operation: u32) -> Purpose {
        self.of(operation).map_or(Purpose::Other, |label| label.purpose)
    }

    /// What begins or ends with an operation.
    pub fn mark_of(&self, operation: u32) -> Option<Mark> {
        self.of(operation).and_then(|label| label.mark)
    }
}
