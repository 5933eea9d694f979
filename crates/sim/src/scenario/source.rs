//! A file being read, and what is wrong with it.

use std::cell::{Cell, RefCell};

use super::document::Place;
use super::error::{Misread, Problem};

/// The most problems that are shown; more help nobody.
const MAX_PROBLEMS: usize = 100;

/// A file being read, and what is wrong with it.
pub(super) struct Source {
    file: String,
    sets: Vec<String>,
    problems: RefCell<Vec<Problem>>,
    count: Cell<usize>,
}

impl Source {
    /// A file of this name, with overrides that are shown like this.
    pub(super) fn new(file: &str, sets: Vec<String>) -> Source {
        Source { file: file.into(), sets, problems: RefCell::default(), count: Cell::new(0) }
    }

    /// Notes a problem with `found` at `key`.
    pub(super) fn report(&self, place: Place, key: &str, found: Option<String>, misread: Misread) {
        let (line, column, set) = match place {
            Place::File => (None, None, None),
            Place::At(line, column) => (Some(line), Some(column), None),
            Place::Set(index) => (None, None, self.sets.get(index).cloned()),
        };
        let meant = |nearest: &Option<String>| {
            nearest.as_ref().map_or(String::new(), |name| format!("; did you mean {name}?"))
        };
        let (expected, nearest, message) = match misread {
            Misread::Elsewhere(problems) => return problems.into_iter().for_each(|other| self.note(other)),
            Misread::Says(message) => (None, None, message),
            Misread::Unknown(known, nearest) => {
                let known = known.join(", ");
                let message = format!("unknown key{} (known keys: {known})", meant(&nearest));
                (Some(format!("one of {known}")), nearest, message)
            }
            Misread::Expected(expected, nearest) => {
                let what = found.as_ref().map_or("missing".into(), |found| format!("found {found}"));
                let message = format!("{what}, expected {expected}{}", meant(&nearest));
                (Some(expected), nearest, message)
            }
        };
        let (file, key) = (self.file.clone(), key.to_string());
        self.note(Problem { file, line, column, set, key, found, expected, nearest, message });
    }

    /// Notes a problem that was made elsewhere.
    pub(super) fn note(&self, problem: Problem) {
        self.count.set(self.count.get() + 1);
        let mut problems = self.problems.borrow_mut();
        if problems.len() < MAX_PROBLEMS {
            problems.push(problem);
        }
    }

    /// Returns how many problems were noted so far.
    pub(super) fn count(&self) -> usize {
        self.count.get()
    }

    /// All problems that were noted.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems.into_inner()
    }
}
