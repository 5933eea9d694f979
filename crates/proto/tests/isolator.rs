//! The fault isolator against small networks in which links lose packets.

use clearway_proto::fastpass::fcp::PathReport;
use clearway_proto::fastpass::isolator::{Isolator, IsolatorParams, Link, Silence};
use clearway_proto::fastpass::paths::{FatTreeShape, Racks};
use clearway_proto::units::{Span, Time};

/// Hosts of a rack.
const HOSTS: usize = 4;
/// Packets that each endpoint sends in a step of 1 ms: a quarter of its slots.
const PACKETS: usize = 200;
/// Spine switches of the leaf-spine network.
const SPINES: usize = 3;
const TREE: FatTreeShape = FatTreeShape { racks_per_pod: 2, aggregation: 2, cores: 2 };

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    LeafSpine,
    FatTree,
}

impl Kind {
    fn racks(self) -> usize {
        match self {
            Kind::LeafSpine => 4,
            Kind::FatTree => 8,
        }
    }

    fn paths(self) -> usize {
        match self {
            Kind::LeafSpine => SPINES,
            Kind::FatTree => TREE.aggregation * TREE.cores,
        }
    }

    fn isolator(self, params: &IsolatorParams) -> Isolator {
        let racks = Racks::uniform(self.racks(), HOSTS).unwrap();
        match self {
            Kind::LeafSpine => Isolator::leaf_spine(params, racks, SPINES).unwrap(),
            Kind::FatTree => Isolator::fat_tree(params, racks, TREE).unwrap(),
        }
    }

    /// The links that a packet passes, written down another way than the isolator has them.
    fn links(self, source: usize, destination: usize, path: usize) -> Vec<Link> {
        let (from, to) = (source / HOSTS, destination / HOSTS);
        let mut links = vec![Link::FromEndpoint(source as u16)];
        if from != to {
            let (switch, core) = match self {
                Kind::LeafSpine => (path, 0),
                Kind::FatTree => (path / TREE.cores, path % TREE.cores),
            };
            links.push(Link::FromRack { rack: from, switch });
            let (pod, far) = (from / TREE.racks_per_pod, to / TREE.racks_per_pod);
            if self == Kind::FatTree && pod != far {
                links.push(Link::ToCore { pod, aggregation: switch, core });
                links.push(Link::FromCore { pod: far, aggregation: switch, core });
            }
            links.push(Link::ToRack { rack: to, switch });
        }
        links.push(Link::ToEndpoint(destination as u16));
        links
    }

    /// All links between switches.
    fn core_links(self) -> Vec<Link> {
        let mut links = Vec::new();
        for source in (0..self.racks()).map(|rack| rack * HOSTS) {
            for destination in (0..self.racks()).map(|rack| rack * HOSTS).filter(|&to| to != source) {
                for path in 0..self.paths() {
                    let passed = self.links(source, destination, path);
                    links.extend(&passed[1..passed.len() - 1]);
                }
            }
        }
        let mut unique: Vec<Link> = Vec::new();
        for link in links {
            if !unique.contains(&link) {
                unique.push(link);
            }
        }
        unique
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    fn chance(&mut self, p: f64) -> bool {
        (self.below(1 << 30) as f64) < p * f64::from(1 << 30)
    }
}

/// A network under uniform traffic.
struct Net {
    kind: Kind,
    isolator: Isolator,
    /// Links that lose packets, and what share.
    faults: Vec<(Link, f64)>,
    /// What every link loses besides.
    background: f64,
    /// Whether packets keep off links to avoid.
    obeys: bool,
    /// Who sends, and to whom; all if there are none.
    sources: Vec<usize>,
    destinations: Vec<usize>,
    now: Time,
    random: Random,
}

impl Net {
    fn new(kind: Kind, faults: &[(Link, f64)], seed: u64) -> Net {
        let isolator = kind.isolator(&IsolatorParams::default());
        Net {
            kind,
            isolator,
            faults: faults.to_vec(),
            background: 1e-5,
            obeys: true,
            sources: Vec::new(),
            destinations: Vec::new(),
            now: Time::ZERO,
            random: Random(seed),
        }
    }

    /// A path that a packet may take.
    fn path(&mut self, source: usize, destination: usize) -> usize {
        loop {
            let path = self.random.below(self.kind.paths());
            let avoided = self.isolator.is_avoided(source as u16, destination as u16, path as u16);
            if !(avoided && self.obeys) {
                return path;
            }
        }
    }

