//! A TOML file as a tree in which every value knows where it came from, and the overrides applied to it.

use toml_edit::{Item, TomlError};

use super::error::Problem;
use super::suggest;

/// The place of a key or value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// No particular place: the whole file.
    File,
    /// A line and a column, both counted from 1.
    At(u32, u32),
    /// The override of this index.
    Set(usize),
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The value.
    pub(crate) value: Value,
    /// Where the value begins.
    pub(crate) place: Place,
}

impl Node {
    /// The values of a key that holds one value or a list of such.
    pub(crate) fn values(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }
}

/// What a key can hold. Dates have no use here and are kept as their text.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

impl Value {
    /// The value as an error message shows it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Value::Text(text) if text.chars().count() > 80 => {
                format!("\"{}...\"", text.chars().take(77).collect::<String>())
            }
            Value::Text(text) => format!("\"{text}\""),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Bool(truth) => truth.to_string(),
            Value::Date(text) => text.clone(),
            Value::List(_) => "a list".into(),
            Value::Table(_) => "a table".into(),
        }
    }
}

/// Keys and values in the file's order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    /// The entries; each key occurs once.
    pub(crate) entries: Vec<Entry>,
}

/// One key of a table.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key's name.
    pub(crate) key: String,
    /// The place of the key.
    pub(crate) place: Place,
    /// The key's value.
    pub(crate) node: Node,
}

impl Table {
    /// The entry of this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The place of the key of this path, such as `traffic[0].bytes`, or of the last part of the path that exists.
    pub(crate) fn locate(&self, path: &str) -> Place {
        self.walk(path).0
    }

    /// Returns whether there is a key of this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.walk(path).1
    }

    /// The place of the last part of the path that exists, and whether that is the whole path.
    fn walk(&self, path: &str) -> (Place, bool) {
        let mut place = Place::File;
        let mut value: Option<&Value> = None;
        for step in steps(path) {
            let found = match value {
                None => self.get(step).map(|entry| (entry.place, &entry.node.value)),
                Some(Value::Table(table)) => table.get(step).map(|entry| (entry.place, &entry.node.value)),
                Some(Value::List(list)) => {
                    let node = step.parse().ok().and_then(|i: usize| list.get(i));
                    node.map(|node| (node.place, &node.value))
                }
                Some(_) => None,
            };
            let Some((at, inner)) = found else { return (place, false) };
            place = at;
            value = Some(inner);
        }
        (place, true)
    }
}

/// The steps of a path in either of its two spellings, `traffic.0.bytes` and `traffic[0].bytes`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '[']).map(|step| step.trim_end_matches(']').trim())
}

/// Parses a file; a problem names it as `file`.
pub(crate) fn parse(text: &str, file: &str) -> Result<Table, Box<Problem>> {
    let lines = Lines::of(text);
    let document = toml_edit::Document::parse(text).map_err(|error| not_toml(&error, &lines, file))?;
    Ok(table(document.as_table(), &lines))
}

fn not_toml(error: &TomlError, lines: &Lines, file: &str) -> Box<Problem> {
    let place = error.span().map(|span| lines.place(span.start));
    let (line, column) = match place {
        Some(Place::At(line, column)) => (Some(line), Some(column)),
        _ => (None, None),
    };
    let text =
        error.span().filter(|_| error.message() == "duplicate key").and_then(|span| lines.text.get(span));
    let key = text.map_or(String::new(), |key| format!(" {key}"));
    Box::new(Problem {
        file: file.into(),
        line,
        column,
        set: None,
        key: String::new(),
        found: None,
        expected: Some("TOML".into()),
        nearest: None,
        message: format!("not TOML: {}{key}", error.message().lines().collect::<Vec<_>>().join(", ")),
    })
}

/// Where each line of a text begins.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Lines<'a> {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines { text, starts: std::iter::once(0).chain(newlines.map(|(at, _)| at + 1)).collect() }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let before = self.text.get(start..offset).unwrap_or_default();
        Place::At(line as u32, before.chars().count() as u32 + 1)
    }

    fn span(&self, span: Option<std::ops::Range<usize>>) -> Place {
        span.map_or(Place::File, |span| self.place(span.start))
    }
}

fn table(source: &dyn toml_edit::TableLike, lines: &Lines) -> Table {
    let keys = source.iter().filter_map(|(name, _)| source.get_key_value(name));
    let entries = keys.map(|(key, item)| {
        let node = item_node(item, lines);
        let place = lines.span(key.span());
        Entry { key: key.get().to_string(), place, node }
    });
    Table { entries: entries.collect() }
}

fn item_node(item: &Item, lines: &Lines) -> Node {
    let place = lines.span(item.span());
    let value = match item {
        Item::Value(value) => return value_node(value, lines),
        Item::Table(inner) => Value::Table(table(inner, lines)),
        Item::ArrayOfTables(tables) => {
            let node = |inner: &toml_edit::Table| Node {
                value: Value::Table(table(inner, lines)),
                place: lines.span(inner.span()),
            };
            Value::List(tables.iter().map(node).collect())
        }
        Item::None => Value::Table(Table::default()),
    };
    Node { value, place }
}

