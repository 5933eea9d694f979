//! Fastpass in the simulator: against arithmetic, without queues and drops, over any number of threads, and when arbiters
//! die.

use crate::experiment::{self, figure, floats, integers, picoseconds, run, run_on, texts, Outcome};

/// A full frame on the wire, in bytes.
const FRAME: u64 = 1538;

/// 14 of the 16 hosts of a small leaf-spine network or fat tree; the other two are for arbiters.
const HOSTS: &str = "[0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15]";

const LEAF_SPINE: &str = "topology = 'leaf_spine'\nleaves = 4\nspines = 4\nhosts_per_leaf = 4";
const FAT_TREE: &str = "topology = 'fat_tree'\nk = 4";

/// A network of 10 Gb/s whose full frames weigh 1538 B.
fn network(shape: &str, rest: &str) -> String {
    format!(
        "format = 1\nname = 'fastpass'\nduration = '5ms'\nwarmup = '1ms'\n[network]\n{shape}\nrate = '10Gbps'\ndelay = '1us'\n\
         mtu = '1448B'\n[transport.t]\nprotocol = 'fastpass'\nheader = '52B'\n{rest}"
    )
}

/// Every host sends to another, with these arbiters and whatever else.
fn permutation(shape: &str, arbiters: &str, rest: &str) -> String {
    let traffic = format!("[[traffic]]\npattern = 'permutation'\nhosts = {HOSTS}\n");
    network(shape, &format!("[arbiter]\nat = {arbiters}\n{traffic}{rest}"))
}

/// The longest queue, in bytes, of all ports of switches.
fn longest_queue(outcome: &Outcome) -> u64 {
    let links = texts(outcome, "links", "link").into_iter();
    let peaks = integers(outcome, "links", "queue_peak_bytes").iter();
    links.zip(peaks).filter(|(link, _)| !link.starts_with('h')).map(|(_, peak)| *peak).max().unwrap_or(0)
}

fn assert_nothing_is_lost(outcome: &Outcome) {
    assert_eq!(figure(outcome, "drops"), 0.0);
    assert_eq!(figure(outcome, "retransmissions"), 0.0);
}

/// The goodput in each of the intervals that are recorded.
fn throughput(outcome: &Outcome) -> Vec<(f64, f64)> {
    let times = floats(outcome, "throughput", "time_us").iter();
    times.zip(floats(outcome, "throughput", "goodput_gbps")).map(|(time, gbps)| (*time, *gbps)).collect()
}

/// Returns what became of a flow of one packet of which the arbiter at `h2` hears: its completion time and its round trip, in
/// picoseconds.
fn one_packet(transport: &str) -> (u64, u64) {
    let rest = "[arbiter]\nat = 'h2'\n[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 1\nbytes = '1448B'\nstart = '103us'\n";
    let text = network("topology = 'star'\nhosts = 3", &format!("{transport}\n{rest}"));
    let outcome = run(&text.replace("warmup = '1ms'", "warmup = '0us'"));
    let round_trip = (figure(&outcome, "rtt_mean_us") * 1e6).round() as u64;
    (picoseconds(&outcome, "flows", "fct_us")[0], round_trip)
}

/// A completion time has the whole wait for the packet's timeslot in it and none of its acknowledgement's, a round-trip time
/// the other way round.
#[test]
fn times_include_the_waits_for_timeslots_that_they_are_said_to() {
    const US: u64 = 1_000_000;
    let over = |bytes: u64| 2 * (bytes * 800 + US);
    // 1538 B at 10 Gb/s over 0.99. Of what is asked for, the first slot of the next batch is granted: 16 slots are allocated
    // 40 before the first of them.
    let slot = (FRAME as f64 * 800.0 / 0.99) as u64;
    let granted = |asked: u64| (asked + 40 * slot).div_ceil(16 * slot) * 16 * slot;
    let (start, request, ack) = (103 * US, over(84), 90);
    let sent = granted(start + request);
    let arrived = sent + over(FRAME);
    let answered = granted(arrived + request) + over(ack);
    assert_eq!(one_packet(""), (arrived - start, answered - sent));
    assert!(sent - start > 50 * US && answered - arrived > 50 * US, "both waits are most of it");
    // Who waits for no timeslot takes what an empty network takes.
    assert_eq!(one_packet("unscheduled = 1"), (over(FRAME), over(FRAME) + over(ack)));
}

