//! NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017), whose
//! sections are named here: a window is pushed without probing, and from then on the receiver pulls each packet.
//!
//! Switches trim what finds eight packets before it (§3.1). The receiver acknowledges each packet, says at once of each header that it
//! came alone (NACK), and puts a PULL for either into a queue that all its flows share, out of which one leaves in the time of a packet
//! (§3.2): that is [`super::uec::pull_pacer`], with [`PullTerms::by_arrival`]. Here is the sender: what it may push, and what was pulled.

use super::uec::waiting::Waiting;
use crate::parameter::{Conflict, Parameter, ParameterReader, Parameters};
use crate::transport::{
    common, AckPolicy, AckSample, Ask, Backlog, CongestionControl, Data, Notice, Path, PullTerms, Scheme,
    SelectiveReceiver, SelectiveRepeat, Timeout,
};
use crate::units::{Bytes, Rate, Span, Time};

/// No hole counts as lost before the timer runs out: packets overtake each other on many paths, and trimmed ones are told of (§3.2.1).
const NEVER: u32 = *common::REACH.end();

/// Parameters of NDP.
#[derive(Clone, Debug, PartialEq)]
pub struct NdpParams {
    /// Packets that are pushed without being asked for. 30 (§6.2; §3.2 has 12 for what fills a short path).
    pub initial_window: u32,
    /// Retransmission timeout, which nothing lengthens. 1 ms (§3.2.4: the longest round trip is 400 us).
    pub rto: Span,
    /// The time that a flow waits for a pull before it sends a packet without one; twice as long each further time. 10 ms, which is ours:
    /// the paper has the pull counter for lost pulls, which says nothing of the last one. A receiver with N senders pulls each of
    /// them once in the time of N packets, and this is meant to be longer.
    pub pull_timeout: Span,
    /// The most packets by which a sender may be ahead of the lowest unacknowledged one. A power of two; 4096.
    pub reach: u32,
}

impl Default for NdpParams {
    fn default() -> NdpParams {
        NdpParams { initial_window: 30, rto: Span::from_ms(1), pull_timeout: Span::from_ms(10), reach: 4096 }
    }
}

impl Parameters for NdpParams {
    fn read(r: &mut impl ParameterReader, d: &NdpParams) -> NdpParams {
        let window = "Packets that are pushed before the receiver pulls any.";
        let window = Parameter::new("initial_window", window, 1..=*common::REACH.end());
        let timeout = "How long a flow waits for a pull before it sends a packet without one; twice as long each further time.";
        NdpParams {
            initial_window: r.value(&window, d.initial_window),
            rto: r.value(&common::rto(), d.rto),
            pull_timeout: r.value(&common::timeout("pull_timeout", timeout), d.pull_timeout),
            reach: r.value(&common::reach(), d.reach),
        }
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let mut conflicts = common::check_reach(self.reach);
        if self.initial_window > self.reach {
            let window = ("initial_window", self.initial_window);
            conflicts.push(Conflict::between(window, "is above", ("reach", self.reach)));
        }
        conflicts
    }
}

impl Scheme for NdpParams {
    type Control = Ndp;
    type Recovery = SelectiveRepeat;
    type Receiver = SelectiveReceiver;

    /// The size to which switches trim a packet (§3.2.4).
    const HEADER: Bytes = Bytes::new(64);

    fn trimmable(&self) -> bool {
        true
    }

    /// One pull in the time that a full packet takes at the receiver's NIC (§3.2).
    fn pull_terms(&self, path: Path, nic: Rate) -> Option<PullTerms> {
        Some(PullTerms { each: 1, ahead: 0, by_arrival: true, quantum: nic.transmission(path.frame) })
    }

    fn shared(&self, _path: Path) -> NdpParams {
        self.clone()
    }

    fn reach(&self) -> u32 {
        self.reach
    }

    /// Returns room for a window that is under way, and for one that is pushed anew.
    fn max_window(&self) -> f64 {
        2.0 * f64::from(self.initial_window)
    }

    fn dup_threshold(&self) -> u32 {
        NEVER
    }

    fn recovery(&self) -> SelectiveRepeat {
        SelectiveRepeat::new(self.reach, NEVER)
    }

    fn receiver(&self) -> SelectiveReceiver {
        SelectiveReceiver::new(AckPolicy::EveryPacket, self.reach)
    }
}

