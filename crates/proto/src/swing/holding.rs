//! Room for what comes over a fibre whose far end is *held*: the relay inside a switch, and a box with `safety`.
//!
//! Such a relay lets the far end send only while what waits and what may yet come stay below a limit S, so that **S bytes of
//! buffer are enough**, whatever drains, through whichever ports of the switch and behind whatever they transmit, as a
//! frame counts until its last bit has left. That takes counting what may yet come in full, and looking in time.
//!
//! A *grant* is the time from the decision to say RESUME to the decision to say PAUSE. Of a grant of length g the far end makes
//!
//! | term | why |
//! |---|---|
//! | `g·R` | it sends all the time |
//! | `own_frame` | RESUME finds the port idle, PAUSE a frame of the longest size that has just begun |
//! | `3 × 84 × (priorities - 1)` | and behind it, of each other priority, PAUSE, RESUME and a PAUSE that is repeated |
//! | `frame` | PAUSE works when the far end has just begun a frame |
//!
//! All but the first are the **overrun** of a grant. (The RESUME of the same priority is never in the way: it was decided an
//! own frame before at least, see below.) The last of it has arrived, at the latest,
//!
//! ```text
//! window = 2D + own_frame + 3 × 84 × (priorities - 1) + PAUSE + response        and a frame
//! ```
//!
//! after the decision to say PAUSE. So what may yet come at any time is at most
//!
//! ```text
//! R × (time granted in the last window + frame) + an overrun for each grant that ended in it, and for one that has not
//! ```
//!
//! and the far end is held as soon as that and what waits exceed S: at the arrival of a frame, or when the time that is granted
//! has grown to it, which the relay's timer tells. From then on nothing is granted, and no more than S is there at any time.
//! One grant that is decided after a long hold, whose PAUSE waits for all that it may, reaches S to the byte; see
//! `relay_worst` among the simulator's tests. A loss of PAUSEs, or a far clock that is faster, is outside this.
//!
//! **The lowest S** is at most what one grant without an end makes, so that a link that is idle or drains at its rate is
//! never held, and the distance to S at which a hold ends:
//!
//! ```text
//! S = R × (window + frame, rounded up to 257 of its 256 parts) + overrun + hysteresis
//! ```
//!
//! **The hysteresis** is twice the overrun, or what is set if that is more. A hold that ends leaves it to be granted, at R, while
//! what was granted before comes, at R: so a PAUSE follows its RESUME by more than an own frame, and of each priority three
//! signals at most stand before a PAUSE, as the table has it. It also keeps the share of grants that are overruns, counted but
//! perhaps not sent, below (1 - α) of a BDP, which waits in any case: no throughput is lost by counting too much.

use crate::pfc::headroom::LosslessLink;
use crate::pfc::quanta::PFC_FRAME;
use crate::units::{Bytes, Span};

/// Signals of each other priority that PAUSE may have to wait for.
const AHEAD_OF_EACH: u64 = 3;

/// What it takes to hold the far end of a fibre.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// There and back.
    pub round_trip: Span,
    /// The time from a decision to say PAUSE until the last that was sent before it works has arrived.
    pub window: Span,
    /// What a grant may bring beyond its length.
    pub overrun: Bytes,
}

impl Holding {
    /// Holding the far end of this fibre; whether anything surely drains does not matter.
    pub fn of(fibre: &LosslessLink) -> Holding {
        let others = u64::from(fibre.priorities.saturating_sub(1));
        let waits = fibre.rate.transmission(fibre.own_frame)
            + fibre.rate.transmission(PFC_FRAME) * (AHEAD_OF_EACH * others);
        let sent = fibre.rate.transmission(PFC_FRAME) + fibre.response;
        let round_trip = fibre.delay * 2;
        Holding {
            round_trip,
            window: round_trip + waits + sent + fibre.rate.transmission(fibre.frame),
            overrun: Bytes::new(fibre.rate.sent_in(waits).get() + fibre.frame.get()),
        }
    }
}
