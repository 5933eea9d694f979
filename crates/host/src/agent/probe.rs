//! What can be seen of a flow while it is sent.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::libc;
use tokio::net::TcpStream;

use crate::datagram::figures::{RoundTrips, SentFlow};

/// `struct tcp_info` (linux/tcp.h) as far as it is read: Linux 4.6 has this much of it.
#[derive(Clone, Copy, Debug)]
struct TcpInfo;

nix::getsockopt_impl!(
    TcpInfo,
    libc::IPPROTO_TCP,
    libc::TCP_INFO,
    [u8; TCP_INFO_BYTES],
    nix::sys::socket::sockopt::GetStruct<[u8; TCP_INFO_BYTES]>
);

const TCP_INFO_BYTES: usize = 152;
const RTT_US_AT: usize = 68;
const CWND_AT: usize = 80;
const RETRANSMISSIONS_AT: usize = 100;
const BYTES_ACKED_AT: usize = 120;
const MIN_RTT_US_AT: usize = 148;
/// The kernel's smallest round trip of a connection that has none yet.
const NO_MIN_RTT: u32 = u32::MAX;

/// The progress of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Bytes acknowledged.
    pub bytes: u64,
    /// The round trip now, in nanoseconds, as the carrier smooths it; none before the first.
    pub rtt_ns: Option<u64>,
    /// The smallest round trip, in nanoseconds.
    pub min_rtt_ns: Option<u64>,
    /// The window, in packets.
    pub cwnd: f64,
    /// Packets sent again.
    pub retransmissions: u64,
}

/// The means to look at a flow's progress.
#[derive(Clone, Debug)]
pub enum Probe {
    /// A connection of the kernel's TCP, and the bytes that were acknowledged on it before the flow began.
    Tcp(Arc<TcpStream>, u64),
    /// A QUIC connection, and the bytes that its receiver says it has.
    Quic(quinn::Connection, Arc<AtomicU64>),
    /// What a flow over sealed datagrams shows at every acknowledgement.
    Datagrams(Arc<Mutex<SentFlow>>),
}

impl Probe {
    /// A flow that is about to begin on a connection of the kernel's TCP.
    pub fn tcp(stream: &Arc<TcpStream>) -> Probe {
        Probe::Tcp(stream.clone(), tcp_info(stream).map_or(0, |info| u64_at(&info, BYTES_ACKED_AT)))
    }

    /// All of its round trips, where each is seen.
    pub fn round_trips(&self) -> Option<RoundTrips> {
        match self {
            Probe::Tcp(..) | Probe::Quic(..) => None,
            Probe::Datagrams(shown) => Some(locked(shown).rtt.clone()),
        }
    }

    /// What it has done so far; none where the kernel does not tell.
    pub fn look(&self) -> Option<Seen> {
        match self {
            Probe::Tcp(stream, before) => {
                let info = tcp_info(stream)?;
                let ns = |us: u32| u64::from(us) * 1000;
                let rtt = u32_at(&info, RTT_US_AT);
                let min_rtt = u32_at(&info, MIN_RTT_US_AT);
                Some(Seen {
                    bytes: u64_at(&info, BYTES_ACKED_AT).saturating_sub(*before),
                    rtt_ns: (rtt > 0).then(|| ns(rtt)),
                    min_rtt_ns: (min_rtt != NO_MIN_RTT).then(|| ns(min_rtt)),
                    cwnd: f64::from(u32_at(&info, CWND_AT)),
                    retransmissions: u64::from(u32_at(&info, RETRANSMISSIONS_AT)),
                })
            }
            Probe::Quic(connection, bytes) => {
                let path = connection.stats().path;
                Some(Seen {
                    bytes: bytes.load(Ordering::Relaxed),
                    rtt_ns: Some(path.rtt.as_nanos() as u64),
                    min_rtt_ns: Some(path.min_rtt.as_nanos() as u64),
                    cwnd: path.cwnd as f64 / f64::from(path.current_mtu.max(1)),
                    retransmissions: path.lost_packets,
                })
            }
            Probe::Datagrams(shown) => {
                let shown = locked(shown);
                Some(Seen {
                    bytes: shown.bytes,
                    rtt_ns: shown.latest_rtt.map(|rtt| rtt.as_ps() / 1000),
                    min_rtt_ns: shown.rtt.min_ns(),
                    cwnd: shown.cwnd,
                    retransmissions: shown.retransmissions,
                })
            }
        }
    }
}

fn locked(shown: &Mutex<SentFlow>) -> MutexGuard<'_, SentFlow> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tcp_info(stream: &impl AsFd) -> Option<[u8; TCP_INFO_BYTES]> {
    nix::sys::socket::getsockopt(stream, TcpInfo).ok()
}

fn u32_at(info: &[u8], place: usize) -> u32 {
    info[place..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

fn u64_at(info: &[u8], place: usize) -> u64 {
    info[place..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}
