//! RCCC against timed scripts, and its pacer against a table of grants, each number computed by hand from `uec.cpp` of
//! ultraethernet/uet-htsim.

use clearway_proto::baseline::none::NoControl;
use clearway_proto::baseline::uec::credited::Credited;
use clearway_proto::baseline::uec::nscc::Nscc;
use clearway_proto::baseline::uec::pull_pacer::PullPacer;
use clearway_proto::baseline::uec::rccc::CreditParams;
use clearway_proto::baseline::uec::{NsccParams, NsccRcccParams, RcccParams};
use clearway_proto::machine::Readiness;
use clearway_proto::transport::{Ask, CongestionControl, Path, PullTerms, Scheme};
use clearway_proto::units::{Bytes, Rate, Span};

use crate::pulling::{ask, at, pulls};
use crate::script::{run, Probe};

impl Probe for Credited<NoControl> {
    fn probe(&self, name: &str) -> Option<f64> {
        (name == "credit").then(|| self.credit().left() as f64)
    }
}

impl Probe for Credited<Nscc> {
    fn probe(&self, name: &str) -> Option<f64> {
        (name == "credit").then(|| self.credit().left() as f64)
    }
}

/// At the script's 10 Gb/s, packets of 1000 B and a base round trip of 4 us: a bandwidth-delay product is 5000 B, and a new flow has
/// credit for 7500 B.
fn params() -> RcccParams {
    RcccParams { base_rtt: Some(Span::from_us(4)), ..RcccParams::default() }
}

#[test]
fn the_first_round_trip_is_on_trust_and_then_credit_rules() {
    run(
        &params(),
        "at 0us endless; expect credit 7500
         # Any credit is enough for a packet: eight leave, the last one on 500 B.
         send 8; expect idle; expect credit -500
         # 7500 B and the debt are asked for: 8000 B in quanta of 256 B.
         expect asked 32
         at 4us ack 0; expect idle; expect credit -500
         at 5us pull 16; expect credit 3596; send 4; expect idle; expect credit -404
         # 7904 B more than the 16 quanta granted.
         expect asked 47",
    );
}

#[test]
fn the_first_answer_ends_the_trust() {
    run(&params(), "at 0us endless; send 3; expect credit 4500; at 4us ack 0; expect credit 0; expect idle");
    run(&params(), "at 0us endless; send 3; at 4us trim 0; expect credit 0; expect idle");
    run(&params(), "at 0us endless; send 3; at 4us pull 0; expect credit 0; expect idle");
}

#[test]
fn a_short_flow_asks_for_what_is_left_of_it() {
    run(
        &params(),
        "at 0us offer 2500; send 1
         # What waits is less than the credit on trust, and a packet is asked for anyway.
         expect asked 4; send 1; expect asked 4; send 1; expect asked 0
         # Cut to its header, a packet is asked for as soon as there is credit to send another.
         at 4us trim 1; trim 0; expect idle; pull 4; send 1; expect sent-seq 0; expect credit 24
         # 1000 B less 24 B.
         expect asked 8",
    );
}

#[test]
fn a_lost_grant_is_in_the_next_one() {
    run(&params(), "at 0us endless; send 3; at 4us pull 4; at 9us pull 12; expect credit 3072; pull 8; expect credit 3072");
}

#[test]
fn credit_has_an_upper_end() {
    run(&params(), "at 0us endless; send 3; at 4us pull 100; expect credit 7500");
}

/// The retransmission timer lets the lowest missing packet go without credit, and that asks for everything that may be lost.
#[test]
fn after_a_timeout_a_packet_leaves_without_credit_and_asks_again() {
    run(
        &RcccParams { rto: Some(Span::from_us(100)), ..params() },
        "at 0us offer 8000; send 8; expect idle; expect asked 2; expect asks-again 0
         at 100us timeout; expect ready; send 1; expect sent-seq 0; expect idle; expect credit -1500
         # All 8000 B may be lost, of which a flow may have no more than 7500 B granted, and the debt of 1500 B.
         expect asks-again 1; expect asked 36
         at 104us pull 36; expect credit 7500; ack 0; expect asks-again 0
         send 7; expect retransmissions 8; expect idle",
    );
}

/// All is acknowledged, and no grant comes.
#[test]
fn a_flow_that_waits_in_vain_sends_a_packet_without_credit() {
    let credit = CreditParams { credit_timeout: Span::from_us(50), ..CreditParams::default() };
    run(
        &RcccParams { credit, ..params() },
        "at 0us endless; send 2; at 4us ack 0; ack 1; expect idle; expect inflight 0; expect timeout-us 54
         at 53us timeout; expect idle
         at 54us timeout; expect ready; send 1; expect idle; expect credit -1000; expect asks-again 1
         # Nobody answers: the next wait is twice as long. The packet itself has a timer of 39 us.
         at 58us ack 2; expect timeout-us 154
         at 154us timeout; send 1; expect idle; at 158us pull 20; expect credit 3120; expect asks-again 0; send 4; expect idle",
    );
}

