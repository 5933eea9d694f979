//! Sender and receiver over a network that loses, delays, repeats and reorders in both directions: whatever it
//! does, everything offered is delivered exactly once and the sender learns of it.

use std::collections::BTreeMap;

use clearway_proto::baseline::cubic::CubicParams;
use clearway_proto::baseline::dctcp::DctcpParams;
use clearway_proto::baseline::gcn::GcnParams;
use clearway_proto::baseline::go_back_n::GoBackNParams;
use clearway_proto::baseline::none::NoneParams;
use clearway_proto::baseline::rdma::control::{Congestion, CongestionParams};
use clearway_proto::baseline::rdma::dcqcn::DcqcnSet;
use clearway_proto::baseline::rdma::irn::{IrnParams, TimeoutLoss};
use clearway_proto::baseline::rdma::roce::{RecoveryKind, RoceParams};
use clearway_proto::baseline::reno::RenoParams;
use clearway_proto::baseline::tcp::TcpParams;
use clearway_proto::machine::Readiness;
use clearway_proto::swift::SwiftParams;
use clearway_proto::transport::{Ack, Arrival, Data, Path, Receiver, Scheme, SenderOf};
use clearway_proto::units::{Bytes, Rate, Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::rate_control::{Back, RateParams, Selective};

const MTU: u32 = 1000;
const REACH: u32 = 64;
/// More than any schedule below needs, and few enough to notice a machine that spins.
const MOST_STEPS: u32 = 200_000;

/// What the network does to one packet.
#[derive(Clone, Debug)]
struct Fate {
    lost: bool,
    repeated: bool,
    marked: bool,
    /// On the way, 1 us at least.
    delay_us: u64,
    /// In the destination host, before it is processed.
    waits_us: u64,
}

/// Half of the packets fare well, so that flows are also seen at speed.
fn fate() -> impl Strategy<Value = Fate> {
    let rough = (any::<bool>(), any::<bool>(), any::<bool>(), 1_u64..400, 0_u64..150);
    let smooth = (Just(false), Just(false), any::<bool>(), 10_u64..12, 0_u64..2);
    prop_oneof![rough, smooth].prop_map(|(lost, repeated, marked, delay_us, waits_us)| Fate {
        lost,
        repeated,
        marked,
        delay_us,
        waits_us,
    })
}

#[derive(Clone, Debug)]
struct Schedule {
    /// When each message is offered, and its length in bytes.
    messages: Vec<(u64, u64)>,
    /// The fates of the first packets, then of the first acknowledgements; the network is faultless afterwards.
    data: Vec<Fate>,
    acks: Vec<Fate>,
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let messages = vec((0_u64..2000, prop_oneof![1_u64..100, 1_u64..60_000]), 1..8);
    (messages, vec(fate(), 0..200), vec(fate(), 0..200)).prop_map(|(messages, data, acks)| Schedule {
        messages,
        data,
        acks,
    })
}

enum Event {
    Offer(u64),
    Data { data: Data, received: Time, marked: bool },
    Ack { ack: Ack, received: Time },
}

/// What happened on the way.
#[derive(Default)]
struct Counts {
    data: usize,
    acks: usize,
    lost: u64,
    repeated: u64,
    /// Packets that were new to the receiver.
    new: u64,
    duplicates: u64,
    /// Packets that a receiver which takes them in order only threw away.
    refused: u64,
    completed: u64,
    delivered: u64,
}

struct World<P: Scheme> {
    now: Time,
    sender: SenderOf<P>,
    receiver: P::Receiver,
    schedule: Schedule,
    counts: Counts,
    /// Packets and acknowledgements under way, by time and then in the order in which it was made.
    events: BTreeMap<(Time, u64), Event>,
    made: u64,
    /// Timeouts until the last packet left.
    timeouts: u32,
}

impl<P: Scheme> World<P> {
    fn new(params: &P, schedule: Schedule) -> World<P> {
        let mut world = World {
            now: Time::ZERO,
            sender: sender(params),
            receiver: params.receiver(),
            counts: Counts::default(),
            events: BTreeMap::new(),
            made: 0,
            timeouts: 0,
            schedule,
        };
        for (at_us, bytes) in world.schedule.messages.clone() {
            world.schedule_at(Time::ZERO + Span::from_us(at_us), Event::Offer(bytes));
        }
        world
    }

    fn schedule_at(&mut self, at: Time, event: Event) {
        self.events.insert((at, self.made), event);
        self.made += 1;
    }

    /// Returns when each copy of a packet reaches the host's NIC and when it is processed.
    fn carry(&mut self, fate: Option<&Fate>) -> Vec<(Time, Time)> {
        let Some(fate) = fate else {
            let at = self.now + Span::from_us(10);
            return vec![(at, at)];
        };
        if fate.lost {
            self.counts.lost += 1;
            return Vec::new();
        }
        let received = self.now + Span::from_us(fate.delay_us);
        let processed = received + Span::from_us(fate.waits_us);
        let again = processed + Span::from_us(fate.delay_us);
        let mut copies = vec![(received, processed)];
        if fate.repeated {
            self.counts.repeated += 1;
            copies.push((again, again));
        }
        copies
    }

    fn send_data(&mut self) {
        let before = self.sender.flight();
        let window = self.sender.windows().cwnd.max(1.0);
        let data = self.sender.transmit(self.now);
        let after = self.sender.flight();
        assert_eq!(after.inflight, before.inflight + 1);
        // The one packet by which a sender asks after a timeout may be one too many.
        let asks = after.timeouts > self.timeouts && after.retransmissions > before.retransmissions;
        self.timeouts = after.timeouts;
        let allowed = window.max(if asks { f64::from(before.inflight + 1) } else { 0.0 });
        assert!(f64::from(after.inflight) <= allowed, "{} under way, {allowed} allowed", after.inflight);
        assert!(data.payload > 0 && data.payload <= MTU);
        let fate = self.schedule.data.get(self.counts.data).cloned();
        self.counts.data += 1;
        let marked = fate.as_ref().is_some_and(|fate| fate.marked);
        for (received, processed) in self.carry(fate.as_ref()) {
            self.schedule_at(processed, Event::Data { data, received, marked });
        }
    }

    fn send_ack(&mut self) {
        let ack = self.receiver.transmit(self.now);
        let fate = self.schedule.acks.get(self.counts.acks).cloned();
        self.counts.acks += 1;
        let lost = self.counts.lost;
        let repeated = self.counts.repeated;
        for (received, processed) in self.carry(fate.as_ref()) {
            self.schedule_at(processed, Event::Ack { ack, received });
        }
        // Only data is counted.
        (self.counts.lost, self.counts.repeated) = (lost, repeated);
    }

    fn handle(&mut self, event: &Event) {
        match *event {
            Event::Offer(bytes) => self.sender.handle_message(Bytes::new(bytes)),
            Event::Data { data, received, marked } => {
                match self.receiver.handle_data(self.now, received, &data, marked, 3) {
                    Arrival::New => self.counts.new += 1,
                    Arrival::Duplicate => self.counts.duplicates += 1,
                    Arrival::BeyondReach => panic!("sender and receiver have the same reach"),
                    Arrival::OutOfOrder => self.counts.refused += 1,
                }
                self.counts.delivered += u64::from(self.receiver.poll_completed());
            }
            Event::Ack { ack, received } => {
                let allowed = self.sender.flight().inflight;
                self.sender.handle_ack(self.now, received, &ack);
                assert!(self.sender.flight().inflight <= allowed);
                self.counts.completed += u64::from(self.sender.poll_completed());
            }
        }
        assert!(self.counts.completed <= self.counts.delivered, "acknowledged before it was there");
    }

    /// Everything that may be sent is sent; when the sender is paced, until when.
    fn pull(&mut self) -> Option<Time> {
        while self.receiver.readiness() == Readiness::Ready {
            self.send_ack();
        }
        loop {
            match self.sender.readiness(self.now) {
                Readiness::Ready => self.send_data(),
                Readiness::At(at) => {
                    assert!(at > self.now);
                    return Some(at);
                }
                Readiness::Idle => return None,
            }
        }
    }

    fn run(mut self) -> Counts {
        for _ in 0..MOST_STEPS {
            let paced = self.pull();
            let event = self.events.keys().next().map(|&(at, _)| at);
            let timers = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let Some(next) = [event, paced].into_iter().chain(timers).flatten().min() else {
                self.check_end();
                return self.counts;
            };
            // A timeout that the new packets made obsolete lies behind: it is asked for anew.
            self.now = self.now.max(next);
            if event == Some(next) {
                let (_, event) = self.events.pop_first().expect("there is one");
                self.handle(&event);
            }
            self.sender.handle_timeout(self.now);
            self.receiver.handle_timeout(self.now);
        }
        panic!("no end after {MOST_STEPS} steps at {:?}", self.now);
    }

    fn check_end(&self) {
        let (counts, flight) = (&self.counts, self.sender.flight());
        let messages = &self.schedule.messages;
        let bytes: u64 = messages.iter().map(|&(_, bytes)| bytes).sum();
        let packets: u64 = messages.iter().map(|&(_, bytes)| bytes.div_ceil(u64::from(MTU))).sum();
        assert_eq!(self.receiver.payload(), bytes, "every byte once");
        assert_eq!(counts.new, packets, "every packet once");
        assert_eq!((counts.delivered, counts.completed), (messages.len() as u64, messages.len() as u64));
        assert_eq!(flight.inflight, 0);
        assert_eq!(flight.sent, counts.data as u64);
        assert_eq!(flight.sent, packets + u64::from(flight.retransmissions));
        assert_eq!(
            flight.sent + counts.repeated,
            counts.new + counts.duplicates + counts.refused + counts.lost
        );
        assert_eq!(self.sender.readiness(self.now), Readiness::Idle);
    }
}

fn sender<P: Scheme>(params: &P) -> SenderOf<P> {
    params.sender(MTU, Path::new(Bytes::new(1100), Rate::from_gbps(10)))
}

fn swift(initial_cwnd: f64) -> SwiftParams {
    SwiftParams { initial_cwnd: Some(initial_cwnd), min_cwnd: 0.01, reach: REACH, ..SwiftParams::default() }
}

fn tcp(ack_every: u32) -> TcpParams {
    TcpParams { ack_every, min_rto: Span::from_us(300), reach: REACH, ..TcpParams::default() }
}

fn dctcp(ack_every: u32) -> DctcpParams {
    DctcpParams { tcp: tcp(ack_every), ..DctcpParams::default() }
}

fn gcn(ack_every: u32) -> GcnParams {
    GcnParams { tcp: tcp(ack_every), ..GcnParams::default() }
}

fn reno(ack_every: u32) -> RenoParams {
    RenoParams { tcp: tcp(ack_every) }
}

fn cubic(ack_every: u32) -> CubicParams {
    CubicParams { tcp: tcp(ack_every), ..CubicParams::default() }
}

fn fixed(window: Option<u32>, rate: Option<Rate>) -> NoneParams {
    NoneParams { window, rate, reach: REACH, ..NoneParams::default() }
}

/// DCQCN by either set, with or without a window that follows it.
fn dcqcn() -> impl Strategy<Value = CongestionParams> {
    (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(there, paper, scale_window)| {
        let set = if paper { DcqcnSet::Paper } else { DcqcnSet::Mellanox };
        let congestion = if there { Congestion::Dcqcn } else { Congestion::None };
        CongestionParams { congestion, dcqcn: set.params(), scale_window: scale_window && there }
    })
}

fn roce(recovery: RecoveryKind, window: Option<u32>, congestion: CongestionParams) -> RoceParams {
    let rto = Span::from_us(300);
    let congestion =
        CongestionParams { scale_window: congestion.scale_window && window.is_some(), ..congestion };
    RoceParams { recovery, window, rto, reach: REACH, congestion, ..RoceParams::default() }
}

fn irn(bitmap: u32, all: bool, congestion: CongestionParams) -> IrnParams {
    let timeout_loss = if all { TimeoutLoss::All } else { TimeoutLoss::First };
    IrnParams { bitmap, timeout_loss, congestion, ..IrnParams::default() }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn swift_delivers_everything_once(schedule in schedule(), initial_cwnd in 0.05_f64..32.0) {
        World::new(&swift(initial_cwnd), schedule).run();
    }

    #[test]
    fn dctcp_delivers_everything_once(schedule in schedule(), ack_every in 1_u32..4) {
        World::new(&dctcp(ack_every), schedule).run();
    }

    #[test]
    fn gcn_delivers_everything_once(schedule in schedule(), ack_every in 1_u32..4) {
        World::new(&gcn(ack_every), schedule).run();
    }

    #[test]
    fn reno_delivers_everything_once(schedule in schedule(), ack_every in 1_u32..4) {
        World::new(&reno(ack_every), schedule).run();
    }

    #[test]
    fn cubic_delivers_everything_once(schedule in schedule(), ack_every in 1_u32..4) {
        World::new(&cubic(ack_every), schedule).run();
    }

    #[test]
    fn a_fixed_window_delivers_everything_once(schedule in schedule(), window in 1_u32..100, paced: bool) {
        let params = fixed((window < 80).then_some(window), paced.then_some(Rate::from_gbps(1)));
        World::new(&params, schedule).run();
    }

    #[test]
    fn go_back_n_delivers_everything_once(schedule in schedule(), window in 1_u32..100) {
        World::new(&GoBackNParams { window, ..GoBackNParams::default() }, schedule).run();
    }

    #[test]
    fn roce_delivers_everything_once(
        schedule in schedule(),
        back: bool,
        window in proptest::option::of(1_u32..REACH),
        congestion in dcqcn(),
    ) {
        let recovery = if back { RecoveryKind::GoBackN } else { RecoveryKind::SelectiveRepeat };
        World::new(&roce(recovery, window, congestion), schedule).run();
    }

    #[test]
    fn irn_delivers_everything_once(
        schedule in schedule(),
        bitmap in 1_u32..100,
        all: bool,
        congestion in dcqcn(),
    ) {
        World::new(&irn(bitmap, all, congestion), schedule).run();
    }

    /// A driver that asks anew after every call is all that a congestion control's own timer needs.
    #[test]
    fn a_control_with_a_timer_delivers_everything_once(schedule in schedule(), go_back: bool) {
        if go_back {
            World::new(&RateParams::<Back>::default(), schedule).run();
        } else {
            World::new(&RateParams::<Selective>::default(), schedule).run();
        }
    }

    /// A peer may acknowledge anything: nothing panics, and what is under way stays what was sent.
    #[test]
    fn no_acknowledgement_breaks_the_sender(
        acks in vec((0_u32..80, 0_u32..80, any::<u64>(), any::<u64>(), any::<u32>(), any::<bool>()), 0..60),
    ) {
        check_sender(&dctcp(1), &acks);
        check_sender(&GoBackNParams { rto: Span::from_us(300), ..GoBackNParams::default() }, &acks);
        let dcqcn = CongestionParams { congestion: Congestion::Dcqcn, ..CongestionParams::default() };
        check_sender(&roce(RecoveryKind::SelectiveRepeat, None, dcqcn.clone()), &acks);
        check_sender(&irn(REACH - 1, false, dcqcn), &acks);
    }

    /// Nor do packets that no sender would send break the receiver.
    #[test]
    fn no_data_breaks_the_receiver(
        packets in vec((prop_oneof![0_u32..200, 0..u32::MAX], any::<u32>(), any::<bool>(), any::<bool>()), 0..200),
    ) {
        check_receiver(dctcp(2).receiver(), &packets);
        check_receiver(GoBackNParams::default().receiver(), &packets);
        let dcqcn = CongestionParams { congestion: Congestion::Dcqcn, ..CongestionParams::default() };
        check_receiver(roce(RecoveryKind::GoBackN, None, dcqcn.clone()).receiver(), &packets);
        check_receiver(irn(REACH - 1, false, dcqcn).receiver(), &packets);
    }
}

/// Sequence number, cumulative number, bitmap, echo, microseconds in the remote host, and congestion mark.
type AnyAck = (u32, u32, u64, u64, u32, bool);

fn check_sender<P: Scheme>(params: &P, acks: &[AnyAck]) {
    let mut sender = sender(params);
    sender.handle_endless();
    let mut now = Time::ZERO;
    for &(seq, cumulative, sack, echo, remote_queuing_us, ce) in acks {
        now = now + Span::from_us(1);
        while sender.readiness(now) == Readiness::Ready {
            sender.transmit(now);
        }
        let echo = Time::from_ps(echo);
        let ack = Ack { seq, cumulative, sack, echo, congestion_experienced: ce, hops: 9, remote_queuing_us };
        sender.handle_ack(now, now, &ack);
        if sack % 8 == 0 {
            now = now + Span::from_us(400);
            sender.handle_timeout(now);
        }
        assert!(sender.flight().inflight <= REACH);
    }
}

/// Sequence number, payload, whether it ends a message, and congestion mark.
type AnyData = (u32, u32, bool, bool);

fn check_receiver(mut receiver: impl Receiver, packets: &[AnyData]) {
    let mut highest = 0;
    for &(seq, payload, last, ce) in packets {
        let data = Data { seq, payload, last, sent: Time::ZERO };
        receiver.handle_data(Time::ZERO, Time::ZERO, &data, ce, 0);
        while receiver.readiness() == Readiness::Ready {
            let ack = receiver.transmit(Time::ZERO);
            if ack.is_notification() {
                continue;
            }
            assert!(ack.cumulative >= highest);
            highest = ack.cumulative;
        }
    }
}
