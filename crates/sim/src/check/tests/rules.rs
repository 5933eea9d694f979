//! Each rule of the file, and what is said when it is broken.

use clearway_proto::swift::SwiftParams;
use clearway_proto::units::{Bytes, Rate, Span, Time};
use serde_json::json;

use super::super::load::{load, load_text};
use super::super::memory::{self, estimate_bytes};
use super::fixture::{self, good, read, said, set, toml, with, Folder, FULL, SMALL};
use crate::host::ends::{ReceivingEnd, SendingEnd};
use crate::model::*;
use crate::simulation::footprint::FRAME;

#[test]
fn a_small_file_has_every_default() {
    let scenario = good(SMALL);
    assert_eq!((scenario.seed, scenario.warmup, scenario.stop_when_complete), (1, Span::ZERO, false));
    let network = Network {
        topology: Topology::Star { hosts: 4 },
        rate: Rate::from_gbps(100),
        delay: Span::from_us(1),
        mtu: 4096,
        framing: 38,
    };
    assert_eq!(scenario.network, network);
    let kind = SwitchKind { buffer: Buffer::PerPort(Bytes::new(12_700_000)), ecn: Ecn::Off, pfc: None };
    assert_eq!(scenario.switches.tor, kind);
    assert_eq!(scenario.transports[0].header, 28);
    assert_eq!(scenario.transports[0].ack, 28);
    let traffic = &scenario.traffic[0];
    assert_eq!((traffic.start, traffic.stagger, traffic.stop), ((Time::ZERO, Time::ZERO), Span::ZERO, None));
    let bytes = Some(Bytes::new(1_000_000));
    assert_eq!(traffic.pattern, Pattern::Incast { from: vec![1, 2, 3], to: 0, flows_per_pair: 1, bytes });
    assert_eq!(scenario.record, Record { fairness: Span::from_ms(10), ..Record::default() });
}

#[test]
fn a_full_file_is_read_as_written() {
    let scenario = good(FULL);
    let uplink = Rate::from_gbps(50);
    let topology = Topology::LeafSpine { leaves: 2, spines: 2, hosts_per_leaf: 4, uplink };
    assert_eq!(scenario.network.topology, topology);
    let ecn = Ecn::Step { threshold: Bytes::new(100_000), at: MarkPoint::Dequeue };
    let tor =
        SwitchKind { buffer: Buffer::Shared { size: Bytes::new(16_000_000), alpha: 0.5 }, ecn, pfc: None };
    assert_eq!(scenario.switches.tor, tor);
    assert_eq!(
        scenario.switches.spine,
        SwitchKind { buffer: Buffer::PerPort(Bytes::new(12_700_000)), ecn, pfc: None }
    );
    let swift = SwiftParams { base_target: Span::from_us(30), ..SwiftParams::default() };
    assert_eq!(scenario.transports[0].protocol, Protocol::Swift(swift));
    assert_eq!((scenario.transports[0].header, scenario.transports[1].ack), (64, 52));
    assert_eq!(scenario.traffic[0].start, (Time::ZERO, Time::from_ps(100_000_000)));
    let Pattern::ClosedLoop { operations: Operations { from, to, .. }, .. } = &scenario.traffic[2].pattern
    else {
        panic!("{:?}", scenario.traffic)
    };
    assert_eq!((from.as_slice(), to.as_slice()), ([3, 4, 5].as_slice(), [0, 1, 2].as_slice()));
    let links: Vec<_> =
        scenario.faults.iter().map(|fault| (fault.link.0.as_str(), fault.link.1.as_str())).collect();
    assert_eq!(links, [("h0", "tor0"), ("tor0", "h0")]);
    assert_eq!(scenario.faults[0].until, Time::NEVER);
}

#[test]
fn all_problems_are_reported_at_once_with_their_lines() {
    let text = with(FULL, "warmup = \"1ms\"", "warmup = \"10ms\"");
    let text = with(&text, "base_target = \"30us\"", "base_taget = \"30us\"");
    let text = with(&text, "ack_every = 2", "ack_every = 2.5");
    let text = with(&text, "load = 0.3", "load = 30");
    let said = said(&text);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(
        lines[0],
        "x.toml:5: warmup: found 10ms, not below duration, 10ms: nothing is left to measure"
    );
    assert!(lines[1].starts_with(
        "x.toml:29: transport.bulk.base_taget: unknown key; did you mean base_target? (known keys: protocol, variant, base_target,"
    ));
    assert_eq!(lines[2], "x.toml:32: transport.rival.ack_every: found 2.5, expected a whole number");
    assert_eq!(lines[3], "x.toml:45: traffic[1].load: found 30, expected a number from 0.001 to 10.0");
    assert_eq!(lines.len(), 4);
}

#[test]
fn problems_are_there_for_programs_too() {
    let error = read(&with(SMALL, "hosts = 4", "host = 4")).expect_err("a misspelling");
    let missing = &error.problems[0];
    assert_eq!(
        (missing.key.as_str(), missing.line, missing.found.as_deref()),
        ("network.hosts", Some(4), None)
    );
    assert_eq!(missing.expected.as_deref(), Some("a whole number from 2 to 1000000"));
    let choice = said(&with(SMALL, "topology = \"star\"", "topolgy = \"star\""));
    assert!(choice.contains("network.topolgy: unknown key; did you mean topology?"), "{choice}");
    assert_eq!(choice.lines().count(), 2, "{choice}");
    let unknown = &error.problems[1];
    assert_eq!((unknown.file.as_str(), unknown.line, unknown.column), ("x.toml", Some(6), Some(1)));
    assert_eq!((unknown.key.as_str(), unknown.nearest.as_deref()), ("network.host", Some("hosts")));
}

