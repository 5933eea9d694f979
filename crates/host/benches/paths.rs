//! What becomes of traffic when a path dies and returns: TCP between two racks of two hosts, over two spines, in timeslots of 500 us,
//! with `clearwayd arbiter` and `clearwayd endpoint` as processes in network namespaces.
//!
//! `cargo bench -p clearway-host --bench paths -- [--rounds=N] [--mbps=N] [--dead=MS] [--death=NAME] [--detail]` prints JSON: goodput
//! before the death, in windows of 20 ms after it, the time until .95 of what lives is carried, and the time from the path's return
//! until it is used again. Needs root.

#![allow(
    dead_code,
    clippy::disallowed_methods,
    reason = "a test's bed has more than is used here; processes run in real time"
)]

#[path = "../tests/fastpass/fabric.rs"]
mod fabric;
#[path = "../tests/fastpass/flow.rs"]
mod flow;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fabric::{value, Control, Death, Fabric};
use serde_json::{json, Map, Value};

/// The spine whose link to leaf 0 dies.
const VICTIM: usize = 1;
const WINDOW: Duration = Duration::from_millis(20);
/// How long is measured before the death.
const BEFORE: Duration = Duration::from_millis(600);
/// The longest that the path's use is waited for.
const PATIENCE: Duration = Duration::from_secs(8);
/// Windows over which is averaged where a share of capacity is reached.
const SMOOTH: usize = 5;

/// The counts of the receivers at an instant.
#[derive(Clone, Copy)]
struct Sample {
    at: Duration,
    /// Bytes given to hosts 2 and 3.
    carried: u64,
    /// Bytes that the victim has sent to their leaf.
    passed: u64,
}

/// A rate between two samples, in Mb/s.
fn rate(from: Sample, to: Sample, of: fn(Sample) -> u64) -> f64 {
    (of(to) - of(from)) as f64 * 8.0 / to.at.saturating_sub(from.at).as_secs_f64() / 1e6
}

fn carried(sample: Sample) -> u64 {
    sample.carried
}

fn passed(sample: Sample) -> u64 {
    sample.passed
}

fn ms(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e4).round() / 10.0
}

/// When the link was killed and returned, and what was seen.
struct Record {
    samples: Vec<Sample>,
    killed: Duration,
    returned: Duration,
}

impl Record {
    /// The windows that begin at an instant or later.
    fn windows(&self, from: Duration) -> impl Iterator<Item = (Sample, Sample)> + '_ {
        let pairs = self.samples.windows(2).map(|pair| (pair[0], pair[1]));
        pairs.filter(move |(first, _)| first.at >= from)
    }

    /// The last sample at an instant or before it.
    fn at(&self, at: Duration) -> Sample {
        let upto = self.samples.partition_point(|sample| sample.at <= at);
        self.samples[upto.saturating_sub(1)]
    }

    /// When the link died: what kills it takes its time, so it is when the victim has passed nothing any more.
    fn death(&self) -> Duration {
        let mut after = self.windows(self.killed);
        after.find(|(from, to)| from.passed == to.passed).map_or(self.killed, |(from, _)| from.at)
    }

    /// The time from an instant to the end of the first window from which on an average over some windows is at least this.
    fn reaches(&self, from: Duration, least: f64, of: fn(Sample) -> u64) -> Option<f64> {
        let after: Vec<Sample> = self.samples.iter().copied().filter(|sample| sample.at >= from).collect();
        let pair = after.windows(SMOOTH + 1).find(|few| rate(few[0], few[SMOOTH], of) >= least)?;
        Some(ms(pair[1].at.saturating_sub(from)))
    }

    /// The figures; what lives is this share of what was carried before.
    fn figures(&self, lives: f64) -> Value {
        let (first, killed, died) = (self.samples[0], self.at(self.killed), self.death());
        let before = rate(first, killed, carried);
        let settled = self.at(died + Duration::from_millis(100));
        let after = rate(settled, self.at(self.returned), carried);
        let windows = self.windows(died).take(10).map(|(from, to)| rate(from, to, carried).round());
        let share = rate(first, killed, passed);
        json!({
            "before_mbps": before.round(),
            "after_100ms_of_what_lives": (after / before / lives * 1000.0).round() / 1000.0,
            "windows_after_death_mbps": windows.collect::<Vec<_>>(),
            "until_95_ms": self.reaches(died, 0.95 * lives * before, carried),
            "until_used_again_ms": self.reaches(self.returned, share / 2.0, passed),
            "until_95_of_before_ms": self.reaches(self.returned, 0.95 * before, carried),
        })
    }
}

