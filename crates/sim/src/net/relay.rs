//! Swing's relay as a node of the network: a switch of two ports of which another machine has the accounts, and which passes on
//! what its own switch says about them. See [`clearway_proto::swing::relay`].

use std::ops::Range;

use clearway_proto::pfc::headroom::LosslessLink;
use clearway_proto::swing::holding::Holding;
use clearway_proto::swing::plan::relay_buffer;
use clearway_proto::swing::relay::{Relay, RelayParams};
use clearway_proto::units::{Bytes, Time};

use super::pfc::NO_PORT;
use crate::model::{self, Safety, Xoff};

/// A relay, or what takes its place inside a switch.
#[derive(Debug)]
pub struct RelayNode {
    pub(super) machine: Relay,
    /// Ports L and R, by their numbers in the domain; inside a switch there is no port L.
    pub(super) ports: [u32; 2],
    /// When the next event for its timer comes, in picoseconds; 0: none is to come.
    pub(super) armed_at: u64,
    /// When a bypass is in its place, in picoseconds.
    outages: Vec<Range<u64>>,
    /// A bypass is in its place.
    pub(super) bypassed: bool,
    /// A bypass is in its place, or was.
    pub(super) has_failed: bool,
}

/// Returns the parameters of a relay at the end of this fibre; `headroom` is that of its port L, `None` inside a switch, where
/// there is no port L.
pub fn params(
    pfc: &model::Pfc,
    fibre: &LosslessLink,
    headroom: Option<Bytes>,
    priorities: usize,
) -> RelayParams {
    let relay = pfc.relay.unwrap_or_default();
    let (xoff, local_buffer) = match pfc.xoff {
        Xoff::Static(xoff) => (xoff, Bytes::new(xoff.get() + headroom.unwrap_or_default().get())),
        Xoff::Dynamic(_) => unreachable!("a relay has no shared memory"),
    };
    let holding = Holding::of(fibre);
    let mut params = RelayParams {
        rate: fibre.rate,
        priorities,
        xoff,
        xon: Bytes::new(xoff.get().saturating_sub(pfc.hysteresis.get())),
        local_buffer,
        remote_buffer: Bytes::new(0),
        quanta: pfc.quanta,
        round_trip: holding.window,
        overrun: holding.overrun,
        virtual_queue: relay.virtual_queue,
        ..RelayParams::default()
    };
    let least = params.least_safety();
    params.safety = relay.safety.map(|safety| match safety {
        Safety::Least => least,
        Safety::Bytes(bytes) => bytes,
    });
    let needed = match headroom {
        Some(_) => relay_buffer(fibre),
        // It lets the far end send no more than that.
        None => params.safety.unwrap_or(least),
    };
    params.remote_buffer = relay.buffer.unwrap_or(needed);
    params
}

impl RelayNode {
    /// A relay whose ports are to be connected.
    pub fn new(params: &RelayParams) -> RelayNode {
        let machine = Relay::new(params);
        let ports = [NO_PORT; 2];
        RelayNode { machine, ports, armed_at: 0, outages: Vec::new(), bypassed: false, has_failed: false }
    }

    /// Says when a bypass is in its place.
    #[must_use]
    pub fn failing_in(self, outages: impl Iterator<Item = Range<Time>>) -> RelayNode {
        let outages = outages.map(|outage| outage.start.as_ps()..outage.end.as_ps()).collect();
        RelayNode { outages, ..self }
    }

    /// Returns whether a bypass is to be in its place at this instant.
    pub(super) fn is_out(&self, now: u64) -> bool {
        self.outages.iter().any(|outage| outage.contains(&now))
    }
}
