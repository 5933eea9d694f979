//! Where each packet belongs: operations of one size, dealt out to flows in turn, each in packets of its own.
//!
//! A file is one operation. Both ends compute the place of a packet from its flow and number, so no packet carries it,
//! and a packet that claims a length that it cannot have is recognised as garbage.

use serde::{Deserialize, Serialize};

/// The most flows of a connection.
pub const MAX_FLOWS: u32 = 64;
/// The largest payload of a packet, in bytes: about what a UDP datagram holds.
pub const MAX_MTU: u32 = 65_000;
/// The most bytes of a connection: the largest offset into a file.
const MAX_BYTES: u64 = i64::MAX as u64;

/// What a connection carries, and in which pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// The number of operations, of all flows together.
    pub operations: u64,
    /// The size of each operation, in bytes.
    pub size: u64,
    /// The largest payload of a packet, in bytes.
    pub mtu: u32,
    /// How many flows there are; operation `n` belongs to flow `n % flows`.
    pub flows: u32,
}

/// The place of a packet in a connection's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The position of the packet's first byte among those of all operations.
    pub offset: u64,
    /// How many bytes the packet carries.
    pub payload: u32,
    /// Whether the packet ends an operation.
    pub last: bool,
}

impl Layout {
    /// Checks the layout; the error says the first rule that it breaks.
    pub fn check(&self) -> Result<(), String> {
        if self.mtu == 0 || self.mtu > MAX_MTU {
            return Err(format!("packets of {}B where 1B to {MAX_MTU}B are taken", self.mtu));
        }
        if self.flows == 0 || self.flows > MAX_FLOWS {
            return Err(format!("{} flows where 1 to {MAX_FLOWS} are taken", self.flows));
        }
        if self.size == 0 && self.operations > 0 {
            return Err("operations of no bytes".into());
        }
        if self.operations.checked_mul(self.size).is_none_or(|bytes| bytes > MAX_BYTES) {
            return Err(format!(
                "{} operations of {}B are more than a file holds",
                self.operations, self.size
            ));
        }
        // The first flow has the most operations; packet 2^32 - 1 stands for "never".
        let packets = u128::from(self.operations_of(0)) * u128::from(self.packets_each());
        if packets >= u128::from(u32::MAX) {
            return Err(format!("{packets} packets in a flow where it has at most {}", u32::MAX - 1));
        }
        Ok(())
    }

    /// The number of bytes in all operations.
    pub fn bytes(&self) -> u64 {
        self.operations * self.size
    }

    /// The number of bytes in one flow.
    pub fn bytes_of(&self, flow: u32) -> u64 {
        self.operations_of(flow) * self.size
    }

    /// The number of operations in one flow.
    pub fn operations_of(&self, flow: u32) -> u64 {
        let (flows, flow) = (u64::from(self.flows), u64::from(flow));
        self.operations / flows + u64::from(flow < self.operations % flows)
    }

    /// The number of packets in one flow.
    pub fn packets_of(&self, flow: u32) -> u32 {
        (self.operations_of(flow) * self.packets_each()) as u32
    }

    fn packets_each(&self) -> u64 {
        self.size.div_ceil(u64::from(self.mtu))
    }

    /// The bytes of a flow before packet `seq`.
    pub fn bytes_before(&self, seq: u32) -> u64 {
        let (seq, each) = (u64::from(seq), self.packets_each().max(1));
        seq / each * self.size + seq % each * u64::from(self.mtu)
    }

    /// Returns where a flow's packet belongs; `None` for a packet that the flow does not have.
    pub fn place(&self, flow: u32, seq: u32) -> Option<Place> {
        if flow >= self.flows || seq >= self.packets_of(flow) {
            return None;
        }
        let (round, packet) = (u64::from(seq) / self.packets_each(), u64::from(seq) % self.packets_each());
        let operation = round * u64::from(self.flows) + u64::from(flow);
        let within = packet * u64::from(self.mtu);
        Some(Place {
            offset: operation * self.size + within,
            payload: (self.size - within).min(u64::from(self.mtu)) as u32,
            last: packet + 1 == self.packets_each(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_packets_of_all_flows_are_all_bytes_once(
            operations in 0..40_u64, size in 1..5000_u64, mtu in 1..1500_u32, flows in 1..6_u32,
        ) {
            let layout = Layout { operations, size, mtu, flows };
            prop_assert_eq!(layout.check(), Ok(()));
            let mut places: Vec<Place> = (0..flows)
                .flat_map(|flow| (0..layout.packets_of(flow)).map(move |seq| layout.place(flow, seq).unwrap()))
                .collect();
            places.sort_by_key(|place| place.offset);
            let mut next = 0;
            for place in &places {
                prop_assert_eq!(place.offset, next);
                prop_assert!(place.payload > 0 && place.payload <= mtu);
                next += u64::from(place.payload);
                prop_assert_eq!(place.last, next % size == 0);
            }
            prop_assert_eq!(next, layout.bytes());
            for flow in 0..flows {
                let packets = layout.packets_of(flow);
                prop_assert_eq!(layout.place(flow, packets), None);
                let mut before = 0;
                for seq in 0..packets {
                    prop_assert_eq!(layout.bytes_before(seq), before);
                    before += u64::from(layout.place(flow, seq).unwrap().payload);
                }
                prop_assert_eq!(layout.bytes_before(packets), before);
            }
            prop_assert_eq!(layout.place(flows, 0), None);
        }
    }

    #[test]
    fn what_no_connection_carries_is_refused() {
        let good = Layout { operations: 10, size: 1000, mtu: 100, flows: 2 };
        assert_eq!(good.check(), Ok(()));
        for bad in [
            Layout { mtu: 0, ..good },
            Layout { mtu: MAX_MTU + 1, ..good },
            Layout { flows: 0, ..good },
            Layout { flows: MAX_FLOWS + 1, ..good },
            Layout { size: 0, ..good },
            Layout { operations: u64::MAX, ..good },
            Layout { operations: 1, size: 1 << 40, mtu: 1, ..good },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
        assert_eq!(Layout { operations: 0, size: 0, ..good }.check(), Ok(()));
    }
}