#[test]
fn an_incast_gets_every_slot_and_shares_them_alike() {
    let shape = "topology = 'star'\nhosts = 6";
    let traffic = "[arbiter]\nat = 'h5'\n[[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 4\n";
    let outcome = run(&network(shape, traffic));
    // A slot is 1538 B at 10 Gb/s over 0.99: 1242.83 ns, and 4 ms have 3218 of them.
    let slot_ns = FRAME as f64 * 0.8 / 0.99;
    let expected = 1448.0 * 8.0 / slot_ns;
    assert!((figure(&outcome, "goodput_gbps") / expected - 1.0).abs() < 1e-3);
    let delivered = integers(&outcome, "flows", "delivered_bytes");
    assert!(delivered.iter().max().unwrap() - delivered.iter().min().unwrap() <= 1448, "{delivered:?}");
    assert_nothing_is_lost(&outcome);
    // One frame may come while a control packet or another frame is on its way out.
    assert!(longest_queue(&outcome) <= 2 * FRAME, "{}", longest_queue(&outcome));
    // What the arbiter has granted the endpoints have, but for the last batches, which are on their way.
    let granted = integers(&outcome, "arbiters", "slots_granted")[0];
    let came: u64 = integers(&outcome, "endpoints", "slots_granted").iter().sum();
    assert!((0..=40).contains(&(granted - came)), "{granted} granted, {came} came");
}

#[test]
fn no_queue_forms_in_networks_of_several_paths() {
    for shape in [LEAF_SPINE, FAT_TREE] {
        let outcome = run(&permutation(shape, "'h3'", ""));
        assert_nothing_is_lost(&outcome);
        assert!(longest_queue(&outcome) <= 5 * FRAME, "{shape}: {}", longest_queue(&outcome));
        // Of 14 hosts at 9.32 Gb/s; acknowledgements take slots too.
        let goodput = figure(&outcome, "goodput_gbps");
        assert!(goodput > 0.9 * 14.0 * 9.32, "{shape}: {goodput}");
    }
}

#[test]
fn oversubscribed_links_carry_what_they_can_and_no_more() {
    let shape = "topology = 'leaf_spine'\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\noversubscription = 2";
    let outcome = run(&permutation(shape, "'h3'", ""));
    assert_nothing_is_lost(&outcome);
    assert!(longest_queue(&outcome) <= 5 * FRAME, "{}", longest_queue(&outcome));
    let shape = "topology = 'dumbbell'\nleft = 4\nright = 4\nbottleneck = '20Gbps'";
    let traffic = "[arbiter]\nat = 'tor0'\n[[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 4\n\
                   [[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 5\n[[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 6\n";
    let outcome = run(&network(shape, traffic));
    assert_nothing_is_lost(&outcome);
    // Two packets a slot cross the link between the switches.
    let goodput = figure(&outcome, "goodput_gbps");
    assert!((goodput / (2.0 * 9.3207) - 1.0).abs() < 0.01, "{goodput}");
}

