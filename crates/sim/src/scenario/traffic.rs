//! `[[traffic]]`: who talks to whom, how much, and when.

use std::path::Path;

use clearway_proto::units::{Bytes, Rate, Span, Time};
use serde_json::{json, Value as Json};

use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::hosts::{self, Directory, HostSet};
use super::key::{Key, Quantity, Shown};
use super::reader::Section;
use super::{files, sizes, suggest, trace};
use crate::model::{Network, Pattern, Sizes, Traffic, Transport};
use crate::topology::shape;

/// The most packets of a flow: half of the sequence numbers.
pub(crate) const MAX_PACKETS: u128 = 1 << 31;

/// The longest start, stop or stagger.
pub(crate) const LONGEST: Span = Span::from_secs(1000);

/// What the traffic tables refer to. Parts that are wrong in the file are missing here; what depends on them is
/// then not checked.
pub(crate) struct Scene<'a> {
    /// Hosts and groups.
    pub(crate) directory: Option<&'a Directory>,
    /// The network.
    pub(crate) network: Option<&'a Network>,
    /// The fastest link of any host.
    pub(crate) fastest: Rate,
    /// The transports, in the file's order.
    pub(crate) transports: Option<&'a [Transport]>,
    /// The directory in which files are looked for.
    pub(crate) base: &'a Path,
    /// The seed of what is drawn.
    pub(crate) seed: u64,
}

#[derive(Clone, Copy)]
enum Kind {
    Incast,
    Permutation,
    AllToAll,
    Poisson,
    ClosedLoop,
    OpenLoop,
    Trace,
}

const KINDS: &[(&str, Kind)] = &[
    ("incast", Kind::Incast),
    ("permutation", Kind::Permutation),
    ("all_to_all", Kind::AllToAll),
    ("poisson", Kind::Poisson),
    ("closed_loop", Kind::ClosedLoop),
    ("open_loop", Kind::OpenLoop),
    ("trace", Kind::Trace),
];

/// Reads one table.
pub(crate) fn read(r: &mut Section, scene: &Scene) -> Traffic {
    let kind = r.choice("pattern", "Who talks to whom.", None, KINDS);
    let transport = read_transport(r, scene);
    let start = read_start(r, scene);
    let doc = "Flow i of the table (Poisson: sender i; open loop: initiator i) starts i times this later.";
    let stagger = r.get(&Key::new("stagger", doc, Span::ZERO..=LONGEST).or(Span::ZERO));
    let stop =
        Key::new("stop", "When flows stop offering data, and no new ones start.", Span::from_ps(1)..=LONGEST);
    let stop = r.optional(&stop, "the end of the run").map(|stop| Time::from_ps(stop.as_ps()));
    if r.sound() && stop.is_some_and(|stop| stop <= start.1) {
        r.conflict("stop", format!("stops before the last flow starts, at {}", spelled(start.1)));
    }
    let mut reader = PatternReader { scene, transport, active: active(scene, start.0, stop) };
    let pattern = match kind {
        Kind::Incast => reader.incast(r),
        Kind::Permutation => reader.permutation(r),
        Kind::AllToAll => reader.all_to_all(r),
        Kind::Poisson => reader.poisson(r),
        Kind::ClosedLoop => reader.closed_loop(r),
        Kind::OpenLoop => reader.open_loop(r),
        Kind::Trace => reader.trace(r),
    };
    Traffic { pattern, transport: transport.unwrap_or(0), start, stagger, stop }
}

fn spelled(time: Time) -> String {
    time.since(Time::ZERO).shown()
}

/// Returns how long the earliest flow of a table may send.
fn active(scene: &Scene, start: Time, stop: Option<Time>) -> Option<Span> {
    let end = Time::ZERO + scene.directory?.duration;
    Some(stop.map_or(end, |stop| stop.min(end)).since(start))
}

/// Reads the key `transport`: the index of the one of that name. Where transports themselves are wrong there are none, and no
/// further problem is noted.
pub(super) fn transport_named(
    r: &mut Section,
    doc: &'static str,
    otherwise: &'static str,
    transports: Option<&[Transport]>,
) -> Option<usize> {
    let schema = json!({ "type": "string", "minLength": 1, "x-unit": "name" });
    let form = Form { name: "transport", doc, required: false, otherwise, schema };
    let names = || transports.unwrap_or_default().iter().map(|transport| transport.name.as_str());
    r.parsed(&form, |node| {
        let Value::Text(name) = &node.value else { return Err(Misread::expected("a transport's name")) };
        let index = names().position(|other| other == name);
        match index.or(transports.is_none().then_some(0)) {
            Some(index) => Ok((index, name.clone().into())),
            None => Err(Misread::Expected(one_of(transports), suggest::nearest(name, names()))),
        }
    })
}

