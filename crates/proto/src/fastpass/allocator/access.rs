//! A network in which only the endpoints' own links limit what a slot can carry, one packet out and one in.

use super::links::Links;
use super::pair::Pair;

/// The free slots of each endpoint as sender and as receiver.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// Free slots for sending, by address, and then for receiving, by [`Pair::receiver`]: one for each number that a `u16`
    /// can be, so that no index needs a check. Only what is used is touched. Even receivers stay without free slots.
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
        for receiver in self.free[ADDRESSES..][..2 * self.nodes].chunks_exact_mut(2) {
            receiver[1] = self.batch;
        }
    }

    #[inline(always)]
    fn pass(&mut self, _slot: u32) {
        // A slot that a pair has been granted is no longer free for it, nor is any before that one.
    }

    #[inline(always)]
    fn free(&self, pair: Pair) -> u64 {
        self.free[usize::from(pair.source())] & self.free[ADDRESSES + usize::from(pair.receiver())]
    }

    #[inline(always)]
    fn take(&mut self, pair: Pair, slots: u64) {
        self.free[usize::from(pair.source())] ^= slots;
        self.free[ADDRESSES + usize::from(pair.receiver())] ^= slots;
    }

    // What follows is what an arbiter does most of the time. So it makes no difference between pairs that find a slot and those
    // that do not, as it cannot be foretold which they are: a processor that guesses wrong loses the time of several grants.

    #[inline(always)]
    fn take_first(&mut self, pair: Pair) -> u32 {
        let free = self.free(pair);
        self.take(pair, free & free.wrapping_neg());
        free.trailing_zeros()
    }
}
