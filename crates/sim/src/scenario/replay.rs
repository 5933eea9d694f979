//! Keys of `[record]` that belong together: what is sampled for a replay, and when.

use clearway_proto::units::Span;

use super::key::{Key, Shown};
use super::reader::Section;
use crate::model::Replay;

/// Reads what a replay is made of. `None` where it is not asked for.
pub(super) fn read_replay(r: &mut Section) -> Option<Replay> {
    let longest = Span::from_secs(1000);
    let doc = "What happened at every link, for clearway replay.";
    let interval = r.optional(&Key::new("replay", doc, Span::from_ns(1)..=longest), "not sampled");
    let doc = "When the replay begins, with replay.";
    let from = r.optional(&Key::new("replay_from", doc, Span::ZERO..=longest), "the beginning of the run");
    let from = from.unwrap_or(Span::ZERO);
    let doc = "When the replay ends, with replay.";
    let until = r.optional(&Key::new("replay_until", doc, Span::from_ns(1)..=longest), "the end of the run");
    if let Some(until) = until.filter(|until| r.sound() && *until <= from) {
        let found = format!("found {}, expected more than replay_from, {}", until.shown(), from.shown());
        r.conflict("replay_until", found);
    }
    Some(Replay { interval: interval?, from, until })
}
