//! The file as a whole: what stands at the top, the order of the tables, and what they demand of each other.

use std::path::Path;

use clearway_proto::units::{Rate, Span, Time, RATES};
use serde_json::{json, Value as Json};

use super::document::Value;
use super::error::Misread;
use super::fault::Faults;
use super::form::Form;
use super::hosts::Directory;
use super::key::{Key, Shown};
use super::names::Names;
use super::reader::Section;
use super::traffic::Scene;
use super::{
    arbiter, class, fault, host, job, network, node, packets, probe, replay, routing, series, switch,
    traffic, transport,
};
use crate::model::{
    Arbiters, Network, Probe, Record, Routing, Scenario, Timeline, Traffic, TrafficClass, Transport,
};
use crate::topology::shape;

/// The largest seed: what a JSON number holds exactly.
pub(crate) const MAX_SEED: u64 = 1 << 53;

const PROBES: &str = "Packets that measure the round-trip time of a path.";

/// The transports and the classes, as far as they are known.
type Known<'a> = (Option<&'a [Transport]>, Option<&'a [TrafficClass]>);

/// Tells whether a network, and the number of classes that is given, fit into memory.
pub(crate) type Fits<'a> = &'a dyn Fn(&Network, usize) -> bool;

/// Reads a scenario whose files are in `base`. Returns `None` if anything is wrong. What tables demand of each other is not checked.
pub(crate) fn read(r: &mut Section, base: &Path, fits: Fits) -> Option<Scenario> {
    read_format(r);
    let name = read_name(r);
    let seed = r.get(&Key::new("seed", "Root of every random stream.", 0..=MAX_SEED).or(1));
    let (duration, warmup) = read_times(r);
    let (stop_when_complete, allow_loss) = read_ends(r);
    let net = r.table("network", "Nodes and links.", |r| network::read(r, base));
    let hosts = net.as_ref().map(|net| shape::of(&net.topology).hosts());
    let groups = r.named_values(&traffic::group_form(), |node| traffic::read_group(node, hosts));
    let switches =
        r.table("switch", "What switches do, by role.", |r| switch::read(r, net.as_ref())).flatten();
    let known = host::Known { hosts, groups: groups.as_deref() };
    let host_kinds = r.table("host", "What hosts do.", |r| host::read(r, known)).flatten();
    let doc = "Traffic classes, each a queue at every port; without any, ports have one queue.";
    let classes = r.named("class", doc, false, |r| class::read(r, switches.as_ref()));
    let classes = classes.map(|named| {
        named.into_iter().map(|(name, class)| TrafficClass { name, ..class }).collect::<Vec<_>>()
    });
    let transports = read_transports(r, net.as_ref(), classes.as_deref());
    let directory = hosts.zip(groups).map(|(hosts, groups)| Directory::new(hosts, groups, duration));
    let scene = Scene {
        directory: directory.as_ref(),
        network: net.as_ref(),
        fastest: net
            .as_ref()
            .map_or(Rate::from_gbps(1), |net| shape::host_rates(net).fastest().unwrap_or(*RATES.end())),
        transports: transports.as_deref(),
        base,
        seed,
    };
    let traffic = read_traffic(r, &scene);
    let measure_until = read_measure_until(r, [warmup, duration], traffic.as_deref());
    // A network that is too large for memory is not built to look its names up: the check at the end says so.
    let fits = |net: &&Network| fits(net, classes.as_ref().map_or(0, Vec::len));
    let names = net.as_ref().filter(fits).map(Names::of);
    let scene = node::Scene {
        names: names.as_ref(),
        network: net.as_ref(),
        classes: classes.as_deref(),
        transports: transports.as_deref(),
        duration,
    };
    let at_nodes = read_at_nodes(r, &scene);
    let record = read_record(r, (transports.as_deref(), classes.as_deref()), names.as_ref());
    drop(names);
    let (network, switches, transports, traffic) = (net?, switches?, transports?, traffic?);
    let (classes, record) = (classes?, record?);
    let AtNodes { probes, arbiters, routing, faults } = at_nodes?;
    let scenario = Scenario {
        name,
        seed,
        duration,
        warmup,
        measure_until,
        stop_when_complete,
        allow_loss,
        network,
        switches,
        hosts: host_kinds?,
        classes,
        transports,
        traffic,
        probes,
        arbiters,
        faults: faults.links,
        bypasses: faults.relays,
        outages: faults.outages,
        fault_tables: faults.tables,
        routing,
        record,
    };
    Some(scenario)
}

