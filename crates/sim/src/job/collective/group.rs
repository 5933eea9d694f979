//! The ranks that do a collective together, and how their array is cut.

use crate::job::{Draft, GraphBuilder, RankDraft};

/// An array and how it is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) bytes: u64,
    pub(super) chunks: u32,
}

impl Cut {
    /// The size of part `at` of `parts` nearly equal ones, and of that of chunk `chunk`.
    pub(super) fn chunk(self, at: u32, parts: u32, chunk: u32) -> u64 {
        share(share(self.bytes, at, parts), chunk, self.chunks)
    }
}

/// The size of part `at` of `parts` nearly equal ones of `bytes` bytes, which together make all.
pub(super) fn share(bytes: u64, at: u32, parts: u32) -> u64 {
    let (at, parts) = (u64::from(at), u64::from(parts));
    // bytes * at / parts, without its whole part of bytes / parts, so that no product overflows.
    let before = |at: u64| bytes % parts * at / parts;
    bytes / parts + before(at + 1) - before(at)
}

/// The ranks that do a collective, by their numbers in the group.
pub(super) struct Group<'a> {
    pub(super) builder: &'a mut GraphBuilder,
    pub(super) members: &'a [u32],
}

impl Group<'_> {
    pub(super) fn size(&self) -> u32 {
        self.members.len() as u32
    }

    pub(super) fn rank(&mut self, member: u32) -> &mut RankDraft {
        &mut self.builder.ranks[self.members[member as usize] as usize]
    }

    /// A message to another member.
    pub(super) fn send(&mut self, member: u32, to: u32, tag: u32, bytes: u64) -> u32 {
        let to = self.members[to as usize];
        let tag = self.rank(member).first_tag + tag;
        self.rank(member).add(Draft::Send { to, tag, bytes })
    }

    /// A message from another member.
    pub(super) fn receive(&mut self, member: u32, from: u32, tag: u32, bytes: u64) -> u32 {
        let from = self.members[from as usize];
        let tag = self.rank(member).first_tag + tag;
        self.rank(member).add(Draft::Recv { from, tag, bytes })
    }
}
