//! The flows of a whole scenario, table by table.

use super::flow::FlowSpec;
use super::pattern;
use super::table::Table;
use crate::model::Scenario;

/// The flows of a scenario: table by table, and within a table in its pattern's order: by sender, then
/// receiver, then number of the flow between the two; for a Poisson table by source, then time; for a trace
/// as listed. A flow of reads is two, one of requests and one of answers behind it.
///
/// A Poisson source starts like a flow does: in the range of starts, and source i of its table i staggers
/// later; so does an open loop's initiator, with all its flows. A trace's times count from that start too.
pub fn generate(scenario: &Scenario) -> Vec<FlowSpec> {
    let mut flows = Vec::with_capacity(expected_flows(scenario) as usize);
    for table in Table::all(scenario) {
        pattern::of(&table.traffic.pattern).generate(&table, &mut flows);
    }
    flows.retain(|flow| flow.stop.is_none_or(|stop| flow.start < stop));
    flows
}

/// Returns how many flows [`generate`] will make: exactly, save for Poisson tables, whose mean this counts, and for pairs of
/// hosts under one switch that loops leave out, which it counts too. Cheap, so that a scenario with too many can be refused
/// before they are made.
pub fn expected_flows(scenario: &Scenario) -> f64 {
    Table::all(scenario).map(|table| pattern::of(&table.traffic.pattern).flows(&table)).sum()
}

/// Returns how many flows [`generate`] will make at most: what it draws stays below with five standard deviations.
pub fn most_flows(scenario: &Scenario) -> f64 {
    Table::all(scenario).map(|table| pattern::of(&table.traffic.pattern).most_flows(&table)).sum()
}

#[cfg(test)]
mod tests {
    use super::super::flow::Demand;
    use super::super::tests::fixture::{scenario, table};
    use super::*;
    use crate::model::{Pattern, TraceFlow, Traffic};
    use clearway_proto::units::{Bytes, Span, Time};

    fn flows(hosts: u32, traffic: Traffic) -> Vec<FlowSpec> {
        generate(&scenario(hosts, vec![traffic]))
    }

    fn pairs(flows: &[FlowSpec]) -> Vec<(u32, u32)> {
        flows.iter().map(|flow| (flow.from, flow.to)).collect()
    }

    fn us(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    fn permutation(hosts: u32) -> Pattern {
        Pattern::Permutation { hosts: (0..hosts).collect(), flows_per_pair: 1, bytes: None }
    }

    #[test]
    fn an_incast_goes_sender_by_sender() {
        let pattern =
            Pattern::Incast { from: vec![0, 2], to: 1, flows_per_pair: 2, bytes: Some(Bytes::new(9)) };
        let flows = flows(3, Traffic { stop: Some(us(9)), ..table(pattern) });
        assert_eq!(pairs(&flows), [(0, 1), (0, 1), (2, 1), (2, 1)]);
        assert!(flows
            .iter()
            .all(|flow| flow.demand == Demand::Sized(Bytes::new(9)) && flow.stop == Some(us(9))));
    }

    #[test]
    fn all_to_all_leaves_out_oneself() {
        let pattern = Pattern::AllToAll { hosts: vec![0, 1, 3], flows_per_pair: 1, bytes: None };
        let flows = flows(4, table(pattern));
        assert_eq!(pairs(&flows), [(0, 1), (0, 3), (1, 0), (1, 3), (3, 0), (3, 1)]);
        assert!(flows.iter().all(|flow| flow.demand == Demand::Endless && flow.start == Time::ZERO));
    }

    #[test]
    fn a_trace_keeps_its_order_and_counts_from_the_start() {
        let line = |start, from, to| TraceFlow { start: us(start), from, to, bytes: Bytes::new(1) };
        let pattern = Pattern::Trace { flows: vec![line(5, 1, 0), line(3, 0, 1)] };
        let flows = flows(2, Traffic { start: (us(10), us(10)), ..table(pattern) });
        assert_eq!(pairs(&flows), [(1, 0), (0, 1)]);
        assert_eq!((flows[0].start, flows[1].start), (us(15), us(13)));
    }

    #[test]
    fn a_permutation_is_one_to_one_and_none_to_itself() {
        for hosts in [2, 3, 4, 17, 1000] {
            let mut pairs = pairs(&flows(hosts, table(permutation(hosts))));
            assert!(pairs.iter().all(|(from, to)| from != to));
            assert!(pairs.iter().map(|pair| pair.0).eq(0..hosts));
            pairs.sort_by_key(|pair| pair.1);
            assert!(pairs.iter().map(|pair| pair.1).eq(0..hosts));
        }
    }

    #[test]
    fn starts_are_uniform_in_their_range_and_staggered() {
        let stagger = Span::from_us(1000);
        let flows = flows(2000, Traffic { start: (us(100), us(200)), stagger, ..table(permutation(2000)) });
        let drawn: Vec<f64> = (0..)
            .zip(&flows)
            .map(|(index, flow)| flow.start.since(us(100) + stagger * index).as_us_f64())
            .collect();
        assert!(drawn.iter().all(|start| (0.0..100.0).contains(start)));
        let mean = drawn.iter().sum::<f64>() / 2000.0;
        let standard_error = 100.0 / (12.0 * 2000f64).sqrt();
        assert!((mean - 50.0).abs() < 3.0 * standard_error, "{mean}");
        assert_eq!(flows.iter().filter(|flow| flow.start < us(100)).count(), 0);
    }

    #[test]
    fn a_table_disturbs_no_other() {
        let first = Traffic { start: (us(0), us(50)), ..table(permutation(20)) };
        let second = table(Pattern::AllToAll { hosts: vec![0, 1, 2], flows_per_pair: 1, bytes: None });
        let alone = generate(&scenario(20, vec![first.clone()]));
        let both = generate(&scenario(20, vec![first.clone(), second]));
        assert_eq!(both[..20], alone);
        assert!(both[20..].iter().all(|flow| flow.table == 1));
        let twice = generate(&scenario(20, vec![first.clone(), first]));
        assert_ne!(pairs(&twice[..20]), pairs(&twice[20..]), "two tables draw apart");
    }

    #[test]
    fn flows_are_counted_before_they_are_made() {
        let hosts = || (0..5).collect::<Vec<u32>>();
        let tables = vec![
            table(Pattern::Incast { from: vec![0, 2], to: 1, flows_per_pair: 3, bytes: None }),
            table(Pattern::Permutation { hosts: hosts(), flows_per_pair: 2, bytes: None }),
            table(Pattern::AllToAll { hosts: hosts(), flows_per_pair: 2, bytes: None }),
        ];
        let scenario = scenario(5, tables);
        assert_eq!(expected_flows(&scenario), 6.0 + 10.0 + 40.0);
        assert_eq!(generate(&scenario).len(), 56);
    }

    #[test]
    fn another_seed_makes_other_flows() {
        let mut other = scenario(20, vec![table(permutation(20))]);
        other.seed = 2;
        assert_ne!(generate(&other), flows(20, table(permutation(20))));
    }
}
