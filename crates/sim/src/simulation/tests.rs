//! Tests of what no run from outside is sure to do.

use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;

use clearway_proto::pfc::account::Account;
use clearway_proto::units::{Span, Time};

use super::run_mode::{Choice, RunMode, STRETCH};
use super::Simulation;
use crate::check::load_text;
use crate::net::pfc::{Pause, Pfc};
use crate::record::digest::digest;

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
    let run = |threads: usize, mode: RunMode| {
        let mut simulation = Simulation::new(&scenario, threads);
        if let Some(crew) = &mut simulation.crew {
            crew.choice = Choice::only(mode);
        }
        for limit in [300, 301, 20_000] {
            let limit = Time::from_ps(limit * 1_000_000);
            assert!(simulation.run_until(limit, &mut |_, _| ControlFlow::Continue(())).is_continue());
        }
        simulation.assert_conservation();
        let lost: u64 =
            simulation.domains.iter().map(|d| d.out.counters.iter().map(|c| c.lost_data).sum::<u64>()).sum();
        assert!(
            lost > 0 && simulation.packet_hops() > 2 * STRETCH,
            "too little happens: {lost} lost, {} hops",
            simulation.packet_hops()
        );
        digest(&simulation).to_string()
    };
    let alone = run(1, RunMode::Threads);
    for threads in [2, 3] {
        for mode in [RunMode::Threads, RunMode::InTurn] {
            assert_eq!(run(threads, mode), alone, "{threads} {mode:?}");
        }
    }
}

/// Whole flows, lost packets, hosts that take their time, and flows that start late or stop.
const ENDINGS: [&str; 4] = [
    "[network]\ntopology = 'star'\nhosts = 4\n[switch.default]\nbuffer = '20kB'\n[transport.t]\nprotocol = 'swift'\n\
     initial_cwnd = 20\n[[traffic]]\npattern = 'all_to_all'\nbytes = '100kB'\nstart = '0us..30us'",
    "[network]\ntopology = 'star'\nhosts = 4\n[host.default]\nmodel = 'snap'\n[transport.t]\nprotocol = 'swift'\n\
     [[traffic]]\npattern = 'incast'\nto = 3\nbytes = '300kB'",
    "[network]\ntopology = 'star'\nhosts = 4\n[transport.t]\nprotocol = 'dctcp'\n[[traffic]]\npattern = 'incast'\n\
     to = 3\nfrom = 0\nbytes = '50kB'\nstart = '100us'\n[[traffic]]\npattern = 'incast'\nfrom = '1..2'\nto = 3\n\
     stop = '130us'\ntransport = 't'",
    "[network]\ntopology = 'star'\nhosts = 4\n[transport.t]\nprotocol = 'none'\n[[traffic]]\npattern = 'permutation'\n\
     bytes = '1MB'",
];

/// At every microsecond: nothing is complete before it was said that it may be, and that is said well before the end.
#[test]
fn nothing_is_complete_before_it_can_be() {
    for network in ENDINGS {
        let text = format!("format = 1\nname = 'ends'\nduration = '10ms'\n{network}\n");
        let loaded = load_text(&text, "ends", Path::new(""), &[], None);
        let mut simulation = Simulation::new(&loaded.expect("it can be read").scenario, 2);
        let mut latest = Time::ZERO;
        let mut ahead = 0;
        for us in 1.. {
            let possible = simulation.not_complete_before();
            ahead += usize::from(possible > simulation.time() + Span::from_us(5));
            latest = latest.max(possible);
            let limit = Time::from_ps(us * 1_000_000);
            assert!(simulation.run_until(limit, &mut |_, _| ControlFlow::Continue(())).is_continue());
            if simulation.all_complete() {
                break;
            }
        }
        assert!(
            latest <= simulation.time(),
            "complete at {:?}, said for {latest:?}: {network}",
            simulation.time()
        );
        assert!(ahead > 3, "said too late: {network}");
    }
}

/// Four hosts into one, all of which are paused most of the time.
const LOSSLESS: &str = r#"
    format = 1
    name = "lossless"
    duration = "2ms"
    [network]
    topology = "star"
    hosts = 5
    rate = "100Gbps"
    delay = "1us"
    [switch.default]
    pfc = "static"
    pfc_xoff = "20kB"
    [transport.flood]
    protocol = "none"
    [[traffic]]
    pattern = "incast"
    from = "0..4"
    to = 4
