//! Which endpoint is in which rack.

use super::error::PathError;
use super::slot::{Pair, MAX_ENDPOINTS, MAX_RACKS};

/// The rack of each endpoint. Racks need not have the same number of endpoints.
#[derive(Clone, Debug)]
pub struct Racks {
    racks: usize,
    /// The rack of each endpoint.
    rack: Box<[u8]>,
}

impl Racks {
    /// `racks` racks; endpoint number `i` is in rack `rack_of[i]`.
    ///
    /// Errors: [`PathError::Racks`], [`PathError::Endpoints`], [`PathError::RackOfEndpoint`].
    pub fn new(racks: usize, rack_of: &[usize]) -> Result<Racks, PathError> {
        if !(1..=MAX_RACKS).contains(&racks) {
            return Err(PathError::Racks(racks));
        }
        if !(1..=MAX_ENDPOINTS).contains(&rack_of.len()) {
            return Err(PathError::Endpoints(rack_of.len()));
        }
        if let Some(endpoint) = rack_of.iter().position(|&rack| rack >= racks) {
            return Err(PathError::RackOfEndpoint { endpoint, rack: rack_of[endpoint] });
        }
        Ok(Racks { racks, rack: rack_of.iter().map(|&rack| rack as u8).collect() })
    }

    /// `racks` racks of `hosts` endpoints each, numbered rack by rack.
    ///
    /// Errors: [`PathError::Racks`], [`PathError::Endpoints`].
    pub fn uniform(racks: usize, hosts: usize) -> Result<Racks, PathError> {
        if !(1..=MAX_RACKS).contains(&racks) {
            return Err(PathError::Racks(racks));
        }
        let endpoints = racks.saturating_mul(hosts);
        if !(1..=MAX_ENDPOINTS).contains(&endpoints) {
            return Err(PathError::Endpoints(endpoints));
        }
        Ok(Racks { racks, rack: (0..endpoints).map(|endpoint| (endpoint / hosts) as u8).collect() })
    }

    /// Number of racks.
    pub fn racks(&self) -> usize {
        self.racks
    }

    /// Number of endpoints.
    pub fn endpoints(&self) -> usize {
        self.rack.len()
    }

    /// The racks of a packet's source and destination.
    #[inline]
    pub(in crate::fastpass) fn of(&self, (source, destination): Pair) -> Result<(u8, u8), PathError> {
        let rack = |endpoint: u16| self.rack.get(usize::from(endpoint)).copied();
        let row = rack(source).ok_or(PathError::UnknownEndpoint(source))?;
        let column = rack(destination).ok_or(PathError::UnknownEndpoint(destination))?;
        Ok((row, column))
    }
}