/// Reads who talks to whom: the traffic tables, and behind them the jobs. There is at least one.
fn read_traffic(r: &mut Section, scene: &Scene) -> Option<Vec<Traffic>> {
    let traffic = r.list("traffic", "Who talks to whom.", false, |r| traffic::read(r, scene));
    let doc = "Jobs: ranks on hosts that send, receive and compute, each operation when those that it waits for are done.";
    let jobs = r.list("job", doc, false, |r| job::read(r, scene));
    if !r.given("traffic") && !r.given("job") {
        r.report_missing("traffic", "at least one [[traffic]] or [[job]]".into());
        return None;
    }
    let mut tables = traffic?;
    tables.extend(job::place(jobs?, scene.seed));
    Some(tables)
}

/// Reads the transports, each with its name.
fn read_transports(
    r: &mut Section,
    network: Option<&Network>,
    classes: Option<&[TrafficClass]>,
) -> Option<Vec<Transport>> {
    let transports =
        r.named("transport", "The transports.", true, |r| transport::read(r, network, classes))?;
    Some(transports.into_iter().map(|(name, transport)| Transport { name, ..transport }).collect())
}

/// Reads what ends a run before its time: whether that it has nothing left to do, and not that a lossless class drops a
/// frame.
fn read_ends(r: &mut Section) -> (bool, bool) {
    let doc = "End as soon as every sized flow is complete, on a grid of 10 us.";
    let stop_when_complete = r.flag("stop_when_complete", doc, false);
    let doc = "Go on when a frame of a lossless class is dropped, rather than end with an error.";
    (stop_when_complete, r.flag("allow_loss", doc, false))
}

/// What tables say that speak of nodes by name.
struct AtNodes {
    probes: Vec<Probe>,
    arbiters: Option<Arbiters>,
    routing: Option<Routing>,
    faults: Faults,
}

/// Reads the tables that speak of nodes by name. `None` if anything is wrong in one.
fn read_at_nodes(r: &mut Section, scene: &node::Scene) -> Option<AtNodes> {
    let probes = r.list("probe", PROBES, false, |r| probe::read(r, scene));
    let doc = "Fastpass's arbiters; needed by transports with protocol = \"fastpass\".";
    let arbiters = r.optional_table("arbiter", doc, |r| arbiter::read(r, scene));
    let count = arbiters.as_ref().ok().map(|arbiters| arbiters.as_ref().map_or(0, |all| all.nodes.len()));
    let doc = "How switches route around links that are dead; without this table routes are fixed.";
    let routing = r.optional_table("routing", doc, routing::read);
    let known = fault::Scene { names: scene.names, arbiters: count, is_routed: r.given("routing") };
    let doc = "What goes wrong with links, switches, hosts, arbiters and relays.";
    let faults = r.list("fault", doc, false, |r| fault::read(r, &known));
    let faults = fault::split(faults?);
    let crashes = faults.arbiters.clone();
    let arbiters = arbiters.ok()?.map(|arbiters| Arbiters { crashes, ..arbiters });
    Some(AtNodes { probes: probes?, arbiters, routing: routing.ok()?, faults })
}

fn read_format(r: &mut Section) {
    let form = Form {
        name: "format",
        doc: "Version of this file's format.",
        required: true,
        otherwise: "format = 1",
        schema: json!({ "const": 1, "type": "integer", "x-unit": "integer", "x-min": 1, "x-max": 1 }),
    };
    r.parsed(&form, |node| match node.value {
        Value::Integer(1) => Ok(((), 1.into())),
        _ => Err(Misread::expected("1, the only format there is")),
    });
}

fn read_name(r: &mut Section) -> String {
    let form = Form {
        name: "name",
        doc: "What a person calls the experiment.",
        required: true,
        otherwise: "a line of text",
        schema: json!({ "type": "string", "minLength": 1, "maxLength": 200, "x-unit": "text" }),
    };
    let name = r.parsed(&form, |node| match &node.value {
        Value::Text(name) if is_title(name) => Ok((name.clone(), Json::from(name.clone()))),
        _ => Err(Misread::expected("a line of text, of at most 200 characters")),
    });
    name.unwrap_or_default()
}

fn is_title(name: &str) -> bool {
    !name.trim().is_empty() && name.chars().count() <= 200 && !name.chars().any(char::is_control)
}