#[test]
fn overrides_apply_and_are_named_where_they_are_wrong() {
    let loaded =
        set(SMALL, &[("network.rate", "50Gbps"), ("traffic.0.bytes", "2MB"), ("transport.a.window", "3")]);
    let scenario = loaded.unwrap_or_else(|error| panic!("{error}")).scenario;
    assert_eq!(scenario.network.rate, Rate::from_gbps(50));
    let error = |path, value| set(SMALL, &[(path, value)]).expect_err("wrong").to_string();
    assert_eq!(
        error("network.rate", "50"),
        "--set network.rate=50: network.rate: found 50, expected a rate with its unit, such as \"100Gbps\""
    );
    assert!(error("transport.a.windw", "3")
        .starts_with("--set transport.a.windw=3: transport.a.windw: unknown key; did you mean window?"));
    assert_eq!(
        error("traffic.1.bytes", "3B"),
        "--set traffic.1.bytes=3B: traffic.1.bytes: traffic has 1 entry, numbered from 0; there is no 1"
    );
    assert!(error("traffic[0].bytes", "0B")
        .starts_with("--set traffic[0].bytes=0B: traffic[0].bytes: found \"0B\""));
}

#[test]
fn the_seed_can_be_given_apart() {
    let seeded = |seed| load_text(SMALL, "x.toml", std::path::Path::new(""), &[], Some(seed));
    assert_eq!(seeded(9).expect("a seed").scenario.seed, 9);
    let error = seeded(u64::MAX >> 1).expect_err("too large").to_string();
    assert!(error.starts_with("--seed 9223372036854775807: seed: found"), "{error}");
    assert!(seeded(u64::MAX).is_err());
}

#[test]
fn what_is_left_out_is_named() {
    let said = said("");
    for missing in ["format", "name", "duration", "network.topology", "transport", "traffic"] {
        assert!(said.contains(&format!("x.toml: {missing}: missing, expected ")), "{missing}: {said}");
    }
}

#[test]
fn a_file_that_is_not_there_or_not_toml_is_said_so() {
    let error = load(std::path::Path::new("nowhere/x.toml"), &[], None).expect_err("no file").to_string();
    assert_eq!(error, "nowhere/x.toml: cannot read nowhere/x.toml: no such file or directory");
    assert!(said("format = \n").starts_with("x.toml:1: not TOML: "));
    assert!(said(&with(SMALL, "format = 1", "format = 2")).contains("format: found 2, expected 1, the only"));
    let folder = Folder::new("binary", &[]);
    std::fs::write(folder.0.join("x.toml"), [b'a', 0xff]).expect("a file");
    let error = load(&folder.0.join("x.toml"), &[], None).expect_err("not text").to_string();
    assert!(error.contains("not UTF-8 at byte 1"), "{error}");
}

#[test]
fn choices_have_nearest_names_and_silence_what_follows() {
    let said = said(&with(SMALL, "\"star\"", "\"sar\""));
    let expected = "x.toml:5: network.topology: found \"sar\", expected one of star, dumbbell, leaf_spine, fat_tree, datacenters, file; \
                    did you mean star?";
    assert_eq!(said, expected);
}

#[test]
fn what_is_set_elsewhere_and_a_table_that_is_given_as_several_say_so() {
    let wrong = said(&with(SMALL, "protocol = \"none\"", "protocol = \"dcqcn\""));
    assert!(wrong.ends_with("ndp; did you mean roce with congestion = \"dcqcn\"?"), "{wrong}");
    let several = said(&with(SMALL, "[network]", "[[network]]"));
    assert!(several.contains(": network: found a list, expected one table, [network]"), "{several}");
}

#[test]
fn a_key_of_another_choice_says_which() {
    let text = with(SMALL, "hosts = 4", "hosts = 4\nleft = 3");
    let expected =
        "x.toml:7: network.left: applies only with topology = \"dumbbell\"; here topology = \"star\"";
    assert_eq!(said(&text), expected);
    let text = format!("{SMALL}[switch.default]\nalpha = 2.0\necn_min = \"1kB\"\n");
    let said = said(&text);
    assert!(said
        .contains("switch.default.alpha: applies only with sharing = \"shared\"; here sharing = \"port\""));
    assert!(
        said.contains("switch.default.ecn_min: applies only with ecn = \"red\"; here ecn = \"off\""),
        "{said}"
    );
    let text = with(SMALL, "to = 0", "to = 0\nhosts = \"0..2\"");
    assert!(fixture::said(&text).contains("only with pattern = \"permutation\" or \"all_to_all\"; here"));
}

#[test]
fn roles_inherit_key_by_key() {
    let red = "[switch.default]\necn = \"red\"\necn_min = \"5kB\"\necn_max = \"200kB\"\necn_pmax = 0.1\n";
    let network =
        |switch: &str| with(FULL, "[switch.default]\necn = \"step\"\necn_threshold = \"100kB\"\n", switch);
    let scenario = good(&network(&format!("{red}[switch.spine]\necn_pmax = 1.0\n")));
    let pmax = |kind: &SwitchKind| match kind.ecn {
        Ecn::Red { pmax, .. } => pmax,
        _ => panic!("{kind:?}"),
    };
    assert_eq!((pmax(&scenario.switches.tor), pmax(&scenario.switches.spine)), (0.1, 1.0));
    let scenario = good(&network(&format!("{red}[switch.spine]\necn = \"off\"\n")));
    assert_eq!(scenario.switches.spine.ecn, Ecn::Off);
    // Not given by default, and demanded by the role's own choice.
    let said = said(&network("[switch.spine]\necn = \"step\"\n"));
    assert!(said.contains("switch.spine.ecn_threshold: missing, expected a size from"), "{said}");
}

