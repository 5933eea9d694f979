//! What an arbiter knows of one endpoint, beside its counts.

use std::collections::VecDeque;

use crate::fastpass::fcp::message::MOST_GRANTED;
use crate::fastpass::fcp::{Address, Grant, Granted, Heard, List, Path};
use crate::units::{Span, Time};

use super::pace::Pace;
use super::params::ArbiterParams;

/// Grants that wait until an endpoint may be told of them: those of several batches. Older ones are dropped.
const MOST_PENDING: usize = 256;
/// Allocations of which it is remembered what they said: as many as an acknowledgement can speak of.
const MOST_UNACKNOWLEDGED: usize = 32;
/// An allocation that this many later ones have overtaken is lost: they take different paths, and may queue.
const OVERTAKEN_BY: u32 = 16;
/// An endpoint that is silent is not told its counts more often than this without a word from it.
const MOST_REPEATED: u8 = 16;
/// Resets that an endpoint is sent at the beginning of a term.
const RESETS: u8 = 5;

/// An endpoint as the arbiter knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    /// Its incarnation.
    pub(super) incarnation: u32,
    /// Requests of this incarnation that have come.
    pub(super) heard: Heard,
    /// The number of the last allocation to it in this term and incarnation.
    pub(super) seq: u32,
    /// The highest number of an allocation of another primary that it is known to have.
    pub(super) of_primary: u32,
    /// Grants of which it has not been told.
    pub(super) pending: VecDeque<Grant>,
    /// Destinations of which it has to be told the counts again.
    pub(super) untold: Vec<Address>,
    /// Allocations that it is not known to have, oldest first.
    unacknowledged: VecDeque<Sent>,
    /// Allocations whose fate is not known, oldest first, with the paths that they took.
    paths: VecDeque<(u32, Path)>,
    /// When the first request with demands came that has not been acknowledged.
    pub(super) owed: Option<Time>,
    /// Whether it has to be sent a reset.
    pub(super) reset: bool,
    /// When it is to be sent the next reset.
    pub(super) reset_at: Time,
    /// Before this it is not sent another reset.
    reset_allowed_at: Time,
    /// Whether it was found late in the present term not to follow it.
    came_late: bool,
    /// Resets that it is sent unless it is heard in the present term.
    resets: u8,
    /// Counts said again since it was last heard.
    repeated: u8,
    /// Paces allocations to it.
    pub(super) pace: Pace,
    /// Paces requests from it.
    pub(super) requests: Pace,
}

/// An allocation that is not known to have come.
#[derive(Clone, Copy, Debug)]
struct Sent {
    seq: u32,
    at: Time,
    granted: List<Granted, MOST_GRANTED>,
    /// Whether it is taken for lost; it may still come.
    lost: bool,
}

impl Client {
    /// Forgets everything but how often it may speak and be spoken to: it has started anew, or this arbiter's term has.
    pub(super) fn start_over(&mut self) {
        let Client {
            incarnation,
            reset_allowed_at,
            came_late,
            pace,
            requests,
            mut pending,
            mut untold,
            mut unacknowledged,
            ..
        } = std::mem::take(self);
        // The memory of lists is kept.
        pending.clear();
        untold.clear();
        unacknowledged.clear();
        *self = Client {
            incarnation,
            pending,
            untold,
            unacknowledged,
            reset_allowed_at,
            came_late,
            pace,
            requests,
            ..Client::default()
        };
    }

    /// Has it sent resets at the beginning of a term. Several, as one that follows the old primary while others follow the new
    /// one may use slots that others are granted, should the old one be alive.
    pub(super) fn begin_term(&mut self, now: Time) {
        (self.reset, self.reset_at, self.resets) = (true, now, RESETS);
        self.came_late = false;
    }

    /// Notes that it does not follow the present term though it has had time to. Returns whether that is new.
    pub(super) fn comes_late(&mut self) -> bool {
        !std::mem::replace(&mut self.came_late, true)
    }

    /// Has it sent a reset as soon as may be.
    pub(super) fn ask_reset(&mut self) {
        (self.reset, self.reset_at) = (true, self.reset_allowed_at);
    }

    /// Notes that it is heard in the present term.
    pub(super) fn follow(&mut self) {
        (self.reset, self.resets) = (false, 0);
    }

    /// Notes that a reset leaves now.
    pub(super) fn sent_reset(&mut self, now: Time, params: &ArbiterParams) {
        self.resets = self.resets.saturating_sub(1);
        self.reset = self.resets > 0;
        self.reset_at = now + params.retransmit / 4;
        self.reset_allowed_at = now + params.reset_interval;
    }

