//! A table of a TOML file as a reader of parameters, which tells all that is wrong with it, with the lines.

use std::ops::Range;
use std::path::Path;

use clearway_proto::parameter::{wanted, Conflict, Parameter, ParameterReader, Shown};
use toml_edit::{Document, Item, TableLike, Value};

use crate::daemon::args::{one_of, parse};
use crate::daemon::line::place;
use crate::daemon::output::Problem;

/// Reads the text of a file.
pub(crate) fn document(text: &str) -> Result<Document<&str>, Problem> {
    Document::parse(text).map_err(|error| {
        let what = error.message().lines().collect::<Vec<_>>().join(" ");
        Problem::new(format!("{}{what}", place(text, error.span())), "a line is: key = value")
    })
}

/// Reads a file by `parse`; problems name it. `shown` is the page that shows such a file.
pub(crate) fn read_file<T>(
    path: &Path,
    shown: &str,
    parse: impl FnOnce(&str) -> Result<T, Vec<Problem>>,
) -> Result<T, Vec<Problem>> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        vec![Problem::new(
            format!("{}: {error}", path.display()),
            &format!("name the file: {shown} shows one"),
        )]
    })?;
    parse(&text).map_err(|problems| problems.into_iter().map(|problem| problem.of_file(path)).collect())
}

/// A table, and the names that were asked for in it.
pub(crate) struct Table<'a> {
    text: &'a str,
    /// Its name as messages have it, with a point behind it unless it is empty.
    prefix: String,
    span: Option<Range<usize>>,
    values: Option<&'a dyn TableLike>,
    names: Vec<&'static str>,
    problems: Vec<Problem>,
    is_missing: bool,
}