#[test]
fn roles_are_those_of_the_topology() {
    let said = said(&format!("{SMALL}[switch.spine]\nbuffer = \"1MB\"\n"));
    assert_eq!(said, "x.toml:13: switch.spine: the topology has no switches of role spine; its roles: tor");
}

#[test]
fn thresholds_lie_within_the_buffer() {
    let said = |lines: &str| said(&format!("{SMALL}[switch.default]\n{lines}"));
    assert!(said("ecn = \"step\"\necn_threshold = \"13MB\"\n").contains("nothing would ever be marked"));
    let red = "ecn = \"red\"\necn_min = \"2kB\"\necn_max = \"1kB\"\necn_pmax = 1\n";
    assert!(said(red).contains("switch.default.ecn_min: 2kB is above ecn_max, 1kB"));
    // Under PFC a queue has what all links may have at the switch, beside the buffer; a share of the buffer is below it.
    let marks = "buffer = \"1MB\"\necn = \"step\"\necn_threshold = \"1.6MB\"\n";
    assert!(said(marks).contains("ecn_threshold: 1.6MB is not below buffer, 1MB"));
    let dynamic = format!("{marks}sharing = \"shared\"\npfc = \"dynamic\"\n");
    assert!(said(&dynamic).contains("ecn_threshold: 1.6MB is not below buffer, 1MB"));
    good(&format!("{SMALL}[switch.default]\n{marks}pfc = \"static\"\npfc_xoff = \"288kB\"\n"));
}

#[test]
fn a_buffer_holds_a_full_frame() {
    let said = |lines: &str| said(&format!("{SMALL}[switch.default]\n{lines}"));
    let expected = "x.toml:14: switch.default.buffer: a port may hold 4161B, less than one full frame of transport a, 4162B";
    assert_eq!(said("buffer = \"4161B\"\n"), expected);
    assert!(said("buffer = \"10kB\"\nsharing = \"shared\"\nalpha = 0.4\n")
        .contains("switch.default.alpha: a port may"));
    good(&format!("{SMALL}[switch.default]\nbuffer = \"4162B\"\n"));
}

#[test]
fn windows_are_in_order() {
    let said = |lines: &str| said(&with(SMALL, "protocol = \"none\"", lines));
    let swift = |lines: &str| said(&format!("protocol = \"swift\"\n{lines}"));
    assert!(swift("min_cwnd = 300").contains("transport.a.min_cwnd: min_cwnd, 300, is above max_cwnd, 256"));
    assert!(swift("max_cwnd = 8\ninitial_cwnd = 16")
        .contains("transport.a.initial_cwnd: initial_cwnd, 16, is above max_cwnd, 8"));
    assert!(swift("max_cwnd = 2000").contains("max_cwnd, 2000, is above reach, 1024"));
    assert!(
        swift("fs_min_cwnd = 300").contains("fs_min_cwnd: fs_min_cwnd, 300, is not below fs_max_cwnd, 256")
    );
    let floor = "cwnd_below_one = false\nmin_cwnd = 0.1\ninitial_cwnd = 0.3\nmax_cwnd = 0.5";
    assert!(swift(floor).contains("transport.a.max_cwnd: max_cwnd, 0.5, is below one packet, the floor that is set by cwnd_below_one, false"));
    assert!(swift("reach = 1000").contains("reach: reach, 1000, is not a power of two, such as 512 or 1024"));
    assert!(
        said("protocol = \"none\"\nwindow = 70000").contains("window: window, 70000, is above reach, 65536")
    );
    assert!(said("protocol = \"none\"\nheader = \"0B\"\nack = \"0B\"\n[network.x]").contains("x.toml"));
}

#[test]
fn frames_weigh_something_and_not_too_much() {
    let weightless = with(SMALL, "hosts = 4", "hosts = 4\nframing = \"0B\"");
    let weightless = with(&weightless, "\"none\"", "\"none\"\nack = \"0B\"");
    assert!(said(&weightless).contains("transport.a.ack: an acknowledgement would weigh nothing"));
    good(&with(&weightless, "ack = \"0B\"", "ack = \"1B\"\nheader = \"0B\""));
    let heavy = with(SMALL, "hosts = 4", "hosts = 4\nmtu = \"65kB\"\nframing = \"1kB\"");
    let heavy = with(&heavy, "\"none\"", "\"none\"\nheader = \"65kB\"");
    good(&heavy);
}

