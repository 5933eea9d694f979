//! Conservation of PAUSEs and RESUMEs, link by link: each that was sent has taken effect, is lost, or is on its way. And every
//! PAUSE has its RESUME, or a reason: what a port has said last is what its account wants said, and what a link's sender
//! has heard last is what was said last, unless that is on its way or lost. What of it holds at any time is asked all through a
//! run: no account has more than its room, nor ever had, and each pauses exactly if its thresholds say so, worked out here
//! once more.

use clearway_proto::pfc::account::Account;

use super::domain::Domain;
use super::simulator::Simulation;
use crate::engine::event::Kind;
use crate::net::pfc::Pfc;
use crate::net::scheduling::{each, only, ClassSet};

/// PAUSEs and RESUMEs on their way over a link.
#[derive(Clone, Copy, Default)]
struct Flying {
    count: u64,
    /// The classes that any of them is about.
    classes: ClassSet,
    /// The classes of these in which the last is a PAUSE.
    pausing: ClassSet,
}

impl Simulation {
    /// Panics, naming the link, when an account has or had more than its room, or does not pause when it is to, or pauses when
    /// it is not to; or when a relay has another count of it. It holds at any time.
    pub fn assert_accounts_hold(&self) {
        for link in 0..self.links() {
            let (far, at) = self.domain_of_port(link ^ 1);
            let Some(pauses) = far.fabric.ports.pfc(at) else { continue };
            let name = || self.graph().link_name(link);
            for class in each(pauses.lossless) {
                let account = far.fabric.ports.account(at, class);
                assert_account_has_room(&name, (pauses, account), class);
                if !far.fabric.ports.is_bypassed(at) {
                    assert_account_is_heard(&name, (pauses, account), class);
                }
            }
        }
        self.domains.iter().for_each(|domain| domain.fabric.ports.assert_relays_balance());
    }

    /// Panics, naming the link, when flow control has lost count of something.
    pub(super) fn assert_pauses_balance(&self) {
        self.assert_accounts_hold();
        let flying = self.pauses_on_links();
        for link in 0..self.links() {
            let ((far, at), (near, sending)) = (self.domain_of_port(link ^ 1), self.domain_of_port(link));
            let (Some(pauses), Some(paused)) = (far.fabric.ports.pfc(at), near.fabric.ports.pfc(sending))
            else {
                continue;
            };
            let (name, flying) = (self.graph().link_name(link), flying[(link ^ 1) as usize]);
            assert_eq!(
                pauses.sent,
                paused.received + pauses.lost + flying.count,
                "PAUSEs against {name} have been lost count of"
            );
            // What a relay had said and heard is over when a bypass takes its place; one that is back knows nothing of what the bypass
            // let through.
            // So is what was said over a link that has died.
            let dies = |link: u32| self.plan.forwarding.as_ref().is_some_and(|of| of.dies(link));
            let has_failed = far.fabric.ports.has_failed(at) || near.fabric.ports.has_failed(sending);
            if has_failed || dies(link) || dies(link ^ 1) {
                continue;
            }
            for class in each(pauses.lossless) {
                assert_sender_obeys((&name, class), pauses, paused, flying);
            }
            let (of_port, until_now) = (near.fabric.ports.paused(sending), self.time.as_ps());
            let holds = each(paused.heard).filter(|&class| !paused.has_run_out(class, until_now));
            let holds = holds.map(only).fold(0, |all, one| all | one);
            assert_eq!(of_port, holds, "{name} is paused in other classes than it was told");
            assert!(
                pauses.lost > 0 || pauses.is_of_relay() || paused.ran_out() == 0,
                "a PAUSE of {name} has run out, though none was lost"
            );
        }
    }

    /// Returns what of flow control is on its way over each link.
    fn pauses_on_links(&self) -> Vec<Flying> {
        let events = self.domains.iter().flat_map(Domain::events);
        let mut events: Vec<_> = events.filter(|event| event.kind() == Kind::Pause).collect();
        events.sort_unstable_by_key(|event| event.time);
        let mut flying = vec![Flying::default(); self.links() as usize];
        for event in events {
            let of = &mut flying[event.id() as usize];
            let class = only(event.route_seq as usize);
            of.count += 1;
            of.classes |= class;
            of.pausing = of.pausing & !class | if event.stamp > 0 { class } else { 0 };
        }
        flying
    }
}

/// No more is or ever was on an account than it has room for: beyond XOFF, and where that does not move, in all.
fn assert_account_has_room(link: &dyn Fn() -> String, (pauses, account): (&Pfc, &Account), class: usize) {
    let headroom = pauses.headroom();
    assert!(
        account.headroom <= account.peak_headroom && account.held() <= account.peak,
        "the most that class {class} of {} had is less than what it has",
        link()
    );
    assert!(
        account.peak_headroom <= headroom,
        "class {class} of {} had {} bytes beyond XOFF, where there is room for {headroom}",
        link(),
        account.peak_headroom
    );
    assert!(
        account.peak <= pauses.room(),
        "class {class} of {} had {} bytes, and there is room for {}",
        link(),
        account.peak,
        pauses.room()
    );
}

/// An account pauses exactly if a PAUSE is the last that was said of it, or is still to be said; and it has a reason to. A
/// relay passes on what others have reasons for.
fn assert_account_is_heard(link: &dyn Fn() -> String, (pauses, account): (&Pfc, &Account), class: usize) {
    let said = pauses.told & only(class) != 0;
    let last = pauses.last_unsent(class).map_or(said, |pause| pause.time > 0);
    assert_eq!(last, account.pausing, "class {class} of {} is told something else than is meant", link());
    if pauses.is_of_relay() {
        return;
    }
    if account.pausing {
        assert!(account.held() > 0, "class {class} of {} is paused for nothing", link());
        let xoff = pauses.room() - pauses.headroom();
        let xon = xoff.saturating_sub(pauses.hysteresis().get());
        let is_over = pauses.is_static() && account.headroom == 0 && account.common <= xon;
        assert!(!is_over, "class {class} of {} is paused below XON", link());
    } else {
        assert_eq!(account.headroom, 0, "class {class} of {} is beyond XOFF and not paused", link());
    }
}

/// What a link's sender has heard last in a class is what was said last, unless that is on its way or lost.
fn assert_sender_obeys((link, class): (&str, usize), pauses: &Pfc, paused: &Pfc, flying: Flying) {
    let class_set = only(class);
    if pauses.last_signal_lost & class_set != 0 {
        return;
    }
    let last = if flying.classes & class_set != 0 { flying.pausing } else { paused.heard };
    assert_eq!(
        last & class_set,
        pauses.told & class_set,
        "class {class} of {link} has not heard what it was told"
    );
}
