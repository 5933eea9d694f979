//! Headroom: the room above XOFF that a lossless port needs for what still comes after it has decided to send PAUSE.
//!
//! The rules, to the frame (a switch that stores and forwards):
//! - a frame counts from the instant its last bit has arrived until its last bit has left the egress;
//! - PAUSE is decided when the count, with the frame that has just been admitted, exceeds XOFF; RESUME when it has fallen
//!   to XOFF less the hysteresis;
//! - a PFC frame goes out after the frame in transmission, ahead of every queue, and behind PFC frames decided before it;
//! - the peer begins no frame from `response` after PAUSE has arrived; the frame that it has begun goes on.
//!
//! Let the decision be at time 0, `f` the peer's transmission time of a frame of the longest size. The frame whose last bit
//! arrives at 0 left the peer at `-D`, and the peer may begin frames from `-D` until PAUSE takes effect. That is a window of
//!
//! | term | why |
//! |---|---|
//! | `round_trip` | 2D: PAUSE goes one way, and what was sent before it goes the other |
//! | `own_frame` | the port's own frame towards the peer, begun just before the decision, cannot be interrupted |
//! | `pfc_ahead` | one PFC frame of each other lossless priority of the link; and the RESUME of this priority that was decided at the same instant, if the hysteresis is below one frame (above, a whole frame's time lies between RESUME and PAUSE) |
//! | `pause_frame` | PAUSE itself, 84 bytes: it works when its last bit is there |
//! | `response` | what the peer takes to stop |
//!
//! A frame that begins anywhere in the window comes whole: **⌈window / f⌉ frames**, the last of them begun in the window's
//! last instant. To those comes **one frame, the one that crossed XOFF**: before it the count was at most XOFF, which is not
//! exceeded. So `headroom = (1 + ⌈window / f⌉) × frame`. It is reached, to the byte, when XOFF is a multiple of the frame; any
//! less room drops a frame then.
//!
//! **With a drain that never stops** (frames of the link leave at `drain`, evenly, one every `p = frame / drain`), those that
//! leave before the last has arrived, at `n·f` for `n = ⌈window / f⌉`, make room. The phase is not free: had a frame left in
//! the last `f` before the decision, the count would have been above XOFF before it left, and PAUSE decided then. So the
//! first leaves at `p - f` at the latest, and `⌊(n + 1)·f / p⌋` frames leave. Where the hysteresis is below a frame, such a
//! departure brings RESUME, and the decision falls again after it: then the first leaves at `p`, and `⌊n·f / p⌋` do; that is
//! enough, and not exact, as the PAUSE before it works, too. (What leaves and what arrives at one instant does so in an order
//! that is always the same.)
//!
//! **Frames of any size** up to the longest need a little more, as the last frame may begin in the last instant whatever the
//! window is: `frame + (1 - a)(window + frame)`, and one frame for the one that is leaving, if there is a drain
//! ([`Headroom::any_sizes`]).
//!
//! Two PFC frames come for one frame at most, so frames of 168 bytes and more keep the PFC frames before
//! them from queueing up. The count of bytes in a buffer knows no preamble nor gap: with the size on the wire taken for both,
//! as here, headroom is at most 20 bytes a frame too large.

use super::quanta::PFC_FRAME;
use crate::units::{Bytes, Rate, Span};

/// A link on which frames must not be dropped, with what stands between a port's decision and its peer's silence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LosslessLink {
    /// The rate of both directions.
    pub rate: Rate,
    /// Propagation one way (D), transponders included.
    pub delay: Span,
    /// Longest frame that the peer sends in this priority, on the wire.
    pub frame: Bytes,
    /// Longest frame that may be in transmission towards the peer, of any priority; zero: nothing goes that way.
    pub own_frame: Bytes,
    /// The time from the arrival of a PAUSE until its receiver begins no further frame.
    pub response: Span,
    /// How many priorities of the link are lossless, this one included.
    pub priorities: u8,
    /// XOFF less XON.
    pub hysteresis: Bytes,
    /// What leaves of the link's bytes at all times, as a rate; none: it may stop.
    pub drain: Option<Rate>,
}

