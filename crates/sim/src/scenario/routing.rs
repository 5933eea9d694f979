//! `[routing]`: how and when switches route around dead links.

use clearway_proto::units::Span;

use super::key::{Key, Shown};
use super::reader::Section;
use crate::model::{Rehash, Routing};

/// Reads the table.
pub(crate) fn read(r: &mut Section) -> Routing {
    let delays = || Span::ZERO..=Span::from_secs(1000);
    let doc = "Time from a link's death, or return, until the nodes at its ends know of it and choose other next hops.";
    let detect = r.get(&Key::new("detect", doc, delays()));
    let doc = "Time from a link's death, or return, until all switches have routes without it, or with it. At least detect.";
    let converge = r.get(&Key::new("converge", doc, delays()));
    if r.sound() && converge < detect {
        let message = format!(
            "found {}, before the nodes at a link's ends know of its death, at {}: give at least detect",
            converge.shown(),
            detect.shown()
        );
        r.conflict("converge", message);
    }
    let doc = "Which flows change their next hop when one of several is dead: only its own, spread by the highest random weight, or \
               all, by a hash modulo the number that is left (RFC 2991).";
    let ways = [("minimal", Rehash::Minimal), ("modulo", Rehash::Modulo)];
    Routing { detect, converge, rehash: r.one_of("rehash", doc, Some("minimal"), &ways) }
}
