//! Snapshots of a few small runs, to be read: a change of behaviour shows as a change of numbers in review.
//!
//! The scenarios are those of the digests. Rewritten by
//! `CLEARWAY_UPDATE_GOLDEN=1 cargo test -p clearway-sim --test all golden`.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use clearway_sim::record::{Column, Outcome, Table, Value};

use crate::experiment::{run_seeded, table};

const SHOWN: [&str; 4] =
    ["dumbbell_dctcp_step", "file_none_window", "leaf_spine_shared", "star_swift_incast"];

/// Rows of a table that are shown at most.
const ROWS: usize = 12;

fn add_figures(text: &mut String, indent: &str, value: &Value) {
    let Value::Object(figures) = value else { return };
    for (name, value) in figures {
        match value {
            Value::Missing(why) => writeln!(text, "{indent}{name:<20} - ({why})"),
            // They stand beside the figures themselves.
            Value::Reasons(_) => continue,
            Value::Integer(count) => writeln!(text, "{indent}{name:<20} {count}"),
            Value::Float(value) => writeln!(text, "{indent}{name:<20} {value:.6}"),
            Value::Names(names) => writeln!(
                text,
                "{indent}{name:<20} {}",
                if names.is_empty() { "-".into() } else { names.join(" ") }
            ),
            Value::Object(_) => writeln!(text, "{indent}{name}"),
        }
        .expect("a string takes all");
        add_figures(text, &format!("{indent}  "), value);
    }
}

fn cell(column: &Column, row: usize) -> String {
    match column {
        Column::Integers(values) => values[row].to_string(),
        Column::Floats(values) => format!("{:.4}", values[row]),
        Column::Texts(values) => values.get(row).to_owned(),
    }
}

fn length(column: &Column) -> usize {
    match column {
        Column::Integers(values) => values.len(),
        Column::Floats(values) => values.len(),
        Column::Texts(values) => values.len(),
    }
}

fn add_table(text: &mut String, Table { name, columns }: &Table) {
    let rows = length(&columns[0].1);
    writeln!(text, "\n{name}, {} of {rows} rows", rows.min(ROWS)).expect("a string takes all");
    let width = |title: &str, column: &Column| {
        (0..rows.min(ROWS)).map(|row| cell(column, row).len()).max().unwrap_or(0).max(title.len())
    };
    let widths: Vec<usize> = columns.iter().map(|(title, column)| width(title, column)).collect();
    let mut line = |cells: Vec<String>| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
        writeln!(text, "{}", padded.join("  ")).expect("a string takes all");
    };
    line(columns.iter().map(|(title, _)| (*title).to_string()).collect());
    for row in 0..rows.min(ROWS) {
        line(columns.iter().map(|(_, column)| cell(column, row)).collect());
    }
}

fn snapshot(outcome: &Outcome) -> String {
    let mut text = format!("packet hops {}\n\n", outcome.packet_hops);
    add_figures(&mut text, "", &outcome.summary);
    for name in ["flows", "links"] {
        add_table(&mut text, table(outcome, name));
    }
    text
}

#[test]
fn the_small_scenarios_come_out_as_they_were_reviewed() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut changed = Vec::new();
    for name in SHOWN {
        let scenario = fs::read_to_string(tests.join(format!("digests/{name}.toml"))).expect("a scenario");
        let found = snapshot(&run_seeded(&scenario, Some(1)));
        let file = tests.join(format!("golden/{name}.txt"));
        if std::env::var_os("CLEARWAY_UPDATE_GOLDEN").is_some() {
            fs::write(&file, &found).expect("the file can be written");
        }
        let expected = fs::read_to_string(&file).unwrap_or_default();
        let differs = |(line, (was, is)): (usize, (&str, &str))| {
            (was != is).then(|| format!("{name}.txt:{}\n  was {was}\n  is  {is}", line + 1))
        };
        let first = expected.lines().zip(found.lines()).enumerate().find_map(differs);
        if found != expected {
            changed.push(first.unwrap_or_else(|| format!("{name}.txt: another length")));
        }
    }
    assert!(
        changed.is_empty(),
        "results have changed; the first line of each:\n{}\nIf that is meant, review what git shows after\n\
         CLEARWAY_UPDATE_GOLDEN=1 cargo test -p clearway-sim --test all golden",
        changed.join("\n")
    );
}
