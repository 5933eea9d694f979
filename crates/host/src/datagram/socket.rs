//! A UDP socket for the driver: it sends and receives in batches, and tells with each datagram what the kernel knows of
//! it (arrival, TTL).
//!
//! Datagrams of one length to one peer leave as one (`UDP_SEGMENT`) and may arrive so (`UDP_GRO`) where the kernel can.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use clearway_proto::units::Span;
use nix::cmsg_space;
use nix::libc::{in6_pktinfo, in_pktinfo, BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
use nix::sys::socket::sockopt::{
    Ipv4PacketInfo, Ipv4RecvTtl, Ipv4Ttl, Ipv6RecvHopLimit, Ipv6RecvPacketInfo, Ipv6Ttl, Priority, RcvBuf,
    RcvBufForce, RxqOvfl, SndBuf, SndBufForce, Timestamping, UdpGroSegment, UdpGsoSegment,
};
use nix::sys::socket::{
    recvmmsg, sendmsg, setsockopt, ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, RecvMsg,
    SockaddrStorage, TimestampingFlag, Timestamps,
};
use nix::sys::time::TimeSpec;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::sockopt::{
    set_ip_mtu_discover, set_ipv6_mtu_discover, Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery,
};

use socket2::{SockFilter, SockRef};

use super::clock::Stamp;
use super::reached::{Local, Reached};

/// Datagrams, or runs of joined ones, that are received at once.
const RECEIVED_AT_ONCE: usize = 16;
/// Datagrams that are gathered before they are sent: as many of an Ethernet frame's length as can leave joined.
pub const BATCH: usize = 44;
/// What IPv6 and UDP add to a datagram, in bytes; IPv4 adds 20 bytes less.
pub const IP_UDP_BYTES: usize = 48;
/// The longest datagram, and the longest run of joined ones, in bytes.
const MAX_DATAGRAM: usize = 65_507;
/// The TTL with which a sender's packets start; what is missing of it on arrival are the hops (Swift, appendix B).
pub const INITIAL_TTL: u8 = 64;
/// The size of the kernel's buffers that is asked for, in each direction.
const KERNEL_BUFFER: usize = 8 << 20;

/// A received datagram: its sender, the kernel's stamps, and the switches on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The address of the datagram's sender.
    pub from: SocketAddr,
    /// When the kernel received the datagram; none where it did not say.
    pub stamp: Option<Stamp>,
    /// How many switches the datagram crossed: what is missing of its TTL.
    pub hops: u8,
}

/// Where datagrams are written before they leave together.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    used: usize,
    datagrams: Vec<Outgoing>,
}

#[derive(Clone, Copy, Debug)]
struct Outgoing {
    start: usize,
    len: usize,
    to: SocketAddr,
}

impl Outbox {
    /// Returns whether no further datagram fits.
    pub fn is_full(&self) -> bool {
        self.datagrams.len() >= BATCH
    }

    /// Returns whether no datagram waits.
    pub fn is_empty(&self) -> bool {
        self.datagrams.is_empty()
    }

    /// Adds the datagram that `write` puts into the buffer that it is given (of any datagram's length); `write` says
    /// how long it is and whom it is for, or that there is none after all.
    pub fn add(&mut self, write: impl FnOnce(&mut [u8]) -> Option<(usize, SocketAddr)>) {
        let start = self.used;
        if self.bytes.len() <= start + MAX_DATAGRAM {
            self.bytes.resize(start + MAX_DATAGRAM + 1, 0);
        }
        if let Some((len, to)) = write(&mut self.bytes[start..]) {
            self.datagrams.push(Outgoing { start, len, to });
            self.used += len;
        }
    }

    /// Returns how many datagrams, from the first on, can leave joined: they have one length and one peer, and the last may be
    /// shorter.
    fn run(&self, from: usize, joined: bool) -> usize {
        let first = self.datagrams[from];
        let mut total = first.len;
        let mut count = 1;
        while let Some(next) = self.datagrams.get(from + count).filter(|_| joined) {
            let full = self.datagrams[from + count - 1].len == first.len;
            total += next.len;
            if !full || next.to != first.to || next.len > first.len || next.len == 0 || total > MAX_DATAGRAM {
                break;
            }
            count += 1;
        }
        count
    }

    /// Forgets the first `count` datagrams.
    fn forget(&mut self, count: usize) {
        self.datagrams.drain(..count);
        let gone = self.datagrams.first().map_or(self.used, |first| first.start);
        self.bytes.copy_within(gone..self.used, 0);
        self.used -= gone;
        self.datagrams.iter_mut().for_each(|datagram| datagram.start -= gone);
    }
}

