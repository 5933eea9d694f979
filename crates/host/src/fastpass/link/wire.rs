//! The sessions of one socket, and what is sealed in their datagrams: FCP's packets, pings and answers to pings.
//!
//! A datagram is that of [`datagram::session`](crate::datagram::session): head, sealed text, tag. The text is a packet of FCP,
//! whose first byte is 0x11 or more, or one of these, in network byte order:
//!
//! | offset | bytes | in a ping | in its answer |
//! |-------:|------:|-----------|---------------|
//! | 0 | 1 | 1 | 2 |
//! | 1 | 8 | when it was sent | the ping's |
//! | 9 | 8 | how far the receiver's clock is ahead, in ns | when the ping came |
//! | 17 | 8 | the most that this can be wrong by; all ones if it is not known | when the answer was sent |
//!
//! Instants are nanoseconds since 1970, as the sender's host had them when its process started, plus its monotonic clock since.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use clearway_proto::fastpass::fcp::header::MAX_BYTES;
use clearway_proto::fastpass::fcp::{Address, Packet};
use clearway_proto::machine::Readiness;
use clearway_proto::units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::clock::{Offset, PeerClock, RoundTrip};
use crate::datagram::driver::Arrival;
use crate::datagram::seal::OpenError;
use crate::datagram::session::{self, Head, Session, HEAD_BYTES};

/// The time between two pings of a session.
pub const PING: Span = Span::from_ms(25);
/// A session on which no ping is answered for this long is taken for dead.
pub const SILENCE: Span = Span::from_ms(300);

const IS_PING: u8 = 1;
const IS_ANSWER: u8 = 2;
const PING_BYTES: usize = 25;

/// The arbiter or endpoint at the other end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Peer {
    /// The endpoint of this address.
    Endpoint(Address),
    /// The arbiter of this rank.
    Arbiter(u8),
}

/// Datagrams that were ignored, by the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ignored {
    /// Datagrams of no session that is open.
    pub unknown: u64,
    /// Datagrams that the peer has not sealed, or that were changed on their way.
    pub forged: u64,
    /// Datagrams that came twice, or too late to tell.
    pub replayed: u64,
    /// Sealed by the peer, and of no meaning, or of one that the peer has no right to.
    pub refused: u64,
}

/// A session.
#[derive(Debug)]
struct Link {
    peer: Peer,
    dialed: bool,
    session: Session,
    clock: PeerClock,
    /// The offset that the peer has found, where it is the one that asks.
    told: Option<Offset>,
    ping_at: Time,
    heard: Time,
    /// Something has come in it: the other end has it, too.
    is_proven: bool,
}

/// A session, as a status shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkFigures {
    /// The arbiter or endpoint at the other end.
    pub peer: Peer,
    /// The address that its last packet came from.
    pub address: SocketAddr,
    /// Nanoseconds since its last packet.
    pub silent_ns: u64,
    /// The difference of the peer's clock from this host's; none if it is not known.
    pub offset: Option<Offset>,
}

/// The sessions of one socket.
#[derive(Debug)]
pub struct Wire {
    id: u32,
    /// The nanoseconds since 1970 at the driver's start.
    unix_ns: u64,
    /// The sessions, by this end's numbers.
    links: Vec<Option<Box<Link>>>,
    /// The latest session with each peer, of those that it has dialed and of those that this end has.
    of_peer: BTreeMap<(Peer, bool), u32>,
    /// Answers to pings that are to be sent: the session, and the text.
    answers: VecDeque<(u32, [u8; PING_BYTES])>,
    /// Sessions that have died and that nobody has been told of.
    lost: Vec<u32>,
    ping_at: Time,
    ignored: Ignored,
}

impl Wire {
    /// A wire without sessions: `id` is the number that its socket admits, `unix_ns` are the nanoseconds since 1970 at the driver's
    /// start.
    pub fn new(id: u32, unix_ns: u64) -> Wire {
        Wire {
            id,
            unix_ns,
            links: Vec::new(),
            of_peer: BTreeMap::new(),
            answers: VecDeque::new(),
            lost: Vec::new(),
            ping_at: Time::NEVER,
            ignored: Ignored::default(),
        }
    }

