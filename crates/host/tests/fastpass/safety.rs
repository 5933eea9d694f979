//! Arbiters that die, stop and go on: no slot is granted twice, and no demand is lost.

use std::collections::BTreeMap;

use rustix::process::Signal;

use super::{pause, wait_until, Arbiter, Endpoint, Place, Used};
use crate::network::Random;

/// Rounds of each kind of failure; `CLEARWAY_ROUNDS` asks for more.
const ROUNDS: u32 = 8;
const ENDPOINTS: u16 = 4;

fn rounds() -> u32 {
    std::env::var("CLEARWAY_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS)
}

/// The slots in which two sources sent to one destination, or one source twice.
fn twice(used: &[Vec<Used>]) -> Vec<(u64, String)> {
    let mut to: BTreeMap<Used, u16> = BTreeMap::new();
    let mut from: BTreeMap<(u64, u16), u16> = BTreeMap::new();
    let mut found = Vec::new();
    for (source, used) in (0..).zip(used) {
        for &(slot, destination) in used {
            if let Some(other) = to.insert((slot, destination), source) {
                found.push((slot, format!("{other} and {source} to {destination}")));
            }
            if let Some(other) = from.insert((slot, source), destination) {
                found.push((slot, format!("{source} to {other} and {destination}")));
            }
        }
    }
    found
}

/// What happens to the primary in a round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Failure {
    Kill,
    Stop,
}

#[test]
fn no_slot_is_granted_twice_and_no_demand_is_lost_whoever_dies() {
    let place = Place::new("safety", ENDPOINTS.into(), 2, "slot = \"200us\"", "mode = \"slots\"");
    let mut arbiters: Vec<Arbiter> = (0..2).map(|rank| place.arbiter(rank)).collect();
    let endpoints: Vec<Endpoint> = (0..ENDPOINTS).map(|address| place.endpoint(address)).collect();
    let mut random = Random::new(28);
    for round in 0..rounds() {
        let failure = if random.one(2) { Failure::Kill } else { Failure::Stop };
        for (own, endpoint) in (0..).zip(&endpoints) {
            let others: Vec<u16> = (0..ENDPOINTS).filter(|other| *other != own).collect();
            for other in others {
                endpoint.wait_for(other, 20 + random.below(40) as u32);
            }
        }
        pause(random.below(12));
        let victim = random.below(2) as usize;
        match failure {
            Failure::Kill => {
                arbiters.remove(victim).kill();
                arbiters.insert(victim, place.arbiter(victim));
            }
            Failure::Stop => {
                arbiters[victim].signal(Signal::STOP);
                pause(5 + random.below(60));
                arbiters[victim].signal(Signal::CONT);
            }
        }
        wait_until(&format!("round {round}, {failure:?}: all demand is served"), || {
            endpoints.iter().all(|endpoint| endpoint.waiting() == 0)
        });
    }
    let used: Vec<Vec<Used>> = endpoints.iter().map(Endpoint::used).collect();
    assert_eq!(twice(&used), [], "{}\n{}", place.log(0), place.log(1));
    let seen: Vec<_> = endpoints.iter().map(|endpoint| endpoint.handle.look().unwrap()).collect();
    assert!(seen.iter().all(|seen| seen.term > 1), "no arbiter took over: {seen:?}");
}
