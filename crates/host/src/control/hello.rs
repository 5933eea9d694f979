//! What both ends of a channel say first.

use serde::{Deserialize, Serialize};

/// The version of what is said on a channel. Ends of different versions tell each other, and part.
pub const VERSION: u32 = 1;

/// The first message of each end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The [version](VERSION) that it speaks.
    pub version: u32,
    /// The Clearway that it is of.
    pub clearway: String,
    /// What the end that dialed wants; empty at the other end.
    pub purpose: String,
}

impl Hello {
    /// What this end says: that it wants `purpose`.
    pub(super) fn of(purpose: &str) -> Hello {
        Hello { version: VERSION, clearway: env!("CARGO_PKG_VERSION").into(), purpose: purpose.into() }
    }
}
