//! The keys that links have, in a scenario and in a topology file.

use clearway_proto::units::{Rate, Span, RATES};

use super::key::Key;

/// The key of a link's rate.
pub(crate) fn rate_key(name: &'static str, doc: &'static str) -> Key<Rate> {
    Key::new(name, doc, RATES)
}

/// The key of a link's delay.
pub(crate) fn delay_key(name: &'static str, doc: &'static str) -> Key<Span> {
    Key::new(name, doc, Span::from_ps(1)..=Span::from_secs(10))
}
