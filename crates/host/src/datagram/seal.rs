//! Sealed datagrams: AES-128-GCM under keys that both ends derive from a secret that they share.
//!
//! Every datagram has a counter that its sender never uses twice. It is the nonce, and it names the key: after
//! [`DATAGRAMS_A_KEY`] datagrams, or when the sender skips ahead to there, both ends derive the next key from the one before
//! and forget what came before that (as TLS 1.3 does, RFC 8446 §7.2; the limit is half of RFC 9001 §6.6's 2^23).
//!
//! Each direction has keys of its own. The secret comes from elsewhere: [`Secret`].

use std::fmt;

use ring::aead::{Aad, LessSafeKey, Nonce, UnboundKey, AES_128_GCM, NONCE_LEN};
use ring::hkdf::{KeyType, Prk, HKDF_SHA256};

use super::replay::Replay;

/// What sealing adds behind a datagram's text, in bytes.
pub const TAG_BYTES: usize = 16;
/// How many datagrams are sealed with one key.
pub const DATAGRAMS_A_KEY: u64 = 1 << KEY_SHIFT;

const KEY_SHIFT: u32 = 22;
const KEY_BYTES: usize = 16;
const SECRET_BYTES: usize = 32;

/// What two ends share and nobody else knows, such as what TLS exports (RFC 8446 §7.5). It must be new for every session.
#[derive(Clone)]
pub struct Secret(pub [u8; SECRET_BYTES]);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret(..)")
    }
}

/// A direction of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the end that dialed to the one that was dialed.
    FromDialer,
    /// The way back.
    ToDialer,
}

/// Why a datagram was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// It is not what the peer sealed: forged, or changed on its way.
    Forged,
    /// It has been here before, or is too old to tell.
    Replayed,
}

/// A length of key material.
#[derive(Clone, Copy)]
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn derive<const N: usize>(secret: &[u8], label: &[u8]) -> [u8; N] {
    let mut bytes = [0; N];
    let expanded = Prk::new_less_safe(HKDF_SHA256, secret);
    let filled = expanded.expand(&[label], Length(N)).and_then(|okm| okm.fill(&mut bytes));
    filled.expect("HKDF gives up to 255 times 32 bytes");
    bytes
}

/// The key of one stretch of counters.
struct Key {
    aead: LessSafeKey,
    /// Mixed with the counter (RFC 8446 §5.3).
    iv: [u8; NONCE_LEN],
}

impl Key {
    fn of(secret: &[u8; SECRET_BYTES]) -> Key {
        let key: [u8; KEY_BYTES] = derive(secret, b"clearway key");
        let key = UnboundKey::new(&AES_128_GCM, &key).expect("a key of the right length");
        Key { aead: LessSafeKey::new(key), iv: derive(secret, b"clearway iv") }
    }

    fn nonce(&self, counter: u64) -> Nonce {
        let mut bytes = self.iv;
        bytes[NONCE_LEN - 8..].iter_mut().zip(counter.to_be_bytes()).for_each(|(byte, bit)| *byte ^= bit);
        Nonce::assume_unique_for_key(bytes)
    }

    fn open(&self, counter: u64, head: &[u8], sealed: &mut [u8]) -> Result<usize, OpenError> {
        let opened = self.aead.open_in_place(self.nonce(counter), Aad::from(head), sealed);
        opened.map(|text| text.len()).map_err(|_| OpenError::Forged)
    }
}

/// The chain of keys: the key in use, and the secret that it was made from.
struct Chain {
    secret: [u8; SECRET_BYTES],
    number: u64,
    key: Key,
}

impl Chain {
    fn new(secret: &Secret, direction: Direction) -> Chain {
        let label: &[u8] = match direction {
            Direction::FromDialer => b"clearway from dialer",
            Direction::ToDialer => b"clearway to dialer",
        };
        let secret = derive(&secret.0, label);
        Chain { key: Key::of(&secret), number: 0, secret }
    }

    fn next(&self) -> Chain {
        let secret = derive(&self.secret, b"clearway next");
        Chain { key: Key::of(&secret), number: self.number + 1, secret }
    }
}

