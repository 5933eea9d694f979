//! Explanations of flows: a completion time in parts that add up to it exactly, in picoseconds.
//!
//! The completion time of a flow is the time from its start until its last needed packet has arrived. That packet's way over each
//! link explains the time from when its sender gave it out for the last time. The time before is the sender's, and each instant
//! of it belongs to one cause: to the flow's own packets, if the NIC was sending one; else to what the sender said that it
//! waited for; else to what kept the NIC from asking it. What is left is the host's.

use std::collections::BTreeMap;

use clearway_proto::machine::Readiness;

use crate::simulation::journal::{FlowJournal, Intervals};

/// A reason for which a flow waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Its packets were sent: the earlier ones by its NIC, and the last one over each link.
    Serialisation,
    /// The last packet crossed links.
    Propagation,
    /// The last packet waited at a port for frames before it.
    Queue,
    /// The flow was to wait at a port whose link was paused for its class.
    Pause,
    /// Its window was full.
    Window,
    /// Its receiver had granted no more.
    Credit,
    /// Its pacing let no packet go yet.
    Pacing,
    /// It waited for a timeslot of an arbiter.
    Timeslot,
    /// Its NIC sent what is not of this flow.
    Nic,
    /// Its host's stack had not brought the packet to the NIC, or the NIC did nothing else of those above.
    Host,
    /// A packet was sent again, or was to be.
    Retransmission,
    /// The receiving host's stack had not taken the last packet.
    Receiver,
}

impl Cause {
    /// The cause's name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Serialisation => "serialisation",
            Cause::Propagation => "propagation",
            Cause::Queue => "queue",
            Cause::Pause => "pause",
            Cause::Window => "window",
            Cause::Credit => "credit",
            Cause::Pacing => "pacing",
            Cause::Timeslot => "timeslot",
            Cause::Nic => "nic",
            Cause::Host => "host",
            Cause::Retransmission => "retransmission",
            Cause::Receiver => "receiver",
        }
    }
}

/// A part of a flow's completion time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The cause.
    pub cause: Cause,
    /// The link whose port it is about; `None` where it is about no port.
    pub link: Option<u32>,
    /// Its length in picoseconds.
    pub ps: u64,
}

/// The way of the last packet over a link, in picoseconds each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossed {
    /// The link.
    pub link: u32,
    /// The time from its arrival at the port, or from when its sender gave it out, until it began to leave.
    pub waited: u64,
    /// The part of that time in which the port was paused for its class.
    pub paused: u64,
    /// The time from its first bit's departure to its last one's.
    pub serialisation: u64,
    /// The time from a bit's departure to its arrival.
    pub propagation: u64,
}

/// Why a flow took as long as it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The flow.
    pub flow: u32,
    /// The instant at which it started, in picoseconds.
    pub start: u64,
    /// The time from its start until its receiver had all of it, in picoseconds.
    pub completion: u64,
    /// The parts, each longer than zero; together they are `completion`.
    pub parts: Vec<Part>,
    /// The sequence number of the packet with which it was complete.
    pub seq: u32,
    /// The time from the flow's start until that packet was given out for the first time, in picoseconds.
    pub first_sent: u64,
    /// The time from the flow's start until that packet was given out for the last time, in picoseconds.
    pub last_sent: u64,
    /// The links that the packet crossed, in their order.
    pub journey: Vec<Crossed>,
}

