//! Flow control among the ports of a switch: the account of a frame is at the port that it came to, and the frame at the
//! one that it leaves by. See [`super::pfc`] and [`super::accounts`].

use clearway_proto::pfc::account::{Account, Charged};

use super::accounts::PortAccount;
use super::memory::SharedBuffer;
use super::pfc::{Overflow, Pause, Pfc, NO_PORT, PAUSE_BYTES};
use super::port::Port;
use super::ports::Ports;
use super::scheduling::{each, only, ClassSet};
use crate::engine::calendar::EventSlot;

/// A PAUSE or RESUME whose transmission has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// What it says.
    pub pause: Pause,
    /// When it takes effect at the link's end, in picoseconds; none if the link loses it.
    pub arrives: Option<u64>,
    /// There is more to be said.
    pub more: bool,
}

impl Ports {
    /// Returns whether a port has an account of this class for what comes over its link.
    pub fn has_account(&self, at: u32, class: usize) -> bool {
        at != NO_PORT && self.rules_if_any(at).is_some_and(|rules| rules.lossless & only(class) != 0)
    }

    /// An account of a port that has one.
    pub fn account(&self, at: u32, class: usize) -> &Account {
        &self.accounts.get(at, class).account
    }

    /// An account of a port that has one, to be changed.
    pub(crate) fn account_mut(&mut self, at: u32, class: usize) -> &mut Account {
        &mut self.accounts.get_mut(at, class).account
    }

    /// Puts a frame that has come to a port on the port's account, if that needs nothing else: either nobody need know how much
    /// is on it exactly, or it pauses its link already and has room. Returns whether it did.
    #[inline(always)]
    pub(super) fn charge_alone(&mut self, at: u32, class: usize, size: u32) -> bool {
        let Some(PortAccount { account, unseen_up_to, .. }) = self.accounts.find_mut(at, class) else {
            return false;
        };
        if account.common + u64::from(size) <= *unseen_up_to {
            account.common += u64::from(size);
            return true;
        }
        account.pausing && self.charge_pausing(at, class, size)
    }

    /// A frame has left that a port has on its account: takes it off, if nobody need know at once. Returns whether it did.
    #[inline(always)]
    pub(super) fn release_unseen(&mut self, at: u32, class: usize, size: u32) -> bool {
        let PortAccount { account, unseen_up_to, unseen_above } = self.accounts.get_mut(at, class);
        if *unseen_up_to != 0 {
            account.common -= u64::from(size);
            return true;
        }
        let unseen = account.held() - u64::from(size) > *unseen_above;
        if unseen {
            account.release(size.into());
        }
        unseen
    }

    /// Flow control at a port that has some, to be changed.
    pub(crate) fn pfc_mut(&mut self, at: u32) -> &mut Pfc {
        let rules = self.rules_mut(at);
        rules.pfc.as_mut().expect("a port of a network with flow control")
    }

    /// A port's flow control, its account of a class, and the memory of which its thresholds are a share.
    #[inline(always)]
    fn pfc_and_account(
        &mut self,
        at: u32,
        class: usize,
    ) -> (&mut Pfc, &mut PortAccount, Option<&mut SharedBuffer>) {
        let pfc = self.rules[at as usize].pfc.as_mut().expect("a port of a network with flow control");
        let memory = pfc.memory.map(|memory| &mut self.memories[memory as usize]);
        (pfc, self.accounts.get_mut(at, class), memory)
    }

    /// Puts a frame that has come to a port on its account. Returns `false` if there is no room.
    pub(super) fn charge(&mut self, at: u32, class: usize, size: u32, now: u64) -> bool {
        let taken = match self.pfc_mut(at).relay {
            None => self.charge_account(at, class, size),
            Some(relay) => self.charge_relay(relay, class, size, now),
        };
        if !taken {
            let account = *self.account(at, class);
            let (headroom, link) = (self.pfc_mut(at).thresholds.headroom, self.port(at).link());
            let (common, used) = (account.common, account.headroom);
            let first = Overflow { at: now, link, class: class as u8, bytes: size, common, used, headroom };
            self.overflow.get_or_insert(first);
        }
        taken
    }

