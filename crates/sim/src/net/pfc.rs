//! Priority flow control at a port: whom it pauses, and what pauses it. Accounts and what a PAUSE does are
//! [`clearway_proto::pfc`]'s; here is what a port has to say, when that leaves, and when it is to be asked again.
//!
//! A PAUSE is a frame of the link alone: it goes ahead of every queue, behind the frame in transmission, whether or not the
//! port is paused itself. It holds for a time, and is repeated when half of that has passed. No two are merged, and they
//! keep their order; unless the port replaces what has not left yet, as one that sends its state and not its history.

use std::collections::VecDeque;

use clearway_proto::pfc::account::{Account, Charged, Threshold, Thresholds};
use clearway_proto::pfc::hold::Hold;
use clearway_proto::pfc::quanta::PFC_FRAME;
use clearway_proto::swing::relay::Port as Side;
use clearway_proto::units::{Bytes, Span, Time};

use super::accounts::PortAccount;
use super::memory::SharedBuffer;
use super::scheduling::{only, ClassSet};

/// What a PAUSE takes on the wire, with preamble and gap.
pub const PAUSE_BYTES: u32 = PFC_FRAME.get() as u32;

/// No port: a frame that is on no account.
pub const NO_PORT: u32 = u32::MAX;

/// A frame of flow control, about one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// The class.
    pub class: u8,
    /// How long it is to pause, in picoseconds; 0: it is to go on.
    pub time: u64,
}

/// When a PAUSE is to be said again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Repeat {
    /// When it is due, in picoseconds.
    due: u64,
    /// When the next event for that comes, in picoseconds; 0: none is to come.
    armed_at: u64,
}

/// Flow control at a port.
#[derive(Debug)]
pub struct Pfc {
    /// The classes that have accounts; none at a port that pauses nobody.
    pub lossless: ClassSet,
    /// When what it says is to be said again, by class; empty where it pauses nobody.
    repeats: Vec<Repeat>,
    pub(super) thresholds: Thresholds,
    /// The index of the memory of which a dynamic threshold is a share.
    pub(super) memory: Option<u32>,
    /// The relay that has the accounts, and which of its ports this is; none: they are the port's own.
    pub(super) relay: Option<(u32, Side)>,
    /// How long a PAUSE holds, in picoseconds.
    pub(super) pause: u64,
    /// Time from the arrival of a PAUSE at the other end until that begins no further frame, in picoseconds.
    pub(super) response: u64,
    /// A PAUSE or RESUME of a class takes the place of one of the same class that has not left.
    replaces_unsent: bool,
    /// The bytes on an account may be known late: see [`super::switches`].
    pub(super) is_lazy: bool,
    /// The classes that the other end pauses, by class.
    pub(crate) holds: Vec<Hold>,
    /// The PAUSEs and RESUMEs to be sent, oldest first.
    pub(crate) signals: VecDeque<Pause>,
    /// What was sent of these.
    pub sent: u64,
    /// What the link has lost of them.
    pub lost: u64,
    /// The classes of which a PAUSE was sent last, and not a RESUME.
    pub told: ClassSet,
    /// The classes of which the link has lost what was sent last.
    pub last_signal_lost: ClassSet,
    /// What has taken effect at this port of those that the other end sent.
    pub received: u64,
    /// The classes in which a PAUSE has taken effect last, and not a RESUME.
    pub heard: ClassSet,
}

/// A frame of a lossless class for which there was no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// When, in picoseconds.
    pub at: u64,
    /// The link over which it came, backwards: that of the port with the account.
    pub link: u32,
    /// Its class.
    pub class: u8,
    /// What it weighs.
    pub bytes: u32,
    /// Bytes of the account in common room.
    pub common: u64,
    /// Bytes of the account in headroom.
    pub used: u64,
    /// The headroom.
    pub headroom: u64,
}

impl Pfc {
    /// Returns the flow control of a port with `classes` classes, which pauses nobody.
    pub fn new(classes: usize) -> Pfc {
        Pfc {
            lossless: 0,
            repeats: Vec::new(),
            thresholds: Thresholds { xoff: Threshold::Static(0), hysteresis: 0, headroom: 0 },
            memory: None,
            relay: None,
            pause: 0,
            response: 0,
            replaces_unsent: false,
            is_lazy: false,
            holds: vec![Hold::default(); classes],
            signals: VecDeque::new(),
            sent: 0,
            lost: 0,
            told: 0,
            last_signal_lost: 0,
            received: 0,
            heard: 0,
        }
    }

