//! What path selection costs for a slot (Fastpass, experiment G): random matchings, by shape of the network and load.
//!
//! Part of `make bench`; the figures are in docs/PERFORMANCE.md. The bar is 2.5 us for 16 racks of 32 endpoints with four
//! paths at a load of 0.9; the goal is 1 us.

// A benchmark measures the real time.
#![allow(clippy::disallowed_methods)]

use std::hint::black_box;
use std::time::Instant;

use clearway_proto::fastpass::paths::{
    DeadLinks, FatTree, FatTreeShape, LeafSpine, Link, Pair, PathError, Racks,
};

const LOADS: [f64; 3] = [0.5, 0.9, 1.0];
/// Different slots of each measurement, so that no branch can be learned.
const SLOTS: usize = 64;
/// Repeats of the measurement, of which least and median are shown.
const REPEATS: usize = 21;

/// Racks, endpoints of a rack, paths, dead cables, each of another rack and path, and what is asked for at a load of 0.9.
const LEAF_SPINES: [(usize, usize, usize, usize, &str); 11] = [
    (4, 32, 4, 0, ""),
    (8, 32, 4, 0, ""),
    (16, 32, 4, 0, "2.5, goal 1"),
    (16, 32, 4, 1, ""),
    (16, 32, 4, 2, ""),
    (16, 32, 4, 4, ""),
    (16, 32, 8, 0, ""),
    (16, 32, 32, 0, ""),
    (32, 32, 4, 0, ""),
    (100, 40, 8, 0, ""),
    (100, 40, 8, 1, ""),
];

fn main() {
    let loads = LOADS.map(|load| format!("{:<16}", format!("load {load}"))).concat();
    println!("selecting paths, us a slot, least (median) of {REPEATS}:");
    println!("  {:<40} {loads}at 0.9 must be", "");
    for (number, hosts, paths, cables, bar) in LEAF_SPINES {
        let racks = Racks::uniform(number, hosts).unwrap();
        let mut network = LeafSpine::new(racks.clone(), paths).unwrap();
        let mut dead = DeadLinks::leaf_spine(&racks, paths).unwrap();
        for (rack, switch) in (0..cables).map(|cable| (cable, cable % paths)) {
            dead.set(Link::FromRack { rack, switch }, true).unwrap();
            dead.set(Link::ToRack { rack, switch }, true).unwrap();
        }
        network.avoid(&dead).unwrap();
        let left = if cables > 0 { format!(", {cables} dead") } else { String::new() };
        let name = format!("{number} racks of {hosts}, {paths} paths{left}");
        show(&name, &racks, &dead, bar, &mut |slot| network.select(slot).map(<[_]>::len));
    }
    for half in [4, 8] {
        let shape = FatTreeShape { racks_per_pod: half, aggregation: half, cores: half };
        let racks = Racks::uniform(2 * half * half, half).unwrap();
        let mut tree = FatTree::new(racks.clone(), shape).unwrap();
        let mut dead = DeadLinks::fat_tree(&racks, shape).unwrap();
        for cables in [0, 1, 2, 4] {
            for (pod, core) in (0..cables).map(|cable| (cable, cable % half)) {
                dead.set(Link::ToCore { pod, aggregation: 0, core }, true).unwrap();
                dead.set(Link::FromCore { pod, aggregation: 0, core }, true).unwrap();
            }
            tree.avoid(&dead).unwrap();
            let left = if cables > 0 { format!(", {cables} dead") } else { String::new() };
            let name = format!("fat tree of {}-port switches{left}", 2 * half);
            show(&name, &racks, &dead, "", &mut |slot| tree.select(slot).map(<[_]>::len));
        }
    }
}

/// Selects the paths of a slot. Returns how many.
type Select<'a> = &'a mut dyn FnMut(&[Pair]) -> Result<usize, PathError>;

fn show(name: &str, racks: &Racks, dead: &DeadLinks, bar: &str, select: Select) {
    let columns = LOADS.map(|load| {
        let us = measure(racks, dead, load, select);
        format!("{:<16}", format!("{:.2} ({:.2})", us[0], us[REPEATS / 2]))
    });
    println!("  {name:<40} {}{bar}", columns.concat());
}

/// Microseconds for one slot, sorted.
fn measure(racks: &Racks, dead: &DeadLinks, load: f64, select: Select) -> Vec<f64> {
    let mut random = Random(1);
    let slots: Vec<_> = (0..SLOTS).map(|_| random.matching(racks, dead, load)).collect();
    let mut us: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let started = Instant::now();
            for slot in &slots {
                black_box(select(black_box(slot)).unwrap());
            }
            started.elapsed().as_nanos() as f64 / 1e3 / SLOTS as f64
        })
        .collect();
    us.sort_by(f64::total_cmp);
    us
}

/// A small generator of slots.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn shuffled(&mut self, n: usize) -> Vec<u16> {
        let mut items: Vec<_> = (0..n as u16).collect();
        for last in (1..n).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
        items
    }

    /// A share of the endpoints, in any order, each to another endpoint, without what living links do not carry.
    fn matching(&mut self, racks: &Racks, dead: &DeadLinks, load: f64) -> Vec<Pair> {
        let endpoints = racks.endpoints();
        let (sources, destinations) = (self.shuffled(endpoints), self.shuffled(endpoints));
        let busy = (endpoints as f64 * load).round() as usize;
        let mut left: Vec<_> = (0..racks.racks()).map(|rack| dead.capacity(rack)).collect();
        let mut fits = |&(source, destination): &Pair| {
            let [from, to] = [source, destination].map(|endpoint| racks.rack_of(endpoint.into()));
            let fits = from == to || left[from].0 > 0 && left[to].1 > 0;
            if fits && from != to {
                left[from].0 -= 1;
                left[to].1 -= 1;
            }
            fits
        };
        sources.into_iter().zip(destinations).take(busy).filter(|pair| fits(pair)).collect()
    }
}
