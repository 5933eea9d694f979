//! Each fault of a packet is counted under a name, and does no harm to other packets.

use clearway_proto::fastpass::arbiter::{Arbiter, ArbiterCounters, ArbiterOutput, ArbiterParams, Role};
use clearway_proto::fastpass::endpoint::{Endpoint, EndpointCounters, EndpointOutput, Mode};
use clearway_proto::fastpass::fcp::{
    Address, Allocation, Demand, Grant, Granted, PathReport, Request, Reset, Watchdog,
};
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};

use crate::fastpass::net::us;
use crate::fastpass::{arbiter, endpoint};

/// An instant at which clocks show enough for slots of the past.
const NOW: Time = us(10_000);
/// The slot of [`NOW`].
const SLOT: u64 = 7991;

fn after(us: u64) -> Time {
    NOW + Span::from_us(us)
}

/// The primary of two arbiters for four endpoints, all of which have been reset.
fn primary() -> Arbiter {
    let mut arbiter = Arbiter::new(&ArbiterParams { arbiters: 2, ..arbiter(4) }, NOW).expect("parameters");
    sent(&mut arbiter, NOW);
    arbiter
}

/// All that an arbiter sends now.
fn sent(arbiter: &mut Arbiter, now: Time) -> Vec<ArbiterOutput> {
    arbiter.handle_timeout(now);
    let ready = |arbiter: &Arbiter| arbiter.readiness(now) == Readiness::Ready;
    std::iter::from_fn(|| ready(arbiter).then(|| arbiter.transmit(now))).collect()
}

/// A good request from endpoint 1 for one slot to endpoint 2.
fn request() -> Request {
    Request { source: 1, term: 1, seq: 1, slot: SLOT, ..asking(2, 1) }
}

fn asking(destination: Address, demanded: u32) -> Request {
    Request { demands: [Demand { destination, demanded }].into_iter().collect(), ..Request::default() }
}

/// Has a primary read a bad request, with what is right about it filled in by [`request`]; checks that nothing is counted but
/// what is said here, and that another endpoint is served all the same.
fn rejected(bad: &Request, expected: &ArbiterCounters) {
    let mut arbiter = primary();
    let before = *arbiter.counters();
    arbiter.handle_request(NOW, bad);
    let mut counters = *arbiter.counters();
    counters.resets -= before.resets;
    counters.watchdogs -= before.watchdogs;
    counters.takeovers -= before.takeovers;
    assert_eq!(counters, *expected, "{bad:?}");
    serves_others(arbiter);
}

/// Endpoint 3 asks for a slot and gets it.
fn serves_others(mut arbiter: Arbiter) {
    let term = arbiter.term();
    arbiter.handle_request(NOW, &Request { source: 3, term, seq: 1, slot: SLOT, ..asking(0, 1) });
    let granted = |output: &ArbiterOutput| match output {
        ArbiterOutput::Allocation(allocation, _) => (allocation.to == 3).then_some(allocation.grants.len()),
        _ => None,
    };
    let outputs = sent(&mut arbiter, after(21));
    assert_eq!(outputs.iter().find_map(granted), Some(1), "{outputs:?}");
}

