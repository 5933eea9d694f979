//! The address of this host at which each peer has reached it. A socket that listens at all addresses answers from there:
//! the kernel might choose another one, and the peer would take the answer for a stranger's.

use std::net::SocketAddr;

use nix::libc::{in6_pktinfo, in_addr, in_pktinfo};
use nix::sys::socket::ControlMessage;

/// Peers that are remembered; who is not is answered from the address that the kernel chooses.
const PEERS: usize = 16;

/// An address of this host, in the form in which the kernel tells and takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Local {
    V4(in_pktinfo),
    V6(in6_pktinfo),
}

impl Local {
    /// The address in what the kernel tells of a datagram; which interface it came by says nothing of the way back.
    pub(crate) fn v4(told: in_pktinfo) -> Local {
        Local::V4(in_pktinfo {
            ipi_ifindex: 0,
            ipi_spec_dst: told.ipi_spec_dst,
            ipi_addr: in_addr { s_addr: 0 },
        })
    }

    /// Does what [`Self::v4`] does, for IPv6 and for IPv4 that an IPv6 socket has received.
    pub(crate) fn v6(told: in6_pktinfo) -> Local {
        Local::V6(in6_pktinfo { ipi6_ifindex: 0, ..told })
    }

    /// The control message that makes a datagram leave from this address.
    pub(crate) fn message(&self) -> ControlMessage<'_> {
        match self {
            Local::V4(info) => ControlMessage::Ipv4PacketInfo(info),
            Local::V6(info) => ControlMessage::Ipv6PacketInfo(info),
        }
    }
}

/// The peers that were heard last, the latest first.
#[derive(Debug, Default)]
pub(crate) struct Reached(Vec<(SocketAddr, Local)>);

impl Reached {
    /// A peer has reached this host at `local`.
    pub(crate) fn note(&mut self, peer: SocketAddr, local: Local) {
        match self.0.first_mut() {
            Some(latest) if latest.0 == peer => latest.1 = local,
            _ => {
                self.0.retain(|(known, _)| *known != peer);
                self.0.truncate(PEERS - 1);
                self.0.insert(0, (peer, local));
            }
        }
    }

    /// The address at which a peer has reached this host.
    pub(crate) fn at(&self, peer: SocketAddr) -> Option<&Local> {
        self.0.iter().find(|(known, _)| *known == peer).map(|(_, local)| local)
    }
}