/// Where received datagrams are kept.
#[derive(Debug)]
struct Inbox {
    buffers: [Box<[u8]>; RECEIVED_AT_ONCE],
    headers: MultiHeaders<SockaddrStorage>,
    received: Vec<Received>,
}

/// A datagram, or a run of joined ones.
#[derive(Clone, Copy, Debug)]
struct Received {
    /// The index of its buffer.
    at: usize,
    envelope: Envelope,
    len: usize,
    /// The length of each joined datagram; the last may be shorter.
    segment: usize,
}

/// A bound UDP socket, of the thread that made it.
#[derive(Debug)]
pub struct Socket {
    udp: UdpSocket,
    joined: bool,
    /// Whether datagrams that are too long for the path may leave in fragments.
    fragments: bool,
    /// The length of the datagram that showed it.
    fragmented: Option<usize>,
    inbox: Inbox,
    outbox: Outbox,
    /// Datagrams that the kernel dropped, by its latest count.
    overflow: u32,
    reached: Reached,
}

impl Socket {
    /// Binds a socket to `address`.
    pub fn bind(address: SocketAddr) -> io::Result<Socket> {
        let udp = UdpSocket::bind(address)?;
        udp.set_nonblocking(true)?;
        let mut socket = Socket {
            udp,
            joined: true,
            fragments: false,
            fragmented: None,
            inbox: Inbox::new(),
            outbox: Outbox::default(),
            overflow: 0,
            reached: Reached::default(),
        };
        socket.configure(address.is_ipv6())?;
        if address.ip().is_unspecified() {
            match address {
                SocketAddr::V4(_) => setsockopt(&socket.udp, Ipv4PacketInfo, &true)?,
                SocketAddr::V6(_) => setsockopt(&socket.udp, Ipv6RecvPacketInfo, &true)?,
            }
        }
        Ok(socket)
    }

    fn configure(&mut self, v6: bool) -> io::Result<()> {
        let udp = &self.udp;
        let stamps =
            TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE | TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE;
        setsockopt(udp, Timestamping, &stamps)?;
        setsockopt(udp, RxqOvfl, &1)?;
        let ttl = i32::from(INITIAL_TTL);
        if v6 {
            setsockopt(udp, Ipv6Ttl, &ttl)?;
            setsockopt(udp, Ipv6RecvHopLimit, &true)?;
            set_ipv6_mtu_discover(udp, Ipv6PathMtuDiscovery::DO)?;
        }
        // What comes to an IPv6 socket may be of IPv4, with its address mapped.
        setsockopt(udp, Ipv4Ttl, &ttl)?;
        setsockopt(udp, Ipv4RecvTtl, &true)?;
        set_ip_mtu_discover(udp, Ipv4PathMtuDiscovery::DO)?;
        // More room than is asked of everyone needs a privilege; without it there is as much as the system allows.
        setsockopt(udp, RcvBufForce, &KERNEL_BUFFER).or_else(|_| setsockopt(udp, RcvBuf, &KERNEL_BUFFER))?;
        setsockopt(udp, SndBufForce, &KERNEL_BUFFER).or_else(|_| setsockopt(udp, SndBuf, &KERNEL_BUFFER))?;
        // Kernels before 4.18 and 5.0 cannot: each datagram then goes by itself.
        self.joined = setsockopt(udp, UdpGsoSegment, &0).is_ok();
        let _ = setsockopt(udp, UdpGroSegment, &true);
        Ok(())
    }

    /// The address that it is bound to.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    /// Datagrams that the kernel dropped before they were received, for lack of room or as they are not [admitted](Self::admit).
    pub fn overflow(&self) -> u32 {
        self.overflow
    }

