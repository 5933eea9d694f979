//! Warnings of scenarios that run and are hardly meant.

use super::fixture::{set, SMALL};

const SWIFT: &[(&str, &str)] = &[
    ("transport.a.protocol", "swift"),
    ("transport.a.header", "64B"),
    ("transport.a.ack", "84B"),
    ("network.rate", "50Gbps"),
    ("network.delay", "2us"),
    ("network.mtu", "4096B"),
    ("network.framing", "0B"),
];

/// The warnings of the small scenario with these settings beside Swift's.
fn warnings(sets: &[(&str, &str)]) -> Vec<String> {
    let sets: Vec<_> = SWIFT.iter().chain(sets).copied().collect();
    set(SMALL, &sets).unwrap_or_else(|error| panic!("{error}")).warnings
}

#[test]
fn what_is_sane_is_not_remarked_upon() {
    assert_eq!(warnings(&[]), [""; 0]);
    assert_eq!(warnings(&[("host.default.model", "snap"), ("transport.a.base_target", "27us")]), [""; 0]);
}

/// There 2 x (665.6 ns + 2 us), back 2 x (13.44 ns + 2 us).
#[test]
fn a_target_below_the_empty_path_is_shown_with_its_arithmetic() {
    assert_eq!(
        warnings(&[("transport.a.base_target", "5us")]),
        ["transport.a.base_target: 5us + 1 switches x hop_scaling = 6us is below the 9.359us that a full frame and its \
          acknowledgement take on the empty path from host 3 to host 0 (5.332us there + 4.027us back): windows will \
          shrink without any queue; raise base_target to 8.359us or more"]
    );
    assert_eq!(warnings(&[("transport.a.base_target", "8358ns")]).len(), 1);
    assert_eq!(warnings(&[("transport.a.base_target", "8359ns")]), [""; 0]);
    let unscaled = [("transport.a.base_target", "8359ns"), ("transport.a.topology_scaling", "false")];
    assert_eq!(warnings(&unscaled).len(), 1);
}

/// A round trip is compared with the timer before the first sample.
#[test]
fn a_first_timeout_below_the_empty_path_is_shown_with_its_arithmetic() {
    assert_eq!(
        warnings(&[("transport.a.initial_rto", "9us")]),
        ["transport.a.initial_rto: 9us is below the 9.359us that a full frame and its acknowledgement take on the empty path \
          from host 3 to host 0 (5.332us there + 4.027us back): what a flow sends first is sent again before an answer can \
          have come; raise initial_rto to 9.359us or more"]
    );
    assert_eq!(warnings(&[("transport.a.initial_rto", "9360ns")]), [""; 0]);
    // Swift's own follows the path: two round trips of 20 ms.
    assert_eq!(warnings(&[("network.delay", "5ms"), ("transport.a.base_target", "21ms")]), [""; 0]);
    for (protocol, key) in [("cubic", "initial_rto"), ("go_back_n", "rto"), ("none", "rto")] {
        let key = format!("transport.a.{key}");
        let said =
            set(SMALL, &[("transport.a.protocol", protocol), (&key, "4us")]).expect("it can be run").warnings;
        assert!(said.iter().any(|line| line.starts_with(&key)), "{protocol}: {said:?}");
    }
}

/// Each way half of 9 us on average.
#[test]
fn what_a_host_adds_counts() {
    let said = warnings(&[("transport.a.base_target", "15us"), ("host.default.model", "snap")]);
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("is below the 18.359us"), "{said:?}");
    assert!(said[0].contains("5.332us there + 4.027us back + 9us between stacks and NICs"), "{said:?}");
    // A target above the mean may be below the most: 9 us each way.
    let said = warnings(&[("transport.a.base_target", "26358ns"), ("host.default.model", "snap")]);
    assert!(said[0].contains("is below the 27.359us that at most a full frame"), "{said:?}");
    assert!(said[0].contains("+ 18us between stacks and NICs): few flows will not fill a link"), "{said:?}");
    let enough = [("transport.a.base_target", "26359ns"), ("host.default.model", "snap")];
    assert_eq!(warnings(&enough), [""; 0]);
}

