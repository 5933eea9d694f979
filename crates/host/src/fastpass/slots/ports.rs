//! The UDP sockets of the data: one for each path through the network, which a datagram takes by its source port (ECMP), and of
//! which the first one also receives.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::cmsg_space;
use nix::libc::{BPF_K, BPF_RET};
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce, SndBuf, SndBufForce, UdpGroSegment, UdpGsoSegment};
use nix::sys::socket::{
    recvmsg, sendmsg, setsockopt, ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage,
};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::sockopt::{
    set_ip_mtu_discover, set_ipv6_mtu_discover, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery,
};
use socket2::{SockFilter, SockRef};

use super::fill::Fill;
use crate::daemon::output::Problem;

/// The kernel's buffer for what comes, in bytes: some milliseconds of a fast link.
const RECEIVED: usize = 16 << 20;
/// The time that a sender waits for room at once, and the number of times.
const ROOM_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
const ROOM_WAITS: u32 = 10;

/// The sockets.
#[derive(Debug)]
pub struct Ports {
    sockets: Vec<UdpSocket>,
    /// Whether the kernel and the device take datagrams joined.
    joined: AtomicBool,
}

/// The bytes of datagrams that left, and of those that did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Bytes of those that left.
    pub bytes: usize,
    /// Datagrams that the kernel did not take.
    pub failed: usize,
}

impl Ports {
    /// Sockets at `address` and `paths` ports from `port` on. The kernel keeps no more than about `unsent` bytes of each.
    pub fn open(address: IpAddr, port: u16, paths: u16, unsent: usize) -> Result<Ports, Problem> {
        let Some(beyond) = port.checked_add(paths.max(1) - 1) else {
            let told = format!("{paths} paths from port {port} on: there are no such ports");
            return Err(Problem::new(told, "choose a lower port for the data"));
        };
        let open = |port| {
            socket(SocketAddr::new(address, port), unsent).map_err(|error| {
                let remedy = match error.kind() {
                    io::ErrorKind::AddrInUse => "end what uses the port, or choose another for the data",
                    io::ErrorKind::AddrNotAvailable => {
                        "name an address of this host as the data address of this endpoint"
                    }
                    _ => "check the data address and the ports of this endpoint",
                };
                Problem::new(format!("data port {port} at {address}: {error}"), remedy)
            })
        };
        let sockets = (port..=beyond).map(open).collect::<Result<Vec<_>, _>>()?;
        // What comes to the ports of other paths is for nobody.
        let end = [SockFilter::new((BPF_RET | BPF_K) as u16, 0, 0, 0)];
        for socket in &sockets[1..] {
            let _ = SockRef::from(socket).attach_filter(&end);
        }
        let joined = setsockopt(&sockets[0], UdpGsoSegment, &0).is_ok();
        let _ = setsockopt(&sockets[0], UdpGroSegment, &true);
        Ok(Ports { sockets, joined: AtomicBool::new(joined) })
    }

    /// Sends the datagrams of a fill. Who is `patient` waits for room where there is none.
    pub fn send(&self, path: u16, to: SocketAddr, fill: &Fill, patient: bool) -> Sent {
        let socket = &self.sockets[usize::from(path) % self.sockets.len()];
        let to = SockaddrStorage::from(to);
        let (mut at, mut waits, mut sent) = (0, if patient { ROOM_WAITS } else { 0 }, Sent::default());
        while let Some(run) = fill.run(at, self.joined.load(Ordering::Relaxed)) {
            let segment = run.segment as u16;
            let control = [ControlMessage::UdpGsoSegments(&segment)];
            let control = if run.count > 1 { &control[..] } else { &[] };
            match sendmsg(socket.as_raw_fd(), &run.pieces, control, MsgFlags::MSG_DONTWAIT, Some(&to)) {
                Ok(_) => {
                    sent.bytes += run.bytes;
                    at += run.count;
                }
                Err(nix::Error::EINTR) => {}
                Err(nix::Error::EAGAIN) if waits > 0 => {
                    waits -= 1;
                    let _ = poll(&mut [PollFd::new(socket, PollFlags::OUT)], Some(&ROOM_WAIT));
                }
                // The device or the length does not allow it: by itself each shows what is wrong, if anything is.
                Err(nix::Error::EINVAL | nix::Error::EIO | nix::Error::EOPNOTSUPP) if run.count > 1 => {
                    self.joined.store(false, Ordering::Relaxed);
                }
                Err(_) => {
                    sent.failed += run.count;
                    at += run.count;
                }
            }
        }
        sent
    }

    /// Sends a datagram by itself. Returns whether the kernel has taken it.
    pub fn send_one(&self, path: u16, to: SocketAddr, bytes: &[u8]) -> bool {
        self.sockets[usize::from(path) % self.sockets.len()].send_to(bytes, to).is_ok()
    }

    /// The socket that datagrams come to.
    pub fn receiving(&self) -> &UdpSocket {
        &self.sockets[0]
    }

    /// Receives a datagram, or several joined ones, and returns the sender, the length of all, and that of each but the last;
    /// `None` if nothing has come, or the network said that something sent before has not arrived.
    pub fn receive(
        &self,
        buffer: &mut [u8],
        control: &mut [u8],
    ) -> io::Result<Option<(SocketAddr, usize, usize)>> {
        let mut pieces = [IoSliceMut::new(buffer)];
        let descriptor = self.sockets[0].as_raw_fd();
        let received = match recvmsg::<SockaddrStorage>(
            descriptor,
            &mut pieces,
            Some(control),
            MsgFlags::MSG_DONTWAIT,
        ) {
            Ok(received) => received,
            Err(error) => {
                let error = io::Error::from(error);
                return if ignorable(&error) { Ok(None) } else { Err(error) };
            }
        };
        let segments = received.cmsgs().into_iter().flatten().find_map(|message| match message {
            ControlMessageOwned::UdpGroSegments(length) => usize::try_from(length).ok(),
            _ => None,
        });
        let Some(from) = received.address.as_ref().and_then(address) else { return Ok(None) };
        Ok(Some((from, received.bytes, segments.unwrap_or(received.bytes).max(1))))
    }
}

/// Room for what the kernel tells of a datagram.
pub fn control() -> Vec<u8> {
    cmsg_space!(i32)
}

fn socket(at: SocketAddr, unsent: usize) -> io::Result<UdpSocket> {
    let udp = UdpSocket::bind(at)?;
    udp.set_nonblocking(true)?;
    match at {
        SocketAddr::V4(_) => set_ip_mtu_discover(&udp, Ipv4PathMtuDiscovery::DO)?,
        SocketAddr::V6(_) => set_ipv6_mtu_discover(&udp, Ipv6PathMtuDiscovery::DO)?,
    }
    // More room than is asked of everyone needs a privilege; without it there is as much as the system allows.
    setsockopt(&udp, RcvBufForce, &RECEIVED).or_else(|_| setsockopt(&udp, RcvBuf, &RECEIVED))?;
    setsockopt(&udp, SndBufForce, &unsent).or_else(|_| setsockopt(&udp, SndBuf, &unsent))?;
    Ok(udp)
}

fn ignorable(error: &io::Error) -> bool {
    let errors = [Errno::AGAIN, Errno::INTR, Errno::CONNREFUSED, Errno::HOSTUNREACH, Errno::NETUNREACH];
    Errno::from_io_error(error).is_some_and(|error| errors.contains(&error))
}

fn address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| SocketAddr::V4((*v4).into()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| SocketAddr::V6((*v6).into())))
}
