//! How much memory a run needs at most, and whether the machine has it; asked before anything is built.
//!
//! The estimate is a sum of shares; each part of a scenario has its file here. The number of things that take memory
//! comes from the patterns of traffic, the shapes of networks and the kinds of samples; the memory that each takes
//! comes from those who hold it: [`crate::simulation::footprint`], [`crate::record::tables`] and
//! [`crate::record::samples`]. The few megabytes that any run takes are left out.

mod fastpass;
mod limit;
mod network;
mod records;
mod routing;
mod share;
mod traffic;
mod transports;

use crate::engine::event::MAX_ID;
use crate::model::{Network, Scenario};
use crate::traffic::{most_flows, Table};
pub use limit::limit;
use limit::LIMIT_VARIABLE;
use network::{ports_share, queue_share};
use share::Share;
use transports::sprayed_paths;

/// An upper bound of the memory that a run of this scenario takes, in bytes, beyond the few megabytes that any run does.
pub fn estimate_bytes(scenario: &Scenario) -> u64 {
    shares(scenario, sprayed_paths(scenario)).iter().map(|share| share.bytes).sum::<f64>() as u64
}

/// Checks that a scenario keeps to `limit` bytes; the error is the key to blame and a sentence.
pub(super) fn check(scenario: &Scenario, limit: u64) -> Result<(), (String, String)> {
    // A listed network's paths are counted by its routes: where those do not fit, its size alone is to blame.
    let routes_fit = ports_share(scenario).bytes <= limit as f64;
    let shares = shares(scenario, if routes_fit { sprayed_paths(scenario) } else { 0.0 });
    let total: f64 = shares.iter().map(|share| share.bytes).sum();
    let flows = most_flows(scenario);
    let biggest = shares.into_iter().max_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let Some(biggest) = biggest.filter(|_| total > limit as f64) else {
        if flows < f64::from(MAX_ID) {
            return Ok(());
        }
        return Err((
            "traffic".into(),
            format!("makes {flows:.0} flows; the simulator numbers {MAX_ID} at most"),
        ));
    };
    let message = format!(
        "the run needs about {} of memory and {} is available; most of it, {}, is for {}: {}, or allow more, such as {LIMIT_VARIABLE}=64GB",
        rounded(total),
        rounded(limit as f64),
        rounded(biggest.bytes),
        biggest.what,
        biggest.remedy
    );
    Err((biggest.key, message))
}

/// Returns whether the network alone, with `classes` traffic classes, fits into the memory that may be used. The limit may not
/// be known: then nothing fits.
pub(super) fn network_fits(network: &Network, classes: usize) -> bool {
    let needed = network::least_bytes(network, classes);
    limit().is_ok_and(|limit| needed <= limit as f64)
}

pub(super) fn rounded(bytes: f64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let unit = units.into_iter().find(|(_, size)| bytes >= *size);
    unit.map_or(format!("{bytes:.0} B"), |(name, size)| format!("{:.1} {name}", bytes / size))
}

/// Everything that takes memory, where sprayed packets have `paths` paths.
fn shares(scenario: &Scenario, paths: f64) -> Vec<Share> {
    let mut shares = vec![ports_share(scenario), queue_share(scenario), transports::counters_share(scenario)];
    shares.extend(Table::all(scenario).flat_map(|table| traffic::shares(&table)));
    shares.extend(transports::spray_shares(scenario, paths));
    shares.extend(records::sample_shares(scenario));
    shares.extend(records::timeline_share(scenario));
    shares.extend(records::packets_share(scenario));
    shares.extend(records::probe_shares(scenario));
    shares.extend(fastpass::shares(scenario));
    shares.extend(routing::share(scenario));
    shares
}