#[test]
fn requests_that_cannot_be_right_are_counted_and_harm_nobody() {
    let none = ArbiterCounters::default();
    let good = ArbiterCounters { requests: 1, ..none };
    let demand = |demand| Request { demands: [demand].into_iter().collect(), ..request() };
    rejected(&request(), &ArbiterCounters { demanded: 1, ..good });
    rejected(&Request { source: 4, ..request() }, &ArbiterCounters { unknown_source: 1, ..none });
    let unknown = Demand { destination: 4, demanded: 1 };
    rejected(&demand(unknown), &ArbiterCounters { unknown_destination: 1, ..good });
    let own = Demand { destination: 1, demanded: 1 };
    rejected(&demand(own), &ArbiterCounters { own_destination: 1, ..good });
    let much = Demand { destination: 2, demanded: (1 << 13) + 1 };
    rejected(&demand(much), &ArbiterCounters { over_limit: 1, ..good });
    let backwards = Demand { destination: 2, demanded: u32::MAX };
    rejected(&demand(backwards), &ArbiterCounters { backwards: 1, ..good });
    rejected(&Request { term: 0, ..request() }, &ArbiterCounters { stale_term: 1, ..none });
    rejected(&Request { term: 2, ..request() }, &ArbiterCounters { newer_term: 1, ..none });
    rejected(&Request { term: u32::MAX, ..request() }, &ArbiterCounters { absurd_term: 1, ..none });
    let clock = ArbiterCounters { absurd_clock: 1, demanded: 1, ..good };
    rejected(&Request { slot: u64::MAX, ..request() }, &clock);
    rejected(&Request { arbiter_ahead: Some(i32::MIN), ..request() }, &clock);
    for (destination, lost) in [(4, 0), (1, 0), (2, 2)] {
        let report = PathReport { destination, path: 0, sent: 1, lost };
        let reports = [report].into_iter().collect();
        let bad = Request { reports, ..request() };
        rejected(&bad, &ArbiterCounters { demanded: 1, bad_reports: 1, ..good });
    }
}

#[test]
fn a_request_that_comes_twice_or_of_an_earlier_life_is_not_read_again() {
    let mut arbiter = primary();
    arbiter.handle_request(NOW, &Request { incarnation: 5, ..request() });
    arbiter.handle_request(NOW, &Request { incarnation: 5, ..request() });
    arbiter.handle_request(NOW, &Request { incarnation: 4, seq: 9, ..request() });
    let counters = arbiter.counters();
    assert_eq!((counters.requests, counters.duplicate_requests, counters.stale_incarnation), (1, 1, 1));
    serves_others(arbiter);
}

#[test]
fn an_older_request_that_was_overtaken_is_no_counter_that_ran_backwards() {
    let mut arbiter = primary();
    arbiter.handle_request(NOW, &Request { source: 1, term: 1, seq: 2, slot: SLOT, ..asking(2, 7) });
    arbiter.handle_request(NOW, &Request { source: 1, term: 1, seq: 1, slot: SLOT, ..asking(2, 3) });
    let counters = arbiter.counters();
    assert_eq!((counters.requests, counters.demanded, counters.backwards), (2, 7, 0));
}

#[test]
fn a_flood_of_requests_is_read_at_the_rate_of_an_endpoint() {
    let mut arbiter = primary();
    for seq in 1..=10_000 {
        arbiter.handle_request(NOW, &Request { seq, ..request() });
    }
    assert_eq!((arbiter.counters().requests, arbiter.counters().flooding), (64, 10_000 - 64));
    serves_others(arbiter);
}

#[test]
fn demands_without_end_get_no_more_than_a_share() {
    let mut arbiter = primary();
    // Endpoint 1 asks for as much as it may, of both others; endpoint 3 for a little of one of them.
    for (seq, destination) in [(1, 0), (2, 2)] {
        let asked = asking(destination, 1 << 13);
        arbiter.handle_request(NOW, &Request { source: 1, term: 1, seq, slot: SLOT, ..asked });
    }
    arbiter.handle_request(NOW, &Request { source: 3, term: 1, seq: 1, slot: SLOT, ..asking(0, 8) });
    let of = |outputs: &[ArbiterOutput], to| {
        let allocations = outputs.iter().filter_map(|output| match output {
            ArbiterOutput::Allocation(allocation, _) if allocation.to == to => Some(allocation.grants.len()),
            _ => None,
        });
        allocations.sum::<usize>()
    };
    let outputs = sent(&mut arbiter, after(21));
    // Two batches of 16 slots: its link is full, and the other has all it asked for.
    assert_eq!((of(&outputs, 1), of(&outputs, 3)), (32, 8));
}

