//! The schema against the reader: what one says of a key the other does.

use serde_json::{json, Map, Value as Json};

use super::fixture::{set, toml, Folder, SMALL};
use crate::scenario::error::Problem;
use crate::scenario::schema;
use crate::scenario::schema::objects;
use crate::scenario::transport::READERS;
use crate::simulation::Simulation;

type Table = Map<String, Json>;

/// One form that a table of the file can take: where it stands, and its schema.
struct Form {
    path: &'static [&'static str],
    schema: Json,
}

/// Every table of the schema in every variant.
fn forms() -> Vec<Form> {
    let root = schema();
    let at = |path: &[&str]| path.iter().fold(root.clone(), |schema, key| schema["properties"][*key].clone());
    let mut forms = vec![Form { path: &[], schema: root.clone() }];
    let mut add = |path, schema: Json| {
        forms.extend(variants(&schema).into_iter().map(|schema| Form { path, schema }));
    };
    add(&["network"], at(&["network"]));
    add(&["switch"], at(&["switch"]));
    add(&["switch", "default"], at(&["switch", "default"]));
    add(&["host"], at(&["host"]));
    add(&["host", "default"], at(&["host", "default"]));
    for schema in hosts_of_each_model(&at(&["host"])) {
        add(&["host", "fast"], schema);
    }
    add(&["record"], at(&["record"]));
    add(&["record", "flows"], at(&["record", "flows"]));
    add(&["record", "packets"], at(&["record", "packets"]));
    add(&["transport", "a"], at(&["transport"])["additionalProperties"].clone());
    add(&["traffic"], at(&["traffic"])["items"].clone());
    add(&["job"], at(&["job"])["items"].clone());
    add(&["probe"], at(&["probe"])["items"].clone());
    add(&["arbiter"], at(&["arbiter"]));
    add(&["routing"], at(&["routing"]));
    add(&["fault"], at(&["fault"])["items"].clone());
    forms
}

/// A table in each of its variants.
fn variants(schema: &Json) -> Vec<Json> {
    objects(schema.as_object().expect("a table")).into_iter().map(|object| object.clone().into()).collect()
}

/// The schemas of a table of hosts. It may have the keys of any model, so there is one for each with the keys of that.
fn hosts_of_each_model(host: &Json) -> Vec<Json> {
    let all = &host["additionalProperties"];
    let of_model = |variant: &Json| {
        let mut schema = all.clone();
        let keys = schema["properties"].as_object_mut().expect("properties");
        keys.retain(|key, _| key == "hosts" || variant["properties"].get(key).is_some());
        keys.insert("model".into(), variant["properties"]["model"].clone());
        schema
    };
    variants(&host["properties"]["default"]).iter().map(of_model).collect()
}

/// A file that is right, with this table in it.
fn file(form: &Form, table: Table) -> Json {
    let mut file = json!({
        "format": 1,
        "name": "keys",
        "duration": "10ms",
        "network": { "topology": "star", "hosts": 4 },
        "transport": { "a": { "protocol": "none" } },
        "traffic": [{ "pattern": "incast", "to": 0, "from": 1, "bytes": "1kB" }],
    });
    let is = |key: &str, value: &str| table.get(key).is_some_and(|given| given == value);
    let own_transport = is("protocol", "fastpass");
    if own_transport || form.path == ["arbiter"] || is("kind", "crash") {
        file["arbiter"] = json!({ "at": "h3" });
        file["transport"]["f"] = json!({ "protocol": "fastpass" });
        file["traffic"][0]["transport"] = json!("a");
    }
    if is("kind", "dead") {
        file["routing"] = json!({ "detect": "10us", "converge": "1ms" });
    }
    if is("kind", "bypass") {
        file["network"] = json!({ "topology": "datacenters", "k": 2, "long_km": 1.0, "relays": true });
        file["switch"] = json!({ "default": { "pfc": "static", "pfc_xoff": "20kB" } });
    }
    if own_transport {
        file["transport"] = json!({ "a": file["transport"]["a"] });
    }
    match form.path {
        [] => table.into_iter().for_each(|(key, value)| file[key] = value),
        [list @ ("traffic" | "job" | "probe" | "fault")] => file[*list] = json!([table]),
        [name] => file[*name] = table.into(),
        [outer, inner] => file[*outer] = json!({ *inner: table }),
        _ => panic!("{:?}", form.path),
    }
    file
}