fn read_times(r: &mut Section) -> (Span, Span) {
    let longest = Span::from_secs(1000);
    let duration = Key::new("duration", "When the run ends at the latest.", Span::from_ns(1)..=longest);
    let duration = r.get(&duration);
    let doc = "Left out of steady-state figures and shown apart; less than duration.";
    let warmup = r.get(&Key::new("warmup", doc, Span::ZERO..=longest).or(Span::ZERO));
    if r.sound() && warmup >= duration {
        let found = format!("found {}, not below duration, {}", warmup.shown(), duration.shown());
        r.conflict("warmup", format!("{found}: nothing is left to measure"));
    }
    (duration, warmup)
}

/// Reads when steady-state figures end: where that is not given, when all traffic has stopped, or else with the run.
fn read_measure_until(r: &mut Section, [warmup, duration]: [Span; 2], traffic: Option<&[Traffic]>) -> Span {
    let doc = "When steady-state figures end: after warmup, at most duration.";
    let key = Key::new("measure_until", doc, Span::from_ns(1)..=Span::from_secs(1000));
    let given = r.optional(&key, "the last stop where every [[traffic]] has one, else the end of the run");
    let Some(until) = given else {
        let within = |stop: &Span| warmup < *stop && *stop < duration;
        let until = last_stop(traffic.unwrap_or_default()).filter(within).unwrap_or(duration);
        r.settle("measure_until", until.shown().into());
        return until;
    };
    if r.sound() && !(until > warmup && until <= duration) {
        let (from, to) = (warmup.shown(), duration.shown());
        r.conflict(
            "measure_until",
            format!("found {}, expected more than warmup, {from}, and at most duration, {to}", until.shown()),
        );
    }
    until
}

/// Returns when the last traffic stops; `None` where some goes on until the run ends.
fn last_stop(traffic: &[Traffic]) -> Option<Span> {
    let stops: Option<Vec<Time>> = traffic.iter().map(|table| table.stop).collect();
    stops?.into_iter().max().map(|stop| stop.since(Time::ZERO))
}

/// Reads the table of what is sampled, where transports, classes and the names of nodes are known.
fn read_record(r: &mut Section, known: Known, names: Option<&Names>) -> Option<Record> {
    r.table("record", "What is sampled; nothing by default.", |r| read_samples(r, known, names)).flatten()
}

fn read_samples(r: &mut Section, known: Known, names: Option<&Names>) -> Option<Record> {
    let every = |name, doc| Key::new(name, doc, Span::from_ns(1)..=Span::from_secs(1000));
    let off = "not sampled";
    let operations = r.flag("operations", "A row for every operation.", false);
    let timeline = read_timeline(r);
    let doc = "Simulate each job once more, without anything beside it and without faults: its slowdown.";
    let alone = r.flag("alone", doc, false);
    let doc = "What each of some flows does over time: goodput, window, round-trip time, rate.";
    let flows = r.optional_table("flows", doc, |r| series::read(r, known));
    let packets = r.optional_table("packets", packets::DOC, |r| packets::read(r, names));
    let record = Record {
        packets: None,
        operations,
        timeline,
        alone,
        queues: r.optional(
            &every("queues", "Bytes waiting at every switch port at which anything ever waits."),
            off,
        ),
        windows: r.optional(&every("windows", "Every flow's windows."), off),
        rtt: r.optional(&every("rtt", "Mean and largest round-trip time of every transport."), off),
        links: r.optional(
            &every("links", "What every class sent and dropped at each switch port that ever does."),
            off,
        ),
        classes: r.optional(
            &every("classes", "Payload delivered, bytes sent and round-trip times of every class."),
            off,
        ),
        flows: None,
        replay: replay::read_replay(r),
        throughput: r.optional(&every("throughput", "Payload delivered by every transport."), off),
        fairness: r
            .get(&every("fairness", "Intervals over which Jain's index is taken.").or(Span::from_ms(10))),
    };
    Some(Record { flows: flows.ok()?.flatten(), packets: packets.ok()?.flatten(), ..record })
}

/// Reads of which ranks and iterations of jobs each operation is recorded.
fn read_timeline(r: &mut Section) -> Option<Timeline> {
    let asked = r.flag("timeline", "A row for every operation of jobs: when it started and ended.", false);
    let doc = "Iterations of each job that have a timeline, with timeline = true, from the first on.";
    let iterations = r.get(&Key::new("timeline_iterations", doc, 1u32..=1_000_000).or(1));
    let doc = "Ranks of each job that have a timeline, with timeline = true, from the first on.";
    let ranks = r.get(&Key::new("timeline_ranks", doc, 1u32..=1 << 20).or(64));
    asked.then_some(Timeline { iterations, ranks })
}
