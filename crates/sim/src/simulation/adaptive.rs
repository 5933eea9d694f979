//! Adaptive routing: a switch chooses the port over which a frame goes on, of those on shortest paths. It takes the one that is
//! soonest free, as ultraethernet/uet-htsim does by the length of queues (`compare_queuesize` in `fat_tree_switch.cpp`).
//!
//! A flow whose packets go so has a route for each shortest path, as one that is sprayed, and a frame changes its route at the
//! switch. So what it has crossed, and how its acknowledgement goes back, is known as ever.

use super::fabric::Fabric;
use super::out::Out;
use super::plan::Plan;
use crate::net::port::Port;
use crate::random::mix;

impl Fabric {
    /// A frame reaches a switch that chooses where it goes on; its arrival stands in `slot`.
    #[inline(never)]
    pub(super) fn pass_on_by_choice(&mut self, plan: &Plan, out: &mut Out, slot: u32) {
        let at = self.choose_port(plan, out, slot);
        if self.ports.port(at).intersects(Port::RULED) {
            return self.pass_on_ruled(plan, out, at, slot);
        }
        let frame = out.calendar.release(slot).frame();
        self.offer(plan, out, at, frame);
    }

    /// Chooses the port over which the frame goes on whose arrival stands in `slot`, and gives it a route that does so.
    fn choose_port(&mut self, plan: &Plan, out: &mut Out, slot: u32) -> u32 {
        let event = *out.calendar.event(slot);
        let (now, hop) = (out.now, event.meta().hop());
        // Of ports that are alike any will do, and a draw keeps switches from choosing in step. What a frame's sequence number is,
        // may be in a parcel.
        let hash = mix(event.stamp ^ mix(event.route().into()));
        let mut best: Option<(u64, u64, u32, u32)> = None;
        let mut last = None;
        for (route, at) in plan.routes.alternatives(event.route(), hop) {
            // Several routes may begin with one port: the first of them stands for all here.
            if last == Some(at) {
                continue;
            }
            last = Some(at);
            if self.ports.port(at).intersects(Port::RULED) {
                self.catch_up(plan, out, at, now);
            }
            let link = u64::from(self.ports.port(at).link());
            let candidate = (self.ports.free_in(at, now), mix(hash ^ link), route, at);
            if best.is_none_or(|best| candidate < best) {
                best = Some(candidate);
            }
        }
        let (_, _, route, at) = best.expect("a frame's own route is one of those");
        let (events, _) = out.calendar.parts();
        let seq = event.route_seq & u64::from(u32::MAX);
        events[slot as usize].route_seq = u64::from(route) << 32 | seq;
        at
    }
}