#[test]
fn one_endpoint_cannot_depose_an_arbiter_but_two_can() {
    let mut arbiter = primary();
    for seq in 1..10 {
        arbiter.handle_request(NOW, &Request { term: 2, seq, ..request() });
    }
    assert_eq!((arbiter.role(), arbiter.counters().newer_term), (Role::Primary, 9));
    serves_others(arbiter.clone());
    arbiter.handle_request(NOW, &Request { source: 3, term: 4, ..request() });
    assert_eq!((arbiter.role(), arbiter.term(), arbiter.counters().stepped_down), (Role::Standby, 2, 1));
}

/// An endpoint follows a newer term, the arbiters do not hear each other, and no other endpoint can say so: what the old primary
/// grants meanwhile may be granted twice. So it grants nothing for a while, once.
#[test]
fn a_primary_that_one_endpoint_has_left_grants_nothing_for_a_while_and_once_in_a_term() {
    let doubt = Span::from_us(800);
    let params = ArbiterParams { arbiters: 2, doubt, ..arbiter(4) };
    let mut arbiter = Arbiter::new(&params, NOW).expect("parameters");
    sent(&mut arbiter, NOW);
    let left = Request { term: 2, ..request() };
    let first_slot = |outputs: &[ArbiterOutput]| {
        outputs.iter().find_map(|output| match output {
            ArbiterOutput::Allocation(allocation, _) => allocation.grants().next().map(|grant| grant.slot),
            _ => None,
        })
    };
    arbiter.handle_request(NOW, &left);
    arbiter.handle_request(NOW, &Request { source: 3, term: 1, seq: 1, slot: SLOT, ..asking(0, 1) });
    for step in 1..800 {
        assert_eq!(first_slot(&sent(&mut arbiter, after(step))), None, "after {step} us");
    }
    // No sooner than an allocation that leaves when the doubt has passed.
    let resumed = SLOT + (doubt.as_ps() / params.timeslots.length().as_ps()) + u64::from(params.ahead);
    let slot = first_slot(&sent(&mut arbiter, after(830))).expect("its demand has not been forgotten");
    assert!((resumed..resumed + 16).contains(&slot), "{slot} instead of {resumed}");
    arbiter.handle_request(after(840), &left);
    let again = Request { source: 3, term: 1, seq: 2, slot: SLOT, ..asking(0, 2) };
    arbiter.handle_request(after(840), &again);
    assert!(first_slot(&sent(&mut arbiter, after(870))).is_some(), "a second doubt in one term");
    assert_eq!((arbiter.role(), arbiter.counters().doubts), (Role::Primary, 1));
}

#[test]
fn one_endpoint_cannot_keep_a_dead_primary_alive() {
    let params = ArbiterParams { arbiters: 2, rank: 1, ..arbiter(4) };
    let mut standby = Arbiter::new(&params, NOW).expect("parameters");
    standby.handle_watchdog(NOW, &Watchdog { term: 1, rank: 0, horizon: SLOT + 40 });
    let mut heard = request();
    for step in 1..40 {
        heard.heard.latest += 1;
        standby.handle_request(after(step * 5), &heard);
    }
    standby.handle_timeout(after(201));
    assert_eq!((standby.role(), standby.term()), (Role::Primary, 2));
}

#[test]
fn watchdogs_that_cannot_be_right_are_counted_and_change_nothing() {
    let good = Watchdog { term: 2, rank: 1, horizon: SLOT + 40 };
    let bad = [
        Watchdog { term: 0, ..good },
        // Another's term, this arbiter's own rank, one that there is not.
        Watchdog { term: 3, ..good },
        Watchdog { term: 3, rank: 0, ..good },
        Watchdog { term: 2, rank: 2, ..good },
        Watchdog { term: u32::MAX - 1, ..good },
        Watchdog { horizon: u64::MAX, ..good },
    ];
    for watchdog in bad {
        let mut arbiter = primary();
        arbiter.handle_watchdog(NOW, &watchdog);
        assert_eq!((arbiter.role(), arbiter.counters().bad_watchdogs), (Role::Primary, 1), "{watchdog:?}");
        serves_others(arbiter);
    }
    let mut arbiter = primary();
    arbiter.handle_watchdog(NOW, &good);
    assert_eq!((arbiter.role(), arbiter.term(), arbiter.counters().stepped_down), (Role::Standby, 2, 1));
}

