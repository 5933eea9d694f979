//! A UDP socket for the driver: it sends and receives in batches, and tells with each datagram what the kernel knows of
//! it (arrival, TTL). The only `unsafe` of this crate is here: six system calls that `std` does not have.
//!
//! Datagrams of one length to one peer leave as one (`UDP_SEGMENT`) and may arrive so (`UDP_GRO`) where the kernel can;
//! the rest goes through `sendmmsg` and `recvmmsg`.
#![allow(clippy::cast_possible_wrap, reason = "the kernel's numbers are signed, and small")]
#![allow(unsafe_code, reason = "system calls; each block says why it is sound")]

use std::io;
use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use clearway_proto::units::Span;

use crate::clock::Stamp;

/// Datagrams, or runs of joined ones, that are received at once.
const RECEIVED_AT_ONCE: usize = 16;
/// Datagrams that are gathered before they are sent.
pub const BATCH: usize = 16;
/// The longest datagram, and the longest run of joined ones, in bytes.
const MAX_DATAGRAM: usize = 65_507;
/// The TTL with which a sender's packets start; what is missing of it on arrival are the hops (Swift, appendix B).
pub const INITIAL_TTL: u8 = 64;
/// The size of the kernel's buffers that is asked for, in each direction.
const KERNEL_BUFFER: i32 = 8 << 20;
/// The size of a datagram's ancillary data, in words of 8 bytes: stamps, TTL, overflow and segment length take 136
/// bytes.
const CONTROL_WORDS: usize = 32;
/// The longest address: IPv6's.
const ADDRESS_BYTES: usize = size_of::<libc::sockaddr_in6>();

/// A received datagram: its sender, the kernel's stamps, and the switches on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Who sent it.
    pub from: SocketAddr,
    /// When the kernel received it; none where it did not say.
    pub stamp: Option<Stamp>,
    /// How many switches it crossed: what is missing of its TTL.
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
    buffers: Vec<Box<[u8]>>,
    control: [[u64; CONTROL_WORDS]; RECEIVED_AT_ONCE],
    addresses: [[u8; ADDRESS_BYTES]; RECEIVED_AT_ONCE],
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

/// A bound UDP socket.
#[derive(Debug)]
pub struct Socket {
    udp: UdpSocket,
    joined: bool,
    inbox: Inbox,
    outbox: Outbox,
    /// Datagrams that the kernel dropped for lack of room.
    overflow: u32,
}

impl Socket {
    /// Binds a socket to `address`.
    pub fn bind(address: SocketAddr) -> io::Result<Socket> {
        let udp = UdpSocket::bind(address)?;
        udp.set_nonblocking(true)?;
        let mut socket =
            Socket { udp, joined: true, inbox: Inbox::new(), outbox: Outbox::default(), overflow: 0 };
        socket.configure(address.is_ipv6())?;
        Ok(socket)
    }

