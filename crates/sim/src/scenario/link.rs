//! The keys that links have, in a scenario and in a topology file.

use clearway_proto::units::{Rate, Span};

use super::key::Key;

/// The largest rate of any single link: 10 Tb/s, two generations beyond what is sold.
pub(super) const MAX_RATE: Rate = Rate::from_gbps(10_000);

/// The key of a link's rate.
pub(super) fn rate_key(name: &'static str, doc: &'static str) -> Key<Rate> {
    Key::new(name, doc, Rate::from_bps(1_000)..=MAX_RATE)
}

/// The key of a link's delay.
pub(super) fn delay_key(name: &'static str, doc: &'static str) -> Key<Span> {
    Key::new(name, doc, Span::from_ps(1)..=Span::from_secs(10))
}