#[test]
fn beside_nscc_no_more_is_asked_for_than_the_window_has_room_for() {
    let nscc = NsccParams { base_rtt: Some(Span::from_us(4)), max_window: 0.4, ..NsccParams::default() };
    run(
        &NsccRcccParams { nscc: nscc.clone(), ..NsccRcccParams::default() },
        // A window of 2 packets, and credit for 7.5: of each the smaller rules.
        "at 0us endless; expect cwnd 2; send 2; expect idle; expect credit 5500
         at 4us ack 0; expect idle; expect credit 0; ack 1; expect idle
         # A window and a packet.
         expect asked 12; pull 12; send 2; expect idle; expect credit 1072",
    );
    // What the last switch has cut leaves the window beside credit alone, and is a packet less without.
    let script = |cwnd: u32| format!("at 0us endless; send 2; at 5us trim 0; expect cwnd {cwnd}");
    run(&NsccRcccParams { nscc: nscc.clone(), ..NsccRcccParams::default() }, &script(2));
    run(&nscc, &script(1));
}

const TERMS: PullTerms = PullTerms { each: 16, ahead: 20, by_arrival: false, quantum: Span::from_ns(10) };

#[test]
fn flows_that_ask_are_served_in_turn_and_each_grant_takes_its_time() {
    let mut pacer = PullPacer::default();
    let flows = [(); 3].map(|()| pacer.add(TERMS));
    assert_eq!(flows, [0, 1, 2]);
    assert_eq!(pacer.readiness(at(0)), Readiness::Idle);
    pacer.handle_ask(1, &ask(40), false);
    pacer.handle_ask(0, &ask(16), false);
    // Asked for again, or for less, it is no second turn.
    pacer.handle_ask(1, &ask(39), false);
    let expected = [(0, 1, 16), (160, 0, 16), (320, 1, 32), (480, 1, 40)];
    assert_eq!(pulls(&mut pacer, at(0), at(560)), expected);
    // Flow 2 comes while flows 0 and 1 are granted some ahead: up to 20 quanta each.
    let ahead = [(560, 0, 32), (720, 1, 56)];
    assert_eq!(pulls(&mut pacer, at(560), at(800)), ahead);
    pacer.handle_ask(2, &ask(3), false);
    let rest = [(880, 2, 3), (910, 0, 48), (1070, 1, 72), (1230, 2, 19), (1390, 2, 35)];
    assert_eq!(pulls(&mut pacer, at(800), at(9000)), rest);
    assert_eq!(pacer.readiness(at(9000)), Readiness::Idle);
}

#[test]
fn a_flow_that_has_to_send_again_is_told_again_what_it_was_granted() {
    let mut pacer = PullPacer::default();
    pacer.add(PullTerms { ahead: 0, ..TERMS });
    pacer.handle_ask(0, &ask(8), false);
    // One grant, and one ahead, as it is looked at after each.
    assert_eq!(pulls(&mut pacer, at(0), at(9000)), [(0, 0, 8), (80, 0, 24)]);
    // Nothing beyond what it was granted is asked for.
    pacer.handle_ask(0, &ask(20), false);
    assert_eq!(pulls(&mut pacer, at(9000), at(18_000)), [(9000, 0, 24), (9040, 0, 40)]);
    pacer.handle_ask(0, &ask(20), false);
    assert_eq!(pacer.readiness(at(18_000)), Readiness::Idle);
    pacer.handle_ask(0, &Ask { target: 20, again: true }, false);
    assert_eq!(pulls(&mut pacer, at(18_000), at(18_040)), [(18_000, 0, 40)]);
    pulls(&mut pacer, at(18_040), at(27_000));
    pacer.handle_ask(0, &ask(0), true);
    assert_eq!(pacer.readiness(at(27_000)), Readiness::Ready);
}

/// htsim: `_time_per_quanta` is 256 B at 100 Gb/s by 0.99, in whole picoseconds, `_credit_per_pull` 64 quanta, and `_maxwnd` 1.5
/// times 150 kB, in quanta.
#[test]
fn terms_are_those_of_htsim() {
    let path = Path::new(Bytes::new(4150), Rate::from_gbps(100)).with_header(Bytes::new(64));
    let terms = RcccParams::default().pull_terms(path, Rate::from_gbps(100)).expect("it grants credit");
    assert_eq!(
        terms,
        PullTerms { each: 64, ahead: 225_000 / 256, by_arrival: false, quantum: Span::from_ps(20_686) }
    );
    assert_eq!(NsccParams::default().pull_terms(path, Rate::from_gbps(100)), None);
    let control = Credited::<NoControl>::new(&RcccParams::default().shared(path));
    assert_eq!(control.credit().left(), 225_000);
}
