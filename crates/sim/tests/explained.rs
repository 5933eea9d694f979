//! Explanations of flows' completion times, against arithmetic.
//!
//! Star, 80 Gb/s, 1 us a link: a frame of 1000 B takes 100 ns, and an acknowledgement of 64 B 6.4 ns.

use clearway_sim::record::explanation::{Cause, Explanation};

use crate::experiment::{explained, floats, picoseconds, run, texts};

/// Picoseconds of a frame on a link.
const FRAME: u64 = 100_000;
/// Picoseconds from one end of a link to the other.
const DELAY: u64 = 1_000_000;
/// Picoseconds of an acknowledgement on a link.
const ACK: u64 = 6_400;
/// Picoseconds from a frame's departure to the arrival of its acknowledgement.
const ROUND_TRIP: u64 = 2 * (FRAME + DELAY) + 2 * (ACK + DELAY);

fn star(hosts: u32, transport: &str, rest: &str) -> String {
    format!(
        "format = 1\nname = 'why'\nduration = '5ms'\nstop_when_complete = true\n[network]\ntopology = 'star'\n\
         hosts = {hosts}\nrate = '80Gbps'\ndelay = '1us'\nmtu = '1000B'\nframing = '0B'\n\
         [transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '64B'\nrto = '50us'\n{transport}\n{rest}"
    )
}

/// A flow from the first host to the second.
fn flow(packets: u64) -> String {
    format!("[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 1\nbytes = '{packets}000B'\n")
}

/// The parts, with the number of the link that a part is about. Host n's NIC feeds link 2 n, and the way to it is link 2 n + 1.
fn parts(explanation: &Explanation) -> Vec<(Cause, Option<u32>, u64)> {
    explanation.parts.iter().map(|part| (part.cause, part.link, part.ps)).collect()
}

/// Returns the time that a flow waited for a cause, anywhere.
fn total(explanation: &Explanation, cause: Cause) -> u64 {
    explanation.parts.iter().filter(|part| part.cause == cause).map(|part| part.ps).sum()
}

/// Returns the time that a flow alone takes: its packets over the NIC, and the last one over the other link.
fn alone(packets: u64) -> [(Cause, Option<u32>, u64); 2] {
    [(Cause::Serialisation, None, (packets + 1) * FRAME), (Cause::Propagation, None, 2 * DELAY)]
}

