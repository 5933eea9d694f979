//! What each socket that has Swift has counted: `struct record` of `bpf/swift.bpf.c`, as the kernel writes it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::parameters::number;

/// Buckets of a histogram of round trips.
pub const RTT_BUCKETS: usize = 24;
/// Words of a socket's counters, without the histogram.
const WORDS: usize = 13;
/// Bytes of a record.
const RECORD: usize = (WORDS + RTT_BUCKETS) * 8 + 40;

const AF_INET6: u16 = 10;

/// What a socket has counted, or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Acknowledgements with a sample of the round trip.
    pub acks: u64,
    /// Packets that these acknowledged.
    pub acked_packets: u64,
    /// Decreases of the window as the delay was above its target.
    pub delay_decreases: u64,
    /// Decreases of the window as packets were lost.
    pub loss_decreases: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Time with a window below one packet, in nanoseconds.
    pub below_one_ns: u64,
    /// The sum of all round trips, in microseconds.
    pub rtt_sum_us: u64,
    /// How many round trips were from 2^b microseconds on, for each b; the first has the shorter ones, too, and the last the longer.
    pub rtt: [u64; RTT_BUCKETS],
}

impl Counters {
    /// Adds what others have counted.
    pub fn add(&mut self, other: &Counters) {
        self.acks += other.acks;
        self.acked_packets += other.acked_packets;
        self.delay_decreases += other.delay_decreases;
        self.loss_decreases += other.loss_decreases;
        self.timeouts += other.timeouts;
        self.below_one_ns += other.below_one_ns;
        self.rtt_sum_us += other.rtt_sum_us;
        self.rtt.iter_mut().zip(other.rtt).for_each(|(own, other)| *own += other);
    }

    /// The mean round trip, in microseconds; none before the first.
    pub fn mean_rtt_us(&self) -> Option<f64> {
        (self.acks > 0).then(|| self.rtt_sum_us as f64 / self.acks as f64)
    }

    /// Returns the counters in `struct counters`, as the kernel writes it; `None` if it is shorter.
    pub fn decode(bytes: &[u8]) -> Option<Counters> {
        let word = |at: usize| Some(u64::from_ne_bytes(bytes.get(at * 8..)?.get(..8)?.try_into().ok()?));
        let mut rtt = [0; RTT_BUCKETS];
        for (bucket, count) in rtt.iter_mut().enumerate() {
            *count = word(WORDS + bucket)?;
        }
        Some(Counters {
            acks: word(1)?,
            acked_packets: word(2)?,
            delay_decreases: word(3)?,
            loss_decreases: word(4)?,
            timeouts: word(5)?,
            below_one_ns: word(6)?,
            rtt_sum_us: word(10)?,
            rtt,
        })
    }
}

/// A socket.
#[derive(Clone, Debug, PartialEq)]
pub struct Socket {
    /// Its own end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// What it has counted.
    pub counters: Counters,
    /// The window, in packets.
    pub cwnd: f64,
    /// The target of its round trip, in nanoseconds.
    pub target_ns: u64,
    /// The smoothed round trip, in nanoseconds; 0 before the first.
    pub srtt_ns: u64,
    /// Between two packets of a window below one, in nanoseconds; 0 from one packet on.
    pub pacing_gap_ns: u64,
    /// How long the other end said that it waited before it acknowledged, the last time, in nanoseconds; 0 where it says nothing.
    pub waited_ns: u64,
}

/// Returns the sockets in what the kernel wrote; `None` if that is not a whole number of records.
pub fn decode(bytes: &[u8]) -> Option<Vec<Socket>> {
    let records = bytes.chunks_exact(RECORD);
    records.remainder().is_empty().then(|| records.map(socket).collect())
}

fn socket(record: &[u8]) -> Socket {
    let word = |at: usize| u64::from_ne_bytes(record[at * 8..][..8].try_into().expect("eight bytes"));
    let rest = &record[(WORDS + RTT_BUCKETS) * 8..];
    let native = |at: usize| u16::from_ne_bytes([rest[at], rest[at + 1]]);
    let family = native(36);
    let address = |at: usize| -> IpAddr {
        let bytes: [u8; 16] = rest[at..][..16].try_into().expect("sixteen bytes");
        if family == AF_INET6 {
            Ipv6Addr::from(bytes).to_canonical()
        } else {
            Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into()
        }
    };
    Socket {
        local: SocketAddr::new(address(0), native(32)),
        remote: SocketAddr::new(address(16), u16::from_be_bytes([rest[34], rest[35]])),
        counters: Counters::decode(record).expect("a record is long enough"),
        cwnd: number(word(7)),
        target_ns: word(8),
        srtt_ns: word(9),
        pacing_gap_ns: word(11),
        waited_ns: word(12),
    }
}
