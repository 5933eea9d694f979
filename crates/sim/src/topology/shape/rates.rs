//! The rates of the hosts' links.

use std::ops::Range;

use clearway_proto::units::Rate;

/// The rates of the hosts' links.
pub enum HostRates {
    /// All hosts have this rate.
    Alike(Rate),
    /// Each host has its own rate, by its number.
    Listed(Vec<Rate>),
}

impl HostRates {
    /// The rate of this host's link.
    pub fn get(&self, host: u32) -> Rate {
        match self {
            HostRates::Alike(rate) => *rate,
            HostRates::Listed(rates) => rates[host as usize],
        }
    }

    /// The rates of these hosts' links together, in bits per second.
    pub fn sum_bps(&self, hosts: &[u32]) -> f64 {
        hosts.iter().map(|&host| self.get(host).as_bps() as f64).sum()
    }

    /// The fastest among the hosts of these ranges; `None` if there are none.
    pub fn fastest_of(&self, hosts: &[Range<u32>]) -> Option<Rate> {
        match self {
            HostRates::Alike(rate) => hosts.first().map(|_| *rate),
            HostRates::Listed(rates) => {
                hosts.iter().flat_map(|range| &rates[range.start as usize..range.end as usize]).copied().max()
            }
        }
    }

    /// The slowest of all hosts; `None` if there is no host.
    pub fn slowest(&self) -> Option<Rate> {
        match self {
            HostRates::Alike(rate) => Some(*rate),
            HostRates::Listed(rates) => rates.iter().copied().min(),
        }
    }

    /// The fastest of all hosts; `None` if there is no host.
    pub fn fastest(&self) -> Option<Rate> {
        match self {
            HostRates::Alike(rate) => Some(*rate),
            HostRates::Listed(rates) => rates.iter().copied().max(),
        }
    }
}
