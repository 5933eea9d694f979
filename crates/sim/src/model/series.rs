//! The flows of which a run samples what each does over time.

use clearway_proto::units::Span;

use super::Transport;

/// Series of flows: a choice of flows, and the time between their samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSeries {
    /// Time from one sample to the next.
    pub every: Span,
    /// Index of the transport that carries them; none: of any.
    pub transport: Option<usize>,
    /// Index of the class of their data; none: of any.
    pub class: Option<usize>,
    /// The choice among the flows of that transport and class.
    pub rule: Rule,
}

/// A choice among the flows of a transport and a class. Where two are alike, the one with the smaller number comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// All flows.
    All,
    /// The flows of these numbers, which are in rising order.
    Numbers(Vec<u32>),
    /// This many flows, which start before all others.
    First(u32),
    /// This many flows with a size, which have more to carry than all others.
    Largest(u32),
    /// This many flows with the largest slowdowns, which a first run tells.
    Slowest(u32),
}

impl FlowSeries {
    /// The most flows that may have series.
    pub const MOST: u32 = 10_000;

    /// Returns whether flows of this transport, the one of this index, may be among them.
    pub fn takes(&self, index: usize, transport: &Transport) -> bool {
        self.transport.is_none_or(|wanted| wanted == index)
            && self.class.is_none_or(|wanted| wanted == transport.class)
    }

    /// The most flows that there can be of `flows` that may be among them.
    pub fn most_of(&self, flows: f64) -> f64 {
        let most = match &self.rule {
            Rule::All => FlowSeries::MOST,
            Rule::Numbers(numbers) => numbers.len() as u32,
            Rule::First(count) | Rule::Largest(count) | Rule::Slowest(count) => *count,
        };
        flows.min(most.into())
    }
}