#[test]
fn topologies_have_hosts_in_bounds() {
    let network = |lines: &str| with(SMALL, "topology = \"star\"\nhosts = 4", lines);
    let said = |lines: &str| said(&network(lines));
    assert!(
        said("topology = \"star\"\nhosts = 4000000000").contains("expected a whole number from 2 to 1000000")
    );
    let huge = "topology = \"leaf_spine\"\nleaves = 1000000\nspines = 1000000\nhosts_per_leaf = 1";
    assert!(said(huge).contains("network.topology: has 1000001000000 links; a network has at most 10000000"));
    let leaf = "topology = \"leaf_spine\"\nspines = 1\n";
    assert!(said(&format!("{leaf}leaves = 2000\nhosts_per_leaf = 1000")).contains("makes 2000000 hosts"));
    assert!(said(&format!("{leaf}leaves = 1000000\nhosts_per_leaf = 1000000"))
        .contains("makes 1000000000000 hosts"));
    assert!(said(&format!("{leaf}leaves = 1\nhosts_per_leaf = 1")).contains("makes 1 hosts"));
    let over =
        format!("{leaf}leaves = 1\nhosts_per_leaf = 1000000\noversubscription = 0.1\nrate = \"10Tbps\"");
    assert!(said(&over).contains("oversubscription: makes uplinks of 1"), "{}", said(&over));
    assert!(said("topology = \"fat_tree\"\nk = 5").contains("network.k: found 5, expected an even number"));
    let fat = good(&network("topology = \"fat_tree\"\nk = 4"));
    let Pattern::Incast { from, .. } = &fat.traffic[0].pattern else { panic!("{:?}", fat.traffic) };
    assert_eq!(from.len(), 15);
    let dumbbell = good(&network("topology = \"dumbbell\"\nleft = 2\nright = 2\nrate = \"10Gbps\""));
    let expected = Topology::Dumbbell {
        left: 2,
        right: 2,
        bottleneck: Rate::from_gbps(10),
        bottleneck_delay: Span::from_us(1),
    };
    assert_eq!(dumbbell.network.topology, expected);
}

#[test]
fn an_uplink_is_rounded_to_a_bit() {
    let network = "topology = \"leaf_spine\"\nleaves = 2\nspines = 3\nhosts_per_leaf = 4\nrate = \"10Gbps\"";
    let scenario = good(&with(SMALL, "topology = \"star\"\nhosts = 4", network));
    let Topology::LeafSpine { uplink, .. } = scenario.network.topology else {
        panic!("{:?}", scenario.network)
    };
    assert_eq!(uplink, Rate::from_bps(13_333_333_333));
}

#[test]
fn hosts_exist() {
    let said = |line: &str| said(&with(SMALL, "to = 0", line));
    assert!(said("to = 4").contains("traffic[0].to: found 4, but hosts are numbered from 0 to 3"));
    assert!(said("to = \"0..2\"").contains("traffic[0].to: found 2 hosts, expected one"));
    assert!(said("to = 0\nfrom = \"0..3\"").contains("the receiver, host 0, is among the senders"));
    assert!(said("to = 0\nfrom = \"clients\"").contains("expected hosts, such as"));
    assert!(said("from = 1").contains("x.toml:9: traffic[0].to: missing, expected hosts"));
}

#[test]
fn patterns_leave_nobody_alone() {
    let traffic = |lines: &str| with(SMALL, "pattern = \"incast\"\nto = 0\nbytes = \"1MB\"", lines);
    let said = |lines: &str| said(&traffic(lines));
    assert!(said("pattern = \"permutation\"\nhosts = 1").contains("found 1 host, expected at least two"));
    assert!(said("pattern = \"all_to_all\"\nhosts = [2, 2]").contains("found 1 host, expected at least two"));
    let poisson = "pattern = \"poisson\"\nload = 0.5\nsizes = \"fixed:4kB\"\n";
    assert!(said(&format!("{poisson}to = 1")).contains("the only receiver is a sender too"));
    let scenario = good(&traffic(&format!("{poisson}to = 1\nfrom = [0, \"2..4\"]")));
    let from = vec![0, 2, 3];
    let sizes = Sizes::Fixed(Bytes::new(4000));
    assert_eq!(scenario.traffic[0].pattern, Pattern::Poisson { from, to: vec![1], load: 0.5, sizes });
    let closed = "pattern = \"closed_loop\"\nbytes = \"1kB\"\nfrom = 1\n";
    assert!(said(&format!("{closed}to = 1")).contains("the only target is the only initiator"));
    good(&traffic(&format!("{closed}to = [1, 2]")));
}

#[test]
fn an_open_loop_offers_a_rate_or_a_load() {
    let open = "pattern = \"open_loop\"\nfrom = 1\nto = \"2..4\"\nbytes = \"4kB\"\n";
    let traffic =
        |lines: &str| with(SMALL, "pattern = \"incast\"\nto = 0\nbytes = \"1MB\"", &format!("{open}{lines}"));
    let said = |lines: &str| said(&traffic(lines));
    assert!(said("").contains("traffic[0].rate: missing, expected a frequency, such as \"50k/s\", or load"));
    assert!(said("rate = \"1k/s\"\nload = 0.5").contains("traffic[0].load: rate says how many operations"));
    assert!(said("load = 11").contains("traffic[0].load: found 11, expected a number from 0.001 to 10"));
    assert!(said("rate = \"0/s\"").contains("expected a frequency from 1/s to 1G/s"));
    assert!(said("rate = \"5kHz\"").contains("(units: /s, k/s, M/s, G/s)"));
    assert!(said("rate = \"1k/s\"\ndeadline = \"0us\"")
        .contains("deadline: found \"0us\", expected a time from 1ps"));
    assert!(said("rate = \"1k/s\"\nrequest_bytes = \"64B\"")
        .contains("request_bytes: applies only with operation = \"read\"; here operation = \"write\""));
    assert!(said("rate = \"1k/s\"\nremote = true")
        .contains("traffic[0].remote: all targets of host 1 are under its own switch, tor0"));
    let scenario = good(&traffic("load = 1.5"));
    let Pattern::OpenLoop { operations, arrivals, offered, backlog } = &scenario.traffic[0].pattern else {
        panic!("{:?}", scenario.traffic)
    };
    assert_eq!((*arrivals, *offered, *backlog), (Arrivals::Poisson, Offered::Load(1.5), 100_000));
    assert_eq!((operations.kind, operations.deadline), (OperationKind::Write, None));
    assert_eq!(offered.gap_ps(Bytes::new(3000), Rate::from_gbps(100)), 160_000.0);
    // 12 B at 100 Gb/s are 0.96 ns apart.
    let sized = |bytes: &str| with(&traffic("load = 1.0"), "4kB", bytes);
    assert!(fixture::said(&sized("12B"))
        .contains("traffic[0].load: is 1.042e9 operations of 12B a second of each"));
    good(&sized("13B"));
    let itself = with(&traffic("load = 0.5"), "to = \"2..4\"", "to = 1");
    assert!(fixture::said(&itself).contains("the only target is an initiator too"));
    let complete = with(&traffic("load = 0.5"), "name", "stop_when_complete = true\nname");
    assert!(fixture::said(&complete).contains("an open loop never completes: give stop"));
}

