//! What a run leaves, and how far one is.

/// A run's result. The same scenario and seed give the same outcome on every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Digest over every flow's completion and the counters of flows and links, with its version in front: `v2:` and 32 hex digits.
    pub digest: String,
    /// One packet (data or acknowledgement) over one link is one hop.
    pub packet_hops: u64,
    /// Figures of the whole run.
    pub summary: Value,
    /// Tables: flows, links and rtt always, the others when asked for or when there is something to say.
    pub tables: Vec<Table>,
}

/// A named table of equally long columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// `flows`, `links`, `rtt`, `hosts`, `delays`, `operations`, `link_classes`, `queues`, `windows`, `rtt_series`,
    /// `throughput`, `links_series` or `probes`.
    pub name: &'static str,
    /// Name with its unit, and values.
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
    Texts(Vec<String>),
}

/// A figure of the summary, or several under one name.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing was measured.
    Missing,
    /// A count.
    Integer(u64),
    /// A measured value; finite.
    Float(f64),
    /// In the order they are shown.
    Object(Vec<(String, Value)>),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time reached, in picoseconds.
    pub simulated_ps: u64,
    /// Simulated time at which the run ends at the latest, in picoseconds.
    pub end_ps: u64,
    /// Packet-hops so far. On several threads, those of the first since all met last count for each of the others too.
    pub packet_hops: u64,
}

/// The caller's progress function told the run to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;