/// Endpoint 1 of 4 in term 1, with packets for endpoint 2, of which it has demanded as many slots.
fn asking_endpoint(packets: u32) -> Endpoint {
    let mut machine = Endpoint::new(&endpoint(4), 1, 7);
    machine.handle_reset(NOW, &Reset { to: 1, slot: SLOT, term: 1, first_slot: SLOT, back: None });
    machine.handle_backlog(NOW, 2, packets);
    assert!(matches!(machine.transmit(NOW), EndpointOutput::Request(_)));
    machine
}

/// A good allocation to it: one slot, 20 slots ahead.
fn allocation() -> Allocation {
    allocation_of(SLOT + 20, 2, 1)
}

/// Returns an allocation of one slot, which says that destination 2 has been granted `granted` slots.
fn allocation_of(slot: u64, destination: Address, granted: u32) -> Allocation {
    let granted = [Granted { destination: 2, granted }].into_iter().collect();
    let mut allocation =
        Allocation { to: 1, incarnation: 7, term: 1, seq: 1, slot: SLOT, granted, ..Allocation::default() };
    assert!(allocation.grant(Grant { slot, destination, path: 0 }));
    allocation
}

/// Has an endpoint that waits for a slot take a bad allocation; checks what is counted, and that it uses no slot by it but is
/// still granted one by a good one.
fn refused(bad: &Allocation, expected: fn(&EndpointCounters) -> u64) {
    let mut machine = asking_endpoint(2);
    machine.handle_allocation(NOW, bad);
    assert_eq!((expected(machine.counters()), machine.counters().granted), (1, 0), "{bad:?}");
    machine.handle_allocation(NOW, &Allocation { seq: 2, ..allocation_of(SLOT + 30, 2, 2) });
    assert_eq!(machine.counters().granted, 1, "{bad:?}");
}

#[test]
fn allocations_that_cannot_be_right_are_refused() {
    let grant = |slot, destination| allocation_of(slot, destination, 1);
    refused(&Allocation { to: 0, ..allocation() }, |counters| counters.misdirected);
    refused(&Allocation { incarnation: 6, ..allocation() }, |counters| counters.misdirected);
    refused(&Allocation { term: 2, ..allocation() }, |counters| counters.foreign_allocations);
    refused(&grant(SLOT - 17, 2), |counters| counters.refused_late);
    refused(&grant(SLOT + 66, 2), |counters| counters.refused_early);
    refused(&grant(u64::MAX, 2), |counters| counters.refused_early);
    // The grant, and the count of what its destination has been granted.
    refused(&grant(SLOT + 20, 1), |counters| counters.refused_address / 2);
    refused(&grant(SLOT + 20, 4), |counters| counters.refused_address / 2);
}

#[test]
fn allocations_that_come_twice_are_taken_once() {
    let mut machine = asking_endpoint(2);
    machine.handle_allocation(NOW, &allocation());
    machine.handle_allocation(NOW, &allocation());
    // Another packet with a slot that the endpoint holds.
    machine.handle_allocation(NOW, &Allocation { seq: 2, ..allocation() });
    let counters = machine.counters();
    let refused = (counters.duplicate_allocations, counters.refused_duplicate, counters.granted);
    assert_eq!(refused, (1, 1, 1));
    assert_eq!(machine.readiness(NOW), Readiness::At(endpoint(4).timeslots.start(SLOT + 20)));
}