fn value_node(source: &toml_edit::Value, lines: &Lines) -> Node {
    let value = match source {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::Integer(*number.value()),
        toml_edit::Value::Float(number) => Value::Float(*number.value()),
        toml_edit::Value::Boolean(truth) => Value::Bool(*truth.value()),
        toml_edit::Value::Datetime(date) => Value::Date(date.value().to_string()),
        toml_edit::Value::Array(list) => {
            Value::List(list.iter().map(|inner| value_node(inner, lines)).collect())
        }
        toml_edit::Value::InlineTable(inner) => Value::Table(table(inner, lines)),
    };
    Node { value, place: lines.span(source.span()) }
}

/// Applies override number `index`: the value at `path` becomes `text`, read as TOML if it is valid TOML, and otherwise
/// as a string. The error is a sentence.
pub(crate) fn apply(root: &mut Table, index: usize, path: &str, text: &str) -> Result<(), String> {
    let steps: Vec<&str> = steps(path).collect();
    if steps.iter().any(|step| step.is_empty()) {
        return Err("expected a dotted path of keys, such as transport.bulk.base_target".into());
    }
    let node = Node { value: free_value(text, index), place: Place::Set(index) };
    put(root, &steps, node)
}

/// Removes the key or the table at `path`, or an entry of a list. The error is a sentence.
pub(crate) fn remove(root: &mut Table, path: &str) -> Result<(), String> {
    remove_from(root, &steps(path).collect::<Vec<_>>(), "the scenario")
}

fn remove_from(table: &mut Table, steps: &[&str], name: &str) -> Result<(), String> {
    let [step, rest @ ..] = steps else { return Ok(()) };
    let Some(at) = table.entries.iter().position(|entry| entry.key == *step) else {
        let nearest = suggest::listed(step, table.entries.iter().map(|entry| entry.key.as_str()));
        return Err(format!("{name} has no {step} to remove; the nearest keys there are {nearest}"));
    };
    if rest.is_empty() {
        table.entries.remove(at);
        return Ok(());
    }
    remove_in(&mut table.entries[at].node, step, rest)
}

fn remove_in(target: &mut Node, name: &str, steps: &[&str]) -> Result<(), String> {
    let [step, rest @ ..] = steps else { return Ok(()) };
    match &mut target.value {
        Value::Table(table) => remove_from(table, steps, name),
        Value::List(list) => {
            let index = index_in(list, name, step)?;
            if rest.is_empty() {
                list.remove(index);
                return Ok(());
            }
            remove_in(&mut list[index], step, rest)
        }
        other => Err(format!("{name} is {}, not a table: it has no {step}", other.shown())),
    }
}

/// The entry of a list that a step of a path names.
fn index_in(list: &[Node], name: &str, step: &str) -> Result<usize, String> {
    let count = list.len();
    step.parse::<usize>().ok().filter(|index| *index < count).ok_or_else(|| {
        let entries = if count == 1 { "entry" } else { "entries" };
        format!("{name} has {count} {entries}, numbered from 0; there is no {step}")
    })
}

fn free_value(text: &str, index: usize) -> Value {
    let line = format!("value = {text}");
    let Ok(document) = toml_edit::Document::parse(line.as_str()) else { return Value::Text(text.into()) };
    // More than the one key: the text ended its line and went on.
    let (1, Some(item)) = (document.len(), document.get("value")) else { return Value::Text(text.into()) };
    let mut node = item_node(item, &Lines::of(&line));
    settle(&mut node, index);
    node.value
}

/// Marks a value as coming from an override: it has no line.
fn settle(node: &mut Node, index: usize) {
    node.place = Place::Set(index);
    match &mut node.value {
        Value::List(list) => list.iter_mut().for_each(|inner| settle(inner, index)),
        Value::Table(table) => {
            for entry in &mut table.entries {
                entry.place = Place::Set(index);
                settle(&mut entry.node, index);
            }
        }
        _ => {}
    }
}

fn put(table: &mut Table, steps: &[&str], node: Node) -> Result<(), String> {
    let [step, rest @ ..] = steps else { return Ok(()) };
    let place = node.place;
    let at = if let Some(at) = table.entries.iter().position(|entry| entry.key == *step) {
        at
    } else {
        let empty = Node { value: Value::Table(Table::default()), place };
        table.entries.push(Entry { key: (*step).into(), place, node: empty });
        table.entries.len() - 1
    };
    let entry = &mut table.entries[at];
    if rest.is_empty() {
        entry.place = place;
    }
    put_in(&mut entry.node, step, rest, node)
}

fn put_in(target: &mut Node, name: &str, steps: &[&str], node: Node) -> Result<(), String> {
    let [step, rest @ ..] = steps else {
        *target = node;
        return Ok(());
    };
    match &mut target.value {
        Value::Table(table) => put(table, steps, node),
        Value::List(list) => {
            let index = index_in(list, name, step)?;
            put_in(&mut list[index], step, rest, node)
        }
        other => Err(format!("{name} is {}, not a table: it has no {step}", other.shown())),
    }
}

#[cfg(test)]
mod tests;