    /// The outbox, for datagrams that are to leave with the next [`Self::flush`].
    pub fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Receives what has arrived, for [`Self::next`], and returns how many runs of datagrams it is.
    pub fn receive(&mut self) -> io::Result<usize> {
        match self.inbox.receive(self.udp.as_raw_fd(), &mut self.reached) {
            Ok(overflow) => self.overflow = overflow.unwrap_or(self.overflow),
            // Also of a datagram that was sent before and met nobody: the peer's silence says the same.
            Err(error) if ignorable(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(self.inbox.received.len())
    }

    /// Lets the kernel keep only datagrams that begin with these four bytes: others do not take room from those that do.
    pub fn admit(&self, first: [u8; 4]) -> io::Result<()> {
        // What comes is seen from its UDP header on, which has 8 bytes.
        let load = SockFilter::new((BPF_LD | BPF_W | BPF_ABS) as u16, 0, 0, 8);
        let equal = SockFilter::new((BPF_JMP | BPF_JEQ | BPF_K) as u16, 0, 1, u32::from_be_bytes(first));
        let end = |kept| SockFilter::new((BPF_RET | BPF_K) as u16, 0, 0, kept);
        SockRef::from(&self.udp).attach_filter(&[load, equal, end(u32::MAX), end(0)])
    }

    /// Gives what leaves a priority of the kernel's queueing disciplines (`SO_PRIORITY`).
    pub fn set_priority(&self, priority: u32) -> io::Result<()> {
        setsockopt(&self.udp, Priority, &i32::from_ne_bytes(priority.to_ne_bytes()))?;
        Ok(())
    }

    /// The length of datagrams that are too long for the path, if some were since this was last asked: they leave in
    /// fragments from then on.
    pub fn take_fragmented(&mut self) -> Option<usize> {
        self.fragmented.take()
    }

    /// The datagram of run `run` that begins at byte `at`, which moves on; `None` after the last.
    pub fn next(&mut self, run: usize, at: &mut usize) -> Option<(Envelope, &mut [u8])> {
        let received = self.inbox.received[run];
        // An empty datagram is one, too.
        if *at > 0 && *at >= received.len {
            return None;
        }
        let (from, to) = (*at, (*at + received.segment).min(received.len));
        *at = to.max(1);
        Some((received.envelope, &mut self.inbox.buffers[received.at][from..to]))
    }

    /// Sends what the outbox holds; what the kernel has no room for stays. Datagrams that cannot be sent are discarded,
    /// and `failed` is told of each kind of error with their number.
    pub fn flush(&mut self, mut failed: impl FnMut(usize, io::Error)) {
        let mut done = 0;
        while done < self.outbox.datagrams.len() {
            let run = self.outbox.run(done, self.joined);
            match self.send(done, run) {
                Ok(()) => done += run,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if run > 1 && unjoinable(&error) => self.joined = false,
                Err(error) if !self.fragments && is_too_long(&error) => {
                    self.fragments = true;
                    if self.allow_fragments().is_ok() {
                        self.fragmented = Some(self.outbox.datagrams[done].len);
                    }
                }
                Err(error) => {
                    done += run;
                    failed(run, error);
                }
            }
        }
        self.outbox.forget(done);
    }

    /// Sends a run of the outbox, from its datagram `from` on, with one system call.
    fn send(&self, from: usize, run: usize) -> io::Result<()> {
        let (first, last) = (self.outbox.datagrams[from], self.outbox.datagrams[from + run - 1]);
        let piece = [IoSlice::new(&self.outbox.bytes[first.start..last.start + last.len])];
        let length = first.len as u16;
        let cut = ControlMessage::UdpGsoSegments(&length);
        let from_where = self.reached.at(first.to).map(Local::message);
        let both = [cut, from_where.unwrap_or(cut)];
        let control = match (run > 1, from_where) {
            (true, Some(_)) => &both[..],
            (true, None) => &both[..1],
            (false, Some(_)) => &both[1..],
            (false, None) => &[],
        };
        let to = SockaddrStorage::from(first.to);
        sendmsg(self.udp.as_raw_fd(), &piece, control, MsgFlags::empty(), Some(&to))?;
        Ok(())
    }

    /// Lets the kernel, and routers of IPv4, cut datagrams that are too long for the path.
    fn allow_fragments(&self) -> io::Result<()> {
        if self.udp.local_addr()?.is_ipv6() {
            set_ipv6_mtu_discover(&self.udp, Ipv6PathMtuDiscovery::DONT)?;
        }
        set_ip_mtu_discover(&self.udp, Ipv4PathMtuDiscovery::DONT)?;
        Ok(())
    }

    /// Waits until a datagram has arrived, until there is room for what the outbox holds, until `wake` can be read, or until
    /// `at_most` has passed. Returns whether `wake` can be read.
    pub fn wait(&self, wake: &OwnedFd, at_most: Span) -> io::Result<bool> {
        let mut events = PollFlags::IN;
        if !self.outbox.is_empty() {
            events |= PollFlags::OUT;
        }
        // A time that the kernel cannot hold is for ever.
        let timeout = Timespec::try_from(Duration::from_nanos(at_most.as_ps() / 1000)).ok();
        let mut both = [PollFd::new(&self.udp, events), PollFd::new(wake, PollFlags::IN)];
        match poll(&mut both, timeout.as_ref()) {
            Err(error) if error != Errno::INTR => Err(error.into()),
            _ => Ok(!both[1].revents().is_empty()),
        }
    }
}

impl Inbox {
    fn new() -> Inbox {
        Inbox {
            buffers: std::array::from_fn(|_| vec![0; MAX_DATAGRAM + 1].into_boxed_slice()),
            headers: headers(),
            received: Vec::with_capacity(RECEIVED_AT_ONCE),
        }
    }

    /// Receives what has arrived; the kernel's count of dropped datagrams, if it gave one.
    fn receive(&mut self, socket: RawFd, reached: &mut Reached) -> io::Result<Option<u32>> {
        if !self.received.is_empty() {
            // The kernel has written into them how much it told, which would be the room for it the next time.
            self.headers = headers();
        }
        self.received.clear();
        let mut pieces = self.buffers.each_mut().map(|buffer| [IoSliceMut::new(buffer)]);
        let results = recvmmsg(socket, &mut self.headers, &mut pieces, MsgFlags::MSG_DONTWAIT, None)?;
        let mut overflow = None;
        for (at, datagram) in results.enumerate() {
            // More was told than there is room for, which no kernel does so far: without its segments it is nothing.
            let Ok(told) = Told::by(&datagram) else { continue };
            overflow = told.overflow.or(overflow);
            let Some(from) = datagram.address.as_ref().and_then(address) else { continue };
            if let Some(local) = told.local {
                reached.note(from, local);
            }
            let hops = told.ttl.map_or(0, |ttl| INITIAL_TTL.saturating_sub(ttl));
            let len = datagram.bytes;
            self.received.push(Received {
                at,
                envelope: Envelope { from, stamp: told.stamp, hops },
                len,
                segment: told.segment.unwrap_or(len).max(1),
            });
        }
        Ok(overflow)
    }
}

/// Room for the addresses and the control messages of what is received at once.
fn headers() -> MultiHeaders<SockaddrStorage> {
    // Stamps, TTL and address (as IPv4 and IPv6 have them), overflow and the length of joined datagrams.
    let control = cmsg_space!(Timestamps, i32, i32, in_pktinfo, in6_pktinfo, u32, i32);
    MultiHeaders::preallocate(RECEIVED_AT_ONCE, Some(control))
}

/// Returns whether the device, or the packets' length, does not allow datagrams to be joined: each is then sent by itself,
/// which shows what is wrong, if anything is.
fn unjoinable(error: &io::Error) -> bool {
    let errors = [Errno::INVAL, Errno::IO, Errno::OPNOTSUPP, Errno::MSGSIZE];
    Errno::from_io_error(error).is_some_and(|error| errors.contains(&error))
}

fn is_too_long(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::MSGSIZE)
}

fn ignorable(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, Interrupted, NetworkUnreachable, WouldBlock};
    matches!(
        error.kind(),
        WouldBlock | Interrupted | ConnectionRefused | HostUnreachable | NetworkUnreachable
    )
}