#[test]
fn counts_beyond_what_was_demanded_are_nonsense() {
    let mut machine = asking_endpoint(2);
    let granted = [Granted { destination: 2, granted: 3 }].into_iter().collect();
    machine.handle_allocation(NOW, &Allocation { granted, ..allocation() });
    let own = [Granted { destination: 1, granted: 1 }, Granted { destination: 9, granted: 1 }];
    let bad = Allocation { seq: 2, granted: own.into_iter().collect(), ..Allocation::default() };
    machine.handle_allocation(NOW, &Allocation { to: 1, incarnation: 7, term: 1, ..bad });
    assert_eq!((machine.counters().bad_counts, machine.counters().refused_address), (1, 2));
}

#[test]
fn resets_are_followed_only_to_newer_terms() {
    let mut machine = asking_endpoint(2);
    machine.handle_allocation(NOW, &allocation());
    let reset = Reset { to: 1, slot: SLOT, term: 1, first_slot: 0, back: None };
    machine.handle_reset(NOW, &reset);
    machine.handle_reset(NOW, &Reset { to: 0, term: 2, ..reset });
    machine.handle_reset(NOW, &Reset { term: 0, ..reset });
    let counters = machine.counters();
    assert_eq!((counters.stale_resets, counters.misdirected, counters.fenced, machine.term()), (1, 2, 0, 1));
    // Of the grants of older terms those from the first slot of the new one on are void.
    machine.handle_reset(NOW, &Reset { term: 2, first_slot: SLOT + 21, ..reset });
    assert_eq!((machine.term(), machine.counters().fenced), (2, 0));
    machine.handle_reset(NOW, &Reset { term: 4, first_slot: SLOT + 20, ..reset });
    assert_eq!((machine.term(), machine.counters().fenced), (4, 1));
}

#[test]
fn an_endpoint_led_astray_by_a_term_of_the_future_finds_back() {
    let mut machine = asking_endpoint(2);
    machine.handle_reset(NOW, &Reset { to: 1, slot: SLOT, term: u32::MAX, first_slot: SLOT, back: None });
    machine.handle_reset(after(100), &Reset { to: 1, slot: SLOT, term: 2, first_slot: SLOT, back: None });
    assert_eq!(machine.term(), u32::MAX);
    machine.handle_timeout(after(1000));
    assert_eq!((machine.mode(), machine.term(), machine.incarnation()), (Mode::Unscheduled, 0, 8));
    // It may be of a primary that has a successor, until nothing has been heard of one for ten times as long.
    machine.handle_reset(after(9999), &Reset { to: 1, slot: SLOT, term: 2, first_slot: SLOT, back: None });
    assert_eq!((machine.mode(), machine.counters().stale_resets), (Mode::Unscheduled, 2));
    machine.handle_reset(after(10_000), &Reset { to: 1, slot: SLOT, term: 2, first_slot: SLOT, back: None });
    assert_eq!((machine.mode(), machine.term()), (Mode::Scheduled, 2));
}

#[test]
fn after_a_fallback_no_older_term_is_followed_and_the_same_one_is() {
    for (term, follows) in [(4, false), (5, true), (6, true)] {
        let mut machine = asking_endpoint(2);
        machine.handle_reset(NOW, &Reset { to: 1, slot: SLOT, term: 5, first_slot: SLOT, back: None });
        machine.handle_timeout(after(1000));
        assert_eq!((machine.mode(), machine.term()), (Mode::Unscheduled, 0));
        machine.handle_reset(after(1100), &Reset { to: 1, slot: SLOT, term, first_slot: SLOT, back: None });
        assert_eq!(machine.mode() == Mode::Scheduled, follows, "term {term}");
    }
}

#[test]
fn a_slot_that_passed_while_the_driver_could_not_send_is_demanded_again() {
    let mut machine = asking_endpoint(1);
    machine.handle_allocation(NOW, &allocation());
    let late = after(100);
    assert_eq!(machine.readiness(late), Readiness::Ready);
    let EndpointOutput::Request(request) = machine.transmit(late) else { panic!("a slot of the past") };
    assert_eq!(request.demands.first(), Some(&Demand { destination: 2, demanded: 2 }));
    assert_eq!((machine.counters().refused_late, machine.counters().used), (1, 0));
}
