//! The result of a run, and how far a run has come.

use super::texts::Texts;

/// A run's result. The same scenario and seed give the same outcome on every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The digest of every flow's completion and of the counters of flows and links, with its version in front: `v2:`
    /// and 32 hex digits.
    pub digest: String,
    /// The number of packet-hops: one packet (data or acknowledgement) over one link is one hop.
    pub packet_hops: u64,
    /// The figures of the whole run.
    pub summary: Value,
    /// The tables: flows, links and rtt always, the others where they are asked for or have something to show.
    pub tables: Vec<Table>,
    /// Whether the run was stopped before its end and keeps what there is: everything in it is of the time until then.
    pub interrupted: bool,
}

/// A named table of equally long columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The table's name, of which [`super::definitions`] says what it means.
    pub name: &'static str,
    /// The columns: the name of each, with its unit, and its values.
    pub columns: Vec<(&'static str, Column)>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Integers(Vec<u64>),
    /// Measured values; NaN where there is none.
    Floats(Vec<f64>),
    /// Names.
    Texts(Texts),
}

/// A figure of the summary, or several under one name.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing was measured, for this reason.
    Missing(&'static str),
    /// A count.
    Integer(u64),
    /// A measured value; finite.
    Float(f64),
    /// The names of other figures.
    Names(Vec<String>),
    /// The names of figures that are missing, each with the reason.
    Reasons(Vec<(String, &'static str)>),
    /// Several figures, in the order in which they are shown.
    Object(Vec<(String, Value)>),
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time reached, in picoseconds.
    pub simulated_ps: u64,
    /// Simulated time at which the run ends at the latest, in picoseconds.
    pub end_ps: u64,
    /// Packet-hops so far. On several threads this is an estimate: what the first thread has done since all last
    /// finished a stretch together counts for each of the others, too.
    pub packet_hops: u64,
}

/// Why a run has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The caller's progress function told it to stop.
    Interrupted,
    /// A frame of a lossless class was dropped, with the arithmetic of what was missing.
    Dropped(String),
    /// A job can never end: nothing of it happens any more, and these operations wait for each other. Or a job, or a flow that the run
    /// waits for, cannot: a fault has cut it off for good.
    Standstill(String),
}
