//! What the node at the beginning of a link does with what comes over the way back: whom it pauses, and from when on.

use clearway_proto::pfc::account::{Threshold, Thresholds};
use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::swing::relay::Port as Side;
use clearway_proto::units::Bytes;

use crate::model::{Pfc, Scenario, SwitchKind, SwitchRole, Xoff};
use crate::net::scheduling::{only, ClassSet};
use crate::topology::Graph;

/// The flow control of a scenario's network.
#[derive(Clone, Copy)]
pub struct FlowControl<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// Its network.
    pub graph: &'a Graph,
    /// The longest frame that there is, on the wire.
    pub longest_frame: Bytes,
}

impl FlowControl<'_> {
    /// The role of the switch from which a link leads, or of that port of it; `None` for a host.
    pub fn role(&self, link: u32) -> Option<SwitchRole> {
        let link = self.graph.link(link);
        Some(self.graph.role(link.from)?.of_port(self.graph.role(link.to)))
    }

    /// The kind of the switch from which a link leads; `None` for a host.
    pub fn switch(&self, link: u32) -> Option<&SwitchKind> {
        self.role(link).map(|role| self.scenario.switches.of(role))
    }

    /// The side of a relay, a box or inside a switch, that feeds a link; `None` if no relay does.
    pub fn relay_side(&self, link: u32) -> Option<Side> {
        let to = self.graph.role(self.graph.link(link).to);
        match self.role(link)? {
            SwitchRole::Relay if to == Some(SwitchRole::Relay) => Some(Side::Remote),
            SwitchRole::Relay => Some(Side::Local),
            // Inside a switch there is no port L.
            role => self.scenario.switches.of(role).pfc.as_ref()?.relay.map(|_| Side::Remote),
        }
    }

    /// The flow control of the node from which a link leads; `None` where it pauses nobody over the way back.
    pub fn pfc(&self, link: u32) -> Option<&Pfc> {
        self.switch(link)?.pfc.as_ref()
    }

    /// When that flow control pauses the way back of a link.
    pub fn thresholds(&self, link: u32, pfc: &Pfc) -> Thresholds {
        let headroom = pfc.headroom.unwrap_or_else(|| self.lossless_link(link, pfc).headroom().any_sizes());
        let xoff = match pfc.xoff {
            Xoff::Static(bytes) => Threshold::Static(bytes.get()),
            Xoff::Dynamic(alpha) => Threshold::Dynamic(alpha),
        };
        Thresholds { xoff, hysteresis: pfc.hysteresis.get(), headroom: headroom.get() }
    }

    /// A link of which the end from which it leads keeps lossless classes lossless.
    pub fn lossless_link(&self, link: u32, pfc: &Pfc) -> LosslessLink {
        let of = self.graph.link(link);
        pfc.lossless_link((of.rate, of.delay), self.longest_frame, self.lossless().count_ones() as usize)
    }

    /// The lossless classes; the one class of a scenario without any.
    pub fn lossless(&self) -> ClassSet {
        let classes = &self.scenario.classes;
        if classes.is_empty() {
            return only(0);
        }
        (0..classes.len()).filter(|&class| classes[class].lossless).map(only).fold(0, |all, one| all | one)
    }
}