/// 305 ns and 4096 B at 80 Gb/s, 409.6 ns, against 665.6 ns on the wire.
#[test]
fn a_host_that_cannot_keep_up_is_named() {
    let snap = [
        ("host.default.model", "snap"),
        ("host.default.copy_rate", "80Gbps"),
        ("host.default.jitter", "0us"),
    ];
    let with = |receive_packet| {
        let sets: Vec<_> =
            snap.into_iter().chain([("host.default.receive_packet", receive_packet)]).collect();
        warnings(&sets)
    };
    let said = with("305ns");
    assert_eq!(
        said,
        ["host.default: the processor takes 0.715us for a full packet of transport a and the link 0.666us: a host receives \
          at most 46.6Gbps of 50Gbps and its receive queue fills; lower receive_packet or raise copy_rate"]
    );
    assert_eq!(with("256ns"), [""; 0]);
}

#[test]
fn an_endpoint_target_below_the_service_is_named() {
    let snap = [
        ("host.default.model", "snap"),
        ("host.default.jitter", "0us"),
        ("transport.a.endpoint_target", "1us"),
    ];
    let said = warnings(&snap);
    assert!(said[0].starts_with("transport.a.endpoint_target: 1us is below the 1.975us"), "{said:?}");
    for unwatched in [("transport.a.endpoint_window", "false"), ("transport.a.variant", "v0")] {
        let off: Vec<_> = snap.into_iter().chain([unwatched]).collect();
        assert_eq!(warnings(&off), [""; 0]);
    }
}

#[test]
fn a_receive_queue_without_room_for_a_frame_is_refused() {
    let with = |room| {
        set(
            SMALL,
            &[&SWIFT[1..], &[("host.default.model", "snap"), ("host.default.receive_queue", room)]].concat(),
        )
    };
    let said = with("4159B").expect_err("no room").to_string();
    assert!(
        said.ends_with("host.default.receive_queue: holds 4159B, less than one full frame, 4160B"),
        "{said}"
    );
    assert!(with("4160B").is_ok());
}

/// Host 2 has a jitter of 8 us and host 1 has none, and both send to host 0: on average host 2 and host 0 add 4 us.
#[test]
fn what_hosts_add_is_that_of_the_hosts_that_talk() {
    let mixed = [("host.a.hosts", "2..3"), ("host.a.model", "snap"), ("host.a.jitter", "8us")];
    let said = warnings(&[&mixed[..], &[("transport.a.base_target", "10us")]].concat());
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("is below the 13.359us that a full frame"), "{said:?}");
    assert!(
        said[0].contains("path from host 2 to host 0 (5.332us there + 4.027us back + 4us between"),
        "{said:?}"
    );
    let most = warnings(&[&mixed[..], &[("transport.a.base_target", "16358ns")]].concat());
    assert!(most[0].contains("is below the 17.359us that at most a full frame"), "{most:?}");
    assert_eq!(warnings(&[&mixed[..], &[("transport.a.base_target", "16359ns")]].concat()), [""; 0]);
    let silent = [&mixed[..], &[("transport.a.base_target", "10us"), ("traffic.0.from", "1")]].concat();
    assert_eq!(warnings(&silent), [""; 0]);
}

#[test]
fn kinds_of_hosts_that_cannot_keep_up_are_named() {
    let slow = |kind: &str| {
        let key = |key: &str| format!("host.{kind}.{key}");
        let keys = [(key("model"), "snap"), (key("copy_rate"), "80Gbps"), (key("jitter"), "0us")];
        let mut sets: Vec<(String, String)> = keys.map(|(key, value)| (key, value.to_string())).to_vec();
        sets.push((format!("host.{kind}.hosts"), "2..4".into()));
        sets.retain(|(key, _)| key != "host.default.hosts");
        let sets: Vec<(&str, &str)> =
            sets.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        warnings(&sets)
    };
    for kind in ["default", "a"] {
        let said = slow(kind);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with(&format!("host.{kind}: the processor takes 0.715us")), "{said:?}");
    }
    // No host is of a kind that all have left.
    let left =
        [("host.default.model", "snap"), ("host.default.copy_rate", "80Gbps"), ("host.a.hosts", "0..4")];
    assert_eq!(warnings(&[&left[..], &[("host.a.model", "ideal")]].concat()), [""; 0]);
}

