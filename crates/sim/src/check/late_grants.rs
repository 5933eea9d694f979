//! How long a grant of a timeslot is under way, and how long before the slot the arbiter decides on it.

use std::collections::BTreeSet;
use std::fmt;

use clearway_proto::fastpass::endpoint::SendMode;
use clearway_proto::fastpass::endpoint_parameters::EndpointSettings;
use clearway_proto::units::{Bytes, Span};

use super::empty_path::{pairs_of, us};
use crate::model::{Arbiters, Protocol, Scenario};
use crate::net::timeslots::allocation_bytes;
use crate::topology::routing::path_between;
use crate::topology::Graph;

/// Grants that reach a host when the slot that they are for has begun, on an empty path.
pub(super) struct LateGrants<'a> {
    arbiters: &'a Arbiters,
    /// The host that they reach last.
    host: u32,
    /// The time that the arbiter takes once it has decided.
    arbiter: Span,
    /// The time on the way to the host.
    way: Span,
    /// The grants that endpoints take: at most `late` after their slot, and at most `early` before it.
    late: Span,
    early: Span,
}

/// The grants that are late to the host farthest from the first arbiter, if endpoints go by the age of grants.
pub(super) fn late_grants<'a>(scenario: &Scenario, arbiters: &'a Arbiters) -> Option<LateGrants<'a>> {
    let (transport, endpoint) = (0..).zip(&scenario.transports).find_map(|(i, of)| match &of.protocol {
        Protocol::Fastpass(params) => Some((i, &params.endpoint)),
        _ => None,
    })?;
    if !endpoint.age_check || endpoint.send == SendMode::OnArrival {
        return None;
    }
    let (host, way) = farthest(scenario, arbiters, transport)?;
    let slots = |count: u32| arbiters.slot * u64::from(count);
    let late = LateGrants {
        arbiters,
        host,
        arbiter: arbiters.times.slot_service * u64::from(arbiters.batch)
            + arbiters.times.allocation_service
            + arbiters.times.latency,
        way,
        late: endpoint.late.max(slots(EndpointSettings::LATE_SLOTS)),
        early: endpoint.early.max(slots(EndpointSettings::EARLY_SLOTS)),
    };
    (late.by() > Span::ZERO).then_some(late)
}

/// The host that sends in slots to which an allocation of a whole batch takes longest, and how long: one host of each switch is
/// asked.
fn farthest(scenario: &Scenario, arbiters: &Arbiters, transport: usize) -> Option<(u32, Span)> {
    let graph = Graph::build(&scenario.network);
    let arbiter = *arbiters.nodes.first()?;
    let bytes = Bytes::new(allocation_bytes(arbiters.batch.into()) as u64);
    let mut seen = BTreeSet::new();
    let mut path = Vec::new();
    let hosts = pairs_of(scenario, transport).map(|(from, _)| from);
    let asked = hosts.filter(|&host| host != arbiter && seen.insert(graph.switch_of(host)));
    let times = asked.filter_map(|host| {
        if !path_between(&graph, arbiter, host, 0, &mut path) {
            return None;
        }
        let of = |&link: &u32| graph.link(link).rate.transmission(bytes) + graph.link(link).delay;
        Some((host, path.iter().map(of).fold(Span::ZERO, |sum, span| sum + span)))
    });
    times.max_by_key(|(_, time)| *time)
}

impl LateGrants<'_> {
    /// Returns how long before its first slot a batch is allocated.
    fn ahead(&self) -> Span {
        self.arbiters.slot * u64::from(self.arbiters.ahead)
    }

    /// Returns how long after the beginning of a batch's first slot its grants come.
    fn by(&self) -> Span {
        (self.arbiter + self.way).saturating_sub(self.ahead())
    }

    /// Returns how many slots of a batch are refused, as their grants are older than endpoints take.
    fn refused(&self) -> u64 {
        self.refused_after(self.arbiter + self.way)
    }

    /// Returns how many slots are refused if their grants come `taken` after the arbiter has decided.
    fn refused_after(&self, taken: Span) -> u64 {
        let too_old = taken.saturating_sub(self.ahead() + self.late).as_ps();
        too_old.div_ceil(self.arbiters.slot.as_ps()).min(self.arbiters.batch.into())
    }

    /// Returns whether the way alone is so long that the host takes no grant at all.
    pub(super) fn never_arrive(&self) -> bool {
        self.refused_after(self.way) == u64::from(self.arbiters.batch)
    }
}

impl fmt::Display for LateGrants<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Arbiters { slot, batch, ahead, .. } = self.arbiters;
        let (refused, taken) = (self.refused(), self.arbiter + self.way);
        write!(
            f,
            "a batch is allocated {ahead} slots or {} before its first one, and a grant reaches host {} after {} (arbiter {} + way \
             {}), {} late: ",
            us(self.ahead()),
            self.host,
            us(taken),
            us(self.arbiter),
            us(self.way),
            us(self.by()),
        )?;
        let late = us(self.late);
        f.write_str(&match refused {
            0 => "packets leave when the slots are over, several together, and queue".into(),
            _ if refused == u64::from(*batch) => {
                format!("endpoints refuse what is more than {late} old, and that is every grant")
            }
            _ => {
                format!("endpoints refuse what is more than {late} old, of {batch} slots {refused} or more")
            }
        })?;
        let needed = taken.as_ps().div_ceil(slot.as_ps());
        write!(f, "; raise ahead to {needed} or more")?;
        let furthest = *slot * (needed + u64::from(*batch));
        if furthest > self.early {
            write!(f, ", and early of the transport to {}", us(furthest))?;
        }
        Ok(())
    }
}
