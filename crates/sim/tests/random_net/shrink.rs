//! Makes a failing case small: takes away and simplifies, step by step, whatever the failure does not need.

use crate::random_net::case::{Case, Table, Value};
use crate::random_net::checks::{Failure, Verdict};

/// Cases tried at most.
const MOST_TRIES: usize = 1500;

/// What says whether a case fails.
type Check = dyn Fn(&Case) -> Result<Verdict, Failure>;

/// The smallest case found in which the same check fails, and what it says there.
pub fn shrink(case: Case, failure: Failure, check: &Check) -> (Case, Failure) {
    let mut shrinking = Shrinking { case, failure, check, tries: 0 };
    loop {
        let before = shrinking.case.clone();
        for step in STEPS {
            shrinking.exhaust(*step);
        }
        if shrinking.case == before || shrinking.tries >= MOST_TRIES {
            return (shrinking.case, shrinking.failure);
        }
    }
}

/// The smallest failing case so far.
struct Shrinking<'a> {
    case: Case,
    failure: Failure,
    check: &'a Check,
    tries: usize,
}

impl Shrinking<'_> {
    /// Takes every simplification of a step with which the check still fails.
    fn exhaust(&mut self, step: Step) {
        let mut number = 0;
        while let Some(simpler) = step(&self.case, number) {
            if self.tries >= MOST_TRIES {
                return;
            }
            if simpler != self.case && self.still_fails(&simpler) {
                // The next simplification has this one's number now.
                self.case = simpler;
            } else {
                number += 1;
            }
        }
    }

    fn still_fails(&mut self, simpler: &Case) -> bool {
        self.tries += 1;
        match (self.check)(simpler) {
            Err(failure) if failure.check == self.failure.check => {
                self.failure = failure;
                true
            }
            _ => false,
        }
    }
}

/// A step's simplifications of a case: the one of this number, or none where there are no more. Which of them make no
/// scenario is for the reader to say.
type Step = fn(&Case, usize) -> Option<Case>;

/// From those that take away most to those that only make numbers nicer.
const STEPS: &[Step] = &[
    without_a_job,
    without_a_table,
    without_a_transport,
    without_arbiters,
    without_classes,
    without_groups,
    on_a_star,
    with_the_simplest_table,
    without_a_part_of_the_trace,
    without_a_line_of_a_file,
    without_a_key,
    with_a_simpler_value,
];

/// A job goes with its layers, which stand behind it.
fn without_a_job(case: &Case, number: usize) -> Option<Case> {
    let at = (0..case.tables.len()).filter(|at| case.tables[*at].kind == "job").nth(number)?;
    let layers = case.tables[at + 1..].iter().take_while(|table| table.kind == "job.layer").count();
    let mut simpler = case.clone();
    simpler.tables.drain(at..=at + layers);
    Some(simpler)
}

fn without_a_table(case: &Case, number: usize) -> Option<Case> {
    let mut simpler = case.clone();
    // The last tables go first; the top of the file stays.
    let at = case.tables.len().checked_sub(number + 1).filter(|at| *at > 0)?;
    simpler.tables.remove(at);
    forget_unused_files(&mut simpler);
    Some(simpler)
}

fn forget_unused_files(case: &mut Case) {
    let named = |key: &str, file: &str| case.tables.iter().any(|table| table.says(key, file));
    let (topology, trace, sizes) = (
        named("file", crate::random_net::case::TOPOLOGY_FILE),
        named("file", crate::random_net::case::TRACE_FILE),
        named("sizes", crate::random_net::case::SIZES_FILE),
    );
    if !topology {
        case.topology.clear();
    }
    if !trace {
        case.trace.clear();
    }
    if !sizes {
        case.sizes.clear();
    }
}

/// One transport less: what it carried is carried by another.
fn without_a_transport(case: &Case, number: usize) -> Option<Case> {
    let name = case.all("transport").nth(number)?.name.clone()?;
    let mut simpler = case.clone();
    simpler.tables.retain(|table| table.kind != "transport" || table.name.as_ref() != Some(&name));
    let other = simpler.all("transport").next().and_then(|table| table.name.clone());
    let Some(other) = other else { return Some(simpler) };
    for traffic in simpler.tables.iter_mut().filter(|table| table.says("transport", &name)) {
        traffic.set("transport", other.as_str());
    }
    Some(simpler)
}

/// Returns the case without arbiters and what needs them.
fn without_arbiters(case: &Case, number: usize) -> Option<Case> {
    if number > 0 || !case.any("arbiter", |_| true) {
        return None;
    }
    let mut simpler = case.clone();
    simpler.tables.retain(|table| table.kind != "arbiter" && !table.says("kind", "crash"));
    for table in simpler.tables.iter_mut().filter(|table| table.says("protocol", "fastpass")) {
        table.keys.retain(|(key, _)| ["header", "ack", "class", "ack_class"].contains(&key.as_str()));
        table.set("protocol", "none");
    }
    Some(simpler)
}