#[test]
fn operations_fit_into_memory_and_sequence_numbers() {
    let open = "pattern = \"open_loop\"\nfrom = 1\nto = 2\nrate = \"1k/s\"";
    let text =
        with(SMALL, "pattern = \"incast\"\nto = 0\nbytes = \"1MB\"", &format!("{open}\nbytes = \"4kB\""));
    let sized = |bytes: &str| with(&text, "\"4kB\"", &format!("\"{bytes}\""));
    let large = said(&sized("2TB"));
    assert!(
        large.contains("traffic[0].bytes: an operation of 2TB is larger than a host's memory, taken as 1TB"),
        "{large}"
    );
    // Of 1 TB, 244,140,625 packets, one is expected in a flow, and 60 more cannot be ruled out.
    let many = said(&sized("1TB"));
    assert!(
        many.contains("traffic[0].bytes: a flow could be offered 14892578125 packets; the most is 2^31"),
        "{many}"
    );
    good(&sized("100GB"));
    let read = format!("{text}operation = \"read\"\n");
    good(&read);
    let outstanding =
        with(&text, "pattern = \"open_loop\"", "pattern = \"closed_loop\"\noutstanding = 1000000");
    let outstanding = with(&outstanding, "rate = \"1k/s\"\n", "");
    assert!(said(&with(&outstanding, "4kB", "40MB")).contains("makes flows of 9765625000 packets"));
    let mtu = |text: &str| with(text, "hosts = 4", "hosts = 4\nmtu = \"100B\"");
    let read = format!("{}operation = \"read\"\nrequest_bytes = \"1MB\"\n", mtu(&outstanding));
    assert!(said(&read).contains("traffic[0].request_bytes: makes flows of 10000000000 packets"));
}

#[test]
fn the_backlog_of_an_open_loop_is_bounded() {
    // 2 initiators, 12.5 million operations a second each for 1 ms, and five standard deviations.
    let open = "pattern = \"open_loop\"\nfrom = \"0..2\"\nto = \"2..4\"\nbytes = \"1kB\"\nload = 1.0";
    let text = with(SMALL, "pattern = \"incast\"\nto = 0\nbytes = \"1MB\"", open);
    let (key, message) = memory::check(&good(&text), 4_000_000).expect_err("1.9 MB of operations");
    assert_eq!(key, "traffic[0].backlog");
    assert!(message.contains("1.9 MB, is for 25793 operations that can be open: lower backlog"), "{message}");
    memory::check(&good(&format!("{text}\nbacklog = 100")), 4_000_000).expect("200 operations");
}

#[test]
fn a_transport_is_named_where_there_are_several() {
    let two = with(SMALL, "[[traffic]]", "[transport.b]\nprotocol = \"swift\"\n[[traffic]]");
    assert!(said(&two).contains("traffic[0].transport: missing, expected one of a, b"));
    let wrong = with(&two, "to = 0", "to = 0\ntransport = \"c\"");
    assert!(said(&wrong).contains("traffic[0].transport: found \"c\", expected one of a, b; did you mean a?"));
    assert_eq!(good(&with(&two, "to = 0", "to = 0\ntransport = \"b\"")).traffic[0].transport, 1);
    let odd = with(SMALL, "[transport.a]", "[transport.\"a.b\"]");
    assert!(said(&odd).contains("expected a name of letters, digits, _ and -"));
}

#[test]
fn times_are_in_order() {
    let said = |line: &str| said(&with(SMALL, "to = 0", &format!("to = 0\n{line}")));
    assert!(said("start = \"2us..1us\"").contains("a range that ends before it begins"));
    assert!(said("start = \"1ms\"").contains("traffic[0].start: found 1ms, but the run ends at 1ms"));
    assert!(said("start = \"10us..20us\"\nstop = \"20us\"")
        .contains("stops before the last flow starts, at 20us"));
    assert!(said("start = \"10\"").contains("traffic[0].start: found \"10\", expected a time with its unit"));
}

#[test]
fn what_is_wrong_with_a_number_is_said() {
    let found = |delay: &str| said(&with(SMALL, "hosts = 4", &format!("hosts = 4\ndelay = {delay}")));
    assert!(found("\"-1us\"")
        .ends_with("found \"-1us\", expected a time with its unit, such as \"25us\", and not below zero"));
    assert!(found("\"-1\"").ends_with("found \"-1\", expected a time with its unit, such as \"25us\""));
    let large = found(&format!("\"{}s\"", "9".repeat(26)));
    assert!(large.contains("9s\", expected a time from ") && !large.contains("unit"), "{large}");
}

