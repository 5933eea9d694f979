//! JSON Schema of what the reading functions read.
//!
//! A table whose keys depend on a choice says by a chain of `if`, `then` and `else` which closed object holds for each value of
//! the choice, with its own defaults and required keys: what is wrong is then said of the key, and not that no object of many
//! fits. Beside the chain stand all keys with what they mean, for editors that look at no conditions.
//!
//! Beside the standard words every key carries `x-unit` (time, bytes, rate, frequency, parts, number, integer, fraction, boolean,
//! choice, name, text, hosts, host, node, nodes, times, sizes, file, link, table, tables), quantities carry `x-min` and `x-max`
//! as a file spells them, and `x-default` says in words what holds without the key where that is not one value. A table with
//! `x-optional` may be absent though it has required keys.

use serde_json::{json, Map, Value as Json};

use super::form::{Form, Variant, NAME_PATTERN};
use super::key::object;

/// The schema of a key that is true or false.
pub(crate) fn flag(default: bool) -> Map<String, Json> {
    object(json!({ "type": "boolean", "default": default, "x-unit": "boolean" }))
}

/// The schema of a key with a grammar of its own.
pub(crate) fn form(form: &Form) -> Map<String, Json> {
    let mut schema = object(form.schema.clone());
    if !form.required {
        schema.insert("x-default".into(), form.otherwise.into());
    }
    schema
}

/// The schema of a key that holds one of several names.
pub(crate) fn one_of<T>(default: Option<&str>, options: &[(&'static str, T)]) -> Map<String, Json> {
    let names: Vec<&str> = options.iter().map(|(name, _)| *name).collect();
    let mut schema = object(json!({ "type": "string", "enum": names, "x-unit": "choice" }));
    if let Some(default) = default {
        schema.insert("default".into(), default.into());
    }
    schema
}

/// The schema of a choice in one variant.
pub(crate) fn choice(chosen: &str, default: Option<&str>) -> Map<String, Json> {
    let mut schema = object(json!({ "type": "string", "const": chosen, "x-unit": "choice" }));
    if let Some(default) = default {
        schema.insert("default".into(), default.into());
    }
    schema
}

/// The schema of a table with these variants.
pub(crate) fn table(variants: &[Variant]) -> Map<String, Json> {
    let mut schema = chosen(&variants.iter().collect::<Vec<_>>(), 0);
    schema.insert("x-unit".into(), "table".into());
    schema
}

/// Returns the schema of these variants, which agree in their first `made` choices.
fn chosen(variants: &[&Variant], made: usize) -> Map<String, Json> {
    if let [only] = variants {
        return closed(only);
    }
    let (name, _) = variants[0].choices[made];
    let mut options: Vec<&str> = variants.iter().map(|variant| variant.choices[made].1).collect();
    options.dedup();
    let field = variants[0].fields.iter().find(|field| field.name == name).expect("a choice is a key");
    let mut choice = field.schema.clone();
    choice.shift_remove("const");
    choice.insert("enum".into(), json!(options));
    let chain = options.iter().rev().fold(Map::new(), |otherwise, option| {
        let with: Vec<&Variant> =
            variants.iter().copied().filter(|variant| variant.choices[made] == (name, *option)).collect();
        let mut condition = object(json!({ "properties": { name: { "const": option } } }));
        if choice.get("default") != Some(&(*option).into()) {
            condition.insert("required".into(), json!([name]));
        }
        let mut branch = object(json!({ "if": condition, "then": chosen(&with, made + 1) }));
        if !otherwise.is_empty() {
            branch.insert("else".into(), otherwise.into());
        }
        branch
    });
    let required: &[&str] = if field.required { &[name] } else { &[] };
    let mut properties = hints(variants);
    properties.insert(name.into(), choice.clone().into());
    let mut schema = object(json!({ "type": "object", "properties": properties, "required": required }));
    schema.extend(chain);
    schema
}

/// Returns what the keys of all variants mean, for editors that look at no conditions. It allows everything, so that what is
/// wrong is said once.
fn hints(variants: &[&Variant]) -> Map<String, Json> {
    let mut properties = Map::new();
    for field in variants.iter().flat_map(|variant| &variant.fields) {
        let description = field.schema.get("description").cloned().unwrap_or_default();
        properties.entry(field.name).or_insert_with(|| json!({ "description": description }));
    }
    properties
}

/// The closed objects of which a table's schema chooses one.
pub(crate) fn objects(schema: &Map<String, Json>) -> Vec<&Map<String, Json>> {
    let below = |word: &str| schema.get(word).and_then(Json::as_object).map(objects);
    let Some(then) = below("then") else { return vec![schema] };
    // Where none of the conditions holds, the choice itself is wrong.
    then.into_iter().chain(below("else").into_iter().flatten()).collect()
}

fn closed(variant: &Variant) -> Map<String, Json> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in &variant.fields {
        properties.insert(field.name.into(), field.schema.clone().into());
        // A table that need not be there must be there all the same when one of its own keys must.
        if field.required || needs_content(&field.schema) {
            required.push(field.name);
        }
    }
    let mut schema = object(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }));
    if let Some(others) = &variant.others {
        schema.insert("propertyNames".into(), json!({ "pattern": NAME_PATTERN }));
        schema.insert("additionalProperties".into(), others.clone().into());
    }
    schema
}

