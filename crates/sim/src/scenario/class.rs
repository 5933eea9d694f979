//! `[class.NAME]`: the queues that every port has, and the keys of a transport that name them.

use serde_json::json;

use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::key::Key;
use super::reader::Section;
use super::shape::MAX_BYTES;
use super::suggest;
use super::switch::{check_thresholds, longest_queue, read_marking, Marking, MARKINGS};
use crate::model::{Ecn, SwitchKinds, SwitchRole, TrafficClass};

/// The largest weight: the smallest share of a class is one part in this and one.
const MAX_WEIGHT: u32 = 1000;

/// Reads one table; its name is for the caller to fill in.
pub(crate) fn read(r: &mut Section, switches: Option<&SwitchKinds>) -> TrafficClass {
    let doc = "0 is served first: a class waits while one of a smaller number has a frame.";
    let priority = Key::new("priority", doc, 0..=255);
    let doc = "Share in what classes of the same priority are left, in proportion to their weights.";
    let weight = Key::new("weight", doc, 1..=MAX_WEIGHT);
    let (priority, weight) = (r.get(&priority.or(0)), r.get(&weight.or(1)));
    let ecn = read_ecn(r, switches);
    let doc = "Whether switches with pfc pause what sends to them rather than drop frames of this class.";
    let lossless = r.flag("lossless", doc, false);
    TrafficClass { name: String::new(), priority, weight, ecn, lossless }
}

fn read_ecn(r: &mut Section, switches: Option<&SwitchKinds>) -> Option<Ecn> {
    let as_switch = [("switch", None)].into_iter();
    let options: Vec<(&str, Option<Marking>)> =
        as_switch.chain(MARKINGS.iter().map(|&(name, marking)| (name, Some(marking)))).collect();
    let doc =
        "When the class's own queue marks congestion: as the switch's ecn says, or as in the switch's table.";
    let marking = r.choice("ecn", doc, Some("switch"), &options)?;
    let ecn = read_marking(r, marking);
    let longest = |of: &SwitchKinds| SwitchRole::ALL.map(|role| longest_queue(of.of(role))).into_iter().max();
    check_thresholds(r, &ecn, switches.and_then(longest).unwrap_or(MAX_BYTES));
    Some(ecn)
}

/// Reads the class of a transport's data and that of its acknowledgements. Where the classes themselves are wrong there
/// are none, and no further problem is noted.
pub(crate) fn read_names(r: &mut Section, classes: Option<&[TrafficClass]>) -> (usize, usize) {
    let class = read_name_or_first(r, "class", "NAME of the [class.NAME] of its data.", classes);
    let doc = "NAME of the [class.NAME] of its acknowledgements.";
    let ack_class = read_name(r, "ack_class", doc, "class", classes);
    let ack_class = ack_class.unwrap_or_else(|| {
        settle(r, "ack_class", classes.and_then(|all| all.get(class)));
        class
    });
    (class, ack_class)
}

/// Reads a class's name; without the key, it is the first class.
pub(crate) fn read_name_or_first(
    r: &mut Section,
    name: &'static str,
    doc: &'static str,
    classes: Option<&[TrafficClass]>,
) -> usize {
    let class = read_name(r, name, doc, "the first class", classes);
    class.unwrap_or_else(|| {
        settle(r, name, classes.and_then(|all| all.first()));
        0
    })
}

fn settle(r: &mut Section, key: &str, class: Option<&TrafficClass>) {
    if let Some(class) = class {
        r.settle(key, class.name.clone().into());
    }
}

/// Reads a class's name; `None` without the key.
pub(crate) fn read_name(
    r: &mut Section,
    name: &'static str,
    doc: &'static str,
    otherwise: &'static str,
    classes: Option<&[TrafficClass]>,
) -> Option<usize> {
    let schema = json!({ "type": "string", "minLength": 1, "x-unit": "name" });
    let form = Form { name, doc, required: false, otherwise, schema };
    let names = || classes.unwrap_or_default().iter().map(|class| class.name.as_str());
    r.parsed(&form, |node: &Node| {
        let Value::Text(name) = &node.value else { return Err(Misread::expected("a class's name")) };
        let index = names().position(|other| other == name);
        match (index.or(classes.is_none().then_some(0)), classes) {
            (Some(index), _) => Ok((index, name.clone().into())),
            (None, Some([])) => Err(Misread::expected("a class's name, and there is no [class.NAME]")),
            (None, _) => {
                let known = format!("one of {}", names().collect::<Vec<_>>().join(", "));
                Err(Misread::Expected(known, suggest::nearest(name, names())))
            }
        }
    })
}
