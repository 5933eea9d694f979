//! The endpoint of an address, by the longest prefix: a look-up fast enough for every packet.

use std::net::IpAddr;

use clearway_proto::fastpass::fcp::Address;

use crate::fastpass::reach::Reach;

/// The prefixes of a deployment.
#[derive(Clone, Debug)]
pub struct Table {
    /// The prefixes by length, the longest first.
    lengths: Vec<Length>,
}

/// The prefixes of one length, of one version of IP.
#[derive(Clone, Debug)]
struct Length {
    v6: bool,
    bits: u8,
    /// Their first bits, in rising order, and the endpoints that they are of.
    prefixes: Vec<(u128, Address)>,
}

impl Table {
    /// The table of what [`Reach::endpoint`] says.
    pub fn new(reach: &Reach) -> Table {
        let mut all: Vec<_> = (0..)
            .zip(&reach.places)
            .flat_map(|(at, place)| place.prefixes.iter().map(move |prefix| (prefix, at)))
            .map(|(prefix, at)| {
                let (v6, bits) = key(prefix.address);
                (prefix.length, v6, first_bits(bits, prefix.length), at)
            })
            .collect();
        all.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2, a.3).cmp(&(b.1, b.2, b.3))));
        let mut lengths: Vec<Length> = Vec::new();
        for (bits, v6, first, at) in all {
            match lengths.last_mut() {
                Some(last) if (last.bits, last.v6) == (bits, v6) => last.prefixes.push((first, at)),
                _ => lengths.push(Length { v6, bits, prefixes: vec![(first, at)] }),
            }
        }
        Table { lengths }
    }

    /// The endpoint that an address is behind.
    pub fn endpoint(&self, address: IpAddr) -> Option<Address> {
        let (v6, bits) = key(address);
        self.lengths.iter().filter(|length| length.v6 == v6).find_map(|length| {
            let wanted = first_bits(bits, length.bits);
            let at = length.prefixes.partition_point(|(first, _)| *first <= wanted).checked_sub(1)?;
            let (first, endpoint) = length.prefixes[at];
            (first == wanted).then_some(endpoint)
        })
    }

    /// The endpoint that an IP packet goes to.
    pub fn destination(&self, packet: &[u8]) -> Option<Address> {
        let address = match packet.first()? >> 4 {
            4 => IpAddr::from(<[u8; 4]>::try_from(packet.get(16..20)?).ok()?),
            6 => IpAddr::from(<[u8; 16]>::try_from(packet.get(24..40)?).ok()?),
            _ => return None,
        };
        self.endpoint(address)
    }
}

/// An address as a number whose first bits are those of the address.
fn key(address: IpAddr) -> (bool, u128) {
    match address {
        IpAddr::V4(address) => (false, u128::from(address.to_bits()) << 96),
        IpAddr::V6(address) => (true, address.to_bits()),
    }
}

fn first_bits(bits: u128, length: u8) -> u128 {
    bits & !u128::MAX.checked_shr(length.into()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fastpass::reach::{Place, Prefix};
    use clearway_proto::units::{Rate, Span};
    use proptest::prelude::*;

    fn prefix() -> impl Strategy<Value = Prefix> {
        // Few different bits, so that prefixes contain one another.
        (any::<bool>(), 0_u32..16, 0_u8..=32).prop_map(|(v6, bits, length)| {
            let (address, length) = if v6 {
                (IpAddr::from((u128::from(bits) << 124).to_be_bytes()), length * 4)
            } else {
                (IpAddr::from((bits << 28).to_be_bytes()), length)
            };
            let (_, kept) = (0, first_bits(key(address).1, length));
            let address = if v6 {
                IpAddr::from(kept.to_be_bytes())
            } else {
                IpAddr::from(((kept >> 96) as u32).to_be_bytes())
            };
            Prefix { address, length }
        })
    }

    proptest! {
        #[test]
        fn the_table_says_what_the_list_says(
            prefixes in prop::collection::vec(prefix(), 1..20), asked in prop::collection::vec(prefix(), 20)
        ) {
            let mut prefixes = prefixes;
            prefixes.sort_unstable();
            prefixes.dedup();
            let place = |prefix| Place {
                name: String::new(),
                control: "192.0.2.1:1".parse().unwrap(),
                data: "192.0.2.1".parse().unwrap(),
                prefixes: vec![prefix],
            };
            let places = prefixes.into_iter().map(place).collect();
            let (slot, rate) = (Span::from_us(500), Rate::from_gbps(1));
            let reach = Reach { places, own: 0, slot, rate, mtu: 1448, paths: 1 };
            let table = Table::new(&reach);
            for Prefix { address, .. } in asked {
                prop_assert_eq!(table.endpoint(address), reach.endpoint(address));
            }
        }
    }
}
