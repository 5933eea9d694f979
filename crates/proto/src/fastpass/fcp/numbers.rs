//! Who and which way, and of how much a packet speaks.

/// The number of an endpoint, as the operator has numbered them; the same for everybody.
pub type Address = u16;

/// The number of a path from a source to a destination: of a leaf-spine network the spine switch; of a fat tree the
/// aggregation switch times the core switches that each reaches, plus the core switch among those. 0 where there is one
/// path only, as within a rack.
pub type Path = u16;

/// Destinations of which one request speaks.
pub const MOST_DEMANDS: usize = 10;
/// Paths on whose losses one request reports.
pub const MOST_REPORTS: usize = 8;
/// Destinations of which one allocation speaks.
pub const MOST_GRANTED: usize = 15;
/// Timeslots that one allocation grants.
pub const MOST_GRANTS: usize = 64;
