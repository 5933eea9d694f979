//! Relays among the ports of the network: what comes to their ports, leaves them, and is said. See [`super::relay`].

use clearway_proto::pfc::quanta::{covering, lasting};
use clearway_proto::swing::relay::{Admission, Port as Side};
use clearway_proto::units::{Bytes, Span, Time};

use super::frames::Waited;
use super::memory::Memory;
use super::pfc::{Pause, Pfc, NO_PORT};
use super::ports::Ports;
use super::relay::RelayNode;
use super::scheduling::{each, only};
use crate::engine::calendar::Calendar;
use crate::engine::event::Frame;

impl Ports {
    /// Adds a relay, and gives its index. Its ports are to be connected.
    pub fn add_relay(&mut self, relay: RelayNode) -> u32 {
        self.relays.push(relay);
        (self.relays.len() - 1) as u32
    }

    /// Says which port a side of a relay is.
    pub fn connect_relay(&mut self, relay: u32, side: Side, at: u32) {
        self.relays[relay as usize].ports[side as usize] = at;
    }

    /// Takes account of a frame that has come to a relay's port. Returns `false` if there is no room.
    pub(super) fn charge_relay(
        &mut self,
        (relay, side): (u32, Side),
        class: usize,
        size: u32,
        now: u64,
    ) -> bool {
        let (length, now) = (Bytes::new(size.into()), Time::from_ps(now));
        let at = self.relays[relay as usize].ports[side as usize];
        let priority = priority_of(self.pfc_mut(at), class);
        let node = &mut self.relays[relay as usize];
        if !node.bypassed && node.machine.frame_arrived(side, priority, length, now) == Admission::Dropped {
            return false;
        }
        let thresholds = self.pfc_mut(at).thresholds;
        self.account_mut(at, class).take(&thresholds, size.into());
        self.tell_of_relay(relay);
        true
    }

    /// A frame that had come to a relay's port has left over the other.
    pub(super) fn release_relay(&mut self, (relay, side): (u32, Side), class: usize, size: u32, now: u64) {
        if self.relays[relay as usize].bypassed {
            return;
        }
        let leaves_on = match side {
            Side::Local => Side::Remote,
            Side::Remote => Side::Local,
        };
        let at = self.relays[relay as usize].ports[side as usize];
        let priority = priority_of(self.pfc_mut(at), class);
        let (size, now) = (Bytes::new(size.into()), Time::from_ps(now));
        self.relays[relay as usize].machine.frame_left(leaves_on, priority, size, now);
        self.tell_of_relay(relay);
    }

    /// A PAUSE or RESUME comes to the port of a relay in whose place there is a bypass: it leaves by the other. Returns whether
    /// it did.
    pub(super) fn bypass_signal(&mut self, at: u32, pause: Pause) -> bool {
        if !self.is_bypassed(at) {
            return false;
        }
        let pfc = self.pfc_mut(at);
        pfc.received += 1;
        let (relay, side) = pfc.relay.expect("only a relay is bypassed");
        let other = self.relays[relay as usize].ports[1 - side as usize];
        self.pfc_mut(other).signals.push_back(pause);
        self.told.push((other, pause.class));
        true
    }

    /// Returns whether a bypass is in the place of the relay of which a port is one.
    pub fn is_bypassed(&self, at: u32) -> bool {
        self.relay_of(at).is_some_and(|relay| relay.bypassed)
    }

    /// Returns whether a bypass is, or was, in the place of the relay of which a port is one.
    pub fn has_failed(&self, at: u32) -> bool {
        self.relay_of(at).is_some_and(|relay| relay.has_failed)
    }

    fn relay_of(&self, at: u32) -> Option<&RelayNode> {
        let (relay, _) = self.pfc(at)?.relay?;
        Some(&self.relays[relay as usize])
    }

