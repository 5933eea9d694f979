//! Hosts with several links in a topology file.

use clearway_proto::units::{Rate, Span};

use super::fixture::{with, Folder, SMALL};
use crate::model::{ListedLink, SwitchRole, Topology};

/// A host with links of two rates and delays, and one with a link alone.
const TWO: &str = r#"
node = [
    { name = "a", role = "host" },
    { name = "s", role = "tor" },
    { name = "t", role = "tor" },
    { name = "b", role = "host" },
]
link = [
    { ends = ["a", "s"], rate = "10Gbps", delay = "3us" },
    { ends = ["t", "a"], rate = "25Gbps", delay = "1us" },
    { ends = ["s", "t"], rate = "40Gbps", delay = "1us" },
    { ends = ["s", "b"], rate = "40Gbps", delay = "1us" },
]
"#;

fn listed() -> String {
    with(SMALL, "topology = \"star\"\nhosts = 4", "topology = \"file\"\nfile = \"net.toml\"")
}

fn said(test: &str, text: &str) -> String {
    Folder::new(test, &[("net.toml", text)]).said(&listed())
}

#[test]
fn a_card_joins_a_host_to_its_links() {
    let folder = Folder::new("cards", &[("net.toml", TWO)]);
    let scenario = folder.read(&listed()).unwrap_or_else(|error| panic!("{error}")).scenario;
    let Topology::Listed { nodes, links } = &scenario.network.topology else {
        panic!("{:?}", scenario.network)
    };
    let cards = nodes.iter().filter(|node| node.switch == Some(SwitchRole::Nic));
    assert_eq!(cards.map(|node| node.name.as_str()).collect::<Vec<_>>(), ["a.nic"]);
    let link = |ends, gbps, ns| ListedLink { ends, rate: Rate::from_gbps(gbps), delay: Span::from_ns(ns) };
    // Half of the shorter delay is the host's, so that both ways take what their links say.
    assert_eq!(links[0], link((4, 1), 10, 2500));
    assert_eq!(links[1], link((2, 4), 25, 500));
    assert_eq!(links[2..4], [link((1, 2), 40, 1000), link((1, 3), 40, 1000)]);
    assert_eq!(links[4..], [link((0, 4), 25, 500)]);
}

#[test]
fn a_link_that_there_is_not_is_told_with_those_of_the_card() {
    let folder = Folder::new("card-links", &[("net.toml", TWO)]);
    let said = folder.said(&format!("{}[[fault]]\nkind = \"down\"\nlink = \"a-b\"\n", listed()));
    assert!(said.contains("no link joins a and b; a is linked to s, t"), "{said}");
}

#[test]
fn a_card_may_be_listed() {
    let text = with(TWO, "{ name = \"t\", role = \"tor\" }", "{ name = \"t\", role = \"nic\" }");
    let text = with(&text, "    { ends = [\"a\", \"s\"], rate = \"10Gbps\", delay = \"3us\" },\n", "");
    let folder = Folder::new("own-card", &[("net.toml", &text)]);
    let scenario = folder.read(&listed()).unwrap_or_else(|error| panic!("{error}")).scenario;
    let Topology::Listed { nodes, links } = &scenario.network.topology else {
        panic!("{:?}", scenario.network)
    };
    assert_eq!((nodes.len(), links.len(), nodes[2].switch), (4, 3, Some(SwitchRole::Nic)));
}

/// Half of a shortest delay is cut off the links of each host with two: 3,001 hosts have 9,003 different links, where 6,002 are listed.
#[test]
fn links_of_cards_are_among_those_whose_kinds_are_limited() {
    let node = |host| format!("{{ name = \"h{host}\", role = \"host\" }},\n");
    let link = |host, switch, rate, ps| {
        format!("{{ ends = [\"h{host}\", \"{switch}\"], rate = \"{rate}\", delay = \"{ps}ps\" }},\n")
    };
    let both =
        |host| link(host, "s", "10Gbps", 100_000 + 2 * host) + &link(host, "t", "20Gbps", 200_000 + 2 * host);
    let (nodes, links): (String, String) = (0..3001).map(|host| (node(host), both(host))).unzip();
    let switches = "{ name = \"s\", role = \"tor\" },\n{ name = \"t\", role = \"tor\" },\n";
    let said = said("kinds-of-cards", &format!("node = [\n{nodes}{switches}]\nlink = [\n{links}]\n"));
    assert!(said.contains("different pairs of rate and delay; the most is 9000"), "{said}");
}

#[test]
fn what_stands_in_the_way_of_a_card_is_said() {
    let wrong = |text: &str| said("wrong-cards", text);
    let taken = with(TWO, "name = \"b\"", "name = \"a.nic\"").replace("\"b\"]", "\"a.nic\"]");
    let message = "node[0]: host a has 2 links, so its card is called a.nic; another node has that name: give it another";
    assert!(wrong(&taken).contains(message), "{}", wrong(&taken));
    let nobodys = with(TWO, "{ name = \"s\", role = \"tor\" }", "{ name = \"s\", role = \"nic\" }");
    let message = "node[1]: s has 3 links, 2 of them to hosts; a node of role nic has one to its host";
    assert!(wrong(&nobodys).contains(message), "{}", wrong(&nobodys));
    let both = with(TWO, "{ name = \"t\", role = \"tor\" }", "{ name = \"t\", role = \"nic\" }");
    let message =
        "node[0]: host a has 2 links, one of them to t; a host with a card of its own has no other link";
    assert!(wrong(&both).contains(message), "{}", wrong(&both));
    let alone = with(TWO, "    { ends = [\"s\", \"b\"], rate = \"40Gbps\", delay = \"1us\" },\n", "");
    let message = "node[3]: host b has no link; a host has one, or several";
    assert!(wrong(&alone).contains(message), "{}", wrong(&alone));
}
