//! `[class.NAME]` and the keys that name one.

use clearway_proto::units::{Bytes, Span};

use super::super::load::load_text;
use super::super::memory::estimate_bytes;
use super::fixture::{good, read, said, with, SMALL};
use crate::model::*;
use crate::net::rules::ClassQueue;

/// Three classes, two transports.
const CLASSES: &str = r#"format = 1
name = "classes"
duration = "1ms"
[network]
topology = "star"
hosts = 4
[switch.default]
ecn = "step"
ecn_threshold = "100kB"
[class.bulk]
weight = 3
[class.acks]
priority = 4
ecn = "off"
[class.rest]
ecn = "red"
ecn_min = "10kB"
ecn_max = "20kB"
ecn_pmax = 0.5
[transport.a]
protocol = "swift"
ack_class = "acks"
[transport.b]
protocol = "dctcp"
class = "rest"
[[traffic]]
pattern = "incast"
to = 0
bytes = "1MB"
transport = "a"
[record]
links = "10us"
"#;

#[test]
fn classes_are_read_as_written() {
    let scenario = good(CLASSES);
    let class = |name: &str, priority, weight, ecn| TrafficClass {
        name: name.into(),
        priority,
        weight,
        ecn,
        lossless: false,
    };
    let red =
        Ecn::Red { min: Bytes::new(10_000), max: Bytes::new(20_000), pmax: 0.5, at: MarkPoint::Dequeue };
    let expected =
        [class("bulk", 0, 3, None), class("acks", 4, 1, Some(Ecn::Off)), class("rest", 0, 1, Some(red))];
    assert_eq!(scenario.classes, expected);
    let of = |t: usize| (scenario.transports[t].class, scenario.transports[t].ack_class);
    assert_eq!((of(0), of(1)), ((0, 1), (2, 2)));
    assert_eq!(scenario.record.links, Some(Span::from_us(10)));
}

#[test]
fn without_classes_there_are_none() {
    let scenario = good(SMALL);
    assert_eq!(scenario.classes, []);
    assert_eq!((scenario.transports[0].class, scenario.transports[0].ack_class), (0, 0));
    let resolved = read(SMALL).expect("a good file").resolved;
    assert!(resolved.get("class").is_none() && resolved["transport"]["a"].get("class").is_none());
}

#[test]
fn a_resolved_file_names_every_class() {
    let resolved = read(CLASSES).expect("a good file").resolved;
    assert_eq!(resolved["transport"]["a"]["class"], "bulk");
    assert_eq!(resolved["transport"]["a"]["ack_class"], "acks");
    assert_eq!(resolved["transport"]["b"]["ack_class"], "rest");
    assert_eq!(resolved["class"]["bulk"]["ecn"], "switch");
    assert_eq!(resolved["class"]["bulk"]["priority"], 0);
}

#[test]
fn a_weight_is_a_whole_number_above_zero() {
    for (weight, shown) in [("0", "0"), ("-3", "-3"), ("1001", "1001")] {
        let said = said(&with(CLASSES, "weight = 3", &format!("weight = {weight}")));
        let wanted =
            format!("x.toml:11: class.bulk.weight: found {shown}, expected a whole number from 1 to 1000");
        assert_eq!(said, wanted);
    }
    let said = said(&with(CLASSES, "weight = 3", "weight = 0.5"));
    assert_eq!(said, "x.toml:11: class.bulk.weight: found 0.5, expected a whole number");
}

#[test]
fn a_priority_is_not_negative() {
    let said = said(&with(CLASSES, "priority = 4", "priority = -1"));
    assert_eq!(said, "x.toml:13: class.acks.priority: found -1, expected a whole number from 0 to 255");
}

#[test]
fn an_unknown_class_has_its_nearest_named() {
    let said_of_data = said(&with(CLASSES, "class = \"rest\"", "class = \"ret\""));
    let wanted = "expected one of bulk, acks, rest; did you mean rest?";
    assert!(said_of_data.contains(&format!("transport.b.class: found \"ret\", {wanted}")), "{said_of_data}");
    let said_of_acks = said(&with(CLASSES, "ack_class = \"acks\"", "ack_class = \"ack\""));
    let wanted = "expected one of bulk, acks, rest; did you mean acks?";
    assert!(
        said_of_acks.contains(&format!("transport.a.ack_class: found \"ack\", {wanted}")),
        "{said_of_acks}"
    );
    let none = said(&with(SMALL, "protocol = \"none\"", "protocol = \"none\"\nclass = \"bulk\""));
    let wanted =
        "x.toml:9: transport.a.class: found \"bulk\", expected a class's name, and there is no [class.NAME]";
    assert_eq!(none, wanted);
}

#[test]
fn a_class_that_no_transport_uses_is_refused() {
    let said = said(&with(CLASSES, "class = \"rest\"", "class = \"bulk\""));
    let wanted =
        "x.toml:15: class.rest: no transport uses this class: put class = \"rest\" or ack_class = \"rest\" \
                  under one of [transport.NAME], or leave the class out";
    assert_eq!(said, wanted);
}

#[test]
fn there_are_sixteen_classes_at_most() {
    let classes = |count: usize| {
        let class = |i: usize| format!("[class.c{i}]\n");
        let transport = |i: usize| {
            let class = i.min(count - 1);
            format!("[transport.t{i}]\nprotocol = \"none\"\nclass = \"c{class}\"\n")
        };
        let tables: String = (0..count).map(class).chain((0..17).map(transport)).collect();
        let text = with(SMALL, "[transport.a]\nprotocol = \"none\"\n", &tables);
        text.replace("to = 0", "transport = \"t0\"\nto = 0")
    };
    assert_eq!(good(&classes(16)).classes.len(), 16);
    assert_eq!(said(&classes(17)), "x.toml:7: class: found 17 classes; a port has queues for 16 at most");
    let more = estimate_bytes(&good(&classes(16))) - estimate_bytes(&good(&classes(1)));
    assert!(more >= 8 * 15 * size_of::<ClassQueue>() as u64, "eight ports, fifteen classes: {more}");
}

#[test]
fn a_class_s_threshold_is_below_some_switch_s_buffer() {
    let said = said(&with(CLASSES, "ecn_max = \"20kB\"", "ecn_max = \"20MB\""));
    let wanted = "class.rest.ecn_max: 20MB is not below buffer, 12.7MB: nothing would ever be marked";
    assert!(said.ends_with(wanted), "{said}");
    let said = self::said(&with(CLASSES, "ecn = \"off\"", "ecn_threshold = \"1kB\""));
    let wanted = "class.acks.ecn_threshold: applies only with ecn = \"step\"; here ecn = \"switch\"";
    assert!(said.ends_with(wanted), "{said}");
}

#[test]
fn what_is_wrong_with_classes_is_said_once() {
    let text = with(CLASSES, "weight = 3", "wieght = 3");
    let problems =
        load_text(&text, "x.toml", std::path::Path::new(""), &[], None).expect_err("a slip").problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].nearest.as_deref(), Some("weight"));
}
