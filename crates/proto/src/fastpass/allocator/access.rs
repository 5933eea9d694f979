//! A network in which only the endpoints' own links limit what a slot can carry, one packet out and one in.

use super::pair::Pair;
use super::Links;

/// The free slots of each endpoint as sender and as receiver.
#[derive(Clone, Debug)]
pub(super) struct Access {
    // One for each address that a `u16` can be, so that no index needs a check. Only what is used is touched.
    sending: Box<[u64; ADDRESSES]>,
    receiving: Box<[u64; ADDRESSES]>,
    nodes: usize,
    /// All slots of a batch.
    batch: u64,
}

const ADDRESSES: usize = 1 << 16;

impl Access {
    /// Endpoints with all slots of a batch free.
    pub(super) fn new(nodes: usize, slots: u32) -> Access {
        let words = || vec![0; ADDRESSES].try_into().expect("as many as asked for");
        Access { sending: words(), receiving: words(), nodes, batch: !0 >> (64 - slots) }
    }
}

impl Links for Access {
    fn open(&mut self) {
        self.sending[..self.nodes].fill(self.batch);
        self.receiving[..self.nodes].fill(self.batch);
    }

    #[inline(always)]
    fn free(&self, pair: Pair) -> u64 {
        self.sending[usize::from(pair.source())]
            & self.receiving[usize::from(pair.destination())]
    }

    #[inline(always)]
    fn take(&mut self, pair: Pair, slots: u64) {
        self.sending[usize::from(pair.source())] ^= slots;
        self.receiving[usize::from(pair.destination())] ^= slots;
    }
}
