//! `[[host]]`: who is where, and what is behind each endpoint.

use std::net::{IpAddr, SocketAddr};

use toml_edit::{Item, TableLike, Value};

use super::network::Network;
use crate::daemon::output::Problem;
use crate::daemon::table::Table;
use crate::fastpass::reach::{Place, Prefix};

/// A machine of the deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// The name in its certificate.
    pub name: String,
    /// The address of its control channel, where FCP's socket is, too.
    pub control: SocketAddr,
    /// The address that encapsulated packets go to.
    pub data: IpAddr,
    /// Addresses that are behind it; none if it is no endpoint.
    pub prefixes: Vec<Prefix>,
}

pub(super) fn read_hosts(text: &str, item: Option<&Item>, problems: &mut Vec<Problem>) -> Vec<Host> {
    let mut hosts = Vec::new();
    let mut add = |number: usize, table: &dyn TableLike, span| {
        let mut table = Table::of(text, &format!("host[{number}]"), table, span);
        let name = table.required("name", "\"h0\"", |text| match text {
            "" => Err("expected a name".into()),
            name => Ok(name.to_string()),
        });
        let control = table.required("control", "\"10.0.0.1:7600\"", |text| {
            text.parse::<SocketAddr>()
                .map_err(|_| "expected an IP address and a port, such as 10.0.0.1:7600".into())
        });
        let data = table.text("data", |text| {
            text.parse::<IpAddr>().map_err(|_| "expected an IP address, such as 10.0.0.1".into())
        });
        let prefixes = table.texts("prefixes", prefix).unwrap_or_default();
        if let (Some(name), Some(control)) = (name, control) {
            hosts.push(Host { name, control, data: data.unwrap_or(control.ip()), prefixes });
        }
        problems.extend(table.finish(&[]));
    };
    match item {
        Some(Item::ArrayOfTables(tables)) => {
            for (number, table) in tables.iter().enumerate() {
                add(number, table, table.span());
            }
        }
        Some(Item::Value(Value::Array(array))) => {
            for (number, value) in array.iter().enumerate() {
                if let Some(table) = value.as_inline_table() {
                    add(number, table, value.span());
                }
            }
        }
        _ => {}
    }
    if hosts.is_empty() && problems.is_empty() {
        problems.push(Problem::new(
            "host: missing",
            "write [[host]] with name, control and prefixes for each host",
        ));
    }
    hosts
}

/// An address with the length of its prefix, or one address alone.
fn prefix(text: &str) -> Result<Prefix, String> {
    const EXPECTED: &str = "expected an address and the length of its prefix, such as 10.1.0.0/24";
    let (address, length) =
        text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let address: IpAddr = address.parse().map_err(|_| EXPECTED)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = length.map_or(Ok(most), |length| length.parse().map_err(|_| EXPECTED))?;
    if length > most {
        return Err(format!("expected a prefix of {most} bits at most"));
    }
    let masked = match address {
        IpAddr::V4(v4) => {
            IpAddr::V4((v4.to_bits() & u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0)).into())
        }
        IpAddr::V6(v6) => {
            IpAddr::V6((v6.to_bits() & u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)).into())
        }
    };
    if masked != address {
        return Err(format!("which has bits beyond its {length}: expected {masked}/{length}"));
    }
    Ok(Prefix { address, length })
}

/// The arbiters and the endpoints, if all that the file says goes together.
pub(super) fn check(
    network: &Network,
    at: &[String],
    hosts: &[Host],
) -> Result<(Vec<Host>, Vec<Place>), Vec<Problem>> {
    let mut problems = Vec::new();
    for (number, host) in hosts.iter().enumerate() {
        if let Some(other) = hosts[..number].iter().position(|other| other.name == host.name) {
            let message = format!("host[{number}].name: {:?} is host[{other}]'s, too", host.name);
            problems.push(Problem::new(message, "each host has a name of its own, that of its certificate"));
        }
    }
    let endpoints: Vec<&Host> = hosts.iter().filter(|host| !host.prefixes.is_empty()).collect();
    problems.extend(twice(&endpoints));
    let arbiters: Vec<Host> =
        at.iter().filter_map(|name| hosts.iter().find(|host| &host.name == name)).cloned().collect();
    for (number, name) in at.iter().enumerate() {
        if !hosts.iter().any(|host| &host.name == name) {
            let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
            let message = format!("arbiter.at: there is no host {name:?}");
            problems.push(Problem::new(message, &format!("the hosts are {}", names.join(", "))));
        }
        if at[..number].contains(name) {
            let message = format!("arbiter.at: {name:?} has two ranks");
            problems.push(Problem::new(message, "name each arbiter once"));
        }
    }
    if network.hosts() != endpoints.len() as u64 {
        let message = format!(
            "network: it has {} hosts, and {} of [[host]] have prefixes",
            network.hosts(),
            endpoints.len()
        );
        let remedy =
            "each host of the network is an endpoint: give it prefixes, in the order of the network's hosts";
        problems.push(Problem::new(message, remedy));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let place = |host: &Host| Place {
        name: host.name.clone(),
        control: host.control,
        data: host.data,
        prefixes: host.prefixes.clone(),
    };
    Ok((arbiters, endpoints.into_iter().map(place).collect()))
}

/// Prefixes that two endpoints claim.
fn twice(endpoints: &[&Host]) -> Vec<Problem> {
    let all: Vec<(&Host, &Prefix)> =
        endpoints.iter().flat_map(|host| host.prefixes.iter().map(move |prefix| (*host, prefix))).collect();
    let mut problems = Vec::new();
    for (number, (host, prefix)) in all.iter().enumerate() {
        if let Some((other, _)) = all[..number].iter().find(|(_, earlier)| earlier == prefix) {
            let Prefix { address, length } = prefix;
            let message = format!("{address}/{length} is behind {} and behind {}", other.name, host.name);
            problems.push(Problem::new(message, "each prefix is behind one endpoint"));
        }
    }
    problems
}
