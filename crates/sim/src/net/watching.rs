//! Which accounts that pause their links are to be watched in the next window.
//!
//! An account pauses its link until what is on it has come down to XON. Whether it can come down so far in a window is known before:
//! nothing but what is at the switch when the window begins takes it there, as what comes later adds as much as it takes away. So what
//! may leave in a window is counted by account, port by port; only where that reaches XON, the ends of transmissions have to be events
//! (see [`super::switches`]). Of a queue that may be as much as the link can send, whatever else the port has to send.

use super::ports::Ports;
use super::rules::Rules;
use super::switch::Switch;

impl Ports {
    /// Returns the switch of this place among those of which accounts pause their links, and lists its ports that may have frames on such
    /// accounts. None of these is watched any more. Returns `None` if there is no such switch.
    pub fn begin_to_watch(&mut self, place: usize) -> Option<u32> {
        while let Some(&number) = self.pausing_switches.get(place) {
            let switch = &mut self.switches[number as usize];
            if switch.pausing != 0 {
                switch.watch_none();
                self.round += 1;
                self.list_with_paused(number);
                return Some(number);
            }
            switch.is_listed = false;
            self.pausing_switches.swap_remove(place);
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
    /// accounts watched that may then tell their links to go on. Returns whether there are any.
    pub fn count_leaving(&mut self, number: u32, length: u64) -> bool {
        let Ports { all, kinds, rules, frames, switches, with_paused, round, .. } = self;
        let switch = &mut switches[number as usize];
        for &at in with_paused.iter() {
            let (port, of) = (&all[at as usize], &rules[at as usize]);
            let kind = &kinds[port.kind as usize];
            if port.transmits() {
                leave(rules, switch, *round, of.ingress, of.in_transmission);
            }
            for queue in &of.queues {
                let mut ends = 0;
                for waited in frames.iter(queue.frames) {
                    let size = waited.frame.meta.size();
                    ends += kind.transmission(size);
                    if ends >= length {
                        break;
                    }
                    leave(rules, switch, *round, waited.ingress, size);
                }
            }
        }
        switch.watches_any()
    }
}

/// A frame may leave before the next window ends that is on an account of port `ingress`.
#[inline(always)]
fn leave(rules: &[Rules], switch: &mut Switch, round: u64, ingress: u32, size: u32) {
    switch.leave(round, ingress, size, || {
        rules[ingress as usize].pfc.as_ref().map_or(u64::MAX, |pfc| pfc.above_resume())
    });
}
