//! Any control packet may be lost, come late, twice, or after later ones.

use clearway_proto::fastpass::arbiter::{ArbiterParams, PathParams};
use clearway_proto::fastpass::paths::Racks;
use clearway_proto::units::Span;
use proptest::prelude::*;

use crate::fastpass::net::{us, Mischief, Net};
use crate::fastpass::{arbiter, endpoint};

/// When packets are offered, in microseconds from the start; their source, their destination, and how many they are.
type Offer = (u64, u16, u16, u32);

/// Returns what happens in a network of 8 endpoints in two racks: what is offered, and what the network does.
fn schedule() -> impl Strategy<Value = (Vec<Offer>, Mischief, u64)> {
    let ends = (0..8_u16, 0..7_u16).prop_map(|(from, to)| (from, to + u16::from(to >= from)));
    let packets = prop_oneof![4 => 1..20_u32, 1 => 20..300_u32];
    let offer = (0..3000_u64, ends, packets).prop_map(|(at, (from, to), packets)| (at, from, to, packets));
    let mischief =
        (1..10_u64, 0..200_u64, 0..40_u64, 0..30_u64).prop_map(|(delay, jitter, lost, doubled)| Mischief {
            delay: Span::from_us(delay),
            jitter: Span::from_us(jitter),
            lost,
            doubled,
        });
    (proptest::collection::vec(offer, 1..40), mischief, any::<u64>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_demand_is_served_whatever_the_network_does((offers, mischief, seed) in schedule()) {
        let racks = Racks::uniform(2, 4).expect("racks");
        let paths = PathParams::LeafSpine { racks, paths: 4 };
        let mut net = Net::new(endpoint(8), ArbiterParams { paths, ..arbiter(8) }, seed);
        net.mischief = mischief;
        for &(at, from, to, packets) in &offers {
            net.offer(us(at), from, to, packets);
        }
        net.run(us(5000));
        let mut limit = 5000;
        while net.waiting() > 0 && limit < 200_000 {
            limit += 1000;
            net.run(us(limit));
        }
        let offered: u32 = offers.iter().map(|offer| offer.3).sum();
        prop_assert_eq!((net.waiting(), net.sent.len()), (0, offered as usize));
        // Once nothing is lost any more, both sides' counts come to agree.
        net.mischief.lost = 0;
        net.run(us(limit + 5000));
        let demanded: u64 = net.endpoints.iter().map(|endpoint| endpoint.counters().demanded).sum();
        let counters = *net.primary().expect("an arbiter").counters();
        prop_assert_eq!(counters.demanded, counters.granted + counters.forgotten);
        // An endpoint that fell back, as many packets were lost, has asked for some slots twice, once in each incarnation.
        if net.endpoints.iter().all(|endpoint| endpoint.counters().fallbacks == 0) {
            prop_assert_eq!(demanded, counters.demanded);
        }
        prop_assert_eq!((counters.backwards, counters.over_limit), (0, 0));
        prop_assert!(net.endpoints.iter().all(|endpoint| endpoint.counters().bad_counts == 0));
        no_link_carries_two_packets(&net)?;
        // Silence: nothing is said to those who know all.
        let said = net.requests + net.allocations;
        net.run(us(limit + 10_000));
        prop_assert_eq!(net.requests + net.allocations, said);
    }
}

/// Neither a source nor a destination nor a link between racks has two packets of a slot.
fn no_link_carries_two_packets(net: &Net) -> Result<(), TestCaseError> {
    prop_assert_eq!(net.slots_used_twice(), 0);
    let mut links = std::collections::BTreeSet::new();
    for sent in &net.sent {
        let (from, to) = (sent.source / 4, sent.grant.destination / 4);
        if from != to {
            prop_assert!(links.insert((sent.grant.slot, sent.grant.path, from, true)));
            prop_assert!(links.insert((sent.grant.slot, sent.grant.path, to, false)));
        }
    }
    Ok(())
}
