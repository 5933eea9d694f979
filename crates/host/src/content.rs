//! What is moved: read by position, written by position, and the digest by which both ends know that it is the same.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes read or written at once where packets follow each other: few enough that no packet waits long for it.
const CHUNK: usize = 1 << 16;

/// A digest over packets in any order: the sum of each one's XXH3, keyed by where it belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    /// Adds a packet's payload. Each packet is to be added once.
    pub fn add(&mut self, offset: u64, payload: &[u8]) {
        self.0 = self.0.wrapping_add(xxh3_64_with_seed(payload, offset));
    }

    /// The digest.
    pub fn value(self) -> u64 {
        self.0
    }
}

/// Where payload comes from.
#[derive(Debug)]
pub enum Source {
    /// A file, read ahead.
    File(ReadAhead),
    /// Bytes that follow from their position ([`generate`]).
    Generated,
}

impl Source {
    /// A file's content.
    pub fn file(file: File) -> Source {
        Source::File(ReadAhead { file, start: 0, chunk: Vec::new() })
    }

    /// Fills `buffer` with what stands at `offset`; an error when the file ends before.
    pub fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match self {
            Source::File(ahead) => ahead.read(offset, buffer),
            Source::Generated => {
                generate(offset, buffer);
                Ok(())
            }
        }
    }
}

/// A file and the piece of it that is read next.
#[derive(Debug)]
pub struct ReadAhead {
    file: File,
    start: u64,
    chunk: Vec<u8>,
}

impl ReadAhead {
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if offset < self.start {
            // A packet sent again, from before the chunk.
            return self.file.read_exact_at(buffer, offset);
        }
        if self.held(offset, buffer.len()).is_none() {
            self.fill(offset, buffer.len())?;
        }
        let held = self.held(offset, buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(held);
        Ok(())
    }

    fn held(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let at = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.chunk.get(at..)?.get(..len)
    }

    /// Reads from `offset` on, a chunk or what there is.
    fn fill(&mut self, offset: u64, least: usize) -> io::Result<()> {
        self.start = offset;
        self.chunk.resize(CHUNK.max(least), 0);
        let mut filled = 0;
        while filled < self.chunk.len() {
            match self.file.read_at(&mut self.chunk[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.chunk.truncate(filled);
        Ok(())
    }
}

/// Bytes that look random and follow from their position: what streams of operations carry.
///
/// ```
/// let (mut whole, mut part) = ([0; 100], [0; 30]);
/// clearway_host::content::generate(0, &mut whole);
/// clearway_host::content::generate(13, &mut part);
/// assert_eq!(part, whole[13..43]);
/// ```
pub fn generate(offset: u64, buffer: &mut [u8]) {
    let (mut word, skip) = (offset / 8, (offset % 8) as usize);
    let (head, body) = buffer.split_at_mut(if skip == 0 { 0 } else { (8 - skip).min(buffer.len()) });
    if !head.is_empty() {
        head.copy_from_slice(&mixed(word)[skip..skip + head.len()]);
        word += 1;
    }
    for piece in body.chunks_mut(8) {
        piece.copy_from_slice(&mixed(word)[..piece.len()]);
        word += 1;
    }
}

/// `SplitMix64` at a position.
fn mixed(word: u64) -> [u8; 8] {
    let z = word.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ z >> 31).to_le_bytes()
}

/// Where payload goes to.
#[derive(Debug)]
pub enum Sink {
    /// Nowhere; the digest says whether it was right.
    Discard,
    /// A file beside the one that is wanted, which takes its place when it is whole.
    File(Box<Partial>),
}

/// A file that is not whole yet.
#[derive(Debug)]
pub struct Partial {
    file: File,
    path: PathBuf,
    target: PathBuf,
    /// Where `pending` belongs.
    start: u64,
    pending: Vec<u8>,
    kept: bool,
}

impl Sink {
    /// Will replace `target` once everything has come; until then it is `target` with `.partial` behind its name.
    pub fn file(target: &Path) -> io::Result<Sink> {
        let mut name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
        name.push(".partial");
        let path = target.with_file_name(name);
        let file = File::create(&path)?;
        let target = target.to_path_buf();
        let pending = Vec::with_capacity(CHUNK);
        Ok(Sink::File(Box::new(Partial { file, path, target, start: 0, pending, kept: false })))
    }

    /// Takes a packet's payload.
    pub fn write(&mut self, offset: u64, payload: &[u8]) -> io::Result<()> {
        let Sink::File(partial) = self else { return Ok(()) };
        if offset != partial.start + partial.pending.len() as u64 || partial.pending.len() >= CHUNK {
            partial.flush()?;
            partial.start = offset;
        }
        partial.pending.extend_from_slice(payload);
        Ok(())
    }

    /// Everything has come: what was written takes its name.
    pub fn keep(&mut self) -> io::Result<()> {
        let Sink::File(partial) = self else { return Ok(()) };
        partial.flush()?;
        std::fs::rename(&partial.path, &partial.target)?;
        partial.kept = true;
        Ok(())
    }
}

impl Partial {
    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all_at(&self.pending, self.start)?;
        self.pending.clear();
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing to be done where it cannot be removed: its name says what it is.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_does_not_depend_on_order_and_does_on_place_and_bytes() {
        let digest = |packets: &[(u64, &[u8])]| {
            let mut digest = Digest::default();
            for &(offset, payload) in packets {
                digest.add(offset, payload);
            }
            digest
        };
        let right = digest(&[(0, b"one"), (3, b"two")]);
        assert_eq!(digest(&[(3, b"two"), (0, b"one")]), right);
        assert_ne!(digest(&[(0, b"two"), (3, b"one")]), right);
        assert_ne!(digest(&[(0, b"one"), (3, b"twp")]), right);
    }
}
