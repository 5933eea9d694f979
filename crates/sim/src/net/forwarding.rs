//! Forwarding around dead links: which next hop a switch chooses, when it is told of a death and when all are.
//!
//! What dies, and when, stands in the scenario, so what each switch knows at an instant is worked out here and held nowhere. The nodes at
//! the ends of a link know of its death a time after it, and then choose no next hop over it. Some time later all switches have routes
//! by their distances without it: the shortest that are left, however long. A frame whose usual next hop is still among those that its
//! switch may choose takes it; any other is spread over them, as RFC 2991 has it.

use std::collections::BTreeMap;

use crate::engine::event::Meta;
use crate::model::{Outage, Rehash, Routing, MAX_LINKS};
use crate::random::mix;
use crate::topology::routing::distances_to_switch;
use crate::topology::Graph;

/// A time in which a link is dead, and when that is known; in picoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeadTime {
    /// The number of the fault.
    pub fault: u32,
    /// When it dies.
    pub from: u64,
    /// When it lives again.
    pub until: u64,
    /// When the nodes at its ends know that it is dead; as `until` where it is back before anyone does.
    pub noticed: u64,
    /// When they know that it is back.
    pub trusted: u64,
    /// When no route has it any more, and when routes have it again.
    pub avoided: (u64, u64),
}

impl DeadTime {
    fn new(outage: &Outage, routing: &Routing) -> DeadTime {
        let (from, until) = (outage.from.as_ps(), outage.until.as_ps());
        let after = |at: u64, delay: u64| at.saturating_add(delay);
        let (detect, converge) = (routing.detect.as_ps(), routing.converge.as_ps());
        let of = |noticed, trusted, avoided| DeadTime {
            fault: outage.table,
            from,
            until,
            noticed,
            trusted,
            avoided,
        };
        let (trusted, rejoined) = (after(until, detect), after(until, converge));
        match from {
            // What never lived was never in a route.
            0 => of(0, trusted, (0, rejoined)),
            _ if until - from < detect => of(until, until, (until, until)),
            _ => of(after(from, detect), trusted, (after(from, converge), rejoined)),
        }
    }

    fn is_known(&self, now: u64) -> bool {
        self.noticed <= now && now < self.trusted
    }

    fn is_avoided(&self, now: u64) -> bool {
        self.avoided.0 <= now && now < self.avoided.1
    }
}

/// What a switch does with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// The frame keeps the path that its sender has chosen.
    AsRouted,
    /// It leaves over this directed link.
    Over(u32),
    /// It is for an agent at this switch.
    Arrived,
    /// No way is left that this switch knows of, by the fault of this number: the frame is dropped.
    Nowhere(u32),
}

/// A frame that is to be forwarded.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The number of its route.
    pub route: u32,
    /// The conversation that the route is of.
    pub conversation: u32,
    /// Its size, hops and flags.
    pub meta: Meta,
    /// What its choice among other next hops than the usual one depends on beside its route: 0, or where each packet takes a path of
    /// its own, something that is the packet's.
    pub salt: u64,
}

/// How frames find their way in a network in which links die.
#[derive(Debug)]
pub struct Forwarding {
    rehash: Rehash,
    /// The times in which each link is dead, for links that die.
    dead: BTreeMap<u32, Vec<DeadTime>>,
    /// Instants, in picoseconds, each with the one of `tables` that all switches go by from then on; the first is the start.
    epochs: Vec<(u64, usize)>,
    /// The distance of every switch from each destination, for each set of avoided links. The first avoids none.
    tables: Vec<Vec<Vec<Option<u32>>>>,
    /// The place of each switch among the destinations, counted from the first switch.
    destination: Vec<Option<u32>>,
    /// The nodes to which each conversation leads, there and back; `None` where senders choose its paths.
    ends: Vec<Option<[u32; 2]>>,
    usual: UsualPaths,
}

/// The links of each route without faults, there and back.
#[derive(Debug, Default)]
pub struct UsualPaths {
    /// Where each path begins, and behind the last the number of all links.
    first: Vec<u32>,
    links: Vec<u32>,
}

impl UsualPaths {
    /// Adds the next path: of each route the one there, and then the one back.
    pub fn add(&mut self, links: &[u32]) {
        if self.first.is_empty() {
            self.first.push(0);
        }
        self.links.extend_from_slice(links);
        self.first.push(self.links.len() as u32);
    }

