//! `[network]`: shape, speed and length of the links, and what a frame weighs.

use std::path::Path;

use clearway_proto::units::{Bytes, Rate, Span};

use super::files;
use super::form::Form;
use super::key::Key;
use super::link::{delay_key, rate_key};
use super::reader::Section;
use super::shape::MAX_HOSTS;
use super::topology_file;
use crate::model::{Network, Topology};
use crate::topology::shape;

/// The most two-way links of a network.
const MAX_LINKS: f64 = 1e7;

/// The largest rate of the uplinks of a leaf-spine, which may stand for many links.
const MAX_UPLINK_BPS: f64 = 1e15;

/// What light takes for a kilometre of fibre.
const A_KM: Span = Span::from_us(5);

/// The longest frame, in bytes with framing: 17 bits.
pub(crate) const MAX_FRAME: u32 = 131_071;

#[derive(Clone, Copy)]
enum Shape {
    Star,
    Dumbbell,
    LeafSpine,
    FatTree,
    Datacenters,
    File,
}

const SHAPES: &[(&str, Shape)] = &[
    ("star", Shape::Star),
    ("dumbbell", Shape::Dumbbell),
    ("leaf_spine", Shape::LeafSpine),
    ("fat_tree", Shape::FatTree),
    ("datacenters", Shape::Datacenters),
    ("file", Shape::File),
];

/// Reads the table; paths in it are relative to `base`.
pub(crate) fn read(r: &mut Section, base: &Path) -> Network {
    let shape = r.choice("topology", "The shape of the network.", None, SHAPES);
    let rate = r.get(&rate_key("rate", "The rate of every link.").or(Rate::from_gbps(100)));
    let delay = r.get(&delay_key("delay", "The delay of every link, one way.").or(Span::from_us(1)));
    let mtu = Key::new("mtu", "Largest payload of a frame.", Bytes::new(1)..=Bytes::new(65_000));
    let doc = "What a frame takes on the wire beyond payload and header. On Ethernet preamble 8B, header 14B, frame check \
         sequence 4B and gap 12B.";
    let framing = Key::new("framing", doc, Bytes::new(0)..=Bytes::new(1_000));
    let mtu = r.get(&mtu.or(Bytes::new(4_096))).get() as u32;
    let framing = r.get(&framing.or(Bytes::new(38))).get() as u32;
    let topology = match shape {
        Shape::Star => Topology::Star { hosts: r.get(&count("hosts", "Hosts around the switch.", 2)) },
        Shape::Dumbbell => read_dumbbell(r, rate, delay),
        Shape::LeafSpine => read_leaf_spine(r, rate),
        Shape::FatTree => read_fat_tree(r),
        Shape::Datacenters => read_datacenters(r, rate),
        Shape::File => read_file(r, base, rate, delay),
    };
    // Only hosts that are few enough can be counted.
    let links = if r.sound() { shape::of(&topology).links() } else { 0.0 };
    if links > MAX_LINKS {
        r.conflict("topology", format!("has {links:.0} links; a network has at most {MAX_LINKS:.0}"));
    }
    Network { topology, rate, delay, mtu, framing }
}

fn count(name: &'static str, doc: &'static str, least: u32) -> Key<u32> {
    Key::new(name, doc, least..=MAX_HOSTS)
}

fn read_dumbbell(r: &mut Section, rate: Rate, delay: Span) -> Topology {
    let left = r.get(&count("left", "Hosts on the left, numbered first.", 1));
    let right = r.get(&count("right", "Hosts on the right.", 1));
    let bottleneck = rate_key("bottleneck", "Rate of the link between the two switches.");
    let bottleneck = r.get(&bottleneck.or_as(rate, "rate"));
    let between = delay_key("bottleneck_delay", "Delay of the link between the two switches, one way.");
    let bottleneck_delay = r.get(&between.or_as(delay, "delay"));
    limit_hosts(r, "left", u64::from(left) + u64::from(right));
    Topology::Dumbbell { left, right, bottleneck, bottleneck_delay }
}

