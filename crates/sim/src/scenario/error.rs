//! The problems of a scenario: the place, the key, the value found and what was expected.

use std::fmt;

/// All that was found wrong with a scenario, in the order of reading; at least one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The problems; never empty.
    pub problems: Vec<Problem>,
}

/// One problem of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file that must be changed: the scenario, or one that it names.
    pub file: String,
    /// Line of `file`, from 1; none when the value came from elsewhere.
    pub line: Option<u32>,
    /// Column of `file` in characters, from 1.
    pub column: Option<u32>,
    /// The override that brought the value, such as `--set network.delay=5`.
    pub set: Option<String>,
    /// Full path of the key, such as `transport.bulk.base_target` or `traffic[0].bytes`; empty for a whole file.
    pub key: String,
    /// The value that was found, if it is one value.
    pub found: Option<String>,
    /// The values that the key takes, if that can be said in general.
    pub expected: Option<String>,
    /// The valid name nearest to the one that was found.
    pub nearest: Option<String>,
    /// The sentence shown to people, without the place and the key.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.set, self.line) {
            (Some(set), _) => write!(f, "{set}: ")?,
            (None, Some(line)) => write!(f, "{}:{line}: ", self.file)?,
            (None, None) => write!(f, "{}: ", self.file)?,
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            let newline = if i > 0 { "\n" } else { "" };
            write!(f, "{newline}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

/// Why a value cannot be what its key wants; becomes a [`Problem`] where place and key are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Misread {
    /// Something else was expected; perhaps with a valid name near the one found.
    Expected(String, Option<String>),
    /// The key itself is not a valid one; perhaps with the one that was meant.
    Unknown(Vec<&'static str>, Option<String>),
    /// The problem has a sentence of its own.
    Says(String),
    /// The problems are in other files and are reported for those.
    Elsewhere(Vec<Problem>),
}

impl Misread {
    /// A value that is not the `expected` one.
    pub(crate) fn expected(expected: impl Into<String>) -> Misread {
        Misread::Expected(expected.into(), None)
    }
}
