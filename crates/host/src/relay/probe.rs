//! Probes: frames that tell the delay of the long link.
//!
//! One leaves on R every while, and the far relay's part in the kernel turns it around (`bpf/relay.bpf.c`); where the link is looped, it
//! comes back by itself. The kernel of this host notes both times, so what a process or its host takes is no part of it. What other
//! frames make it wait for is, at both ends; so the delay is that of the quickest of the last few.

use std::collections::VecDeque;

use clearway_proto::parameter::Shown;
use clearway_proto::units::{Span, Time};
use serde::Serialize;
use tracing::{info, warn};

/// The bytes of a probe, without its check sequence: the shortest frame.
pub const BYTES: usize = 60;
/// A group address that no bridge passes on: the nearest bridge (IEEE 802.1Q-2018, table 8-1).
const NEAREST_BRIDGE: [u8; 6] = [0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e];
/// The first type for local experiments (IEEE 802-2014, table 4).
const TYPE: u16 = 0x88b5;
const MAGIC: u32 = 0x4357_5250;
const REQUEST: u32 = 1;
/// The answers of which the quickest counts.
const LAST: usize = 16;
/// The probes without an answer, beyond those that are on their way, after which nobody is taken to be there.
const SILENT_AFTER: u64 = 8;

/// What probes have told of the long link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkFigures {
    /// Probes that were sent.
    pub probes: u64,
    /// Probes that came back.
    pub answers: u64,
    /// The delay one way, in nanoseconds: half of the quickest of the last answers; none while there is no answer.
    pub delay_ns: Option<u64>,
    /// The delay one way that the file has, in nanoseconds.
    pub planned_delay_ns: u64,
    /// The time from one probe to the next, in nanoseconds; 0: none are sent.
    pub every_ns: u64,
    /// The finding of the probes; none while they tell nothing.
    pub finding: Option<Finding>,
}

/// A verdict of probes on the long link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The link is no longer than planned, or by so little that a PAUSE works in time.
    AsPlanned,
    /// The link is longer than the file says: less than half of the response is left for a PAUSE to work.
    Longer,
    /// Nothing at the other end turns probes around.
    Silent,
}

impl Finding {
    /// The name of the finding.
    pub fn name(self) -> &'static str {
        match self {
            Finding::AsPlanned => "as_planned",
            Finding::Longer => "longer",
            Finding::Silent => "silent",
        }
    }

    /// Notes the finding in the log.
    pub fn log(self, probing: Probing, figures: LinkFigures) {
        let measured = Span::from_ns(figures.delay_ns.unwrap_or(0)).shown();
        let (planned, response) = (probing.delay.shown(), probing.response.shown());
        match self {
            Finding::AsPlanned => info!(measured, planned, "long link is no longer than planned"),
            Finding::Longer => warn!(
                measured,
                planned,
                response,
                "long link is longer than the file says: of the time that a PAUSE may take to work less than half is left, and frames may \
                 be lost; write its delay in the files of both relays"
            ),
            Finding::Silent => warn!(
                "nothing answers at the other end of the long link: is there a relay, and is the link its remote port?"
            ),
        }
    }
}

/// The probes of a relay.
#[derive(Debug)]
pub struct Prober {
    source: [u8; 6],
    session: u64,
    /// The time from one probe to the next.
    every: Span,
    next_at: Time,
    /// The longest delay one way that is as planned, in nanoseconds.
    longest_ns: u64,
    /// The probes without an answer after which nobody is taken to be there.
    silent_after: u64,
    /// The probes that were sent when the last answer came.
    answered_at: u64,
    /// The last round trips, in nanoseconds.
    last: VecDeque<u64>,
    figures: LinkFigures,
}

/// The settings of a relay's probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probing {
    /// The time from one probe to the next; none are sent if it is zero.
    pub every: Span,
    /// The delay one way that is planned for.
    pub delay: Span,
    /// The time that a PAUSE may take to work beyond the way there and back. A link that takes more than half of it is longer than planned.
    pub response: Span,
}

