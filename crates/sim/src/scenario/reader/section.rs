//! A table that is being read or described, and its keys of one value.

use serde_json::{Map, Value as Json};

use super::super::document::{Entry, Node, Place, Table, Value};
use super::super::error::Misread;
use super::super::form::{Field, Form, Variant};
use super::super::key::{Fallback, Key, Quantity};
use super::super::source::Source;
use super::super::{schema, suggest};

/// Which variant of each choice a walk that describes takes: the variants picked so far, and how many there were to
/// pick from.
struct Script {
    picks: Vec<usize>,
    taken: Vec<(usize, usize)>,
}

/// A table that is being read or described.
pub(crate) struct Section<'a> {
    pub(super) source: &'a Source,
    pub(super) table: Option<&'a Table>,
    inherited: Option<&'a Table>,
    script: Option<Script>,
    path: String,
    pub(super) place: Place,
    pub(super) known: Vec<&'static str>,
    fields: Vec<Field>,
    pub(super) choices: Vec<(&'static str, &'static str)>,
    /// What keys of the file's own may hold, where they are allowed.
    pub(super) others: Option<Map<String, Json>>,
    resolved: Map<String, Json>,
    problems_before: usize,
    pub(super) abandoned: bool,
}

/// Reads a whole file: the value, if nothing is wrong, and the table as resolved.
pub(crate) fn read<'a, T>(
    source: &'a Source,
    root: &'a Table,
    read: &impl Fn(&mut Section<'a>) -> T,
) -> (Option<T>, Map<String, Json>) {
    Section::new(source, Some(root), None, String::new(), Place::File).run(read)
}

/// Lists what a reading function reads, for every combination of choices.
pub(crate) fn describe<'a, T>(source: &'a Source, read: &impl Fn(&mut Section<'a>) -> T) -> Vec<Variant> {
    let mut variants = Vec::new();
    let mut picks = Vec::new();
    loop {
        let mut section = Section::new(source, None, None, String::new(), Place::File);
        section.script = Some(Script { picks, taken: Vec::new() });
        read(&mut section);
        variants.push(Variant { choices: section.choices, fields: section.fields, others: section.others });
        // Count on like an odometer whose last wheel is the last choice made.
        let mut taken = section.script.map_or(Vec::new(), |script| script.taken);
        while taken.last().is_some_and(|(pick, options)| pick + 1 == *options) {
            taken.pop();
        }
        let Some((last, _)) = taken.last_mut() else { return variants };
        *last += 1;
        picks = taken.iter().map(|(pick, _)| *pick).collect();
    }
}

