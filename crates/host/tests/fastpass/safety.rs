//! Arbiters that die, stop, are cut off and go on: no slot is granted twice, and no demand is lost.

use std::collections::BTreeMap;
use std::io::Write;

use rustix::process::Signal;

use super::bed::{pause, wait_until, Arbiter, Endpoint, Namespace, Place, Used};
use crate::network::Random;

/// Rounds of failures; `CLEARWAY_ROUNDS` asks for more.
const ROUNDS: u32 = 20;
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

#[test]
fn slots_that_meet_are_found() {
    assert_eq!(twice(&[vec![(1, 2), (2, 2)], vec![(1, 0), (3, 2)]]), []);
    assert_eq!(twice(&[vec![(1, 2)], vec![(1, 2)]]), [(1, "0 and 1 to 2".into())]);
    assert_eq!(twice(&[vec![(1, 2), (1, 1)]]), [(1, "0 to 2 and 1".into())]);
}

/// The failure of a round.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Failure {
    /// An arbiter is killed, and started again.
    Kill,
    /// An arbiter stands still for a while.
    Stop,
    /// The arbiters do not hear each other for a while.
    Apart,
    /// An arbiter and two endpoints do not hear each other for a while.
    FromSome,
    /// An arbiter hears nobody for a while.
    FromAll,
}

struct Round<'a> {
    place: &'a Place,
    namespace: Option<&'a Namespace>,
    arbiters: &'a mut Vec<Arbiter>,
    random: &'a mut Random,
}

impl Round<'_> {
    fn fail(&mut self, failure: Failure) {
        let victim = self.random.below(2) as usize;
        match failure {
            Failure::Kill => {
                self.arbiters.remove(victim).kill();
                self.arbiters.insert(victim, self.place.arbiter(victim));
            }
            Failure::Stop => {
                self.arbiters[victim].signal(Signal::STOP);
                pause(5 + self.random.below(60));
                self.arbiters[victim].signal(Signal::CONT);
            }
            Failure::Apart => self.cut(victim, &[], true),
            Failure::FromSome => self.cut(victim, &[1, 2], false),
            Failure::FromAll => self.cut(victim, &[0, 1, 2, 3], true),
        }
    }

    fn cut(&mut self, victim: usize, endpoints: &[usize], other: bool) {
        let namespace = self.namespace.expect("networks are cut in a namespace");
        let at = |rank: usize| self.place.deployment.arbiters[rank].control.ip().to_string();
        for &endpoint in endpoints {
            let its = self.place.deployment.endpoints[endpoint].control.ip().to_string();
            namespace.cut(&at(victim), &its);
        }
        if other {
            namespace.cut(&at(victim), &at(1 - victim));
        }
        pause(5 + self.random.below(150));
        namespace.heal();
    }
}

/// Goes through rounds of these failures, with every slot accounted for.
fn survive(name: &str, namespace: Option<&Namespace>, failures: &[Failure]) {
    let place = Place::new(name, ENDPOINTS.into(), 2, "slot = \"200us\"", "mode = \"slots\"");
    let mut arbiters: Vec<Arbiter> = (0..2).map(|rank| place.arbiter(rank)).collect();
    let endpoints: Vec<Endpoint> = (0..ENDPOINTS).map(|address| place.endpoint(address)).collect();
    let mut random = Random::new(28);
    for round in 0..rounds() {
        let failure = failures[random.below(failures.len() as u64) as usize];
        for (own, endpoint) in (0..).zip(&endpoints) {
            for other in (0..ENDPOINTS).filter(|other| *other != own) {
                endpoint.wait_for(other, 20 + random.below(40) as u32);
            }
        }
        pause(random.below(12));
        let (arbiters, random) = (&mut arbiters, &mut random);
        Round { place: &place, namespace, arbiters, random }.fail(failure);
        wait_until(&format!("round {round}, {failure:?}: all demand is served"), || {
            endpoints.iter().all(|endpoint| endpoint.waiting() == 0)
        });
    }
    let used: Vec<Vec<Used>> = endpoints.iter().map(Endpoint::used).collect();
    assert_eq!(twice(&used), [], "{}\n{}", place.log(0), place.log(1));
    let seen: Vec<_> = endpoints.iter().map(|endpoint| endpoint.handle.look().unwrap()).collect();
    assert!(seen.iter().all(|seen| seen.term > 1), "no arbiter took over: {seen:?}");
    let (slots, terms) = (used.iter().map(Vec::len).sum::<usize>(), seen[0].term);
    eprintln!("{name}: {} rounds, {slots} slots used, {terms} terms", rounds());
}

#[test]
fn no_slot_is_granted_twice_and_no_demand_is_lost_whoever_dies() {
    survive("deaths", None, &[Failure::Kill, Failure::Stop]);
}

#[test]
fn no_slot_is_granted_twice_and_no_demand_is_lost_whoever_is_cut_off() {
    match Namespace::enter("cuts") {
        Err(reason) => writeln!(std::io::stderr(), "skipped: networks that are cut: {reason}").unwrap(),
        Ok(namespace) => {
            survive("cuts", Some(&namespace), &[Failure::Apart, Failure::FromSome, Failure::FromAll]);
        }
    }
}