/// Returns the case without all classes, or without one of them.
fn without_classes(case: &Case, number: usize) -> Option<Case> {
    let mut names: Vec<String> = case.all("class").filter_map(|class| class.name.clone()).collect();
    if number > 0 {
        names = vec![names.get(number - 1)?.clone()];
    }
    let mut simpler = case.clone();
    let of_these = |name: Option<&str>| name.is_some_and(|name| names.iter().any(|other| other == name));
    simpler.tables.retain(|table| table.kind != "class" || !of_these(table.name.as_deref()));
    for table in simpler.tables.iter_mut().filter(|table| table.kind == "transport") {
        for key in ["class", "ack_class"] {
            if of_these(table.text(key)) {
                table.remove(key);
            }
        }
    }
    (number == 0 || !names.is_empty()).then_some(simpler)
}

/// Returns the case with the hosts of groups where their names stood.
fn without_groups(case: &Case, number: usize) -> Option<Case> {
    let groups = case.all("groups").next()?.keys.clone();
    let mut simpler = case.clone();
    simpler.tables.retain(|table| table.kind != "groups");
    for traffic in simpler.tables.iter_mut().filter(|table| table.kind == "traffic") {
        for key in ["from", "to", "hosts"] {
            let hosts =
                groups.iter().find(|(name, _)| traffic.says(key, name)).map(|(_, hosts)| hosts.clone());
            if let Some(hosts) = hosts {
                traffic.set(key, hosts);
            }
        }
    }
    (number == 0).then_some(simpler)
}

/// Returns the case on a star of as few hosts as this number and two; faults that make no sense there are left out.
fn on_a_star(case: &Case, number: usize) -> Option<Case> {
    let hosts = number as u32 + 2;
    let network = case.all("network").next()?;
    let is_smaller = network.number("hosts").is_some_and(|others| others <= f64::from(hosts));
    if hosts > 4 || is_smaller {
        return None;
    }
    let mut simpler = case.clone();
    for table in &mut simpler.tables {
        if table.kind == "network" {
            let shape = |key: &String| ["rate", "delay", "mtu", "framing"].contains(&key.as_str());
            table.keys.retain(|(key, _)| shape(key));
            table.set("topology", "star");
            table.set("hosts", Value::Whole(u64::from(hosts)));
        }
        for (_, value) in &mut table.keys {
            if let Value::Hosts(list) = value {
                for host in list.iter_mut() {
                    *host %= hosts;
                }
                list.sort_unstable();
                list.dedup();
            }
        }
    }
    simpler.topology.clear();
    let on_star =
        |link: &str| (0..hosts).any(|host| link.contains(&format!("h{host}")) && link.contains("tor0"));
    simpler.tables.retain(|table| table.kind != "fault" || table.text("link").is_some_and(on_star));
    simpler.tables.retain(|table| !matches!(table.name.as_deref(), Some("spine" | "aggregation")));
    for line in &mut simpler.trace {
        (line.from, line.to) = (line.from % hosts, line.to % hosts);
    }
    simpler.trace.retain(|line| line.from != line.to);
    Some(simpler)
}

/// A transport or a traffic table reduced to the least that it can be.
fn with_the_simplest_table(case: &Case, number: usize) -> Option<Case> {
    let mut simpler = case.clone();
    let mut tables = simpler.tables.iter_mut().filter(|table| ["transport", "traffic"].contains(&table.kind));
    let table = tables.nth(number)?;
    let kept = |key: &String| ["class", "ack_class", "transport", "bytes", "stop"].contains(&key.as_str());
    table.keys.retain(|(key, _)| kept(key));
    if table.kind == "transport" {
        table.set("protocol", "none");
    } else {
        table.set("pattern", "incast");
        table.set("to", Value::Hosts(vec![0]));
    }
    forget_unused_files(&mut simpler);
    Some(simpler)
}

fn without_a_part_of_the_trace(case: &Case, number: usize) -> Option<Case> {
    let mut simpler = case.clone();
    let (first, second) = case.trace.split_at(case.trace.len() / 2);
    let half = [first, second].into_iter().nth(number)?;
    simpler.trace = half.to_vec();
    (!half.is_empty()).then_some(simpler)
}

/// One node with its links, one link, one line of the trace, or one line of the flow sizes less.
fn without_a_line_of_a_file(case: &Case, number: usize) -> Option<Case> {
    let mut simpler = case.clone();
    if number < case.topology.len() {
        let gone = simpler.topology.remove(number);
        let joins = |table: &Table, name: &str| match table.get("ends") {
            Some(Value::Ends(a, b)) => a == name || b == name,
            _ => false,
        };
        if let Some(name) = gone.text("name") {
            simpler.topology.retain(|table| !joins(table, name));
        }
        return Some(simpler);
    }
    let number = number - case.topology.len();
    if number < case.trace.len() {
        simpler.trace.remove(number);
        return Some(simpler);
    }
    let number = number - case.trace.len();
    (number < case.sizes.len()).then(|| {
        simpler.sizes.remove(number);
        simpler
    })
}

