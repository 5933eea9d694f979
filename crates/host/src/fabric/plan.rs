//! What a software network is to be, as `clearway testbed local --lossless` writes it: one JSON object.

use std::collections::BTreeSet;

use clearway_proto::pfc::frame::PRIORITIES;
use clearway_proto::units::RATES;
use serde::Deserialize;

use crate::daemon::output::Problem;

/// The version of plans that this program reads.
const VERSION: u32 = 1;
/// The longest delay of a link, in nanoseconds: ten seconds.
const LONGEST_DELAY: u64 = 10_000_000_000;
/// The longest name of a device, in bytes (`IFNAMSIZ`, less its end).
const LONGEST_NAME: usize = 15;

/// A software network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The version of this form.
    pub version: u32,
    /// The lossless priorities. A frame's priority is that of its DSCP, the upper three bits.
    pub priorities: Vec<u8>,
    /// The MTU of hosts and relays, in bytes.
    pub mtu: u16,
    /// The time between two samples, in nanoseconds.
    pub sample_every_ns: u64,
    /// The nodes; hosts are the first, and their place is their number.
    pub nodes: Vec<Node>,
    /// The directed links; link `2i + 1` leads back where link `2i` comes from.
    pub links: Vec<Link>,
    /// Links that are paused at random.
    #[serde(default)]
    pub storms: Vec<Storm>,
}

/// A node.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A host: its device is the network adapter, which obeys PAUSE.
    Host,
    /// A switch, inside this process.
    Switch,
    /// A relay: a box with two devices, which obeys PAUSE by itself.
    Relay,
}

/// One direction of a link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
    /// The rate, in bits a second.
    pub rate_bps: u64,
    /// The time from a bit's departure to its arrival, in nanoseconds.
    pub delay_ns: u64,
    /// What the sending node takes from a PAUSE to its last frame, in nanoseconds.
    #[serde(default)]
    pub response_ns: u64,
    /// The TAP device of the sending node, if that is a host or a relay.
    pub device: Option<String>,
    /// Flow control at the receiving node; none where it never pauses this link.
    pub pfc: Option<Pfc>,
    /// Room for frames of other priorities that wait for this link, in bytes.
    pub buffer: u64,
}

/// Flow control of what a link brings, for each lossless priority.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pfc {
    /// Above this the link is paused, in bytes on the wire.
    pub xoff: u64,
    /// The link goes on when the account is this far below XOFF.
    pub hysteresis: u64,
    /// Room for what comes after XOFF.
    pub headroom: u64,
    /// How long a PAUSE holds; it is repeated when half of that has passed.
    pub quanta: u16,
}

/// A link whose sending end is paused and let go at random, in every lossless priority.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storm {
    /// The link.
    pub link: usize,
    /// The time at which it begins, in nanoseconds from the network's start.
    pub from_ns: u64,
    /// The time at which it ends, in nanoseconds from the network's start.
    pub until_ns: u64,
    /// The seed of what is drawn.
    pub seed: u64,
}

impl Plan {
    /// Reads a plan. An error names the key.
    pub fn read(text: &str) -> Result<Plan, Problem> {
        let wrong = |message: String| Problem::new(message, "clearway testbed local --lossless writes it");
        let plan: Plan = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        plan.check().map_err(wrong)?;
        Ok(plan)
    }

    /// The number of hosts, which are the first nodes.
    pub fn hosts(&self) -> usize {
        self.nodes.iter().take_while(|node| node.kind == Kind::Host).count()
    }

    fn check(&self) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!("version: found {}, expected {VERSION}", self.version));
        }
        let different: BTreeSet<_> = self.priorities.iter().collect();
        let fits = self.priorities.iter().all(|priority| usize::from(*priority) < PRIORITIES);
        if !fits || different.len() != self.priorities.len() {
            return Err(format!(
                "priorities: found {:?}, expected different ones from 0 to 7",
                self.priorities
            ));
        }
        if self.sample_every_ns == 0 {
            return Err("sample_every_ns: found 0, expected more".into());
        }
        if self.nodes[self.hosts()..].iter().any(|node| node.kind == Kind::Host) {
            return Err("nodes: hosts stand before switches and relays".into());
        }
        if self.links.len() % 2 == 1 {
            return Err("links: one has no way back".into());
        }
        let mut devices = BTreeSet::new();
        for (number, link) in self.links.iter().enumerate() {
            self.check_link(number).map_err(|what| format!("links[{number}].{what}"))?;
            if link.device.as_ref().is_some_and(|device| !devices.insert(device)) {
                return Err(format!("links[{number}].device: another link has it"));
            }
        }
        match self.storms.iter().position(|storm| storm.link >= self.links.len()) {
            Some(number) => Err(format!("storms[{number}].link: there is no such link")),
            None => Ok(()),
        }
    }

    fn check_link(&self, number: usize) -> Result<(), String> {
        let (link, back) = (&self.links[number], &self.links[number ^ 1]);
        let is_known = |node: usize| node < self.nodes.len();
        if !is_known(link.from) || !is_known(link.to) || (link.from, link.to) != (back.to, back.from) {
            return Err("from, to: expected two nodes, and the next link the other way round".into());
        }
        let (least, most) = (RATES.start().as_bps(), RATES.end().as_bps());
        if !(least..=most).contains(&link.rate_bps) {
            return Err(format!("rate_bps: found {}, expected {least} to {most}", link.rate_bps));
        }
        if link.delay_ns > LONGEST_DELAY || link.response_ns > LONGEST_DELAY {
            return Err(format!("delay_ns, response_ns: at most {LONGEST_DELAY}"));
        }
        let is_switch = self.nodes[link.from].kind == Kind::Switch;
        let is_name = |name: &String| {
            (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        match &link.device {
            Some(_) if is_switch => Err("device: a switch has none".into()),
            None if !is_switch => Err("device: a host or a relay has one".into()),
            Some(name) if !is_name(name) => {
                Err(format!("device: found {name:?}, expected up to 15 letters and digits"))
            }
            _ if link.pfc.is_some_and(|pfc| pfc.quanta < 2) => Err("pfc.quanta: expected 2 or more".into()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
