//! Telemetry: what switches write into a data packet on its way, and what its receiver gives back with the packet's
//! acknowledgement (in-band network telemetry, INT).
//!
//! A congestion control names the type of what is written ([`CongestionControl::Telemetry`]). For nearly all of them that
//! is `()`: nothing is written, and a driver that asks [`Telemetry::IS_WRITTEN`] spends nothing on it.
//!
//! [`CongestionControl::Telemetry`]: super::CongestionControl::Telemetry

use std::fmt::Debug;

use crate::units::{Bytes, Rate, Time};

/// What a switch knows of a port at the instant at which a packet begins to leave over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortState {
    /// The number of the link that the port feeds. No two ports have the same.
    pub link: u32,
    /// The link's rate.
    pub rate: Rate,
    /// Bytes that wait at the port behind the packet.
    pub queued: Bytes,
    /// Bytes that the port had transmitted before the packet.
    pub sent: Bytes,
    /// The instant, by the switch's clock. Only differences of one switch's times mean something.
    pub time: Time,
}

/// What switches write into a data packet. A packet leaves its sender with the default.
pub trait Telemetry: Clone + Debug + Default {
    /// Whether switches write anything.
    const IS_WRITTEN: bool;

    /// A switch writes as the packet begins to leave over one of its ports.
    fn write(&mut self, port: &PortState);
}

/// Nothing is written.
impl Telemetry for () {
    const IS_WRITTEN: bool = false;

    fn write(&mut self, _port: &PortState) {}
}

/// Switches on a path that can write into one packet: INT headers have a fixed length.
pub const MOST_HOPS: usize = 8;

/// The state of each port on a packet's way, in order. Where more than [`MOST_HOPS`] switches are on the way, those after
/// the first [`MOST_HOPS`] find no room and write nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopRecords {
    count: u8,
    ports: [PortState; MOST_HOPS],
}

impl HopRecords {
    /// The records, in the order of the packet's way.
    #[inline]
    pub fn ports(&self) -> &[PortState] {
        &self.ports[..usize::from(self.count)]
    }

    /// Returns whether two packets went over the same links, as far as these were written.
    pub fn is_same_path(&self, other: &HopRecords) -> bool {
        let links = |records: &HopRecords, at: usize| records.ports[at].link;
        self.count == other.count
            && (0..usize::from(self.count)).all(|at| links(self, at) == links(other, at))
    }
}

impl Default for HopRecords {
    fn default() -> HopRecords {
        let none = PortState {
            link: 0,
            rate: Rate::from_bps(1),
            queued: Bytes::new(0),
            sent: Bytes::new(0),
            time: Time::ZERO,
        };
        HopRecords { count: 0, ports: [none; MOST_HOPS] }
    }
}

impl Telemetry for HopRecords {
    const IS_WRITTEN: bool = true;

    fn write(&mut self, port: &PortState) {
        if let Some(place) = self.ports.get_mut(usize::from(self.count)) {
            *place = *port;
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(link: u32) -> PortState {
        PortState {
            link,
            rate: Rate::from_gbps(100),
            queued: Bytes::new(7),
            sent: Bytes::new(8),
            time: Time::from_ps(9),
        }
    }

    #[test]
    fn switches_write_one_after_the_other_until_there_is_no_room() {
        let mut records = HopRecords::default();
        assert!(records.ports().is_empty());
        for link in 0..2 * MOST_HOPS as u32 {
            records.write(&port(link));
        }
        let first: Vec<PortState> = (0..MOST_HOPS as u32).map(port).collect();
        assert_eq!(records.ports(), first);
    }

    #[test]
    fn a_path_is_its_links_in_order() {
        let path = |links: &[u32]| {
            let mut records = HopRecords::default();
            for &link in links {
                records.write(&port(link));
            }
            records
        };
        assert!(path(&[1, 2]).is_same_path(&path(&[1, 2])));
        for other in [&[2, 1][..], &[1], &[1, 2, 3], &[]] {
            assert!(!path(&[1, 2]).is_same_path(&path(other)));
        }
    }
}
