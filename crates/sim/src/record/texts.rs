//! A column of names, of which each may stand in many rows.

use crate::model::Scenario;

/// A column of names: each that differs is held once, and each row has a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    names: Vec<String>,
    rows: Vec<u32>,
}

impl Texts {
    /// A column whose rows have these of these names, by index.
    pub fn new(names: Vec<String>, rows: Vec<u32>) -> Texts {
        Texts { names, rows }
    }

    /// A column of traffic classes by number: without a name where the scenario has no classes.
    pub fn of_classes(scenario: &Scenario, rows: Vec<u32>) -> Texts {
        let mut names: Vec<String> = scenario.classes.iter().map(|class| class.name.clone()).collect();
        if names.is_empty() {
            names.push(String::new());
        }
        Texts::new(names, rows)
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The name in a row.
    pub fn get(&self, row: usize) -> &str {
        &self.names[self.rows[row] as usize]
    }

    /// The names, row by row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|&name| self.names[name as usize].as_str())
    }

    /// The names that rows may have.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The index of each row's name.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }
}

/// Holds neighbours that are equal once.
impl<S: AsRef<str>> FromIterator<S> for Texts {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Texts {
        let mut texts = Texts::default();
        for name in names {
            if texts.names.last().is_none_or(|last| last != name.as_ref()) {
                texts.names.push(name.as_ref().to_owned());
            }
            texts.rows.push((texts.names.len() - 1) as u32);
        }
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_repeated_is_held_once() {
        let texts: Texts = ["a", "a", "b", "a"].into_iter().collect();
        assert_eq!(texts.names(), ["a", "b", "a"]);
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["a", "a", "b", "a"]);
        assert_eq!((texts.len(), texts.get(2)), (4, "b"));
    }
}