#[test]
fn a_run_that_ends_with_its_flows_has_flows_that_end() {
    let complete = with(SMALL, "name", "stop_when_complete = true\nname");
    good(&complete);
    let endless = with(&complete, "bytes = \"1MB\"\n", "");
    assert!(said(&endless)
        .contains("traffic[0]: stop_when_complete is set, but flows without bytes never complete"));
    good(&format!("{endless}stop = \"500us\"\n"));
    let closed = with(&complete, "pattern = \"incast\"", "pattern = \"closed_loop\"\nfrom = 1");
    assert!(said(&closed).contains("a closed loop never completes: give stop"));
}

#[test]
fn sequence_numbers_last() {
    let said_of = |line: &str| said(&with(SMALL, "bytes = \"1MB\"", line));
    let most = (1u64 << 31) * 4096;
    good(&with(SMALL, "bytes = \"1MB\"", &format!("bytes = \"{most}B\"")));
    assert!(said_of(&format!("bytes = \"{}B\"", most + 1)).contains("makes flows of 2147483649 packets"));
    // 100 Gb/s for 1000 s in frames of 4162 B: 3.0e9.
    let long = with(SMALL, "duration = \"1ms\"", "duration = \"1000s\"");
    let endless = with(&long, "bytes = \"1MB\"\n", "");
    assert!(said(&endless).contains("traffic[0].bytes: a flow could send 3003363767 packets at line rate"));
    good(&format!("{endless}stop = \"700s\"\n[record]\nfairness = \"1s\"\n"));
}

#[test]
fn faults_name_links_that_are_there() {
    let fault = |lines: &str| format!("{SMALL}[[fault]]\nkind = \"down\"\n{lines}");
    let said = |lines: &str| said(&fault(lines));
    assert!(said("link = \"h9-tor0\"")
        .contains("fault[0].link: there is no node h9; the nearest names are h0, h1, h2,"));
    let arrow = said("link = \"h0->tor0\"");
    assert!(
        arrow.contains("found \"h0->tor0\", expected a link, \"a>b\" for one way or \"a-b\" for both"),
        "{arrow}"
    );
    assert!(said("link = \"h0-h1\"").contains("no link joins h0 and h1; h0 is linked to tor0"));
    assert!(said("link = \"h0\"").contains("expected a link, \"a>b\" for one way"));
    assert!(
        said("link = \"h0>tor0\"\nat = \"5us\"\nuntil = \"5us\"").contains("until: 5us is not after at, 5us")
    );
    assert!(said("link = \"h0>tor0\"\nprobability = 0.5").contains("applies only with kind = \"loss\""));
    let scenario = good(&fault("link = \"tor0>h2\"\nat = \"5us\"\nuntil = \"6us\"\n"));
    let link = ("tor0".to_string(), "h2".to_string());
    let (from, until) = (Time::from_ps(5_000_000), Time::from_ps(6_000_000));
    let expected = Fault { table: 0, link, from, until, effect: LinkEffect::Loss(1.0) };
    assert_eq!(scenario.faults, [expected]);
}

const TOPOLOGY: &str = r#"[[node]]
name = "a-1"
role = "host"
[[node]]
name = "sw"
role = "tor"
[[node]]
name = "b"
role = "host"
[[link]]
ends = ["a-1", "sw"]
[[link]]
ends = ["sw", "b"]
rate = "10Gbps"
delay = "5us"
"#;

fn listed() -> String {
    let text = with(SMALL, "topology = \"star\"\nhosts = 4", "topology = \"file\"\nfile = \"net.toml\"");
    format!("{text}[[fault]]\nkind = \"down\"\nlink = \"a-1-sw\"\n")
}

#[test]
fn a_topology_file_is_read() {
    let folder = Folder::new("topology", &[("net.toml", TOPOLOGY)]);
    let scenario = folder.read(&listed()).unwrap_or_else(|error| panic!("{error}")).scenario;
    let Topology::Listed { nodes, links } = &scenario.network.topology else {
        panic!("{:?}", scenario.network)
    };
    assert_eq!(nodes[1], ListedNode { name: "sw".into(), switch: Some(SwitchRole::Tor) });
    let first = ListedLink { ends: (0, 1), rate: Rate::from_gbps(100), delay: Span::from_us(1) };
    assert_eq!(links[0], first);
    assert_eq!(links[1], ListedLink { ends: (1, 2), rate: Rate::from_gbps(10), delay: Span::from_us(5) });
    assert_eq!(scenario.faults[1].link, ("sw".into(), "a-1".into()));
}