/// Host 0 takes the packets and serves them in 2 us, the others the acknowledgements.
#[test]
fn an_endpoint_target_is_held_against_the_hosts_that_talk() {
    let slow = [("host.a.hosts", "0"), ("host.a.model", "snap"), ("host.a.receive_packet", "2us")];
    let fast = [("host.a.jitter", "0us"), ("transport.a.endpoint_target", "2us")];
    let said = warnings(&[&slow[..], &fast[..]].concat());
    let service = "2.47us that idle hosts take for a full packet and its acknowledgement (2.47us + 0us)";
    assert!(said.iter().any(|said| said.contains(service)), "{said:?}");
}

#[test]
fn clocks_that_nothing_reads_are_spoken_of() {
    let unread = "host.default: its clocks are wrong and nothing reads them; set timestamps = \"clock\", or probe from such \
                  a host";
    let wrong = ("host.default.clock_drift", "20ppm");
    assert_eq!(warnings(&[wrong]), [unread]);
    assert_eq!(warnings(&[wrong, ("host.default.timestamps", "clock")]), [""; 0]);
    let probe = |from: &str| {
        let text = format!("{SMALL}[[probe]]\nfrom = {from}\nto = 1\ninterval = \"10us\"\n");
        set(&text, &[wrong]).unwrap_or_else(|error| panic!("{error}")).warnings
    };
    assert_eq!(probe("3"), [""; 0]);
    assert_eq!(probe("\"tor0\""), [unread]);
}

/// 64 B take 5.12 ns at 100 Gb/s.
#[test]
fn a_probe_that_is_a_load_is_spoken_of() {
    let every = |interval: &str| {
        let text = format!("{SMALL}[[probe]]\nfrom = 0\nto = \"tor0\"\ninterval = \"{interval}\"\n");
        set(&text, &[]).unwrap_or_else(|error| panic!("{error}")).warnings
    };
    assert_eq!(every("51.2ns"), [""; 0]);
    assert_eq!(
        every("51.1ns"),
        ["probe[0]: 64B every 51.1ns is 10.0Gbps, more than a tenth of a link of 100Gbps on its way: it measures its own \
          load"]
    );
}

/// A full frame of 1500 B on a link of 10 Gb/s takes 1.2 us, its acknowledgement of 100 B 80 ns.
const RDMA: &[(&str, &str)] = &[
    ("transport.a.header", "0B"),
    ("transport.a.ack", "100B"),
    ("network.rate", "10Gbps"),
    ("network.delay", "10us"),
    ("network.mtu", "1500B"),
    ("network.framing", "0B"),
    ("switch.default.ecn", "step"),
    ("switch.default.ecn_threshold", "30kB"),
];

fn rdma_warnings(sets: &[(&str, &str)]) -> Vec<String> {
    let sets: Vec<_> = RDMA.iter().chain(sets).copied().collect();
    set(SMALL, &sets).unwrap_or_else(|error| panic!("{error}")).warnings
}

/// There 2 x (1.2 us + 10 us), back 2 x (80 ns + 10 us): 42.56 us, in which 35.5 packets leave.
#[test]
fn a_bitmap_or_a_timeout_of_irn_that_the_path_exceeds_is_shown_with_its_arithmetic() {
    let irn = |bitmap, rto_low| {
        let (bitmap, low) = (("transport.a.bitmap", bitmap), ("transport.a.rto_low", rto_low));
        rdma_warnings(&[("transport.a.protocol", "irn"), bitmap, low])
    };
    assert_eq!(irn("36", "43us"), [""; 0]);
    // Nearly is enough.
    assert_eq!(irn("34", "43us"), [""; 0]);
    assert_eq!(
        irn("30", "43us"),
        ["transport.a.bitmap: 30 packets are below the 36 that fit the 42.56us there and back between hosts 3 and 0 at 10Gbps: \
          a flow gets at most 8.5 Gb/s; raise bitmap, or mean it"]
    );
    assert_eq!(
        irn("36", "42us"),
        ["transport.a.rto_low: 42us is below the 42.56us that a full packet and its acknowledgement take on the empty path \
          from host 3 to host 0: what is only late will be sent again; raise rto_low"]
    );
}