/// The room above XOFF of one priority, by what needs it. Each time is that which the peer may send for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// There and back.
    pub round_trip: Span,
    /// The port's own frame that PAUSE waits for.
    pub own_frame: Span,
    /// The PFC frames that PAUSE waits for.
    pub pfc_ahead: Span,
    /// PAUSE itself.
    pub pause_frame: Span,
    /// The time from the arrival of a PAUSE until it works.
    pub response: Span,
    /// How many frames begin while all of that passes, the last with its tail outside.
    pub after_crossing: u64,
    /// How many frames have surely left when the last of those has arrived.
    pub drained: u64,
    link: LosslessLink,
}

impl LosslessLink {
    /// A link of one lossless priority with frames of one size both ways, a peer that stops at once, a hysteresis of a
    /// frame, and a drain that may stop.
    pub fn new(rate: Rate, delay: Span, frame: Bytes) -> LosslessLink {
        LosslessLink {
            rate,
            delay,
            frame,
            own_frame: frame,
            response: Span::ZERO,
            priorities: 1,
            hysteresis: frame,
            drain: None,
        }
    }

    /// The longest that a PFC frame stands behind other frames at this end.
    pub fn longest_wait(&self) -> Span {
        self.rate.transmission(self.own_frame) + self.pfc_ahead()
    }

    /// The lowest XON that never lets the egress run empty while it drains at most the share `most` of the rate: RESUME goes
    /// the way that PAUSE goes, and the first frame must have come whole by the time the last has left. The frame more is that
    /// which brought the count from above XON to somewhere below.
    pub fn least_xon(&self, most: f64) -> Bytes {
        assert!((0.0..=1.0).contains(&most), "a share from 0 to 1, not {most}");
        let drained = (self.rate.sent_in(self.starved_for()).get() as f64 * most).ceil();
        Bytes::new(drained as u64 + self.frame.get())
    }

    /// The lowest XON where all drains at `drain`, the rate of another link.
    pub fn least_xon_at(&self, drain: Rate) -> Bytes {
        Bytes::new(drain.sent_in(self.starved_for()).get() + self.frame.get())
    }

    /// The longest time from RESUME to the end of the first frame that it lets go.
    fn starved_for(&self) -> Span {
        self.headroom().window() + self.rate.transmission(self.frame)
    }

    fn pfc_ahead(&self) -> Span {
        let of_others = u64::from(self.priorities.saturating_sub(1));
        let own_resume = u64::from(self.hysteresis < self.frame);
        self.rate.transmission(PFC_FRAME) * (of_others + own_resume)
    }

    /// Returns what this link needs above XOFF. Panics on a frame of no bytes.
    pub fn headroom(&self) -> Headroom {
        assert!(self.frame > Bytes::new(0), "a frame of no bytes");
        let mut headroom = Headroom {
            round_trip: self.delay * 2,
            own_frame: self.rate.transmission(self.own_frame),
            pfc_ahead: self.pfc_ahead(),
            pause_frame: self.rate.transmission(PFC_FRAME),
            response: self.response,
            after_crossing: 0,
            drained: 0,
            link: self.clone(),
        };
        let frame = self.rate.transmission(self.frame).as_ps();
        headroom.after_crossing = headroom.window().as_ps().div_ceil(frame);
        headroom.drained = self.drain.map_or(0, |drain| {
            let period = drain.transmission(self.frame).as_ps().max(frame);
            // A departure within a frame of the decision is possible only if it brings a RESUME.
            let since_departure = u64::from(self.hysteresis >= self.frame);
            (headroom.after_crossing + since_departure) * frame / period
        });
        headroom
    }
}

impl Headroom {
    /// The time for which the peer may begin frames after the one that crossed XOFF.
    pub fn window(&self) -> Span {
        self.round_trip + self.own_frame + self.pfc_ahead + self.pause_frame + self.response
    }

    /// Frames of the longest size above XOFF, the one that crossed it included.
    pub fn frames(&self) -> u64 {
        1 + self.after_crossing - self.drained
    }

    /// Bytes above XOFF where every frame has the longest size: exact, for an XOFF that is a multiple of it.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.frames() * self.link.frame.get())
    }

    /// Bytes above XOFF that are enough for frames of any size up to the longest.
    pub fn any_sizes(&self) -> Bytes {
        let frame = self.link.frame.get();
        let (rate, drain) = (self.link.rate.as_bps(), self.link.drain.map_or(0, Rate::as_bps));
        let sent = u128::from(self.link.rate.sent_in(self.window()).get()) + u128::from(frame);
        let kept = (sent * u128::from(rate.saturating_sub(drain))).div_ceil(u128::from(rate));
        Bytes::new(kept as u64 + frame * (1 + u64::from(drain > 0)))
    }
}
