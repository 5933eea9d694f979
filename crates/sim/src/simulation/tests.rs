//! Tests of what no run from outside is sure to do.

use std::ops::ControlFlow;
use std::path::Path;

use clearway_proto::units::Time;

use super::ways::{Choice, Way, STRETCH};
use super::Simulation;
use crate::record::digest::digest;
use crate::scenario::load_text;

/// Packets and acknowledgements that cross between domains, some of them lost and so acknowledged out of order.
const SCENARIO: &str = r#"
    format = 1
    name = "crossing"
    duration = "20ms"
    [network]
    topology = "fat_tree"
    k = 4
    rate = "100Gbps"
    [switch.default]
    buffer = "100kB"
    [transport.bulk]
    protocol = "swift"
    initial_cwnd = 2
    [[traffic]]
    pattern = "all_to_all"
    bytes = "800kB"
"#;

#[test]
fn threads_and_one_after_the_other_come_to_the_same() {
    let loaded = load_text(SCENARIO, "crossing", Path::new(""), &[], None);
    let scenario = loaded.expect("it can be read").scenario;
    let run = |threads: usize, way: Way| {
        let mut simulation = Simulation::new(&scenario, threads);
        if let Some(crew) = &mut simulation.crew {
            crew.choice = Choice::only(way);
        }
        for limit in [300, 301, 20_000] {
            let limit = Time::from_ps(limit * 1_000_000);
            assert!(simulation.run_until(limit, &mut |_, _| ControlFlow::Continue(())).is_continue());
        }
        simulation.assert_conservation();
        let lost: u64 =
            simulation.domains.iter().map(|d| d.counters.iter().map(|c| c.lost_data).sum::<u64>()).sum();
        assert!(
            lost > 0 && simulation.packet_hops() > 2 * STRETCH,
            "too little happens: {lost} lost, {} hops",
            simulation.packet_hops()
        );
        digest(&simulation).to_string()
    };
    let alone = run(1, Way::Threads);
    for threads in [2, 3] {
        for way in [Way::Threads, Way::InTurn] {
            assert_eq!(run(threads, way), alone, "{threads} {way:?}");
        }
    }
}