fn needs_content(schema: &Map<String, Json>) -> bool {
    let demands = |object: &&Map<String, Json>| {
        object.get("required").and_then(Json::as_array).is_some_and(|keys| !keys.is_empty())
    };
    let other = schema.contains_key("x-inherits") || schema.contains_key("x-optional");
    let single = schema.get("x-unit") == Some(&"table".into()) && !other;
    single && objects(schema).iter().all(demands)
}

/// The schema of a table with these variants that need not be there, whatever it must have where it is.
pub(crate) fn optional_table(variants: &[Variant]) -> Map<String, Json> {
    let mut schema = table(variants);
    schema.insert("x-optional".into(), true.into());
    schema
}

/// The schema of a table that takes what it does not say from its sibling `of`, which has the schema `parent`: any key
/// of any variant, of which only those are required that the parent cannot give.
pub(crate) fn heir(variants: &[Variant], of: &str, parent: &Map<String, Json>) -> Map<String, Json> {
    let mut properties: Map<String, Json> = Map::new();
    let mut required = Vec::new();
    for field in variants.iter().flat_map(|variant| &variant.fields) {
        let mut schema = field.schema.clone();
        if has_key(parent, field.name) {
            schema.shift_remove("default");
            schema.insert("x-default".into(), format!("as in {of}").into());
        } else if field.required && !required.contains(&field.name) {
            required.push(field.name);
        }
        if let Some(chosen) = schema.shift_remove("const") {
            let options = properties.get(field.name).map_or(Json::Null, |known| known["enum"].clone());
            let mut options = options.as_array().cloned().unwrap_or_default();
            if !options.contains(&chosen) {
                options.push(chosen);
            }
            schema.insert("enum".into(), options.into());
        }
        properties.insert(field.name.into(), schema.into());
    }
    object(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
        "x-unit": "table",
        "x-inherits": of,
    }))
}

/// Returns whether a table of this schema has the key in any variant.
fn has_key(schema: &Map<String, Json>, key: &str) -> bool {
    objects(schema).iter().any(|object| object["properties"].get(key).is_some())
}

/// The schema of an array of tables.
pub(crate) fn list(variants: &[Variant]) -> Map<String, Json> {
    object(json!({ "type": "array", "items": table(variants), "x-unit": "tables" }))
}

/// The schema of a table whose keys the file names.
pub(crate) fn named(item: &Map<String, Json>) -> Map<String, Json> {
    object(json!({
        "type": "object",
        "propertyNames": { "pattern": NAME_PATTERN },
        "additionalProperties": item,
        "x-unit": "table",
    }))
}

/// The schema of a file whose root has these variants.
pub(crate) fn document(variants: &[Variant], title: &str) -> Json {
    let mut schema = object(json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
    }));
    schema.extend(table(variants));
    schema.into()
}
