//! RCCC's credit as a sender keeps account of it (ultraethernet/uet-htsim, `htsim/sim/uec.cpp`, `UecSrc`, whose functions are
//! named here).
//!
//! A new flow has credit for one and a half bandwidth-delay products, on trust: that keeps its NIC busy until its receiver has
//! answered. With the first answer what is left of it is void, and from then on packets leave on what the receiver has granted.

use super::waiting::Waiting;
use crate::transport::{Ask, Backlog, CREDIT_QUANTUM};
use crate::units::{Span, Time};

/// What flows of one transport on such paths share of RCCC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CreditTerms {
    /// Credit of a new flow and the most that a flow may have, in bytes (`_configured_maxwnd`).
    pub most: i64,
    /// What a full packet weighs on the wire, in bytes.
    pub frame: i64,
    /// The part of that which is no payload, in bytes.
    pub header: i64,
    /// How long a flow without credit waits for a grant before it sends a packet without one.
    pub timeout: Span,
}

/// The credit of one flow, in bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Credit {
    /// What may be sent yet; below zero when the last packet took more than there was (`_credit`).
    left: i64,
    /// Quanta that the receiver has granted since the flow began, as far as is known (`_pull`).
    granted: u64,
    /// The credit is the first one, on trust (`_speculating`).
    on_trust: bool,
    waiting: Waiting,
}

impl Credit {
    /// The credit of a new flow (`startConnection`).
    pub fn new(terms: &CreditTerms) -> Credit {
        Credit { left: terms.most, granted: 0, on_trust: true, waiting: Waiting::NOT }
    }

    /// Returns whether a packet may leave: there is any credit at all, or the flow has waited in vain (`can_send_RCCC`).
    #[inline]
    pub fn may_send(&self) -> bool {
        self.left > 0 || self.waiting.may_ask()
    }

    /// Bytes that may be sent yet, below zero when the last packet took more than there was.
    pub fn left(&self) -> i64 {
        self.left
    }

    /// A packet with this many bytes of payload leaves (`spendCredit`).
    pub fn handle_sent(&mut self, terms: &CreditTerms, now: Time, payload: u32) {
        self.left -= i64::from(payload) + terms.header;
        self.waiting.handle_sent(self.left > 0, now, terms.timeout);
    }

    /// The receiver has answered in any way, or has not for long: credit on trust is void (`stopSpeculating`).
    pub fn stop_trusting(&mut self, terms: &CreditTerms, now: Time) {
        if self.on_trust {
            self.on_trust = false;
            self.left = self.left.min(0);
            self.waiting.wait(false, now, terms.timeout);
        }
    }

    /// The receiver says how much it has granted since the flow began (`processPull` and `handlePull`). What it said before and this
    /// flow has not heard is in that.
    pub fn handle_pull(&mut self, terms: &CreditTerms, now: Time, granted: u64) {
        self.stop_trusting(terms, now);
        let more = granted.saturating_sub(self.granted);
        self.granted += more;
        self.left =
            self.left.saturating_add_unsigned(more.saturating_mul(CREDIT_QUANTUM.get())).min(terms.most);
        self.waiting.handle_grant(self.left > 0, now, terms.timeout);
    }

    /// A packet was not acknowledged in time: what was granted for others, and what they asked for, may be lost too.
    pub fn handle_loss(&mut self, terms: &CreditTerms, now: Time) {
        self.stop_trusting(terms, now);
        self.waiting.handle_loss();
    }

    /// When a flow without credit will have waited in vain; none while it has credit, or may send a packet without.
    pub fn poll_timer(&self) -> Option<Time> {
        (!self.may_send()).then_some(self.waiting.deadline())
    }

    /// The flow has waited in vain, if it is time: the next packet may leave without credit, and asks again. Grants get lost with
    /// links, and a flow whose packets are all acknowledged hears of it in no other way. In htsim such a flow ends here.
    pub fn handle_timer(&mut self, now: Time) {
        if self.poll_timer().is_some_and(|at| at <= now) {
            self.waiting.run_out();
        }
    }

    /// What the packet that has just left asks for (`computePullTarget`): credit for what there is to send, at most as much as a
    /// flow may have and `window` bytes, less what the flow has, in equal parts for the `senders` of the host.
    ///
    /// A flow that has waited in vain does not know whether what is under way is lost, and counts it as still to be sent.
    pub fn ask(&self, terms: &CreditTerms, backlog: &Backlog, window: f64, senders: u32) -> Ask {
        let again = self.waiting.asks_again();
        let in_doubt = if again { backlog.under_way } else { 0 };
        let full = (i64::from(backlog.lost) + i64::from(in_doubt)) * terms.frame;
        let headers = signed(backlog.fresh).saturating_mul(terms.header);
        let waiting = signed(backlog.payload).saturating_add(headers).saturating_add(full);
        let mut wanted = waiting.min(window as i64).min(terms.most) - self.left;
        if self.on_trust && wanted < terms.frame && backlog.fresh > 0 {
            // A short flow, too, has credit coming when its first packets are cut.
            wanted = terms.frame;
        }
        let share = wanted.max(0) as u64 / u64::from(senders.max(1));
        Ask { target: self.granted + share.div_ceil(CREDIT_QUANTUM.get()), again }
    }
}

