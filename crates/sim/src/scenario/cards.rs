//! Hosts with several links, in a topology file: a network card joins them to the host, as a switch of role nic.

use std::collections::BTreeSet;

use clearway_proto::units::Span;

use crate::model::{ListedLink, ListedNode, SwitchRole};

/// The end of a card's name, behind the name of its host.
const SUFFIX: &str = ".nic";

/// Returns the nodes that stand in the way of cards, by number, each with its fault and the remedy.
pub(super) fn problems(nodes: &[ListedNode], links: &[ListedLink], degree: &[u32]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let names: BTreeSet<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    for (i, host) in nodes.iter().enumerate() {
        let card = format!("{}{SUFFIX}", host.name);
        if host.switch.is_none() && degree[i] > 1 && names.contains(card.as_str()) {
            let message = format!(
                "host {} has {} links, so its card is called {card}; another node has that name: give it another",
                host.name, degree[i]
            );
            found.push((i, message));
        }
    }
    let mut hosts = vec![0_u32; nodes.len()];
    for (card, peer) in links.iter().flat_map(|link| [link.ends, (link.ends.1, link.ends.0)]) {
        let is_host = nodes[peer as usize].switch.is_none();
        hosts[card as usize] += u32::from(is_host);
        if is_host && degree[peer as usize] > 1 && nodes[card as usize].switch == Some(SwitchRole::Nic) {
            let host = &nodes[peer as usize].name;
            let message = format!(
                "host {host} has {} links, one of them to {}; a host with a card of its own has no other link: give the link to the card",
                degree[peer as usize], nodes[card as usize].name
            );
            found.push((peer as usize, message));
        }
    }
    for (i, card) in nodes.iter().enumerate().filter(|(_, node)| node.switch == Some(SwitchRole::Nic)) {
        if hosts[i] != 1 || degree[i] < 2 {
            let message = format!(
                "{} has {} links, {} of them to hosts; a node of role nic has one to its host, and one or more to switches",
                card.name, degree[i], hosts[i]
            );
            found.push((i, message));
        }
    }
    found
}

/// Puts a card between each host with several links and these. It is half of the shortest delay away from the host, so that each way
/// takes as long as its link says, and the host sends at the highest of the links' rates.
pub(super) fn with_cards(
    (mut nodes, mut links): (Vec<ListedNode>, Vec<ListedLink>),
) -> (Vec<ListedNode>, Vec<ListedLink>) {
    let mut of_host: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (number, link) in links.iter().enumerate() {
        for end in [link.ends.0, link.ends.1] {
            if nodes[end as usize].switch.is_none() {
                of_host[end as usize].push(number);
            }
        }
    }
    for (host, own) in (0..).zip(of_host) {
        if own.len() < 2 {
            continue;
        }
        let card = nodes.len() as u32;
        let name = format!("{}{SUFFIX}", nodes[host as usize].name);
        nodes.push(ListedNode { name, switch: Some(SwitchRole::Nic) });
        let of_links = || own.iter().map(|&link| &links[link]);
        let nearest = of_links().map(|link| link.delay).min().expect("several links");
        let rate = of_links().map(|link| link.rate).max().expect("several links");
        let near = (nearest.as_ps() / 2).max(1);
        for link in own {
            let link = &mut links[link];
            link.delay = Span::from_ps((link.delay.as_ps() - near).max(1));
            let end = if link.ends.0 == host { &mut link.ends.0 } else { &mut link.ends.1 };
            *end = card;
        }
        links.push(ListedLink { ends: (host, card), rate, delay: Span::from_ps(near) });
    }
    (nodes, links)
}
