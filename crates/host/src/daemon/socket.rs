//! A UDP socket for the driver: it sends and receives in batches, and tells with each datagram what the kernel knows of
//! it (arrival, TTL).
//!
//! Datagrams of one length to one peer leave as one (`UDP_SEGMENT`) and may arrive so (`UDP_GRO`) where the kernel can.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use clearway_proto::units::Span;
use nix::cmsg_space;
use nix::libc::{in6_pktinfo, in_pktinfo};
use nix::sys::socket::sockopt::{
    Ipv4PacketInfo, Ipv4RecvTtl, Ipv4Ttl, Ipv6RecvHopLimit, Ipv6RecvPacketInfo, Ipv6Ttl, RcvBuf, RcvBufForce,
    RxqOvfl, SndBuf, SndBufForce, Timestamping, UdpGroSegment, UdpGsoSegment,
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

use crate::daemon::clock::Stamp;
use crate::daemon::reached::{Local, Reached};

/// Datagrams, or runs of joined ones, that are received at once.
const RECEIVED_AT_ONCE: usize = 16;
/// Datagrams that are gathered before they are sent.
pub const BATCH: usize = 16;
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
    /// Whether no further datagram fits.
    pub fn is_full(&self) -> bool {
        self.datagrams.len() >= BATCH
    }

    /// Whether no datagram waits.
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

    /// How many datagrams, from the first on, can leave joined: they have one length and one peer, and the last may be
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
    inbox: Inbox,
    outbox: Outbox,
    /// Datagrams that the kernel dropped for lack of room.
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

    /// Datagrams that the kernel dropped before they were received, for lack of room.
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

    /// The datagram of run `run` that begins at byte `at`, which moves on, with the outbox for answers; none after the
    /// last.
    pub fn next(&mut self, run: usize, at: &mut usize) -> Option<(Envelope, &[u8], &mut Outbox)> {
        let received = self.inbox.received[run];
        // An empty datagram is one, too.
        if *at > 0 && *at >= received.len {
            return None;
        }
        let (from, to) = (*at, (*at + received.segment).min(received.len));
        *at = to.max(1);
        Some((received.envelope, &self.inbox.buffers[received.at][from..to], &mut self.outbox))
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

    /// Waits until a datagram has arrived, until there is room for what the outbox holds, or until `at_most` has
    /// passed.
    pub fn wait(&self, at_most: Span) -> io::Result<()> {
        let mut events = PollFlags::IN;
        if !self.outbox.is_empty() {
            events |= PollFlags::OUT;
        }
        // A time that the kernel cannot hold is for ever.
        let timeout = Timespec::try_from(Duration::from_nanos(at_most.as_ps() / 1000)).ok();
        match poll(&mut [PollFd::new(&self.udp, events)], timeout.as_ref()) {
            Err(error) if error != Errno::INTR => Err(error.into()),
            _ => Ok(()),
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

/// Whether the device, or the packets' length, does not allow datagrams to be joined: each is then sent by itself,
/// which shows what is wrong, if anything is.
fn unjoinable(error: &io::Error) -> bool {
    let errors = [Errno::INVAL, Errno::IO, Errno::OPNOTSUPP, Errno::MSGSIZE];
    Errno::from_io_error(error).is_some_and(|error| errors.contains(&error))
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
mod tests {
    use super::*;

    fn exchange(datagrams: &[(usize, u8)], joined: bool) -> Vec<(usize, u8, Envelope)> {
        exchange_from(Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap(), datagrams, joined)
    }

    fn exchange_from(
        mut sender: Socket,
        datagrams: &[(usize, u8)],
        joined: bool,
    ) -> Vec<(usize, u8, Envelope)> {
        let mut receiver = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        sender.joined &= joined;
        let received = pass(&mut sender, &mut receiver, datagrams);
        assert!(received.iter().all(|(.., envelope)| envelope.from == sender.local_addr().unwrap()));
        received
    }

    fn pass(
        sender: &mut Socket,
        receiver: &mut Socket,
        datagrams: &[(usize, u8)],
    ) -> Vec<(usize, u8, Envelope)> {
        let to = receiver.local_addr().unwrap();
        pass_to(sender, receiver, to, datagrams)
    }

    fn pass_to(
        sender: &mut Socket,
        receiver: &mut Socket,
        to: SocketAddr,
        datagrams: &[(usize, u8)],
    ) -> Vec<(usize, u8, Envelope)> {
        for &(len, byte) in datagrams {
            sender.outbox().add(|buffer| {
                buffer[..len].fill(byte);
                Some((len, to))
            });
        }
        sender.flush(|_, error| panic!("{error}"));
        let mut received = Vec::new();
        let mut looks = 0;
        while received.len() < datagrams.len() {
            receiver.wait(Span::from_secs(1)).unwrap();
            looks += 1;
            assert!(looks < 30, "{} of {} datagrams came", received.len(), datagrams.len());
            for run in 0..receiver.receive().unwrap() {
                let mut at = 0;
                while let Some((envelope, bytes, _)) = receiver.next(run, &mut at) {
                    assert!(bytes.iter().all(|byte| byte == &bytes[0]));
                    received.push((bytes.len(), bytes.first().copied().unwrap_or(0), envelope));
                }
            }
        }
        received
    }

    #[test]
    fn datagrams_come_as_they_were_sent_joined_or_not() {
        let sent = [(100, 1), (100, 2), (100, 3), (40, 4), (100, 5), (300, 6), (0, 0), (1, 7), (1, 8)];
        for joined in [true, false] {
            let received: Vec<_> =
                exchange(&sent, joined).into_iter().map(|(len, byte, _)| (len, byte)).collect();
            assert_eq!(received, sent);
        }
    }

    #[test]
    fn runs_are_of_one_length_and_one_peer() {
        let (here, there) = ("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap());
        let mut outbox = Outbox::default();
        for (len, to) in [(9, here), (9, here), (5, here), (9, here), (9, there), (9, there), (10, there)] {
            outbox.add(|_| Some((len, to)));
        }
        let runs = |joined| {
            let (mut from, mut runs) = (0, Vec::new());
            while from < outbox.datagrams.len() {
                runs.push(outbox.run(from, joined));
                from += runs[runs.len() - 1];
            }
            runs
        };
        assert_eq!(runs(true), [3, 1, 2, 1]);
        assert_eq!(runs(false), [1; 7]);
    }

    #[test]
    fn what_stays_in_the_outbox_stays_whole() {
        let to = "127.0.0.1:1".parse().unwrap();
        let mut outbox = Outbox::default();
        let put = |outbox: &mut Outbox, byte: u8| {
            outbox.add(|buffer| {
                buffer[..usize::from(byte)].fill(byte);
                Some((usize::from(byte), to))
            });
        };
        for byte in [5, 9, 7] {
            put(&mut outbox, byte);
        }
        outbox.forget(1);
        put(&mut outbox, 3);
        for (datagram, byte) in outbox.datagrams.iter().zip([9_u8, 7, 3]) {
            assert_eq!(outbox.bytes[datagram.start..][..datagram.len], vec![byte; usize::from(byte)]);
        }
        outbox.forget(3);
        assert!(outbox.is_empty() && outbox.used == 0);
    }

    #[test]
    fn the_kernel_says_when_a_datagram_came_and_how_far() {
        // The kernel begins to stamp some time after a socket asked it to, and stops when none does any more.
        let asking = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let mut attempts = (0..500).flat_map(|_| {
            asking.wait(Span::from_ms(10)).unwrap();
            exchange(&[(10, 1)], true)
        });
        let stamped = attempts.find(|(.., envelope)| envelope.stamp.is_some());
        let (.., envelope) = stamped.expect("a stamp");
        assert_eq!(envelope.hops, 0);
        let sender = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        setsockopt(&sender.udp, Ipv4Ttl, &61).unwrap();
        let (.., far) = exchange_from(sender, &[(10, 1)], true)[0];
        assert_eq!(far.hops, 3);
    }

    #[test]
    fn too_long_a_datagram_is_told() {
        let mut sender = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let to = sender.local_addr().unwrap();
        sender.outbox().add(|_| Some((MAX_DATAGRAM + 1, to)).filter(|_| true));
        let mut errors = Vec::new();
        sender.flush(|count, error| errors.push((count, error.raw_os_error())));
        assert_eq!(errors, [(1, Some(Errno::MSGSIZE.raw_os_error()))]);
    }

    #[test]
    fn addresses_are_read_as_written() {
        for text in ["127.0.0.1:9", "[::1]:65535", "[fe80::1%3]:7"] {
            let address_in: SocketAddr = text.parse().unwrap();
            assert_eq!(address(&SockaddrStorage::from(address_in)), Some(address_in));
        }
    }

    /// The kernel says how much it told of each datagram, and the room for the next one must not shrink to that.
    #[test]
    fn what_is_told_of_later_datagrams_has_room() {
        let lone = [(10, 1)];
        let run: Vec<(usize, u8)> = (0..10).map(|byte| (1000, byte)).collect();
        let mut receiver = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let mut sender = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        for datagrams in [&lone[..], &run, &lone, &run] {
            assert_eq!(pass(&mut sender, &mut receiver, datagrams).len(), datagrams.len());
        }
    }

    /// An IPv6 socket hears of IPv4, too.
    #[test]
    fn a_sender_of_ipv4_is_heard_by_an_ipv6_socket_with_its_ttl() {
        let Ok(mut receiver) = Socket::bind("[::]:0".parse().unwrap()) else {
            println!("skipped: no IPv6 here");
            return;
        };
        let port = receiver.local_addr().unwrap().port();
        for (from, to) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1")] {
            let Ok(mut sender) = Socket::bind(from.parse().unwrap()) else {
                println!("skipped: no {to} here");
                continue;
            };
            if to == "127.0.0.1" {
                setsockopt(&sender.udp, Ipv4Ttl, &61).unwrap();
            } else {
                setsockopt(&sender.udp, Ipv6Ttl, &61).unwrap();
            }
            let to = SocketAddr::new(to.parse().unwrap(), port);
            let (len, byte, envelope) = pass_to(&mut sender, &mut receiver, to, &[(10, 1)])[0];
            assert_eq!((len, byte, envelope.hops), (10, 1, 3));
            assert_eq!(envelope.from.ip().to_canonical(), to.ip());
        }
    }
}
