//! What flow control has done to links, the first drop in a lossless class, and links that wait for each other for ever.

use std::collections::BTreeMap;

use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::swing::holding::Holding;
use clearway_proto::units::{Bytes, Span, Time};

use super::simulator::Simulation;
use crate::net::pfc::Pfc;
use crate::net::scheduling::{each, only};

/// What flow control has done to a directed link, in one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkPauses {
    /// The class; 0 where there are no classes.
    pub class: usize,
    /// How long it was paused.
    pub paused: Span,
    /// How often.
    pub pauses: u64,
    /// PAUSEs and RESUMEs that were sent against it, in all classes.
    pub frames: u64,
    /// How many of these were lost.
    pub lost: u64,
    /// Most bytes that it had brought and that were still at the switch.
    pub peak: u64,
    /// Most of these that were beyond XOFF.
    pub peak_headroom: u64,
    /// Room beyond XOFF.
    pub headroom: u64,
}

/// Why there was no room at port R of a relay at the end of this fibre, with what can be done.
fn why_relay_was_full(fibre: &LosslessLink, pfc: &Pfc, safety: Option<Bytes>) -> String {
    let bytes = |time: Span| fibre.rate.sent_in(time).get();
    let lost = match pfc.lost {
        0 => String::new(),
        lost => format!(" {lost} PAUSEs and RESUMEs against this link were lost."),
    };
    let Some(safety) = safety.map(Bytes::get) else {
        let needed = fibre.headroom();
        let (round_trip, before_pause) =
            (bytes(needed.round_trip), needed.any_sizes().get() - bytes(needed.round_trip));
        let because = if pfc.room() < round_trip + before_pause {
            "That is more than there is room for: leave relay_buffer out, or raise it"
        } else {
            "More comes where the far end's clock is faster, PAUSEs are lost, or they wait behind frames and RESUMEs do not, each \
             time a little: set relay_safety, raise relay_buffer"
        };
        return format!(
            "A round trip brings {round_trip} bytes, and what is sent before a PAUSE works {before_pause}.{lost} {because}"
        );
    };
    if pfc.room() >= safety {
        return format!(
            "The far end is held for {safety} bytes, so that more comes only where its clock is faster or PAUSEs are lost.{lost} \
             Raise relay_buffer"
        );
    }
    let holding = Holding::of(fibre);
    let (round_trip, overrun) = (bytes(holding.round_trip), holding.overrun.get());
    format!(
        "The far end is held only for {safety}: {round_trip} of a round trip, {overrun} that a grant brings beyond its length, and \
         {} of PAUSE, hysteresis and what counting in parts of a round trip takes.{lost} Leave relay_buffer out, or give that much",
        safety.saturating_sub(round_trip + overrun),
    )
}

/// A link that is paused in a class.
type Held = (u32, usize);

impl Simulation {
    /// Returns the flow control of the port that feeds a link, which says how long it was paused; `None` where it has none.
    pub fn flow_control(&self, link: u32) -> Option<&Pfc> {
        let (domain, at) = self.domain_of_port(link);
        domain.fabric.ports.pfc(at)
    }

    /// Returns what flow control has done to a link, for each lossless class; nothing where its end pauses nobody.
    pub fn link_pauses(&self, link: u32) -> Vec<LinkPauses> {
        let (receiving, account_at) = self.domain_of_port(link ^ 1);
        let (sending, at) = self.domain_of_port(link);
        let (Some(far), Some(near)) = (receiving.fabric.ports.pfc(account_at), sending.fabric.ports.pfc(at))
        else {
            return Vec::new();
        };
        let row = |class: usize| LinkPauses {
            class,
            paused: near.paused_for(class, self.time.as_ps()),
            pauses: near.hold_of(class).times,
            frames: far.sent,
            lost: far.lost,
            peak: receiving.fabric.ports.account(account_at, class).peak,
            peak_headroom: receiving.fabric.ports.account(account_at, class).peak_headroom,
            headroom: far.headroom(),
        };
        each(far.lossless).map(row).collect()
    }