/// Lets the path die and return while `flows` flows, one from each host, send what they can.
fn round(fabric: &Fabric, death: Death, flows: usize, dead: Duration) -> Record {
    let flows: Vec<_> = (0..flows).map(|host| fabric.flow(host, host + 2)).collect();
    std::thread::sleep(Duration::from_millis(700));
    let (start, ends) = (Instant::now(), AtomicBool::new(false));
    let look = || Sample {
        at: start.elapsed(),
        carried: fabric.carried_to(2) + fabric.carried_to(3),
        passed: fabric.passed(VICTIM),
    };
    let record = std::thread::scope(|scope| {
        let sampling = scope.spawn(|| {
            let mut samples = vec![look()];
            while !ends.load(Ordering::SeqCst) {
                let next = WINDOW * samples.len() as u32;
                std::thread::sleep(next.saturating_sub(start.elapsed()));
                samples.push(look());
            }
            samples
        });
        std::thread::sleep(BEFORE);
        let killed = start.elapsed();
        fabric.kill(VICTIM, death);
        std::thread::sleep(dead);
        let returned = start.elapsed();
        fabric.revive(VICTIM, death);
        let since = Instant::now();
        while fabric.of_primary("failed_links") != Some(0.0) && since.elapsed() < PATIENCE {
            std::thread::sleep(WINDOW);
        }
        std::thread::sleep(Duration::from_secs(1));
        ends.store(true, Ordering::SeqCst);
        Record { samples: sampling.join().expect("samples"), killed, returned }
    });
    for flow in flows {
        let (written, read) = flow.end();
        assert_eq!(written, read, "bytes of a flow");
    }
    record
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let arg = |name: &str| args.iter().find_map(|arg| arg.strip_prefix(name)?.strip_prefix('='));
    let number = |name, default| arg(name).map_or(default, |text| text.parse::<u64>().expect("a number"));
    let (rounds, dead) = (number("--rounds", 3), Duration::from_millis(number("--dead", 700)));
    let has = |name: &str| args.iter().any(|arg| arg == name);
    let control = if has("--in-fabric") { Control::InFabric } else { Control::Beside };
    let mut fabric = match Fabric::make("bench", number("--mbps", 120) as u32, control) {
        Ok(fabric) => fabric,
        Err(reason) => return println!("{:#}", json!({ "skipped": reason })),
    };
    fabric.start();
    let mut told = Map::new();
    let all = [
        ("one_way", Death::OneWay),
        ("both_ways", Death::BothWays),
        ("down_at_spine", Death::AtSpine),
        ("down_at_leaf", Death::AtLeaf),
    ];
    for (name, death) in all.into_iter().filter(|(name, _)| arg("--death").is_none_or(|only| only == *name)) {
        // One flow needs no more than one spine carries.
        for (demand, flows, lives) in [("two_spines", 2, 0.5), ("one_spine", 1, 1.0)] {
            let figures = (0..rounds).map(|_| {
                let record = round(&fabric, death, flows, dead);
                if has("--detail") {
                    detail(&record);
                }
                record.figures(lives)
            });
            told.insert(format!("{name}_demand_of_{demand}"), Value::Array(figures.collect()));
        }
    }
    if has("--detail") {
        for host in ["h0", "h1", "h2", "h3"] {
            let page = fabric.metrics(host);
            let of = |name: &str| value(&page, &format!("clearway_endpoint_{name}_total"));
            eprintln!("{host}: {:?}", ["slots_used", "slots_not_arrived", "slots_late", "fallbacks"].map(of));
        }
    }
    println!("{:#}", Value::Object(told));
}

fn detail(record: &Record) {
    for (from, to) in record.windows(Duration::ZERO) {
        let at = (from.at.as_secs_f64() - record.death().as_secs_f64()) * 1e3;
        eprint!("{at:.0}:{:.0}/{:.0} ", rate(from, to, carried), rate(from, to, passed));
    }
    eprintln!("\nreturned {:?}", record.returned.saturating_sub(record.death()));
}