    /// Flow control of a port that pauses what sends to it in these classes, for `pause` picoseconds at a time; a PAUSE takes
    /// effect `response` picoseconds after it has arrived. A dynamic threshold needs a memory.
    pub fn pausing(
        classes: usize,
        lossless: ClassSet,
        thresholds: Thresholds,
        memory: Option<u32>,
        (pause, response): (u64, u64),
    ) -> Pfc {
        let repeats = vec![Repeat::default(); classes];
        Pfc { lossless, repeats, thresholds, memory, pause, response, ..Pfc::new(classes) }
    }

    /// Returns the flow control of a relay's port, which says what the relay decides: port R has `room` bytes, and no threshold.
    #[must_use]
    pub fn of_relay(self, relay: u32, side: Side, room: Option<u64>) -> Pfc {
        let without_threshold =
            |room| Thresholds { xoff: Threshold::Static(room), hysteresis: room, headroom: 0 };
        let thresholds = room.map_or(self.thresholds, without_threshold);
        Pfc { relay: Some((relay, side)), thresholds, ..self }
    }

    /// With `replaces_unsent`, a PAUSE or RESUME takes the place of one that has not left yet: the port sends its state, not its
    /// history.
    #[must_use]
    pub fn replacing_unsent(self, replaces_unsent: bool) -> Pfc {
        Pfc { replaces_unsent, ..self }
    }

    /// Has something to say to the link's other end.
    pub(super) fn say(&mut self, pause: Pause) {
        if self.replaces_unsent {
            self.signals.retain(|unsent| unsent.class != pause.class);
            if pause.time == 0 && self.told & only(pause.class.into()) == 0 {
                return; // The other end has not heard of the PAUSE.
            }
        }
        self.signals.push_back(pause);
    }

    /// A bypass takes the place of the relay of which this is a port: it says nothing any more, and obeys nothing.
    pub(super) fn bypass(&mut self, now: u64) {
        self.holds.iter_mut().for_each(|hold| hold.end(Time::from_ps(now)));
        self.signals.clear();
    }

    /// Forgets all pauses that the other end has asked for.
    pub(super) fn forget_holds(&mut self, now: u64) {
        self.holds.iter_mut().for_each(|hold| hold.end(Time::from_ps(now)));
        self.heard = 0;
    }

    /// A frame has come over the link, which is to be on this account of the port.
    pub(super) fn charge(
        &mut self,
        account: &mut Account,
        class: usize,
        size: u32,
        memory: Option<&SharedBuffer>,
    ) -> Charged {
        let charged = account.charge(&self.thresholds, size.into(), free(memory));
        if let Charged::Taken { pauses: true, .. } = charged {
            self.say(Pause { class: class as u8, time: self.pause });
        }
        charged
    }

    /// Returns by how many bytes the accounts that pause the link are above XON, at least; the largest number if none does. XOFF must not
    /// depend on what else is at the switch.
    pub(super) fn above_resume(&self, accounts: &[PortAccount]) -> u64 {
        let pausing = accounts.iter().filter(|of| of.account.pausing);
        let least = pausing.map(|of| of.account.held()).min();
        least.map_or(u64::MAX, |held| held.saturating_sub(self.thresholds.resumes_at(None)))
    }

    /// Bytes in common room at which it tells the link's other end to go on.
    pub(super) fn resumes_at(&self, memory: Option<&SharedBuffer>) -> u64 {
        self.thresholds.resumes_at(free(memory))
    }

    /// Tells the link's other end to go on, if it may.
    pub(super) fn resume_if_below(
        &mut self,
        account: &mut Account,
        class: usize,
        memory: Option<&SharedBuffer>,
    ) {
        if account.resume_if_below(&self.thresholds, free(memory)) {
            self.say(Pause { class: class as u8, time: 0 });
        }
    }

    /// A PAUSE or RESUME is sent, and perhaps lost.
    pub(super) fn note_sent(&mut self, pause: Pause, lost: bool) {
        self.sent += 1;
        self.lost += u64::from(lost);
        set(&mut self.told, pause.class, pause.time > 0);
        set(&mut self.last_signal_lost, pause.class, lost);
    }

    /// Returns what is to be said last of a class, if anything is still to be said.
    pub fn last_unsent(&self, class: usize) -> Option<Pause> {
        self.signals.iter().rev().find(|pause| usize::from(pause.class) == class).copied()
    }

    /// Returns whether XOFF is a fixed number of bytes, whatever else is at the switch.
    pub fn is_static(&self) -> bool {
        !self.thresholds.xoff.is_dynamic()
    }

