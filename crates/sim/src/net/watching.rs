//! Which accounts that pause their links are to be watched in the next window.
//!
//! An account pauses its link until what is on it has come down to XON. Whether it can come down so far in a window is known before:
//! nothing but what is at the switch when the window begins takes it there, as what comes later adds as much as it takes away. So what
//! may leave in a window is counted by account, port by port; only where that reaches XON, the ends of transmissions have to be events
//! (see [`super::switches`]). Of a queue that may be as much as the link can send, whatever else the port has to send. Counting costs as much as
//! two or three such events, so where fewer frames leave in a window, all accounts are watched that pause their links.

use super::accounts::Accounts;
use super::ports::Ports;
use super::rules::Rules;
use super::switch::Switch;
use crate::engine::calendar::EventSlot;

/// How many frames have to be about to leave in a window for it to be worth counting what is on whose account: with fewer, an event for each
/// costs less.
const WORTH_COUNTING: u32 = 3;

/// For how many windows all accounts that pause their links are watched where it is not.
const RESTS: u32 = 32;

impl Ports {
    /// Returns whether there may be any switch of which an account pauses its link.
    #[inline(always)]
    pub fn any_pausing(&self) -> bool {
        !self.pausing_switches.is_empty()
    }

    /// Returns a switch of which it is to be found out now which accounts are to be watched, and its place in the list of those of which
    /// accounts pause their links: the first from this place on. Lists its ports that may have frames on such accounts.
    pub fn begin_to_watch(&mut self, mut place: usize) -> Option<(u32, usize)> {
        while let Some(&number) = self.pausing_switches.get(place) {
            let switch = &mut self.switches[number as usize];
            if switch.pausing == 0 {
                (switch.is_listed, switch.rests) = (false, 0);
                self.pausing_switches.swap_remove(place);
            } else if switch.rests > 0 {
                switch.rests -= 1;
                place += 1;
            } else {
                self.round += 1;
                self.list_with_paused(number);
                return Some((number, place));
            }
        }
        None
    }

    /// Has all accounts watched that pause their links, at the switch of port `at`, and lists the ports that may have frames on them:
    /// what may leave before the window ends has changed.
    pub fn watch_all_at(&mut self, at: u32) {
        self.with_paused.clear();
        let Some(rules) = self.rules_if_any(at) else { return };
        let number = rules.switch;
        let Some(switch) = self.switches.get_mut(number as usize) else { return };
        switch.watch_all();
        self.list_with_paused(number);
    }

    fn list_with_paused(&mut self, number: u32) {
        self.with_paused.clear();
        self.switches[number as usize].list_with_paused(&mut self.with_paused);
    }

    /// Counts what may leave over the listed ports of a switch, which have caught up, in a window of `length` picoseconds, and has those
    /// accounts watched that may then tell their links to go on; or, where few frames may leave, all that pause their links, for
    /// `RESTS` windows. Returns whether any account is watched.
    pub fn count_leaving(&mut self, number: u32, length: u64, events: &[EventSlot]) -> bool {
        let Ports { all, kinds, rules, accounts, frames, switches, with_paused, round, .. } = self;
        let (switch, waiting) = (&mut switches[number as usize], frames.within(events));
        switch.watch_none();
        let mut count = 0;
        for &at in with_paused.iter() {
            let (port, of) = (&all[at as usize], &rules[at as usize]);
            let (kind, transmits) = (&kinds[port.kind as usize], port.transmits());
            if transmits {
                count += 1;
                leave((rules, accounts), switch, *round, of.ingress, of.in_transmission);
            }
            for queue in &of.queues {
                let mut ends = 0;
                for waited in waiting.of(queue.frames) {
                    let size = waited.frame.meta.size();
                    ends += kind.transmission(size);
                    if ends >= length {
                        break;
                    }
                    count += u32::from(transmits);
                    leave((rules, accounts), switch, *round, waited.ingress, size);
                }
            }
        }
        if count < WORTH_COUNTING {
            switch.watch_all();
            switch.rests = RESTS;
        }
        switch.watches_any()
    }
}

/// A frame may leave before the next window ends that is on an account of port `ingress`.
#[inline(always)]
fn leave((rules, accounts): (&[Rules], &Accounts), switch: &mut Switch, round: u64, ingress: u32, size: u32) {
    switch.leave(round, ingress, size, || {
        rules[ingress as usize].pfc().map_or(u64::MAX, |pfc| pfc.above_resume(accounts.of(ingress)))
    });
}