/// Says why a flow took as long as it did. Panics if the parts do not add up to its completion time.
pub fn explain(journal: &FlowJournal) -> Explanation {
    let (start, completed) = (journal.start.as_ps(), journal.completed.as_ps());
    let mut parts = Parts::default();
    let first_sent = first_sent(journal);
    explain_sender(journal, first_sent, &mut parts);
    parts.add(Cause::Retransmission, None, journal.last.stamp - first_sent);
    let mut came = journal.last.stamp;
    let mut journey = Vec::new();
    for (number, hop) in journal.journey.iter().enumerate() {
        let mut waiting = Waiting::during(&[(came, hop.begun)]);
        let (waited, paused) = (hop.begun - came, waiting.take(&hop.paused));
        if number > 0 {
            parts.add(Cause::Pause, Some(hop.link), paused);
            parts.add(Cause::Queue, Some(hop.link), waited - paused);
        }
        let propagation = hop.arrived - hop.begun - hop.serialisation;
        parts.add(Cause::Serialisation, None, hop.serialisation);
        parts.add(Cause::Propagation, None, propagation);
        let serialisation = hop.serialisation;
        journey.push(Crossed { link: hop.link, waited, paused, serialisation, propagation });
        came = hop.arrived;
    }
    parts.add(Cause::Receiver, None, completed - came);
    let parts = parts.into_vec();
    let explanation = Explanation {
        flow: journal.flow,
        start,
        completion: completed - start,
        parts,
        seq: journal.last.seq,
        first_sent: first_sent - start,
        last_sent: journal.last.stamp - start,
        journey,
    };
    let sum: u64 = explanation.parts.iter().map(|part| part.ps).sum();
    assert_eq!(sum, explanation.completion, "the parts of flow {} do not add up", journal.flow);
    explanation
}

/// Returns the instant at which the last packet was given out for the first time, in picoseconds.
fn first_sent(journal: &FlowJournal) -> u64 {
    let first = journal.log.sent.iter().find(|sent| sent.seq == journal.last.seq);
    first.expect("the last packet was given out").at.as_ps()
}

/// Explains the time until the last packet was given out for the first time, and the time that it waited at its NIC after it was
/// given out for the last time.
fn explain_sender(journal: &FlowJournal, first_sent: u64, parts: &mut Parts) {
    let nic = journal.journey.first().expect("a packet that has arrived has crossed a link");
    let mut waiting =
        Waiting::during(&[(journal.start.as_ps(), first_sent), (journal.last.stamp, nic.begun)]);
    let own = |again: bool| {
        let each = journal.own.iter().filter(move |(.., repeated)| *repeated == again);
        merged(each.map(|&(from, until, _)| (from, until)).collect())
    };
    parts.add(Cause::Serialisation, None, waiting.take(&own(false)));
    parts.add(Cause::Retransmission, None, waiting.take(&own(true)));
    let held = Held::of(journal, first_sent);
    parts.add(Cause::Retransmission, None, waiting.take(&common(&held.window, &repairs(journal))));
    let window = if journal.asks_for_credit { Cause::Credit } else { Cause::Window };
    parts.add(window, None, waiting.take(&held.window));
    parts.add(Cause::Pacing, None, waiting.take(&held.pacing));
    if journal.takes_slots {
        parts.add(Cause::Timeslot, None, waiting.take(&held.ready));
    }
    parts.add(Cause::Pause, Some(nic.link), waiting.take(&nic.paused));
    parts.add(Cause::Nic, Some(nic.link), waiting.take(&merged(journal.others.clone())));
    parts.add(Cause::Host, None, waiting.left());
}

/// Returns the times in which a packet that had been sent was to be sent again.
fn repairs(journal: &FlowJournal) -> Intervals {
    let mut first = BTreeMap::new();
    let mut again = BTreeMap::new();
    for sent in &journal.log.sent {
        if sent.again {
            again.insert(sent.seq, sent.at.as_ps());
        } else {
            first.insert(sent.seq, sent.at.as_ps());
        }
    }
    merged(again.iter().map(|(seq, &until)| (first[seq], until)).collect())
}

/// The times in which a sender's window or pacing held its next packet back, and those in which nothing did.
struct Held {
    window: Intervals,
    pacing: Intervals,
    ready: Intervals,
}

impl Held {
    /// Sorts a sender's answers before an instant.
    fn of(journal: &FlowJournal, until: u64) -> Held {
        let mut held = Held { window: Vec::new(), pacing: Vec::new(), ready: Vec::new() };
        let asked = &journal.log.asked;
        for (number, &(since, readiness)) in asked.iter().enumerate() {
            let since = since.as_ps();
            let next = asked.get(number + 1).map_or(until, |(next, _)| next.as_ps().min(until));
            match readiness {
                Readiness::Idle => held.window.push((since, next)),
                Readiness::Ready => held.ready.push((since, next)),
                Readiness::At(at) => {
                    let at = at.as_ps().clamp(since, next.max(since));
                    held.pacing.push((since, at));
                    held.ready.push((at, next));
                }
            }
        }
        let Held { window, pacing, ready } = held;
        let [window, pacing, ready] = [window, pacing, ready].map(merged);
        Held { window, pacing, ready }
    }
}