#[test]
fn a_flow_alone_waits_for_nothing() {
    let of = &explained(&star(2, "", &flow(10)), &[0])[0];
    assert_eq!(parts(of), alone(10));
    assert_eq!((of.seq, of.first_sent, of.last_sent), (9, 9 * FRAME, 9 * FRAME));
    assert_eq!(of.journey.iter().map(|hop| hop.link).collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn the_second_of_two_packets_at_a_port_waits_for_the_first() {
    let text = star(3, "", "[[traffic]]\npattern = 'incast'\nto = 2\nbytes = '1000B'\n");
    let [first, second] = &explained(&text, &[0, 1])[..] else { panic!("two flows") };
    assert_eq!(parts(first), alone(1));
    let mut expected = alone(1).to_vec();
    expected.push((Cause::Queue, Some(5), FRAME));
    assert_eq!(parts(second), expected);
}

#[test]
fn a_flow_waits_for_what_else_its_nic_sends() {
    let other = "[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 2\nbytes = '2000B'\n";
    let of = explained(&star(3, "", &(flow(2) + other)), &[0, 1]);
    // The first flow is ready again before the second is, and sends both of its packets.
    assert_eq!(parts(&of[0]), alone(2));
    let mut expected = alone(2).to_vec();
    expected.push((Cause::Nic, Some(0), 2 * FRAME));
    assert_eq!(parts(&of[1]), expected);
}

#[test]
fn a_window_of_one_is_waited_for_between_packets() {
    let of = &explained(&star(2, "window = 1", &flow(3)), &[0])[0];
    let mut expected = alone(3).to_vec();
    expected.push((Cause::Window, None, 2 * (ROUND_TRIP - FRAME)));
    assert_eq!(parts(of), expected);
}

#[test]
fn pacing_at_half_of_the_links_rate_is_waited_for_as_long_as_packets_take() {
    let of = &explained(&star(2, "rate = '40Gbps'", &flow(4)), &[0])[0];
    let mut expected = alone(4).to_vec();
    expected.push((Cause::Pacing, None, 3 * FRAME));
    assert_eq!(parts(of), expected);
}

#[test]
fn a_packet_that_is_lost_costs_the_time_until_it_is_sent_again() {
    for link in ["h0>tor0", "tor0>h1"] {
        let fault = format!("[[fault]]\nkind = 'loss'\nlink = '{link}'\nprobability = 1\nuntil = '3us'\n");
        let of = &explained(&star(2, "", &(flow(1) + &fault)), &[0])[0];
        let mut expected = alone(1).to_vec();
        expected.push((Cause::Retransmission, None, 50_000_000));
        assert_eq!(parts(of), expected, "{link}");
        assert_eq!((of.first_sent, of.last_sent), (0, 50_000_000));
    }
}

/// The second of three packets is lost, and with a window of one the third waits for that.
#[test]
fn a_window_that_is_full_of_a_lost_packet_counts_as_the_loss() {
    let sent = ROUND_TRIP;
    for (link, from) in [("h0>tor0", sent), ("tor0>h1", sent + FRAME + DELAY)] {
        let (from, until) = (from - 1, from + 1);
        let fault = format!(
            "[[fault]]\nkind = 'loss'\nlink = '{link}'\nprobability = 1\nat = '{from}ps'\nuntil = '{until}ps'\n"
        );
        let of = &explained(&star(2, "window = 1", &(flow(3) + &fault)), &[0])[0];
        let mut expected = alone(3).to_vec();
        expected.push((Cause::Window, None, 2 * (ROUND_TRIP - FRAME)));
        expected.push((Cause::Retransmission, None, 50_000_000));
        assert_eq!(parts(of), expected, "{link}");
    }
}

#[test]
fn a_slow_link_is_slow_to_send_and_no_queue() {
    let fault = "[[fault]]\nkind = 'slow'\nlink = 'tor0>h1'\nrate = '20Gbps'\nuntil = '1ms'\n";
    let of = &explained(&star(2, "", &(flow(1) + fault)), &[0])[0];
    assert_eq!(
        parts(of),
        [(Cause::Serialisation, None, FRAME + 4 * FRAME), (Cause::Propagation, None, 2 * DELAY)]
    );
}

/// The link is fast again while a frame is on it, which goes on at the rate at which it began.
#[test]
fn a_frame_under_way_at_a_change_of_the_rate_keeps_its_own() {
    let fault = "[[fault]]\nkind = 'slow'\nlink = 'tor0>h1'\nrate = '20Gbps'\nuntil = '1200ns'\n";
    let of = &explained(&star(2, "", &(flow(1) + fault)), &[0])[0];
    assert_eq!(parts(of)[0], (Cause::Serialisation, None, FRAME + 4 * FRAME));
    let of = &explained(&star(2, "", &(flow(2) + fault)), &[0])[0];
    let first_leaves = FRAME + DELAY + 4 * FRAME;
    let second_comes = 2 * FRAME + DELAY;
    let mut expected = alone(2).to_vec();
    expected.push((Cause::Queue, Some(3), first_leaves - second_comes));
    assert_eq!(parts(of), expected);
}

#[test]
fn an_incast_under_flow_control_waits_for_pauses_at_its_nics() {
    let switch = "[switch.default]\npfc = 'static'\npfc_xoff = '5kB'\n";
    let incast = "[[traffic]]\npattern = 'incast'\nfrom = '0..3'\nto = 4\nbytes = '100kB'\n";
    let text = star(5, "", &format!("{switch}{incast}"));
    let outcome = run(&text);
    let (links, paused) = (texts(&outcome, "pauses", "link"), floats(&outcome, "pauses", "paused_us"));
    for of in explained(&text, &[0, 1, 2]) {
        let nic = links.iter().position(|&link| link == format!("h{}>tor0", of.flow)).expect("its NIC");
        let waited: Vec<_> = parts(&of).into_iter().filter(|(cause, ..)| *cause == Cause::Pause).collect();
        let [(_, link, ps)] = waited[..] else { panic!("{of:?}") };
        assert_eq!(link, Some(2 * of.flow));
        // Three share a link, so each is paused for most of two thirds of the time; what it sends meanwhile had begun.
        assert!(ps > of.completion / 2 && ps as f64 <= paused[nic] * 1e6, "{ps} of {} {of:?}", paused[nic]);
    }
}

#[test]
fn a_flow_of_fastpass_waits_for_its_timeslot() {
    let text = "format = 1\nname = 'why'\nduration = '5ms'\n[network]\ntopology = 'star'\nhosts = 3\nrate = '10Gbps'\n\
                delay = '1us'\nmtu = '1448B'\n[transport.t]\nprotocol = 'fastpass'\nheader = '52B'\n[arbiter]\nat = 'h2'\n\
                [[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 1\nbytes = '1448B'\nstart = '103us'\n";
    let of = &explained(text, &[0])[0];
    let path = [(Cause::Serialisation, None, 2 * 1_230_400), (Cause::Propagation, None, 2 * DELAY)];
    let fct = picoseconds(&run(text), "flows", "fct_us")[0];
    assert_eq!(parts(of)[..2], path);
    assert_eq!(parts(of)[2..], [(Cause::Timeslot, None, fct - 2 * 1_230_400 - 2 * DELAY)]);
    // A request to the arbiter and its answer take two links each.
    assert!(total(of, Cause::Timeslot) > 4 * DELAY, "{of:?}");
}

#[test]
fn packets_that_are_cut_cost_the_time_until_they_are_sent_again() {
    let text = "format = 1\nname = 'why'\nduration = '5ms'\nstop_when_complete = true\n[network]\ntopology = 'star'\n\
                hosts = 3\nrate = '80Gbps'\ndelay = '1us'\nmtu = '936B'\nframing = '0B'\n[switch.default]\n\
                buffer = '10kB'\noverflow = 'trim'\n[transport.t]\nprotocol = 'nscc'\nmax_window = 1.0\n\
                quick_adapt = false\n[[traffic]]\npattern = 'incast'\nto = 0\nbytes = '18720B'\n";
    // A header goes ahead: from one end to the other and back, it takes more than four links' delay.
    for of in explained(text, &[0, 1]) {
        assert!(total(&of, Cause::Retransmission) > 4 * DELAY, "{of:?}");
        assert!(of.last_sent > of.first_sent, "{of:?}");
    }
}

#[test]
fn hosts_whose_work_takes_time_are_waited_for_at_both_ends() {
    let host =
        "[host.default]\nmodel = 'snap'\nreceive_packet = '300ns'\ncopy_rate = '8Gbps'\noperation = '0ns'\n\
                receive_ack = '0ns'\ncompletion = '0ns'\ntransmit = '40ns'\njitter = '0us'\npause = '0us'\n";
    let of = &explained(&star(2, "", &(flow(1) + host)), &[0])[0];
    let mut expected = alone(1).to_vec();
    expected.push((Cause::Host, None, 40_000));
    expected.push((Cause::Receiver, None, 300_000 + 1_000_000));
    assert_eq!(parts(of), expected);
}
