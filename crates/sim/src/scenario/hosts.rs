//! Lists of hosts: `7`, `"0..50"`, a group's name, or a list of those.

use std::cell::Cell;
use std::ops::Range;

use clearway_proto::units::Span;
use serde_json::{json, Value as Json};

use super::document::{Node, Value};
use super::error::Misread;
use super::suggest;

/// The most hosts in the lists of all traffic tables together, which bounds what a short file can ask for.
const MAX_LISTED: u64 = 50_000_000;

/// What a message says is expected where hosts are listed.
pub(crate) const WANTED: &str = "hosts, such as 7, \"0..50\", [1, 2, \"5..9\"] or a group's name";

/// A set of hosts as ranges, in order and apart from each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostSet(Vec<(u32, u32)>);

impl HostSet {
    /// All hosts below `hosts`.
    pub(crate) fn all(hosts: u32) -> HostSet {
        HostSet(vec![(0, hosts)])
    }

    fn of(mut ranges: Vec<(u32, u32)>) -> HostSet {
        ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            match merged.last_mut() {
                Some((_, last)) if start <= *last => *last = end.max(*last),
                _ => merged.push((start, end)),
            }
        }
        HostSet(merged)
    }

    /// The empty set.
    pub(crate) fn none() -> HostSet {
        HostSet(Vec::new())
    }

    /// The hosts as ranges in rising order.
    pub(crate) fn ranges(&self) -> Vec<Range<u32>> {
        self.0.iter().map(|(start, end)| *start..*end).collect()
    }

    /// How many hosts there are in the set.
    pub(crate) fn len(&self) -> u64 {
        self.0.iter().map(|(start, end)| u64::from(end - start)).sum()
    }

    /// Returns whether this host is in the set.
    pub(crate) fn contains(&self, host: u32) -> bool {
        self.0.iter().any(|(start, end)| (*start..*end).contains(&host))
    }

    /// The set without this host.
    pub(crate) fn without(&self, host: u32) -> HostSet {
        let split = |&(start, end): &(u32, u32)| {
            let inside = (start..end).contains(&host);
            let halves = if inside { [(start, host), (host + 1, end)] } else { [(start, end), (end, end)] };
            halves.into_iter().filter(|(start, end)| start < end)
        };
        HostSet(self.0.iter().flat_map(split).collect())
    }

    /// The only host of the set, if it has one host.
    pub(crate) fn only(&self) -> Option<u32> {
        match self.0.as_slice() {
            [(host, end)] if host + 1 == *end => Some(*host),
            _ => None,
        }
    }

    /// The set in the form in which a file holds it.
    pub(crate) fn json(&self) -> Json {
        let mut items = self.0.iter().map(|&(start, end)| {
            if start + 1 == end {
                Json::from(start)
            } else {
                format!("{start}..{end}").into()
            }
        });
        match items.len() {
            1 => items.next().unwrap_or_default(),
            _ => items.collect(),
        }
    }
}

/// What the file says about hosts and time that traffic refers to.
pub(crate) struct Directory {
    /// How many hosts there are.
    pub(crate) hosts: u32,
    /// The named groups.
    pub(crate) groups: Vec<(String, HostSet)>,
    /// When the run ends.
    pub(crate) duration: Span,
    listed: Cell<u64>,
}

impl Directory {
    /// The directory of a network of `hosts` hosts.
    pub(crate) fn new(hosts: u32, groups: Vec<(String, HostSet)>, duration: Span) -> Directory {
        Directory { hosts, groups, duration, listed: Cell::new(0) }
    }

    /// The hosts one by one; none if all lists of the file together become longer than anything that can be run.
    pub(crate) fn list(&self, set: &HostSet) -> Option<Vec<u32>> {
        self.listed.set(self.listed.get() + set.len());
        let within = self.listed.get() <= MAX_LISTED;
        within.then(|| set.0.iter().flat_map(|(start, end)| *start..*end).collect())
    }
}

/// The schema of a list of hosts; `unit` is `hosts`, or `host` where one is wanted.
pub(crate) fn schema(unit: &str) -> Json {
    let one = json!([{ "type": "integer", "minimum": 0 }, { "type": "string", "minLength": 1 }]);
    json!({
        "anyOf": [one[0], one[1], { "type": "array", "minItems": 1, "items": { "anyOf": one } }],
        "x-unit": unit,
    })
}

