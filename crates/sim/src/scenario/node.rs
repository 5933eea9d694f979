//! Keys that hold nodes: a host's number, or the name of a host or switch.

use clearway_proto::units::Span;
use serde_json::{json, Value as Json};

use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::names::Names;
use super::reader::Section;
use crate::model::{Network, TrafficClass, Transport};

/// What tables refer to that speak of nodes by name. Parts that are wrong in the file are missing here; what depends on
/// them is then not checked.
pub(crate) struct Scene<'a> {
    /// The nodes.
    pub(crate) names: Option<&'a Names<'a>>,
    /// Nodes and links.
    pub(crate) network: Option<&'a Network>,
    /// The traffic classes, in the file's order.
    pub(crate) classes: Option<&'a [TrafficClass]>,
    /// The transports, in the file's order.
    pub(crate) transports: Option<&'a [Transport]>,
    /// When the run ends.
    pub(crate) duration: Span,
}

const WANTED: &str = "a host's number or a node's name, such as 3, \"h3\" or \"tor0\"";
const WANTED_SEVERAL: &str = "a node or a list of nodes, such as \"h3\" or [\"h3\", \"tor0\"]";

/// Reads a node; without names, where the network is not known, only its form is checked.
pub(crate) fn read(
    r: &mut Section,
    name: &'static str,
    doc: &'static str,
    names: Option<&Names>,
) -> Option<u32> {
    let schema = json!({ "anyOf": one(), "x-unit": "node" });
    let form = Form { name, doc, required: true, otherwise: WANTED, schema };
    r.parsed(&form, |node| parse(node, names))
}

/// Reads one node or a list of different ones.
pub(crate) fn read_several(
    r: &mut Section,
    name: &'static str,
    doc: &'static str,
    names: Option<&Names>,
) -> Option<Vec<u32>> {
    let list = json!({ "type": "array", "items": { "anyOf": one() }, "minItems": 1 });
    let either: Vec<Json> = one().into_iter().chain([list]).collect();
    let schema = json!({ "anyOf": either, "x-unit": "nodes" });
    let form = Form { name, doc, required: true, otherwise: WANTED_SEVERAL, schema };
    r.parsed(&form, |node| {
        let Value::List(items) = &node.value else {
            let (number, shown) = parse(node, names)?;
            return Ok((vec![number], json!([shown])));
        };
        let (mut numbers, mut shown) = (Vec::new(), Vec::new());
        for item in items {
            let (number, text) = parse(item, names)?;
            if names.is_some() && numbers.contains(&number) {
                return Err(Misread::Says(format!("{text} is listed twice")));
            }
            numbers.push(number);
            shown.push(text);
        }
        if numbers.is_empty() {
            return Err(Misread::expected(WANTED_SEVERAL));
        }
        Ok((numbers, shown.into()))
    })
}

/// The forms of one node, for the schema.
fn one() -> [Json; 2] {
    [json!({ "type": "integer", "minimum": 0 }), json!({ "type": "string", "minLength": 1 })]
}

fn parse(node: &Node, names: Option<&Names>) -> Result<(u32, Json), Misread> {
    match (&node.value, names) {
        (Value::Integer(host), None) => Ok((0, (*host).into())),
        (Value::Text(name), None) => Ok((0, name.clone().into())),
        (Value::Integer(host), Some(names)) => {
            let number = u32::try_from(*host).ok().filter(|host| *host < names.hosts());
            let last = names.hosts() - 1;
            let refused = || Misread::Says(format!("found {host}, but hosts are numbered from 0 to {last}"));
            number.map(|host| (host, host.into())).ok_or_else(refused)
        }
        (Value::Text(name), Some(names)) => {
            names.number(name).map(|number| (number, name.clone().into())).ok_or_else(|| {
                let expected = format!("{WANTED}; the nearest names are {}", names.nearest_listed(name));
                Misread::Expected(expected, names.nearest(name))
            })
        }
        _ => Err(Misread::expected(WANTED)),
    }
}