/// Parts so far, each cause at each port once.
#[derive(Default)]
struct Parts(BTreeMap<(Cause, Option<u32>), u64>);

impl Parts {
    fn add(&mut self, cause: Cause, link: Option<u32>, ps: u64) {
        *self.0.entry((cause, link)).or_default() += ps;
    }

    fn into_vec(self) -> Vec<Part> {
        let parts = self.0.into_iter().filter(|(_, ps)| *ps > 0);
        parts.map(|((cause, link), ps)| Part { cause, link, ps }).collect()
    }
}

/// Times that are not explained yet, in order and apart from each other.
struct Waiting(Intervals);

impl Waiting {
    fn during(times: &[(u64, u64)]) -> Waiting {
        Waiting(merged(times.to_vec()))
    }

    /// Explains what lies in these times, which are in order and apart. Returns how long that is.
    fn take(&mut self, explained: &[(u64, u64)]) -> u64 {
        let before = self.left();
        let mut left = Vec::new();
        let mut first = 0;
        for &(from, until) in &self.0 {
            let mut at = from;
            while explained.get(first).is_some_and(|&(_, ends)| ends <= from) {
                first += 1;
            }
            for &(begins, ends) in explained[first..].iter().take_while(|&&(begins, _)| begins < until) {
                left.push((at, begins.max(at)));
                at = ends.min(until);
            }
            left.push((at, until));
        }
        self.0 = merged(left);
        before - self.left()
    }

    fn left(&self) -> u64 {
        self.0.iter().map(|(from, until)| until - from).sum()
    }
}

/// Returns these times in order, without those that are empty, and as one where they touch.
fn merged(mut times: Intervals) -> Intervals {
    times.retain(|(from, until)| from < until);
    times.sort_unstable();
    let mut merged: Intervals = Vec::with_capacity(times.len());
    for (from, until) in times {
        match merged.last_mut() {
            Some((_, end)) if from <= *end => *end = until.max(*end),
            _ => merged.push((from, until)),
        }
    }
    merged
}

/// Returns the times that lie in both of these.
fn common(one: &[(u64, u64)], other: &[(u64, u64)]) -> Intervals {
    let (mut common, mut at) = (Vec::new(), 0);
    for &(from, until) in one {
        while other.get(at).is_some_and(|&(_, ends)| ends <= from) {
            at += 1;
        }
        let touching = other[at..].iter().take_while(|&&(begins, _)| begins < until);
        common.extend(touching.map(|&(begins, ends)| (begins.max(from), ends.min(until))));
    }
    common
}

#[cfg(test)]
mod tests {
    use super::{common, merged, Waiting};

    #[test]
    fn times_are_explained_once_and_what_is_left_stays() {
        let mut waiting = Waiting::during(&[(20, 30), (0, 10)]);
        assert_eq!(waiting.take(&[(2, 4), (8, 22), (25, 26)]), 2 + 2 + 2 + 1);
        assert_eq!(waiting.0, [(0, 2), (4, 8), (22, 25), (26, 30)]);
        assert_eq!(waiting.take(&[(3, 23)]), 4 + 1);
        assert_eq!(waiting.take(&[(0, 100)]), 2 + 2 + 4);
        assert_eq!((waiting.left(), waiting.take(&[(0, 100)])), (0, 0));
    }

    #[test]
    fn an_interval_may_explain_parts_of_several() {
        let mut waiting = Waiting::during(&[(0, 10), (20, 30), (40, 50)]);
        assert_eq!(waiting.take(&[(5, 45)]), 5 + 10 + 5);
        assert_eq!(waiting.0, [(0, 5), (45, 50)]);
    }

    #[test]
    fn times_that_touch_or_overlap_are_one() {
        assert_eq!(merged(vec![(5, 7), (1, 3), (3, 4), (6, 9), (8, 8)]), [(1, 4), (5, 9)]);
        assert_eq!(common(&[(0, 5), (6, 9)], &[(1, 2), (4, 7), (8, 20)]), [(1, 2), (4, 5), (6, 7), (8, 9)]);
    }
}
