//! Without an arbiter endpoints send by other means, and they come back when there is one.

use clearway_proto::fastpass::arbiter::ArbiterParams;
use clearway_proto::fastpass::endpoint::{Endpoint, EndpointParams, Mode};
use clearway_proto::fastpass::fcp::Reset;
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

use crate::fastpass::net::{us, Net};
use crate::fastpass::{arbiter, endpoint};

const NODES: u16 = 6;

/// A network under load in which each endpoint sends to the next.
fn net(arbiters: u8, packets: u32) -> Net {
    let mut net = Net::new(endpoint(NODES), ArbiterParams { arbiters, ..arbiter(NODES) }, 1);
    net.drains = true;
    for source in 0..NODES {
        net.offer(us(100), source, (source + 1) % NODES, packets);
    }
    net
}

fn scheduled(net: &Net) -> Vec<bool> {
    net.endpoints.iter().map(|endpoint| endpoint.mode() == Mode::Scheduled).collect()
}

#[test]
fn without_an_arbiter_endpoints_send_by_other_means_until_one_is_back() {
    let mut net = net(2, 6000);
    net.crash(us(2000), 0);
    net.crash(us(2000), 1);
    net.run(us(2900));
    assert_eq!((scheduled(&net), net.unscheduled), (vec![true; 6], 0));
    // The last allocations came at about 2 ms; then 1 ms of silence.
    net.run(us(3010));
    assert_eq!(scheduled(&net), [false; 6]);
    net.restart(us(5000), 1);
    net.run(us(5000));
    assert!(net.unscheduled > 0);
    // 200 us (or 300, for rank 1) until it takes over, and its resets come 3 us later.
    net.run(us(5310));
    assert_eq!(scheduled(&net), [true; 6]);
    net.run(us(20_000));
    assert_eq!((net.waiting(), net.slots_used_twice()), (0, 0));
    assert_eq!(net.sent.len() as u64 + net.unscheduled, 6 * 6000);
    // What was demanded before was forgotten: nobody is granted slots for packets that left by other means.
    assert_eq!(net.unused, 0);
    let counters = net.endpoints.iter().map(Endpoint::counters);
    assert!(counters.clone().all(|counters| (counters.fallbacks, counters.returns) == (1, 1)));
}

#[test]
fn while_one_endpoint_is_without_an_arbiter_the_others_keep_their_slots() {
    let mut net = net(1, 6000);
    net.cut(us(2000), 3, us(6000));
    net.run(us(5999));
    assert_eq!(scheduled(&net), [true, true, true, false, true, true]);
    // It asks every 200 us, and is answered by a reset.
    net.run(us(6210));
    assert_eq!(scheduled(&net), [true; 6]);
    net.run(us(20_000));
    assert_eq!((net.waiting(), net.slots_used_twice()), (0, 0));
    // Grants that it was sent while it was cut off are lost, and so is what it had asked for before.
    let returned = net.endpoints[3].counters();
    assert_eq!((returned.fallbacks, returned.returns, returned.resets), (1, 1, 2));
    assert_eq!((returned.bad_counts, net.unused), (0, 0));
    // The others never noticed: slots go on without a gap.
    let slots: Vec<u64> =
        net.sent.iter().filter(|sent| sent.source == 0).map(|sent| sent.grant.slot).collect();
    assert!(slots.windows(2).all(|pair| pair[1] == pair[0] + 1));
}

#[test]
fn an_endpoint_that_restarts_counts_from_zero() {
    let mut net = net(1, 2000);
    net.run(us(1000));
    let incarnation = net.endpoints[2].incarnation() + 1;
    net.queues[2] = vec![0; NODES.into()];
    net.restart_endpoint(2, incarnation);
    net.offer(us(1500), 2, 0, 100);
    net.run(us(20_000));
    assert_eq!((net.waiting(), net.slots_used_twice(), net.unused), (0, 0, 0));
    let counters = net.endpoints[2].counters();
    assert_eq!((counters.used, counters.demanded, counters.granted, counters.bad_counts), (100, 100, 100, 0));
}

#[test]
fn arbiters_that_do_not_hear_each_other_do_no_harm() {
    let mut net = net(2, 3000);
    net.arbiters_apart = true;
    net.run(us(10_000));
    assert_eq!((net.waiting(), net.slots_used_twice()), (0, 0));
    // Endpoints spoke of ever new allocations, so the standby waited as long as there was load.
    let last = net.sent.last().expect("packets").at;
    assert!(last < us(4200), "{last:?}");
}

/// The endpoint doubts its arbiter after a report interval, and may say so only when an urgent interval is over.
#[test]
fn a_doubt_that_cannot_be_said_yet_does_not_come_again_at_once() {
    let ns = |ns| Time::ZERO + Span::from_ns(ns);
    let params = EndpointParams {
        report_interval: Span::from_us(1),
        urgent_interval: Span::from_us(2),
        fallback: Span::from_us(3),
        ..endpoint(2)
    };
    let mut endpoint = Endpoint::new(&params, 0, 1);
    endpoint.handle_backlog(ns(0), 1, 5);
    assert_eq!(endpoint.readiness(ns(0)), Readiness::Ready);
    endpoint.transmit(ns(0));
    endpoint.handle_reset(ns(32), &Reset { to: 0, slot: 0, term: 1, first_slot: 0, back: None });
    assert_eq!(endpoint.readiness(ns(32)), Readiness::At(ns(2000)));
    let mut now = ns(32);
    while now < ns(2000) {
        let next = endpoint.poll_timeout().map_or(ns(2000), |at| at.min(ns(2000)));
        assert!(next > now, "after its timeout at {now:?} it wants the next at {next:?}");
        now = next;
        endpoint.handle_timeout(now);
    }
    assert_eq!((endpoint.readiness(now), endpoint.mode()), (Readiness::Ready, Mode::Scheduled));
    endpoint.transmit(now);
    // Nothing is heard of what it has said: it doubts once more, and falls back 3 us after the reset.
    assert_eq!(endpoint.poll_timeout(), Some(ns(3000)));
    endpoint.handle_timeout(ns(3000));
    assert_eq!((endpoint.readiness(ns(3000)), endpoint.mode()), (Readiness::Ready, Mode::Scheduled));
    endpoint.transmit(ns(3000));
    assert_eq!(endpoint.poll_timeout(), Some(ns(3032)));
    endpoint.handle_timeout(ns(3032));
    assert_eq!(endpoint.mode(), Mode::Unscheduled);
}