/// The path of a key in messages.
fn path(form: &Form, key: &str) -> String {
    match form.path {
        [] => key.into(),
        [list @ ("traffic" | "job" | "probe" | "fault")] => format!("{list}[0].{key}"),
        path => format!("{}.{key}", path.join(".")),
    }
}

/// A right value of a key.
fn sample(form: &Form, key: &str, schema: &Json) -> Option<Json> {
    if let Some(fixed) = schema.get("const").or(schema.get("default")) {
        return Some(fixed.clone());
    }
    let value = match (form.path, key) {
        // Exactly one of the two is given.
        (["traffic"], "load") if form.schema["properties"].get("rate").is_some() => return None,
        (["traffic"], "rate") => json!("50k/s"),
        (["host", _], "hosts") => json!("1..3"),
        (["record", "packets"], "flows") => json!([0]),
        (["record", _], "links") => json!(["h0-tor0", "tor0>h1"]),
        (["job"], "file") => json!("j.goal"),
        (["job"], "hosts") => json!("0..4"),
        (["job"], "start") => json!("1us"),
        (["job"], "placement") => json!("round_robin"),
        (["job"], "layer") => json!([{ "forward": "10us" }]),
        (["job"], "local_rate") => json!("1Tbps"),
        (["probe"], "from") | (["fault"], "node") => json!("tor0"),
        (["arbiter"], "at") => json!(["h3", "tor0"]),
        (["probe"], "interval") | (["routing"], _) | (_, "every") => json!("10us"),
        (["network"], "file") => json!("net.toml"),
        (["job"], "clients" | "parity") | (["record", "flows"], "first") => json!(1),
        (["job"], "data" | "data_parallel")
        | (_, "left" | "right" | "leaves" | "spines" | "hosts_per_leaf") => json!(2),
        (["network"], "hosts") | (_, "k" | "window" | "ranks" | "group_size") => json!(4),
        (_, "long_km") => json!(80.0),
        (_, "bottleneck" | "rate" | "ai_rate" | "hai_rate" | "min_rate") => json!("10Gbps"),
        (_, "cnp_interval" | "alpha_timer" | "decrease_interval" | "increase_timer") => json!("50us"),
        (["job"], "servers" | "requests") | (_, "fast_recovery") => json!(3),
        (_, "byte_counter") => json!("1MB"),
        (_, "bottleneck_delay") => json!("2us"),
        (_, "ecn_threshold" | "ecn_max") => json!("100kB"),
        (_, "ecn_min" | "bytes" | "pfc_xoff") => json!("10kB"),
        (_, "ecn_pmax" | "load" | "probability" | "gain" | "initial_alpha") => json!(0.5),
        (_, "header" | "ack") => json!("40B"),
        (_, "to") | (["fault"], "arbiter") => json!(0),
        (_, "from") => json!("1..2"),
        (["traffic"], "hosts") => json!([0, "1..3"]),
        (_, "transport") if !form.path.is_empty() => json!("a"),
        (_, "start") => json!("1us..2us"),
        (
            _,
            "stop" | "until" | "deadline" | "queues" | "windows" | "rtt" | "throughput" | "classes"
            | "replay" | "replay_until",
        ) => json!("1ms"),
        (_, "replay_from") => json!("1us"),
        (_, "sizes") => json!("google_rpc"),
        (_, "file") => json!("t.csv"),
        (_, "link") => json!("h0-tor0"),
        (["fault"], "bit_error_rate") => json!(1e-9),
        (["fault"], "relay") => json!("relay0"),
        (_, "name") => json!("keys"),
        (_, "duration") => json!("10ms"),
        (_, "groups") => json!({ "some": [0, "2..4"] }),
        _ => return None,
    };
    Some(value)
}

/// The form with all its keys, save tables, which are forms of their own.
fn whole(form: &Form) -> Table {
    let keys = form.schema["properties"].as_object().expect("properties").iter();
    let table: Table =
        keys.filter_map(|(key, schema)| Some((key.clone(), sample(form, key, schema)?))).collect();
    for required in form.schema["required"].as_array().expect("required") {
        let key = required.as_str().expect("a name");
        let elsewhere = form.path.is_empty() && ["network", "transport", "traffic"].contains(&key);
        assert!(table.contains_key(key) || elsewhere, "no sample of {}", path(form, key));
    }
    table
}

