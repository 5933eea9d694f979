//! Arbiters that die, stop, are cut off and go on: no slot is granted twice, and no demand is lost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};

use super::{pause, wait_until, Arbiter, Endpoint, Place, Used};
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

/// A network namespace of its own, which the calling thread is in and does not leave.
struct Namespace(String);

impl Namespace {
    fn enter(of: &str) -> Result<Namespace, String> {
        let namespace = Namespace(format!("clearway-{}-{of}", std::process::id()));
        let name = &namespace.0;
        run("ip", &format!("netns add {name}"))?;
        run("ip", &format!("-n {name} link set lo up"))?;
        // Rules come before the table of the namespace's own addresses.
        run("ip", &format!("-n {name} rule add pref 100 lookup local"))?;
        run("ip", &format!("-n {name} rule del pref 0"))?;
        let entry = File::open(Path::new("/run/netns").join(name)).map_err(|error| error.to_string())?;
        move_into_link_name_space(entry.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|error| format!("network namespace: {error}"))?;
        Ok(namespace)
    }

    /// Lets nothing of FCP pass between two hosts, in either direction.
    fn cut(&self, one: &str, other: &str) {
        for (from, to) in [(one, other), (other, one)] {
            run("ip", &format!("-n {} rule add pref 10 from {from} to {to} blackhole", self.0)).unwrap();
        }
    }

    /// Lets everything pass again.
    fn heal(&self) {
        while run("ip", &format!("-n {} rule del pref 10", self.0)).is_ok() {}
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = run("ip", &format!("netns del {}", self.0));
    }
}

fn run(program: &str, args: &str) -> Result<(), String> {
    let output =
        Command::new(program).args(args.split(' ')).output().map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} {args}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// What happens in a round.
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
    writeln!(std::io::stderr(), "{name}: {} rounds, {slots} slots used, {terms} terms", rounds()).unwrap();
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