    /// The link at this place of a path, if that is so long.
    fn link(&self, route: u32, back: usize, hop: u32) -> Option<u32> {
        let path = 2 * route as usize + back;
        let (first, end) = (self.first[path], self.first[path + 1]);
        (first + hop < end).then(|| self.links[(first + hop) as usize])
    }
}

impl Forwarding {
    /// The forwarding of a network in which these links die. `ends` are the nodes to which each conversation leads, there and back;
    /// `None` where its senders choose its paths.
    pub fn new(
        graph: &Graph,
        routing: &Routing,
        outages: &[Outage],
        ends: Vec<Option<[u32; 2]>>,
        usual: UsualPaths,
    ) -> Forwarding {
        let mut dead = BTreeMap::<u32, Vec<DeadTime>>::new();
        for outage in outages {
            for &link in &outage.links {
                dead.entry(link).or_default().push(DeadTime::new(outage, routing));
            }
        }
        let mut destination = vec![None; graph.switch_count() as usize];
        let mut switches = Vec::new();
        for &node in ends.iter().flatten().flatten() {
            let switch = last_switch(graph, node);
            destination[(switch - graph.host_count()) as usize].get_or_insert_with(|| {
                switches.push(switch);
                switches.len() as u32 - 1
            });
        }
        let mut forwarding = Forwarding {
            rehash: routing.rehash,
            dead,
            epochs: Vec::new(),
            tables: Vec::new(),
            destination,
            ends,
            usual,
        };
        forwarding.make_tables(graph, &switches);
        forwarding
    }

    /// Works out the distances for each set of links that are avoided at a time.
    fn make_tables(&mut self, graph: &Graph, switches: &[u32]) {
        let mut changes: Vec<u64> = self
            .dead
            .values()
            .flatten()
            .flat_map(|time| [time.avoided.0, time.avoided.1])
            .chain([0])
            .collect();
        changes.sort_unstable();
        changes.dedup();
        let mut known = BTreeMap::<Vec<u32>, usize>::new();
        let mut make = |avoided: Vec<u32>| {
            let next = known.len();
            *known.entry(avoided).or_insert_with_key(|avoided| {
                let is_usable = |link: u32| avoided.binary_search(&link).is_err();
                let distances = switches.iter().map(|&switch| distances_to_switch(graph, switch, &is_usable));
                self.tables.push(distances.collect());
                next
            })
        };
        make(Vec::new());
        for at in changes {
            let avoided = self.dead.iter().filter(|(_, times)| times.iter().any(|time| time.is_avoided(at)));
            let table = make(avoided.map(|(&link, _)| link).collect());
            self.epochs.push((at, table));
        }
    }