impl<'a> Table<'a> {
    /// The table that an item is; one without values where there is no item.
    pub(crate) fn new(text: &'a str, name: &str, item: Option<&'a Item>) -> Table<'a> {
        let span = item.and_then(Item::span);
        let table = item.and_then(Item::as_table_like);
        let mut read = Table {
            text,
            prefix: prefix(name),
            span,
            values: table,
            names: Vec::new(),
            problems: Vec::new(),
            is_missing: false,
        };
        if item.is_some() && table.is_none() {
            let message = format!("{}{name}: expected a table", place(text, read.span.clone()));
            read.problems
                .push(Problem::new(message, &format!("write [{name}] on a line, and keys below it")));
        }
        read
    }

    /// A table that is there: one within an array, or the whole file, which has no name.
    pub(crate) fn of(
        text: &'a str,
        name: &str,
        table: &'a dyn TableLike,
        span: Option<Range<usize>>,
    ) -> Table<'a> {
        Table {
            text,
            prefix: prefix(name),
            span,
            values: Some(table),
            names: Vec::new(),
            problems: Vec::new(),
            is_missing: false,
        }
    }

    /// The item of this name, if there is one.
    pub(crate) fn item(&mut self, name: &'static str) -> Option<&'a Item> {
        self.names.push(name);
        self.values?.get(name)
    }

    /// Notes a problem with a value, or with the table where there is no such value.
    pub(crate) fn wrong(&mut self, name: &str, what: &str, remedy: Option<&str>) {
        if self.is_missing {
            return;
        }
        let span = self.values.and_then(|table| table.get(name)).and_then(Item::span).or(self.span.clone());
        let message = format!("{}{}{name}: {what}", place(self.text, span), self.prefix);
        self.problems.push(Problem { message, remedy: remedy.map(String::from) });
    }

    /// The result of `read` for the value of this name; none where there is no value, or none that is right.
    pub(crate) fn take<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Option<T> {
        let item = self.item(name)?;
        let Some(value) = item.as_value() else {
            self.wrong(name, "found a table, expected a value", None);
            return None;
        };
        match read(value) {
            Ok(read) => Some(read),
            Err(expected) => {
                let found = value.span().and_then(|span| self.text.get(span)).unwrap_or_default();
                self.wrong(name, &format!("found {}, {expected}", found.trim()), None);
                None
            }
        }
    }

    /// A text in quotes that `read` understands.
    pub(crate) fn text<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.take(name, |value| read(value.as_str().ok_or("expected text in quotes")?))
    }

    /// A text that there must be.
    pub(crate) fn required<T>(
        &mut self,
        name: &'static str,
        example: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let found = self.text(name, read);
        if self.values.is_none_or(|table| !table.contains_key(name)) {
            self.wrong(name, "missing", Some(&format!("write {name} = {example}")));
        }
        found
    }

    /// Notes that there is no such table, if there is none.
    pub(crate) fn must_have_table(&mut self) {
        if self.values.is_none() && self.problems.is_empty() {
            let name = self.prefix.trim_end_matches('.');
            self.problems.push(Problem::new(
                format!("{name}: missing"),
                &format!("write [{name}] and its keys below it"),
            ));
            // One word is enough of a table that is not there.
            self.is_missing = true;
        }
    }

    /// Returns whether there is a value of this name, right or wrong.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.is_some_and(|table| table.contains_key(name))
    }

    /// Notes that a value is missing, unless one is there that is wrong.
    pub(crate) fn must_have(&mut self, name: &'static str) {
        if self.values.is_none_or(|table| !table.contains_key(name)) {
            self.wrong(name, "missing", None);
        }
    }

    /// Texts in quotes, each of which `read` understands; none where there is no such key.
    pub(crate) fn texts<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        self.take(name, |value| {
            let array = value.as_array().ok_or("expected a list of texts in quotes")?;
            array
                .iter()
                .map(|value| read(value.as_str().ok_or("expected a list of texts in quotes")?))
                .collect()
        })
    }

    /// Notes parameters that do not go together.
    pub(crate) fn conflicts(&mut self, conflicts: Vec<Conflict>) {
        for conflict in conflicts {
            let message = conflict.message(|name| format!("{}{name}", self.prefix));
            self.problems.push(Problem::new(message, "change one of them"));
        }
    }

    /// All that is wrong: what was noted, and names that nobody has asked for unless they are `others`.
    pub(crate) fn finish(mut self, others: &[&str]) -> Vec<Problem> {
        let given: Vec<String> =
            self.values.into_iter().flat_map(TableLike::iter).map(|(name, _)| name.to_string()).collect();
        for name in given {
            if self.names.contains(&name.as_str()) || others.contains(&name.as_str()) {
                continue;
            }
            let distance = |known: &&&str| strsim::osa_distance(&name, known);
            let near = self.names.iter().min_by_key(distance);
            let remedy =
                match near.filter(|known| strsim::osa_distance(&name, known) <= (name.len() / 3).max(1)) {
                    Some(near) => format!("did you mean {near}?"),
                    None => format!("the keys are {}", self.names.join(", ")),
                };
            self.wrong(&name, "unknown key", Some(&remedy));
        }
        self.problems
    }
}

/// What stands before the names of a table's keys.
fn prefix(table: &str) -> String {
    if table.is_empty() {
        String::new()
    } else {
        format!("{table}.")
    }
}

/// A value as it would be written on a command line.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.value().clone(),
        Value::Integer(number) => number.value().to_string(),
        Value::Float(number) => number.value().to_string(),
        _ => String::new(),
    }
}

impl ParameterReader for Table<'_> {
    fn optional<T: Shown>(&mut self, parameter: &Parameter<T>, _otherwise: &'static str) -> Option<T> {
        let range = &parameter.range;
        self.take(parameter.name, |value| {
            let read = parse(&plain(value), range)?.filter(|value| range.contains(value));
            read.ok_or_else(|| format!("expected {}", wanted(range)))
        })
    }

    fn flag(&mut self, name: &'static str, _doc: &'static str, default: bool) -> bool {
        self.take(name, |value| value.as_bool().ok_or_else(|| "expected true or false".into()))
            .unwrap_or(default)
    }

    fn choice<T: Copy + PartialEq>(
        &mut self,
        name: &'static str,
        _doc: &'static str,
        options: &[(&'static str, T)],
        default: T,
    ) -> T {
        self.take(name, |value| one_of(options, value.as_str())).unwrap_or(default)
    }
}