"#;

/// Flow control of the link from host 0 at both of its ends: where it is paused from, and where it is paused.
fn ends_of_first_link(simulation: &mut Simulation) -> [(usize, u32); 2] {
    let link = simulation.graph().nic(0);
    [link ^ 1, link].map(|link| {
        let place = simulation.plan.partition.port(link);
        (place.domain as usize, place.at)
    })
}

/// The lossless network at an instant at which host 0 is paused and knows it.
fn paused_network() -> Simulation {
    let loaded = load_text(LOSSLESS, "lossless", Path::new(""), &[], None);
    let scenario = loaded.expect("it can be read").scenario;
    let mut simulation = Simulation::new(&scenario, 1);
    for step in 1.. {
        let limit = Time::from_ps(step * 100_000);
        assert!(simulation.run_until(limit, &mut |_, _| ControlFlow::Continue(())).is_continue());
        let [far, near] = ends_of_first_link(&mut simulation)
            .map(|(domain, at)| simulation.domains[domain].fabric.ports.pfc(at).expect("flow control"));
        if far.told == 1 && near.heard == 1 && far.sent == near.received {
            break;
        }
    }
    simulation
}

/// Something that is done to flow control where a link is paused from, and where it is paused.
type Tamper = fn((&mut Pfc, &mut Account), &mut Pfc);

/// Returns what the audit says of the network when something has been done to flow control at both ends of host 0's link.
fn audited(tamper: Tamper) -> Option<String> {
    let mut simulation = paused_network();
    let [(far_in, far_at), (near_in, near_at)] = ends_of_first_link(&mut simulation);
    let take = |simulation: &mut Simulation, domain: usize, at: u32| {
        std::mem::replace(simulation.domains[domain].fabric.ports.pfc_mut(at), Pfc::new(1))
    };
    let (mut far, mut near) =
        (take(&mut simulation, far_in, far_at), take(&mut simulation, near_in, near_at));
    let account = simulation.domains[far_in].fabric.ports.account_mut(far_at, 0);
    tamper((&mut far, account), &mut near);
    *simulation.domains[far_in].fabric.ports.pfc_mut(far_at) = far;
    *simulation.domains[near_in].fabric.ports.pfc_mut(near_at) = near;
    let result = catch_unwind(AssertUnwindSafe(|| simulation.assert_conservation()));
    result.err().map(|panic| *panic.downcast::<String>().expect("a message"))
}

#[test]
fn the_audit_misses_no_pause_that_is_lost_without_a_reason() {
    assert_eq!(audited(|_, _| ()), None);
    let forget = |(far, account): (&mut Pfc, &mut Account), near: &mut Pfc| {
        (account.common, account.headroom, account.pausing) = (0, 0, false);
        (far.told, near.heard) = (0, 0);
    };
    let wrongs: [(Tamper, &str); 12] = [
        (|(far, _), _| far.sent += 1, "PAUSEs against h0>tor0 have been lost count of"),
        (|_, near| near.received += 1, "PAUSEs against h0>tor0 have been lost count of"),
        (|(_, account), _| account.pausing = false, "is told something else than is meant"),
        (
            |(far, _), _| far.signals.push_back(Pause { class: 0, time: 0 }),
            "is told something else than is meant",
        ),
        (
            |(far, account), near| (account.pausing, far.told, near.heard) = (false, 0, 0),
            "is beyond XOFF and not paused",
        ),
        (|(_, account), _| (account.common, account.headroom) = (17_000, 0), "is paused below XON"),
        (|_, near| near.heard = 0, "has not heard what it was told"),
        (forget, "is paused in other classes than it was told"),
        (|_, near| near.holds[0].ran_out = 1, "has run out, though none was lost"),
        (|(_, account), _| account.peak_headroom = 1 << 40, "had 1099511627776 bytes beyond XOFF"),
        (|(_, account), _| account.peak = 1 << 40, "had 1099511627776 bytes, and there is room for"),
        (|(_, account), _| account.peak = 0, "had is less than what it has"),
    ];
    for (tamper, says) in wrongs {
        let said = audited(tamper).unwrap_or_else(|| panic!("nobody sees that it {says}"));
        assert!(said.contains(says), "{said}");
    }
}