/// Every key of the case, by table and key, those of the topology file last.
fn keys(case: &Case) -> impl Iterator<Item = (usize, usize)> + '_ {
    let tables = case.tables.iter().chain(&case.topology).enumerate();
    tables.flat_map(|(at, table)| (0..table.keys.len()).map(move |key| (at, key)))
}

fn table_mut(case: &mut Case, at: usize) -> &mut Table {
    let count = case.tables.len();
    if at < count {
        &mut case.tables[at]
    } else {
        &mut case.topology[at - count]
    }
}

fn without_a_key(case: &Case, number: usize) -> Option<Case> {
    let (at, key) = keys(case).nth(number)?;
    let mut simpler = case.clone();
    table_mut(&mut simpler, at).keys.remove(key);
    Some(simpler)
}

fn with_a_simpler_value(case: &Case, number: usize) -> Option<Case> {
    let mut simpler = case.clone();
    let mut left = number;
    for (at, key) in keys(case) {
        let (name, value) = &mut table_mut(&mut simpler, at).keys[key];
        // What a case was drawn from, and what the file says of itself, are no part of the failure.
        let options =
            if ["seed", "format"].contains(&name.as_str()) { Vec::new() } else { simpler_values(value) };
        if let Some(option) = options.get(left) {
            *value = option.clone();
            return Some(simpler);
        }
        left -= options.len();
    }
    None
}

/// Simpler values than this one, the simplest first. Each is less, so that there is an end to it.
fn simpler_values(value: &Value) -> Vec<Value> {
    let numbers = |number: u64, value: fn(u64) -> Value| -> Vec<Value> {
        let power = 10_u64.pow(number.max(1).ilog10());
        let options =
            [0, 1, number / 10, number / 2, power, number / power * power, number.saturating_sub(1)];
        options.into_iter().filter(|option| *option < number).map(value).collect()
    };
    match value {
        Value::Whole(number) => numbers(*number, Value::Whole),
        Value::Time(ps) => numbers(*ps, Value::Time),
        Value::Size(bytes) => numbers(*bytes, Value::Size),
        // A slower link makes everything take longer, which is no simpler: rates are only rounded.
        Value::Rate(bps) => {
            let power = 10_u64.pow((*bps).max(1).ilog10());
            let rounded = Value::Rate(bps / power * power);
            [rounded].into_iter().filter(|rounded| rounded != value).collect()
        }
        Value::Times(from, to) => {
            vec![Value::Time(*from), Value::Time(*to), Value::Times(*from, from + (to - from) / 2)]
                .into_iter()
                .filter(|simpler| simpler != value)
                .collect()
        }
        Value::Number(number) if *number != 1.0 && *number != 0.0 => {
            vec![Value::Number(1.0), Value::Number(0.0)]
        }
        Value::Hosts(hosts) if hosts.len() > 1 => {
            let one = hosts.iter().map(|host| Value::Hosts(vec![*host]));
            one.chain([Value::Hosts(hosts[1..].to_vec())]).collect()
        }
        Value::Hosts(hosts) => {
            let less = hosts.iter().flat_map(|host| 0..*host);
            less.map(|host| Value::Hosts(vec![host])).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_net::case::Folder;
    use clearway_sim::check::load_text;

    /// Fails where a scenario that is accepted has a lossy link and reads.
    fn of_two_things(case: &Case) -> Result<Verdict, Failure> {
        let folder = Folder::of(case);
        if load_text(&case.text(), "scenario.toml", folder.path(), &[], None).is_err() {
            return Ok(Verdict::TooLong);
        }
        let lossy = case.any("fault", |fault| fault.says("kind", "loss"));
        let reads = case.any("traffic", |traffic| traffic.says("operation", "read"));
        if lossy && reads {
            return Err(Failure { check: "of two things".into(), says: String::new() });
        }
        Ok(Verdict::TooLong)
    }

    #[test]
    fn what_is_left_is_what_fails() {
        let mut shrunk = 0;
        for case in (1..400).map(crate::random_net::draw::case) {
            let Err(failure) = of_two_things(&case) else { continue };
            let (smallest, failure) = shrink(case, failure, &of_two_things);
            assert_eq!(of_two_things(&smallest), Err(failure));
            let kinds: Vec<&str> = smallest.tables.iter().map(|table| table.kind).collect();
            assert_eq!(kinds, ["", "network", "transport", "traffic", "fault"], "{}", smallest.printed());
            assert!(smallest.text().lines().count() <= 24, "{}", smallest.printed());
            shrunk += 1;
        }
        assert!(shrunk > 10, "only {shrunk} cases had both");
    }
}
