//! Fastpass's timeslot allocator against a slow oracle, slot by slot, and its laws, under random and adversarial demand.

mod oracle;

use std::collections::{BTreeMap, BTreeSet};

use clearway_proto::fastpass::allocator::{
    Allocator, AllocatorParams, Capacities, Carries, Node, Order, ParamsError, PerSlot, Rack, Refusal,
    Schedule, MOST_NODES,
};
use oracle::{Oracle, Used, Waiting};
use proptest::collection::vec;
use proptest::prelude::*;

/// What an arbiter hears of before a batch.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A source asks for slots to a destination.
    Request(usize, usize, u32),
    /// What this source waits for is to be forgotten.
    Forget(usize),
}

fn allocator(params: &AllocatorParams) -> Allocator {
    Allocator::new(params).expect("parameters that go together")
}

/// The grants of a batch, slot by slot.
fn grants(schedule: &Schedule) -> Vec<Vec<Waiting>> {
    let one = |pair: &clearway_proto::fastpass::allocator::Pair| {
        (usize::from(pair.source()), usize::from(pair.destination()), u32::from(pair.remaining()))
    };
    (0..schedule.slots()).map(|slot| schedule.slot(slot).iter().map(one).collect()).collect()
}

fn waiting(allocator: &mut Allocator) -> Vec<Waiting> {
    let pairs = allocator.waiting().iter();
    pairs.map(|p| (p.source().into(), p.destination().into(), p.remaining().into())).collect()
}

/// Links between a rack and the others; at times they carry no whole number of packets a slot.
fn carries() -> impl Strategy<Value = Carries> {
    (1..4_u16, 1..6_u64, prop_oneof![2 => Just(1_u64), 1 => 1..20_u64])
        .prop_map(|(links, packets, slots)| Carries { links, each: PerSlot::new(packets, slots) })
}

/// A network: one rack capacity below or at what its endpoints can send, and perhaps a boundary at the last address.
fn capacities(nodes: usize) -> impl Strategy<Value = Capacities> {
    (1..=5_usize, vec((carries(), carries()), 5), 0..3_usize, 1..5_u16).prop_map(
        move |(racks, links, boundaries, room)| Capacities {
            nodes: (0..nodes)
                .map(|node| match node {
                    _ if node + boundaries >= nodes => Node::boundary(room),
                    _ => Node::endpoint(node % racks),
                })
                .collect(),
            racks: links[..racks].iter().map(|&(up, down)| Rack { up, down }).collect(),
        },
    )
}

fn params() -> impl Strategy<Value = AllocatorParams> {
    let nodes = prop_oneof![3 => 2..8_usize, 2 => 8..40_usize, 1 => 40..=256_usize, 1 => Just(256)];
    let slots = prop_oneof![Just(1), Just(16), Just(64), 1..=64_u32];
    let limit = prop_oneof![1..30_u16, Just(1 << 13), Just(u16::MAX)];
    let order = prop_oneof![Just(Order::MaxMin), Just(Order::MinFct)];
    (nodes, slots, limit, order).prop_flat_map(|(nodes, slots, limit, order)| {
        proptest::option::of(capacities(nodes)).prop_map(move |capacities| AllocatorParams {
            nodes,
            slots,
            limit,
            order,
            capacities,
        })
    })
}

/// A request: between any two, or between few (so that pairs come again); at times what is refused. Seldom a source is forgotten.
fn event(nodes: usize) -> impl Strategy<Value = Event> {
    let few = nodes.min(4);
    let ends = prop_oneof![
        8 => (0..nodes, 0..nodes - 1).prop_map(|(a, b)| (a, b + usize::from(b >= a))),
        4 => (0..few, 0..few),
        2 => (0..nodes, 0..few),
        2 => (0..few, 0..nodes),
        1 => (0..nodes + 2, 0..nodes + 2),
    ];
    let slots = prop_oneof![4 => Just(10_u32), 4 => 1..20_u32, 1 => 0..400_u32, 1 => 0..100_000_u32];
    let request = (ends, slots).prop_map(|((from, to), slots)| Event::Request(from, to, slots));
    let forget = prop_oneof![0..nodes + 2, 0..few].prop_map(Event::Forget);
    prop_oneof![49 => request, 1 => forget]
}