    /// The chance that a packet is lost, by source, destination and path.
    fn losses(&self) -> Vec<f64> {
        let (endpoints, paths) = (self.kind.racks() * HOSTS, self.kind.paths());
        let arrives = |link: &Link| {
            let fault = self.faults.iter().filter(|(faulty, _)| faulty == link).map(|&(_, loss)| loss);
            fault.fold(1.0 - self.background, |arrives, loss| arrives * (1.0 - loss))
        };
        (0..endpoints * endpoints * paths)
            .map(|i| {
                let (source, destination, path) = (i / paths / endpoints, i / paths % endpoints, i % paths);
                1.0 - self.kind.links(source, destination, path).iter().map(arrives).product::<f64>()
            })
            .collect()
    }

    /// 1 ms of traffic, and the reports on it.
    fn step(&mut self, losses: &[f64]) {
        self.now = self.now + Span::from_ms(1);
        let (endpoints, all_paths) = (self.kind.racks() * HOSTS, self.kind.paths());
        let mut counts = vec![(0, 0); endpoints * all_paths];
        let sources = if self.sources.is_empty() { (0..endpoints).collect() } else { self.sources.clone() };
        for source in sources {
            counts.fill((0, 0));
            for _ in 0..PACKETS {
                let destination = match self.destinations.len() {
                    0 => (source + 1 + self.random.below(endpoints - 1)) % endpoints,
                    some => self.destinations[self.random.below(some)],
                };
                let path = self.path(source, destination);
                let lost = self.random.chance(losses[(source * endpoints + destination) * all_paths + path]);
                let count = &mut counts[destination * all_paths + path];
                *count = (count.0 + 1, count.1 + u16::from(lost));
            }
            for (i, &(sent, lost)) in counts.iter().enumerate().filter(|(_, &(sent, _))| sent > 0) {
                let (destination, path) = ((i / all_paths) as u16, (i % all_paths) as u16);
                let report = PathReport { destination, path, sent, lost };
                self.isolator.handle_report(self.now, source as u16, &report);
            }
        }
        if self.isolator.poll_timeout() <= self.now {
            self.isolator.handle_timeout(self.now);
        }
    }

    fn run(&mut self, steps: usize) {
        self.run_with(steps, |_| {});
    }

    /// Runs, and lets `each` happen after every step.
    fn run_with(&mut self, steps: usize, mut each: impl FnMut(&mut Net)) {
        let losses = self.losses();
        for _ in 0..steps {
            self.step(&losses);
            each(self);
        }
    }

