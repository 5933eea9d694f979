//! Tables within tables: a single one, one that inherits from its sibling, an array, or any number under names of the
//! file's own.

use serde_json::{Map, Value as Json};

use super::super::document::{Entry, Node, Table, Value};
use super::super::error::Misread;
use super::super::form::{is_name, Form};
use super::super::{schema, suggest};
use super::section::{describe, Section};

/// Something is wrong in a table; the problem is noted.
pub(crate) struct Wrong;

impl<'a> Section<'a> {
    /// Reads a table that is there once; absent, all its keys have their defaults. None if anything is wrong in it.
    pub(crate) fn table<T>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        read: impl Fn(&mut Section<'a>) -> T,
    ) -> Option<T> {
        let source = self.source;
        let node = self.declare(name, doc, false, || schema::table(&describe(source, &read)));
        self.child(name, node, None, &read)
    }

    /// Reads a table that need not be there: none if it is not.
    pub(crate) fn optional_table<T>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        read: impl Fn(&mut Section<'a>) -> T,
    ) -> Result<Option<T>, Wrong> {
        let source = self.source;
        let node = self.declare(name, doc, false, || schema::optional_table(&describe(source, &read)));
        match node {
            None => Ok(None),
            Some(_) => self.child(name, node, None, &read).map(Some).ok_or(Wrong),
        }
    }

