//! What Fastpass's timeslots carry on the links of a network: said here for those who check a scenario, for the arbiter's
//! allocator, and for the queues of hosts.

use std::ops::Range;

use clearway_proto::fastpass::allocator::{Capacities, Carries, Node, PerSlot, Rack};
use clearway_proto::units::{Bytes, Rate, Span};

use crate::model::{Arbiters, Network, Protocol, Scenario};
use crate::topology::shape::{self, Uplinks};

/// Bytes on the wire of the smallest control packets, such as a request for one destination: the shortest frame.
pub const LEAST_BYTES: u64 = 84;

/// Returns about how many bytes an allocation of `slots` slots takes on the wire: 110 of 16, 230 of 64.
pub fn allocation_bytes(slots: f64) -> f64 {
    75.0 + 2.4 * slots
}

/// A network's links in timeslots.
pub struct SlottedLinks<'a> {
    network: &'a Network,
    slot: Span,
    /// The share of a link that is for what has no timeslot.
    control_share: f64,
    /// The longest frame that leaves in timeslots, on the wire.
    pub frame: Bytes,
    /// The rate of the slowest host's link, for which slots are made.
    pub rate: Rate,
}

/// Links that join some hosts to all others, and that may carry less than these hosts' own links.
pub struct Joint {
    /// The hosts.
    pub hosts: Range<u32>,
    /// What a person calls one of the links.
    pub name: String,
    /// The key that sets their rate.
    pub key: &'static str,
    /// The rate of each.
    pub rate: Rate,
    /// What they carry together.
    pub carries: Carries,
}

impl<'a> SlottedLinks<'a> {
    /// The links of a scenario; `None` if no transport's packets leave in timeslots.
    pub fn new(scenario: &'a Scenario, arbiters: &Arbiters) -> Option<SlottedLinks<'a>> {
        let network = &scenario.network;
        let slotted = scenario.transports.iter().filter(|of| matches!(of.protocol, Protocol::Fastpass(_)));
        let header = slotted.map(|transport| transport.header).max()?;
        Some(SlottedLinks {
            network,
            slot: arbiters.slot,
            control_share: arbiters.control_share,
            frame: Bytes::new((network.mtu + header + network.framing).into()),
            rate: shape::host_rates(network).slowest()?,
        })
    }

    /// Bytes on the wire that a link of this rate carries in a slot.
    pub fn room(&self, rate: Rate) -> u32 {
        let bits = u128::from(self.slot.as_ps()) * u128::from(rate.as_bps()) / 1_000_000_000_000;
        u32::try_from(bits / 8).unwrap_or(u32::MAX)
    }

    /// The time that a frame takes on the slowest host's link.
    pub fn frame_time(&self) -> Span {
        self.rate.transmission(self.frame)
    }

    /// The share of a host's link that slots leave to what has none, if each carries a frame.
    pub fn left(&self) -> f64 {
        1.0 - self.frame_time().as_ps() as f64 / self.slot.as_ps() as f64
    }

    /// Frames that a link of this rate carries in a slot: one, if it is as fast as the slowest host's and a frame fits. Of a long
    /// slot the share of control packets is left out.
    pub fn per_slot(&self, rate: Rate) -> PerSlot {
        let as_hosts = PerSlot::new(rate.as_bps(), self.rate.as_bps());
        let bits = rate.as_bps() as f64 * self.slot.as_secs_f64() * (1.0 - self.control_share);
        as_hosts.max(PerSlot::new(bits as u64, 8 * self.frame.get()))
    }

    /// The links of the network that join hosts to others, but for those that carry all that hosts may send by their shape.
    pub fn joints(&self) -> Vec<Joint> {
        let joint = |of: Uplinks| Joint {
            carries: Carries { links: of.links as u16, each: self.per_slot(of.rate) },
            hosts: of.hosts,
            name: of.name,
            key: of.key,
            rate: of.rate,
        };
        shape::of(&self.network.topology).uplinks().into_iter().map(joint).collect()
    }

    /// Returns what the links between racks carry; `None` where there are none to say it of. Some may limit only when others have
    /// failed.
    pub fn capacities(&self) -> Option<Capacities> {
        let joints = self.joints();
        let nodes = |(rack, joint): (usize, &Joint)| vec![Node::endpoint(rack); joint.hosts.len()];
        (!joints.is_empty()).then(|| Capacities {
            nodes: joints.iter().enumerate().flat_map(nodes).collect(),
            racks: joints.iter().map(|joint| Rack { up: joint.carries, down: joint.carries }).collect(),
        })
    }
}

impl Joint {
    /// Packets that these links carry in a slot with fewest, and in one with one more on each link.
    pub fn in_slots(&self) -> (f64, f64) {
        let (links, each) = (f64::from(self.carries.links), self.carries.each.as_f64());
        (links * each.floor(), links * (each.floor() + 1.0))
    }

    /// Packets a slot that the hosts can send over these links, if they are spread evenly over all slots.
    pub fn most(&self) -> f64 {
        (f64::from(self.carries.links) * self.carries.each.as_f64()).min(self.hosts.len() as f64)
    }

    /// Packets a slot that they are granted, on average: a host sends one in a slot at most, though links may carry more.
    pub fn granted(&self) -> f64 {
        let ((few, many), more) = (self.in_slots(), self.carries.each.as_f64().fract());
        let hosts = self.hosts.len() as f64;
        few.min(hosts) * (1.0 - more) + many.min(hosts) * more
    }
}
