//! NDP against timed scripts, and its pull queue against a table of pulls, each number computed by hand from the paper (Handley et al.,
//! SIGCOMM 2017, §3.2).

use clearway_proto::baseline::ndp::{Ndp, NdpParams};
use clearway_proto::baseline::uec::pull_pacer::PullPacer;
use clearway_proto::machine::Readiness;
use clearway_proto::parameter::Parameters;
use clearway_proto::transport::{Ask, Path, PullTerms, Scheme};
use clearway_proto::units::{Bytes, Rate, Span};

use crate::pulling::{ask, at, pulls};
use crate::script::{run, Probe};

impl Probe for Ndp {
    fn probe(&self, name: &str) -> Option<f64> {
        match name {
            "push" => Some(f64::from(self.push())),
            "pulled" => Some(f64::from(self.pulled())),
            _ => None,
        }
    }
}

fn params() -> NdpParams {
    NdpParams { initial_window: 4, ..NdpParams::default() }
}

/// "The sender sends a full window of data without waiting for a response", and then as many packets "as the pull counter increments
/// by". An acknowledgement lets nothing leave.
#[test]
fn a_window_is_pushed_and_the_rest_is_pulled() {
    run(
        &params(),
        "at 0us endless; expect push 4; send 4; expect idle; expect push 0
         # A window more could be used.
         expect asked 4
         at 5us ack 0; ack 1; expect idle; expect inflight 2
         pull 1; send 1; expect idle; expect sent-seq 4; expect asked 5
         # The second pull is overtaken by the third, which says so.
         pull 3; send 2; expect idle; pull 2; expect idle; expect pulled 0; expect sent 7",
    );
    run(&NdpParams::default(), "at 0us endless; send 30; expect idle");
}

/// A NACK prepares a packet to be sent again, which a pull lets go, before new ones.
#[test]
fn a_trimmed_packet_waits_for_its_pull_and_goes_first() {
    run(
        &params(),
        "at 0us endless; send 4; at 5us trim 1; trim 2; expect idle; expect inflight 2
         pull 1; send 1; expect sent-seq 1; expect idle
         pull 3; send 2; expect sent-seq 4; expect retransmissions 2; expect idle
         expect timeouts 0",
    );
}

/// What may be pushed yet is for new packets only, and these go on while a trimmed one waits for its pull.
#[test]
fn nothing_is_pushed_twice() {
    run(
        &params(),
        "at 0us endless; send 2; at 5us trim 0; expect ready; send 1; expect sent-seq 2; send 1; expect sent-seq 3; expect idle
         expect retransmissions 0; pull 1; send 1; expect sent-seq 0",
    );
    run(
        &params(),
        "at 0us offer 2000; send 2; expect push 2; expect asked 0; at 5us trim 0; trim 1; expect idle; expect asked 2
         pull 2; send 2; expect retransmissions 2; at 10us ack 0; ack 1; expect completed 1; expect push 2",
    );
}

/// The mark of the last packet: no pull is asked for that there is nothing to send for.
#[test]
fn a_flow_asks_for_no_more_pulls_than_it_has_packets() {
    run(
        &params(),
        "at 0us offer 6000; send 1; expect asked 2; send 3; expect asked 2; at 5us ack 0; ack 1; ack 2; ack 3; pull 1; send 1; expect asked 2
         pull 2; send 1; expect asked 2; at 9us ack 4; ack 5; expect completed 1; expect asked 2
         # What comes later is pushed, and no more of it than a window.
         offer 6000; expect push 4; send 4; expect idle; expect asked 4; expect window 8",
    );
}

/// The timer sends the lowest missing packet again without a pull, and that packet asks for a pull for each that may be lost.
#[test]
fn after_a_timeout_a_packet_leaves_without_a_pull_and_asks_for_others() {
    run(
        &params(),
        "at 0us offer 9000; send 4; expect idle; expect timeout-us 1000; expect asked 4; expect asks-again 0
         at 1000us timeout; expect ready; expect timeouts 1; send 1; expect sent-seq 0; expect idle
         # Three more may be lost and five are new: no more than a window is pulled at a time.
         expect asks-again 1; expect asked 4
         at 1005us ack 0; pull 4; expect asks-again 0; send 3; expect sent-seq 3; send 1; expect sent-seq 4; expect idle
         expect inflight 4",
    );
}