    /// Reads a table that takes the keys it does not give from its sibling `of`, which was read as `parent`; absent,
    /// it is the parent. Where the parent is wrong its heirs are not looked at.
    pub(crate) fn heir<T: Clone>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        (of, parent): (&'static str, Option<&T>),
        read: impl Fn(&mut Section<'a>) -> T,
    ) -> Option<T> {
        let source = self.source;
        let described = self.described(of);
        let node = self.declare(name, doc, false, || schema::heir(&describe(source, &read), of, &described));
        let parent = parent?;
        let Some(node) = node else { return Some(parent.clone()) };
        self.child(name, Some(node), self.table_at(of), &read)
    }

    /// Reads the tables under names of the file's own beside the sibling `of`, which was read as `parent`; each takes
    /// the keys it does not give from it. `own` is a key that such a table must have and its sibling has not: a table
    /// without it whose name is like a known one's is that one, misspelt. None if anything is wrong in one, and where
    /// the parent is wrong.
    pub(crate) fn heirs<P, T>(
        &mut self,
        doc: &'static str,
        own: &str,
        (of, parent): (&'static str, Option<&P>),
        read: impl Fn(&mut Section<'a>) -> T,
    ) -> Option<Vec<(String, T)>> {
        let mut described = Map::new();
        if self.describing() {
            described.insert("description".into(), doc.into());
            described.extend(schema::heir(&describe(self.source, &read), of, &self.described(of)));
        }
        self.others = Some(described);
        parent?;
        let before = self.source.count();
        let mut values = Vec::new();
        for entry in self.unknown() {
            if self.is_misspelt(entry, own) {
                continue;
            }
            let path = self.key_path(&entry.key);
            self.check_name(entry, &path);
            let read = self.read_table(&path, Some(&entry.node), self.table_at(of), &read);
            if let Some((value, resolved)) = read {
                self.settle(&entry.key, resolved);
                values.extend(value.map(|value| (entry.key.clone(), value)));
            }
        }
        (self.source.count() == before).then_some(values)
    }

    /// Returns whether a table without the key `own` has a name like a known one's, which then is said.
    fn is_misspelt(&self, entry: &Entry, own: &str) -> bool {
        let given = matches!(&entry.node.value, Value::Table(table) if table.get(own).is_some());
        let nearest = suggest::nearest(&entry.key, self.known().iter().copied());
        if given || nearest.is_none() {
            return false;
        }
        let misread = Misread::Unknown(self.known().to_vec(), nearest);
        self.source.report(entry.place, &self.key_path(&entry.key), Some(entry.key.clone()), misread);
        true
    }

    /// The table that the file gives as the value of a key.
    fn table_at(&self, name: &str) -> Option<&'a Table> {
        self.entry(name).and_then(|entry| match &entry.node.value {
            Value::Table(table) => Some(table),
            _ => None,
        })
    }

    fn child<T>(
        &mut self,
        name: &str,
        node: Option<&'a Node>,
        inherited: Option<&'a Table>,
        read: &impl Fn(&mut Section<'a>) -> T,
    ) -> Option<T> {
        if self.describing() {
            return None;
        }
        let (value, resolved) = self.read_table(&self.key_path(name), node, inherited, read)?;
        self.settle(name, resolved);
        value
    }

    /// Reads a table; none if there is none to read, and none inside if something is wrong with it.
    fn read_table<T>(
        &self,
        path: &str,
        node: Option<&'a Node>,
        inherited: Option<&'a Table>,
        read: &impl Fn(&mut Section<'a>) -> T,
    ) -> Option<(Option<T>, Json)> {
        let (table, place) = match node.map(|node| (&node.value, node.place)) {
            None => (None, self.place),
            Some((Value::Table(table), place)) => (Some(table), place),
            Some((other, place)) => {
                self.source.report(place, path, Some(other.shown()), no_table(other, path));
                return None;
            }
        };
        let section = Section::new(self.source, table, inherited, path.into(), place);
        let (value, resolved) = section.run(read);
        Some((value, resolved.into()))
    }

    /// Reads an array of tables, `[[name]]`; absent, it is empty if it may be. None if anything is wrong in it.
    pub(crate) fn list<T>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        required: bool,
        read: impl Fn(&mut Section<'a>) -> T,
    ) -> Option<Vec<T>> {
        let source = self.source;
        let node = self.declare(name, doc, required, || schema::list(&describe(source, &read)));
        if self.describing() {
            return None;
        }
        let (mut values, mut resolved) = (Some(Vec::new()), Vec::new());
        let path = self.key_path(name);
        let nodes = match node.map(|node| (&node.value, node.place)) {
            None if required => {
                self.report_missing(name, format!("at least one [[{path}]]"));
                return None;
            }
            None => return values,
            Some((Value::List(nodes), _)) => nodes,
            Some((other, place)) => {
                let wanted = Misread::expected(format!("an array of tables, [[{path}]]"));
                self.source.report(place, &path, Some(other.shown()), wanted);
                return None;
            }
        };
        for (i, node) in nodes.iter().enumerate() {
            let read = self.read_table(&format!("{path}[{i}]"), Some(node), None, &read);
            let (value, table) = read.unwrap_or_default();
            resolved.push(table);
            values = values.zip(value).map(|(mut values, value)| {
                values.push(value);
                values
            });
        }
        self.settle(name, resolved.into());
        values
    }

    /// Reads a table of tables that the file names, `[name.NAME]`, in the file's order; absent, it is empty if it may
    /// be. None if anything is wrong in it.
    pub(crate) fn named<T>(
        &mut self,
        name: &'static str,
        doc: &'static str,
        required: bool,
        read: impl Fn(&mut Section<'a>) -> T,
    ) -> Option<Vec<(String, T)>> {
        let source = self.source;
        let item = || schema::table(&describe(source, &read));
        let node = self.declare(name, doc, required, || schema::named(&item()));
        if self.describing() {
            return None;
        }
        if node.is_none() && required {
            self.report_missing(name, format!("at least one [{}.NAME]", self.key_path(name)));
            return None;
        }
        self.entries(name, node, |section, path, node| {
            let (value, resolved) = section.read_table(path, Some(node), None, &read)?;
            Some((value?, resolved))
        })
    }

    /// Reads a table of values that the file names.
    pub(crate) fn named_values<T>(
        &mut self,
        form: &Form,
        parse: impl Fn(&Node) -> Result<(T, Json), Misread>,
    ) -> Option<Vec<(String, T)>> {
        let item = || schema::form(&Form { schema: form.schema.clone(), ..*form });
        let node = self.declare(form.name, form.doc, false, || schema::named(&item()));
        if self.describing() {
            return None;
        }
        self.entries(form.name, node, |section, path, node| match parse(node) {
            Ok(read) => Some(read),
            Err(misread) => {
                section.source.report(node.place, path, Some(node.value.shown()), misread);
                None
            }
        })
    }

    /// Notes a problem if a name that the file gives is not a valid one.
    fn check_name(&self, entry: &Entry, path: &str) {
        if !is_name(&entry.key) {
            let wanted = "a name of letters, digits, _ and -, with no digit first";
            self.source.report(entry.place, path, Some(entry.key.clone()), Misread::expected(wanted));
        }
    }

    fn entries<T>(
        &mut self,
        name: &str,
        node: Option<&'a Node>,
        read: impl Fn(&Self, &str, &'a Node) -> Option<(T, Json)>,
    ) -> Option<Vec<(String, T)>> {
        let path = self.key_path(name);
        let before = self.source.count();
        let (mut values, mut resolved) = (Vec::new(), Map::new());
        let table = match node.map(|node| (&node.value, node.place)) {
            None => return Some(values),
            Some((Value::Table(table), _)) => table,
            Some((other, place)) => {
                self.source.report(place, &path, Some(other.shown()), no_table(other, &path));
                return None;
            }
        };
        for entry in &table.entries {
            let path = format!("{path}.{}", entry.key);
            self.check_name(entry, &path);
            if let Some((value, json)) = read(self, &path, &entry.node) {
                values.push((entry.key.clone(), value));
                resolved.insert(entry.key.clone(), json);
            }
        }
        self.settle(name, resolved.into());
        (self.source.count() == before).then_some(values)
    }
}

/// What is said of a value that is no table.
fn no_table(value: &Value, path: &str) -> Misread {
    let is_several =
        matches!(value, Value::List(nodes) if nodes.iter().all(|node| matches!(node.value, Value::Table(_))));
    Misread::expected(if is_several { format!("one table, [{path}]") } else { "a table".into() })
}