#[test]
fn a_wrong_topology_file_is_said_of_that_file() {
    let said = |text: &str| Folder::new("wrong-topology", &[("net.toml", text)]).said(&listed());
    let typo = with(TOPOLOGY, "ends = [\"sw\", \"b\"]", "ends = [\"wsx\", \"b\"]");
    assert!(
        said(&typo).starts_with("net.toml:13: link[1].ends: there is no node wsx; the nearest names are ")
    );
    let typo = with(TOPOLOGY, "ends = [\"sw\", \"b\"]", "ends = [\"ws\", \"b\"]");
    assert!(said(&typo).contains("there is no node ws; the nearest names are sw, "));
    let typo = with(TOPOLOGY, "rate = \"10Gbps\"", "rat = \"10Gbps\"");
    assert!(said(&typo).starts_with("net.toml:14: link[1].rat: unknown key; did you mean rate?"));
    let twice = with(TOPOLOGY, "name = \"b\"", "name = \"sw\"");
    assert!(said(&twice).contains("net.toml:8: node[2].name: node[1] has the name sw too"));
    let double = format!("{TOPOLOGY}[[link]]\nends = [\"b\", \"sw\"]\n");
    assert!(
        said(&double).contains("net.toml:17: link[2].ends: b and sw are linked already"),
        "{}",
        said(&double)
    );
    let hosts = with(TOPOLOGY, "ends = [\"sw\", \"b\"]", "ends = [\"a-1\", \"b\"]");
    assert!(said(&hosts).contains("a-1 and b are both hosts"));
    let looped = with(TOPOLOGY, "ends = [\"sw\", \"b\"]", "ends = [\"sw\", \"sw\"]");
    assert!(said(&looped).contains("leads from sw to itself"));
    let apart = format!(
        "{}[[node]]\nname = \"s2\"\nrole = \"spine\"\n",
        with(TOPOLOGY, "[\"sw\", \"b\"]", "[\"s2\", \"b\"]")
    );
    assert!(said(&apart).contains("node[2]: no path leads from host a-1 to host b"), "{}", said(&apart));
    let one = with(TOPOLOGY, "name = \"b\"\nrole = \"host\"", "name = \"b\"\nrole = \"tor\"");
    assert!(said(&one).contains("with the role host; here it is 1"), "{}", said(&one));
    let nameless = with(TOPOLOGY, "name = \"sw\"", "name = \"s w\"");
    let expected =
        "net.toml:5: node[1].name: found \"s w\", expected a name of letters, digits and _ . : / -";
    assert_eq!(said(&nameless), expected);
    assert_eq!(
        fixture::said(TOPOLOGY),
        "x.toml:1: node: this is a topology file, not a scenario; a scenario names one by topology = \"file\" and \
         file = \"...\" under [network]"
    );
    let listed_here = fixture::said(&format!("{SMALL}\n{TOPOLOGY}"));
    assert!(listed_here.contains("node: nodes and links are listed in a topology file"), "{listed_here}");
    let missing = Folder::new("no-topology", &[]).said(&listed());
    assert!(missing.starts_with("x.toml:6: network.file: cannot read net.toml: "), "{missing}");
}

#[test]
fn a_path_has_as_many_links_as_a_frame_counts() {
    let chain = |switches: usize| {
        let node = |name: &str, role| format!("[[node]]\nname = \"{name}\"\nrole = \"{role}\"\n");
        let mut text = node("s0", "host") + &node("end", "host");
        for i in 1..=switches {
            let link = format!("[[link]]\nends = [\"s{}\", \"s{i}\"]\n", i - 1);
            text += &(node(&format!("s{i}"), "tor") + &link);
        }
        text + &format!("[[link]]\nends = [\"s{switches}\", \"end\"]\n")
    };
    let scenario = with(SMALL, "topology = \"star\"\nhosts = 4", "topology = \"file\"\nfile = \"net.toml\"");
    let folder = |switches| Folder::new("chain", &[("net.toml", &chain(switches))]);
    assert!(folder(30).read(&scenario).is_ok());
    let said = folder(31).said(&scenario);
    assert_eq!(said, "x.toml:6: network.file: a shortest path has 32 links; the most is 31");
}

#[test]
fn traces_and_sizes_come_from_files() {
    let trace =
        with(SMALL, "pattern = \"incast\"\nto = 0\nbytes = \"1MB\"", "pattern = \"trace\"\nfile = \"t.csv\"");
    let folder = Folder::new("trace", &[("t.csv", "start,from,to,bytes\n10us,0,3,64kB\n")]);
    let scenario = folder.read(&trace).unwrap_or_else(|error| panic!("{error}")).scenario;
    let flow = TraceFlow { start: Time::from_ps(10_000_000), from: 0, to: 3, bytes: Bytes::new(64_000) };
    assert_eq!(scenario.traffic[0].pattern, Pattern::Trace { flows: vec![flow] });
    let folder = Folder::new("wrong-trace", &[("t.csv", "start,from,to,bytes\n10us,0,4,64kB\n")]);
    assert_eq!(folder.said(&trace), "t.csv:2: to: found 4, expected a host from 0 to 3");

    let poisson = "pattern = \"poisson\"\nload = 0.5\nsizes = \"s.txt\"";
    let poisson = with(SMALL, "pattern = \"incast\"\nto = 0\nbytes = \"1MB\"", poisson);
    let folder = Folder::new("sizes", &[("s.txt", "100 50\n200 100\n")]);
    let scenario = folder.read(&poisson).unwrap_or_else(|error| panic!("{error}")).scenario;
    let Pattern::Poisson { sizes, .. } = &scenario.traffic[0].pattern else {
        panic!("{:?}", scenario.traffic)
    };
    let points = vec![(100.0, 0.5), (200.0, 1.0)];
    assert_eq!(*sizes, Sizes::Distribution { name: "s.txt".into(), points });
    let said = Folder::new("no-sizes", &[]).said(&poisson);
    assert!(said.contains("traffic[0].sizes: found \"s.txt\", expected websearch, fb_hadoop"), "{said}");
}

/// Four hosts; a full frame has 4096 B of payload, 28 B of header and 38 B of framing.
#[test]
fn what_waits_for_processors_takes_memory() {
    let needed = |queue: &str| {
        let many = with(SMALL, "to = 0", "to = 0\nflows_per_pair = 100000");
        let host = format!("[host.default]\nmodel = \"snap\"\nreceive_queue = \"{queue}\"\n");
        estimate_bytes(&good(&format!("{many}{host}")))
    };
    assert_eq!(needed("141.62MB") - needed("100MB"), 4 * 10_000 * FRAME as u64);
}

