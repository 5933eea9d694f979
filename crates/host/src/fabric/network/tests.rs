use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::units::{Bytes, Rate};
use proptest::prelude::*;
use serde_json::json;

use super::super::plan::tests::star;
use super::*;

const A: usize = 0;
const TO_B: usize = 3;

fn ns(ns: u64) -> Time {
    Time::ZERO + Span::from_ns(ns)
}

fn plan(change: impl FnOnce(&mut serde_json::Value)) -> Plan {
    let mut value = star();
    change(&mut value);
    Plan::read(&value.to_string()).unwrap()
}

/// A frame of this length with a header of IPv4, of priority 0, to a host.
fn frame(to: usize, length: usize, number: u32) -> Vec<u8> {
    let mut bytes = vec![0; length];
    bytes[..6].copy_from_slice(&address(to));
    bytes[12..14].copy_from_slice(&[0x08, 0x00]);
    bytes[38..42].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Lets everything happen until `until`; returns what came out, with the number of each.
fn run(network: &mut Network, until: Time) -> Vec<(usize, u32)> {
    while network.step(until).is_some() {}
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes[38..42].try_into().unwrap());
    std::iter::from_fn(|| network.give()).map(|(link, bytes)| (link, number(&bytes))).collect()
}

#[test]
fn a_frame_arrives_when_both_links_have_sent_it() {
    let mut network = Network::new(&plan(|_| ())).unwrap();
    network.take(A, &frame(1, 1226, 7), ns(1_000));
    // 1,250 bytes on the wire: 100 us at each link, and 1 us of way.
    assert_eq!(run(&mut network, ns(1_000 + 202_000 - 1)), []);
    assert_eq!(run(&mut network, ns(1_000 + 202_000)), [(TO_B, 7)]);
    let figures = network.figures(ns(1_000_000));
    assert_eq!((figures[A].frames, figures[A].bytes, figures[A].received), (1, 1250, 1250));
    assert_eq!((figures[A].account_peak, figures[TO_B].waiting_peak), (1250, 1250));
}

#[test]
fn a_thread_that_wakes_late_does_not_slow_a_link_down() {
    let mut network = Network::new(&plan(|_| ())).unwrap();
    (0..50).for_each(|number| network.take(A, &frame(1, 1226, number), ns(0)));
    // Looked at once, 5.1 ms later: all that could have left has left.
    assert_eq!(run(&mut network, ns(5_102_000)).len(), 50);
    assert_eq!(network.lateness().quantile(1.0).map(|most| most > 4_000_000_000), Some(true));
}

#[test]
fn what_is_for_no_host_is_counted() {
    let mut network = Network::new(&plan(|_| ())).unwrap();
    network.take(A, &frame(2, 100, 1), ns(0));
    network.take(A, &[0xff; 60], ns(0));
    network.take(A, &[0; 5], ns(0));
    assert_eq!(run(&mut network, ns(1_000_000)), []);
    assert_eq!(network.figures(ns(1_000_000))[A].strays, 3);
    // A host does not pause anybody: its adapter would.
    network.take(A, &PfcFrame::of(0, 9).to_bytes(address(0)), ns(1_000_000));
    assert_eq!(network.poll_timeout(), None);
}

/// A link that its destination's slower link congests for 20 ms, with this much headroom: frames that were lost, and the peak.
fn congested(headroom: u64, response: u64) -> (u64, u64) {
    let mut network = Network::new(&plan(|plan| {
        plan["links"][TO_B]["rate_bps"] = json!(10_000_000);
        plan["links"][A]["pfc"]["headroom"] = json!(headroom);
        plan["links"][A]["delay_ns"] = json!(100_000);
        plan["links"][A + 1]["delay_ns"] = json!(100_000);
        plan["links"][A]["response_ns"] = json!(response);
    }))
    .unwrap();
    (0..200).for_each(|number| network.take(A, &frame(1, 1226, number), ns(0)));
    run(&mut network, ns(200_000_000));
    let figures = &network.figures(ns(200_000_000))[A];
    (figures.overflows, figures.account_peak)
}

#[test]
fn planned_headroom_is_enough_and_half_of_it_is_not() {
    let link = LosslessLink {
        response: Span::from_us(500),
        ..LosslessLink::new(Rate::from_bps(100_000_000), Span::from_us(100), Bytes::new(1250))
    };
    let planned = link.headroom().any_sizes().get();
    let (lost, peak) = congested(planned, 500_000);
    assert_eq!(lost, 0);
    assert!(peak <= 10_000 + planned && peak > 10_000 + planned / 2, "{peak} of {planned}");
    assert!(congested(planned / 2, 500_000).0 > 0);
}

#[test]
fn a_pause_is_repeated_until_the_account_is_low() {
    let mut network = Network::new(&plan(|plan| {
        plan["links"][TO_B]["rate_bps"] = json!(1_000_000);
        plan["links"][A]["pfc"]["quanta"] = json!(200);
    }))
    .unwrap();
    (0..30).for_each(|number| network.take(A, &frame(1, 1226, number), ns(0)));
    // 200 quanta are 1.024 ms at 100 Mb/s, and one frame takes 10 ms to leave.
    assert_eq!(run(&mut network, ns(400_000_000)).len(), 30);
    let figures = network.figures(ns(400_000_000));
    assert_eq!((figures[A].overflows, figures[A].ran_out), (0, 0));
    assert!(figures[A + 1].pauses > 100 && figures[A + 1].resumes < 20, "{:?}", figures[A + 1]);
    assert!(figures[A].paused_ns > 150_000_000);
}