    fn configure(&mut self, v6: bool) -> io::Result<()> {
        let stamps = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
        self.set(libc::SOL_SOCKET, libc::SO_TIMESTAMPING, stamps as i32)?;
        self.set(libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1)?;
        let ttl = i32::from(INITIAL_TTL);
        if v6 {
            self.set(libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS, ttl)?;
            self.set(libc::IPPROTO_IPV6, libc::IPV6_RECVHOPLIMIT, 1)?;
            self.set(libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_DO)?;
        } else {
            self.set(libc::IPPROTO_IP, libc::IP_TTL, ttl)?;
            self.set(libc::IPPROTO_IP, libc::IP_RECVTTL, 1)?;
            self.set(libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO)?;
        }
        // More room than is asked of everyone needs a privilege; without it there is as much as the system allows.
        for (forced, plain) in
            [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)]
        {
            if self.set(libc::SOL_SOCKET, forced, KERNEL_BUFFER).is_err() {
                self.set(libc::SOL_SOCKET, plain, KERNEL_BUFFER)?;
            }
        }
        // Kernels before 4.18 and 5.0 cannot: each datagram then goes by itself.
        self.joined = self.set(libc::SOL_UDP, libc::UDP_SEGMENT, 0).is_ok();
        let _ = self.set(libc::SOL_UDP, libc::UDP_GRO, 1);
        Ok(())
    }

    fn set(&self, level: i32, option: i32, value: i32) -> io::Result<()> {
        // SAFETY: the kernel reads the 4 bytes of `value`, which lives until the call returns.
        let result = unsafe {
            let value: *const i32 = &raw const value;
            libc::setsockopt(self.udp.as_raw_fd(), level, option, value.cast(), size_of::<i32>() as u32)
        };
        check(result as isize).map(|_| ())
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
        match self.inbox.receive(self.udp.as_raw_fd()) {
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
        while !self.outbox.is_empty() {
            let (runs, result) = self.send();
            match result {
                Ok(sent) => self.outbox.forget(runs[..sent].iter().sum()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if runs[0] > 1 && unjoinable(&error) => self.joined = false,
                Err(error) => {
                    self.outbox.forget(runs[0]);
                    failed(runs[0], error);
                }
            }
        }
    }

    /// Sends the whole outbox with one system call; returns how many datagrams each message joins, and how many messages
    /// were sent.
    fn send(&self) -> ([usize; BATCH], io::Result<usize>) {
        let (outbox, mut runs, mut messages) = (&self.outbox, [0; BATCH], 0);
        let mut addresses = [([0_u8; ADDRESS_BYTES], 0_u32); BATCH];
        let mut control = [[0_u64; 3]; BATCH];
        let mut pieces = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; BATCH];
        // SAFETY: all zeroes are a valid value: null pointers and zero lengths.
        let mut headers: [libc::mmsghdr; BATCH] = unsafe { mem::zeroed() };
        let mut from = 0;
        while from < outbox.datagrams.len() {
            let run = outbox.run(from, self.joined);
            let (first, last) = (outbox.datagrams[from], outbox.datagrams[from + run - 1]);
            addresses[messages] = address_bytes(first.to);
            let piece = &outbox.bytes[first.start..last.start + last.len];
            pieces[messages] =
                libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() };
            let header = &mut headers[messages].msg_hdr;
            header.msg_name = addresses[messages].0.as_mut_ptr().cast();
            header.msg_namelen = addresses[messages].1;
            header.msg_iov = &raw mut pieces[messages];
            header.msg_iovlen = 1;
            if run > 1 {
                control[messages] = segment_control(first.len as u16);
                header.msg_control = control[messages].as_mut_ptr().cast();
                header.msg_controllen = size_of_val(&control[messages]);
            }
            runs[messages] = run;
            from += run;
            messages += 1;
        }
        // SAFETY: each of the `messages` headers points to an address, a piece of the outbox and at most one control
        // message, all alive and unchanged until the call returns; the kernel only reads them, and writes `msg_len`.
        let sent = unsafe { libc::sendmmsg(self.udp.as_raw_fd(), headers.as_mut_ptr(), messages as u32, 0) };
        (runs, check(sent as isize))
    }

    /// Waits until a datagram has arrived, until there is room for what the outbox holds, or until `at_most` has
    /// passed.
    pub fn wait(&self, at_most: Span) -> io::Result<()> {
        let mut events = libc::POLLIN;
        if !self.outbox.is_empty() {
            events |= libc::POLLOUT;
        }
        let mut poll = libc::pollfd { fd: self.udp.as_raw_fd(), events, revents: 0 };
        let ns = (at_most.as_ps() / 1000) as i64;
        let timeout = libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 };
        // SAFETY: one valid `pollfd`, one valid `timespec`, no signal mask; all live until the call returns.
        let result = unsafe { libc::ppoll(&raw mut poll, 1, &raw const timeout, std::ptr::null()) };
        match check(result as isize) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }
}

impl Inbox {
    fn new() -> Inbox {
        Inbox {
            buffers: vec![vec![0; MAX_DATAGRAM + 1].into_boxed_slice(); RECEIVED_AT_ONCE],
            control: [[0; CONTROL_WORDS]; RECEIVED_AT_ONCE],
            addresses: [[0; ADDRESS_BYTES]; RECEIVED_AT_ONCE],
            received: Vec::with_capacity(RECEIVED_AT_ONCE),
        }
    }

