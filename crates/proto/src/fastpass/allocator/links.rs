//! What a network of either kind says of its links: which slots are free, and that some are taken.

use super::pair::Pair;

/// The links that are still free in each slot of a batch. A set of slots is a word, bit k for slot k.
pub(super) trait Links {
    /// Starts a batch: every slot is free.
    fn open(&mut self);

    /// Notes that pairs are served for slots after this one from now on.
    fn pass(&mut self, slot: u32);

    /// The slots in which all that this pair's packet needs is free. None if the pair waits for nothing more.
    fn free(&self, pair: Pair) -> u64;

    /// Takes what this pair's packet needs in each of these slots, all of them free for it.
    fn take(&mut self, pair: Pair, slots: u64);

    /// Takes the first slot that is free for a pair: which one, or 64 if there is none.
    fn take_first(&mut self, pair: Pair) -> u32;
}