#[test]
fn dcqcn_that_nobody_asked_for_or_that_hears_nothing_is_remarked_upon() {
    for protocol in [("transport.a.protocol", "roce"), ("transport.a.protocol", "irn")] {
        let dcqcn = ("transport.a.congestion", "dcqcn");
        let rate = ("transport.a.ai_rate", "1Gbps");
        assert_eq!(rdma_warnings(&[protocol, dcqcn, rate]), [""; 0]);
        assert_eq!(rdma_warnings(&[protocol]), [""; 0]);
        let unread = rdma_warnings(&[protocol, rate]);
        assert_eq!(
            unread,
            ["transport.a: keys of DCQCN are set and nothing reads them; set congestion = \"dcqcn\""]
        );
        let sets = [protocol, dcqcn];
        let unmarked: Vec<_> =
            RDMA.iter().filter(|(key, _)| !key.contains("ecn")).chain(&sets).copied().collect();
        let said = set(SMALL, &unmarked).unwrap_or_else(|error| panic!("{error}")).warnings;
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("transport.a.congestion: no switch marks its packets"), "{said:?}");
    }
}

#[test]
fn a_measurement_of_little_or_of_the_drain_is_remarked_upon() {
    let of = |sets: &[(&str, &str)]| {
        let all = [&[("duration", "10ms")][..], sets].concat();
        let said = set(SMALL, &all).unwrap_or_else(|error| panic!("{error}")).warnings;
        said.into_iter().filter(|said| said.starts_with("warmup: ")).collect::<Vec<_>>()
    };
    assert_eq!(of(&[("warmup", "9ms")]), [""; 0]);
    assert!(
        of(&[("warmup", "9.5ms")])[0].contains("only 500us are measured"),
        "{:?}",
        of(&[("warmup", "9.5ms")])
    );
    let drained = of(&[("warmup", "2ms"), ("traffic.0.stop", "1ms")]);
    assert!(drained[0].contains("all traffic has stopped at 1000us"), "{drained:?}");
}

#[test]
fn every_scheme_that_lives_on_marks_warns_where_nothing_marks() {
    let unmarked = |protocol| {
        let sets: Vec<_> =
            RDMA.iter().filter(|(key, _)| !key.contains("ecn")).chain([&protocol]).copied().collect();
        set(SMALL, &sets).unwrap_or_else(|error| panic!("{error}")).warnings
    };
    for protocol in ["dctcp", "gcn"] {
        let protocol = ("transport.a.protocol", protocol);
        assert_eq!(rdma_warnings(&[protocol]), [""; 0]);
        let said = unmarked(protocol);
        assert!(
            said.len() == 1 && said[0].starts_with("transport.a.protocol: no switch marks its packets"),
            "{said:?}"
        );
        // A class has rules of its own.
        let class = [protocol, ("class.data.ecn", "off")];
        assert_eq!(rdma_warnings(&class), said);
    }
    for protocol in ["cubic", "reno", "swift", "none"] {
        let said = unmarked(("transport.a.protocol", protocol));
        assert!(!said.iter().any(|said| said.contains("marks")), "{said:?}");
    }
}

