//! Odd values: a drawn scenario with some keys at or beyond the edges of what they take. Whatever that makes of it, it is
//! refused with a sentence or it runs; it never panics.

use crate::cases::{cases, setting};
use crate::dice::Dice;
use crate::random_net::case::{Case, Value};
use crate::random_net::checks::{read_and_run, Failure};
use crate::random_net::draw;

/// Packet-hops after which a run has shown enough.
const ENOUGH_HOPS: u64 = 20_000;

/// Counts of what became of the scenarios.
#[derive(Debug, Default)]
struct Counts {
    ran: u32,
    refused: u32,
}

/// The scenario of a seed, with one to four of its values odd.
fn odd(seed: u64) -> Case {
    let mut case = draw::case(seed);
    let mut dice = Dice::new(seed ^ 0x0dd0_0dd0);
    for _ in 0..dice.between(1, 4) {
        let at = dice.below(case.tables.len() as u64) as usize;
        let keys = &mut case.tables[at].keys;
        if keys.is_empty() {
            continue;
        }
        let key = dice.below(keys.len() as u64) as usize;
        let (name, value) = &mut keys[key];
        if name != "format" {
            *value = edge(value, &mut dice);
        }
    }
    case
}

/// A value at an edge of what keys of this kind take, or one step from this value.
fn edge(value: &Value, dice: &mut Dice) -> Value {
    let near = |number: u64, dice: &mut Dice, edges: &[u64]| {
        let steps = [number.saturating_sub(1), number + 1, number / 2, number.saturating_mul(2)];
        dice.pick(&[edges, &steps].concat())
    };
    match value {
        Value::Flag(flag) => Value::Flag(!flag),
        Value::Whole(number) => Value::Whole(near(*number, dice, &[0, 1, 2, 64, 65_536, 1 << 31])),
        Value::Number(number) => Value::Number(dice.pick(&[
            0.0,
            1e-9,
            0.5,
            1.0,
            1.0 + 1e-9,
            1000.0,
            -1.0,
            number / 2.0,
            number * 2.0,
        ])),
        Value::Time(ps) => {
            Value::Time(near(*ps, dice, &[0, 1, 1000, 100_000, 100_000_000, 10_000_000_000_000]))
        }
        Value::Times(from, to) => Value::Times(*from, dice.pick(&[*from, from + 1, to * 2])),
        Value::Size(bytes) => Value::Size(near(*bytes, dice, &[0, 1, 64, 9216, 65_535, 1_000_000_000])),
        Value::Rate(bps) => Value::Rate(near(*bps, dice, &[0, 1_000_000, 1_000_000_000, 10_000_000_000_000])),
        Value::Frequency(times) => Value::Frequency(near(*times, dice, &[0, 1, 1_000_000_000])),
        Value::Hosts(hosts) => Value::Hosts(hosts.iter().map(|host| host + 1).collect()),
        other => other.clone(),
    }
}

#[test]
fn odd_values_are_refused_or_run() {
    let scenarios = cases("CLEARWAY_RANDOM_SCENARIOS", 150, 1000);
    let first = setting("CLEARWAY_RANDOM_SEED", 1);
    let (mut counts, mut failed) = (Counts::default(), Vec::<(u64, Failure)>::new());
    for seed in first..first + scenarios {
        match read_and_run(&odd(seed), ENOUGH_HOPS) {
            Ok(Some(Err(why))) => {
                assert!(!why.is_empty(), "seed {seed} is refused without a word");
                counts.refused += 1;
            }
            Ok(_) => counts.ran += 1,
            Err(failure) => {
                println!("odd seed {seed} fails: {}\n\n{}", failure.says, odd(seed).printed());
                failed.push((seed, failure));
            }
        }
    }
    println!(
        "{scenarios} scenarios with odd values from seed {first}: {} ran, {} were refused, {} failed",
        counts.ran,
        counts.refused,
        failed.len()
    );
    assert!(failed.is_empty(), "these seeds fail: {failed:#?}");
    // Either is to be met often.
    assert!(u64::from(counts.ran.min(counts.refused)) * 10 > scenarios, "{counts:?}");
}