/// Keys that hold one value.
fn values(form: &Form) -> impl Iterator<Item = (&String, &Json)> {
    let keys = form.schema["properties"].as_object().expect("properties").iter();
    keys.filter(|(_, schema)| !["table", "tables"].contains(&schema["x-unit"].as_str().expect("x-unit")))
}

fn folder(test: &str) -> Folder {
    let net = "node = [{ name = \"a\", role = \"host\" }, { name = \"b\", role = \"host\" }, { name = \"s\", role = \"tor\" }]
        link = [{ ends = [\"a\", \"s\"] }, { ends = [\"b\", \"s\"] }]";
    let job = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n";
    Folder::new(test, &[("net.toml", net), ("t.csv", "start,from,to,bytes\n1us,0,1,1kB\n"), ("j.goal", job)])
}

fn problems(folder: &Folder, file: &Json) -> Vec<Problem> {
    folder.read(&toml(file)).map_or_else(|error| error.problems, |_| Vec::new())
}

/// Asserts that the form with `key` holding `wrong` is refused on account of that key.
fn refused(folder: &Folder, form: &Form, key: &str, wrong: &Json) {
    let mut table = whole(form);
    table.insert(key.into(), wrong.clone());
    let problems = problems(folder, &file(form, table));
    let path = path(form, key);
    assert!(problems.iter().any(|problem| problem.key == path), "{path} = {wrong}: {problems:?}");
}

#[test]
fn every_key_of_every_form_is_accepted() {
    let folder = folder("accepted");
    let forms = forms();
    let transports = READERS.len();
    // 6 networks, 18 switches, 3 models of hosts by default and in a table, 7 patterns of which 2 have 2 operations each, 7
    // faults, 7 collectives, 5 models that are trained, 2 redundancies, jobs from files, and 9 tables without a choice.
    assert_eq!(forms.len(), 6 + 18 + 2 * 3 + transports + 7 + 2 + 7 + 15 + 9);
    for form in &forms {
        let file = file(form, whole(form));
        let loaded = folder.read(&toml(&file)).unwrap_or_else(|error| panic!("{error}\n{file}"));
        // What is read can be built.
        Simulation::new(&loaded.scenario, 1);
    }
}

#[test]
fn required_keys_are_required_and_no_others() {
    let folder = folder("required");
    for form in forms() {
        let required = form.schema["required"].as_array().expect("required");
        for (key, _) in values(&form) {
            let mut table = whole(&form);
            table.remove(key);
            // What another key of the form refers to is no less optional; of rate and load one is required.
            if ["sharing", "overflow", "ecn", "pfc", "model", "operation", "redundancy"]
                .contains(&key.as_str())
                || (key == "rate" && form.path == ["traffic"])
                || (key == "kind" && form.path == ["job"])
            {
                continue;
            }
            let mut file = file(&form, table);
            if form.path.is_empty() {
                file.as_object_mut().expect("a table").remove(key);
            }
            let missing = problems(&folder, &file).iter().any(|problem| problem.key == path(&form, key));
            assert_eq!(missing, required.contains(&key.as_str().into()), "{}", path(&form, key));
        }
    }
}

#[test]
fn every_misspelled_key_finds_the_right_one() {
    let folder = folder("misspelled");
    for form in forms() {
        for (key, schema) in form.schema["properties"].as_object().expect("properties") {
            let middle = key.len() / 2;
            let wrong = format!("{}{}{}", &key[..middle], &key[middle..=middle], &key[middle..]);
            let mut table = whole(&form);
            let value = table.remove(key).unwrap_or_else(|| json!({}));
            table.insert(wrong.clone(), value);
            let mut file = file(&form, table);
            if form.path.is_empty() {
                file.as_object_mut().expect("a table").remove(key);
            }
            let path = path(&form, &wrong);
            let problems = problems(&folder, &file);
            // Without its choice a form is another, or none: what then is said of other keys does not matter.
            if schema["x-unit"] == "choice"
                && schema.get("const").is_some()
                && schema.get("default").is_none()
            {
                assert!(!problems.is_empty(), "{path}");
                continue;
            }
            let problem = problems.iter().find(|problem| problem.key == path);
            let problem = problem.unwrap_or_else(|| panic!("{path}: {problems:?}"));
            assert_eq!(problem.nearest.as_ref(), Some(key), "{path}: {problem}");
        }
    }
}

#[test]
fn every_key_refuses_another_type() {
    let folder = folder("type");
    for form in forms() {
        for (key, schema) in values(&form) {
            let wrong = if schema["type"] == "boolean" { json!("yes") } else { json!(true) };
            refused(&folder, &form, key, &wrong);
            refused(&folder, &form, key, &json!([[]]));
        }
    }
}

#[test]
fn every_key_refuses_another_unit_and_none() {
    let folder = folder("unit");
    for form in forms() {
        for (key, schema) in values(&form) {
            let wrong: &[Json] = match schema["x-unit"].as_str().expect("x-unit") {
                "time" => &[json!("5B"), json!("5"), json!(5), json!("5 us"), json!("-5us")],
                "bytes" => &[json!("5us"), json!("500"), json!(500), json!("5KB")],
                "rate" => &[json!("5GB"), json!("5"), json!(5), json!("5gbps")],
                "frequency" => &[json!("5Gbps"), json!("5"), json!(5), json!("5K/s")],
                "times" => &[json!("5B"), json!("1us-2us"), json!(5)],
                "number" | "fraction" | "integer" => &[json!("0.5"), json!("5us")],
                "choice" => &[json!("nothing of the kind")],
                "parts" => &[json!("5us"), json!("5"), json!(5), json!("5PPM"), json!("0.5ppb")],
                "hosts" | "host" | "servers" => &[json!("nobody"), json!("3..1"), json!(1.5), json!(99)],
                "node" => &[json!("nobody"), json!("0..2"), json!(1.5), json!(99), json!(-1)],
                "nodes" => &[json!("nobody"), json!([]), json!(["h0", "h0"]), json!([1.5]), json!(99)],
                "placement" => {
                    &[json!("nothing"), json!([]), json!([99]), json!(["3..1"]), json!([1.5]), json!(1)]
                }
                "sizes" => &[json!("nothing"), json!("fixed:5us")],
                "file" => &[json!("nowhere.toml"), json!("")],
                "link" => &[json!("h0"), json!("h0-h9")],
                "links" => &[json!("h0"), json!([]), json!(["h0-tor0", "h0-h9"]), json!([1])],
                "flows" => &[json!("nobody"), json!("3..1"), json!([]), json!([1.5]), json!(-1)],
                "name" => &[json!("nobody")],
                "text" => &[json!(""), json!("two\nlines")],
                "boolean" | "table" => &[],
                other => panic!("{key}: {other}"),
            };
            for wrong in wrong {
                refused(&folder, &form, key, wrong);
            }
        }
    }
}

/// Values outside a range, near and far.
fn beyond(min: &Json, max: &Json) -> Vec<Json> {
    if let (Some(min), Some(max)) = (min.as_str(), max.as_str()) {
        let mut wrong = vec![json!(format!("9{max}")), json!(format!("99999999999999999{max}"))];
        if !min.starts_with('0') {
            wrong.push(json!(format!("0{}", min.trim_start_matches(|c: char| c.is_ascii_digit()))));
        }
        return wrong;
    }
    let shifted = |limit: &Json, by: i64| match limit.as_i64() {
        Some(limit) => json!(limit + by),
        None => json!(limit.as_f64().expect("a number") + by as f64),
    };
    vec![shifted(max, 1), shifted(min, -1), json!(i64::MIN)]
}

#[test]
fn every_quantity_keeps_to_its_range() {
    let folder = folder("range");
    let mut ranges = 0;
    for form in forms() {
        for (key, schema) in values(&form) {
            let Some((min, max)) = schema.get("x-min").zip(schema.get("x-max")) else { continue };
            ranges += 1;
            for wrong in beyond(min, max) {
                refused(&folder, &form, key, &wrong);
            }
        }
    }
    assert!(ranges > 80, "{ranges}");
}

#[test]
fn roles_have_the_keys_of_the_default() {
    let schema = schema();
    let switch = &schema["properties"]["switch"]["properties"];
    let variants = variants(&switch["default"]);
    let mut default: Vec<&String> = Vec::new();
    for variant in &variants {
        default.extend(variant["properties"].as_object().expect("properties").keys());
    }
    default.sort_unstable();
    default.dedup();
    for role in ["tor", "aggregation", "spine", "nic"] {
        let mut keys: Vec<&String> =
            switch[role]["properties"].as_object().expect("properties").keys().collect();
        keys.sort_unstable();
        assert_eq!(keys, default);
        assert_eq!(switch[role]["properties"]["ecn"]["enum"], json!(["off", "step", "red"]));
        assert_eq!(switch[role]["x-inherits"], "default");
    }
}

#[test]
fn tables_of_hosts_have_the_keys_of_the_default_and_their_hosts() {
    let host = &schema()["properties"]["host"];
    let listed = &host["additionalProperties"];
    let mut keys: Vec<&String> = listed["properties"].as_object().expect("properties").keys().collect();
    assert_eq!(keys.remove(0), "hosts");
    let models = variants(&host["properties"]["default"]);
    let of_models =
        models.iter().flat_map(|model| model["properties"].as_object().expect("properties").keys());
    let mut default: Vec<&String> = of_models.collect();
    keys.sort_unstable();
    default.sort_unstable();
    default.dedup();
    assert_eq!(keys, default);
    assert_eq!(listed["required"], json!(["hosts"]));
    assert_eq!(listed["properties"]["model"]["enum"], json!(["ideal", "snap", "interrupts"]));
    assert_eq!(listed["properties"]["jitter"]["x-default"], "as in default");
    assert_eq!(listed["x-inherits"], "default");
    assert_eq!(host["propertyNames"]["pattern"], "^[A-Za-z_][A-Za-z0-9_-]*$");
    assert_eq!(host["required"], json!([]));
}

#[test]
fn defaults_stand_in_the_schema() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["required"], json!(["format", "name", "duration", "network", "transport"]));
    let star = &variants(&schema["properties"]["network"])[0];
    assert_eq!(star["properties"]["delay"]["default"], "1us");
    assert_eq!(star["properties"]["topology"]["const"], "star");
    assert_eq!(star["required"], json!(["topology", "hosts"]));
    assert_eq!(star["additionalProperties"], false);
    let swift = &variants(&schema["properties"]["transport"]["additionalProperties"])[0];
    assert_eq!(swift["properties"]["fs_min_cwnd"]["default"], 0.015);
    assert_eq!(swift["properties"]["ack"]["x-default"], "header");
}

/// Returns what a line of the file says: what is set, each with its value, and what is said of it.
fn bad_swift_values() -> impl Iterator<Item = (Vec<(&'static str, &'static str)>, &'static str)> {
    let lines = include_str!("../../../../proto/tests/bad_swift_values.txt").lines();
    lines.filter(|line| !line.starts_with('#')).map(|line| {
        let (sets, said) = line.split_once(" | ").expect("a value and what is said");
        (sets.split(' ').map(|set| set.split_once('=').expect("a key and its value")).collect(), said)
    })
}

/// As the daemon does, from the same file.
#[test]
fn bad_values_of_swift_are_said_with_what_they_can_be() {
    for (values, words) in bad_swift_values() {
        let mut sets = vec![("transport.a.protocol".to_string(), "swift")];
        let written = |value| if value == "off" { "false" } else { value };
        sets.extend(values.iter().map(|(key, value)| (format!("transport.a.{key}"), written(*value))));
        let sets: Vec<_> = sets.iter().map(|(path, value)| (path.as_str(), *value)).collect();
        let error = set(SMALL, &sets).expect_err(words).to_string();
        let named = values.iter().any(|(key, _)| error.contains(&format!("transport.a.{key}: ")));
        assert!(named && error.contains(words), "{values:?}: {error}");
    }
    // None is forgotten.
    let form = forms().into_iter().find(|form| form.schema["properties"]["protocol"]["const"] == "swift");
    let form = form.expect("a form of swift");
    let properties = form.schema["properties"].as_object().expect("keys");
    let ranged = properties
        .iter()
        .filter(|(key, of)| of.get("x-min").is_some() && !["header", "ack", "paths"].contains(&key.as_str()));
    for (key, _) in ranged {
        assert!(bad_swift_values().any(|(values, _)| values[0].0 == key), "no bad value of {key}");
    }
}