    fn failed(&self) -> Vec<Link> {
        self.isolator.failed().collect()
    }
}

fn avoided(isolator: &Isolator) -> Vec<Link> {
    isolator.avoided().collect()
}

/// Each link between switches, losing everything or one packet of a hundred: that link is named
/// and avoided and no other.
#[test]
fn each_failed_link_is_named() {
    for kind in [Kind::LeafSpine, Kind::FatTree] {
        for (seed, link) in (1..).zip(kind.core_links()) {
            for (loss, steps) in [(1.0, 2), (0.01, 45)] {
                let mut net = Net::new(kind, &[(link, loss)], seed);
                net.run(steps);
                assert_eq!(net.failed(), [link], "{kind:?}, loss {loss}");
                assert_eq!(avoided(&net.isolator), [link]);
            }
        }
    }
}

/// A link that loses everything is found within 2 ms.
#[test]
fn a_dead_link_is_found_at_once() {
    let link = Link::ToRack { rack: 1, switch: 2 };
    let mut net = Net::new(Kind::LeafSpine, &[(link, 1.0)], 5);
    net.run(2);
    assert_eq!(net.failed(), [link]);
    assert!(net.isolator.poll_changed() && !net.isolator.poll_changed());
}

#[test]
fn without_a_fault_nothing_is_excluded() {
    for kind in [Kind::LeafSpine, Kind::FatTree] {
        for (seed, background) in [(1, 0.0), (2, 1e-5), (3, 1e-4)] {
            let mut net = Net::new(kind, &[], seed);
            net.background = background;
            net.run(200);
            assert_eq!((net.failed(), net.isolator.counters().failed), (vec![], 0));
        }
    }
}

/// Every two links of the leaf-spine network: both dead, and one dead where the other loses one packet of a hundred.
#[test]
fn two_failed_links_are_named() {
    let links = Kind::LeafSpine.core_links();
    for (i, &first) in links.iter().enumerate() {
        for &second in &links[..i] {
            for loss in [1.0, 0.01] {
                let mut net = Net::new(Kind::LeafSpine, &[(first, 1.0), (second, loss)], i as u64);
                net.obeys = false;
                net.run(if loss < 1.0 { 50 } else { 3 });
                let failed = net.failed();
                assert!(
                    failed.len() == 2 && failed.contains(&first) && failed.contains(&second),
                    "{first:?} and {second:?} (loss {loss}) fail, {failed:?} are named"
                );
            }
        }
    }
}

#[test]
fn the_link_of_an_endpoint_is_named_and_not_avoided() {
    for kind in [Kind::LeafSpine, Kind::FatTree] {
        for link in [Link::FromEndpoint(6), Link::ToEndpoint(6)] {
            for (loss, steps) in [(1.0, 4), (0.03, 60)] {
                let mut net = Net::new(kind, &[(link, loss)], 3);
                net.run_with(steps, |net| {
                    assert_eq!(avoided(&net.isolator), [], "{kind:?}, {link:?}, loss {loss}");
                });
                assert_eq!(net.failed(), [link], "{kind:?}, loss {loss}");
            }
        }
    }
}

/// What a lying endpoint reports in a step, beside its true reports.
type Lie = fn(&mut Net, u16);

fn report(net: &mut Net, liar: u16, destination: u16, path: u16, sent: u16, lost: u16) {
    let report = PathReport { destination, path, sent, lost };
    net.isolator.handle_report(net.now, liar, &report);
}

/// Lies about a path, about everything, about one destination, and about losses that there are.
const LIES: [Lie; 4] = [
    |net, liar| (4..16).for_each(|destination| report(net, liar, destination, 1, 50, 50)),
    |net, liar| {
        (0..16).for_each(|to| (0..3).for_each(|path| report(net, liar, to, path, 15, 15)));
    },
    |net, liar| (0..3).for_each(|path| report(net, liar, 9, path, 200, 200)),
    |net, liar| (4..16).for_each(|destination| report(net, liar, destination, 0, 60, 0)),
];

#[test]
fn one_endpoint_against_others_has_no_link_avoided() {
    for lie in LIES {
        let mut net = Net::new(Kind::LeafSpine, &[], 1);
        net.background = 1e-4;
        net.run_with(100, |net| {
            lie(net, 1);
            assert_eq!(avoided(&net.isolator), []);
        });
        assert!(net.failed().iter().all(|&link| link == Link::FromEndpoint(1)), "{:?}", net.failed());
    }
}

/// The same lies hide no fault that others see, and name no other link.
#[test]
fn one_endpoint_alone_hides_no_fault() {
    let link = Link::FromRack { rack: 0, switch: 0 };
    for lie in LIES {
        for (loss, steps) in [(1.0, 5), (0.02, 60)] {
            let mut net = Net::new(Kind::LeafSpine, &[(link, loss)], 1);
            net.run_with(steps, |net| {
                assert!(avoided(&net.isolator).iter().all(|&avoided| avoided == link));
                lie(net, 1);
            });
            assert!(net.failed().contains(&link), "loss {loss}: {:?}", net.failed());
        }
    }
}

/// No endpoint can claim more packets than it had slots, nor fill the memory for losses.
#[test]
fn one_endpoint_alone_takes_no_more_than_its_share() {
    let mut net = Net::new(Kind::LeafSpine, &[], 1);
    for _ in 0..40 {
        report(&mut net, 1, 9, 0, 1000, 0);
    }
    let slots = 20_000_000 / 1251;
    assert_eq!(net.isolator.counters().reports, slots / 1000);
    assert_eq!(net.isolator.counters().more_than_slots, 40 - slots / 1000);

    let mut net = Net::new(Kind::FatTree, &[], 1);
    (0..32).for_each(|to| (0..4).for_each(|path| report(&mut net, 1, to, path, 1, 1)));
    let counters = net.isolator.counters();
    assert_eq!((counters.reports, counters.unknown, counters.no_room), (31 * 4, 4, 31 * 4 - 64));
}

/// What one endpoint says of links that nobody else uses is believed: otherwise a single flow would lose packets on a dead link
/// for ever.
#[test]
fn a_lone_source_is_believed() {
    for (loss, steps) in [(1.0, 2), (0.05, 20)] {
        let link = Link::FromRack { rack: 0, switch: 2 };
        let mut net = Net::new(Kind::LeafSpine, &[(link, loss)], 2);
        net.sources = vec![1];
        net.run(steps);
        assert_eq!(avoided(&net.isolator), [link], "loss {loss}");
    }
}

/// A link that nobody can try gets packets after its probation.
#[test]
fn what_nobody_tries_is_used_again_after_its_probation_and_later_each_time() {
    let link = Link::FromRack { rack: 2, switch: 1 };
    let mut net = Net::new(Kind::LeafSpine, &[(link, 1.0)], 9);
    let mut spans = Vec::new();
    let mut since = None;
    net.run_with(1520, |net| match (since, net.failed().is_empty()) {
        (None, false) => since = Some(net.now),
        (Some(begin), true) => {
            spans.push((net.now.as_ps() - Time::as_ps(begin)) / 1_000_000_000);
            since = None;
        }
        _ => {}
    });
    assert_eq!(spans, [100, 200, 400, 800]);
    assert_eq!(net.isolator.counters().readmitted, 4);
    // Mended while it is avoided, it stays in; and a fault long after that counts as a new one.
    net.faults.clear();
    net.run(1600);
    assert_eq!((net.failed(), net.isolator.counters().readmitted), (vec![], 5));
    net.now = net.now + Span::from_secs(16);
    net.faults.push((link, 1.0));
    net.run(3);
    assert_eq!(net.failed(), [link]);
    net.run(100);
    assert_eq!(net.isolator.counters().readmitted, 6);
}

/// Nothing else that has failed was on the way of a trial, on which none was answered before.
const ALONE: Silence = Silence { alone: true, answered_before: false };

/// Tries a link, at most `most` times, as its driver would. Returns whether it is in use again, and after how many trials.
fn try_link(net: &mut Net, link: Link, answers: impl Fn(u32) -> bool, most: u32) -> (bool, u32) {
    let mut trials = 0;
    while trials < most && net.failed().contains(&link) {
        net.now = net.isolator.poll_trial();
        let due: Vec<_> = std::iter::from_fn(|| net.isolator.take_trial(net.now)).collect();
        if !due.contains(&link) {
            continue;
        }
        net.isolator.handle_trial_sent(net.now, link);
        if answers(trials) {
            net.isolator.handle_answered(net.now, link);
        } else {
            net.isolator.handle_unanswered(link, ALONE);
        }
        net.isolator.handle_timeout(net.now);
        trials += 1;
    }
    (!net.failed().contains(&link), trials)
}

#[test]
fn a_link_is_used_again_when_enough_trials_in_a_row_are_answered() {
    let link = Link::ToRack { rack: 1, switch: 0 };
    let dead = |seed| {
        let mut net = Net::new(Kind::LeafSpine, &[(link, 1.0)], seed);
        net.run(3);
        assert_eq!(avoided(&net.isolator), [link]);
        net
    };
    assert_eq!(try_link(&mut dead(1), link, |_| true, 100), (true, 16));
    // One that is not answered makes all before it count for nothing; the last of 10 s counts as well as the first.
    assert_eq!(try_link(&mut dead(2), link, |trial| trial != 10, 100), (true, 27));
    assert_eq!(try_link(&mut dead(3), link, |trial| trial % 16 != 15, 100_000), (false, 100_000));
    // Again within a second, it takes twice as many.
    let mut net = dead(4);
    for trials in [16, 32, 64] {
        assert_eq!(try_link(&mut net, link, |_| true, 1000), (true, trials));
        net.run(30);
    }
}

/// Between racks 0 and 1 nothing tells the downlink from the uplink before it: neither is used until trials tell.
#[test]
fn trials_tell_two_links_of_one_path_apart() {
    let (up, down) = (Link::FromRack { rack: 0, switch: 1 }, Link::ToRack { rack: 1, switch: 1 });
    for guilty in [up, down] {
        for answers in [true, false] {
            let mut net = Net::new(Kind::LeafSpine, &[(guilty, 1.0)], 1);
            net.sources = vec![0, 1, 2, 3];
            net.destinations = vec![4, 5, 6, 7];
            net.run(2);
            let found = avoided(&net.isolator);
            assert!(found.len() == 2 && found.contains(&up) && found.contains(&down), "{found:?}");
            // Either the other one answers sixteen trials, or this one is tried in vain before.
            for _ in 0..40 {
                net.now = net.isolator.poll_trial();
                let link = net.isolator.take_trial(net.now).expect("one that is due");
                if (link == guilty) != answers {
                    net.isolator.handle_trial_sent(net.now, link);
                    if link == guilty {
                        net.isolator.handle_unanswered(link, ALONE);
                    } else {
                        net.isolator.handle_answered(net.now, link);
                    }
                }
            }
            assert_eq!(avoided(&net.isolator), [guilty], "{answers}");
        }
    }
}

/// Two uplinks lose packets of all that goes to one rack: its downlink is the likeliest reason, until it has answered more trials
/// than it would if it were. Then it is the two.
#[test]
fn a_link_that_trials_prove_whole_is_no_reason_for_what_two_others_lose() {
    let (some, all) = (Link::FromRack { rack: 0, switch: 0 }, Link::FromRack { rack: 3, switch: 0 });
    let shared = Link::ToRack { rack: 2, switch: 0 };
    let mut net = Net::new(Kind::LeafSpine, &[(some, 0.3), (all, 1.0)], 1);
    net.sources = vec![0, 1, 2, 12];
    net.destinations = vec![8, 9, 10, 11];
    net.run(2);
    assert_eq!(avoided(&net.isolator), [shared]);
    let (used_again, trials) = try_link(&mut net, shared, |_| true, 100);
    assert!(used_again && trials >= 16, "{trials}");
    net.run(3);
    let found = avoided(&net.isolator);
    assert!(found.len() == 2 && found.contains(&some) && found.contains(&all), "{found:?}");
}

/// A suspect that is tried on ways on which something unknown is dead seems to be dead itself. Another suspect, which answers
/// nothing either, stays one; a suspect that answers is used again at once.
#[test]
fn a_suspect_that_answers_no_trial_is_not_used_again_because_another_is_dead() {
    let (up, down) = (Link::FromRack { rack: 0, switch: 1 }, Link::ToRack { rack: 1, switch: 1 });
    let mut net = Net::new(Kind::LeafSpine, &[(down, 1.0)], 1);
    net.sources = vec![0, 1, 2, 3];
    net.destinations = vec![4, 5, 6, 7];
    net.run(2);
    net.isolator.handle_trial_sent(net.now, down);
    for _ in 0..3 {
        net.isolator.handle_unanswered(up, ALONE);
    }
    assert_eq!(avoided(&net.isolator).len(), 2);
    net.isolator.handle_answered(net.now, up);
    net.isolator.handle_unanswered(down, ALONE);
    net.isolator.handle_unanswered(down, ALONE);
    assert_eq!(avoided(&net.isolator), [down], "the one that has answered was not the reason");
}

/// With an uplink of each spine dead there is no path to route round to: one of them stays in.
#[test]
fn the_last_path_is_never_excluded() {
    let dead: Vec<_> = (0..SPINES).map(|switch| (Link::FromRack { rack: 0, switch }, 1.0)).collect();
    let mut net = Net::new(Kind::LeafSpine, &dead, 1);
    net.run(50);
    assert_eq!((net.failed().len(), avoided(&net.isolator).len()), (SPINES, SPINES - 1));
    assert_eq!(net.isolator.counters().last_path, 1);
    // Of two links that cannot both be avoided it is the worse one that is, whichever was found first.
    let (worse, better) = (Link::FromRack { rack: 0, switch: 0 }, Link::ToRack { rack: 1, switch: 1 });
    let mut net =
        Net::new(Kind::LeafSpine, &[(better, 0.05), (Link::FromRack { rack: 0, switch: 2 }, 1.0)], 1);
    net.run(20);
    assert!(avoided(&net.isolator).contains(&better));
    net.faults.push((worse, 1.0));
    net.run(3);
    let found = avoided(&net.isolator);
    assert!(found.contains(&worse) && !found.contains(&better), "{found:?}");
}

/// A link that answers nothing by two ways is dead: it is avoided, even if that cuts racks off from each other.
#[test]
fn what_is_known_to_be_dead_is_avoided_whatever_that_cuts_off() {
    let dead: Vec<_> = (0..SPINES).map(|switch| (Link::FromRack { rack: 0, switch }, 1.0)).collect();
    let mut net = Net::new(Kind::LeafSpine, &dead, 1);
    net.run(50);
    for &(link, _) in &dead {
        net.isolator.handle_unanswered(link, Silence { alone: false, ..ALONE });
        net.isolator.handle_unanswered(link, ALONE);
    }
    assert_eq!(
        avoided(&net.isolator).len(),
        SPINES - 1,
        "one way says nothing, nor does one with another failed link"
    );
    for &(link, _) in &dead {
        net.isolator.handle_unanswered(link, ALONE);
    }
    assert_eq!(avoided(&net.isolator).len(), SPINES);
    // An answer shows that it is not.
    net.isolator.handle_answered(net.now, dead[0].0);
    net.isolator.handle_answered(net.now, dead[1].0);
    net.isolator.handle_unanswered(dead[2].0, ALONE);
    try_link(&mut net, dead[2].0, |_| true, 16);
    assert_eq!(avoided(&net.isolator).len(), SPINES - 1, "the last one stays in");
}

/// Losses are told once: when the link that was the reason for them is used again, they are no evidence against it or its
/// neighbours.
#[test]
fn losses_that_a_failed_link_explains_are_no_evidence_when_it_is_used_again() {
    let link = Link::ToRack { rack: 1, switch: 0 };
    let mut net = Net::new(Kind::LeafSpine, &[(link, 1.0)], 1);
    net.run(8);
    assert_eq!(avoided(&net.isolator), [link]);
    net.faults.clear();
    assert_eq!(try_link(&mut net, link, |_| true, 16), (true, 16));
    for _ in 0..30 {
        net.run(1);
        assert_eq!(net.failed(), []);
    }
}

/// Two links that explain the same losses are suspected together, unless one of them has lost some trials and answered others of
/// late.
#[test]
fn a_link_known_to_lose_some_packets_is_suspected_before_others() {
    let (up, down) = (Link::FromRack { rack: 0, switch: 1 }, Link::ToRack { rack: 1, switch: 1 });
    for answered_before in [false, true] {
        let mut net = Net::new(Kind::LeafSpine, &[(up, 0.1)], 1);
        (net.sources, net.destinations) = (vec![0, 1, 2, 3], vec![4, 5, 6, 7]);
        net.run(3);
        assert_eq!(avoided(&net.isolator).len(), 2);
        net.isolator.handle_unanswered(up, Silence { alone: true, answered_before });
        while !net.failed().is_empty() {
            net.now = net.isolator.poll_trial();
            let link = net.isolator.take_trial(net.now).expect("one that is due");
            net.isolator.handle_trial_sent(net.now, link);
            net.isolator.handle_answered(net.now, link);
        }
        net.run(3);
        let mut wanted = vec![up];
        wanted.extend((!answered_before).then_some(down));
        let mut found = avoided(&net.isolator);
        found.sort_by_key(|&link| link != up);
        assert_eq!(found, wanted, "{answered_before}");
    }
}

#[test]
fn what_makes_no_sense_is_counted_and_ignored() {
    let mut net = Net::new(Kind::LeafSpine, &[], 1);
    for (source, destination, path) in [(16, 0, 0), (0, 16, 0), (0, 0, 0), (0, 5, 3), (0, 5, u16::MAX - 1)] {
        report(&mut net, source, destination, path, 10, 10);
    }
    report(&mut net, 0, 5, 0, 10, 11);
    let counters = net.isolator.counters();
    assert_eq!((counters.unknown, counters.more_lost_than_sent, counters.reports), (5, 1, 0));
    assert_eq!(net.isolator.poll_timeout(), Time::NEVER);
    let racks = || Racks::uniform(4, 2).unwrap();
    assert!(Isolator::leaf_spine(&IsolatorParams::default(), racks(), 0).is_err());
    assert!(Isolator::leaf_spine(&IsolatorParams::default(), racks(), 33).is_err());
    let uneven = FatTreeShape { racks_per_pod: 3, ..TREE };
    assert!(Isolator::fat_tree(&IsolatorParams::default(), racks(), uneven).is_err());
}