#[test]
fn what_cannot_fit_is_refused_before_it_is_built() {
    let limit = 8_000_000_000;
    let many = good(&with(SMALL, "to = 0", "to = 0\nflows_per_pair = 100000"));
    assert_eq!(memory::check(&many, limit), Ok(()));
    let ends = (size_of::<SendingEnd>() + size_of::<ReceivingEnd>()) as u64;
    assert!(estimate_bytes(&many) > ends * 300_000);
    let (key, message) = memory::check(&many, 100_000_000).expect_err("gigabytes of flows");
    assert_eq!(key, "traffic[0].flows_per_pair");
    assert!(message.contains(" is for 300000 flows: lower flows_per_pair"), "{message}");
    let absurd = with(SMALL, "to = 0", "to = 0\nflows_per_pair = 1000000000");
    let absurd = with(&absurd, "hosts = 4", "hosts = 1000000");
    let said = said(&absurd);
    assert!(said.starts_with("x.toml:12: traffic[0].flows_per_pair: the run needs about "), "{said}");
}

#[test]
fn every_contributor_is_named() {
    let blamed = |text: &str| memory::check(&good(text), 1_000_000).expect_err("more than a megabyte").0;
    let rows = |key: &str, every: &str| format!("{SMALL}[record]\n{key} = \"{every}\"\n");
    assert_eq!(blamed(&rows("queues", "10ns")), "record.queues");
    assert_eq!(blamed(&rows("windows", "10ns")), "record.windows");
    assert_eq!(blamed(&rows("rtt", "10ns")), "record.rtt");
    assert_eq!(blamed(&rows("fairness", "1ns")), "record.fairness");
    assert_eq!(blamed(&rows("classes", "10ns")), "record.classes");
    let flows = format!("{SMALL}[record.flows]\nevery = \"10ns\"\nslowest = 2\n");
    assert_eq!(blamed(&flows), "record.flows");
    let many = with(&with(SMALL, "hosts = 4", "hosts = 10000"), "1MB", "1B");
    assert_eq!(blamed(&many), "traffic[0].flows_per_pair");
    let large = with(SMALL, "bytes = \"1MB\"", "flows_per_pair = 1000");
    assert_eq!(blamed(&format!("{large}[switch.default]\nbuffer = \"4GB\"\n")), "switch.default.buffer");
    let closed = "pattern = \"closed_loop\"\nfrom = \"0..2\"\nbytes = \"100B\"\noutstanding = 1000";
    let closed =
        with(SMALL, "pattern = \"incast\"\nto = 0\nbytes = \"1MB\"", &format!("{closed}\nto = \"2..4\""));
    assert_eq!(blamed(&with(&closed, "outstanding = 1000", "outstanding = 10000")), "traffic[0].outstanding");
    let recorded = with(&closed, "duration = \"1ms\"", "duration = \"10ms\"");
    assert_eq!(blamed(&format!("{recorded}\n[record]\noperations = true\n")), "record.operations");
    let poisson = "pattern = \"poisson\"\nload = 0.5\nsizes = \"fixed:1kB\"";
    let poisson = with(SMALL, "pattern = \"incast\"\nto = 0\nbytes = \"1MB\"", poisson);
    assert_eq!(blamed(&poisson), "traffic[0].load");
}

#[test]
fn resolved_gives_the_same_scenario_again() {
    for text in [SMALL, FULL] {
        let loaded = read(text).unwrap_or_else(|error| panic!("{error}"));
        let again = read(&toml(&loaded.resolved)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.scenario, loaded.scenario);
        assert_eq!(again.resolved, loaded.resolved);
    }
    let folder = Folder::new("resolved", &[("net.toml", TOPOLOGY)]);
    let loaded = folder.read(&listed()).unwrap_or_else(|error| panic!("{error}"));
    let again = folder.read(&toml(&loaded.resolved)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, loaded);
}

#[test]
fn resolved_holds_units_and_defaults() {
    let resolved = read(FULL).unwrap_or_else(|error| panic!("{error}")).resolved;
    assert_eq!(resolved["network"]["delay"], json!("1us"));
    assert_eq!(resolved["network"]["rate"], json!("50Gbps"));
    assert_eq!(resolved["transport"]["bulk"]["max_cwnd"], json!(256.0));
    assert_eq!(resolved["transport"]["bulk"]["fs_range"], json!("75us"));
    assert_eq!(resolved["groups"]["rest"], json!("3..6"));
    assert_eq!(resolved["traffic"][0]["from"], json!("0..3"));
    assert_eq!(resolved["traffic"][0]["start"], json!("0us..100us"));
    assert_eq!(resolved["switch"]["tor"]["ecn_threshold"], json!("100kB"));
    assert_eq!(resolved["host"]["default"]["model"], json!("ideal"));
    let record = json!({
        "queues": "10us", "fairness": "10ms", "operations": false, "alone": false, "timeline": false,
        "timeline_iterations": 1, "timeline_ranks": 64,
    });
    assert_eq!(resolved["record"], record);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let folder = Folder::new("mark", &[("t.csv", "\u{feff}start,from,to,bytes\n1us,0,1,1kB\n")]);
    let text = "format = 1\nname = 'mark'\nduration = '1ms'\n[network]\ntopology = 'star'\nhosts = 2\n[transport.a]\n\
                protocol = 'none'\n[[traffic]]\npattern = 'trace'\nfile = 't.csv'\n";
    folder.read(text).expect("a trace as a spreadsheet writes it");
}