    /// A PAUSE was sent: when the port is to be asked whether it must be repeated, if that is not to come anyway.
    pub(super) fn arm_repeat(&mut self, class: usize, now: u64) -> Option<u64> {
        let repeat = &mut self.repeats[class];
        repeat.due = now + self.pause / 2;
        if repeat.armed_at != 0 {
            return None;
        }
        repeat.armed_at = repeat.due;
        Some(repeat.due)
    }

    /// Repeats those PAUSEs that are due at `now`, and tells `again` when to ask again.
    pub(super) fn repeat(&mut self, accounts: &[PortAccount], now: u64, mut again: impl FnMut(u64)) {
        let armed = self.repeats.iter_mut().zip(accounts).enumerate();
        for (class, (repeat, of)) in armed.filter(|(_, (repeat, _))| repeat.armed_at == now) {
            if !of.account.pausing {
                repeat.armed_at = 0;
                continue;
            }
            if repeat.due <= now {
                repeat.due = now + self.pause / 2;
                self.signals.push_back(Pause { class: class as u8, time: self.pause });
            }
            repeat.armed_at = repeat.due;
            again(repeat.due);
        }
    }

    /// A PAUSE or RESUME takes effect here: the classes that are paused from now on, and when to ask whether it has run
    /// out, if that is not to come anyway.
    pub(super) fn hold(&mut self, pause: Pause, paused: ClassSet, now: u64) -> (ClassSet, Option<u64>) {
        self.received += 1;
        set(&mut self.heard, pause.class, pause.time > 0);
        let class = usize::from(pause.class);
        let asks = self.holds[class].take(Span::from_ps(pause.time), Time::from_ps(now));
        (self.with_hold(paused, class), asks.map(Time::as_ps))
    }

    /// The classes that are still paused at `now`; `again` is told when to ask again.
    pub(super) fn expire(&mut self, mut paused: ClassSet, now: u64, mut again: impl FnMut(u64)) -> ClassSet {
        for class in 0..self.holds.len() {
            if let Some(at) = self.holds[class].expire(Time::from_ps(now)) {
                again(at.as_ps());
            }
            paused = self.with_hold(paused, class);
        }
        paused
    }

    /// Returns the classes `paused`, and `class` among them just if it is paused.
    fn with_hold(&self, mut paused: ClassSet, class: usize) -> ClassSet {
        set(&mut paused, class as u8, self.holds[class].is_paused());
        paused
    }

    /// Returns whether the last PAUSE of a class, after which no RESUME has come, does not hold any more when all before `now`
    /// has happened.
    pub fn has_run_out(&self, class: usize, now: u64) -> bool {
        self.holds[class].has_run_out(Time::from_ps(now))
    }

    /// Returns how often a PAUSE has run out here.
    pub fn ran_out(&self) -> u64 {
        self.holds.iter().map(|hold| hold.ran_out).sum()
    }

    /// A class as the other end holds it.
    pub fn hold_of(&self, class: usize) -> &Hold {
        &self.holds[class]
    }

    /// Returns how long a class was paused so far.
    pub fn paused_for(&self, class: usize, now: u64) -> Span {
        self.holds[class].paused_for(Time::from_ps(now))
    }

    /// Time from the arrival of a PAUSE at the other end until that begins no further frame.
    pub fn response(&self) -> Span {
        Span::from_ps(self.response)
    }

    /// Returns whether it is that of a relay's port.
    pub fn is_of_relay(&self) -> bool {
        self.relay.is_some()
    }

    /// Room of each account where that does not depend on what else is at the switch, in bytes.
    pub fn room(&self) -> u64 {
        self.thresholds.room()
    }

    /// Room of each account beyond XOFF, in bytes.
    pub fn headroom(&self) -> u64 {
        self.thresholds.headroom
    }

    /// XOFF less XON.
    pub fn hysteresis(&self) -> Bytes {
        Bytes::new(self.thresholds.hysteresis)
    }

    /// PAUSEs and RESUMEs that are to be sent.
    pub fn unsent(&self) -> usize {
        self.signals.len()
    }
}

/// The bytes of a memory that are free.
#[inline]
fn free(memory: Option<&SharedBuffer>) -> Option<u64> {
    memory.map(|memory| memory.size - memory.used)
}

/// Puts a class into a set or takes it out.
fn set(of: &mut ClassSet, class: u8, is_in: bool) {
    let class = only(class.into());
    *of = if is_in { *of | class } else { *of & !class };
}

#[cfg(test)]
mod tests;