/// A network and what happens before each batch: loads up to 1.3 of what the endpoints can carry with requests of 10,
/// bursts, and batches without requests.
fn script() -> impl Strategy<Value = (AllocatorParams, Vec<Vec<Event>>)> {
    params().prop_flat_map(|params| {
        let most = (params.nodes * params.slots as usize * 13 / 100).clamp(3, 2200);
        let events = prop_oneof![
            4 => vec(event(params.nodes), most / 3..=most),
            2 => vec(event(params.nodes), 0..4),
            1 => Just(Vec::new()),
        ];
        (Just(params), vec(events, 1..7))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn grants_refusals_and_queue_are_the_oracles((params, batches) in script()) {
        let (mut fast, mut slow) = (allocator(&params), Oracle::new(&params));
        for events in batches {
            for event in events {
                match event {
                    Event::Request(source, destination, slots) => {
                        let answer = fast.request(source, destination, slots);
                        prop_assert_eq!(answer, slow.request(source, destination, slots));
                    }
                    Event::Forget(source) => prop_assert_eq!(fast.forget(source), slow.forget(source)),
                }
            }
            prop_assert_eq!(grants(fast.allocate()), slow.allocate());
            prop_assert_eq!(waiting(&mut fast), slow.waiting());
        }
    }

    #[test]
    fn racks_that_carry_more_or_less_and_a_new_start_are_the_oracles(
        (params, batches) in script().prop_filter("racks", |(params, _)| params.capacities.is_some()),
        changes in vec((any::<bool>(), vec((1..40_u16, 1..40_u16), 5)), 7),
    ) {
        let (mut fast, mut slow) = (allocator(&params), Oracle::new(&params));
        let racks = params.capacities.as_ref().map_or(0, |capacities| capacities.racks.len());
        for (events, (forget, links)) in batches.iter().zip(changes) {
            hear(&mut fast, events);
            for event in events {
                match *event {
                    Event::Request(source, destination, slots) => drop(slow.request(source, destination, slots)),
                    Event::Forget(source) => drop(slow.forget(source)),
                }
            }
            let links: Vec<_> = links[..racks].iter().map(|&(up, down)| Rack::whole(up, down)).collect();
            fast.limit_racks(links.iter().copied());
            slow.limit_racks(&links);
            prop_assert_eq!(waiting(&mut fast), slow.waiting());
            prop_assert_eq!(grants(fast.allocate()), slow.allocate());
            if forget {
                prop_assert_eq!(fast.forget_all(), slow.forget_all());
            }
            prop_assert_eq!(waiting(&mut fast), slow.waiting());
        }
        // As good as new: all may ask for as much as at first.
        fast.forget_all();
        slow.forget_all();
        for source in 1..params.nodes {
            let most = params.limit.into();
            prop_assert_eq!(fast.request(source, source - 1, most), slow.request(source, source - 1, most));
        }
        prop_assert_eq!(grants(fast.allocate()), slow.allocate());
    }

    #[test]
    fn every_slot_is_a_maximal_matching((params, batches) in script()) {
        let mut allocator = allocator(&params);
        for (batch, events) in (0_u64..).zip(batches) {
            hear(&mut allocator, &events);
            let granted = grants(allocator.allocate());
            // All that waits after the batch, or is granted later in it, waits in each slot.
            let mut wanting: BTreeSet<_> = waiting(&mut allocator).iter().map(|pair| (pair.0, pair.1)).collect();
            let first = batch * u64::from(params.slots);
            for (number, slot) in (first..).zip(&granted).collect::<Vec<_>>().into_iter().rev() {
                let mut used = Used::new(&params);
                let mut sending = BTreeSet::new();
                for &(source, destination, _) in slot {
                    prop_assert!(used.fits(&params, number, source, destination), "{source} to {destination}: no room");
                    used.take(&params, source, destination);
                    prop_assert!(sending.insert((source, destination)), "{source} to {destination} twice");
                }
                for &(source, destination) in wanting.difference(&sending) {
                    prop_assert!(!used.fits(&params, number, source, destination), "{source} to {destination} left out");
                }
                wanting.extend(sending);
            }
        }
    }

    #[test]
    fn what_is_asked_is_granted_or_waits((params, batches) in script()) {
        let mut allocator = allocator(&params);
        let mut owed: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        for events in batches {
            for event in events {
                match event {
                    Event::Request(source, destination, slots) => {
                        if allocator.request(source, destination, slots).is_ok() {
                            *owed.entry((source, destination)).or_default() += slots;
                        }
                    }
                    Event::Forget(source) => {
                        let of_source = |pair: &(usize, usize)| pair.0 == source;
                        let all = owed.iter().filter(|(pair, _)| of_source(pair));
                        prop_assert_eq!(allocator.forget(source), all.map(|(_, &slots)| u64::from(slots)).sum());
                        owed.retain(|pair, _| !of_source(pair));
                    }
                }
            }
            for (source, destination, left) in grants(allocator.allocate()).into_iter().flatten() {
                let owed = owed.get_mut(&(source, destination)).expect("a grant that was asked for");
                *owed -= 1;
                prop_assert_eq!(*owed, left);
            }
            owed.retain(|_, slots| *slots > 0);
            let waiting = waiting(&mut allocator).into_iter().map(|(from, to, slots)| ((from, to), slots));
            prop_assert_eq!(&owed, &waiting.collect());
        }
    }

    #[test]
    fn batches_of_any_width_grant_the_same((params, batches) in script(), narrow in 0..6_u32) {
        let wide = AllocatorParams { slots: 64, order: Order::MaxMin, ..params };
        let narrow = AllocatorParams { slots: 1 << narrow, ..wide.clone() };
        let (mut wide, mut narrow) = (allocator(&wide), allocator(&narrow));
        for events in batches {
            hear(&mut wide, &events);
            hear(&mut narrow, &events);
            let slots = grants(wide.allocate());
            let mut again = Vec::new();
            while again.len() < slots.len() {
                again.extend(grants(narrow.allocate()));
            }
            prop_assert_eq!(slots, again);
        }
    }
}

/// Tells the allocator of requests, of which some may be refused, and of sources to forget.
fn hear(allocator: &mut Allocator, events: &[Event]) {
    for &event in events {
        match event {
            // What is refused is other tests' matter.
            Event::Request(source, destination, slots) => drop(allocator.request(source, destination, slots)),
            Event::Forget(source) => drop(allocator.forget(source)),
        }
    }
}

/// Every pair at once, then more of each: the longest queue there can be, and every pair topped up.
#[test]
fn all_pairs_at_once_are_served_as_by_the_oracle() {
    for order in [Order::MaxMin, Order::MinFct] {
        for slots in [1, 16, 64] {
            let params = AllocatorParams { nodes: 24, slots, order, ..AllocatorParams::default() };
            let (mut fast, mut slow) = (allocator(&params), Oracle::new(&params));
            for batch in 0..80 / slots.min(20) {
                for pair in (0..24 * 24).filter(|_| batch % 3 == 0) {
                    let (source, destination) = (pair / 24, pair * 7 % 24);
                    let asked = fast.request(source, destination, 1 + pair as u32 % 5);
                    assert_eq!(asked, slow.request(source, destination, 1 + pair as u32 % 5));
                }
                assert_eq!(grants(fast.allocate()), slow.allocate());
            }
        }
    }
}

#[test]
fn senders_to_one_receiver_get_equal_shares_to_one_packet() {
    let mut allocator = allocator(&AllocatorParams { nodes: 8, slots: 16, ..AllocatorParams::default() });
    let demands = [3, 100, 7, 100, 100];
    for (source, &slots) in demands.iter().enumerate() {
        allocator.request(source, 7, slots).expect("well formed");
    }
    let mut got = [0; 5];
    for slot in (0..10).flat_map(|_| grants(allocator.allocate())) {
        for (source, _, _) in slot {
            got[source] += 1;
        }
        let unsatisfied = || (0..5).filter(|&source| got[source] < demands[source]).map(|source| got[source]);
        let (least, most) = (unsatisfied().min().unwrap_or(0), unsatisfied().max().unwrap_or(0));
        assert!(most - least <= 1, "{got:?}");
    }
}

#[test]
fn least_completion_time_serves_the_shortest_first_as_of_the_batch_start() {
    let params = AllocatorParams { nodes: 8, slots: 4, order: Order::MinFct, ..AllocatorParams::default() };
    let mut allocator = allocator(&params);
    for (source, slots) in [(0, 5), (1, 3), (2, 5)] {
        allocator.request(source, 7, slots).expect("well formed");
    }
    let sources =
        |schedule: &Schedule| grants(schedule).concat().iter().map(|grant| grant.0).collect::<Vec<_>>();
    assert_eq!(sources(allocator.allocate()), [1, 1, 1, 0]);
    // 0 waits for four more, 2 for five; then 0 asks for another two and is behind.
    allocator.request(0, 7, 2).expect("well formed");
    assert_eq!(sources(allocator.allocate()), [2, 2, 2, 2]);
}

#[test]
fn a_boundary_receives_several_packets_a_slot_of_different_pairs() {
    let mut nodes = vec![Node { rack: None, sends: 1, receives: 1 }; 6];
    nodes[5] = Node::boundary(3);
    let capacities = Some(Capacities { nodes, racks: Vec::new() });
    let mut allocator =
        allocator(&AllocatorParams { nodes: 6, slots: 2, capacities, ..AllocatorParams::default() });
    for source in 0..4 {
        allocator.request(source, 5, 2).expect("well formed");
    }
    let granted = grants(allocator.allocate());
    assert_eq!(granted, [vec![(0, 5, 1), (1, 5, 1), (2, 5, 1)], vec![(3, 5, 1), (0, 5, 0), (1, 5, 0)]]);
}

#[test]
fn a_racks_links_limit_what_leaves_it_and_not_what_stays() {
    let nodes = (0..8).map(|node| Node::endpoint(node / 4)).collect();
    let racks = vec![Rack::whole(1, 4), Rack::whole(4, 4)];
    let capacities = Some(Capacities { nodes, racks });
    let mut allocator =
        allocator(&AllocatorParams { nodes: 8, slots: 1, capacities, ..AllocatorParams::default() });
    for (source, destination) in [(0, 4), (1, 5), (2, 3)] {
        allocator.request(source, destination, 1).expect("well formed");
    }
    assert_eq!(grants(allocator.allocate()), [vec![(0, 4, 0), (2, 3, 0)]]);
}

#[test]
fn links_that_carry_no_whole_number_of_packets_a_slot_carry_one_more_in_some() {
    let nodes = (0..8).map(|node| Node::endpoint(node / 4)).collect();
    // Two links of 2 packets in 3 slots each: none in every third slot, and two in the others.
    let each = PerSlot::new(2, 3);
    let carries = Carries { links: 2, each };
    let capacities = Some(Capacities { nodes, racks: vec![Rack { up: carries, down: carries }; 2] });
    let mut allocator =
        allocator(&AllocatorParams { nodes: 8, slots: 4, capacities, ..AllocatorParams::default() });
    for source in 0..4 {
        allocator.request(source, source + 4, 100).expect("well formed");
    }
    let counts = |schedule: &Schedule| grants(schedule).iter().map(Vec::len).collect::<Vec<_>>();
    // What is begun in one batch goes on in the next.
    let first: Vec<usize> = (0..3).flat_map(|_| counts(allocator.allocate())).collect();
    assert_eq!(first, [0, 2, 2, 0, 2, 2, 0, 2, 2, 0, 2, 2]);
}

#[test]
fn what_is_refused_has_a_name_and_changes_nothing() {
    let params = AllocatorParams { nodes: 4, slots: 4, limit: 10, ..AllocatorParams::default() };
    let mut allocator = allocator(&params);
    allocator.request(0, 1, 8).expect("well formed");
    let before = waiting(&mut allocator);
    let refused = [
        ((4, 1, 1), Refusal::UnknownSource),
        ((usize::MAX, 1, 1), Refusal::UnknownSource),
        ((0, 4, 1), Refusal::UnknownDestination),
        ((2, 2, 1), Refusal::OwnAddress),
        ((2, 1, 0), Refusal::NoSlots),
        ((2, 1, 11), Refusal::OverLimit),
        ((2, 1, u32::MAX), Refusal::OverLimit),
        ((0, 1, 3), Refusal::TooManyOutstanding),
    ];
    for ((source, destination, slots), refusal) in refused {
        assert_eq!(allocator.request(source, destination, slots), Err(refusal), "{refusal}");
        assert_eq!(waiting(&mut allocator), before, "{refusal}");
    }
    // Four of eight are granted, so that there is room for six, exactly.
    allocator.allocate();
    assert_eq!(allocator.request(0, 1, 7), Err(Refusal::TooManyOutstanding));
    assert_eq!(allocator.request(0, 1, 6), Ok(()));
    assert_eq!(allocator.request(0, 1, 1), Err(Refusal::TooManyOutstanding));
    assert_eq!(waiting(&mut allocator), [(0, 1, 10)]);
}

#[test]
fn a_pair_that_joins_anew_is_held_to_the_limit() {
    let params = AllocatorParams { nodes: 4, slots: 4, limit: 16, ..AllocatorParams::default() };
    let mut allocator = allocator(&params);
    allocator.request(0, 1, 1).expect("well formed");
    allocator.request(2, 3, 16).expect("well formed");
    // Now the allocator has counted what every pair waits for.
    assert_eq!(allocator.request(2, 3, 1), Err(Refusal::TooManyOutstanding));
    allocator.allocate();
    allocator.request(0, 1, 2).expect("well formed");
    assert_eq!(allocator.request(0, 1, 15), Err(Refusal::TooManyOutstanding));
    assert_eq!(allocator.request(0, 1, 14), Ok(()));
}

#[test]
fn a_source_that_asks_for_everything_delays_others_no_more_than_its_share() {
    let mut allocator = allocator(&AllocatorParams { nodes: 32, slots: 16, ..AllocatorParams::default() });
    for destination in 1..32 {
        for _ in 0..20 {
            // More than the limit in the end.
            let _ = allocator.request(0, destination, 1000);
        }
    }
    allocator.request(1, 2, 8).expect("well formed");
    let granted = grants(allocator.allocate()).concat();
    assert_eq!(granted.iter().filter(|grant| grant.0 == 1).count(), 8);
}

#[test]
fn a_forgotten_source_waits_for_nothing_and_joins_anew() {
    let params = AllocatorParams { nodes: 4, slots: 2, limit: 10, ..AllocatorParams::default() };
    let mut allocator = allocator(&params);
    for (source, destination, slots) in [(0, 3, 8), (1, 3, 4), (0, 2, 1), (2, 0, 5)] {
        allocator.request(source, destination, slots).expect("well formed");
    }
    let granted = grants(allocator.allocate());
    assert_eq!(granted, [vec![(0, 3, 7), (2, 0, 4)], vec![(1, 3, 3), (0, 2, 0), (2, 0, 3)]]);
    // Once before it waits again, once with a top-up and a pair that has just joined.
    allocator.request(0, 3, 3).expect("well formed");
    allocator.request(0, 1, 2).expect("well formed");
    assert_eq!(allocator.forget(0), 7 + 3 + 2);
    assert_eq!(allocator.forget(0), 0);
    assert_eq!(grants(allocator.schedule()), granted);
    // What others ask for packets to it is not touched, nor is their order; and the whole limit is its again.
    assert_eq!(waiting(&mut allocator), [(1, 3, 3), (2, 0, 3)]);
    allocator.request(0, 3, 10).expect("well formed");
    assert_eq!(waiting(&mut allocator), [(1, 3, 3), (2, 0, 3), (0, 3, 10)]);
    assert_eq!(grants(allocator.allocate()), [vec![(1, 3, 2), (2, 0, 2)], vec![(0, 3, 9), (2, 0, 1)]]);
    assert_eq!(allocator.forget(4), 0);
    assert_eq!(allocator.forget(usize::MAX), 0);
}

#[test]
fn parameters_that_do_not_go_together_are_named() {
    let with = |change: &dyn Fn(&mut AllocatorParams)| {
        let mut params = AllocatorParams { nodes: 4, ..AllocatorParams::default() };
        change(&mut params);
        Allocator::new(&params).err()
    };
    let node = Node::endpoint(0);
    let of = |nodes: Vec<Node>, up| Some(Capacities { nodes, racks: vec![Rack::whole(up, 1)] });
    assert_eq!(with(&|_| ()), None);
    assert_eq!(with(&|p| p.nodes = 1), Some(ParamsError::Nodes(1)));
    assert_eq!(with(&|p| p.nodes = MOST_NODES + 1), Some(ParamsError::Nodes(MOST_NODES + 1)));
    assert_eq!(with(&|p| p.slots = 0), Some(ParamsError::Slots(0)));
    assert_eq!(with(&|p| p.slots = 65), Some(ParamsError::Slots(65)));
    assert_eq!(with(&|p| p.limit = 0), Some(ParamsError::Limit));
    assert_eq!(with(&|p| p.capacities = of(vec![node; 3], 1)), Some(ParamsError::CapacitiesOf(3)));
    let silent = Node { sends: 0, ..node };
    let nothing = |p: &mut AllocatorParams| p.capacities = of(vec![node, silent, node, node], 1);
    assert_eq!(with(&nothing), Some(ParamsError::NodeCarriesNothing(1)));
    let lost = |p: &mut AllocatorParams| p.capacities = of(vec![node, node, Node::endpoint(1), node], 1);
    assert_eq!(with(&lost), Some(ParamsError::NodeInUnknownRack(2)));
    assert_eq!(with(&|p| p.capacities = of(vec![node; 4], 0)), Some(ParamsError::RackCarriesNothing(0)));
}
