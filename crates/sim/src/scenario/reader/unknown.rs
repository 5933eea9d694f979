//! Keys that no reader asked for.

use super::super::document::Entry;
use super::super::error::Misread;
use super::super::form::Variant;
use super::super::suggest;
use super::section::{describe, Section};

impl<'a> Section<'a> {
    /// Reports each key of the table that was not read: as misspelt, or as one of another choice.
    pub(super) fn reject_unknown<T>(&self, read: &impl Fn(&mut Section<'a>) -> T) {
        let Some(table) = self.table.filter(|_| self.others.is_none()) else { return };
        let mut variants = None;
        for entry in self.unknown() {
            // Where nothing was to be chosen, every key there is was asked for.
            let none = self.choices.is_empty();
            let variants =
                variants.get_or_insert_with(|| if none { Vec::new() } else { describe(self.source, read) });
            if self.abandoned {
                self.reject_misspelt_choice(entry, variants);
                continue;
            }
            if let Some(condition) = self.condition(&entry.key, variants) {
                let misread = Misread::Says(format!("applies only with {condition}"));
                self.report(entry.place, &entry.key, Some(entry.node.value.shown()), misread);
                continue;
            }
            // What the table does not have yet is the likelier meaning.
            let absent = self.known.iter().filter(|name| table.get(name).is_none());
            let nearest = suggest::nearest(&entry.key, absent.chain(&self.known).copied());
            let misread = Misread::Unknown(self.known.clone(), nearest);
            self.report(entry.place, &entry.key, Some(entry.key.clone()), misread);
        }
    }

    /// Where a choice that decides what else applies is missing, a key like it is said to be that; the others may
    /// be right.
    pub(super) fn reject_misspelt_choice(&self, entry: &Entry, variants: &[Variant]) {
        let absent = variants.iter().flat_map(|variant| &variant.choices).map(|(name, _)| *name);
        let absent = absent.filter(|name| self.table.is_some_and(|table| table.get(name).is_none()));
        if let Some(name) = suggest::nearest(&entry.key, absent) {
            let message = format!("unknown key; did you mean {name}?");
            let path = self.key_path(&entry.key);
            self.source.report(entry.place, &path, Some(entry.key.clone()), Misread::Says(message));
        }
    }

    /// Returns what would have to be chosen for `key` to apply: the first choice that excludes it.
    pub(super) fn condition(&self, key: &str, variants: &[Variant]) -> Option<String> {
        let has = |variant: &&Variant| variant.fields.iter().any(|field| field.name == key);
        let with: Vec<&Variant> = variants.iter().filter(has).collect();
        if with.is_empty() {
            return None;
        }
        for (name, chosen) in &self.choices {
            let mut allowed: Vec<&str> = Vec::new();
            let values =
                with.iter().flat_map(|variant| &variant.choices).filter(|(choice, _)| choice == name);
            for (_, value) in values {
                if !allowed.contains(value) {
                    allowed.push(value);
                }
            }
            if !allowed.is_empty() && !allowed.contains(chosen) {
                let allowed: Vec<String> = allowed.iter().map(|value| format!("\"{value}\"")).collect();
                return Some(format!("{name} = {}; here {name} = \"{chosen}\"", allowed.join(" or ")));
            }
        }
        None
    }
}