/// Reads a list of hosts of a network of `hosts` hosts, in which groups are known by name. Where the network is not
/// known (none) only the form is checked.
pub(crate) fn parse(
    node: &Node,
    hosts: Option<u32>,
    groups: &[(String, HostSet)],
) -> Result<(HostSet, Json), Misread> {
    let mut ranges = Vec::new();
    match &node.value {
        Value::List(list) if list.is_empty() => return Err(Misread::expected(WANTED)),
        Value::List(list) => {
            for item in list {
                add(&item.value, hosts, groups, &mut ranges)?;
            }
        }
        single => add(single, hosts, groups, &mut ranges)?,
    }
    let set = HostSet::of(ranges);
    let json = set.json();
    Ok((set, json))
}

fn add(
    value: &Value,
    hosts: Option<u32>,
    groups: &[(String, HostSet)],
    ranges: &mut Vec<(u32, u32)>,
) -> Result<(), Misread> {
    let (start, end) = match value {
        Value::Integer(host) => (*host, host.saturating_add(1)),
        Value::Text(text) => match range(text) {
            Some(range) => range,
            None => return add_group(text, hosts, groups, ranges),
        },
        _ => return Err(Misread::expected(WANTED)),
    };
    if start >= end {
        return Err(Misread::Says(format!("{start}..{end} is an empty range: its end is not in it")));
    }
    let Some(hosts) = hosts else { return Ok(()) };
    match (u32::try_from(start), u32::try_from(end)) {
        (Ok(start), Ok(end)) if end <= hosts => ranges.push((start, end)),
        _ => {
            let found = if start + 1 == end { start.to_string() } else { format!("{start}..{end}") };
            let last = hosts - 1;
            return Err(Misread::Says(format!("found {found}, but hosts are numbered from 0 to {last}")));
        }
    }
    Ok(())
}

/// Parses `"3"` or `"0..50"`, whose end is not included.
pub(crate) fn range(text: &str) -> Option<(i64, i64)> {
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<i64>().unwrap_or(i64::MAX - 1))
    };
    match text.split_once("..") {
        Some((start, end)) => Some((number(start)?, number(end)?)),
        None => number(text).map(|host| (host, host + 1)),
    }
}

fn add_group(
    name: &str,
    hosts: Option<u32>,
    groups: &[(String, HostSet)],
    ranges: &mut Vec<(u32, u32)>,
) -> Result<(), Misread> {
    if hosts.is_none() {
        return Ok(());
    }
    let Some((_, set)) = groups.iter().find(|(group, _)| group == name) else {
        let nearest = suggest::nearest(name, groups.iter().map(|(group, _)| group.as_str()));
        return Err(Misread::Expected(WANTED.into(), nearest));
    };
    ranges.extend(&set.0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::document::Place;

    fn read(value: Value) -> Result<HostSet, Misread> {
        let groups = vec![("edge".to_string(), HostSet(vec![(8, 10)]))];
        parse(&Node { value, place: Place::File }, Some(10), &groups).map(|(set, _)| set)
    }

    fn text(text: &str) -> Result<HostSet, Misread> {
        read(Value::Text(text.into()))
    }

    #[test]
    fn hosts_ranges_and_groups_merge() {
        assert_eq!(text("0..3"), Ok(HostSet(vec![(0, 3)])));
        assert_eq!(text("3"), Ok(HostSet(vec![(3, 4)])));
        assert_eq!(text("edge"), Ok(HostSet(vec![(8, 10)])));
        let node = |value| Node { value, place: Place::File };
        let list = vec![
            node(Value::Text("2..5".into())),
            node(Value::Integer(1)),
            node(Value::Integer(4)),
            node(Value::Text("edge".into())),
        ];
        let set = read(Value::List(list)).expect("hosts");
        assert_eq!(set, HostSet(vec![(1, 5), (8, 10)]));
        assert_eq!(set.json(), json!(["1..5", "8..10"]));
        assert_eq!(set.without(3), HostSet(vec![(1, 3), (4, 5), (8, 10)]));
    }

    #[test]
    fn what_is_no_host_is_refused() {
        for wrong in ["10", "0..11", "5..5", "9..3", "edgy", "0...5", "-1", "", "1..", "99999999999999999999"]
        {
            assert!(text(wrong).is_err(), "{wrong}");
        }
        assert!(read(Value::Integer(-1)).is_err());
        assert!(read(Value::Integer(i64::MAX)).is_err());
        assert!(read(Value::Bool(true)).is_err());
        assert!(read(Value::List(Vec::new())).is_err());
        assert_eq!(text("edgy"), Err(Misread::Expected(WANTED.into(), Some("edge".into()))));
    }

    #[test]
    fn lists_are_bounded_over_the_whole_file() {
        let directory = Directory::new(1_000_000, Vec::new(), Span::ZERO);
        let all = HostSet::all(1_000_000);
        assert_eq!((0..60).filter(|_| directory.list(&all).is_some()).count(), 50);
    }
}
