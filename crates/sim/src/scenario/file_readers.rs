//! The files that a scenario names, each read by itself: what writes such files can see whether they are right before
//! any scenario names them.

use clearway_proto::units::{Rate, Span};

use super::error::{Misread, ScenarioError};
use super::source::Source;
use super::trace::Limits;
use super::{document::Place, sizes, topology_file, trace};
use crate::model::{ListedLink, ListedNode, Sizes, TraceFlow};

/// Reads a topology file from its text: its nodes and links, as [`crate::model::Topology::Listed`] holds them. A link that
/// does not say otherwise has this rate and delay. Messages call the file `name`.
///
/// ```
/// use clearway_proto::units::{Rate, Span};
/// use clearway_sim::scenario::read_topology;
///
/// let text = r#"
/// node = [{ name = "s", role = "tor" }, { name = "a", role = "host" }, { name = "b", role = "host" }]
/// link = [{ ends = ["a", "s"] }, { ends = ["s", "c"] }]
/// "#;
/// let error = read_topology(text, "two.toml", Rate::from_gbps(100), Span::from_us(1)).unwrap_err();
/// assert!(error.to_string().starts_with("two.toml:3: link[1].ends: there is no node c"), "{error}");
/// ```
pub fn read_topology(
    text: &str,
    name: &str,
    rate: Rate,
    delay: Span,
) -> Result<(Vec<ListedNode>, Vec<ListedLink>), ScenarioError> {
    topology_file::read(text, name, rate, delay).map_err(|misread| refused(name, misread))
}

/// Reads a trace from its text: its flows, between some of `hosts` hosts and each of `most_bytes` bytes at most.
/// Messages call the file `name`. Panics when there are no hosts.
pub fn read_trace(
    text: &str,
    name: &str,
    hosts: u32,
    most_bytes: u64,
) -> Result<Vec<TraceFlow>, ScenarioError> {
    assert!(hosts > 0, "flows between no hosts");
    let limits = Limits { hosts, bytes: most_bytes };
    trace::read(text, name, Some(&limits)).map_err(|misread| refused(name, misread))
}

/// Reads a distribution of flow sizes from its text. Messages and the distribution call the file `name`.
pub fn read_sizes(text: &str, name: &str) -> Result<Sizes, ScenarioError> {
    let points = sizes::points_of(text, name).map_err(|misread| refused(name, misread))?;
    Ok(Sizes::Distribution { name: name.into(), points })
}

fn refused(name: &str, misread: Misread) -> ScenarioError {
    let source = Source::new(name, Vec::new());
    source.report(Place::File, "", None, misread);
    ScenarioError { problems: source.into_problems() }
}