    /// Does what [`Self::charge`] does at a port that has its accounts to itself.
    fn charge_account(&mut self, at: u32, class: usize, size: u32) -> bool {
        let (pfc, of, memory) = self.pfc_and_account(at, class);
        let (before, paused) = (pfc.unsent(), of.account.pausing);
        let charged = pfc.charge(&mut of.account, class, size, memory.as_deref());
        let Charged::Taken { common, .. } = charged else { return false };
        if let Some(memory) = memory {
            memory.used += common;
        }
        let (after, pauses) = (pfc.unsent(), of.account.pausing);
        of.note_unseen(&pfc.thresholds, pfc.is_lazy);
        if after > before {
            self.told.push((at, class as u8));
        }
        if pauses != paused {
            self.note_pausing(at, pauses);
        }
        true
    }

    /// A frame that a port has on its account has left at `now`.
    pub(super) fn release(&mut self, at: u32, class: usize, size: u32, now: u64) {
        let (pfc, of, memory) = self.pfc_and_account(at, class);
        let (before, paused) = (pfc.unsent(), of.account.pausing);
        let freed = of.account.release(size.into());
        if let Some(relay) = pfc.relay {
            self.release_relay(relay, class, size, now);
            return;
        }
        match memory {
            Some(memory) => {
                memory.used -= if pfc.is_static() { 0 } else { freed };
                pfc.resume_if_below(&mut of.account, class, Some(memory));
            }
            None => pfc.resume_if_below(&mut of.account, class, None),
        }
        let (after, pauses) = (pfc.unsent(), of.account.pausing);
        of.note_unseen(&pfc.thresholds, pfc.is_lazy);
        if after > before {
            self.told.push((at, class as u8));
        }
        if pauses != paused {
            self.note_pausing(at, pauses);
        }
    }

    /// Returns whether any port's flow control may have something to say or to be asked for, or has begun to pause a link.
    #[inline]
    pub fn has_told(&self) -> bool {
        !self.told.is_empty() || !self.pausing_anew.is_empty()
    }

    /// A port of which an account has begun to pause its link, so that who may have frames on it is to be watched; `None` where
    /// all are.
    pub fn next_pausing(&mut self) -> Option<u32> {
        self.pausing_anew.pop()
    }

    /// A port whose flow control may have something to say or to be asked for, and the class that it is about; `None` where all
    /// is said.
    pub fn next_told(&mut self) -> Option<(u32, usize)> {
        self.told.pop().map(|(at, class)| (at, class.into()))
    }

    /// Returns whether a port has anything to say to the link's other end.
    pub fn is_told(&self, at: u32) -> bool {
        self.rules(at).pfc().is_some_and(|pfc| pfc.unsent() > 0)
    }

    /// Does what [`Self::charge_alone`] does for an account that pauses its link. More may be on it than is there, so it must not
    /// become the most that it ever had.
    #[inline]
    fn charge_pausing(&mut self, at: u32, class: usize, size: u32) -> bool {
        let (pfc, PortAccount { account, .. }, _) = self.pfc_and_account(at, class);
        pfc.is_lazy
            && account.held() + u64::from(size) <= account.peak
            && pfc.charge(account, class, size, None) != Charged::Overflow
    }

    /// Returns whether a ruled port transmits.
    pub fn transmits(&self, at: u32) -> bool {
        self.port(at).transmits()
    }

    /// Returns when it is to be asked whether a PAUSE must be repeated, if that is not to come anyway and a class is paused.
    pub fn arm_repeat(&mut self, at: u32, class: usize, now: u64) -> Option<u64> {
        let (pfc, of, _) = self.pfc_and_account(at, class);
        if let Some((relay, _)) = pfc.relay {
            return self.arm_relay(relay, now);
        }
        if of.account.pausing {
            pfc.arm_repeat(class, now)
        } else {
            None
        }
    }

    /// Repeats what is due of a port's PAUSEs, and tells `again` when to ask again.
    pub fn repeat(&mut self, at: u32, now: u64, again: impl FnMut(u64)) {
        if let Some((relay, _)) = self.pfc_mut(at).relay {
            return self.repeat_of_relay(relay, now).into_iter().for_each(again);
        }
        let pfc = self.rules[at as usize].pfc.as_mut().expect("a port of a network with flow control");
        pfc.repeat(self.accounts.of(at), now, again);
    }