    /// Opens a session of this number with a peer. An earlier one that was opened from the same end is closed.
    pub fn open(&mut self, now: Time, number: u32, peer: Peer, of: &session::Peer) {
        if let Some(before) = self.of_peer.insert((peer, of.dialed), number) {
            self.links[before as usize] = None;
        }
        let place = number as usize;
        if self.links.len() <= place {
            self.links.resize_with(place + 1, || None);
        }
        let ping_at = if of.dialed { now } else { Time::NEVER };
        self.ping_at = self.ping_at.min(ping_at);
        let session = Session::new(of);
        self.links[place] = Some(Box::new(Link {
            peer,
            dialed: of.dialed,
            session,
            clock: PeerClock::default(),
            told: None,
            ping_at,
            heard: now,
            is_proven: false,
        }));
    }

    /// Closes a session.
    pub fn close(&mut self, number: u32) {
        let closed = self.links.get_mut(number as usize).and_then(Option::take);
        if let Some(link) = closed {
            self.of_peer.retain(|(peer, _), of| *peer != link.peer || *of != number);
        }
    }

    /// An instant of the driver's clock in nanoseconds since 1970.
    fn unix(&self, at: Time) -> u64 {
        self.unix_ns.saturating_add(at.as_ps() / 1000)
    }

    /// Opens a datagram. The packet of FCP in it, and whose it is; none where there is none, or none to be believed.
    pub fn receive<'a>(
        &mut self,
        now: Time,
        arrival: &Arrival,
        datagram: &'a mut [u8],
    ) -> Option<(Peer, &'a [u8])> {
        let split = Head::split(datagram);
        let Some((Head { endpoint, session: number, counter }, head, sealed)) = split else {
            self.ignored.unknown += 1;
            return None;
        };
        let link = self.links.get_mut(number as usize).and_then(Option::as_mut);
        let Some(link) = link.filter(|_| endpoint == self.id) else {
            self.ignored.unknown += 1;
            return None;
        };
        let text = match link.session.open(arrival.from, counter, head, sealed) {
            Ok(text) => text,
            Err(OpenError::Forged) => {
                self.ignored.forged += 1;
                return None;
            }
            Err(OpenError::Replayed) => {
                self.ignored.replayed += 1;
                return None;
            }
        };
        link.is_proven = true;
        let peer = link.peer;
        match text.first() {
            Some(&IS_PING) if !link.dialed => {
                link.heard = now;
                self.answer(number, arrival.received, text);
                None
            }
            Some(&IS_ANSWER) if link.dialed => {
                if let Some([sent, reached, answered]) = instants(text) {
                    link.heard = now;
                    let returned = self.unix_ns.saturating_add(arrival.received.as_ps() / 1000);
                    link.clock.note(&RoundTrip { sent, reached, answered, returned });
                }
                None
            }
            _ => Some((peer, text)),
        }
    }

    /// Counts a packet that its sender has no right to, or that is none.
    pub fn refuse(&mut self) {
        self.ignored.refused += 1;
    }

    fn answer(&mut self, number: u32, received: Time, text: &[u8]) {
        let (Some([sent, ahead, within]), reached) = (instants(text), self.unix(received)) else { return };
        let mut answer = [0; PING_BYTES];
        answer[0] = IS_ANSWER;
        answer[1..9].copy_from_slice(&sent.to_be_bytes());
        answer[9..17].copy_from_slice(&reached.to_be_bytes());
        self.answers.push_back((number, answer));
        if let Some(link) = self.links.get_mut(number as usize).and_then(Option::as_mut) {
            // Seen from the other end.
            let ahead = i64::from_be_bytes(ahead.to_be_bytes()).saturating_neg();
            link.told = (within != u64::MAX).then_some(Offset { ahead_ns: ahead, within_ns: within });
        }
    }

    /// The numbers of the sessions with a peer: two where each end has opened one.
    pub fn sessions(&self, peer: Peer) -> impl Iterator<Item = u32> + '_ {
        [false, true].into_iter().filter_map(move |dialed| self.of_peer.get(&(peer, dialed)).copied())
    }

    /// Returns whether there is a session with a peer in which something has come. One that the peer has dialed is open here before
    /// the peer knows that, and until then the peer says nothing in it.
    pub fn hears(&self, peer: Peer) -> bool {
        let mut links = self.sessions(peer).filter_map(|number| self.links[number as usize].as_ref());
        links.any(|link| link.is_proven)
    }

    /// Writes a packet for a peer as a sealed datagram, and returns its length and where it goes; none if there is no session with the
    /// peer.
    pub fn write(&mut self, peer: Peer, packet: &Packet, datagram: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let number = self.sessions(peer).next()?;
        self.write_in(number, packet, datagram)
    }

    /// Writes a packet as [`Wire::write`] does, in the session of this number.
    pub fn write_in(
        &mut self,
        number: u32,
        packet: &Packet,
        datagram: &mut [u8],
    ) -> Option<(usize, SocketAddr)> {
        self.seal(number, datagram, |text| {
            let text: &mut [u8; MAX_BYTES] = (&mut text[..MAX_BYTES]).try_into().expect("as long as that");
            packet.encode(text).expect("a machine's packet has a form")
        })
    }

    /// Seals a text that `write` puts into the buffer that it is given, in the session of this number.
    fn seal(
        &mut self,
        number: u32,
        datagram: &mut [u8],
        write: impl FnOnce(&mut [u8]) -> usize,
    ) -> Option<(usize, SocketAddr)> {
        let link = self.links.get_mut(number as usize)?.as_mut()?;
        let length = write(&mut datagram[HEAD_BYTES..]);
        Some((link.session.seal(datagram, length), link.session.address))
    }

    /// Returns whether a ping or an answer is to be sent.
    pub fn readiness(&self, now: Time) -> Readiness {
        if !self.answers.is_empty() || self.ping_at <= now {
            Readiness::Ready
        } else if self.ping_at == Time::NEVER {
            Readiness::Idle
        } else {
            Readiness::At(self.ping_at)
        }
    }

    /// Writes an answer or a ping that is due.
    pub fn transmit(&mut self, now: Time, datagram: &mut [u8]) -> Option<(usize, SocketAddr)> {
        if let Some((number, mut answer)) = self.answers.pop_front() {
            answer[17..].copy_from_slice(&self.unix(now).to_be_bytes());
            return self.seal(number, datagram, |text| put(text, answer));
        }
        let due = |link: &Option<Box<Link>>| link.as_ref().is_some_and(|link| link.ping_at <= now);
        let number = self.links.iter().position(due);
        let written = number.and_then(|number| self.ping(now, number, datagram));
        self.ping_at = self.links.iter().flatten().map(|link| link.ping_at).min().unwrap_or(Time::NEVER);
        written
    }

    /// Writes a ping, unless the session has died.
    fn ping(&mut self, now: Time, number: usize, datagram: &mut [u8]) -> Option<(usize, SocketAddr)> {
        let unix = self.unix(now);
        let link = self.links[number].as_mut()?;
        link.ping_at = now + PING;
        if now > link.heard + SILENCE {
            self.close(number as u32);
            self.lost.push(number as u32);
            return None;
        }
        let offset = link.clock.offset();
        let mut ping = [0; PING_BYTES];
        ping[0] = IS_PING;
        ping[1..9].copy_from_slice(&unix.to_be_bytes());
        ping[9..17].copy_from_slice(&offset.map_or(0, |offset| offset.ahead_ns).to_be_bytes());
        ping[17..].copy_from_slice(&offset.map_or(u64::MAX, |offset| offset.within_ns).to_be_bytes());
        self.seal(number as u32, datagram, |text| put(text, ping))
    }

    /// A session that has died, once.
    pub fn poll_lost(&mut self) -> Option<u32> {
        self.lost.pop()
    }

    /// The peers with whom there are sessions; one twice where each end has opened one.
    pub fn peers(&self) -> impl Iterator<Item = Peer> + '_ {
        self.of_peer.keys().map(|(peer, _)| *peer)
    }

    /// The figures of each session.
    pub fn figures(&self, now: Time) -> Vec<LinkFigures> {
        let of = |link: &Link| LinkFigures {
            peer: link.peer,
            address: link.session.address,
            silent_ns: now.since(link.heard).as_ps() / 1000,
            offset: if link.dialed { link.clock.offset() } else { link.told },
        };
        self.links.iter().flatten().map(|link| of(link)).collect()
    }

    /// The difference of a peer's clock from this host's; none where this end has not asked for it.
    pub fn offset(&self, peer: Peer) -> Option<Offset> {
        let number = *self.of_peer.get(&(peer, true))?;
        self.links[number as usize].as_ref()?.clock.offset()
    }

    /// Datagrams that were ignored.
    pub fn ignored(&self) -> Ignored {
        self.ignored
    }
}

fn put(text: &mut [u8], what: [u8; PING_BYTES]) -> usize {
    text[..PING_BYTES].copy_from_slice(&what);
    PING_BYTES
}

/// The three numbers of a ping or of its answer.
fn instants(text: &[u8]) -> Option<[u64; 3]> {
    let numbers: &[u8; PING_BYTES] = text.try_into().ok()?;
    Some([1, 9, 17].map(|at| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&numbers[at..at + 8]);
        u64::from_be_bytes(bytes)
    }))
}

#[cfg(test)]
mod tests;
