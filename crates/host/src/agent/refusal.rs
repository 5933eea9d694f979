//! Why an agent does not do what it was told.

use std::fmt::{self, Display};

use crate::testbed::message::FromAgent;

/// Why an agent does not do what it was told, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    message: String,
    remedy: Option<String>,
    is_input: bool,
}

impl Refusal {
    /// The plan asks for what this host does not have.
    pub fn input(message: impl Into<String>, remedy: &str) -> Refusal {
        Refusal { message: message.into(), remedy: Some(remedy.into()), is_input: true }
    }

    /// A process that this host was to start says why it does not.
    pub fn of_process(message: String, remedy: Option<String>, is_input: bool) -> Refusal {
        Refusal { message, remedy, is_input }
    }

    /// Something failed that may not fail another time.
    pub fn failure(message: impl Display) -> Refusal {
        Refusal { message: message.to_string(), remedy: None, is_input: false }
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Refusal> for FromAgent {
    fn from(refusal: Refusal) -> FromAgent {
        let Refusal { message, remedy, is_input } = refusal;
        FromAgent::Refused { message, remedy, is_input }
    }
}
