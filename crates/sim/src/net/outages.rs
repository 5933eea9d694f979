//! Changes of a link at its ruled port: its rate, the frames that wait for a link that dies, and what flow control had
//! said over it.

use clearway_proto::units::Rate;

use super::frames::Waited;
use super::memory::Memory;
use super::pfc::{Pause, NO_PORT};
use super::port::PortKind;
use super::ports::Ports;
use super::scheduling::{each, only};
use crate::engine::calendar::Calendar;
use crate::engine::event::Frame;

impl Ports {
    /// Has a ruled port transmit at this rate from now on, or at its usual one if none is given. What it transmits already goes on as it began.
    pub fn set_rate(&mut self, at: u32, usual: u16, rate: Option<Rate>) {
        let (ends, until_now) = (self.port(at).busy_until, self.kind(at).rate);
        if let Some(changes) = self.changes.get_mut(&at) {
            // A frame that several changes find in transmission leaves at the rate of the first.
            changes.under_way =
                changes.under_way.filter(|(other, _)| *other == ends).or(Some((ends, until_now)));
        }
        let Some(rate) = rate else {
            self.all[at as usize].kind = usual;
            return;
        };
        let kind = self.kinds[usize::from(usual)].at_rate(rate);
        let same = |other: &PortKind| other == &kind;
        let place = self.kinds.iter().position(same).unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        self.all[at as usize].kind = u16::try_from(place).expect("fewer kinds of port than 65536");
    }

    /// The rate at which the frame leaves that is in transmission at a port until `ends`, in picoseconds.
    pub fn rate_under_way(&self, at: u32, ends: u64) -> Rate {
        let under_way = self.changes.get(&at).and_then(|changes| changes.under_way);
        under_way.filter(|(other, _)| *other == ends).map_or(self.kind(at).rate, |(_, rate)| rate)
    }

    /// Takes all frames that wait at a ruled port, with their classes: they are lost.
    pub fn take_waiting(&mut self, at: u32, now: u64, calendar: &mut Calendar) -> Vec<(usize, Frame)> {
        let mut lost = Vec::new();
        let place = at as usize;
        for class in 0..self.rules[place].queues.len() {
            while self.rules[place].queued & only(class) != 0 {
                let (port, rules) = (&mut self.all[at as usize], &mut self.rules[place]);
                let queue = &mut rules.queues[class];
                let slot = self.frames.take(&mut queue.frames, calendar.slots());
                let Waited { frame, since, ingress } = Waited::of(&calendar.release(slot));
                let (size, memory) = (frame.meta.size(), rules.memory);
                queue.waiting -= size;
                rules.waiting -= size;
                if queue.frames.is_empty() {
                    rules.queued &= !only(class);
                }
                port.count_wait(now - since, size);
                if ingress != NO_PORT {
                    self.release(ingress, class, size, now);
                } else if let Memory::Shared(memory) = memory {
                    self.memories[memory as usize].used -= u64::from(size);
                }
                lost.push((class, frame));
            }
        }
        lost
    }

    /// A port forgets what pauses it: the other end of its link is dead.
    pub fn forget_pauses(&mut self, at: u32, now: u64) {
        let rules = self.rules_mut(at);
        if let Some(pfc) = &mut rules.pfc {
            pfc.forget_holds(now);
            rules.paused = 0;
        }
    }

    /// A port says again which classes it pauses, as its link lives again. A relay's ports say what their relay decides.
    pub fn say_pauses_again(&mut self, at: u32) {
        let Some(pfc) = self.pfc(at).filter(|pfc| pfc.relay.is_none()) else { return };
        let pausing = each(pfc.lossless).filter(|&class| self.account(at, class).pausing);
        let pausing: Vec<usize> = pausing.collect();
        let pfc = self.pfc_mut(at);
        for &class in &pausing {
            let pause = Pause { class: class as u8, time: pfc.pause };
            pfc.signals.push_back(pause);
        }
        self.told.extend(pausing.into_iter().map(|class| (at, class as u8)));
    }
}