/// All is acknowledged, and the pull for the rest was lost.
#[test]
fn a_flow_that_waits_in_vain_for_a_pull_sends_a_packet_without() {
    run(
        &NdpParams { pull_timeout: Span::from_us(50), ..params() },
        "at 0us offer 6000; send 4; at 4us ack 0; ack 1; ack 2; ack 3; expect idle; expect inflight 0; expect timeout-us 50
         at 49us timeout; expect idle
         at 50us timeout; expect ready; send 1; expect sent-seq 4; expect idle; expect asks-again 1; expect asked 1
         # Nobody answers: the next wait is twice as long.
         at 54us ack 4; expect timeout-us 150
         at 60us pull 2; expect asks-again 0; send 1; at 70us ack 5; expect completed 1",
    );
}

#[test]
fn a_window_above_the_reach_is_a_conflict() {
    let conflicts = NdpParams { initial_window: 100, reach: 64, ..NdpParams::default() }.conflicts();
    assert_eq!(conflicts.len(), 1);
    assert_eq!(NdpParams::default().conflicts(), []);
}

/// 10 Gb/s and 9000 B: one pull in 7.2 us (§3.2).
#[test]
fn a_pull_takes_the_time_of_a_packet() {
    let path = Path::new(Bytes::new(9000), Rate::from_gbps(40)).with_header(Bytes::new(64));
    let terms = NdpParams::default().pull_terms(path, Rate::from_gbps(10)).expect("it pulls");
    assert_eq!(terms, PullTerms { each: 1, ahead: 0, by_arrival: true, quantum: Span::from_ns(7200) });
}

const TERMS: PullTerms = PullTerms { each: 1, ahead: 0, by_arrival: true, quantum: Span::from_ns(100) };

/// A pull for each packet that has come, whole or cut, in the time of a packet, to the flows in turn, however many wait for each.
#[test]
fn every_arrival_brings_a_pull_and_flows_have_their_turns() {
    let mut pacer = PullPacer::default();
    let _ = [(); 2].map(|()| pacer.add(TERMS));
    for _ in 0..3 {
        pacer.handle_ask(0, &ask(30), false);
    }
    pacer.handle_ask(1, &ask(30), true);
    pacer.handle_ask(1, &ask(30), false);
    let expected = [(0, 0, 1), (100, 1, 1), (200, 0, 2), (300, 1, 2), (400, 0, 3)];
    assert_eq!(pulls(&mut pacer, at(0), at(9000)), expected);
    assert_eq!(pacer.readiness(at(9000)), Readiness::Idle);
}

/// Two more packets are left to be sent, and one that was cut is to be sent again.
#[test]
fn no_pull_is_sent_for_which_there_is_no_packet() {
    let mut pacer = PullPacer::default();
    pacer.add(TERMS);
    for cut in [false, false, false, true, false] {
        pacer.handle_ask(0, &ask(2), cut);
    }
    assert_eq!(pulls(&mut pacer, at(0), at(9000)), [(0, 0, 1), (100, 0, 2), (200, 0, 3)]);
    pacer.handle_ask(0, &ask(3), false);
    assert_eq!(pacer.readiness(at(9000)), Readiness::Idle);
}

/// A sender that has lost packets has lost the pulls that they would have brought, and perhaps pulls as well.
#[test]
fn who_asks_again_is_sent_all_pulls_that_it_has_a_use_for() {
    let mut pacer = PullPacer::default();
    pacer.add(TERMS);
    pacer.handle_ask(0, &ask(5), false);
    assert_eq!(pulls(&mut pacer, at(0), at(1000)), [(0, 0, 1)]);
    pacer.handle_ask(0, &Ask { target: 4, again: true }, false);
    assert_eq!(
        pulls(&mut pacer, at(1000), at(9000)),
        [(1000, 0, 2), (1100, 0, 3), (1200, 0, 4), (1300, 0, 5)]
    );
    // It has been sent all of them, and is told so again.
    pacer.handle_ask(0, &Ask { target: 5, again: true }, false);
    pacer.handle_ask(0, &ask(5), true);
    assert_eq!(pulls(&mut pacer, at(9000), at(9900)), [(9000, 0, 6)]);
    pacer.handle_ask(0, &Ask { target: 5, again: true }, false);
    assert_eq!(pulls(&mut pacer, at(9900), at(10_900)), [(9900, 0, 6)]);
}