/// Seals what one end sends.
pub struct Sealer {
    chain: Chain,
    counter: u64,
}

impl Sealer {
    /// The sealer of one direction of a session.
    pub fn new(secret: &Secret, direction: Direction) -> Sealer {
        Sealer { chain: Chain::new(secret, direction), counter: 0 }
    }

    /// The counter of the next datagram, which stands in its head.
    pub fn counter(&self) -> u64 {
        self.counter
    }

    /// Goes on to the next key, however few datagrams this one has sealed.
    pub fn rotate(&mut self) {
        self.counter = (self.chain.number + 1) << KEY_SHIFT;
    }

    /// Counts a datagram that is not sealed, and returns what stands in the tag's place.
    pub fn skip(&mut self) -> [u8; TAG_BYTES] {
        self.counter += 1;
        [0; TAG_BYTES]
    }

    /// Seals `text` in place and returns the tag that goes behind it. The head is not sealed, and cannot be changed either.
    pub fn seal(&mut self, head: &[u8], text: &mut [u8]) -> [u8; TAG_BYTES] {
        while self.counter >> KEY_SHIFT > self.chain.number {
            self.chain = self.chain.next();
        }
        let Key { aead, .. } = &self.chain.key;
        let nonce = self.chain.key.nonce(self.counter);
        let tag = aead.seal_in_place_separate_tag(nonce, Aad::from(head), text);
        self.counter += 1;
        tag.expect("a datagram is shorter than AES-GCM takes").as_ref().try_into().expect("a tag of 16 bytes")
    }
}

/// Opens what one end receives.
pub struct Opener {
    chain: Chain,
    /// For datagrams that were overtaken by the first of the next key.
    before: Option<Key>,
    /// What follows, made for the first datagram that claims it.
    following: Option<Box<Chain>>,
    replay: Replay,
}

impl Opener {
    /// The opener of one direction of a session.
    pub fn new(secret: &Secret, direction: Direction) -> Opener {
        Opener {
            chain: Chain::new(secret, direction),
            before: None,
            following: None,
            replay: Replay::default(),
        }
    }

    /// Opens `sealed`, text and tag, in place, and returns the text's length. What does not come from the peer changes
    /// nothing.
    pub fn open(&mut self, counter: u64, head: &[u8], sealed: &mut [u8]) -> Result<usize, OpenError> {
        if !self.replay.is_new(counter) {
            return Err(OpenError::Replayed);
        }
        let number = counter >> KEY_SHIFT;
        let length = if number == self.chain.number {
            self.chain.key.open(counter, head, sealed)?
        } else if number == self.chain.number + 1 {
            self.open_with_next(counter, head, sealed)?
        } else if number + 1 == self.chain.number {
            let before = self.before.as_ref().ok_or(OpenError::Replayed)?;
            before.open(counter, head, sealed)?
        } else {
            return Err(OpenError::Forged);
        };
        self.replay.note(counter);
        Ok(length)
    }

    #[cold]
    fn open_with_next(&mut self, counter: u64, head: &[u8], sealed: &mut [u8]) -> Result<usize, OpenError> {
        let mut next = self.following.take().unwrap_or_else(|| Box::new(self.chain.next()));
        let opened = next.key.open(counter, head, sealed);
        if opened.is_ok() {
            std::mem::swap(&mut self.chain, &mut next);
            self.before = Some(next.key);
        } else {
            self.following = Some(next);
        }
        opened
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("counter", &self.counter).finish_non_exhaustive()
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opener").field("key", &self.chain.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> (Sealer, Opener) {
        let secret = Secret([7; SECRET_BYTES]);
        (Sealer::new(&secret, Direction::FromDialer), Opener::new(&secret, Direction::FromDialer))
    }

    /// The counter of a datagram, and its text sealed with the tag behind.
    fn sealed(sealer: &mut Sealer, text: &[u8]) -> (u64, Vec<u8>) {
        let (counter, mut bytes) = (sealer.counter(), text.to_vec());
        let tag = sealer.seal(b"head", &mut bytes);
        bytes.extend(tag);
        (counter, bytes)
    }