/// Says which transports there are.
fn one_of(transports: Option<&[Transport]>) -> String {
    let names: Vec<&str> = transports.unwrap_or_default().iter().map(|each| each.name.as_str()).collect();
    format!("one of {}", names.join(", "))
}

/// Reads the transport of a table: the only one where there is one.
pub(crate) fn read_transport(r: &mut Section, scene: &Scene) -> Option<usize> {
    let doc = "NAME of the [transport.NAME] that carries it.";
    let index = transport_named(r, doc, "the only transport, if there is one", scene.transports);
    if index.is_some() || r.given("transport") {
        return index;
    }
    let [only] = scene.transports? else {
        r.report_missing("transport", one_of(scene.transports));
        return None;
    };
    r.settle("transport", only.name.clone().into());
    Some(0)
}

fn read_start(r: &mut Section, scene: &Scene) -> (Time, Time) {
    const WANTED: &str = "a time or a range of times, such as \"10us\" or \"0us..100us\"";
    let time = "[0-9]+(\\.[0-9]+)?(ps|ns|us|ms|s)";
    let form = Form {
        name: "start",
        doc: "When flows start: at this time, or each at a time drawn uniformly from this range. Poisson: each sender; \
              open loop: each initiator; trace: from when its times count.",
        required: false,
        otherwise: "0us",
        schema: json!({ "type": "string", "pattern": format!("^{time}(\\.\\.{time})?$"), "x-unit": "times" }),
    };
    let one = |text: &str| match Span::read(&Value::Text(text.into()))? {
        Some(span) if span <= LONGEST => Ok(span),
        _ => Err(Misread::expected(format!("a time from 0ps to {}", LONGEST.shown()))),
    };
    let range = r.parsed(&form, |node| {
        let Value::Text(text) = &node.value else { return Err(Misread::expected(WANTED)) };
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let (first, last) = (one(first)?, one(last)?);
        if first > last {
            return Err(Misread::Says(format!("found {text}, a range that ends before it begins")));
        }
        let spelled =
            if first == last { first.shown() } else { format!("{}..{}", first.shown(), last.shown()) };
        Ok(((first, last), spelled.into()))
    });
    if range.is_none() {
        r.settle("start", Span::ZERO.json());
    }
    let (first, last) = range.unwrap_or_default();
    if let Some(directory) = scene.directory.filter(|directory| r.sound() && first >= directory.duration) {
        r.conflict(
            "start",
            format!("found {}, but the run ends at {}", first.shown(), directory.duration.shown()),
        );
    }
    (Time::from_ps(first.as_ps()), Time::from_ps(last.as_ps()))
}

/// Reads the keys of one pattern.
pub(crate) struct PatternReader<'a> {
    scene: &'a Scene<'a>,
    transport: Option<usize>,
    active: Option<Span>,
}

impl<'a> PatternReader<'a> {
    /// A reader of the keys of a table that has this transport.
    pub(crate) fn new(scene: &'a Scene<'a>, transport: Option<usize>) -> PatternReader<'a> {
        PatternReader { scene, transport, active: None }
    }
}