    /// The first frame of a lossless class that was dropped, and what was missing, in words; `None` if there is none.
    pub fn first_lossless_drop(&self) -> Option<String> {
        let drops = self.domains.iter().filter_map(|domain| domain.fabric.ports.overflow());
        let drop = drops.min_by_key(|drop| (drop.at, drop.link))?;
        // The account is at the port that leads back.
        let link = self.graph().link(drop.link ^ 1);
        let (domain, at) = self.domain_of_port(drop.link);
        let pfc = domain.fabric.ports.pfc(at)?;
        let name = |node: u32| &self.graph().nodes()[node as usize].name;
        let fibre = LosslessLink {
            response: pfc.response(),
            priorities: pfc.lossless.count_ones() as u8,
            hysteresis: pfc.hysteresis(),
            ..LosslessLink::new(link.rate, link.delay, self.plan.longest_frame)
        };
        if pfc.is_of_relay() && pfc.headroom() == 0 {
            return Some(format!(
                "at {:.3} us {} dropped a frame of {} bytes of a lossless class that came over {}: {} bytes that had come over \
                 this link were there, in a relay_buffer of {} bytes. {}, or go on in spite of drops with allow_loss = true",
                Time::from_ps(drop.at).as_us_f64(),
                name(link.to),
                drop.bytes,
                self.graph().link_name(drop.link ^ 1),
                drop.common,
                pfc.room(),
                why_relay_was_full(&fibre, pfc, domain.fabric.ports.safety(at)),
            ));
        }
        let needed = fibre.headroom();
        let bytes = |time: Span| link.rate.sent_in(time).get();
        Some(format!(
            "at {:.3} us {} dropped a frame of {} bytes of a lossless class that came over {}: {} bytes that had come over this \
             link were there, {} of them beyond XOFF, where there is a headroom of {} bytes. If nothing leaves, {} bytes are \
             needed: {} of a round trip, {} of this end's own frame, {} of PAUSE and what goes before it, {} of the other \
             end's response, and two frames of {}. Leave pfc_headroom out, give that much, or go on in spite of drops with \
             allow_loss = true",
            Time::from_ps(drop.at).as_us_f64(),
            name(link.to),
            drop.bytes,
            self.graph().link_name(drop.link ^ 1),
            drop.common + drop.used,
            drop.used,
            drop.headroom,
            needed.any_sizes().get(),
            bytes(needed.round_trip),
            bytes(needed.own_frame),
            bytes(needed.pause_frame + needed.pfc_ahead),
            bytes(needed.response),
            self.plan.longest_frame.get(),
        ))
    }

    /// The names of links that wait for each other for ever, each for the next and the last for the first; nothing where
    /// there are none.
    ///
    /// A paused link waits for what it has brought to leave the switch. It is stuck if more of that than XON waits for
    /// links that are stuck themselves, or all of it, as XON is looked at when some of it leaves: all others will go on at
    /// some time. So the stuck links are what is left of the paused ones when those are taken out, again and again, that
    /// are not; and as each of these waits for another, they hold a cycle.
    pub fn deadlock(&self) -> Vec<String> {
        let mut waits_for = BTreeMap::<Held, Vec<(Held, u64)>>::new();
        let mut least = BTreeMap::<Held, u64>::new();
        for link in 0..self.links() {
            let (domain, at) = self.domain_of_port(link ^ 1);
            let Some(pfc) = domain.fabric.ports.pfc(at) else { continue };
            let account = |class: usize| domain.fabric.ports.account(at, class);
            for class in each(pfc.lossless).filter(|&class| account(class).pausing) {
                waits_for.insert((link, class), Vec::new());
                let held = if pfc.is_of_relay() { u64::MAX } else { account(class).held() };
                least.insert((link, class), domain.fabric.ports.resumes_at(at).min(held.saturating_sub(1)));
            }
        }
        for out in 0..self.links() {
            let (domain, at) = self.domain_of_port(out);
            for (ingress, class, bytes) in
                domain.fabric.ports.waiting_on_accounts(at, domain.out.calendar.slots())
            {
                let link = domain.fabric.ports.port(ingress).link() ^ 1;
                if let Some(waits) = waits_for.get_mut(&(link, class)) {
                    waits.push(((out, class), bytes));
                }
            }
        }
        // A relay passes the PAUSE of its switch on, whether anything waits at the relay or not.
        for fibre in 0..self.links() {
            let (domain, at) = self.domain_of_port(fibre ^ 1);
            let Some(local) = domain.fabric.ports.other_side(at) else { continue };
            let paused = domain.fabric.ports.paused(local);
            let out = domain.fabric.ports.port(local).link();
            for (&(_, class), waits) in waits_for.range_mut((fibre, 0)..(fibre + 1, 0)) {
                if paused & only(class) != 0 {
                    waits.push(((out, class), u64::from(u32::MAX)));
                }
            }
        }
        while let Some(free) = waits_for.iter().find_map(|(&held, waits)| {
            let stuck = waits.iter().filter(|(next, _)| waits_for.contains_key(next));
            (stuck.map(|(_, bytes)| bytes).sum::<u64>() <= least[&held]).then_some(held)
        }) {
            waits_for.remove(&free);
        }
        self.cycle_in(&waits_for)
    }

    /// A cycle of links of which each waits for another of them.
    fn cycle_in(&self, waits_for: &BTreeMap<Held, Vec<(Held, u64)>>) -> Vec<String> {
        let Some(&first) = waits_for.keys().next() else { return Vec::new() };
        let mut walked = vec![first];
        loop {
            let waits = &waits_for[&walked[walked.len() - 1]];
            let next = waits.iter().map(|(next, _)| *next).find(|next| waits_for.contains_key(next));
            let next = next.expect("a stuck link waits for another");
            if let Some(begin) = walked.iter().position(|&held| held == next) {
                return walked[begin..].iter().map(|(link, _)| self.graph().link_name(*link)).collect();
            }
            walked.push(next);
        }
    }
}