impl Prober {
    /// Probes from `now` on, from the address `source`. A session is a number that no other relay has.
    pub fn new(source: [u8; 6], session: u64, probing: Probing, now: Time) -> Prober {
        let Probing { every, delay, response } = probing;
        // Two round trips, as the link may be longer than planned.
        let on_their_way = (delay * 4).as_ps().checked_div(every.as_ps()).unwrap_or(0);
        Prober {
            source,
            session,
            every,
            next_at: if every == Span::ZERO { Time::NEVER } else { now },
            longest_ns: (delay + response / 4).as_ps() / 1000,
            silent_after: SILENT_AFTER + on_their_way,
            answered_at: 0,
            last: VecDeque::with_capacity(LAST),
            figures: LinkFigures {
                planned_delay_ns: delay.as_ps() / 1000,
                every_ns: every.as_ps() / 1000,
                ..LinkFigures::default()
            },
        }
    }

    /// Returns when the next probe is due.
    pub fn poll_timeout(&self) -> Time {
        self.next_at
    }

    /// The probe to send out of R now, if one is due.
    pub fn poll(&mut self, now: Time) -> Option<[u8; BYTES]> {
        if now < self.next_at {
            return None;
        }
        self.next_at = now + self.every;
        self.figures.probes += 1;
        let mut frame = [0; BYTES];
        frame[..6].copy_from_slice(&NEAREST_BRIDGE);
        frame[6..12].copy_from_slice(&self.source);
        frame[12..14].copy_from_slice(&TYPE.to_be_bytes());
        frame[14..18].copy_from_slice(&MAGIC.to_be_bytes());
        frame[18..22].copy_from_slice(&REQUEST.to_be_bytes());
        frame[22..30].copy_from_slice(&self.session.to_ne_bytes());
        frame[30..38].copy_from_slice(&self.figures.probes.to_ne_bytes());
        Some(frame)
    }

    /// Takes a frame that came in on R if it is a probe of this relay, and returns whether it is.
    pub fn take(&mut self, frame: &[u8]) -> bool {
        let has = |at: usize, bytes: &[u8]| frame.get(at..at + bytes.len()) == Some(bytes);
        let is_own = has(12, &TYPE.to_be_bytes())
            && has(14, &MAGIC.to_be_bytes())
            && has(22, &self.session.to_ne_bytes())
            && frame.len() >= 54;
        if !is_own {
            return false;
        }
        let word = |at: usize| u64::from_ne_bytes(frame[at..at + 8].try_into().expect("eight bytes"));
        let (number, left_ns, back_ns) = (word(30), word(38), word(46));
        // A second answer to one, or one that nobody has sent, tells nothing.
        if number <= self.answered_at || number > self.figures.probes || left_ns == 0 || back_ns < left_ns {
            return true;
        }
        self.answered_at = number;
        self.figures.answers += 1;
        if self.last.len() == LAST {
            self.last.pop_front();
        }
        self.last.push_back(back_ns - left_ns);
        self.figures.delay_ns = self.last.iter().min().map(|quickest| quickest / 2);
        true
    }

    /// Returns the finding, if it is another than before.
    pub fn poll_finding(&mut self) -> Option<Finding> {
        let LinkFigures { probes, delay_ns, .. } = self.figures;
        let now = if probes - self.answered_at > self.silent_after {
            self.last.clear();
            self.figures.delay_ns = None;
            Some(Finding::Silent)
        } else {
            let of = |delay: u64| if delay > self.longest_ns { Finding::Longer } else { Finding::AsPlanned };
            delay_ns.map(of)
        };
        let is_new = now.is_some() && now != self.figures.finding;
        self.figures.finding = now.or(self.figures.finding);
        now.filter(|_| is_new)
    }

    /// Returns the counts, the delay and the finding so far.
    pub fn figures(&self) -> LinkFigures {
        self.figures
    }
}

#[cfg(test)]
mod tests;
