//! What a slot is, and how large networks may be.

/// A packet of a slot: its source and its destination, as numbers of endpoints.
pub type Pair = (u16, u16);

/// In place of a path's number: the packet does not come to where that path begins, as it stays within its rack (or, for
/// the core of a fat tree, within its pod).
pub const BYPASS: u8 = u8::MAX;
/// In place of a path's number: no path over living links has room for the packet, so that it must not be sent in this slot.
pub const BLOCKED: u8 = u8::MAX - 1;

/// Most racks, and most pods, of a network.
pub const MAX_RACKS: usize = 128;
/// Most paths between two racks, and most core switches that one aggregation switch reaches.
pub const MAX_PATHS: usize = 32;
/// Most endpoints of a network, and so most packets of a slot.
pub const MAX_ENDPOINTS: usize = 16_384;
