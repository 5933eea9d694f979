//! The explanation of a flow's completion time, as JSON.

use clearway_sim::record::explanation::Explanation;
use clearway_sim::record::Outcome;
use clearway_sim::topology::Graph;
use serde_json::{json as object, Value};

/// Returns the digest of a run, and the explanation of a flow of it where there is one.
pub fn explanation(outcome: &Outcome, graph: &Graph, of: Option<&Explanation>) -> Value {
    let name = |link: u32| graph.link_name(link);
    let explained = of.map(|of| {
        let parts = of
            .parts
            .iter()
            .map(|part| object!({ "cause": part.cause.name(), "link": part.link.map(name), "ps": part.ps }));
        let journey = of.journey.iter().map(|hop| {
            object!({
                "link": name(hop.link),
                "waited_ps": hop.waited,
                "paused_ps": hop.paused,
                "serialisation_ps": hop.serialisation,
                "propagation_ps": hop.propagation,
            })
        });
        object!({
            "flow": of.flow,
            "start_ps": of.start,
            "completion_ps": of.completion,
            "parts": parts.collect::<Vec<_>>(),
            "last_packet": {
                "seq": of.seq,
                "first_sent_ps": of.first_sent,
                "last_sent_ps": of.last_sent,
                "journey": journey.collect::<Vec<_>>(),
            },
        })
    });
    object!({ "digest": outcome.digest, "explained": explained })
}
