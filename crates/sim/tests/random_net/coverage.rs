//! What scenarios are made of and what happens in them, counted one by one and pair by pair.

use clearway_sim::record::Outcome;

use crate::random_net::case::{Case, Table, Value, SIZES_FILE};
use crate::random_net::outcomes::{counts, figure, measured, texts};

/// Something that a scenario can have.
type Feature = (&'static str, fn(&Case) -> bool);

/// Everything that a scenario can have, as far as it is counted.
pub const FEATURES: &[Feature] = &[
    ("star", |case| network(case, "star")),
    ("dumbbell", |case| network(case, "dumbbell")),
    ("leaf_spine", |case| network(case, "leaf_spine")),
    ("fat_tree", |case| network(case, "fat_tree")),
    ("datacenters", |case| network(case, "datacenters")),
    ("topology file", |case| network(case, "file")),
    ("links of different rates", rates_differ),
    ("no framing", |case| case.any("network", |net| net.number("framing") == Some(0.0))),
    ("mtu up to 64B", |case| case.mtu() <= 64.0),
    ("heavy acknowledgements", |case| case.any("transport", |t| t.number("ack") >= Some(case.mtu() / 2.0))),
    ("incast", |case| pattern(case, "incast")),
    ("permutation", |case| pattern(case, "permutation")),
    ("all_to_all", |case| pattern(case, "all_to_all")),
    ("poisson", |case| pattern(case, "poisson")),
    ("closed_loop", |case| pattern(case, "closed_loop")),
    ("open_loop", |case| pattern(case, "open_loop")),
    ("trace", |case| pattern(case, "trace")),
    ("collectives", |case| case.any("job", |job| job.says("kind", "collective"))),
    ("training steps", |case| case.any("job", |job| job.says("kind", "training"))),
    ("several ranks on a host", |case| case.any("job", |job| job.gives("ranks_per_host"))),
    ("several traffic tables", |case| case.all("traffic").count() > 1),
    ("fixed sizes", |case| sizes(case, |sizes| sizes.starts_with("fixed"))),
    ("exponential sizes", |case| sizes(case, |sizes| sizes.starts_with("exponential"))),
    ("sizes from a file", |case| sizes(case, |sizes| sizes == SIZES_FILE)),
    ("built-in sizes", |case| sizes(case, |sizes| !sizes.contains([':', '.']))),
    ("flows without end", has_flows_without_end),
    ("flows smaller than mtu", |case| {
        traffic(case, |t| t.number("bytes") < Some(case.mtu()) && t.gives("bytes"))
    }),
    ("groups of hosts", |case| case.any("groups", |_| true)),
    ("equal starts", |case| {
        traffic(case, |t| !matches!(t.get("start"), Some(Value::Times(..))) && !t.gives("stagger"))
    }),
    ("starts from a range", |case| traffic(case, |t| matches!(t.get("start"), Some(Value::Times(..))))),
    ("stagger", |case| traffic(case, |t| t.gives("stagger"))),
    ("stop", |case| traffic(case, |t| t.gives("stop"))),
    ("stop_when_complete", |case| case.top().gives("stop_when_complete")),
    ("warmup", |case| case.top().gives("warmup")),
    ("measure_until", |case| case.top().gives("measure_until")),
    ("reads", |case| traffic(case, |t| t.says("operation", "read"))),
    ("deadline", |case| traffic(case, |t| t.gives("deadline"))),
    ("backlog", |case| traffic(case, |t| t.gives("backlog"))),
    ("remote targets", |case| traffic(case, |t| t.gives("remote"))),
    ("constant arrivals", |case| traffic(case, |t| t.says("arrivals", "constant"))),
    ("operations by load", |case| traffic(case, |t| t.says("pattern", "open_loop") && t.gives("load"))),
    ("swift", |case| protocol(case, "swift")),
    ("dctcp", |case| protocol(case, "dctcp")),
    ("gcn", |case| protocol(case, "gcn")),
    ("cubic", |case| protocol(case, "cubic")),
    ("reno", |case| protocol(case, "reno")),
    ("none", |case| protocol(case, "none")),
    ("go_back_n", |case| protocol(case, "go_back_n")),
    ("roce", |case| protocol(case, "roce")),
    ("irn", |case| protocol(case, "irn")),
    ("hpcc", |case| protocol(case, "hpcc")),
    ("nscc", |case| protocol(case, "nscc")),
    ("rccc", |case| protocol(case, "rccc")),
    ("nscc_rccc", |case| protocol(case, "nscc_rccc")),
    ("ndp", |case| protocol(case, "ndp")),
    ("headers first", |case| case.any("switch", |s| s.gives("trim_headers_first"))),
    ("packets on several paths", |case| case.any("transport", |t| t.gives("spray"))),
    ("paths by reps", |case| case.any("transport", |t| t.says("spray", "reps"))),
    ("paths that are drawn", |case| case.any("transport", |t| t.gives("paths"))),
    ("paths by queues", |case| case.any("transport", |t| t.says("spray", "adaptive"))),
    ("trimming", |case| case.any("switch", |s| s.says("overflow", "trim"))),
    ("base_rtt", |case| case.any("transport", |t| t.gives("base_rtt"))),
    ("timely", |case| protocol(case, "timely")),
    ("dcqcn", |case| case.any("transport", |t| t.says("congestion", "dcqcn"))),
    ("dcqcn by mellanox", |case| case.any("transport", |t| t.says("dcqcn", "mellanox"))),
    ("scale_window", |case| case.any("transport", |t| t.gives("scale_window"))),
    ("timeout_loss", |case| case.any("transport", |t| t.says("timeout_loss", "all"))),
    ("fastpass", |case| protocol(case, "fastpass")),
    ("fastpass on arrival", |case| case.any("transport", |t| t.says("send", "on_arrival"))),
    ("several arbiters", |case| {
        case.any("arbiter", |a| matches!(a.get("at"), Some(Value::Names(names)) if names.len() > 1))
    }),
    ("min_fct", |case| case.any("arbiter", |a| a.says("order", "min_fct"))),
    ("arbiters that take time", |case| {
        case.any("arbiter", |a| a.gives("request_service") || a.gives("slot_service") || a.gives("latency"))
    }),
    ("arbiters that look at times", |case| case.any("arbiter", |a| a.gives("poll_interval"))),
    ("arbiters with little room", |case| {
        case.any("arbiter", |a| a.number("request_queue") <= Some(3.0) && a.gives("request_queue"))
    }),
    ("crash", |case| case.any("fault", |fault| fault.says("kind", "crash"))),
    ("several transports", |case| case.all("transport").count() > 1),
    ("swift v0", |case| case.any("transport", |t| t.says("variant", "v0"))),
    ("no topology_scaling", |case| is_off(case, "topology_scaling")),
    ("no flow_scaling", |case| is_off(case, "flow_scaling")),
    ("no endpoint_window", |case| is_off(case, "endpoint_window")),
    ("no cwnd_below_one", |case| is_off(case, "cwnd_below_one")),
    ("no pacing", |case| is_off(case, "pacing")),
    ("rto_backoff", |case| case.any("transport", |t| t.gives("rto_backoff"))),
    ("dup_threshold", |case| case.any("transport", |t| t.gives("dup_threshold"))),
    ("delayed acknowledgements", |case| case.any("transport", |t| t.gives("ack_every"))),
    ("fixed window", |case| case.any("transport", |t| t.gives("window"))),
    ("fixed rate", |case| case.any("transport", |t| t.gives("rate"))),
    ("ideal hosts", |case| !snap(case, |_| true) && !interrupts(case, |_| true)),
    ("snap hosts", |case| snap(case, |_| true)),
    ("pauses", |case| snap(case, |host| host.number("pause") > Some(0.0))),
    ("no jitter", |case| snap(case, |host| host.number("jitter") == Some(0.0))),
    ("interrupts", |case| interrupts(case, |_| true)),
    ("no interval between interrupts", |case| {
        interrupts(case, |host| host.number("wake_interval") == Some(0.0))
    }),
    ("stalls", |case| interrupts(case, |host| host.number("stall") > Some(0.0))),
    ("send_delay", |case| interrupts(case, |host| host.number("send_delay") > Some(0.0))),
    ("send_jitter", |case| interrupts(case, |host| host.number("send_jitter") > Some(0.0))),
    ("send_rate", |case| interrupts(case, |host| host.gives("send_rate"))),
    ("send_spread", |case| interrupts(case, |host| host.number("send_spread") > Some(0.0))),
    ("operation_service", |case| case.any("host", |host| host.number("operation_service") > Some(0.0))),
    ("flow_order", |case| case.any("host", |host| host.says("flow_order", "fifo"))),
    ("pfc_unsent", |case| case.any("switch", |switch| switch.says("pfc_unsent", "replace"))),
    ("small receive queues", |case| {
        case.any("host", |host| {
            host.number("receive_queue") <= Some(5.0 * case.full_frame()) && host.gives("receive_queue")
        })
    }),
    ("one class", |case| case.all("class").count() == 1),
    ("several classes", |case| case.all("class").count() > 1),
    ("priorities", |case| differ(case, "priority", 0.0)),
    ("weights", |case| differ(case, "weight", 1.0)),
    ("classes that mark", |case| {
        case.any("class", |class| class.gives("ecn_threshold") || class.gives("ecn_max"))
    }),
    ("ack_class", |case| case.any("transport", |t| t.gives("ack_class"))),
    ("buffers of ports", |case| {
        !case.any("switch", |_| true) || case.any("switch", |s| s.says("sharing", "port"))
    }),
    ("shared buffers", |case| case.any("switch", |s| s.says("sharing", "shared"))),
    ("small buffers", |case| case.any("switch", |s| s.number("buffer") <= Some(5.0 * case.full_frame()))),
    ("switches by role", |case| case.any("switch", |s| s.name.as_deref() != Some("default"))),
    ("step marking", |case| case.any("switch", |s| s.says("ecn", "step"))),
    ("red marking", |case| case.any("switch", |s| s.says("ecn", "red"))),
    ("relays", |case| case.any("switch", |s| s.gives("relay_buffer") || s.says("pfc", "relay"))),
    ("marks at the dequeue", |case| case.any("switch", |s| s.says("ecn_mark_at", "dequeue"))),
    ("marks at the enqueue", |case| case.any("switch", |s| s.says("ecn_mark_at", "enqueue"))),
    ("bypass", |case| case.any("fault", |fault| fault.says("kind", "bypass"))),
    ("relay_safety", |case| case.any("switch", |s| s.gives("relay_safety"))),
    ("relay_virtual_queue", |case| case.any("switch", |s| s.gives("relay_virtual_queue"))),
    ("static pfc", |case| case.any("switch", |s| s.says("pfc", "static"))),
    ("dynamic pfc", |case| case.any("switch", |s| s.says("pfc", "dynamic"))),
    ("lossless and lossy classes", |case| {
        let lossless = |class: &Table| class.gives("lossless");
        case.any("class", lossless) && case.any("class", |class| !lossless(class))
    }),
    ("lossy link", |case| case.any("fault", |fault| fault.says("kind", "loss"))),
    ("link down", |case| case.any("fault", |fault| fault.says("kind", "down"))),
    ("routing", |case| case.any("routing", |_| true)),
    ("dead node", |case| case.any("fault", |fault| fault.says("kind", "dead"))),
    ("slow link", |case| case.any("fault", |fault| fault.says("kind", "slow"))),
    ("wrong bits", |case| case.any("fault", |fault| fault.says("kind", "corruption"))),
    ("record.operations", |case| record(case, "operations")),
    ("record.queues", |case| record(case, "queues")),
    ("record.windows", |case| record(case, "windows")),
    ("record.rtt", |case| record(case, "rtt")),
    ("record.throughput", |case| record(case, "throughput")),
    ("record.links", |case| record(case, "links")),
    ("record.fairness", |case| record(case, "fairness")),
    ("record.timeline", |case| record(case, "timeline")),
    ("record.alone", |case| record(case, "alone")),
];

/// Features of which no scenario has two.
const APART: &[&[&str]] = &[&["star", "dumbbell", "leaf_spine", "fat_tree", "datacenters", "topology file"]];

/// Features of the first list that no scenario has together with one of the second.
const APART_FROM: &[(&[&str], &[&str])] = &[
    (&["star"], &["links of different rates", "remote targets", "several arbiters"]),
    (&["paths by queues"], &["routing", "dead node"]),
    (
        &["trimming", "headers first"],
        &["static pfc", "dynamic pfc", "pfc_unsent", "lossless and lossy classes"],
    ),
    (&["trimming", "headers first"], &["relays", "relay_safety", "relay_virtual_queue", "bypass"]),
    (&["fat_tree"], &["links of different rates"]),
    (&["datacenters", "topology file", "relays", "bypass", "relay_safety", "relay_virtual_queue"], FASTPASS),
    (
        &["star", "dumbbell", "leaf_spine", "fat_tree", "topology file"],
        &["relays", "relay_safety", "relay_virtual_queue", "bypass"],
    ),
    (
        &["ideal hosts"],
        &[
            "snap hosts",
            "pauses",
            "no jitter",
            "small receive queues",
            "interrupts",
            "no interval between interrupts",
            "stalls",
            "send_delay",
            "send_jitter",
            "send_rate",
            "send_spread",
        ],
    ),
    (&["one class"], &["several classes", "lossless and lossy classes", "priorities", "weights"]),
];

const FASTPASS: &[&str] = &[
    "fastpass",
    "fastpass on arrival",
    "several arbiters",
    "min_fct",
    "arbiters that take time",
    "arbiters that look at times",
    "arbiters with little room",
    "crash",
];

fn network(case: &Case, topology: &str) -> bool {
    case.any("network", |network| network.says("topology", topology))
}

fn traffic(case: &Case, wanted: impl FnMut(&Table) -> bool) -> bool {
    case.any("traffic", wanted)
}

fn pattern(case: &Case, pattern: &str) -> bool {
    traffic(case, |table| table.says("pattern", pattern))
}

fn sizes(case: &Case, wanted: impl Fn(&str) -> bool) -> bool {
    traffic(case, |table| table.text("sizes").is_some_and(&wanted))
}

fn has_flows_without_end(case: &Case) -> bool {
    let endless = |table: &Table| match table.text("pattern") {
        Some("incast" | "permutation" | "all_to_all") => !table.gives("bytes"),
        _ => false,
    };
    traffic(case, endless)
}

fn protocol(case: &Case, protocol: &str) -> bool {
    case.any("transport", |table| table.says("protocol", protocol))
}

fn is_off(case: &Case, key: &str) -> bool {
    case.any("transport", |table| table.get(key) == Some(&Value::Flag(false)))
}

fn snap(case: &Case, wanted: impl Fn(&Table) -> bool) -> bool {
    case.any("host", |host| host.says("model", "snap") && wanted(host))
}

fn interrupts(case: &Case, wanted: impl Fn(&Table) -> bool) -> bool {
    case.any("host", |host| host.says("model", "interrupts") && wanted(host))
}

fn record(case: &Case, key: &str) -> bool {
    case.any("record", |record| record.gives(key))
}

/// Returns whether classes have different values of a key.
fn differ(case: &Case, key: &str, default: f64) -> bool {
    let mut values = case.all("class").map(|class| class.number(key).unwrap_or(default));
    let first = values.next();
    values.any(|value| Some(value) != first)
}

fn rates_differ(case: &Case) -> bool {
    let over = |network: &Table| network.number("oversubscription").is_some_and(|over| over != 1.0);
    let bottleneck = |network: &Table| {
        network.gives("bottleneck") && network.number("bottleneck") != network.number("rate")
    };
    let listed = case.topology.iter().any(|link| {
        link.gives("rate") && case.any("network", |network| network.number("rate") != link.number("rate"))
    });
    let long =
        |network: &Table| network.gives("long_rate") && network.number("long_rate") != network.number("rate");
    listed || case.any("network", long) || case.any("network", |network| over(network) || bottleneck(network))
}

/// Something that can happen in a run.
type Happening = (&'static str, fn(&Case, &Outcome) -> bool);

/// What happens in runs, as far as it is counted.
pub const HAPPENINGS: &[Happening] = &[
    ("frames are dropped", |_, outcome| positive(outcome, "drops")),
    ("frames are marked", |_, outcome| positive(outcome, "marks")),
    ("links lose frames", |_, outcome| positive(outcome, "fault_losses")),
    ("receive queues overflow", |_, outcome| positive(outcome, "host_drops")),
    ("packets are sent again", |_, outcome| positive(outcome, "retransmissions")),
    ("timers expire", |_, outcome| positive(outcome, "timeouts_whole")),
    ("links are paused", |_, outcome| positive(outcome, "pause_share")),
    ("flows complete", |_, outcome| positive(outcome, "completed")),
    ("flows do not complete", |_, outcome| {
        figure(outcome, "completed") < figure(outcome, "flows") && positive(outcome, "flows")
    }),
    ("operations complete", |_, outcome| positive(outcome, "operations")),
    ("operations are late", |case, outcome| {
        positive(outcome, "failed_operations") && traffic(case, |table| table.gives("deadline"))
    }),
    ("a backlog is full", |case, outcome| {
        positive(outcome, "failed_operations") && !traffic(case, |table| table.gives("deadline"))
    }),
    ("the run ends with its flows", |case, outcome| {
        let end = case.top().number("duration").map(|ps| ps / 1e6);
        figure(outcome, "simulated_us") < end
    }),
    ("two classes meet at a link", |_, outcome| {
        texts(outcome, "link_classes", "link").windows(2).any(|two| two[0] == two[1])
    }),
    ("flows slow each other down", |_, outcome| {
        measured(outcome, "flows", "slowdown").iter().any(|slowdown| *slowdown > 1.0)
    }),
    ("a thousand frames cross a link", |_, outcome| {
        counts(outcome, "links", "frames").iter().any(|frames| *frames >= 1000)
    }),
    ("nothing moves", |_, outcome| outcome.packet_hops == 0),
];

fn positive(outcome: &Outcome, name: &str) -> bool {
    figure(outcome, name) > Some(0.0)
}

fn are_apart(one: &str, other: &str) -> bool {
    let between = |ones: &[&str], others: &[&str]| ones.contains(&one) && others.contains(&other);
    APART.iter().any(|set| between(set, set))
        || APART_FROM.iter().any(|(ones, others)| between(ones, others) || between(others, ones))
}

/// The names of the features that a scenario has.
pub fn features_of(case: &Case) -> Vec<&'static str> {
    FEATURES.iter().filter(|(_, has)| has(case)).map(|(name, _)| *name).collect()
}

/// How often each feature, each pair of features and each happening was met.
pub struct Coverage {
    /// How often two features were met together, by the one and the other; for a feature and itself, how often it was met at all.
    pairs: Vec<Vec<usize>>,
    happenings: Vec<usize>,
}

impl Coverage {
    /// Returns a coverage in which nothing has been counted.
    pub fn new() -> Coverage {
        let pairs = vec![vec![0; FEATURES.len()]; FEATURES.len()];
        Coverage { pairs, happenings: vec![0; HAPPENINGS.len()] }
    }

    /// Counts what a scenario has.
    pub fn count_case(&mut self, case: &Case) {
        let met: Vec<usize> = (0..FEATURES.len()).filter(|at| FEATURES[*at].1(case)).collect();
        for &one in &met {
            for &other in &met {
                self.pairs[one][other] += 1;
            }
        }
    }

    /// Counts what has happened in it.
    pub fn count_outcome(&mut self, case: &Case, outcome: &Outcome) {
        for (count, (_, happens)) in self.happenings.iter_mut().zip(HAPPENINGS) {
            *count += usize::from(happens(case, outcome));
        }
    }

    /// Features and happenings with how often each was met.
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let features = FEATURES.iter().enumerate().map(|(at, (name, _))| (*name, self.pairs[at][at]));
        let happenings = HAPPENINGS.iter().zip(&self.happenings).map(|((name, _), count)| (*name, *count));
        features.chain(happenings).collect()
    }

    /// Pairs that can be combined with how often each was met.
    pub fn pairs(&self) -> Vec<((&'static str, &'static str), usize)> {
        self.of_pairs(|apart| !apart)
    }

    /// Pairs that are said never to meet, with how often each was met.
    pub fn pairs_apart(&self) -> Vec<((&'static str, &'static str), usize)> {
        self.of_pairs(|apart| apart)
    }

    fn of_pairs(&self, wanted: impl Fn(bool) -> bool) -> Vec<((&'static str, &'static str), usize)> {
        let mut pairs = Vec::new();
        for (one, (name, _)) in FEATURES.iter().enumerate() {
            for (other, (twin, _)) in FEATURES.iter().enumerate().skip(one + 1) {
                if wanted(are_apart(name, twin)) {
                    pairs.push(((*name, *twin), self.pairs[one][other]));
                }
            }
        }
        pairs
    }
}