/// What the kernel tells about a datagram.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    stamp: Option<Stamp>,
    ttl: Option<u8>,
    overflow: Option<u32>,
    segment: Option<usize>,
    local: Option<Local>,
}

impl Told {
    fn by(datagram: &RecvMsg<SockaddrStorage>) -> io::Result<Told> {
        let mut told = Told::default();
        for message in datagram.cmsgs()? {
            match message {
                ControlMessageOwned::ScmTimestampsns(stamps) => told.stamp = stamp(stamps.system),
                ControlMessageOwned::Ipv4Ttl(ttl) | ControlMessageOwned::Ipv6HopLimit(ttl) => {
                    told.ttl = Some(ttl.clamp(0, 255) as u8);
                }
                ControlMessageOwned::Ipv4PacketInfo(info) => told.local = Some(Local::v4(info)),
                ControlMessageOwned::Ipv6PacketInfo(info) => told.local = Some(Local::v6(info)),
                ControlMessageOwned::RxqOvfl(dropped) => told.overflow = Some(dropped),
                ControlMessageOwned::UdpGroSegments(len) => told.segment = usize::try_from(len).ok(),
                _ => {}
            }
        }
        Ok(told)
    }
}

/// The kernel's own stamp; zero stands for none.
fn stamp(time: TimeSpec) -> Option<Stamp> {
    let ns = time.tv_sec().checked_mul(1_000_000_000)?.checked_add(time.tv_nsec())?;
    (ns != 0).then_some(Stamp(ns))
}

fn address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|v4| SocketAddr::V4((*v4).into()));
    v4.or_else(|| address.as_sockaddr_in6().map(|v6| SocketAddr::V6((*v6).into())))
}

#[cfg(test)]
mod tests;