    /// Receives what has arrived; the kernel's count of dropped datagrams, if it gave one.
    fn receive(&mut self, socket: i32) -> io::Result<Option<u32>> {
        self.received.clear();
        let mut pieces = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; RECEIVED_AT_ONCE];
        // SAFETY: all zeroes are a valid value: null pointers and zero lengths.
        let mut headers: [libc::mmsghdr; RECEIVED_AT_ONCE] = unsafe { mem::zeroed() };
        for at in 0..RECEIVED_AT_ONCE {
            let buffer = &mut self.buffers[at];
            pieces[at] = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
            let header = &mut headers[at].msg_hdr;
            header.msg_name = self.addresses[at].as_mut_ptr().cast();
            header.msg_namelen = ADDRESS_BYTES as u32;
            header.msg_iov = &raw mut pieces[at];
            header.msg_iovlen = 1;
            header.msg_control = self.control[at].as_mut_ptr().cast();
            header.msg_controllen = size_of_val(&self.control[at]);
        }
        // SAFETY: each header points to buffers of its own with their true lengths, borrowed from `self` and from this
        // frame, and to nothing else; all live until the call returns.
        let result = unsafe {
            libc::recvmmsg(
                socket,
                headers.as_mut_ptr(),
                RECEIVED_AT_ONCE as u32,
                libc::MSG_DONTWAIT,
                std::ptr::null_mut(),
            )
        };
        let count = check(result as isize)?;
        let mut overflow = None;
        for (at, header) in headers[..count].iter().enumerate() {
            let told = ancillary(&self.control[at], header.msg_hdr.msg_controllen);
            overflow = told.overflow.or(overflow);
            let Some(from) = address(&self.addresses[at]) else { continue };
            let hops = told.ttl.map_or(0, |ttl| INITIAL_TTL.saturating_sub(ttl));
            let len = header.msg_len as usize;
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

/// Lets this thread's sleeps end on time: by default Linux adds up to 50 us, which is too much for a pacer.
pub fn sleep_precisely() {
    let slack: libc::c_ulong = 1;
    // SAFETY: the option takes one number, of nanoseconds, and no memory. Where it fails sleeps are longer, no more.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack) };
}

/// Processor time that this process has used.
pub fn processor_time() -> Span {
    read_clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Processor time that this thread has used.
pub fn thread_time() -> Span {
    read_clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read_clock(clock: libc::clockid_t) -> Span {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`, which `time` is.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if result != 0 {
        return Span::ZERO;
    }
    Span::from_ns(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Whether this process has been told to stop.
static TOLD_TO_STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn note_stop(_signal: libc::c_int) {
    TOLD_TO_STOP.store(true, Ordering::Relaxed);
}

/// From here on SIGINT and SIGTERM are noted instead of ending the process, once each: a second one ends it.
pub fn note_stops() {
    // SAFETY: all zeroes are a valid value: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = note_stop as extern "C" fn(libc::c_int) as usize;
    action.sa_flags = libc::SA_RESETHAND;
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler stores to an atomic and does nothing else, which any signal may interrupt; `action` lives
        // until the call returns. Where it fails, the signal ends the process as before.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}

/// Whether SIGINT or SIGTERM has come since [`note_stops`].
pub fn told_to_stop() -> bool {
    TOLD_TO_STOP.load(Ordering::Relaxed)
}

fn check(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Whether the device, or the packets' length, does not allow datagrams to be joined: each is then sent by itself,
/// which shows what is wrong, if anything is.
fn unjoinable(error: &io::Error) -> bool {
    let errors = [libc::EINVAL, libc::EIO, libc::EOPNOTSUPP, libc::EMSGSIZE];
    error.raw_os_error().is_some_and(|code| errors.contains(&code))
}

fn ignorable(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, Interrupted, NetworkUnreachable, WouldBlock};
    matches!(
        error.kind(),
        WouldBlock | Interrupted | ConnectionRefused | HostUnreachable | NetworkUnreachable
    )
}

/// What the kernel tells about a datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    stamp: Option<Stamp>,
    ttl: Option<u8>,
    overflow: Option<u32>,
    segment: Option<usize>,
}

/// Reads control messages: each begins at a multiple of 8 bytes with its length, level and type.
fn ancillary(control: &[u64], len: usize) -> Told {
    let mut told = Told::default();
    let mut words = &control[..(len / 8).min(control.len())];
    while let &[len, level_and_type, ref data @ ..] = words {
        let pair = level_and_type.to_ne_bytes();
        let level = i32::from_ne_bytes([pair[0], pair[1], pair[2], pair[3]]);
        let kind = i32::from_ne_bytes([pair[4], pair[5], pair[6], pair[7]]);
        let first = data.first().copied().unwrap_or(0).to_ne_bytes();
        let int = u32::from_ne_bytes([first[0], first[1], first[2], first[3]]);
        match (level, kind) {
            (libc::SOL_SOCKET, libc::SO_TIMESTAMPING) => told.stamp = stamp(data),
            (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => told.overflow = Some(int),
            (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT) => {
                told.ttl = Some(int.min(255) as u8);
            }
            (libc::SOL_UDP, libc::UDP_GRO) => told.segment = Some(int as usize),
            _ => {}
        }
        let taken = (len as usize).div_ceil(8).max(2);
        words = words.get(taken..).unwrap_or(&[]);
    }
    told
}

/// The first of the three stamps, the kernel's own; zero stands for none.
fn stamp(data: &[u64]) -> Option<Stamp> {
    let &[seconds, nanoseconds, ..] = data else { return None };
    let ns = (seconds as i64).checked_mul(1_000_000_000)?.checked_add(nanoseconds as i64)?;
    (ns != 0).then_some(Stamp(ns))
}

/// The control message that makes the kernel cut what it is given into datagrams of `len` bytes.
fn segment_control(len: u16) -> [u64; 3] {
    let bytes = [libc::SOL_UDP.to_ne_bytes(), libc::UDP_SEGMENT.to_ne_bytes()].concat();
    let mut pair = [0; 8];
    pair.copy_from_slice(&bytes);
    let mut data = [0; 8];
    data[..2].copy_from_slice(&len.to_ne_bytes());
    // The length counts header and data, without what fills the last word.
    [16 + 2, u64::from_ne_bytes(pair), u64::from_ne_bytes(data)]
}

/// An address as a `sockaddr_in` or `sockaddr_in6`, and its length.
fn address_bytes(address: SocketAddr) -> ([u8; ADDRESS_BYTES], u32) {
    let mut bytes = [0; ADDRESS_BYTES];
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    bytes[..2].copy_from_slice(&(family as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
    match address {
        SocketAddr::V4(v4) => {
            bytes[4..8].copy_from_slice(&v4.ip().octets());
            (bytes, size_of::<libc::sockaddr_in>() as u32)
        }
        SocketAddr::V6(v6) => {
            bytes[4..8].copy_from_slice(&v6.flowinfo().to_ne_bytes());
            bytes[8..24].copy_from_slice(&v6.ip().octets());
            bytes[24..28].copy_from_slice(&v6.scope_id().to_ne_bytes());
            (bytes, ADDRESS_BYTES as u32)
        }
    }
}

/// The address in a `sockaddr_in` or `sockaddr_in6`.
fn address(bytes: &[u8; ADDRESS_BYTES]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    let four = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    match i32::from(u16::from_ne_bytes([bytes[0], bytes[1]])) {
        libc::AF_INET => Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::from(four(4))), port)),
        libc::AF_INET6 => {
            let ip = Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[8..24]).ok()?);
            let (flow, scope) = (u32::from_ne_bytes(four(4)), u32::from_ne_bytes(four(24)));
            Some(SocketAddr::V6(SocketAddrV6::new(ip, port, flow, scope)))
        }
        _ => None,
    }
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
        let to = receiver.local_addr().unwrap();
        sender.joined &= joined;
        for &(len, byte) in datagrams {
            sender.outbox().add(|buffer| {
                buffer[..len].fill(byte);
                Some((len, to))
            });
        }
        sender.flush(|_, error| panic!("{error}"));
        let mut received = Vec::new();
        while received.len() < datagrams.len() {
            receiver.wait(Span::from_secs(5)).unwrap();
            for run in 0..receiver.receive().unwrap() {
                let mut at = 0;
                while let Some((envelope, bytes, _)) = receiver.next(run, &mut at) {
                    assert!(bytes.iter().all(|byte| byte == &bytes[0]));
                    received.push((bytes.len(), bytes.first().copied().unwrap_or(0), envelope));
                }
            }
        }
        assert!(received.iter().all(|(.., envelope)| envelope.from == sender.local_addr().unwrap()));
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
        sender.set(libc::IPPROTO_IP, libc::IP_TTL, 61).unwrap();
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
        assert_eq!(errors, [(1, Some(libc::EMSGSIZE))]);
    }

    #[test]
    fn control_messages_are_read_by_their_lengths() {
        let word = |low: i32, high: i32| {
            let bytes: Vec<u8> = [low.to_ne_bytes(), high.to_ne_bytes()].concat();
            u64::from_ne_bytes(bytes.try_into().unwrap())
        };
        let mut control = vec![16 + 48, word(libc::SOL_SOCKET, libc::SO_TIMESTAMPING), 7, 9, 0, 0, 0, 0];
        control.extend([16 + 4, word(libc::IPPROTO_IP, libc::IP_TTL), word(61, 0)]);
        control.extend([16 + 4, word(libc::SOL_UDP, libc::UDP_GRO), word(1400, 0)]);
        let told = ancillary(&control, control.len() * 8);
        assert_eq!(told.stamp, Some(Stamp(7_000_000_009)));
        assert_eq!((told.ttl, told.segment, told.overflow), (Some(61), Some(1400), None));
        // A length that leads nowhere ends the reading.
        for len in [0, 1, u64::MAX, u64::MAX - 6] {
            control[0] = len;
            ancillary(&control, control.len() * 8);
        }
    }

    #[test]
    fn addresses_are_read_as_written() {
        for text in ["127.0.0.1:9", "[::1]:65535", "[fe80::1%3]:7"] {
            let address_in: SocketAddr = text.parse().unwrap();
            assert_eq!(address(&address_bytes(address_in).0), Some(address_in));
        }
    }
}
