//! A network in which only the endpoints' own links limit what a slot can carry, one packet out and one in.

use super::links::Links;
use super::pair::Pair;

/// The free slots of each endpoint as sender and as receiver.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// Those of sending, by address, and then those of receiving: one for each address that a `u16` can be, so that no
    /// index needs a check. Only what is used is touched.
    free: Box<[u64; 2 * ADDRESSES]>,
    nodes: usize,
    /// All slots of a batch.
    batch: u64,
}

const ADDRESSES: usize = 1 << 16;

impl Access {
    /// Endpoints with all slots of a batch free.
    pub(super) fn new(nodes: usize, slots: u32) -> Access {
        let free = vec![0; 2 * ADDRESSES].try_into().expect("as many as asked for");
        Access { free, nodes, batch: !0 >> (64 - slots) }
    }
}

impl Links for Access {
    fn open(&mut self) {
        self.free[..self.nodes].fill(self.batch);
        self.free[ADDRESSES..][..self.nodes].fill(self.batch);
    }

    #[inline(always)]
    fn pass(&mut self, _slot: u32) {
        // A slot that a pair has been granted is no longer free for it, nor is any before that one.
    }

    #[inline(always)]
    fn free(&self, pair: Pair) -> u64 {
        self.free[usize::from(pair.source())] & self.free[ADDRESSES + usize::from(pair.destination())]
    }

    #[inline(always)]
    fn take(&mut self, pair: Pair, slots: u64) {
        self.free[usize::from(pair.source())] ^= slots;
        self.free[ADDRESSES + usize::from(pair.destination())] ^= slots;
    }
}
