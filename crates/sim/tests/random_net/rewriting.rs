//! Other ways to write the same scenario, which make the simulator take another path to the same outcome.

use clearway_sim::record::{Outcome, Value as Figure};

use crate::random_net::case::{Case, Table, Value};
use crate::random_net::checks::is_paused;
use crate::random_net::outcomes::{difference, difference_of_tables, figure, texts};

/// A way to write a scenario that changes nothing about what happens in it.
pub struct Rewriting {
    pub name: &'static str,
    /// Writes the scenario in another way; `None` where it cannot be written so.
    pub rewrite: fn(&Case, &Outcome) -> Option<Case>,
    /// What the two outcomes have to have in common.
    pub difference: fn(&Outcome, &Outcome) -> Option<String>,
}

/// All of them.
pub const REWRITINGS: &[Rewriting] = &[
    Rewriting {
        name: "with links that lose nothing",
        rewrite: with_harmless_faults,
        difference: difference_beside_faults,
    },
    Rewriting { name: "with steps written as RED", rewrite: with_red_for_steps, difference },
    Rewriting { name: "with one class", rewrite: with_one_class, difference: difference_of_tables },
    Rewriting {
        name: "with idle transports",
        rewrite: with_idle_transports,
        difference: difference_without_summary,
    },
    Rewriting { name: "with shared buffers that never fill", rewrite: with_vast_buffers, difference },
];

/// Every link loses frames with probability 0, save those with faults of their own, which this would make draw more
/// random numbers.
fn with_harmless_faults(case: &Case, outcome: &Outcome) -> Option<Case> {
    let faulty: Vec<String> =
        case.all("fault").filter_map(|fault| fault.text("link")).map(Into::into).collect();
    let mut case = case.clone();
    for link in texts(outcome, "links", "link") {
        let (a, b) = link.split_once('>')?;
        if faulty.iter().any(|other| other.contains(a) && other.contains(b)) {
            continue;
        }
        let fault = Table::new("fault").with("kind", "loss").with("link", link);
        case.insert(fault.with("probability", Value::Number(0.0)));
    }
    Some(case)
}

/// What faults have cost in all, and everything but their rows: the harmless ones have rows too, and cost nothing.
fn difference_beside_faults(one: &Outcome, other: &Outcome) -> Option<String> {
    let [cost, with_harmless] =
        [one, other].map(|outcome| figure(outcome, "fault_lost_bytes").unwrap_or(0.0));
    if cost != with_harmless {
        return Some(format!("faults cost {cost} bytes and {with_harmless}"));
    }
    difference(&without_faults(one), &without_faults(other))
}

/// An outcome without the rows and figures that it has only where there are faults.
fn without_faults(outcome: &Outcome) -> Outcome {
    let of_faults = |name: &str| ["fault_lost_bytes", "fault_recovery_max_us"].contains(&name);
    let mut outcome = outcome.clone();
    outcome.tables.retain(|table| table.name != "faults");
    if let Figure::Object(figures) = &mut outcome.summary {
        figures.retain(|(name, _)| !of_faults(name));
        for (_, figure) in figures {
            if let Figure::Reasons(reasons) = figure {
                reasons.retain(|(name, _)| !of_faults(name));
            }
        }
    }
    outcome
}

/// A step is RED whose probability rises from nothing to everything at one queue length.
fn with_red_for_steps(case: &Case, _: &Outcome) -> Option<Case> {
    let mut case = case.clone();
    let mut any = false;
    for table in case.tables.iter_mut().filter(|table| table.says("ecn", "step")) {
        let threshold = table.get("ecn_threshold")?.clone();
        table.remove("ecn_threshold");
        table.set("ecn", "red");
        table.set("ecn_min", threshold.clone());
        table.set("ecn_max", threshold);
        table.set("ecn_pmax", Value::Number(0.5));
        any = true;
    }
    any.then_some(case)
}

/// Returns whether a switch of a case may cut packets.
fn trims(case: &Case) -> bool {
    case.any("switch", |switch| switch.says("overflow", "trim"))
}

/// Without classes a port has one queue, as with one class. Where switches cut packets acknowledgements go ahead with their headers,
/// unless there are classes.
fn with_one_class(case: &Case, outcome: &Outcome) -> Option<Case> {
    let mut case = case.clone();
    if case.any("class", |_| true) || trims(&case) {
        return None;
    }
    let mut class = Table::named("class", "only");
    if outcome.tables.iter().any(|table| table.name == "pauses") {
        class.set("lossless", Value::Flag(true));
    }
    case.insert(class);
    Some(case)
}

/// Transports that no traffic uses, before those that are used: the frames for which ports are prepared are theirs.
fn with_idle_transports(case: &Case, _: &Outcome) -> Option<Case> {
    let mut case = case.clone();
    let first = case.tables.iter().position(|table| table.kind == "transport")?;
    let name = case.tables[first].name.clone()?;
    let has_one = |table: &Table| ["traffic", "job"].contains(&table.kind);
    for traffic in case.tables.iter_mut().filter(|table| has_one(table) && !table.gives("transport")) {
        traffic.set("transport", name.as_str());
    }
    for number in 1..=4 {
        // No frame of theirs is heavier than those that buffers have room for.
        let ack = Value::Size(number.min(case.mtu() as u64));
        let idle = Table::named("transport", &format!("idle{number}")).with("protocol", "none");
        let idle = idle.with("header", Value::Size(0)).with("ack", ack);
        case.tables.insert(first, idle);
    }
    // These samples have a row for every transport.
    for record in case.tables.iter_mut().filter(|table| table.kind == "record") {
        record.remove("rtt");
        record.remove("throughput");
    }
    Some(case)
}

/// The digest and the tables that both have; the summary shows the idle transports too.
fn difference_without_summary(one: &Outcome, other: &Outcome) -> Option<String> {
    let same_summary = Outcome { summary: one.summary.clone(), ..other.clone() };
    let digests = || format!("digest: {} and {}", one.digest, other.digest);
    difference_of_tables(one, &same_summary).or_else(|| (one.digest != other.digest).then(digests))
}

/// Where nothing is dropped and buffers have room for more than all frames, sharing makes no difference.
fn with_vast_buffers(case: &Case, outcome: &Outcome) -> Option<Case> {
    let alone = !case.any("switch", |switch| switch.says("sharing", "shared"));
    let mut case = case.clone();
    // Drops are counted while the run is measured, and here none may be at any time.
    let measured_whole = figure(outcome, "measured_from_us") == Some(0.0)
        && figure(outcome, "measured_until_us") == figure(outcome, "simulated_us");
    if !alone || is_paused(&case) || trims(&case) || figure(outcome, "drops") != Some(0.0) || !measured_whole
    {
        return None;
    }
    if !case.any("switch", |switch| switch.name.as_deref() == Some("default")) {
        case.insert(Table::named("switch", "default"));
    }
    for switch in case.tables.iter_mut().filter(|table| table.kind == "switch") {
        switch.set("buffer", Value::Size(4_000_000_000));
        switch.set("sharing", "shared");
        switch.set("alpha", Value::Number(1000.0));
    }
    Some(case)
}
