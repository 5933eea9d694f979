//! Flows by number, as keys of `[record]` have them: one, a half-open range, or a list of these.

use std::ops::Range;

use serde_json::{json, Value as Json};

use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::hosts::range;
use super::reader::Section;

const WANTED: &str = "flows by number, such as 3, \"0..10\" or [0, 4, \"8..12\"]";

/// Reads the key `flows`: ranges of numbers in rising order, of which none touches another. `check` says what is wrong with them.
/// There may be no such flows: that is not known yet.
pub(super) fn read(
    r: &mut Section,
    doc: &'static str,
    otherwise: &'static str,
    check: impl Fn(&[Range<u32>]) -> Result<(), Misread>,
) -> Option<Vec<Range<u32>>> {
    let one = json!([{ "type": "integer", "minimum": 0 }, { "type": "string", "minLength": 1 }]);
    let list = json!({ "type": "array", "minItems": 1, "items": { "anyOf": one } });
    let schema = json!({ "anyOf": [one[0], one[1], list], "x-unit": "flows" });
    let form = Form { name: "flows", doc, required: false, otherwise, schema };
    r.parsed(&form, |node| {
        let ranges = parse(node)?;
        check(&ranges)?;
        let spelt = spelt(&ranges);
        Ok((ranges, spelt))
    })
}

fn parse(node: &Node) -> Result<Vec<Range<u32>>, Misread> {
    let mut ranges = Vec::new();
    for item in node.values() {
        let (from, until) = match &item.value {
            Value::Integer(flow) => (*flow, flow.saturating_add(1)),
            Value::Text(text) => range(text).ok_or_else(|| Misread::expected(WANTED))?,
            _ => return Err(Misread::expected(WANTED)),
        };
        if from >= until {
            return Err(Misread::Says(format!("{from}..{until} is an empty range: its end is not in it")));
        }
        match (u32::try_from(from), u32::try_from(until)) {
            (Ok(from), Ok(until)) => ranges.push(from..until),
            _ => return Err(Misread::expected(WANTED)),
        }
    }
    if ranges.is_empty() {
        return Err(Misread::expected(WANTED));
    }
    Ok(joined(ranges))
}

/// Returns ranges in rising order, as one where they touch.
fn joined(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match joined.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    joined
}

/// Returns ranges as a file would have them.
fn spelt(ranges: &[Range<u32>]) -> Json {
    let each = |range: &Range<u32>| match range {
        range if range.len() == 1 => json!(range.start),
        range => json!(format!("{}..{}", range.start, range.end)),
    };
    match ranges {
        [only] => each(only),
        several => several.iter().map(each).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::document::Place;

    fn node(value: Value) -> Node {
        Node { value, place: Place::File }
    }

    fn flows(value: Value) -> Result<Vec<(u32, u32)>, Misread> {
        Ok(parse(&node(value))?.into_iter().map(|range| (range.start, range.end)).collect())
    }

    #[test]
    fn flows_are_a_number_a_range_or_a_list_of_these() {
        assert_eq!(flows(Value::Integer(7)), Ok(vec![(7, 8)]));
        assert_eq!(flows(Value::Text("0..50".into())), Ok(vec![(0, 50)]));
        let list = vec![node(Value::Integer(1)), node(Value::Text("5..9".into()))];
        assert_eq!(flows(Value::List(list)), Ok(vec![(1, 2), (5, 9)]));
    }

    #[test]
    fn ranges_that_touch_are_one() {
        let texts = ["8..10", "3..5", "0..2", "4..9", "2", "5..7"].map(|text| node(Value::Text(text.into())));
        assert_eq!(flows(Value::List(texts.into())), Ok(vec![(0, 10)]));
    }

    #[test]
    fn what_names_no_flow_is_refused() {
        for wrong in ["", "..", "1..", "-1", "3..3", "5..2", "0..99999999999", "99999999999999999999", "all"]
        {
            assert!(flows(Value::Text(wrong.into())).is_err(), "{wrong}");
        }
        for wrong in
            [Value::Integer(-1), Value::Integer(i64::MAX), Value::Bool(true), Value::List(Vec::new())]
        {
            assert!(flows(wrong).is_err());
        }
    }
}