fn read_leaf_spine(r: &mut Section, rate: Rate) -> Topology {
    let leaves = r.get(&count("leaves", "Switches that join hosts.", 1));
    let spines = r.get(&count("spines", "Switches that join leaves.", 1));
    let hosts_per_leaf = r.get(&count("hosts_per_leaf", "Hosts under each leaf.", 1));
    let doc = "Rate of a leaf's hosts together over that of its uplinks together.";
    let over = Key::new("oversubscription", doc, 0.1..=100.0);
    let over = r.get(&over.or(1.0));
    limit_hosts(r, "hosts_per_leaf", u64::from(leaves) * u64::from(hosts_per_leaf));
    let down = u128::from(hosts_per_leaf) * u128::from(rate.as_bps());
    let uplink = (down as f64 / (f64::from(spines) * over)).round();
    if r.sound() && !(1.0..=MAX_UPLINK_BPS).contains(&uplink) {
        let message = format!("makes uplinks of {uplink} bit/s; the rate of a link is from 1bps to 1000Tbps");
        r.conflict(if r.given("oversubscription") { "oversubscription" } else { "spines" }, message);
    }
    let uplink = Rate::from_bps(uplink.clamp(1.0, MAX_UPLINK_BPS) as u64);
    Topology::LeafSpine { leaves, spines, hosts_per_leaf, uplink }
}

fn limit_hosts(r: &Section, name: &str, hosts: u64) {
    if r.sound() && !(2..=u64::from(MAX_HOSTS)).contains(&hosts) {
        r.conflict(name, format!("makes {hosts} hosts; a network has from 2 to {MAX_HOSTS}"));
    }
}

fn read_fat_tree(r: &mut Section) -> Topology {
    let k = Key::new("k", "Ports of every switch, an even number; there are k^3/4 hosts.", 2u32..=64);
    let k = r.get(&k);
    if r.sound() && k % 2 == 1 {
        r.conflict("k", format!("found {k}, expected an even number"));
    }
    Topology::FatTree { k }
}

fn read_datacenters(r: &mut Section, rate: Rate) -> Topology {
    let Topology::FatTree { k } = read_fat_tree(r) else { unreachable!("a fat tree is read") };
    let count = r.get(&Key::new("datacenters", "Fat trees in a line, each of k^3/4 hosts.", 2..=16u32).or(2));
    let long_rate = rate_key("long_rate", "Rate of the links between datacenters.");
    let long_rate = r.get(&long_rate.or_as(rate, "rate"));
    let doc = "Length in kilometres of the links between datacenters; light takes 5 us for one.";
    let long_km = Key::new("long_km", doc, 0.001..=20_000.0);
    let long_km = r.get(&long_km);
    let doc = "What the transponders at both ends of such a link add to its delay, one way.";
    let transponders = Key::new("transponder_delay", doc, Span::ZERO..=Span::from_ms(100));
    let transponders = r.get(&transponders.or(Span::ZERO));
    limit_hosts(r, "datacenters", u64::from(count) * u64::from(k).pow(3) / 4);
    let doc = "Whether a relay stands at each end of such a link, with a link of the network's delay to its switch.";
    let relays = r.flag("relays", doc, false);
    Topology::Datacenters { count, k, long_rate, long_delay: A_KM.scaled(long_km) + transponders, relays }
}

fn read_file(r: &mut Section, base: &Path, rate: Rate, delay: Span) -> Topology {
    let form = Form {
        name: "file",
        doc: "TOML file of [[node]] (name, role) and [[link]] (ends, rate, delay), beside this file.",
        required: true,
        otherwise: "a path relative to this file",
        schema: files::schema(),
    };
    let listed = r.parsed(&form, |node| {
        let name = files::name(node)?;
        let text = files::read(base, &name)?;
        Ok((topology_file::read(&text, &files::shown(base, &name), rate, delay)?, name.into()))
    });
    let (nodes, links) = listed.unwrap_or_default();
    Topology::Listed { nodes, links }
}