    fn opened(opener: &mut Opener, (counter, bytes): &(u64, Vec<u8>)) -> Result<Vec<u8>, OpenError> {
        let mut bytes = bytes.clone();
        let length = opener.open(*counter, b"head", &mut bytes)?;
        bytes.truncate(length);
        Ok(bytes)
    }

    #[test]
    fn what_was_sealed_is_opened_once() {
        let (mut sealer, mut opener) = ends();
        let datagram = sealed(&mut sealer, b"text");
        assert_eq!(opened(&mut opener, &datagram), Ok(b"text".to_vec()));
        assert_eq!(opened(&mut opener, &datagram), Err(OpenError::Replayed));
    }

    #[test]
    fn every_flipped_bit_is_found_and_the_right_datagram_still_counts() {
        let (mut sealer, mut opener) = ends();
        let (counter, bytes) = sealed(&mut sealer, b"some text");
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(opened(&mut opener, &(counter, changed)), Err(OpenError::Forged));
        }
        let mut wrong_head = bytes.clone();
        assert_eq!(opener.open(counter, b"heat", &mut wrong_head), Err(OpenError::Forged));
        assert_eq!(opened(&mut opener, &(counter + 1, bytes.clone())), Err(OpenError::Forged));
        assert_eq!(opened(&mut opener, &(counter, bytes)), Ok(b"some text".to_vec()));
    }

    #[test]
    fn the_other_direction_and_another_secret_open_nothing() {
        let (mut sealer, _) = ends();
        let datagram = sealed(&mut sealer, b"text");
        let mut back = Opener::new(&Secret([7; SECRET_BYTES]), Direction::ToDialer);
        assert_eq!(opened(&mut back, &datagram), Err(OpenError::Forged));
        let mut other = Opener::new(&Secret([8; SECRET_BYTES]), Direction::FromDialer);
        assert_eq!(opened(&mut other, &datagram), Err(OpenError::Forged));
    }

    #[test]
    fn keys_change_on_both_sides_and_overtaken_datagrams_are_opened() {
        let (mut sealer, mut opener) = ends();
        for round in 0..5_u8 {
            let last = sealed(&mut sealer, &[round, 0]);
            sealer.rotate();
            let first = sealed(&mut sealer, &[round, 1]);
            assert_eq!(first.0, u64::from(round + 1) * DATAGRAMS_A_KEY);
            assert_eq!(opened(&mut opener, &first), Ok(vec![round, 1]));
            let late = u64::from(round) * DATAGRAMS_A_KEY + 2 + DATAGRAMS_A_KEY;
            // Further behind than the replay window reaches.
            assert!(late > last.0 && opened(&mut opener, &last) == Err(OpenError::Replayed));
        }
    }

    #[test]
    fn a_key_that_has_run_out_is_followed_by_the_next_and_overtaken_datagrams_count() {
        let (mut sealer, mut opener) = ends();
        sealer.counter = DATAGRAMS_A_KEY - 2;
        let datagrams: Vec<_> = (0..4).map(|number| sealed(&mut sealer, &[number])).collect();
        for at in [0, 2, 1, 3] {
            assert_eq!(opened(&mut opener, &datagrams[at]), Ok(vec![at as u8]));
        }
    }

    #[test]
    fn a_forged_datagram_of_the_next_key_changes_nothing() {
        let (mut sealer, mut opener) = ends();
        assert_eq!(opened(&mut opener, &(DATAGRAMS_A_KEY, vec![0; 40])), Err(OpenError::Forged));
        assert_eq!(opened(&mut opener, &(2 * DATAGRAMS_A_KEY, vec![0; 40])), Err(OpenError::Forged));
        let now = sealed(&mut sealer, b"now");
        assert_eq!(opened(&mut opener, &now), Ok(b"now".to_vec()));
        sealer.rotate();
        let next = sealed(&mut sealer, b"next");
        assert_eq!(opened(&mut opener, &next), Ok(b"next".to_vec()));
    }
}