    /// Sends the first thing that a port's flow control has to say.
    pub fn send_signal(&mut self, at: u32, now: u64) -> Told {
        let (port, rules) = (&mut self.all[at as usize], &mut self.rules[at as usize]);
        debug_assert!(!port.transmits() && port.busy_until <= now);
        let pfc = rules.pfc.as_mut().expect("a port of a network with flow control");
        let pause = pfc.signals.pop_front().expect("a port has its turn when it has something to say");
        let kind = &self.kinds[port.kind as usize];
        let ends = now + kind.transmission(PAUSE_BYTES);
        port.busy_until = ends;
        port.flags |= Port::TRANSMITS;
        // It takes no room, and is no frame of a class.
        rules.in_transmission = 0;
        rules.ingress = NO_PORT;
        let arrives = ends + kind.delay.as_ps();
        let special = rules.special.as_mut();
        let lost = special.is_some_and(|special| special.loses_signal(PAUSE_BYTES, (now, arrives)));
        pfc.note_sent(pause, lost);
        let arrives = (!lost).then_some(arrives + pfc.response);
        Told { pause, arrives, more: pfc.unsent() > 0 }
    }

    /// A PAUSE or RESUME takes effect at a port: when to ask whether it has run out, if that is not to come anyway.
    pub fn hold(&mut self, at: u32, pause: Pause, now: u64) -> Option<u64> {
        if self.bypass_signal(at, pause) {
            return None;
        }
        let rules = self.rules_mut(at);
        let pfc = rules.pfc.as_mut().expect("only ports with flow control are paused");
        let (paused, expires) = pfc.hold(pause, rules.paused, now);
        rules.paused = paused;
        self.pass_on(at, pause, now);
        expires
    }

    /// Frees the classes of a port whose PAUSE has run out, and tells `again` when to ask again.
    pub fn expire(&mut self, at: u32, now: u64, again: impl FnMut(u64)) {
        let rules = self.rules_mut(at);
        let pfc = rules.pfc.as_mut().expect("only ports with flow control are paused");
        rules.paused = pfc.expire(rules.paused, now, again);
    }

    /// The classes of a port that the link's other end pauses.
    #[inline]
    pub fn paused(&self, at: u32) -> ClassSet {
        self.rules_if_any(at).map_or(0, |rules| rules.paused)
    }

    /// Flow control at a port, if there is any.
    pub fn pfc(&self, at: u32) -> Option<&Pfc> {
        self.rules_if_any(at).and_then(|rules| rules.pfc())
    }

    /// Bytes in common room at which a port tells the link's other end to go on.
    pub fn resumes_at(&self, at: u32) -> u64 {
        let pfc = self.pfc(at).expect("a port of a network with flow control");
        pfc.resumes_at(pfc.memory.map(|memory| &self.memories[memory as usize]))
    }

    /// The frames that wait at a port and are on an account: at which port that is, their class and size.
    pub fn waiting_on_accounts<'a>(
        &'a self,
        at: u32,
        events: &'a [EventSlot],
    ) -> impl Iterator<Item = (u32, usize, u64)> + 'a {
        let rules = self.rules_if_any(at);
        let queues = rules.into_iter().flat_map(|rules| rules.queues.iter().enumerate());
        queues.flat_map(|(class, queue)| {
            let waiting =
                self.frames.within(events).of(queue.frames).filter(|waited| waited.ingress != NO_PORT);
            waiting.map(move |waited| (waited.ingress, class, waited.frame.meta.size().into()))
        })
    }

    /// The first frame of a lossless class for which there was no room.
    pub fn overflow(&self) -> Option<Overflow> {
        self.overflow
    }

    /// Checks that every account is what of it is at the switch.
    pub(super) fn assert_accounts_balance(&self, events: &[EventSlot]) {
        let mut held = vec![Vec::new(); self.len()];
        let mut add = |ingress: u32, class: usize, bytes: u32| {
            if ingress != NO_PORT {
                let of = &mut held[ingress as usize];
                of.resize(of.len().max(class + 1), 0_u64);
                of[class] += u64::from(bytes);
            }
        };
        for (port, rules) in self.ruled() {
            for (class, queue) in rules.queues.iter().enumerate() {
                for waited in self.frames.within(events).of(queue.frames) {
                    add(waited.ingress, class, waited.frame.meta.size());
                }
            }
            if port.transmits() {
                add(rules.ingress, rules.sending.into(), rules.in_transmission);
            }
        }
        for (at, held) in held.iter().enumerate() {
            let Some(pfc) = self.rules_if_any(at as u32).and_then(|rules| rules.pfc()) else {
                assert!(held.is_empty(), "port {at} has frames on an account that it has not");
                continue;
            };
            for class in each(pfc.lossless) {
                let account = self.account(at as u32, class).held();
                let held = held.get(class).copied().unwrap_or(0);
                assert_eq!(account, held, "port {at} has lost count of class {class}'s account");
            }
        }
        self.assert_relays_balance();
    }
}
