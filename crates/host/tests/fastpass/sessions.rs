//! Sessions: who may open one, and what becomes of it when an arbiter dies and returns.

use clearway_host::fastpass::settings::Deployment;

use super::bed::{self, wait_until, Place};

#[test]
fn demand_is_granted_slot_by_slot() {
    let place = Place::new("granted", 3, 1, "slot = \"500us\"", "mode = \"slots\"");
    let _arbiter = place.arbiter(0);
    let endpoints: Vec<_> = (0..3).map(|address| place.endpoint(address)).collect();
    endpoints[0].wait_for(1, 40);
    endpoints[2].wait_for(1, 40);
    wait_until("all slots are used", || endpoints.iter().all(|endpoint| endpoint.waiting() == 0));
    let mut slots: Vec<u64> = endpoints.iter().flat_map(bed::Endpoint::used).map(|(slot, _)| slot).collect();
    slots.sort_unstable();
    assert!(slots.windows(2).all(|pair| pair[0] != pair[1]), "a slot to one destination twice: {slots:?}");
    let seen = endpoints[0].handle.look().unwrap();
    assert_eq!((seen.term, seen.counters.used >= 40), (1, true), "{seen:?}");
    assert!(seen.links[0].offset.is_some_and(|offset| offset.most_ns() < 1_000_000_000), "{:?}", seen.links);
}

#[test]
fn a_session_is_opened_anew_when_an_arbiter_returns() {
    let place = Place::new("returns", 2, 1, "slot = \"500us\"", "mode = \"slots\"");
    let arbiter = place.arbiter(0);
    let endpoint = place.endpoint(0);
    endpoint.wait_for(1, 5);
    wait_until("the first slots are used", || endpoint.waiting() == 0);
    // It may have begun before there was a session.
    let before = endpoint.handle.look().unwrap().counters;
    arbiter.kill();
    endpoint.wait_for(1, 5);
    wait_until("there is no arbiter", || endpoint.record.lock().unwrap().unscheduled);
    let _arbiter = place.arbiter(0);
    wait_until("the next slots are used", || endpoint.waiting() == 0);
    let seen = endpoint.handle.look().unwrap();
    // Its second life has a term of its own.
    let (fallbacks, returns) = (before.fallbacks + 1, before.returns + 1);
    assert_eq!(
        (seen.term, seen.counters.fallbacks, seen.counters.returns),
        (2, fallbacks, returns),
        "{seen:?}"
    );
    assert!(seen.unscheduled_ns > 0);
}

#[test]
fn who_has_another_file_or_another_name_is_refused() {
    let place = Place::new("refused", 2, 1, "slot = \"500us\"", "mode = \"slots\"");
    let _arbiter = place.arbiter(0);
    let text = std::fs::read_to_string(place.folder.join("fastpass.toml")).unwrap();
    let other = Deployment::parse(&text.replace("500us", "250us")).unwrap();
    let _stranger = bed::Endpoint::start(other, 0, &place.folder);
    wait_until("another slot is refused", || {
        place.log(0).contains("the deployment's file is another: slots are 500 us here and 250 us there")
    });
    // The certificate of h1, shown by one that says it is the endpoint of address 0.
    let swapped = text.replace("name = \"h0\"", "name = \"x\"").replace("name = \"h1\"", "name = \"h0\"");
    let swapped = Deployment::parse(&swapped.replace("name = \"x\"", "name = \"h1\"")).unwrap();
    std::fs::copy(place.folder.join("keys/h0.pem"), place.folder.join("keys/h1.pem")).unwrap();
    std::fs::copy(place.folder.join("keys/h0.key"), place.folder.join("keys/h1.key")).unwrap();
    let _thief = bed::Endpoint::start(swapped, 1, &place.folder);
    wait_until("another address is refused", || {
        place.log(0).contains("the endpoint of address 1 is h1, and this certificate is that of h0")
    });
}