impl PatternReader<'_> {
    fn incast(&mut self, r: &mut Section) -> Pattern {
        let to = self.set(r, "to", "The one receiver.", Some("host"), None);
        let only = to.as_ref().and_then(HostSet::only);
        if let Some(set) = to.as_ref().filter(|set| r.sound() && set.only().is_none()) {
            r.conflict("to", format!("found {} hosts, expected one", set.len()));
        }
        let to = only.unwrap_or(0);
        let words = "every host but to";
        let from = self.set(r, "from", "Senders.", None, Some((words, &|all| all.without(to))));
        if from.as_ref().is_some_and(|from| r.sound() && from.contains(to)) {
            r.conflict("from", format!("the receiver, host {to}, is among the senders"));
        }
        let (flows_per_pair, bytes) = (flows_per_pair(r), self.bytes(r));
        Pattern::Incast { from: self.list(r, "from", from), to, flows_per_pair, bytes }
    }

    fn permutation(&mut self, r: &mut Section) -> Pattern {
        let hosts = self.peers(r);
        let (flows_per_pair, bytes) = (flows_per_pair(r), self.bytes(r));
        Pattern::Permutation { hosts: self.list(r, "hosts", hosts), flows_per_pair, bytes }
    }

    fn all_to_all(&mut self, r: &mut Section) -> Pattern {
        let hosts = self.peers(r);
        let (flows_per_pair, bytes) = (flows_per_pair(r), self.bytes(r));
        Pattern::AllToAll { hosts: self.list(r, "hosts", hosts), flows_per_pair, bytes }
    }

    fn poisson(&mut self, r: &mut Section) -> Pattern {
        let all: Default = ("every host", &HostSet::clone);
        let from = self.set(r, "from", "Senders.", None, Some(all));
        let to =
            self.set(r, "to", "Receivers, drawn uniformly; a sender never draws itself.", None, Some(all));
        let doc = "Payload that each sender offers, as a fraction of its link's rate.";
        let load = r.get(&Key::new("load", doc, 0.001..=10.0));
        let form = Form {
            name: "sizes",
            doc: "Flow sizes: a built-in distribution, fixed:SIZE, exponential:SIZE, or a file with a size in bytes and \
                  the percentage of flows not larger in each line.",
            required: true,
            otherwise: "websearch, fb_hadoop, ali_storage, google_rpc, fixed:SIZE, exponential:SIZE or a file",
            schema: sizes::schema(),
        };
        let drawn = r.parsed(&form, |node| sizes::parse(node, self.scene.base));
        if let Some(sizes) = &drawn {
            self.check_size(r, "sizes", sizes.largest());
        }
        if let (true, Some(from), Some(to)) = (r.sound(), &from, &to) {
            // Only a lone receiver can leave a sender without one.
            if to.only().is_some_and(|to| from.contains(to)) {
                r.conflict("to", "the only receiver is a sender too and would have to send to itself");
            }
        }
        let sizes = drawn.unwrap_or(Sizes::Fixed(Bytes::new(1)));
        Pattern::Poisson { from: self.list(r, "from", from), to: self.list(r, "to", to), load, sizes }
    }

    fn trace(&mut self, r: &mut Section) -> Pattern {
        let form = Form {
            name: "file",
            doc:
                "CSV file with the header start,from,to,bytes and units in its values, such as 10us,0,3,64kB.",
            required: true,
            otherwise: "a path relative to this file",
            schema: files::schema(),
        };
        let limits = self.limits();
        let flows = r.parsed(&form, |node| {
            let name = files::name(node)?;
            let text = files::read(self.scene.base, &name)?;
            let flows = trace::read(&text, &files::shown(self.scene.base, &name), limits.as_ref())?;
            Ok((flows, name.into()))
        });
        Pattern::Trace { flows: flows.unwrap_or_default() }
    }

    fn limits(&self) -> Option<trace::Limits> {
        let (directory, network) = (self.scene.directory?, self.scene.network?);
        let bytes = MAX_PACKETS * u128::from(network.mtu);
        Some(trace::Limits { hosts: directory.hosts, bytes: bytes as u64 })
    }

    /// Reads the hosts of a pattern in which all hosts are alike.
    fn peers(&mut self, r: &mut Section) -> Option<HostSet> {
        let set = self.set(r, "hosts", "At least two.", None, Some(("every host", &HostSet::clone)));
        if let Some(set) = set.as_ref().filter(|set| r.sound() && set.len() < 2) {
            r.conflict("hosts", format!("found {} host, expected at least two", set.len()));
        }
        set
    }

    /// Reads a set of hosts; `default` makes one out of all hosts. None where the network is not known.
    pub(crate) fn set(
        &self,
        r: &mut Section,
        name: &'static str,
        doc: &'static str,
        unit: Option<&str>,
        default: Option<Default>,
    ) -> Option<HostSet> {
        let form = Form {
            name,
            doc,
            required: default.is_none(),
            otherwise: default.map_or("hosts, such as 7, \"0..50\" or a group's name", |(words, _)| words),
            schema: hosts::schema(unit.unwrap_or("hosts")),
        };
        let directory = self.scene.directory;
        let groups = directory.map_or([].as_slice(), |directory| &directory.groups);
        let set =
            r.parsed(&form, |node| hosts::parse(node, directory.map(|directory| directory.hosts), groups));
        let directory = directory?;
        if set.is_some() || r.given(name) {
            return set;
        }
        let set = default?.1(&HostSet::all(directory.hosts));
        r.settle(name, set.json());
        Some(set)
    }

    /// The hosts of a set one by one, once all that can be said of the set itself has been noted.
    pub(crate) fn list(&self, r: &Section, name: &str, set: Option<HostSet>) -> Vec<u32> {
        let (true, Some(set), Some(directory)) = (r.sound(), set, self.scene.directory) else {
            return Vec::new();
        };
        directory.list(&set).unwrap_or_else(|| {
            r.conflict(
                name,
                "the hosts of all traffic tables together are too many to list; use fewer tables",
            );
            Vec::new()
        })
    }

    fn bytes(&self, r: &mut Section) -> Option<Bytes> {
        let bytes = r.optional(&bytes_key("The size of each flow."), "without end");
        match bytes {
            Some(bytes) => self.check_size(r, "bytes", bytes.get()),
            None => self.check_endless(r, "bytes", None),
        }
        bytes
    }

    pub(crate) fn check_size(&self, r: &Section, name: &str, bytes: u64) {
        let Some(network) = self.scene.network.filter(|_| r.sound()) else { return };
        let packets = bytes.div_ceil(u64::from(network.mtu));
        if u128::from(packets) > MAX_PACKETS {
            let message = format!("makes flows of {packets} packets; the most is 2^31, {MAX_PACKETS}");
            r.conflict(name, message);
        }
    }

    /// Limits what a flow that only the clock ends can send at line rate; where `messages` are given, in messages of
    /// that size, and that number of them a round trip.
    pub(crate) fn check_endless(&self, r: &Section, name: &str, messages: Option<(Bytes, u32)>) {
        let (true, Some(active), Some(network)) = (r.sound(), self.active, self.scene.network) else {
            return;
        };
        let header = self.transport.zip(self.scene.transports).map_or(0, |(i, all)| all[i].header);
        let overhead = u128::from(header + network.framing);
        let mtu = u128::from(network.mtu);
        let payload = messages.map_or(mtu, |(bytes, _)| u128::from(bytes.get()));
        let frames = payload.div_ceil(mtu);
        let wire_bits = (payload + frames * overhead) * 8;
        let bits = u128::from(self.scene.fastest.as_bps()) * u128::from(active.as_ps()) / 1_000_000_000_000;
        let mut packets = bits * frames / wire_bits;
        if let Some((_, outstanding)) = messages {
            // No message is acknowledged before it has crossed two links each way.
            let round_trip = u128::from(shape::least_delay(network).as_ps()) * 4;
            let trips = u128::from(active.as_ps()) / round_trip + 1;
            packets = packets.min(trips * u128::from(outstanding) * frames);
        }
        if packets > MAX_PACKETS {
            let message = format!(
                "a flow could send {packets} packets at line rate before it ends; the most is 2^31: shorten \
                 duration, or give {name} or stop"
            );
            r.conflict(name, message);
        }
    }
}

/// What a set of hosts is when it is not given: in words, and made out of all hosts.
pub(crate) type Default<'a> = (&'static str, &'a dyn Fn(&HostSet) -> HostSet);

pub(crate) fn flows_per_pair(r: &mut Section) -> u32 {
    r.get(&Key::new("flows_per_pair", "Flows of each pair of hosts.", 1u32..=1_000_000_000).or(1))
}

pub(crate) fn bytes_key(doc: &'static str) -> Key<Bytes> {
    Key::new("bytes", doc, Bytes::new(1)..=Bytes::new(1_000_000_000_000_000))
}

/// The schema of a group, and its value.
pub(crate) fn group_form() -> Form {
    Form {
        name: "groups",
        doc: "Names for hosts, to be used in from, to and hosts of traffic.",
        required: false,
        otherwise: "none",
        schema: hosts::schema("hosts"),
    }
}

/// Reads a group. Groups do not refer to groups.
pub(crate) fn read_group(node: &Node, hosts: Option<u32>) -> Result<(HostSet, Json), Misread> {
    hosts::parse(node, hosts, &[])
}