/// Uplinks and bottlenecks that carry no whole number of packets a slot carry all that they can: what a host sends with every
/// slot full, as often as their rate has a host's.
#[test]
fn links_of_any_rate_are_filled_and_hold_no_queue() {
    let per_host = 10e3 * 0.99 * 1448.0 / FRAME as f64 / 1e3;
    let leaves = |spines: u32, over: f64| {
        format!(
            "topology = 'leaf_spine'\nleaves = 3\nspines = {spines}\nhosts_per_leaf = 6\noversubscription = {over}"
        )
    };
    let bell = |gbps: u32| format!("topology = 'dumbbell'\nleft = 6\nright = 12\nbottleneck = '{gbps}Gbps'");
    // Uplinks of 0.667, 0.667 and 2.5 packets a slot, and bottlenecks of 1.5 and 0.9.
    let networks = [
        (leaves(4, 2.25), 8.0 / 3.0),
        (leaves(3, 3.0), 2.0),
        (leaves(2, 1.2), 5.0),
        (bell(15), 1.5),
        (bell(9), 0.9),
    ];
    for (shape, hosts) in networks {
        let pair = |host: u32| format!("[[traffic]]\npattern = 'incast'\nfrom = {host}\nto = {}\n", host + 6);
        let pairs: Vec<String> = (0..6).map(pair).collect();
        let outcome = run(&network(&shape, &format!("[arbiter]\nat = 'h17'\n{}", pairs.concat())));
        assert_nothing_is_lost(&outcome);
        let (goodput, most) = (figure(&outcome, "goodput_gbps"), hosts * per_host);
        assert!((goodput / most - 1.0).abs() < 0.005, "{shape}: {goodput} of {most}");
        assert!(longest_queue(&outcome) <= 7 * FRAME, "{shape}: {}", longest_queue(&outcome));
    }
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let crash = "[[fault]]\nkind = 'crash'\narbiter = 0\nat = '2ms'\nuntil = '3ms'\n";
    let clocks = "[host.default]\nclock_offset = '2us'\nclock_drift = '50ppm'\nclock_jitter = '300ns'\n";
    let loss = "[[fault]]\nkind = 'loss'\nlink = 'h3-tor0'\nprobability = 0.01\n";
    for text in [
        permutation(FAT_TREE, "['h3', 'h7']", crash),
        permutation(LEAF_SPINE, "'h3'", &format!("{crash}{clocks}{loss}")),
    ] {
        let alone = run_on(&text, None, 1);
        for threads in [2, 3, 7] {
            let together = run_on(&text, None, threads);
            assert_eq!(alone.digest, together.digest);
            assert_eq!(format!("{:?}", alone.tables), format!("{:?}", together.tables));
        }
    }
}

#[test]
fn another_arbiter_takes_over() {
    let rest = "[[fault]]\nkind = 'crash'\narbiter = 0\nat = '2ms'\n[record]\nthroughput = '10us'\n";
    let outcome = run(&permutation(FAT_TREE, "['h3', 'h7']", rest));
    assert_nothing_is_lost(&outcome);
    assert_eq!(texts(&outcome, "arbiters", "role"), ["dead", "primary"]);
    assert_eq!(integers(&outcome, "arbiters", "takeovers"), [1, 1]);
    assert_eq!(figure(&outcome, "fallbacks"), 0.0);
    // What was granted before still leaves; then nothing until the new primary knows what is demanded.
    let silent = throughput(&outcome).iter().filter(|(time, gbps)| *time > 1500.0 && *gbps == 0.0).count();
    assert!((5..=23).contains(&silent), "{silent} intervals of 10 us without a packet");
    assert!(longest_queue(&outcome) <= 5 * FRAME, "{}", longest_queue(&outcome));
}

#[test]
fn without_an_arbiter_flows_go_on_by_swift_until_one_is_back() {
    let rest = "[[fault]]\nkind = 'crash'\narbiter = 0\nat = '1ms'\nuntil = '3500us'\n[record]\nthroughput = '100us'\n";
    let outcome = run(&permutation(FAT_TREE, "'h3'", rest));
    assert_eq!(figure(&outcome, "drops"), 0.0);
    assert_eq!(integers(&outcome, "endpoints", "fallbacks"), [1; 14]);
    assert_eq!(integers(&outcome, "endpoints", "returns"), [1; 14]);
    let throughput = throughput(&outcome);
    let mean = |from: f64, to: f64| {
        let within: Vec<f64> =
            throughput.iter().filter(|(at, _)| (from..to).contains(at)).map(|(_, g)| *g).collect();
        experiment::mean(&within)
    };
    let (before, between, after) = (mean(500.0, 1000.0), mean(2700.0, 3400.0), mean(4200.0, 5000.0));
    assert!(between > 0.5 * before, "{before} Gb/s before, {between} by Swift");
    assert!(after > 0.95 * before, "{before} Gb/s before, {after} after");
}

#[test]
fn clocks_that_err_cost_little() {
    let clocks = "[host.default]\nclock_offset = '300ns'\nclock_jitter = '300ns'\n";
    let outcome = run(&permutation(FAT_TREE, "'h3'", clocks));
    assert_nothing_is_lost(&outcome);
    assert_eq!(figure(&outcome, "slots_refused"), 0.0);
    assert!(longest_queue(&outcome) <= 6 * FRAME, "{}", longest_queue(&outcome));
}

