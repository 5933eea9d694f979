//! What a relay is set to.

use super::super::grants::Sliding;
use crate::parameter::{Conflict, Shown};
use crate::pfc::account::{Threshold, Thresholds};
use crate::pfc::quanta::LONGEST;
use crate::units::{Bytes, Rate, Span};

/// The virtual queue beyond the paper: what waits and what is granted may exceed what left, over a round trip, by a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualQueue {
    /// The length at which that queue is held (q*). A larger one answers faster when the drain grows.
    pub target: Bytes,
    /// The queue is held only while more than this waits.
    pub above: Bytes,
}

/// What a relay is set to, for each priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayParams {
    /// The rate of port R, and of port L where `local_rate` is not given.
    pub rate: Rate,
    /// The rate of port L, where it is another. Not given.
    pub local_rate: Option<Rate>,
    /// Lossless priorities, 1 to 8.
    pub priorities: usize,
    /// What came in on L may wait up to this before the local switch is told to pause. 198 kB (section 6.1).
    pub xoff: Bytes,
    /// The local switch is told to resume when no more than this waits. 3 kB below XOFF (HPCC's code).
    pub xon: Bytes,
    /// Room for what came in on L. 318 kB (section 6.1).
    pub local_buffer: Bytes,
    /// Room for what came in on R. 41 MB (section 6.1: a BDP of 80 km at 400 Gb/s and a little).
    pub remote_buffer: Bytes,
    /// What a PAUSE of the relay itself asks for; it is repeated when half of that has passed. The most there is.
    pub quanta: u16,
    /// The long link's round trip, with what PFC frames may wait for at both ends. Read for what is beyond the paper only.
    /// 800 us.
    pub round_trip: Span,
    /// Hold the far relay while what waits at R and what may yet come of what was granted in the last round trip exceed this.
    /// Off.
    pub safety: Option<Bytes>,
    /// What a grant may bring beyond its length, for `safety`: in place of the frame that PAUSE waits for and RESUME does not,
    /// and the frame that has just begun when PAUSE works. 3 kB, two frames ([`holding`](crate::swing::holding)).
    pub overrun: Bytes,
    /// Hold the far relay for a short queue. Off.
    pub virtual_queue: Option<VirtualQueue>,
    /// How far below its threshold a reason to hold must fall to end; below `safety` twice the overrun, if that is more. 3 kB.
    pub hysteresis: Bytes,
}

impl Default for RelayParams {
    fn default() -> Self {
        Self {
            rate: Rate::from_gbps(400),
            local_rate: None,
            priorities: 1,
            xoff: Bytes::new(198_000),
            xon: Bytes::new(195_000),
            local_buffer: Bytes::new(318_000),
            remote_buffer: Bytes::new(41_000_000),
            quanta: LONGEST,
            round_trip: Span::from_us(800),
            safety: None,
            overrun: Bytes::new(3_000),
            virtual_queue: None,
            hysteresis: Bytes::new(3_000),
        }
    }
}

impl RelayParams {
    /// Returns what does not go together.
    pub fn conflicts(&self) -> Vec<Conflict> {
        let mut found = Vec::new();
        let mut at_most = |name: (&'static str, Bytes), other: (&'static str, Bytes)| {
            if name.1 > other.1 {
                found.push(Conflict::between(
                    (name.0, name.1.shown()),
                    "is above",
                    (other.0, other.1.shown()),
                ));
            }
        };
        at_most(("xon", self.xon), ("xoff", self.xoff));
        at_most(("xoff", self.xoff), ("local_buffer", self.local_buffer));
        if let Some(safety) = self.safety {
            if safety < self.least_safety() {
                let rule = format!(
                    "is less than what may be granted in a round trip, {}: an idle link would be held",
                    self.least_safety().shown()
                );
                found.push(Conflict::alone("safety", &safety.shown(), rule));
            }
        }
        if let Some(local) = self.local_rate.filter(|local| *local < self.rate && self.safety.is_none()) {
            let rule = "is below that of the fibre, and without safety nothing holds what comes beyond it";
            found.push(Conflict::alone("local_rate", &local.shown(), rule));
        }
        if !(1..=8).contains(&self.priorities) {
            found.push(Conflict::alone("priorities", &self.priorities, "is not from 1 to 8"));
        }
        if self.quanta < 2 {
            found.push(Conflict::alone(
                "quanta",
                &self.quanta,
                "is less than 2: no PAUSE could be repeated in time",
            ));
        }
        found
    }

    /// Returns when port L pauses the local switch.
    pub(super) fn thresholds(&self) -> Thresholds {
        Thresholds {
            xoff: Threshold::Static(self.xoff.get()),
            hysteresis: self.xoff.get() - self.xon.get(),
            headroom: self.local_buffer.get() - self.xoff.get(),
        }
    }

    /// The lowest `safety` that lets an idle link send at once: a round trip as the relay measures it, an overrun, and the
    /// hysteresis.
    pub fn least_safety(&self) -> Bytes {
        let measured = self.rate.sent_in(Sliding::new(self.round_trip).length());
        Bytes::new(measured.get() + self.overrun.get() + self.safety_hysteresis())
    }

    pub(super) fn safety_hysteresis(&self) -> u64 {
        self.hysteresis.get().max(2 * self.overrun.get())
    }
}
