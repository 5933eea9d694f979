//! The settings by which an endpoint carries its host's packets.

use clearway_proto::units::Span;

/// The settings by which a host's packets are carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The name of the TUN device. Default: `clearway0`.
    pub tun: String,
    /// The UDP port that encapsulated packets go to; those of path `k` leave from the `k`-th port after it. The same at all
    /// endpoints. Default: 7611.
    pub port: u16,
    /// Time at the end of a slot in which nothing is sent, as clocks and wake-ups are not exact: a slot carries the bytes of the
    /// rest. Default: 5 us, 1 % of a slot of 500 us.
    pub guard: Span,
    /// The time that a link takes for what may wait for one destination, beyond which packets are dropped; never less than eight
    /// super-packets. Default: 8 ms, in which a few flows find room.
    pub queue: Span,
    /// Packets that the kernel keeps for a reader of the device. Default: 512.
    pub ring: u32,
    /// Queues of the device, each with a thread that reads it. More than one help where there are cores to spare. Default: 1.
    pub queues: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            tun: "clearway0".into(),
            port: 7611,
            guard: Span::from_us(5),
            queue: Span::from_ms(8),
            ring: 512,
            queues: 1,
        }
    }
}
