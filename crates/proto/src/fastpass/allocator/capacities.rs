//! A network that limits more than one packet an endpoint and slot: racks whose links to the rest of the network carry less
//! than their endpoints can send together (oversubscription), and nodes that stand for many endpoints outside the
//! domain of the arbiter (the boundary), with room for several packets a slot.

use super::links::Links;
use super::pair::Pair;

/// What each node and each rack carries in a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacities {
    /// The nodes by address, one for each of [`AllocatorParams::nodes`](super::AllocatorParams::nodes).
    pub nodes: Vec<Node>,
    /// The racks that [`Node::rack`] speaks of, by number.
    pub racks: Vec<Rack>,
}

/// What a node carries in a slot, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The rack it stands in, if its rack's links limit what passes. Packets between two nodes of a rack do not use them.
    pub rack: Option<usize>,
    /// Packets it can send in a slot, at least 1.
    pub sends: u16,
    /// Packets it can receive in a slot, at least 1.
    pub receives: u16,
}

/// What the links between a rack and the rest of the network carry in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rack {
    /// Packets that can leave the rack in a slot, at least 1.
    pub up: u16,
    /// Packets that can come into the rack in a slot, at least 1.
    pub down: u16,
}

impl Node {
    /// An endpoint with one link in a rack of this number.
    pub fn endpoint(rack: usize) -> Node {
        Node { rack: Some(rack), sends: 1, receives: 1 }
    }

    /// The boundary of the arbiter's domain, or a part of it, with room for `packets` a slot in each direction.
    pub fn boundary(packets: u16) -> Node {
        Node { rack: None, sends: packets, receives: packets }
    }
}

impl Capacities {
    /// No more packets than these are granted in a slot.
    pub(super) fn most_granted(&self) -> usize {
        let sent: usize = self.nodes.iter().map(|node| usize::from(node.sends)).sum();
        let received: usize = self.nodes.iter().map(|node| usize::from(node.receives)).sum();
        // Nor more than there are pairs.
        sent.min(received).min(self.nodes.len() * self.nodes.len())
    }
}

/// Packets that something can still carry, slot by slot. It is a node's sending or receiving, or a rack's links up or down.
#[derive(Clone, Debug)]
struct Counter {
    capacity: u32,
    /// The slots with room.
    free: u64,
    /// Packets that fit into each slot.
    left: [u32; 64],
}

/// The capacity left of each node and each rack.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    sending: Box<[Counter]>,
    receiving: Box<[Counter]>,
    /// Each rack, and one more without end for packets that use no rack's links.
    up: Box<[Counter]>,
    down: Box<[Counter]>,
    /// The rack of each node; the one without end for nodes in none.
    rack: Box<[u32]>,
    /// The nodes of each rack.
    sizes: Box<[u32]>,
    /// Whether some node has room for several packets a slot.
    several: bool,
    /// All slots of a batch.
    batch: u64,
    /// The slots for which pairs are served: a pair of two nodes with room for more is still granted one packet a slot.
    open: u64,
}

impl Counted {
    /// All of these capacities free.
    pub(super) fn new(capacities: &Capacities, slots: u32) -> Counted {
        let counters = |packets: &mut dyn Iterator<Item = u32>| {
            packets.map(|capacity| Counter { capacity, free: 0, left: [0; 64] }).collect()
        };
        let Capacities { nodes, racks } = capacities;
        let endless = || std::iter::once(u32::MAX);
        let mut sizes = vec![0; racks.len()].into_boxed_slice();
        nodes.iter().filter_map(|node| node.rack).for_each(|rack| sizes[rack] += 1);
        Counted {
            sending: counters(&mut nodes.iter().map(|node| u32::from(node.sends))),
            receiving: counters(&mut nodes.iter().map(|node| u32::from(node.receives))),
            up: counters(&mut racks.iter().map(|rack| u32::from(rack.up)).chain(endless())),
            down: counters(&mut racks.iter().map(|rack| u32::from(rack.down)).chain(endless())),
            rack: nodes.iter().map(|node| node.rack.unwrap_or(racks.len()) as u32).collect(),
            sizes,
            several: nodes.iter().any(|node| node.sends > 1 || node.receives > 1),
            batch: !0 >> (64 - slots),
            open: 0,
        }
    }

    /// From the next batch on the racks' links carry this.
    pub(super) fn limit(&mut self, racks: impl IntoIterator<Item = Rack>) {
        let mut places = self.up.iter_mut().zip(&mut self.down).take(self.sizes.len());
        for rack in racks {
            assert!(rack.up > 0 && rack.down > 0, "a rack that carries nothing");
            let (up, down) = places.next().expect("no more racks than the allocator was made for");
            (up.capacity, down.capacity) = (rack.up.into(), rack.down.into());
        }
        assert!(places.next().is_none(), "as many racks as the allocator was made for");
    }

    /// Whether anything limits more than that each node sends one packet a slot and receives one.
    pub(super) fn limits(&self) -> bool {
        let carries = |(counter, &size): (&Counter, &u32)| counter.capacity >= size;
        let free = |counters: &[Counter]| counters.iter().zip(&self.sizes).all(carries);
        self.several || !free(&self.up) || !free(&self.down)
    }

    /// Whose links up and whose links down a packet of this pair takes.
    #[inline]
    fn racks(&self, pair: Pair) -> (usize, usize) {
        let from = self.rack[usize::from(pair.source())] as usize;
        let to = self.rack[usize::from(pair.destination())] as usize;
        let endless = self.up.len() - 1;
        if from == to {
            (endless, endless)
        } else {
            (from, to)
        }
    }
}

impl Counter {
    /// Takes room for a packet in each of these slots.
    #[inline]
    fn take(&mut self, mut slots: u64) {
        while slots != 0 {
            let slot = slots.trailing_zeros() as usize;
            self.left[slot] -= 1;
            if self.left[slot] == 0 {
                self.free ^= 1 << slot;
            }
            slots &= slots - 1;
        }
    }
}

impl Links for Counted {
    fn open(&mut self) {
        self.open = self.batch;
        for counters in [&mut self.sending, &mut self.receiving, &mut self.up, &mut self.down] {
            for counter in counters.iter_mut() {
                counter.free = self.batch;
                counter.left = [counter.capacity; 64];
            }
        }
    }

    fn pass(&mut self, slot: u32) {
        self.open = self.batch & !1 << slot;
    }

    #[inline]
    fn free(&self, pair: Pair) -> u64 {
        if !pair.waits() {
            return 0;
        }
        let (up, down) = self.racks(pair);
        self.open
            & self.sending[usize::from(pair.source())].free
            & self.receiving[usize::from(pair.destination())].free
            & self.up[up].free
            & self.down[down].free
    }

    #[inline]
    fn take(&mut self, pair: Pair, slots: u64) {
        let (up, down) = self.racks(pair);
        self.sending[usize::from(pair.source())].take(slots);
        self.receiving[usize::from(pair.destination())].take(slots);
        self.up[up].take(slots);
        self.down[down].take(slots);
    }

    #[inline]
    fn take_first(&mut self, pair: Pair) -> u32 {
        let free = self.free(pair);
        if free != 0 {
            self.take(pair, free & free.wrapping_neg());
        }
        free.trailing_zeros()
    }
}
