//! Which endpoint is in which rack.

use super::error::PathError;
use super::slot::{Pair, MAX_ENDPOINTS, MAX_RACKS};

/// The rack of each endpoint. Racks need not have the same number of endpoints.
#[derive(Clone, Debug)]
pub struct Racks {
    count: usize,
    endpoints: usize,
    /// The rack of each endpoint: one for each number that a `u16` can be, so that no index needs a check.
    rack: Box<[u8; NUMBERS]>,
}

const NUMBERS: usize = 1 << 16;

impl Racks {
    /// `racks` racks; endpoint number `i` is in rack `rack_of[i]`.
    ///
    /// Errors: [`PathError::Racks`], [`PathError::Endpoints`], [`PathError::RackOfEndpoint`].
    pub fn new(racks: usize, rack_of: &[usize]) -> Result<Racks, PathError> {
        if let Some(endpoint) = rack_of.iter().position(|&rack| rack >= racks) {
            return Err(PathError::RackOfEndpoint { endpoint, rack: rack_of[endpoint] });
        }
        Racks::with(racks, rack_of.len(), |endpoint| rack_of[endpoint])
    }

    /// `racks` racks of `hosts` endpoints each, numbered rack by rack.
    ///
    /// Errors: [`PathError::Racks`], [`PathError::Endpoints`].
    pub fn uniform(racks: usize, hosts: usize) -> Result<Racks, PathError> {
        Racks::with(racks, racks.saturating_mul(hosts), |endpoint| endpoint / hosts)
    }

    fn with(racks: usize, endpoints: usize, rack_of: impl Fn(usize) -> usize) -> Result<Racks, PathError> {
        if !(1..=MAX_RACKS).contains(&racks) {
            return Err(PathError::Racks(racks));
        }
        if !(1..=MAX_ENDPOINTS).contains(&endpoints) {
            return Err(PathError::Endpoints(endpoints));
        }
        let mut rack: Box<[u8; NUMBERS]> = vec![0; NUMBERS].try_into().expect("as many as asked for");
        for (endpoint, rack) in rack[..endpoints].iter_mut().enumerate() {
            *rack = rack_of(endpoint) as u8;
        }
        Ok(Racks { count: racks, endpoints, rack })
    }

    /// Number of racks.
    pub fn racks(&self) -> usize {
        self.count
    }

    /// Number of endpoints.
    pub fn endpoints(&self) -> usize {
        self.endpoints
    }

    /// The rack of an endpoint. Panics if there is no such endpoint.
    pub fn rack_of(&self, endpoint: usize) -> usize {
        usize::from(self.rack[..self.endpoints][endpoint])
    }

    /// The racks of a packet's source and destination.
    #[inline]
    pub(in crate::fastpass) fn of(&self, (source, destination): Pair) -> Result<(u8, u8), PathError> {
        let rack = |endpoint: u16| self.rack[..self.endpoints].get(usize::from(endpoint)).copied();
        let row = rack(source).ok_or(PathError::UnknownEndpoint(source))?;
        let column = rack(destination).ok_or(PathError::UnknownEndpoint(destination))?;
        Ok((row, column))
    }

    /// Returns an error unless all endpoints of a slot's packets are known.
    pub(super) fn check(&self, slot: &[Pair]) -> Result<(), PathError> {
        let most = slot.iter().fold(0, |most, pair| pair.0.max(pair.1).max(most));
        if usize::from(most) < self.endpoints {
            return Ok(());
        }
        let unknown = |endpoint: &u16| usize::from(*endpoint) >= self.endpoints;
        let first = slot.iter().flat_map(|pair| [pair.0, pair.1]).find(unknown);
        Err(PathError::UnknownEndpoint(first.unwrap_or(most)))
    }

    /// Gives the racks of a packet's source and destination, which have been [checked](Racks::check).
    #[inline]
    pub(super) fn lookup(&self) -> impl Fn(Pair) -> (u8, u8) + '_ {
        // A variable of its own, so that it is not looked up again for each packet.
        let rack = &*self.rack;
        move |(source, destination)| (rack[usize::from(source)], rack[usize::from(destination)])
    }
}
