//! Endpoints report what became of packets, path by path.

use clearway_proto::fastpass::arbiter::{ArbiterParams, PathParams};
use clearway_proto::fastpass::paths::Racks;

use crate::fastpass::net::{us, Net};
use crate::fastpass::{arbiter, endpoint};

#[test]
fn losses_are_reported_on_the_path_on_which_they_were() {
    let racks = Racks::uniform(2, 4).expect("racks");
    let paths = PathParams::LeafSpine { racks, paths: 4 };
    let mut net = Net::new(endpoint(8), ArbiterParams { paths, ..arbiter(8) }, 1);
    net.dead_path = Some(2);
    for source in 0..4 {
        net.offer(us(100), source, source + 4, 2000);
    }
    net.run(us(10_000));
    let dead = net.sent.iter().filter(|sent| sent.grant.path == 2).count();
    let lost: u32 = net.reports.iter().map(|report| u32::from(report.lost)).sum();
    // Nothing has overtaken the last ones of each source.
    assert!((dead - 4 * 16..=dead).contains(&(lost as usize)), "{lost} of {dead}");
    assert!(!net.reports.iter().any(|report| report.lost > 0 && report.path != 2));
    // Paths without losses are reported on now and then, so that a share can be told.
    let clean: u32 =
        net.reports.iter().filter(|report| report.path != 2).map(|report| u32::from(report.sent)).sum();
    assert!(clean >= 256);
}
