//! `[record.flows]`: flows that there are, and a choice that is clear.

use super::fixture::{good, read, said, with, SMALL};
use crate::model::{FlowSeries, Rule};

/// The small scenario, whose three flows are of transport `a`, with this choice of flows.
fn choosing(choice: &str) -> String {
    format!("{SMALL}[record.flows]\nevery = \"10us\"\n{choice}\n")
}

fn series(text: &str) -> FlowSeries {
    good(text).record.flows.expect("series")
}

#[test]
fn flows_are_chosen_by_number_by_what_carries_them_or_by_a_rule() {
    let rule = |choice: &str| series(&choosing(choice)).rule;
    assert_eq!(rule("flows = 2"), Rule::Numbers(vec![2]));
    assert_eq!(rule("flows = \"0..2\""), Rule::Numbers(vec![0, 1]));
    assert_eq!(rule("flows = [2, \"0..2\", 1]"), Rule::Numbers(vec![0, 1, 2]));
    assert_eq!(rule("first = 5"), Rule::First(5));
    assert_eq!(rule("largest = 10000"), Rule::Largest(10_000));
    assert_eq!(rule("slowest = 1\ntransport = \"a\""), Rule::Slowest(1));
    assert_eq!(rule("transport = \"a\""), Rule::All);
    let classes = format!("{}[class.one]\n", choosing("class = \"one\""));
    assert_eq!(series(&classes).class, Some(0));
    let inline = format!("{SMALL}[record]\nflows = {{ every = \"10us\", first = 1 }}\n");
    assert_eq!(series(&inline).rule, Rule::First(1));
    assert_eq!(good(SMALL).record.flows, None);
}

#[test]
fn resolved_numbers_are_ranges() {
    let resolved = read(&choosing("flows = [2, 0, \"0..1\"]")).expect("a scenario").resolved;
    assert_eq!(resolved["record"]["flows"]["flows"], serde_json::json!([0, 2]));
    let resolved = read(&choosing("flows = [1, 0, 2]")).expect("a scenario").resolved;
    assert_eq!(resolved["record"]["flows"]["flows"], serde_json::json!("0..3"));
}

#[test]
fn what_is_no_choice_is_refused_with_what_to_do() {
    let refused = |choice: &str, expected: &str| {
        let said = said(&choosing(choice));
        assert!(said.contains(expected), "{choice}: {said}");
    };
    refused("", "x.toml:13: record.flows.flows: missing, expected which flows: flows = \"0..10\", first");
    refused(
        "flows = 1\nslowest = 2",
        "x.toml:16: record.flows.slowest: flows says which flows, too: give one",
    );
    refused("flows = 1\ntransport = \"a\"", "x.toml:16: record.flows.transport: flows says which by number");
    refused(
        "flows = [0, 3]",
        "x.toml:15: record.flows.flows: found 3, but the 3 flows of this scenario and seed",
    );
    refused("flows = \"0..10001\"", "names 10001 flows; the most that are recorded is 10000: name fewer");
    refused("flows = \"2..2\"", "2..2 is an empty range");
    refused("flows = \"all\"", "expected flows by number, such as 3, \"0..10\"");
    refused("first = 0", "record.flows.first: found 0, expected a whole number from 1 to 10000");
    refused("transport = \"b\"", "record.flows.transport: found \"b\", expected one of a");
    refused(
        "class = \"b\"",
        "record.flows.class: found \"b\", expected a class's name, and there is no [class.NAME]",
    );
}

#[test]
fn flows_that_there_are_not_are_refused() {
    let idle = with(
        &choosing("transport = \"b\""),
        "[transport.a]",
        "[transport.b]\nprotocol = \"none\"\n[transport.a]",
    );
    let idle = with(&idle, "bytes = \"1MB\"", "bytes = \"1MB\"\ntransport = \"a\"");
    let found = said(&idle);
    assert!(
        found.contains("record.flows.transport: no flow of this scenario is of transport b: take another"),
        "{found}"
    );
    for rule in ["slowest", "largest"] {
        let endless = with(&choosing(&format!("{rule} = 1")), "bytes = \"1MB\"\n", "");
        let found = said(&endless);
        let expected = format!("record.flows.{rule}: no flow has a size, so none ends");
        assert!(
            found.contains(&expected) && found.contains("give [[traffic]] bytes, or take flows"),
            "{found}"
        );
    }
    let many = with(&choosing("transport = \"a\""), "to = 0", "to = 0\nflows_per_pair = 5000");
    let found = said(&many);
    let expected =
        "15000 flows are of transport a; the most that are recorded is 10000: choose some with first";
    assert!(found.contains(expected), "{found}");
    good(&with(&choosing("first = 10000"), "to = 0", "to = 0\nflows_per_pair = 5000"));
}