/// NDP's sender of one flow: leave to send, in packets.
#[derive(Clone, Debug)]
pub struct Ndp {
    /// New packets that may be pushed yet.
    push: u32,
    /// Packets that were pulled and have not left: any, lost ones first.
    pulled: u32,
    /// The pull counter of the receiver, as far as is known (§3.2.1).
    counter: u64,
    /// The first packet never sent.
    next: u32,
    waiting: Waiting,
}

impl Ndp {
    /// New packets that may be pushed yet, to be looked at.
    pub fn push(&self) -> u32 {
        self.push
    }

    /// Packets that were pulled and have not left, to be looked at.
    pub fn pulled(&self) -> u32 {
        self.pulled
    }
}

impl CongestionControl for Ndp {
    type Shared = NdpParams;
    type Telemetry = ();

    fn new(params: &NdpParams) -> Ndp {
        Ndp { push: params.initial_window, pulled: 0, counter: 0, next: 0, waiting: Waiting::NOT }
    }

    fn on_ack(&mut self, _params: &NdpParams, _now: Time, _sample: &AckSample) {}

    /// A trimmed packet is prepared to be sent again, and waits for its pull (§3.2).
    fn on_loss(&mut self, _params: &NdpParams, _now: Time, _cumulative: u32, _next: u32) {}

    fn on_timeout(&mut self, _params: &NdpParams, _now: Time, _timeout: &Timeout) {
        self.waiting.handle_loss();
    }

    /// New packets are pushed as long as that lasts. A packet that the timer sends again needs no pull.
    fn on_sent(&mut self, params: &NdpParams, now: Time, data: &Data) {
        let fresh = data.seq >= self.next;
        self.next = self.next.max(data.seq + 1);
        if fresh && self.push > 0 {
            self.push -= 1;
        } else {
            self.pulled = self.pulled.saturating_sub(1);
        }
        self.waiting.handle_sent(self.pulled > 0, now, params.pull_timeout);
    }

    /// Lets as many packets leave as the pull counter has grown by (§3.2).
    fn on_notice(&mut self, params: &NdpParams, now: Time, notice: Notice) {
        if let Notice::Pull(counter) = notice {
            let more = counter.saturating_sub(self.counter);
            self.counter += more;
            let pulled = u64::from(self.pulled).saturating_add(more);
            self.pulled = pulled.min(params.initial_window.into()) as u32;
            self.waiting.handle_grant(self.pulled > 0, now, params.pull_timeout);
        }
    }

    fn poll_timer(&self, _params: &NdpParams) -> Option<Time> {
        (self.pulled == 0 && !self.waiting.may_ask()).then_some(self.waiting.deadline())
    }

    fn handle_timer(&mut self, params: &NdpParams, now: Time) {
        if self.poll_timer(params).is_some_and(|at| at <= now) {
            self.waiting.run_out();
        }
    }

    /// Pulls alone never let more be under way than the first window: the rest is for what is pushed after a pause.
    fn window(&self, params: &NdpParams) -> f64 {
        params.max_window()
    }

    #[inline]
    fn may_send(&self, _params: &NdpParams) -> bool {
        self.push > 0 || self.pulled > 0 || self.waiting.may_ask()
    }

    /// Returns whether a pull is left: a trimmed packet is not pushed, its pull comes when it is this flow's turn.
    #[inline]
    fn may_send_again(&self, _params: &NdpParams) -> bool {
        self.pulled > 0 || self.waiting.may_ask()
    }

    /// Lets a window be pushed anew after a pause (§3.2: packets then "will be pushed rather than pulled").
    fn on_more(&mut self, params: &NdpParams) {
        self.push = params.initial_window;
    }

    /// Returns the pull counter beyond which the sender has no use for more: the paper's mark of the last packet, said with each. A
    /// sender that has waited in vain does not know whether what is under way is lost, but for the packet that says so.
    fn ask(&self, params: &NdpParams, backlog: &Backlog, _senders: u32) -> Ask {
        let again = self.waiting.asks_again();
        let in_doubt = if again { backlog.under_way.saturating_sub(1) } else { 0 };
        let to_pull = backlog.fresh.saturating_sub(self.push.into());
        let needed = u64::from(backlog.lost) + u64::from(in_doubt) + to_pull;
        let more = needed.min(params.initial_window.into()).saturating_sub(self.pulled.into());
        Ask { target: self.counter + more, again }
    }

    fn retransmission_timeout(&self, params: &NdpParams, _timeouts: u32) -> Span {
        params.rto
    }
}
