//! Files of relays, right and wrong.

use super::*;

const FILE: &str = "[relay]\nrate = \"1Gbps\"\ndelay = \"400us\"\npriorities = [3, 4]\n";

#[test]
fn a_link_is_enough_and_the_rest_follows() {
    let settings = Settings::parse(FILE).unwrap();
    let params = &settings.params;
    assert_eq!((settings.priorities.as_slice(), params.priorities), ([3, 4].as_slice(), 2));
    // A round trip of the link and twice 2 ms, until a PAUSE works and for a process that is late, at 1 Gb/s: 600 kB; the rest is frames.
    let least = Bytes::new(600_000);
    assert!(params.remote_buffer > least && params.remote_buffer < Bytes::new(622_000), "{params:?}");
    assert!(params.safety.unwrap() <= params.remote_buffer);
    assert!(params.local_buffer > Bytes::new(500_000), "twice the 2 ms until a PAUSE works: {params:?}");
    assert_eq!((settings.classes.of_code_point[26], settings.classes.of_code_point[8]), (Some(3), None));
    assert_eq!(settings.classes.of_tag, [None; 8]);
    let by_tag = Settings::parse(&format!("{FILE}trust = \"pcp\"\n")).unwrap();
    assert_eq!((by_tag.classes.of_tag[4], by_tag.classes.of_code_point[26]), (Some(4), None));
}

/// The file that docs/LOSSLESS.md shows.
#[test]
fn the_file_of_the_documentation_is_right() {
    let page = include_str!("../../../../../docs/LOSSLESS.md");
    let block =
        page.split("```toml\n[relay]").nth(1).and_then(|rest| rest.split("```").next()).expect("a file");
    let settings = Settings::parse(&format!("[relay]{block}")).unwrap();
    assert_eq!((settings.priorities, settings.mtu), (vec![3], 1500));
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_a_remedy() {
    let told = |text: &str| -> Vec<String> {
        let problems = Settings::parse(text).expect_err("it is wrong");
        problems
            .into_iter()
            .map(|problem| format!("{} / {}", problem.message, problem.remedy.unwrap_or_default()))
            .collect()
    };
    for (from, to, words) in [
        ("rate = \"1Gbps\"\n", "", "relay.rate: missing"),
        ("400us", "400", "relay.delay: found \"400\", expected"),
        ("[3, 4]", "[3, 8]", "relay.priorities: found [3, 8], expected a list of different priorities"),
        ("[3, 4]", "[3, 3]", "relay.priorities: found [3, 3]"),
        ("[3, 4]", "[]", "relay.priorities: found []"),
        ("delay", "dealy", "did you mean delay?"),
        ("[relay]", "[rely]", "did you mean relay?"),
        ("priorities", "xon = \"1GB\"\npriorities", "relay.xon"),
        ("priorities", "trust = \"vlan\"\npriorities", "relay.trust"),
        ("priorities", "remote_buffer = \"10kB\"\npriorities", "less than safety needs"),
        (
            "priorities",
            "virtual_queue_above = \"10kB\"\npriorities",
            "virtual_queue_above: there is no virtual_queue",
        ),
        ("priorities", "virtual_queue = \"1GB\"\npriorities", "no less than remote_buffer"),
        ("priorities", "virtual_queue = \"1kB\"\npriorities", "less than two frames / take at least"),
        (
            "priorities",
            "virtual_queue = \"10kB\"\nvirtual_queue_above = \"1GB\"\npriorities",
            "virtual_queue_above: found 1",
        ),
        ("priorities", "virtual_queue = 7\npriorities", "relay.virtual_queue"),
        ("priorities", "remote_rate = \"1Gbps\"\npriorities", "remote_rate: rate is the rate of both ports"),
        ("rate = \"1Gbps\"", "local_rate = \"1Gbps\"", "relay.remote_rate: missing"),
        ("rate = \"1Gbps\"", "remote_rate = \"1Gbps\"", "relay.local_rate: missing"),
        ("rate = \"1Gbps\"", "local_rate = \"1Gbps\"\nremote_rate = 7", "relay.remote_rate: found 7"),
        (
            "rate = \"1Gbps\"",
            "local_rate = \"1Gbps\"\nremote_rate = \"2Gbps\"\nsafety = false",
            "is below that of the fibre",
        ),
        ("priorities", "quanta = 100\npriorities", "quanta: a PAUSE of 100 quanta lasts 51.2us at 1Gbps"),
        ("priorities", "quanta = 100\npriorities", "take quanta = 7813, or more"),
        ("rate = \"1Gbps\"", "rate = \"100Gbps\"\nresponse = \"2ms\"", "response: a PAUSE of 65535 quanta"),
        ("priorities", "storm_after = \"30ms\"\npriorities", "no longer than one PAUSE may last"),
        ("priorities", "probe_every = \"9ms\"\npriorities", "probe_every: found 9ms"),
    ] {
        let problems = told(&FILE.replace(from, to));
        assert!(problems.iter().any(|problem| problem.contains(words)), "{from} {to}: {problems:?}");
    }
    let unsafe_one = FILE.replace("priorities", "safety = false\nremote_buffer = \"10kB\"\npriorities");
    assert_eq!(Settings::parse(&unsafe_one).unwrap().params.safety, None);
}

#[test]
fn a_virtual_queue_is_off_unless_it_is_given() {
    assert_eq!(Settings::parse(FILE).unwrap().params.virtual_queue, None);
    let text = format!("{FILE}virtual_queue = \"20kB\"\nvirtual_queue_above = \"50kB\"\n");
    let queue = Settings::parse(&text).unwrap().params.virtual_queue.unwrap();
    assert_eq!((queue.target, queue.above), (Bytes::new(20_000), Bytes::new(50_000)));
}

/// What comes in comes at the rate of its port, and leaves at that of the other.
#[test]
fn each_port_has_its_rate() {
    let read = |local: &str, remote: &str| {
        let rates = format!("local_rate = \"{local}\"\nremote_rate = \"{remote}\"");
        Settings::parse(&FILE.replace("rate = \"1Gbps\"", &rates)).unwrap().params
    };
    let one = Settings::parse(FILE).unwrap().params;
    assert_eq!(read("1Gbps", "1Gbps"), one);
    let room = |params: &RelayParams| params.local_buffer.get() - params.xoff.get();
    let slow_fibre = read("4Gbps", "1Gbps");
    assert_eq!((slow_fibre.remote_buffer, slow_fibre.safety), (one.remote_buffer, one.safety));
    assert!(room(&slow_fibre) > 3 * room(&one), "2 ms of 4 Gb/s: {slow_fibre:?}");
    assert!(slow_fibre.xon.get() < one.xon.get() + 3_000, "2 ms drain at 1 Gb/s: {slow_fibre:?}");
    let slow_switch = read("1Gbps", "4Gbps");
    assert_eq!(room(&slow_switch), room(&one));
    assert!(
        slow_switch.xon.get() > 3 * one.xon.get()
            && slow_switch.remote_buffer.get() > 3 * one.remote_buffer.get()
    );
}

#[test]
fn a_fast_links_pauses_bound_the_response_that_is_planned_for() {
    assert_eq!(Settings::parse(FILE).unwrap().short_response, None);
    let fast = Settings::parse(&FILE.replace("1Gbps", "100Gbps")).unwrap();
    assert_eq!(fast.short_response, Some(lasting(LONGEST, Rate::from_gbps(100)) / 2));
    let given = FILE.replace("1Gbps", "100Gbps") + "response = \"100us\"\n";
    assert_eq!(Settings::parse(&given).unwrap().short_response, None);
}