impl<'a> Section<'a> {
    pub(super) fn new(
        source: &'a Source,
        table: Option<&'a Table>,
        inherited: Option<&'a Table>,
        path: String,
        place: Place,
    ) -> Section<'a> {
        Section {
            source,
            table,
            inherited,
            script: None,
            path,
            place,
            known: Vec::new(),
            fields: Vec::new(),
            choices: Vec::new(),
            others: None,
            resolved: Map::new(),
            problems_before: source.count(),
            abandoned: false,
        }
    }

    pub(super) fn run<T>(mut self, read: &impl Fn(&mut Section<'a>) -> T) -> (Option<T>, Map<String, Json>) {
        let value = read(&mut self);
        self.reject_unknown(read);
        (self.sound().then_some(value), self.resolved)
    }

    /// Returns whether the walk only lists keys.
    pub(crate) fn describing(&self) -> bool {
        self.script.is_some()
    }

    /// Returns whether a table is being read and nothing is wrong with it so far: values are the file's, not placeholders.
    pub(crate) fn sound(&self) -> bool {
        !self.describing() && self.source.count() == self.problems_before
    }

    /// Returns whether the file, or the table that is inherited from, gives this key.
    pub(crate) fn given(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// Returns whether the file gives the key of this path, which may lie deeper.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.table.is_some_and(|table| table.has(path))
    }

    /// The full path of a key of this section.
    pub(crate) fn key_path(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.into()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    /// The place of this table in its array, from 0 on; 0 if it is in none.
    pub(crate) fn number(&self) -> u32 {
        let place = self.path.strip_suffix(']').and_then(|path| path.rsplit_once('['));
        place.and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
    }

    /// Notes that the value of `name`, though well formed, does not go with the rest.
    pub(crate) fn conflict(&self, name: &str, message: impl Into<String>) {
        let entry = self.entry(name);
        let (place, found) =
            entry.map_or((self.place, None), |entry| (entry.node.place, Some(entry.node.value.shown())));
        self.report(place, name, found, Misread::Says(message.into()));
    }

    /// Notes a conflict, if there is one: the key, and what is wrong with it. Returns whether there is none.
    pub(crate) fn holds_unless(&self, conflict: Option<(&str, String)>) -> bool {
        let Some((key, message)) = conflict else { return true };
        self.conflict(key, message);
        false
    }

    /// Notes a problem of a key that may lie deeper, such as `traffic[0].bytes`.
    pub(crate) fn conflict_at(&self, path: &str, message: impl Into<String>) {
        let place = self.table.map_or(self.place, |table| table.locate(path));
        self.report(place, path, None, Misread::Says(message.into()));
    }

    pub(super) fn report(&self, place: Place, name: &str, found: Option<String>, misread: Misread) {
        if !self.describing() && !self.abandoned {
            self.source.report(place, &self.key_path(name), found, misread);
        }
    }

    /// Notes that a key is missing.
    pub(crate) fn report_missing(&self, name: &str, expected: String) {
        self.report(self.place, name, None, Misread::Expected(expected, None));
    }

    pub(super) fn entry(&self, name: &str) -> Option<&'a Entry> {
        let own = self.table.and_then(|table| table.get(name));
        own.or_else(|| self.inherited.and_then(|table| table.get(name)))
    }

    /// Makes a key known and looks it up.
    pub(super) fn declare(
        &mut self,
        name: &'static str,
        doc: &'static str,
        required: bool,
        schema: impl FnOnce() -> Map<String, Json>,
    ) -> Option<&'a Node> {
        self.known.push(name);
        if self.describing() {
            let mut described = Map::new();
            described.insert("description".into(), doc.into());
            described.extend(schema());
            self.fields.push(Field { name, required, schema: described });
        }
        self.entry(name).map(|entry| &entry.node)
    }

    /// Returns what the schema says so far of a key of this section, while it is described.
    pub(super) fn described(&self, name: &str) -> Map<String, Json> {
        let field = self.fields.iter().find(|field| field.name == name);
        field.map_or_else(Map::new, |field| field.schema.clone())
    }

    /// The entries of the table whose keys are not known.
    pub(super) fn unknown(&self) -> Vec<&'a Entry> {
        let entries = self.table.map_or([].as_slice(), |table| table.entries.as_slice());
        entries.iter().filter(|entry| !self.known.contains(&entry.key.as_str())).collect()
    }

    /// The keys that are known so far.
    pub(super) fn known(&self) -> &[&'static str] {
        &self.known
    }

    /// Writes a value that was not read as such into the resolved table.
    pub(crate) fn settle(&mut self, name: &str, value: Json) {
        self.resolved.insert(name.into(), value);
    }

    /// Reads a quantity.
    pub(crate) fn get<T: Quantity>(&mut self, key: &Key<T>) -> T {
        let required = matches!(key.default, Fallback::Required);
        let node = self.declare(key.name, key.doc, required, || {
            let mut schema = key.schema();
            match &key.default {
                Fallback::Required => {}
                Fallback::Always(value) => drop(schema.insert("default".into(), value.json())),
                Fallback::Follows(_, words) => drop(schema.insert("x-default".into(), (*words).into())),
            }
            schema
        });
        if node.is_none() && required {
            self.report_missing(key.name, key.wanted());
        }
        let value = node.and_then(|node| self.read_node(key, node));
        let value = value.unwrap_or_else(|| key.placeholder());
        self.settle(key.name, value.json());
        value
    }

    /// Reads a quantity that may be absent; `otherwise` says what holds then.
    pub(crate) fn optional<T: Quantity>(&mut self, key: &Key<T>, otherwise: &'static str) -> Option<T> {
        let node = self.declare(key.name, key.doc, false, || {
            let mut schema = key.schema();
            schema.insert("x-default".into(), otherwise.into());
            schema
        })?;
        let value = self.read_node(key, node)?;
        self.settle(key.name, value.json());
        Some(value)
    }

    fn read_node<T: Quantity>(&mut self, key: &Key<T>, node: &Node) -> Option<T> {
        match key.read(&node.value) {
            Ok(value) => Some(value),
            Err(misread) => {
                self.report(node.place, key.name, Some(node.value.shown()), misread);
                None
            }
        }
    }

    /// Reads true or false.
    pub(crate) fn flag(&mut self, name: &'static str, doc: &'static str, default: bool) -> bool {
        let node = self.declare(name, doc, false, || schema::flag(default));
        let value = match node.map(|node| (node.place, &node.value)) {
            None => default,
            Some((_, Value::Bool(truth))) => *truth,
            Some((place, other)) => {
                self.report(place, name, Some(other.shown()), Misread::expected("true or false"));
                default
            }
        };
        self.settle(name, value.into());
        value
    }

    /// Reads a key with a grammar of its own. `parse` answers with the value and its resolved spelling. None if the
    /// key is absent or wrong; what is then in the resolved table is the caller's to [`Section::settle`].
    pub(crate) fn parsed<T>(
        &mut self,
        form: &Form,
        parse: impl FnOnce(&Node) -> Result<(T, Json), Misread>,
    ) -> Option<T> {
        let node = self.declare(form.name, form.doc, form.required, || schema::form(form));
        let Some(node) = node else {
            if form.required {
                self.report_missing(form.name, form.otherwise.into());
            }
            return None;
        };
        match parse(node) {
            Ok((value, resolved)) => {
                self.settle(form.name, resolved);
                Some(value)
            }
            Err(misread) => {
                self.report(node.place, form.name, Some(node.value.shown()), misread);
                None
            }
        }
    }

    /// Reads one of several names, none of which changes what other keys there are.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        default: Option<&'static str>,
        options: &[(&'static str, T)],
    ) -> T {
        let node = self.declare(name, doc, default.is_none(), || schema::one_of(default, options));
        let at = self.pick(name, node, default, options).unwrap_or(0);
        self.settle(name, options[at].0.into());
        options[at].1
    }

    /// Reads one of several names, which decides what other keys there are. Where it is wrong, nothing more is
    /// said of this section but which key may be it, misspelt.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        default: Option<&'static str>,
        options: &[(&'static str, T)],
    ) -> T {
        let at = if let Some(script) = &mut self.script {
            let at = script.picks.get(script.taken.len()).copied().unwrap_or(0);
            script.taken.push((at, options.len()));
            let required = default.is_none_or(|default| default != options[at].0);
            self.declare(name, doc, required, || schema::choice(options[at].0, default));
            at
        } else {
            let node = self.declare(name, doc, false, Map::new);
            let picked = self.pick(name, node, default, options);
            self.abandoned |= picked.is_none();
            picked.unwrap_or(0)
        };
        self.choices.push((name, options[at].0));
        self.settle(name, options[at].0.into());
        options[at].1
    }

    fn pick<T>(
        &self,
        name: &str,
        node: Option<&Node>,
        default: Option<&str>,
        options: &[(&'static str, T)],
    ) -> Option<usize> {
        let names = || options.iter().map(|(option, _)| *option);
        let wanted = || match options {
            [(only, _)] => format!("\"{only}\""),
            _ => format!("one of {}", names().collect::<Vec<_>>().join(", ")),
        };
        let find = |text: &str| names().position(|option| option == text);
        let Some(node) = node else {
            if default.is_none() {
                self.report_missing(name, wanted());
            }
            return find(default?);
        };
        let (picked, nearest) = match &node.value {
            Value::Text(text) => {
                (find(text), suggest::nearest(text, names()).or_else(|| suggest::elsewhere(name, text)))
            }
            _ => (None, None),
        };
        if picked.is_none() {
            let misread = Misread::Expected(wanted(), nearest);
            self.report(node.place, name, Some(node.value.shown()), misread);
        }
        picked
    }
}
