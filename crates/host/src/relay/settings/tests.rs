//! Files of relays, right and wrong.

use super::*;

const FILE: &str = "[relay]\nrate = \"1Gbps\"\ndelay = \"400us\"\npriorities = [3, 4]\n";

#[test]
fn a_link_is_enough_and_the_rest_follows() {
    let settings = Settings::parse(FILE).unwrap();
    let params = &settings.params;
    assert_eq!((settings.priorities.as_slice(), params.priorities), ([3, 4].as_slice(), 2));
    // A round trip of the link and 2 ms until a PAUSE works, at 1 Gb/s: 350 kB; the rest is frames, and a fortieth of a BDP.
    let least = Bytes::new(350_000);
    assert!(params.remote_buffer > least && params.remote_buffer < Bytes::new(372_000), "{params:?}");
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
    ] {
        let problems = told(&FILE.replace(from, to));
        assert!(problems.iter().any(|problem| problem.contains(words)), "{from} {to}: {problems:?}");
    }
    let unsafe_one = FILE.replace("priorities", "safety = false\nremote_buffer = \"10kB\"\npriorities");
    assert_eq!(Settings::parse(&unsafe_one).unwrap().params.safety, None);
}
