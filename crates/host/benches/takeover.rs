//! How long nobody is granted anything when an arbiter dies, stands still or is cut off: four endpoints with demand all the time, a
//! primary and a standby as processes, over loopback.
//!
//! `cargo bench -p clearway-host --bench takeover -- [--rounds=N]` prints JSON. Cuts need root.

#![allow(
    dead_code,
    clippy::disallowed_methods,
    reason = "a test's bed has more than is used here; processes run in real time"
)]

#[path = "../tests/fastpass/bed.rs"]
mod bed;

use rustix::process::Signal;
use serde_json::json;

use bed::{pause, wait_until, Arbiter, Endpoint, Namespace, Place};

const ENDPOINTS: u16 = 4;
/// The length of a slot in the deployment below.
const SLOT_MS: f64 = 0.2;
const TAKEOVER_MS: f64 = 2.0;
/// Slots that each endpoint asks for at each other when little is left: more than are used until the next look.
const MUCH: u32 = 2000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Failure {
    Kill,
    Stop,
    Cut,
}

struct Bed {
    place: Place,
    arbiters: Vec<Arbiter>,
    endpoints: Vec<Endpoint>,
}

impl Bed {
    fn new(name: &str) -> Bed {
        let timing = format!("slot = \"200us\"\nwatchdog = \"500us\"\ntakeover = \"{TAKEOVER_MS}ms\"");
        let place = Place::new(name, ENDPOINTS.into(), 2, &timing, "mode = \"slots\"");
        let arbiters = (0..2).map(|rank| place.arbiter(rank)).collect();
        let endpoints = (0..ENDPOINTS).map(|address| place.endpoint(address)).collect();
        Bed { place, arbiters, endpoints }
    }

    /// Waits until every endpoint hears both arbiters, which takes a while after one was started again.
    fn be_acquainted(&self) {
        const LATELY_NS: u64 = 100_000_000;
        pause(20);
        wait_until("all hear each other", || {
            self.want();
            self.endpoints.iter().all(|endpoint| {
                let links = endpoint.handle.look().expect("an endpoint").links;
                links.iter().filter(|link| link.silent_ns < LATELY_NS && link.offset.is_some()).count() == 2
            })
        });
        // The arbiters have heard each other, too.
        pause(300);
    }

    /// Sees that all want slots for a while.
    fn want(&self) {
        for (own, endpoint) in (0..).zip(&self.endpoints) {
            if endpoint.waiting() < MUCH {
                (0..ENDPOINTS).filter(|other| *other != own).for_each(|other| endpoint.wait_for(other, MUCH));
            }
        }
    }

    /// The rank of the arbiter whose term the endpoints follow.
    fn primary(&self) -> usize {
        let seen = self.endpoints[0].handle.look().expect("an endpoint");
        (seen.term as usize + 1) % 2
    }

    /// The longest time, in ms, from a slot that some endpoint has used to the next, among the slots from `first` on.
    fn gap(&self, first: u64) -> f64 {
        let used = self.endpoints.iter().flat_map(Endpoint::used).map(|(slot, _)| slot);
        let mut slots: Vec<u64> = used.filter(|slot| *slot >= first).collect();
        slots.sort_unstable();
        let longest = slots.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        longest as f64 * SLOT_MS
    }

    fn last_slot(&self) -> u64 {
        self.endpoints
            .iter()
            .filter_map(|endpoint| endpoint.used().last().map(|(slot, _)| *slot))
            .max()
            .unwrap_or(0)
    }

    /// A round; the gap that it has made, in ms. The primary is dead, still or cut off for `ms`.
    fn round(&mut self, failure: Failure, namespace: Option<&Namespace>, ms: u64) -> f64 {
        self.want();
        pause(20);
        let (victim, first) = (self.primary(), self.last_slot());
        match failure {
            Failure::Kill => {
                self.arbiters.remove(victim).kill();
                pause(ms);
                self.arbiters.insert(victim, self.place.arbiter(victim));
            }
            Failure::Stop => {
                self.arbiters[victim].signal(Signal::STOP);
                pause(ms);
                self.arbiters[victim].signal(Signal::CONT);
            }
            Failure::Cut => {
                let namespace = namespace.expect("cuts are made in a namespace");
                namespace.isolate(&self.place.deployment.arbiters[victim].control.ip().to_string());
                pause(ms);
                namespace.heal();
            }
        }
        let before = self.last_slot();
        wait_until("slots are used", || self.last_slot() > before + 20);
        let gap = self.gap(first);
        self.endpoints.iter().for_each(|endpoint| endpoint.record.lock().expect("a record").used.clear());
        self.be_acquainted();
        gap
    }
}

fn measure(failure: Failure, rounds: u32, namespace: Option<&Namespace>) -> serde_json::Value {
    let mut bed = Bed::new(&format!("bench-{failure:?}"));
    bed.want();
    bed.be_acquainted();
    let mut gaps: Vec<f64> = (0..rounds).map(|_| bed.round(failure, namespace, 60)).collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| gaps[((gaps.len() - 1) as f64 * share) as usize];
    json!({ "rounds": rounds, "gap_ms": { "p50": at(0.5), "p99": at(0.99), "max": at(1.0) } })
}

fn main() {
    let rounds = std::env::args().find_map(|arg| arg.strip_prefix("--rounds=").map(str::parse::<u32>));
    let rounds = rounds.map_or(20, |rounds| rounds.expect("--rounds=NUMBER")).max(1);
    let mut told = serde_json::Map::new();
    told.insert("takeover_ms".into(), json!(TAKEOVER_MS));
    told.insert("kill".into(), measure(Failure::Kill, rounds, None));
    told.insert("stop".into(), measure(Failure::Stop, rounds, None));
    let cut = match Namespace::enter("takeover") {
        Ok(namespace) => measure(Failure::Cut, rounds, Some(&namespace)),
        Err(reason) => json!({ "skipped": reason }),
    };
    told.insert("cut".into(), cut);
    println!("{:#}", serde_json::Value::Object(told));
}