#[test]
fn a_storm_pauses_and_lets_go_and_loses_nothing() {
    let mut network = Network::new(&plan(|plan| {
        plan["storms"] = json!([{ "link": TO_B, "from_ns": 0, "until_ns": 50_000_000, "seed": 3 }]);
    }))
    .unwrap();
    (0..400).for_each(|number| network.take(A, &frame(1, 1226, number), ns(0)));
    let during = run(&mut network, ns(50_000_000)).len();
    assert!((1..300).contains(&during), "{during}");
    let after = run(&mut network, ns(200_000_000)).len();
    assert_eq!(during + after, 400);
    assert!(
        network.figures(ns(200_000_000))[A].account_peak > 10_000,
        "the storm's PAUSE goes on to the sender"
    );
}

#[test]
fn frames_of_no_lossless_priority_pass_a_pause_and_are_dropped_where_there_is_no_room() {
    let mut network = Network::new(&plan(|_| ())).unwrap();
    let mut other = frame(1, 1226, 99);
    other[15] = 1 << 5;
    network.lines[TO_B].holds[0].take(Span::from_ms(50), Time::ZERO);
    network.take(A, &frame(1, 1226, 1), ns(0));
    network.take(A, &other, ns(0));
    assert_eq!(run(&mut network, ns(1_000_000)), [(TO_B, 99)]);
    (0..20).for_each(|_| network.take(A, &other, ns(1_000_000)));
    assert_eq!(run(&mut network, ns(40_000_000)).len(), 8);
    assert_eq!(network.figures(ns(40_000_000))[A].drops, 12);
}

#[test]
fn the_frames_of_a_flow_take_one_of_several_ways() {
    let mut value = star();
    let pfc = value["links"][0]["pfc"].clone();
    let nodes = value["nodes"].as_array_mut().unwrap();
    nodes.extend(["t", "u", "v"].map(|name| json!({ "name": name, "kind": "switch" })));
    // Host b moves to switch v, which is behind t and u.
    value["links"][2]["to"] = json!(5);
    value["links"][3]["from"] = json!(5);
    for (from, to) in [(2, 3), (3, 2), (2, 4), (4, 2), (3, 5), (5, 3), (4, 5), (5, 4)] {
        let link = json!({ "from": from, "to": to, "rate_bps": 100_000_000, "delay_ns": 1000, "device": null, "pfc": pfc, "buffer": 10_000 });
        value["links"].as_array_mut().unwrap().push(link);
    }
    let mut network = Network::new(&Plan::read(&value.to_string()).unwrap()).unwrap();
    let mut used = Vec::new();
    for port in 0..32_u8 {
        let mut bytes = frame(1, 100, 0);
        bytes[35] = port;
        let next = network.routes.next(2, &bytes).unwrap();
        assert_eq!(network.routes.next(2, &bytes), Some(next));
        used.push(next);
        network.take(A, &bytes, ns(0));
    }
    let count = |link: usize| used.iter().filter(|next| **next == link).count();
    assert_eq!(count(4) + count(6), 32);
    assert!(count(4) > 8 && count(6) > 8, "{used:?}");
    assert_eq!(run(&mut network, ns(20_000_000)).len(), 32);
}

#[test]
fn a_host_that_nobody_reaches_is_refused() {
    let mut value = star();
    value["links"].as_array_mut().unwrap().truncate(2);
    let refused = Network::new(&Plan::read(&value.to_string()).unwrap()).err();
    assert_eq!(refused.as_deref(), Some("links: there is no way from b to a"));
}

proptest! {
    /// Whatever two hosts send, and however their links are paused: in order, and nothing is lost.
    #[test]
    fn frames_of_a_lossless_priority_come_in_order_and_all_of_them(
        sent in prop::collection::vec((0..2_usize, 60..1500_usize, 0..400_u64), 1..200),
        rates in prop::array::uniform2(5_000_000..200_000_000_u64),
        response in 0..300_000_u64,
        seed: u64,
    ) {
        let plan = plan(|plan| {
            plan["links"][1]["rate_bps"] = json!(rates[0]);
            plan["links"][TO_B]["rate_bps"] = json!(rates[1]);
            // What 100 Mb/s bring until a PAUSE works, which waits for a frame of the way back, and three frames.
            let wait = |rate: u64| 1622 * 8_000_000_000 / rate;
            let headroom = (response + 2_000 + wait(rates[0]).max(wait(rates[1]))) / 80 + 4 * 1538;
            for link in [A, 2] {
                plan["links"][link]["pfc"]["headroom"] = json!(headroom);
                plan["links"][link]["response_ns"] = json!(response);
            }
            plan["storms"] = json!([
                { "link": 1, "from_ns": 0, "until_ns": 30_000_000, "seed": seed },
                { "link": TO_B, "from_ns": 5_000_000, "until_ns": 50_000_000, "seed": seed ^ 1 },
            ]);
        });
        let mut network = Network::new(&plan).unwrap();
        let (mut now, mut came) = (0, Vec::new());
        for (number, (from, length, gap)) in (0..).zip(&sent) {
            now += gap * 1000;
            came.extend(run(&mut network, ns(now)));
            network.take(2 * from, &frame(1 - from, *length, number), ns(now));
        }
        came.extend(run(&mut network, ns(now + 3_000_000_000)));
        let figures = network.figures(ns(now + 3_000_000_000));
        for host in 0..2 {
            let expected: Vec<u32> = (0..).zip(&sent).filter(|(_, (from, ..))| *from == 1 - host).map(|(number, _)| number).collect();
            let found: Vec<u32> = came.iter().filter(|(link, _)| *link == 2 * host + 1).map(|(_, number)| *number).collect();
            prop_assert_eq!(found, expected);
        }
        prop_assert!(figures.iter().all(|link| link.overflows + link.drops + link.strays == 0));
        prop_assert!((0..4).all(|link| network.waiting(link) == 0));
    }
}