/// A number of bytes as a signed one, or the largest there is.
pub(super) fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: CreditTerms =
        CreditTerms { most: 6000, frame: 1000, header: 100, timeout: Span::from_us(100) };

    fn backlog(fresh: u64) -> Backlog {
        Backlog { fresh, payload: fresh * 900, ..Backlog::default() }
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn the_first_answer_voids_what_is_left_on_trust() {
        let mut credit = Credit::new(&TERMS);
        credit.handle_sent(&TERMS, at(0), 900);
        assert_eq!((credit.left(), credit.may_send()), (5000, true));
        credit.stop_trusting(&TERMS, at(1));
        assert_eq!((credit.left(), credit.may_send()), (0, false));
        credit.handle_pull(&TERMS, at(2), 8);
        // Later answers take nothing away.
        credit.stop_trusting(&TERMS, at(3));
        assert_eq!(credit.left(), 8 * 256);
    }

    #[test]
    fn grants_count_from_the_beginning_and_up_to_the_most() {
        let mut credit = Credit::new(&TERMS);
        credit.handle_pull(&TERMS, at(1), 4);
        // One was lost on the way, and an old one comes late.
        credit.handle_pull(&TERMS, at(2), 12);
        credit.handle_pull(&TERMS, at(3), 8);
        assert_eq!(credit.left(), 12 * 256);
        credit.handle_pull(&TERMS, at(4), 100);
        assert_eq!(credit.left(), 6000);
    }

    #[test]
    fn any_credit_is_enough_for_a_packet_and_debts_are_kept() {
        let mut credit = Credit::new(&TERMS);
        credit.handle_pull(&TERMS, at(1), 1);
        credit.handle_sent(&TERMS, at(1), 900);
        assert_eq!((credit.left(), credit.may_send()), (-744, false));
        credit.handle_pull(&TERMS, at(2), 3);
        assert_eq!((credit.left(), credit.may_send()), (-232, false));
    }

    #[test]
    fn a_flow_asks_for_what_it_has_to_send_less_what_it_has() {
        let mut credit = Credit::new(&TERMS);
        credit.handle_pull(&TERMS, at(1), 4);
        // 3 packets of 1000 B less 1024 B are 1976 B: 8 quanta beyond 4.
        assert_eq!(credit.ask(&TERMS, &backlog(3), 1e9, 1), Ask { target: 12, again: false });
        // Lost packets weigh as full ones.
        let lost = Backlog { lost: 2, under_way: 3, ..backlog(1) };
        assert_eq!(credit.ask(&TERMS, &lost, 1e9, 1).target, 12);
        // At most 6000 B are asked for, here 4976 B, and less where the window has less room: 976 B.
        assert_eq!(credit.ask(&TERMS, &backlog(100), 1e9, 1).target, 4 + 20);
        assert_eq!(credit.ask(&TERMS, &backlog(100), 2000.0, 1).target, 4 + 4);
        // Two flows of a host ask for 2488 B each.
        assert_eq!(credit.ask(&TERMS, &backlog(100), 1e9, 2).target, 4 + 10);
        // Nothing to send asks for nothing.
        assert_eq!(credit.ask(&TERMS, &backlog(0), 1e9, 1).target, 4);
    }

    #[test]
    fn a_new_flow_asks_for_a_packet_at_least() {
        let credit = Credit::new(&TERMS);
        assert_eq!(credit.ask(&TERMS, &backlog(2), 1e9, 1).target, 4);
        assert_eq!(credit.ask(&TERMS, &backlog(0), 1e9, 1).target, 0);
    }

    #[test]
    fn a_wait_in_vain_lets_one_packet_ask_again_and_the_next_wait_is_longer() {
        let mut credit = Credit::new(&TERMS);
        credit.stop_trusting(&TERMS, at(10));
        assert_eq!(credit.poll_timer(), Some(at(110)));
        credit.handle_timer(at(109));
        assert!(!credit.may_send());
        credit.handle_timer(at(110));
        assert_eq!((credit.may_send(), credit.poll_timer()), (true, None));
        credit.handle_sent(&TERMS, at(120), 900);
        assert_eq!((credit.may_send(), credit.poll_timer()), (false, Some(at(320))));
        // What is under way may be lost: 1 + 1 packets and the debt of another.
        let sent = Backlog { under_way: 1, ..backlog(1) };
        assert_eq!(credit.ask(&TERMS, &sent, 1e9, 1), Ask { target: 12, again: true });
        credit.handle_pull(&TERMS, at(130), 12);
        assert_eq!((credit.left(), credit.poll_timer()), (2072, None));
        assert!(!credit.ask(&TERMS, &sent, 1e9, 1).again);
    }
}