/// The small network has frames of 1500 bytes, and links of 10 Gb/s and 10 us: 25,000 bytes there and back.
#[test]
fn headroom_below_what_a_link_brings_is_shown_with_its_arithmetic() {
    let with = |more: &[(&str, &str)]| {
        let pfc = [("switch.default.pfc", "static"), ("switch.default.pfc_xoff", "20kB")];
        rdma_warnings(&[&pfc, more].concat())
    };
    assert_eq!(with(&[]), [""; 0]);
    assert_eq!(with(&[("switch.default.pfc_headroom", "29584B")]), [""; 0]);
    assert_eq!(
        with(&[("switch.default.pfc_headroom", "29583B")]),
        ["switch.tor.pfc_headroom: 29583B is below the 29584 bytes that h0>tor0 brings after XOFF while nothing leaves: 25000 of \
          a round trip, 1500 of this end's own frame, 84 of PAUSE and what goes before it, 0 of the other end's response, and \
          two frames of 1500. Frames will be dropped unless enough leaves at any time; leave pfc_headroom out, or give that much"]
    );
    let late = with(&[("switch.default.pfc_headroom", "29584B"), ("switch.default.pfc_response", "1us")]);
    assert!(
        late[0].contains("below the 30834 bytes") && late[0].contains("1250 of the other end's"),
        "{late:?}"
    );
}

#[test]
fn a_threshold_above_the_buffer_is_remarked_upon() {
    let with = |buffer, sharing| {
        rdma_warnings(&[
            ("switch.default.buffer", buffer),
            ("switch.default.sharing", sharing),
            ("switch.default.pfc", "static"),
            ("switch.default.pfc_xoff", "100kB"),
        ])
    };
    assert_eq!(with("100kB", "port"), [""; 0]);
    for (sharing, whose) in [("port", "a port's"), ("shared", "the switch's")] {
        let said = with("99kB", sharing);
        let begins = format!("switch.tor.pfc_xoff: 100kB is above {whose} buffer, 99kB");
        assert!(said.len() == 1 && said[0].starts_with(&begins), "{said:?}");
    }
}

#[test]
fn irn_over_switches_that_pause_it_is_remarked_upon() {
    let pfc = [("switch.default.pfc", "static"), ("switch.default.pfc_xoff", "20kB")];
    let irn =
        [("transport.a.protocol", "irn"), ("transport.a.rto_low", "200us"), ("transport.a.rto_high", "2ms")];
    assert_eq!(rdma_warnings(&irn), [""; 0]);
    let said = rdma_warnings(&[&pfc[..], &irn].concat());
    assert_eq!(
        said,
        ["transport.a: switches pause its packets, and its timers run on while these wait: what no switch drops is sent again \
          after 200us or 2000us. Timeouts are to be off where PFC is on: raise rto_low and rto_high above the longest pause, put \
          the transport into a class that is not lossless, or leave pfc out"]
    );
    let classes = |data, acks| {
        let classes = [
            ("class.lossy.priority", "1"),
            ("class.lossless.lossless", "true"),
            ("transport.a.class", data),
            ("transport.a.ack_class", acks),
        ];
        rdma_warnings(&[&pfc[..], &irn, &classes].concat())
    };
    assert_eq!(classes("lossy", "lossless"), [""; 0]);
    assert_eq!(classes("lossless", "lossy").len(), 1);
    let roce = [("transport.a.protocol", "roce")];
    assert_eq!(rdma_warnings(&[&pfc[..], &roce].concat()), [""; 0]);
}

#[test]
fn pauses_of_small_frames_that_wait_for_each_other_are_said() {
    let with = |xon: &str, ack: &str| {
        rdma_warnings(&[
            ("switch.default.pfc", "static"),
            ("switch.default.pfc_xoff", "20kB"),
            ("switch.default.pfc_xon", xon),
            ("transport.a.header", "200B"),
            ("transport.a.ack", ack),
        ])
    };
    assert_eq!(with("19832B", "64B"), [""; 0]);
    assert_eq!(with("20kB", "168B"), [""; 0]);
    let said = with("19833B", "64B");
    assert!(said[0].starts_with("switch.tor.pfc_xon: a link goes on 167B below XOFF"), "{said:?}");
    assert!(with("20kB", "167B")[0].contains("the shortest frames have 167"));
    let replaced = [
        ("switch.default.pfc", "static"),
        ("switch.default.pfc_xoff", "20kB"),
        ("switch.default.pfc_xon", "20kB"),
        ("switch.default.pfc_unsent", "replace"),
        ("transport.a.ack", "64B"),
    ];
    assert_eq!(rdma_warnings(&replaced), [""; 0]);
}