#[test]
fn messages_complete_and_small_ones_share_slots() {
    let rest = format!(
        "[arbiter]\nat = 'h3'\n[[traffic]]\npattern = 'poisson'\nfrom = {HOSTS}\nto = {HOSTS}\nload = 0.5\nsizes = 'websearch'\nstop = '3ms'\n"
    );
    let outcome = run(&network(FAT_TREE, &rest));
    assert_nothing_is_lost(&outcome);
    let shape = "topology = 'star'\nhosts = 3";
    let traffic = "[arbiter]\nat = 'h2'\n[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 1\nbytes = '100B'\nflows_per_pair = 60\n";
    let outcome = run(&network(shape, traffic));
    assert_eq!(figure(&outcome, "completed"), 60.0);
    // 190 B each on the wire: eight to a slot of 1553 B, once they wait together.
    let used = integers(&outcome, "endpoints", "slots_used")[0];
    assert!((8..=12).contains(&used), "{used} slots");
}

#[test]
fn a_short_flow_need_not_wait_for_an_arbiter() {
    let shape = "topology = 'star'\nhosts = 4";
    let of = |keys: &str| {
        let traffic =
            "[arbiter]\nat = 'h3'\n[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 2\nbytes = '1448B'\n\
                       [[traffic]]\npattern = 'incast'\nfrom = [1]\nto = 2\nbytes = '2896B'\n";
        let text = network(shape, traffic).replace("header = '52B'", &format!("header = '52B'\n{keys}"));
        floats(&run(&text), "flows", "fct_us").to_vec()
    };
    let (scheduled, at_once) = (of(""), of("unscheduled = 1"));
    // Two links of 1 us and 1.2304 us for the frame.
    assert!((at_once[0] - 2.0 * 2.2304).abs() < 0.01, "{at_once:?}");
    // A request, an allocation, and 40 slots until its first.
    assert!(scheduled[0] > 50.0 && scheduled[0] < 100.0, "{scheduled:?}");
    assert!((at_once[1] - scheduled[1]).abs() < 5.0, "{at_once:?} {scheduled:?}");
}

#[test]
fn who_has_to_wait_for_others_does_not_take_its_arbiter_for_dead() {
    let shape = "topology = 'star'\nhosts = 7";
    let traffic =
        "[arbiter]\nat = 'h6'\norder = 'min_fct'\n[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 5\n\
                   [[traffic]]\npattern = 'incast'\nfrom = '1..5'\nto = 5\nbytes = '900kB'\n";
    let outcome = run(&network(shape, traffic));
    // Four flows of 622 packets go first, in 3.1 ms; the endless one has its turn then.
    assert_eq!(figure(&outcome, "completed"), 4.0);
    assert!(floats(&outcome, "flows", "fct_us").iter().all(|fct| fct.is_nan() || *fct < 3300.0));
    assert_eq!(figure(&outcome, "fallbacks"), 0.0);
    assert!(integers(&outcome, "flows", "delivered_bytes")[0] > 1_500_000);
}

#[test]
fn a_failed_link_is_found_and_avoided() {
    for (shape, link) in [(LEAF_SPINE, "tor1>spine2"), (FAT_TREE, "agg2>spine1")] {
        let fault = format!("[[fault]]\nkind = 'loss'\nlink = '{link}'\nprobability = 0.2\nat = '5ms'\n[record]\nlinks = '1ms'\n");
        let text = permutation(shape, "'h3'", &fault).replace("'5ms'\nwarmup", "'20ms'\nwarmup");
        let outcome = run(&text);
        assert_eq!(texts(&outcome, "arbiters", "failed_links"), [link]);
        // Once when it is found, and when others are cleared that were suspected with it.
        let changes = integers(&outcome, "arbiters", "paths_changed")[0];
        assert!((1..=4).contains(&changes), "{shape}: {changes} changes");
        // The arbiter weighs every millisecond what is reported.
        let lost = experiment::link_count(&outcome, link, "fault_losses");
        assert!((100..=1500).contains(&lost), "{shape}: {lost} frames lost");
        // With a path less there is as much to send, and still no queue.
        assert_eq!(figure(&outcome, "drops"), 0.0);
        assert!(longest_queue(&outcome) <= 12 * FRAME, "{shape}: {}", longest_queue(&outcome));
    }
}