    /// The times in which a link is dead.
    pub fn dead_times(&self, link: u32) -> &[DeadTime] {
        self.dead.get(&link).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a link dies at any time.
    pub fn dies(&self, link: u32) -> bool {
        self.dead.contains_key(&link)
    }

    /// Returns what the switch `node` does with a frame that it has at `now`, in picoseconds.
    pub fn hop(&self, graph: &Graph, node: u32, frame: &Asked, now: u64) -> Hop {
        let back = usize::from(frame.meta.contains(Meta::ACK));
        let Some(ends) = self.ends[frame.conversation as usize] else { return Hop::AsRouted };
        let to = ends[back];
        if node == to {
            return Hop::Arrived;
        }
        if frame.meta.hop() + 1 >= MAX_LINKS {
            return Hop::Nowhere(self.latest_fault(now));
        }
        let last = last_switch(graph, to);
        if node == last {
            let link = graph.downlink(to);
            return self.known_dead(link, now).map_or(Hop::Over(link), Hop::Nowhere);
        }
        let view = self.view(graph, node, last, now);
        let usual = self.usual.link(frame.route, back, frame.meta.hop());
        let usual = usual.filter(|&link| graph.link(link).from == node && view.is_next(link));
        let hash = mix((u64::from(frame.route) << 1 | back as u64) ^ mix(frame.salt));
        let next = match self.rehash {
            Rehash::Minimal => {
                usual.filter(|&link| view.is_alive(link)).or_else(|| view.highest_weight(hash))
            }
            Rehash::Modulo if self.is_whole(&view, last) => {
                usual.or_else(|| view.modulo(hash, frame.meta.hop()))
            }
            Rehash::Modulo => view.modulo(hash, frame.meta.hop()),
        };
        next.map_or_else(|| Hop::Nowhere(self.why_nowhere(&view)), Hop::Over)
    }

    /// Returns whether a switch may choose all next hops that it has without faults.
    fn is_whole(&self, view: &View<'_>, last: u32) -> bool {
        let without_faults = View { distances: self.distances(0, view.graph, last), ..*view };
        let mut usual = without_faults.next_hops();
        usual.all(|link| view.is_next(link) && view.is_alive(link))
    }

    fn view<'a>(&'a self, graph: &'a Graph, node: u32, last: u32, now: u64) -> View<'a> {
        let epoch = self.epochs.partition_point(|(from, _)| *from <= now) - 1;
        let distances = self.distances(self.epochs[epoch].1, graph, last);
        View { forwarding: self, graph, node, distances, now }
    }

    /// How far every switch is from one that is a destination, by one of the tables.
    fn distances(&self, table: usize, graph: &Graph, last: u32) -> &[Option<u32>] {
        let place = self.destination[(last - graph.host_count()) as usize];
        &self.tables[table][place.expect("a conversation ends at a destination") as usize]
    }

    /// The fault by which a link is dead as the nodes at its ends know; `None` if they take it for alive.
    fn known_dead(&self, link: u32, now: u64) -> Option<u32> {
        self.dead.get(&link)?.iter().find(|time| time.is_known(now)).map(|time| time.fault)
    }

    fn is_avoided(&self, link: u32, now: u64) -> bool {
        self.dead.get(&link).is_some_and(|times| times.iter().any(|time| time.is_avoided(now)))
    }

    /// The fault for which a switch has no next hop: that of the first that it knows to be dead, or else the one that routes were made
    /// without last.
    fn why_nowhere(&self, view: &View<'_>) -> u32 {
        let known = view.next_hops().find_map(|link| self.known_dead(link, view.now));
        known.unwrap_or_else(|| self.latest_fault(view.now))
    }

    /// The fault that all switches heard of last.
    fn latest_fault(&self, now: u64) -> u32 {
        let heard = self.dead.values().flatten().filter(|time| time.avoided.0 <= now);
        let latest = heard.max_by_key(|time| (time.avoided.0, std::cmp::Reverse(time.fault)));
        latest.map_or(0, |time| time.fault)
    }
}

/// The last switch on the way to a node.
fn last_switch(graph: &Graph, node: u32) -> u32 {
    if node < graph.host_count() {
        graph.switch_of(node)
    } else {
        node
    }
}

/// What a switch knows at an instant of the ways to a destination.
#[derive(Clone, Copy)]
struct View<'a> {
    forwarding: &'a Forwarding,
    graph: &'a Graph,
    node: u32,
    /// How far every switch is from the last one.
    distances: &'a [Option<u32>],
    now: u64,
}

impl View<'_> {
    fn distance(&self, node: u32) -> Option<u32> {
        self.distances[node.checked_sub(self.graph.host_count())? as usize]
    }

    /// Returns whether a link of this switch leads nearer to the destination, by the routes that hold now.
    fn is_next(&self, link: u32) -> bool {
        let (here, there) = (self.distance(self.node), self.distance(self.graph.link(link).to));
        there.is_some() && there < here && !self.forwarding.is_avoided(link, self.now)
    }

    /// Returns whether this switch does not know that a link of its own is dead.
    fn is_alive(&self, link: u32) -> bool {
        self.forwarding.known_dead(link, self.now).is_none()
    }

    /// The links that lead nearer, in rising order, whether they are dead or not.
    fn next_hops(&self) -> impl Iterator<Item = u32> + '_ {
        self.graph.outgoing(self.node).iter().copied().filter(|&link| self.is_next(link))
    }

    /// Returns that of the living next hops that has the highest weight for this hash (RFC 2991, section 2): where one dies, no other's
    /// flows move.
    fn highest_weight(&self, hash: u64) -> Option<u32> {
        let alive = self.next_hops().filter(|&link| self.is_alive(link));
        alive.max_by_key(|&link| mix(hash ^ mix(u64::from(link))))
    }

    /// Returns that of the living next hops whose place among them is this hash modulo their number (RFC 2991, section 2, modulo-N).
    fn modulo(&self, hash: u64, hop: u32) -> Option<u32> {
        let alive = || self.next_hops().filter(|&link| self.is_alive(link));
        let count = alive().count() as u64;
        let place = mix(hash ^ mix(hop.into())).checked_rem(count)?;
        alive().nth(place as usize)
    }
}

#[cfg(test)]
mod tests;
