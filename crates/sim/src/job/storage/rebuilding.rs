//! The rebuilding of what dead servers held, by all living servers at once.

use clearway_proto::units::Span;

use super::draw::Draw;
use super::program::{Program, WORK};
use crate::job::Draft;

impl Program<'_> {
    /// Lets living servers make anew what a dead one had. For each block the stripe is drawn, with the dead server in it; a server
    /// without a block of the stripe reads as many of the living ones as are needed, and keeps the new block.
    pub(super) fn rebuild(&mut self, dead: u32, draw: &mut Draw) {
        let Some(rebuild) = self.storage.rebuild else { return };
        let (blocks, block) = (self.storage.lost_blocks(), self.storage.block());
        let redundancy = self.storage.redundancy;
        let living: Vec<u32> =
            (0..self.storage.servers).filter(|&server| !self.storage.is_dead(server)).collect();
        let decoding = if self.is_striped() { self.storage.decode_time } else { Span::ZERO };
        let work = Draft::Calc { cpu: WORK, time: decoding + self.storage.write_time };
        let mut left = rebuild.bytes;
        for number in 0..blocks {
            let stripe = draw.others(dead, redundancy.width());
            let keeper = loop {
                let server = draw.one_of(&living);
                if !stripe.contains(&server) {
                    break server;
                }
            };
            let sources = self.living(&stripe, redundancy.needed() as usize);
            let bytes = block.min(left);
            left -= bytes;
            let begun = self.begin_rebuild(keeper, rebuild.depth);
            let fetched = self.fetch(&begun, &sources, bytes);
            if number + 1 == blocks {
                self.end_last(&begun, work, &fetched);
            } else {
                self.end(&begun, work, &fetched);
            }
        }
    }
}
