//! Open-loop traffic: each source starts flows in a Poisson process of its own.

use clearway_proto::units::{Rate, Span, Time};

use super::contract::{cross, OfferedLoad, TrafficPattern, LISTED_HOST};
use crate::model::Sizes;
use crate::random::Entity;
use crate::topology::shape::host_rates;
use crate::traffic::flow::{Demand, FlowSpec};
use crate::traffic::table::Table;

/// See [`Pattern::Poisson`](crate::model::Pattern::Poisson).
pub(super) struct Poisson<'a> {
    pub(super) from: &'a [u32],
    pub(super) to: &'a [u32],
    pub(super) load: f64,
    pub(super) sizes: &'a Sizes,
}

impl TrafficPattern for Poisson<'_> {
    /// The flows of each source in turn, in the order of their arrival, up to the table's stop or the run's end.
    fn generate(&self, table: &Table<'_>, flows: &mut Vec<FlowSpec>) {
        let end = (Time::ZERO + table.scenario.duration).min(table.traffic.stop.unwrap_or(Time::NEVER));
        let rates = host_rates(&table.scenario.network);
        for (&source, index) in self.from.iter().zip(0..) {
            let span = (table.start(index), end);
            self.add_source(table, source, self.mean_gap_ps(rates.get(source)), span, flows);
        }
    }

    /// The mean number of arrivals when every source starts as early as it can.
    fn flows(&self, table: &Table<'_>) -> f64 {
        let bits = host_rates(&table.scenario.network).sum_bps(self.from);
        let active = table.traffic.active(table.scenario.duration);
        bits * self.load * active.as_secs_f64() / (8.0 * self.sizes.mean())
    }

    fn most_flows(&self, table: &Table<'_>) -> f64 {
        let expected = self.flows(table);
        expected + 5.0 * expected.sqrt() + 1.0
    }

    fn largest_bytes(&self) -> u64 {
        self.sizes.largest()
    }

    fn list_bytes(&self) -> f64 {
        (self.from.len() + self.to.len()) as f64 * LISTED_HOST
    }

    fn blame(&self) -> (&'static str, &'static str) {
        ("load", "lower load, or shorten duration")
    }

    fn offered(&self, table: &Table<'_>) -> Option<OfferedLoad> {
        let rates = host_rates(&table.scenario.network);
        let bps = self.from.iter().map(|&host| self.load * rates.get(host).as_bps() as f64).collect();
        Some(OfferedLoad { from: self.from.to_vec(), to: self.to.to_vec(), bps, comes_back: false })
    }

    /// A source is one.
    fn members(&self, _: &Table<'_>) -> f64 {
        self.from.len() as f64
    }

    fn some_pairs(&self, _: usize) -> Vec<(u32, u32)> {
        cross(self.from, self.to)
    }

    fn endless(&self) -> Option<&'static str> {
        Some("Poisson traffic never completes: give stop")
    }
}

impl Poisson<'_> {
    /// Mean time between a source's arrivals, in picoseconds: `mean size * 8 / (load * rate)` seconds.
    fn mean_gap_ps(&self, rate: Rate) -> f64 {
        assert!(self.load > 0.0, "a load of nothing");
        self.sizes.mean() * 8.0 * 1e12 / (self.load * rate.as_bps() as f64)
    }

    fn add_source(
        &self,
        table: &Table<'_>,
        source: u32,
        mean_gap_ps: f64,
        (start, end): (Time, Time),
        flows: &mut Vec<FlowSpec>,
    ) {
        // The source's own place among the receivers is left out of the draw.
        let own = self.to.binary_search(&source);
        let receivers = self.to.len() - usize::from(own.is_ok());
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
            let demand = Demand::Sized(self.sizes.draw(&mut stream));
            flows.push(FlowSpec {
                table: table.number,
                transport: table.traffic.transport as u32,
                from: source,
                to: self.to[place],
                start: at,
                stop: None,
                demand,
            });
        }
    }
}