    /// A relay of which a port is one fails now, or is back. Returns the frames that waited in one that fails, which are lost.
    pub fn bypass(&mut self, at: u32, now: u64, calendar: &mut Calendar) -> Vec<Frame> {
        let Some((relay, _)) = self.pfc(at).and_then(|pfc| pfc.relay) else { return Vec::new() };
        let node = &self.relays[relay as usize];
        match (node.bypassed, node.is_out(now)) {
            (false, true) => self.take_out(relay, now, calendar),
            (true, false) => {
                self.put_back(relay, now);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// A relay takes its place again. It has heard nothing, and finds the frames that wait behind a PAUSE which the bypass let
    /// through.
    fn put_back(&mut self, relay: u32, now: u64) {
        let node = &self.relays[relay as usize];
        let waiting = |side: Side, priority: usize| {
            let pfc = self.pfc(node.ports[side as usize]).expect("a relay's port has flow control");
            let class = each(pfc.lossless).nth(priority).expect("a class for each priority");
            Bytes::new(self.account(node.ports[side as usize], class).held())
        };
        let machine = node.machine.anew(waiting, Time::from_ps(now));
        let node = &mut self.relays[relay as usize];
        (node.machine, node.armed_at, node.bypassed) = (machine, 0, false);
        self.tell_of_relay(relay);
    }

    /// A bypass takes the place of a relay. Returns the frames that waited in it.
    fn take_out(&mut self, relay: u32, now: u64, calendar: &mut Calendar) -> Vec<Frame> {
        let node = &mut self.relays[relay as usize];
        (node.bypassed, node.has_failed) = (true, true);
        let ports = node.ports;
        let lost = ports.into_iter().flat_map(|at| self.lose_waiting(at, calendar)).collect();
        for at in ports {
            let rules = self.rules_mut(at);
            rules.paused = 0;
            rules.pfc.as_mut().expect("a relay's port has flow control").bypass(now);
            self.accounts.forget_pauses(at);
        }
        lost
    }

    /// Takes all frames that wait at a port, as dropped.
    fn lose_waiting(&mut self, at: u32, calendar: &mut Calendar) -> Vec<Frame> {
        let mut lost = Vec::new();
        let place = at as usize;
        for class in 0..self.rules[place].queues.len() {
            while self.rules[place].queued & only(class) != 0 {
                let rules = &mut self.rules[place];
                let queue = &mut rules.queues[class];
                let slot = self.frames.take(&mut queue.frames, calendar.slots());
                let Waited { frame, ingress, .. } = Waited::of(&calendar.release(slot));
                let size = frame.meta.size();
                queue.waiting -= size;
                queue.counters.dropped_frames += 1;
                queue.counters.dropped_bytes += u64::from(size);
                rules.waiting -= size;
                if queue.frames.is_empty() {
                    rules.queued &= !only(class);
                }
                let counters = self.counters.at(at);
                counters.dropped_frames += 1;
                counters.dropped_bytes += u64::from(size);
                if ingress != NO_PORT {
                    self.account_mut(ingress, class).release(size.into());
                } else if let Memory::Shared(memory) = self.rules[place].memory {
                    self.memories[memory as usize].used -= u64::from(size);
                }
                lost.push(frame);
            }
        }
        lost
    }

    /// A PAUSE or RESUME takes effect at a relay's port.
    pub(super) fn pass_on(&mut self, at: u32, pause: Pause, now: u64) {
        let Some(pfc) = self.pfc(at) else { return };
        let Some((relay, side)) = pfc.relay else { return };
        let priority = priority_of(pfc, pause.class.into());
        let quanta = covering(Span::from_ps(pause.time), self.rate(at));
        let machine = &mut self.relays[relay as usize].machine;
        machine.pause_received(side, priority, quanta, Time::from_ps(now));
        self.tell_of_relay(relay);
    }

    /// Port L of the relay of which a port is R; `None` of any other port, and inside a switch.
    pub fn other_side(&self, at: u32) -> Option<u32> {
        let (relay, side) = self.pfc(at)?.relay?;
        let local = self.relays[relay as usize].ports[Side::Local as usize];
        (side == Side::Remote && local != NO_PORT).then_some(local)
    }

    /// Checks that what relays count is what is on their ports' accounts, and that each is asked when it wants to be.
    pub fn assert_relays_balance(&self) {
        for node in self.relays.iter().filter(|node| !node.bypassed) {
            let due = node.machine.poll_timeout();
            let is_asked = due == Time::NEVER || (node.armed_at != 0 && node.armed_at <= due.as_ps());
            assert!(is_asked, "the relay of port {} is asked later than it wants to be", node.ports[1]);
            for side in [Side::Local, Side::Remote] {
                let at = node.ports[side as usize];
                let Some(pfc) = self.pfc(at).filter(|_| at != NO_PORT) else { continue };
                for class in each(pfc.lossless) {
                    let (counted, held) =
                        (node.machine.waiting(side, priority_of(pfc, class)), self.account(at, class).held());
                    assert_eq!(counted.get(), held, "the relay of port {at} has lost count of class {class}");
                }
            }
        }
    }

    /// Returns when a relay is to be asked whether a PAUSE must be repeated, if that is not to come anyway.
    pub(super) fn arm_relay(&mut self, relay: u32, now: u64) -> Option<u64> {
        let relay = &mut self.relays[relay as usize];
        if relay.bypassed {
            return None;
        }
        let due = relay.machine.poll_timeout();
        if due == Time::NEVER {
            return None;
        }
        let due = due.as_ps().max(now);
        let earlier = relay.armed_at == 0 || due < relay.armed_at;
        if earlier {
            relay.armed_at = due;
        }
        earlier.then_some(due)
    }

    /// A relay repeats those of its own PAUSEs that are due, and says when to ask again.
    pub(super) fn repeat_of_relay(&mut self, relay: u32, now: u64) -> Option<u64> {
        let node = &mut self.relays[relay as usize];
        if node.armed_at != now || node.bypassed {
            return None;
        }
        node.armed_at = 0;
        node.machine.handle_timeout(Time::from_ps(now));
        self.tell_of_relay(relay);
        self.arm_relay(relay, now)
    }

    /// The most bytes for which a relay lets the far end send, of which a port is R; `None` where it is not held for that.
    pub fn safety(&self, at: u32) -> Option<Bytes> {
        let (relay, _) = self.pfc(at)?.relay?;
        self.relays[relay as usize].machine.safety()
    }

    /// Takes what a relay has to say to its ports, and when it is to be asked again.
    fn tell_of_relay(&mut self, relay: u32) {
        for side in [Side::Local, Side::Remote] {
            while let Some(said) = self.relays[relay as usize].machine.poll_pfc(side) {
                let at = self.relays[relay as usize].ports[side as usize];
                let time = lasting(said.quanta, self.rate(at)).as_ps();
                let pfc = self.pfc_mut(at);
                let class = each(pfc.lossless).nth(said.priority).expect("a class for each priority") as u8;
                pfc.say(Pause { class, time });
                self.account_mut(at, class.into()).pausing = time > 0;
                self.told.push((at, class));
            }
        }
        // It may want to be asked earlier though it has nothing to say.
        let node = &self.relays[relay as usize];
        let due = node.machine.poll_timeout();
        if due != Time::NEVER && (node.armed_at == 0 || due.as_ps() < node.armed_at) {
            let at = node.ports[Side::Remote as usize];
            self.told.push((at, 0));
        }
    }
}

/// The priority as which a relay has a lossless class: its place among these.
fn priority_of(pfc: &Pfc, class: usize) -> usize {
    (pfc.lossless & (only(class) - 1)).count_ones() as usize
}
