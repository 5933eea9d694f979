//! `[transport.NAME]`: a protocol, its parameters, and what its frames weigh. Parameters, ranges and defaults are the
//! protocol's own.

use clearway_proto::transport::Scheme;
use clearway_proto::units::Bytes;

use super::class;
use super::key::Key;
use super::network::MAX_FRAME;
use super::parameters;
use super::reader::Section;
use crate::model::{for_each_scheme, Network, Protocol, Spray, TrafficClass, Transport};

const SPRAY: &str = "Which of the shortest paths packets take: all of a flow's one; each packet one of all at random, or in turn; one that \
                     was good again (REPS), or else the next one in turn that was not marked (mixed); one for packets that follow each other closely (flowlet); or at each switch the port \
                     that is soonest free (adaptive). Packets on several paths overtake each other.";
const SPRAYS: &[(&str, Spray)] = &[
    ("flow", Spray::Flow),
    ("packet", Spray::Packet),
    ("round_robin", Spray::RoundRobin),
    ("reps", Spray::Reps),
    ("mixed", Spray::Mixed),
    ("flowlet", Spray::Flowlet),
    ("adaptive", Spray::Adaptive),
];

const PATHS: &str =
    "Paths of a flow over which its packets are sprayed: each is one of the shortest, drawn when the flow begins, so that two may be \
     one (the entropy values of a multipath transport).";

/// Reads the keys of one scheme: its parameters, and what its data frames carry by default.
type Reader = fn(&mut Section) -> (Protocol, Bytes);

macro_rules! readers {
    ($($Kind:ident($Params:ty) = $name:literal, $what:literal;)*) => {
        /// The name and the reader of each scheme.
        pub(crate) const READERS: &[(&str, Reader)] =
            &[$(($name, |r| (Protocol::$Kind(parameters::read(r)), <$Params>::HEADER)),)*];
    };
}

for_each_scheme!(readers);

/// Reads one table; its name is for the caller to fill in.
pub(crate) fn read(
    r: &mut Section,
    network: Option<&Network>,
    classes: Option<&[TrafficClass]>,
) -> Transport {
    let read_keys = r.choice("protocol", Protocol::DOC, None, READERS);
    let (protocol, header) = read_keys(r);
    let weight = |name, doc| Key::new(name, doc, Bytes::new(0)..=Bytes::new(65_000));
    let header = weight("header", "What a data frame carries beside payload and framing.").or(header);
    let header = r.get(&header);
    let ack = weight("ack", "What an acknowledgement carries beside framing.").or_as(header, "header");
    let ack = r.get(&ack);
    let (class, ack_class) = class::read_names(r, classes);
    let (header, ack) = (header.get() as u32, ack.get() as u32);
    let spray = r.one_of("spray", SPRAY, Some("flow"), SPRAYS);
    let paths = r.optional(&Key::new("paths", PATHS, 1..=Spray::MOST_PATHS), "all shortest ones");
    let transport = Transport { name: String::new(), protocol, header, ack, class, ack_class, spray, paths };
    if let Some(network) = network {
        check_frames(r, &transport, network);
    }
    check_paths(r, &transport);
    transport
}

/// Only a sender that chooses paths itself can have drawn ones.
fn check_paths(r: &Section, transport: &Transport) {
    if !r.sound() || transport.paths.is_none() {
        return;
    }
    let reason = match (&transport.protocol, transport.spray) {
        (Protocol::Fastpass(_), _) => "the arbiter chooses among all paths",
        (_, Spray::Flow) => "all packets of a flow take one path: set spray as well",
        (_, Spray::Adaptive) => "switches choose among all paths",
        _ => return,
    };
    r.conflict("paths", reason);
}

fn check_frames(r: &Section, transport: &Transport, network: &Network) {
    let frame = network.mtu + transport.header + network.framing;
    if r.sound() && frame > MAX_FRAME {
        let message = format!("a full frame weighs {frame}B with mtu and framing; the most is {MAX_FRAME}B");
        r.conflict("header", message);
    }
    if r.sound() && transport.ack + network.framing == 0 {
        r.conflict("ack", "an acknowledgement would weigh nothing: framing is 0B too");
    }
}
