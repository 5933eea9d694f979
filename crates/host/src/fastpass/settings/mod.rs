//! The file of a deployment, which its arbiters and endpoints all read: the network and the timing of its slots in a scenario's
//! words, and who is where.

mod hosts;
mod network;
mod timing;

use std::path::Path;

use clearway_proto::fastpass::allocator::AllocatorParams;
use clearway_proto::fastpass::arbiter::{Arbiter, ArbiterParams, Pacer};
use clearway_proto::fastpass::endpoint_parameters::EndpointSettings;
use clearway_proto::fastpass::fcp::Address;
use clearway_proto::fastpass::timeslots::Timeslots;
use clearway_proto::parameter::{Parameter, ParameterReader, Parameters};
use clearway_proto::units::{Rate, Span};
use serde::{Deserialize, Serialize};

use super::reach::{Place, Reach};
use crate::daemon::output::Problem;
use crate::daemon::table::{document, read_file, Table};
pub use hosts::Host;
use hosts::{check, read_hosts};
pub use network::{Network, Shape};
use timing::{endpoint_defaults, isolator_params, MODES};
pub use timing::{endpoint_params, ArbiterSettings, Mode};

/// The most arbiters.
const MOST_ARBITERS: usize = 8;

/// A deployment.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployment {
    /// The network.
    pub network: Network,
    /// The settings of the allocation.
    pub arbiter: ArbiterSettings,
    /// The arbiters' places, in the order of their ranks.
    pub arbiters: Vec<Host>,
    /// The mode in which endpoints follow their grants.
    pub mode: Mode,
    /// The timing of endpoints.
    pub endpoint: EndpointSettings,
    /// The settings of an endpoint's carriage.
    pub carriage: CarriageWords,
    /// The endpoints, by their addresses.
    pub endpoints: Vec<Place>,
}

/// The words of `[endpoint]` that are about a host and not about FCP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriageWords {
    /// The name of the TUN device; mode `slots`.
    pub tun: String,
    /// The UDP port of encapsulated packets, and the first of the ports that they leave from, one for each path; mode `slots`.
    pub port: u16,
    /// The part of each slot that is left empty, on top of what clocks are apart; mode `slots`.
    pub guard: Span,
    /// The device whose UDP traffic is limited by HTB classes; mode `rates`. None: UDP goes past.
    pub device: Option<String>,
}

/// The parts of a deployment in which all must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreed {
    /// The length of a slot, in nanoseconds.
    pub slot_ns: u64,
    /// The network, in words.
    pub network: String,
    /// The names of the arbiters, in the order of their ranks.
    pub arbiters: Vec<String>,
    /// The names of the endpoints, in the order of their addresses.
    pub endpoints: Vec<String>,
}

impl Agreed {
    /// The first part in which another's differs, in words.
    pub fn difference(&self, theirs: &Agreed) -> Option<String> {
        let differs = |what: &str, own: String, other: String| {
            (own != other).then(|| format!("{what} {own} here and {other} there"))
        };
        let slot = |agreed: &Agreed| format!("{} us", agreed.slot_ns as f64 / 1e3);
        differs("slots are", slot(self), slot(theirs))
            .or_else(|| differs("the network is", self.network.clone(), theirs.network.clone()))
            .or_else(|| differs("the arbiters are", self.arbiters.join(", "), theirs.arbiters.join(", ")))
            .or_else(|| differs("the endpoints are", self.endpoints.join(", "), theirs.endpoints.join(", ")))
    }
}

impl Deployment {
    /// Reads a file. Errors name each place that is wrong, and a remedy.
    pub fn read(path: &Path) -> Result<Deployment, Vec<Problem>> {
        read_file(path, "docs/FASTPASS.md", Deployment::parse)
    }

    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Deployment, Vec<Problem>> {
        let document = document(text).map_err(|problem| vec![problem])?;
        let mut problems = Vec::new();
        let mut root = Table::of(text, "", document.as_table(), None);
        let mut table = Table::new(text, "network", root.item("network"));
        table.must_have_table();
        let network = Network::read(&mut table);
        problems.extend(table.finish(&SCENARIO_ONLY));

        let endpoint_item = root.item("endpoint");
        let mut table = Table::new(text, "endpoint", endpoint_item);
        let mode = table.choice("mode", "How grants are followed.", MODES, Mode::Rates);
        let arbiter_item = root.item("arbiter");
        let mut of_arbiter = Table::new(text, "arbiter", arbiter_item);
        of_arbiter.must_have_table();
        let slot = Span::from_us(if mode == Mode::Rates { 100 } else { 500 });
        let arbiter = ArbiterSettings::read(&mut of_arbiter, &ArbiterSettings::with_slot(slot));
        of_arbiter.conflicts(arbiter.conflicts());
        let at = read_arbiters(&mut of_arbiter);
        problems.extend(of_arbiter.finish(&[]));

        let endpoint = EndpointSettings::read(&mut table, &endpoint_defaults(mode, &arbiter));
        let carriage = CarriageWords::read(&mut table);
        problems.extend(table.finish(&[]));

        let hosts = read_hosts(text, root.item("host"), &mut problems);
        problems.extend(root.finish(&[]));
        if !problems.is_empty() {
            return Err(problems);
        }
        let (arbiters, endpoints) = check(&network, &at, &hosts)?;
        let deployment = Deployment { network, arbiter, arbiters, mode, endpoint, carriage, endpoints };
        let arbiter = deployment.arbiter_params(0, Timeslots::new(deployment.arbiter.slot));
        arbiter
            .and_then(|params| Arbiter::check(&params).map_err(|error| error.to_string()))
            .map_err(|what| vec![Problem::bare(format!("arbiter: {what}"))])?;
        Ok(deployment)
    }