    /// Adds a grant of which the endpoint has to be told. The grant that had to make room for it, if any.
    pub(super) fn grant(&mut self, grant: Grant) -> Option<Grant> {
        let dropped = (self.pending.len() == MOST_PENDING).then(|| self.pending.pop_front()).flatten();
        self.pending.push_back(grant);
        dropped
    }

    /// Has the endpoint told the count of a destination again.
    pub(super) fn tell(&mut self, destination: Address) {
        if !self.untold.contains(&destination) {
            self.untold.push(destination);
        }
    }

    /// Notes the path of the allocation sent last.
    pub(super) fn took(&mut self, path: Path) {
        if self.paths.len() == MOST_UNACKNOWLEDGED {
            self.paths.pop_front();
        }
        self.paths.push_back((self.seq, path));
    }

    /// An allocation of which it is known by now whether it came: its path, and whether it was lost. To be asked until there is
    /// none.
    pub(super) fn poll_fate(&mut self, heard: Heard) -> Option<(Path, bool)> {
        // What is older than the endpoint can speak of may have come or not.
        while self.paths.front().is_some_and(|&(seq, _)| heard.latest.saturating_sub(seq) >= 32) {
            self.paths.pop_front();
        }
        let &(seq, path) = self.paths.front()?;
        let lost = !heard.contains(seq);
        if lost && heard.latest < seq.saturating_add(OVERTAKEN_BY) {
            return None;
        }
        self.paths.pop_front();
        Some((path, lost))
    }

    /// Takes the endpoint's word of which allocations have come. `counts` are its counts of slots granted, by destination: one
    /// that it knows as it is now need not be told again.
    pub(super) fn acknowledge(&mut self, heard: Heard, counts: &[u32]) {
        self.repeated = 0;
        let mut place = 0;
        while let Some(sent) = self.unacknowledged.get(place) {
            if !heard.contains(sent.seq) {
                place += 1;
                continue;
            }
            let granted = sent.granted;
            self.unacknowledged.remove(place);
            for told in granted.iter().filter(|told| counts[usize::from(told.destination)] == told.granted) {
                self.told(told.destination);
            }
        }
        self.unacknowledged.retain(|sent| !sent.granted.is_empty());
    }

    /// Notes that the endpoint knows the count of a destination.
    fn told(&mut self, destination: Address) {
        self.untold.retain(|&untold| untold != destination);
        for sent in &mut self.unacknowledged {
            let others = sent.granted.iter().filter(|granted| granted.destination != destination);
            sent.granted = others.copied().collect();
        }
    }

    /// Notes an allocation that leaves now.
    pub(super) fn sent(&mut self, now: Time, granted: List<Granted, MOST_GRANTED>, params: &ArbiterParams) {
        self.owed = None;
        self.pace.note(now, &params.pacer);
        if granted.is_empty() {
            return;
        }
        if self.unacknowledged.len() == MOST_UNACKNOWLEDGED {
            if let Some(sent) = self.unacknowledged.pop_front().filter(|sent| !sent.lost) {
                sent.granted.iter().for_each(|granted| self.tell(granted.destination));
            }
        }
        self.unacknowledged.push_back(Sent { seq: self.seq, at: now, granted, lost: false });
    }

    /// Takes the allocations for lost that have not been acknowledged in time. Returns whether there were any.
    pub(super) fn give_up(&mut self, now: Time, after: Span) -> bool {
        let mut any = false;
        for place in 0..self.unacknowledged.len() {
            let sent = self.unacknowledged[place];
            if sent.lost || sent.at + after > now {
                continue;
            }
            self.unacknowledged[place].lost = true;
            sent.granted.iter().for_each(|granted| self.tell(granted.destination));
            any = true;
        }
        self.repeated = self.repeated.saturating_add(u8::from(any));
        any
    }

    /// Returns when the endpoint is to be sent something next, if nothing happens meanwhile.
    pub(super) fn wake_at(&self, params: &ArbiterParams) -> Time {
        if self.reset {
            return self.reset_at;
        }
        let mut want = Time::NEVER;
        if !self.pending.is_empty() {
            want = Time::ZERO;
        }
        if let Some(owed) = self.owed {
            want = want.min(owed + params.acknowledge);
        }
        if self.repeated < MOST_REPEATED {
            if !self.untold.is_empty() {
                want = Time::ZERO;
            }
            if let Some(sent) = self.unacknowledged.iter().find(|sent| !sent.lost) {
                want = want.min(sent.at + params.retransmit);
            }
        }
        if want == Time::NEVER {
            want
        } else {
            want.max(self.pace.next(&params.pacer))
        }
    }
}
