//! What endpoints have reported of late: how many packets passed each link, and who lost how many on which path.

use crate::fastpass::fcp::{Address, Path};

use super::links::Links;

/// Packets of one source that were lost on a path to a destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) source: Address,
    pub(super) destination: Address,
    pub(super) path: Path,
    /// Packets that went the same way, from those on that the first report of a loss is about.
    pub(super) sent: u32,
    /// Packets of these that were lost; 0 only where there is no entry.
    pub(super) lost: u32,
}

/// Losses by source, destination and path, in bounded memory: an open-addressing hash table that is at most half full.
#[derive(Clone, Debug)]
struct Losses {
    places: Box<[Loss]>,
    len: usize,
    /// Entries on their way from one place to another; empty at other times.
    moving: Vec<Loss>,
    /// Entries of each source, so that none takes the room of the others.
    of_source: Box<[u16]>,
}

/// Entries that a source can have.
const MOST_OF_SOURCE: u16 = 64;
/// Entries that all sources together can have.
const MOST: usize = 8192;

impl Losses {
    fn new(endpoints: usize) -> Losses {
        let places = vec![Loss::default(); 2 * Evidence::most_losses(endpoints)].into_boxed_slice();
        let moving = Vec::with_capacity(places.len() / 2);
        Losses { places, len: 0, moving, of_source: vec![0; endpoints].into_boxed_slice() }
    }

    /// Adds to an entry. Returns whether there was room. What was not lost adds to an entry that there is, and makes none.
    fn add(&mut self, loss: Loss) -> bool {
        let key = |loss: &Loss| {
            u64::from(loss.source) << 32 | u64::from(loss.destination) << 16 | u64::from(loss.path)
        };
        let mask = self.places.len() - 1;
        let mut at = (key(&loss).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & mask;
        while self.places[at].lost > 0 {
            if key(&self.places[at]) == key(&loss) {
                self.places[at].sent = self.places[at].sent.saturating_add(loss.sent);
                self.places[at].lost = self.places[at].lost.saturating_add(loss.lost);
                return true;
            }
            at = (at + 1) & mask;
        }
        if loss.lost == 0 {
            return true;
        }
        let of_source = &mut self.of_source[usize::from(loss.source)];
        if *of_source == MOST_OF_SOURCE || self.len == self.places.len() / 2 {
            return false;
        }
        *of_source += 1;
        self.len += 1;
        self.places[at] = loss;
        true
    }

    /// Drops the entries that are not to be kept.
    fn retain(&mut self, mut keep: impl FnMut(&Loss) -> bool) {
        let mut moving = std::mem::take(&mut self.moving);
        moving.extend(self.places.iter().filter(|loss| loss.lost > 0 && keep(loss)));
        if moving.len() < self.len {
            self.clear();
            for &loss in &moving {
                self.add(loss);
            }
        }
        moving.clear();
        self.moving = moving;
    }

    fn clear(&mut self) {
        if self.len > 0 {
            self.places.fill(Loss::default());
            self.of_source.fill(0);
            self.len = 0;
        }
    }
}

/// What was reported in some time.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// Packets on each link of which it is known whether they arrived.
    sent: Box<[u32]>,
    /// Packets of each source of which it is known whether they arrived.
    of_source: Box<[u32]>,
    losses: Losses,
    empty: bool,
}

impl Evidence {
    pub(super) fn new(links: usize, endpoints: usize) -> Evidence {
        Evidence {
            sent: vec![0; links].into_boxed_slice(),
            of_source: vec![0; endpoints].into_boxed_slice(),
            losses: Losses::new(endpoints),
            empty: true,
        }
    }

    /// Losses that there is room for.
    pub(super) fn most_losses(endpoints: usize) -> usize {
        MOST.min(endpoints * usize::from(MOST_OF_SOURCE)).next_power_of_two()
    }

    /// Packets that a source has sent.
    pub(super) fn of_source(&self, source: Address) -> u32 {
        self.of_source[usize::from(source)]
    }

    /// Notes packets, `loss.lost` of which were lost. Returns whether there was room for the losses.
    pub(super) fn note(&mut self, links: impl Iterator<Item = usize>, loss: Loss) -> bool {
        for link in links {
            self.sent[link] = self.sent[link].saturating_add(loss.sent);
        }
        self.of_source[usize::from(loss.source)] += loss.sent;
        self.empty = false;
        (loss.lost == 0 && self.losses.len == 0) || self.losses.add(loss)
    }

    pub(super) fn sent(&self, link: usize) -> u64 {
        u64::from(self.sent[link])
    }

    pub(super) fn losses(&self) -> impl Iterator<Item = &Loss> {
        let places = if self.losses.len > 0 { &self.losses.places[..] } else { &[] };
        places.iter().filter(|loss| loss.lost > 0)
    }

    /// Drops what went the same ways as losses of which a link is the reason that `has_failed`: it says nothing of the others
    /// there.
    pub(super) fn drop_explained(&mut self, links: &Links, has_failed: impl Fn(usize) -> bool) {
        if self.losses.len == 0 {
            return;
        }
        let Evidence { sent, losses, .. } = self;
        losses.retain(|loss| {
            let Some(route) = links.route(loss.source, loss.destination, loss.path) else { return false };
            let explained = route.iter().any(&has_failed);
            if explained {
                route.iter().for_each(|link| sent[link] = sent[link].saturating_sub(loss.sent));
            }
            !explained
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.empty
    }

    pub(super) fn clear(&mut self) {
        if !self.empty {
            self.sent.fill(0);
            self.of_source.fill(0);
            self.losses.clear();
            self.empty = true;
        }
    }
}
