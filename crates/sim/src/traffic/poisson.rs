//! Open-loop traffic: each source starts flows in a Poisson process of its own.

use super::flow::{Demand, FlowSpec};
use super::table::Table;
use crate::model::{Scenario, Sizes, Traffic};
use crate::net::topology::Graph;
use crate::random::Entity;
use clearway_proto::units::{Rate, Span, Time};

/// What the sources of one table have in common.
pub(super) struct Law<'a> {
    /// Receivers, in rising order.
    pub(super) to: &'a [u32],
    /// Payload offered, as a fraction of the source's link.
    pub(super) load: f64,
    /// Of the flows.
    pub(super) sizes: &'a Sizes,
}

impl Law<'_> {
    /// Mean time between a source's arrivals, in picoseconds: `mean size * 8 / (load * rate)` seconds.
    fn mean_gap_ps(&self, rate: Rate) -> f64 {
        assert!(self.load > 0.0, "a load of nothing");
        self.sizes.mean() * 8.0 * 1e12 / (self.load * rate.as_bps() as f64)
    }
}

/// Appends the flows of each source in turn, in the order of their arrival, up to the table's stop or the
/// run's end.
pub(super) fn add_arrivals(
    table: &Table<'_>,
    scenario: &Scenario,
    from: &[u32],
    law: &Law<'_>,
    flows: &mut Vec<FlowSpec>,
) {
    let end = end(table.traffic, scenario);
    let graph = Graph::build(&scenario.network);
    for (&source, index) in from.iter().zip(0..) {
        let rate = graph.link(graph.nic(source)).rate;
        let span = (table.start(index), end);
        add_source(table, source, law, law.mean_gap_ps(rate), span, flows);
    }
}

/// The mean number of arrivals when every source starts as early as it can.
pub(super) fn expected_arrivals(traffic: &Traffic, scenario: &Scenario, from: &[u32], law: &Law<'_>) -> f64 {
    let active_ps = end(traffic, scenario).since(traffic.start.0).as_ps() as f64;
    let graph = Graph::build(&scenario.network);
    from.iter().map(|&source| active_ps / law.mean_gap_ps(graph.link(graph.nic(source)).rate)).sum()
}

/// When arrivals cease.
fn end(traffic: &Traffic, scenario: &Scenario) -> Time {
    (Time::ZERO + scenario.duration).min(traffic.stop.unwrap_or(Time::NEVER))
}

fn add_source(
    table: &Table<'_>,
    source: u32,
    law: &Law<'_>,
    mean_gap_ps: f64,
    (start, end): (Time, Time),
    flows: &mut Vec<FlowSpec>,
) {
    // The source's own place among the receivers is left out of the draw.
    let own = law.to.binary_search(&source);
    let receivers = law.to.len() - usize::from(own.is_ok());
    if receivers == 0 {
        return;
    }
    let mut stream = table.stream(Entity::PoissonSource, source);
    let mut elapsed_ps = 0.0;
    loop {
        elapsed_ps += stream.exponential(mean_gap_ps);
        let at = start + Span::from_ps(elapsed_ps as u64);
        if at >= end {
            return;
        }
        let drawn = stream.below(receivers as u64) as usize;
        let place = drawn + usize::from(own.is_ok_and(|own| drawn >= own));
        let demand = Demand::Sized(law.sizes.draw(&mut stream));
        flows.push(FlowSpec {
            table: table.number,
            transport: table.traffic.transport as u32,
            from: source,
            to: law.to[place],
            start: at,
            stop: None,
            demand,
        });
    }
}
