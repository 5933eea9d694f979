//! The endpoints of a deployment: what is behind each, and where it is.

use std::net::{IpAddr, SocketAddr};

use clearway_proto::fastpass::fcp::Address;
use clearway_proto::units::{Rate, Span};

/// Addresses that have their first bits in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prefix {
    /// An address of the prefix; bits beyond its length are zero.
    pub address: IpAddr,
    /// The number of bits in common.
    pub length: u8,
}

impl Prefix {
    /// Returns whether an address is of this prefix.
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = |address: IpAddr| match address {
            IpAddr::V4(address) => (u128::from(address.to_bits()) << 96, true),
            IpAddr::V6(address) => (address.to_bits(), false),
        };
        let ((own, own_is_v4), (other, other_is_v4)) = (bits(self.address), bits(address));
        let differing = (own ^ other).leading_zeros();
        own_is_v4 == other_is_v4 && differing >= u32::from(self.length)
    }
}

/// An endpoint as the others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name in its certificate.
    pub name: String,
    /// The address of its control channel.
    pub control: SocketAddr,
    /// The address that encapsulated packets go to.
    pub data: IpAddr,
    /// Addresses that are behind it.
    pub prefixes: Vec<Prefix>,
}

/// The network as an endpoint needs to know it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    /// The endpoints, by their addresses.
    pub places: Vec<Place>,
    /// The address of this endpoint.
    pub own: Address,
    /// The length of a slot.
    pub slot: Span,
    /// The rate at which slots are filled: that of a host's link, less the share for what has no slots.
    pub rate: Rate,
    /// The largest payload of a frame, in bytes, with what is encapsulated but without the IP and UDP headers around it.
    pub mtu: u32,
    /// The number of ways through the network.
    pub paths: u16,
}

impl Reach {
    /// The endpoint that an address is behind: that of the longest prefix.
    pub fn endpoint(&self, address: IpAddr) -> Option<Address> {
        let of = |place: &Place| {
            place.prefixes.iter().filter(|prefix| prefix.contains(address)).map(|prefix| prefix.length).max()
        };
        let found = (0..).zip(&self.places).filter_map(|(at, place)| Some((of(place)?, at)));
        found.max_by_key(|(length, _)| *length).map(|(_, at)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(address: &str, length: u8) -> Prefix {
        Prefix { address: address.parse().unwrap(), length }
    }

    #[test]
    fn a_prefix_has_the_addresses_that_begin_as_it_does() {
        let ten = prefix("10.0.0.0", 8);
        assert!(ten.contains("10.255.0.1".parse().unwrap()));
        assert!(!ten.contains("11.0.0.1".parse().unwrap()) && !ten.contains("a00::".parse().unwrap()));
        assert!(prefix("0.0.0.0", 0).contains("192.0.2.1".parse().unwrap()));
        assert!(prefix("fd00::1", 128).contains("fd00::1".parse().unwrap()));
        assert!(!prefix("fd00::1", 128).contains("fd00::2".parse().unwrap()));
        let one = prefix("10.0.0.1", 32);
        assert!(one.contains("10.0.0.1".parse().unwrap()) && !one.contains("10.0.0.0".parse().unwrap()));
    }

    #[test]
    fn of_several_prefixes_the_longest_counts() {
        let place = |name: &str, prefixes: &[Prefix]| Place {
            name: name.into(),
            control: "192.0.2.1:1".parse().unwrap(),
            data: "192.0.2.1".parse().unwrap(),
            prefixes: prefixes.to_vec(),
        };
        let places = vec![place("h0", &[prefix("10.0.0.0", 8)]), place("h1", &[prefix("10.1.0.0", 16)])];
        let reach =
            Reach { places, own: 0, slot: Span::from_us(500), rate: Rate::from_gbps(1), mtu: 1448, paths: 1 };
        let found = |address: &str| reach.endpoint(address.parse().unwrap());
        assert_eq!((found("10.2.0.1"), found("10.1.0.1"), found("192.0.2.1")), (Some(0), Some(1), None));
    }
}
