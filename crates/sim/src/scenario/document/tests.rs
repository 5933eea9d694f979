use super::*;

const TEXT: &str =
    "name = \"x\"\n\n[network]\nrate = \"50Gbps\"\n[[traffic]]\nbytes = \"1B\"\n\n[[traffic]]\n  bytes = 2\n";

fn shown(table: &Table, path: &[&str]) -> String {
    let mut table = table;
    for step in &path[..path.len() - 1] {
        table = match &table.get(step).expect("a key").node.value {
            Value::Table(inner) => inner,
            other => panic!("{step}: {other:?}"),
        };
    }
    table.get(path[path.len() - 1]).expect("a key").node.value.shown()
}

#[test]
fn every_key_knows_its_line() {
    let table = parse(TEXT, "x.toml").expect("TOML");
    assert_eq!(table.locate("network.rate"), Place::At(4, 1));
    assert_eq!(table.locate("traffic[1].bytes"), Place::At(9, 3));
    assert_eq!(table.locate("traffic[1].nothing"), Place::At(8, 1));
    assert_eq!(table.locate("nothing"), Place::File);
}

#[test]
fn what_is_not_toml_has_a_line() {
    let problem = parse("name = \"x\"\nrate = = 3\n", "x.toml").expect_err("not TOML");
    assert_eq!(problem.line, Some(2));
    assert!(problem.to_string().starts_with("x.toml:2: not TOML: "), "{problem}");
    for twice in ["network = 1\nnetwork = 2", "[network]\n[network]"] {
        let problem = parse(twice, "x.toml").expect_err("not TOML");
        assert_eq!(problem.to_string(), "x.toml:2: not TOML: duplicate key network");
    }
}

#[test]
fn overrides_replace_create_and_index() {
    let mut table = parse(TEXT, "x.toml").expect("TOML");
    apply(&mut table, 0, "network.rate", "30Gbps").expect("set");
    apply(&mut table, 1, "traffic.1.bytes", "7").expect("set");
    apply(&mut table, 2, "transport.bulk.beta", "0.5").expect("set");
    assert_eq!(shown(&table, &["network", "rate"]), "\"30Gbps\"");
    assert_eq!(shown(&table, &["transport", "bulk", "beta"]), "0.5");
    assert_eq!(table.locate("network.rate"), Place::Set(0));
    assert_eq!(table.locate("traffic[1].bytes"), Place::Set(1));
}

#[test]
fn overrides_remove_keys_tables_and_entries() {
    let mut table = parse(TEXT, "x.toml").expect("TOML");
    let error = remove(&mut table, "network.rat").expect_err("there is none");
    assert_eq!(error, "network has no rat to remove; the nearest keys there are rate");
    let error = remove(&mut table, "netwrk").expect_err("there is none");
    assert_eq!(
        error,
        "the scenario has no netwrk to remove; the nearest keys there are network, name, traffic"
    );
    let error = remove(&mut table, "traffic.2").expect_err("two entries");
    assert_eq!(error, "traffic has 2 entries, numbered from 0; there is no 2");
    remove(&mut table, "network.rate").expect("a key");
    assert!(table.has("network") && !table.has("network.rate"));
    remove(&mut table, "traffic[0]").expect("an entry");
    assert_eq!(table.locate("traffic[0].bytes"), Place::At(9, 3));
    remove(&mut table, "traffic.0.bytes").expect("a key of an entry");
    assert!(!table.has("traffic.0.bytes"));
    remove(&mut table, "network").expect("a table");
    assert!(!table.has("network"));
}

#[test]
fn override_values_are_toml_or_text() {
    let value = |text| free_value(text, 0).shown();
    assert_eq!(value("5"), "5");
    assert_eq!(value("true"), "true");
    assert_eq!(value("\"5\""), "\"5\"");
    assert_eq!(value("30us"), "\"30us\"");
    assert_eq!(value("0..50"), "\"0..50\"");
    assert_eq!(value("[1, 2]"), "a list");
    assert_eq!(value("1\nother = 2"), "\"1\nother = 2\"");
    assert_eq!(value(""), "\"\"");
}

#[test]
fn overrides_that_lead_nowhere_say_so() {
    let mut table = parse(TEXT, "x.toml").expect("TOML");
    let error = apply(&mut table, 0, "traffic.2.bytes", "7").expect_err("two entries");
    assert_eq!(error, "traffic has 2 entries, numbered from 0; there is no 2");
    let error = apply(&mut table, 0, "network.rate.x", "7").expect_err("a string");
    assert_eq!(error, "rate is \"50Gbps\", not a table: it has no x");
    assert!(apply(&mut table, 0, "network..x", "7").is_err());
}