#[test]
fn a_flow_does_not_wait_for_the_one_whose_packets_its_host_acknowledges() {
    let shape = "topology = 'star'\nhosts = 3";
    let rest = "[arbiter]\nat = 'h2'\n[[traffic]]\npattern = 'incast'\nfrom = 0\nto = 1\n\
                [[traffic]]\npattern = 'incast'\nfrom = 1\nto = 0\nbytes = '14480B'\nstart = '1ms'\n";
    let outcome = run(&network(shape, rest));
    assert_nothing_is_lost(&outcome);
    // An arbiter's round trip, ten slots, and some that acknowledgements take of these.
    let fct = floats(&outcome, "flows", "fct_us")[1];
    assert!(fct < 200.0, "{fct} us");
}

#[test]
fn grants_to_many_destinations_come_in_time() {
    let shape = "topology = 'star'\nhosts = 33";
    let of = |rate: &str| {
        let rest =
            format!("[arbiter]\nat = 'h32'\n{rate}\n[[traffic]]\npattern = 'all_to_all'\nhosts = '0..32'\n");
        run(&network(shape, &rest))
    };
    let outcome = of("");
    assert_nothing_is_lost(&outcome);
    assert_eq!(figure(&outcome, "slots_refused"), 0.0);
    // Acknowledgements take slots of their own where each destination has few.
    assert!(figure(&outcome, "goodput_gbps") > 150.0, "{}", figure(&outcome, "goodput_gbps"));
    // An allocation names 15 destinations: one in 20 us is too few for 16 slots to 16 endpoints.
    assert!(figure(&of("allocation_rate = 50000"), "slots_refused") > 1000.0);
}

/// Four hosts of a star send to a fifth for 20 ms, with these keys of hosts, that model an interrupt by nothing.
fn incast_of(hosts: &str, transport: &str) -> Outcome {
    let shape = "topology = 'star'\nhosts = 6";
    let rest = format!(
        "{transport}\n[host.default]\nmodel = 'interrupts'\nwake_interval = '0us'\nsoftirq = '0us'\nsoftirq_mean = '0us'\n{hosts}\n\
         [arbiter]\nat = 'h5'\n[[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 4\n"
    );
    run(&network(shape, &rest).replace("'5ms'\nwarmup", "'20ms'\nwarmup"))
}

#[test]
fn a_stack_that_stood_still_may_not_use_the_slots_that_it_missed() {
    let stalls = "stall_interval = '5ms'\nstall = '300us'";
    let refused = incast_of(stalls, "");
    assert!(figure(&refused, "slots_refused") > 100.0, "{}", figure(&refused, "slots_refused"));
    assert_eq!(figure(&refused, "drops"), 0.0);
    // A slot may be 16 slots late, and as many packets may meet those whose slots these are.
    assert!(longest_queue(&refused) <= 20 * FRAME, "{}", longest_queue(&refused));
    // Without the check all that was missed comes at once: 150 us or more at a quarter of the rate.
    let late = incast_of(stalls, "age_check = false");
    assert_eq!(figure(&late, "slots_refused"), 0.0);
    assert!(longest_queue(&late) >= 28 * FRAME, "{}", longest_queue(&late));
}

#[test]
fn a_host_short_of_processor_time_sends_no_faster_in_slots() {
    let outcome = incast_of("send_rate = '2Gbps'", "");
    let expected = 4.0 * 2.0 * 1448.0 / FRAME as f64;
    let goodput = figure(&outcome, "goodput_gbps");
    assert!((goodput / expected - 1.0).abs() < 2e-3, "{goodput}");
    // Four such rates are less than the link has: what is granted besides goes unused, or late.
    assert_nothing_is_lost(&outcome);
}

#[test]
fn a_stack_whose_frames_are_late_makes_a_queue_of_what_comes_together() {
    let exact = longest_queue(&incast_of("", ""));
    let late = incast_of("send_jitter = '15us'", "");
    assert_nothing_is_lost(&late);
    assert_eq!(figure(&late, "slots_refused"), 0.0);
    // In 15 us come 12 slots, of which no sender has more than three and a part.
    assert!(exact <= 2 * FRAME && (4 * FRAME..=13 * FRAME).contains(&longest_queue(&late)), "{exact}");
    assert!(figure(&late, "goodput_gbps") > 9.3);
}

