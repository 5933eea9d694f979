//! A session: the one peer that holds the other half of its keys, wherever its datagrams come from.
//!
//! A datagram begins with a head that is readable and cannot be changed:
//!
//! | offset | bytes | |
//! |-------:|------:|--|
//! | 0 | 4 | the receiving endpoint's number, which it drew at random |
//! | 4 | 4 | the receiver's number of the session |
//! | 8 | 8 | counter |
//!
//! Numbers are in network byte order. Behind it stands a sealed text, and the seal's tag of 16 bytes. Of a transfer by Swift the text is
//! one data packet ([`clearway_proto::swift::header`]) with its payload, or one acknowledgement or several; of Fastpass what
//! [`fastpass::link::wire`](crate::fastpass::link::wire) says.

use std::io;
use std::net::SocketAddr;

use ring::rand::{SecureRandom, SystemRandom};

use super::seal::{Direction, OpenError, Opener, Sealer, Secret, TAG_BYTES};

/// The length of the readable head, in bytes.
pub const HEAD_BYTES: usize = 16;

/// What a session needs to know of its peer, and to share with it.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Where its endpoint is to be found; an opened datagram from elsewhere moves it there.
    pub address: SocketAddr,
    /// The number of its endpoint.
    pub endpoint: u32,
    /// The peer's number of the session.
    pub session: u32,
    /// Whether this end is the one that dialed, which decides who seals with which key.
    pub dialed: bool,
    /// What both share.
    pub secret: Secret,
    /// Whether datagrams are sealed. Only to measure what that costs: plain ones are believed as they are.
    pub sealed: bool,
}

/// The head of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) endpoint: u32,
    pub(crate) session: u32,
    pub(crate) counter: u64,
}

impl Head {
    /// The head of a datagram, and what is sealed behind it; none where there is no room for both.
    pub(crate) fn split(datagram: &mut [u8]) -> Option<(Head, &mut [u8], &mut [u8])> {
        if datagram.len() < HEAD_BYTES + TAG_BYTES {
            return None;
        }
        let (head, sealed) = datagram.split_at_mut(HEAD_BYTES);
        let (endpoint, rest) = head.split_first_chunk()?;
        let (session, rest) = rest.split_first_chunk()?;
        let (counter, _) = rest.split_first_chunk()?;
        let endpoint = u32::from_be_bytes(*endpoint);
        let (session, counter) = (u32::from_be_bytes(*session), u64::from_be_bytes(*counter));
        Some((Head { endpoint, session, counter }, head, sealed))
    }

    fn write(&self, into: &mut [u8]) {
        into[..4].copy_from_slice(&self.endpoint.to_be_bytes());
        into[4..8].copy_from_slice(&self.session.to_be_bytes());
        into[8..HEAD_BYTES].copy_from_slice(&self.counter.to_be_bytes());
    }
}

/// A session that is open.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) address: SocketAddr,
    endpoint: u32,
    number: u32,
    sealer: Sealer,
    opener: Opener,
    sealed: bool,
    /// The counter of the latest datagram, which says where the peer is.
    latest: u64,
}

impl Session {
    pub(crate) fn new(peer: &Peer) -> Session {
        let (ours, theirs) = if peer.dialed {
            (Direction::FromDialer, Direction::ToDialer)
        } else {
            (Direction::ToDialer, Direction::FromDialer)
        };
        Session {
            address: peer.address,
            endpoint: peer.endpoint,
            number: peer.session,
            sealer: Sealer::new(&peer.secret, ours),
            opener: Opener::new(&peer.secret, theirs),
            sealed: peer.sealed,
            latest: 0,
        }
    }

    /// Opens what was sealed behind `head`, and returns the text.
    pub(crate) fn open<'a>(
        &mut self,
        from: SocketAddr,
        counter: u64,
        head: &[u8],
        sealed: &'a mut [u8],
    ) -> Result<&'a mut [u8], OpenError> {
        let length =
            if self.sealed { self.opener.open(counter, head, sealed)? } else { sealed.len() - TAG_BYTES };
        if counter >= self.latest {
            (self.latest, self.address) = (counter, from);
        }
        Ok(&mut sealed[..length])
    }

    /// Writes the head before a text of `length` bytes that stands behind its place, seals it, and returns the datagram's
    /// length.
    pub(crate) fn seal(&mut self, datagram: &mut [u8], length: usize) -> usize {
        let (head, rest) = datagram.split_at_mut(HEAD_BYTES);
        let (text, behind) = rest.split_at_mut(length);
        Head { endpoint: self.endpoint, session: self.number, counter: self.sealer.counter() }.write(head);
        let tag = if self.sealed { self.sealer.seal(head, text) } else { self.sealer.skip() };
        behind[..TAG_BYTES].copy_from_slice(&tag);
        HEAD_BYTES + length + TAG_BYTES
    }

    /// Goes on to the next key.
    pub(crate) fn rotate(&mut self) {
        self.sealer.rotate();
    }
}

/// A random number for a socket's datagrams to begin with, which no other socket is likely to have.
pub(crate) fn random_id() -> io::Result<u32> {
    let mut bytes = [0; 4];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(u32::from_be_bytes(bytes))
}