    /// The parts in which all must agree.
    pub fn agreed(&self) -> Agreed {
        Agreed {
            slot_ns: self.arbiter.slot.as_ps() / 1000,
            network: format!("{} with links of {}", self.network.shape, self.network.rate),
            arbiters: self.arbiters.iter().map(|host| host.name.clone()).collect(),
            endpoints: self.endpoints.iter().map(|place| place.name.clone()).collect(),
        }
    }

    /// The parameters of the arbiter of a rank; an error says what does not go together.
    pub fn arbiter_params(&self, rank: u8, timeslots: Timeslots) -> Result<ArbiterParams, String> {
        let ArbiterSettings { batch, ahead, order, retransmit, acknowledge, watchdog, takeover, gap, .. } =
            self.arbiter;
        let length = self.arbiter.slot * u64::from(batch);
        Ok(ArbiterParams {
            timeslots,
            allocator: AllocatorParams {
                nodes: self.endpoints.len(),
                slots: batch,
                order,
                limit: u16::try_from(self.endpoint.limit).unwrap_or(u16::MAX),
                capacities: None,
            },
            paths: self.network.path_params().map_err(|error| error.to_string())?,
            fault_isolation: self.arbiter.fault_isolation,
            isolator: isolator_params(self.arbiter.slot),
            ahead,
            // Two allocations a batch to an endpoint at most: each costs a host microseconds, and says as much as several.
            pacer: Pacer { gap: length / 4, interval: length / 2, slack: length / 4 },
            request_interval: self.endpoint.report_interval / 4,
            reset_interval: Span::from_us(500),
            retransmit,
            acknowledge,
            watchdog,
            takeover,
            gap,
            // Long enough for arbiters that lost their session to have another; endpoints fall back a little later.
            doubt: takeover * 4,
            rank,
            arbiters: self.arbiters.len() as u8,
            ..ArbiterParams::default()
        })
    }

    /// The network as the endpoint of this address needs to know it.
    pub fn reach(&self, own: Address) -> Reach {
        let granted = self.network.rate.as_bps() as f64 * (1.0 - self.arbiter.control_share);
        Reach {
            places: self.endpoints.clone(),
            own,
            slot: self.arbiter.slot,
            rate: Rate::from_bps(granted as u64),
            mtu: self.network.mtu,
            paths: self.network.paths(),
        }
    }

    /// The rank of the arbiter of this name.
    pub fn rank(&self, name: &str) -> Option<u8> {
        self.arbiters.iter().position(|host| host.name == name).map(|rank| rank as u8)
    }

    /// The address of the endpoint of this name.
    pub fn address(&self, name: &str) -> Option<Address> {
        self.endpoints.iter().position(|place| place.name == name).map(|address| address as Address)
    }
}

/// Words of a scenario's `[network]` that say nothing to an arbiter.
const SCENARIO_ONLY: [&str; 3] = ["delay", "framing", "oversubscription"];

fn read_arbiters(table: &mut Table<'_>) -> Vec<String> {
    let at = table.texts("at", |name| Ok(name.to_string())).unwrap_or_default();
    if at.is_empty() {
        table.wrong(
            "at",
            "missing",
            Some("write at = [\"a0\", \"a1\"]: the names of arbiters, the first is the primary"),
        );
    }
    if at.len() > MOST_ARBITERS {
        table.wrong(
            "at",
            &format!("names {} arbiters, of which there are {MOST_ARBITERS} at most", at.len()),
            None,
        );
    }
    at
}

impl CarriageWords {
    fn read(table: &mut Table<'_>) -> CarriageWords {
        let name = |text: &str| match text.len() {
            1..=15 if !text.contains(['/', ' ']) => Ok(text.to_string()),
            _ => Err("expected the name of a device, of 1 to 15 letters".to_string()),
        };
        let port = Parameter::new("port", "The UDP port of encapsulated packets.", 1024..=60_000_u32);
        let guard =
            Parameter::new("guard", "The part of a slot that is left empty.", Span::ZERO..=Span::from_ms(10));
        CarriageWords {
            tun: table.text("tun", name).unwrap_or_else(|| "clearway0".into()),
            port: table.value(&port, 7611) as u16,
            guard: table.value(&guard, Span::ZERO),
            device: table.text("device", name),
        }
    }
}

#[cfg(test)]
mod tests;