#[test]
fn flows_of_several_transports_share_the_slots_of_a_host() {
    let other = "[transport.u]\nprotocol = 'fastpass'\nheader = '52B'\n[arbiter]\nat = 'h3'\n";
    let table = |name, from| {
        format!("[[traffic]]\npattern = 'incast'\ntransport = '{name}'\nfrom = {from}\nto = 2\n")
    };
    let shape = "topology = 'star'\nhosts = 4";
    let outcome = run(&network(shape, &format!("{other}{}{}", table("t", "'0..2'"), table("u", "0"))));
    assert_nothing_is_lost(&outcome);
    // Host 0 has a half of the slots for the flows of both transports, and host 1 the other for its one flow.
    let delivered = integers(&outcome, "flows", "delivered_bytes");
    let whole: u64 = delivered.iter().sum();
    assert!(delivered[1].abs_diff(whole / 2) <= 1448, "{delivered:?}");
    assert!(delivered[0].abs_diff(delivered[2]) <= 1448, "{delivered:?}");
}

/// Three of a star's hosts send to the next each, for 5 ms, under an arbiter with these keys.
fn under(arbiter: &str) -> Outcome {
    let shape = "topology = 'star'\nhosts = 4";
    let traffic = "[[traffic]]\npattern = 'permutation'\nhosts = '0..3'\n";
    run(&network(shape, &format!("send = 'on_arrival'\n[arbiter]\nat = 'h3'\n{arbiter}\n{traffic}")))
}

/// Every request goes to every arbiter, and hosts' links carry all copies. With one destination each is a smallest frame.
#[test]
fn the_share_of_requests_is_what_links_carry_with_any_number_of_arbiters() {
    for arbiters in [1, 2, 8] {
        let shape = format!("topology = 'star'\nhosts = {}", 2 + arbiters);
        let at: Vec<u64> = (2..2 + arbiters).collect();
        let rest = format!("[arbiter]\nat = {at:?}\n[[traffic]]\npattern = 'incast'\nfrom = [0]\nto = 1\n");
        let outcome = run(&network(&shape, &rest).replace("warmup = '1ms'", "warmup = '0us'"));
        let payload = integers(&outcome, "flows", "delivered_bytes").iter().sum::<u64>() as f64;
        let requests = integers(&outcome, "endpoints", "requests").iter().sum::<u64>();
        let share = figure(&outcome, "request_share");
        let expected = (requests * arbiters * 84) as f64 / payload;
        assert!((share / expected - 1.0).abs() < 2e-3, "{arbiters} arbiters: {share} and not {expected}");
        // The primary's link carries one copy of each, and nothing else.
        let links = texts(&outcome, "links", "link").into_iter();
        let mut carried = links.zip(integers(&outcome, "links", "wire_bytes"));
        let (_, copy) = carried.find(|(link, _)| *link == "tor0>h2").expect("the primary's link");
        let carried = (copy * arbiters) as f64 / payload;
        assert!(
            (share / carried - 1.0).abs() < 5e-3,
            "{arbiters} arbiters: {share}, and links carry {carried}"
        );
    }
}

#[test]
fn requests_wait_until_an_arbiter_looks_and_for_those_before_them() {
    let wait = |arbiter| floats(&under(arbiter), "arbiters", "queue_mean_us")[0];
    assert_eq!(wait(""), 0.0);
    // It looks every 8.3 us, and requests come every 34: at any time between two looks.
    let polled = wait("poll_interval = '8.3us'");
    assert!((polled - 4.15).abs() < 0.8, "{polled}");
    // Three allocations leave every 20 us, and three requests come every 34.
    let busy = under("request_service = '1us'\nallocation_service = '1us'");
    let share = floats(&busy, "arbiters", "utilisation")[0];
    assert!((share - 3.0 / 20.0 - 3.0 / 34.0).abs() < 0.02, "{share}");
    let mean = floats(&busy, "arbiters", "queue_mean_us")[0];
    assert!(mean > 0.05 && mean < 3.0, "{mean}");
    assert!(floats(&busy, "arbiters", "queue_p99_us")[0] >= mean);
}

#[test]
fn requests_that_find_no_room_are_made_good_for_by_those_after_them() {
    let all = under("");
    // Requests alone take more time than there is: three in 34 us, 12 us each. The rest is late now and then.
    let full = under("request_service = '12us'\nrequest_queue = 2");
    assert_eq!(integers(&all, "arbiters", "queue_drops")[0], 0);
    assert!(integers(&full, "arbiters", "queue_drops")[0] > 50);
    let (all, full) = (figure(&all, "goodput_gbps"), figure(&full, "goodput_gbps"));
    assert!(full > 0.96 * all, "{full} and {all}");
}
