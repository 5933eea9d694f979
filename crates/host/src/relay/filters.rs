//! The filters of a port: those of relays, which have a preference and names of their own, and those of others.

use std::process::Command;

use serde_json::Value;

use crate::daemon::output::Problem;

/// The place of a relay's program among a port's filters: numbers that nobody gets without asking for them.
pub const PREFERENCE: u32 = 20_759;
/// The handle of the filter there.
pub const HANDLE: u32 = 0xc1ea;
/// The beginnings of the names of relays' programs, as the kernel shows them.
const NAMES: [&str; 2] = ["clearway_local:", "clearway_remote:"];

/// A filter at the ingress of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Filter {
    preference: u64,
    kind: String,
    is_ours: bool,
}

/// Runs one of iproute2's commands, and returns what it says.
pub(super) fn run(command: &str) -> Result<String, Problem> {
    let mut words = command.split(' ');
    let program = words.next().expect("a command has a first word");
    let output = Command::new(program).args(words).output();
    let output = output.map_err(|error| Problem::new(format!("{program}: {error}"), "install iproute2"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or_default();
    Err(Problem::new(format!("{command}: {said}"), "run it as root"))
}

fn filters(port: &str) -> Result<Vec<Filter>, Problem> {
    let told = run(&format!("tc -j filter show dev {port} ingress"))?;
    let told: Value = serde_json::from_str(told.trim()).unwrap_or_default();
    Ok(told.as_array().into_iter().flatten().filter_map(filter).collect())
}

/// A filter as `tc` tells it; none for the line that a preference has of its own.
fn filter(told: &Value) -> Option<Filter> {
    let options = told.get("options")?;
    let name = options["bpf_name"].as_str().unwrap_or_default();
    Some(Filter {
        preference: told["pref"].as_u64()?,
        kind: told["kind"].as_str().unwrap_or("of some kind").into(),
        is_ours: NAMES.iter().any(|own| name.starts_with(own)),
    })
}

/// Sees whether somebody else has a filter at a port: one of the two would take the frames of the other.
pub(super) fn check(port: &str) -> Result<(), Problem> {
    let Some(other) = filters(port)?.into_iter().find(|filter| !filter.is_ours) else { return Ok(()) };
    let Filter { preference, kind, .. } = other;
    let message = format!("{port} has a filter of somebody else, {kind} with preference {preference}");
    let remedy =
        format!("take it away if nothing needs it: tc filter delete dev {port} ingress pref {preference}");
    Err(Problem::new(message, &remedy))
}

/// Takes the filters of relays from a port, and no others. Returns whether there were any.
pub(super) fn remove(port: &str) -> Result<bool, Problem> {
    let mut ours: Vec<u64> =
        filters(port)?.into_iter().filter(|filter| filter.is_ours).map(|filter| filter.preference).collect();
    ours.dedup();
    for preference in &ours {
        run(&format!("tc filter delete dev {port} ingress pref {preference}"))?;
    }
    Ok(!ours.is_empty())
}

/// Returns whether a relay's filter is at a port.
pub(super) fn has_ours(port: &str) -> bool {
    filters(port).is_ok_and(|filters| filters.iter().any(|filter| filter.is_ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_ours_by_its_name() {
        let told = r#"[{"protocol":"all","pref":1,"kind":"bpf","chain":0},
            {"pref":1,"kind":"bpf","options":{"handle":"0x1","bpf_name":"clearway_local:[12]"}},
            {"pref":2,"kind":"bpf","options":{"handle":"0x1","bpf_name":"other:[13]"}},
            {"pref":3,"kind":"flower","options":{}}]"#;
        let told: Value = serde_json::from_str(told).unwrap();
        let found: Vec<Filter> = told.as_array().unwrap().iter().filter_map(filter).collect();
        let seen: Vec<(u64, bool)> = found.iter().map(|filter| (filter.preference, filter.is_ours)).collect();
        assert_eq!(seen, [(1, true), (2, false), (3, false)]);
    }
}
