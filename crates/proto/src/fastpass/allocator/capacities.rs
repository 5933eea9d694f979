//! A network that limits more than one packet an endpoint and slot: racks whose links to the rest of the network carry less
//! than their endpoints can send together (oversubscription), and nodes that stand for many endpoints outside the
//! domain of the arbiter (the boundary), with room for several packets a slot.
//!
//! A link that carries no whole number of packets a slot carries one more in some slots than in others: one of 1.5 packets
//! carries 1, 2, 1, 2 and so on ([`Carries`]). All links of a rack have the same slots, so that whichever link each packet takes,
//! as long as they are spread evenly, none is asked for more than it carries.

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

/// What the links between a rack and the rest of the network carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rack {
    /// What can leave the rack.
    pub up: Carries,
    /// What can come into the rack.
    pub down: Carries,
}

/// What some links that are alike carry in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carries {
    /// How many links there are, at least 1.
    pub links: u16,
    /// What each of them carries.
    pub each: PerSlot,
}

/// Packets that a link carries in a slot, on average: above 0, and perhaps no whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerSlot {
    /// The packets a slot, in parts of [`PerSlot::ONE`].
    parts: u64,
}

impl PerSlot {
    /// Parts of a packet.
    const ONE: u64 = 1 << 32;
    /// The most that is counted.
    const MOST: u64 = (u16::MAX as u64) << 32;

    /// Returns a capacity of `packets` packets in `slots` slots, rounded up to a part in 2^32; 65,535 at most. Panics if `slots`
    /// is 0.
    ///
    /// ```
    /// use clearway_proto::fastpass::allocator::PerSlot;
    /// // Three packets in two slots.
    /// let each = PerSlot::new(3, 2);
    /// assert_eq!((each.as_f64(), each.in_slot(0), each.in_slot(1), each.in_slot(2)), (1.5, 1, 2, 1));
    /// ```
    pub fn new(packets: u64, slots: u64) -> PerSlot {
        let parts = (u128::from(packets) * u128::from(PerSlot::ONE)).div_ceil(slots.into());
        PerSlot { parts: u64::try_from(parts).unwrap_or(u64::MAX).min(PerSlot::MOST) }
    }

    /// Packets a slot, on average.
    pub fn as_f64(self) -> f64 {
        self.parts as f64 / PerSlot::ONE as f64
    }

    /// Packets that the link carries in the slot of this number, counted from one in which it was idle before.
    pub fn in_slot(self, number: u64) -> u32 {
        // The whole part is the same in all slots, and of the fraction only what is left of whole packets counts.
        let (whole, fraction) = (self.parts / PerSlot::ONE, self.parts % PerSlot::ONE);
        let due = (u128::from(number) * u128::from(fraction) % u128::from(PerSlot::ONE)) as u64;
        (whole + (due + fraction) / PerSlot::ONE) as u32
    }
}

impl Carries {
    /// Returns whether anything passes.
    pub(super) fn is_nothing(self) -> bool {
        self.links == 0 || self.each.parts == 0
    }

    /// Packets a slot that these links carry together on average, rounded down.
    pub(in crate::fastpass) fn whole(self) -> u16 {
        let parts = u128::from(self.each.parts) * u128::from(self.links);
        u16::try_from(parts / u128::from(PerSlot::ONE)).unwrap_or(u16::MAX)
    }

    /// Packets that these links carry in the slot of this number.
    pub fn in_slot(self, number: u64) -> u32 {
        u32::from(self.links) * self.each.in_slot(number)
    }
}

impl Rack {
    /// Returns a rack that one link joins to the others, which carries `up` packets a slot out of the rack and `down` into it.
    pub fn whole(up: u16, down: u16) -> Rack {
        let link = |packets: u16| Carries { links: 1, each: PerSlot::new(packets.into(), 1) };
        Rack { up: link(up), down: link(down) }
    }
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
    capacity: Capacity,
    /// The slots with room.
    free: u64,
    /// Packets that fit into each slot.
    left: [u32; 64],
}

/// What something carries.
#[derive(Clone, Copy, Debug)]
enum Capacity {
    /// The same number of packets in each slot.
    Constant(u32),
    /// What these links carry, which is not the same in all slots.
    Varying(Carries),
}

impl Capacity {
    fn of(carries: Carries) -> Capacity {
        match carries.each.parts % PerSlot::ONE {
            0 => Capacity::Constant(carries.in_slot(0)),
            _ => Capacity::Varying(carries),
        }
    }

    /// Returns what is carried in the slots with least.
    fn least(self) -> u32 {
        match self {
            Capacity::Constant(packets) => packets,
            Capacity::Varying(links) => u32::from(links.links) * (links.each.parts / PerSlot::ONE) as u32,
        }
    }
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
    /// Slots in a batch.
    slots: u32,
    /// The first slot of the next batch, counted from the allocator's first batch on.
    next: u64,
    /// The slots for which pairs are served: a pair of two nodes with room for more is still granted one packet a slot.
    open: u64,
}

impl Counted {
    /// All of these capacities free.
    pub(super) fn new(capacities: &Capacities, slots: u32) -> Counted {
        let counters = |capacities: &mut dyn Iterator<Item = Capacity>| {
            capacities.map(|capacity| Counter { capacity, free: 0, left: [0; 64] }).collect()
        };
        let Capacities { nodes, racks } = capacities;
        let endless = || std::iter::once(Capacity::Constant(u32::MAX));
        let mut sizes = vec![0; racks.len()].into_boxed_slice();
        nodes.iter().filter_map(|node| node.rack).for_each(|rack| sizes[rack] += 1);
        Counted {
            sending: counters(&mut nodes.iter().map(|node| Capacity::Constant(node.sends.into()))),
            receiving: counters(&mut nodes.iter().map(|node| Capacity::Constant(node.receives.into()))),
            up: counters(&mut racks.iter().map(|rack| Capacity::of(rack.up)).chain(endless())),
            down: counters(&mut racks.iter().map(|rack| Capacity::of(rack.down)).chain(endless())),
            rack: nodes.iter().map(|node| node.rack.unwrap_or(racks.len()) as u32).collect(),
            sizes,
            several: nodes.iter().any(|node| node.sends > 1 || node.receives > 1),
            batch: !0 >> (64 - slots),
            slots,
            next: 0,
            open: 0,
        }
    }

    /// From the next batch on the racks' links carry this.
    pub(super) fn limit(&mut self, racks: impl IntoIterator<Item = Rack>) {
        let mut places = self.up.iter_mut().zip(&mut self.down).take(self.sizes.len());
        for rack in racks {
            let (up, down) = places.next().expect("no more racks than the allocator was made for");
            (up.capacity, down.capacity) = (Capacity::of(rack.up), Capacity::of(rack.down));
        }
        assert!(places.next().is_none(), "as many racks as the allocator was made for");
    }

    /// Returns whether anything limits more than that each node sends one packet a slot and receives one.
    pub(super) fn limits(&self) -> bool {
        let carries = |(counter, &size): (&Counter, &u32)| counter.capacity.least() >= size;
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
    /// Frees all of it in a batch of `slots` slots that begins with the slot `first`; `batch` has a bit for each of them.
    fn open(&mut self, first: u64, slots: u32, batch: u64) {
        self.free = batch;
        match self.capacity {
            Capacity::Constant(packets) => self.left = [packets; 64],
            Capacity::Varying(links) => {
                for slot in 0..slots {
                    let packets = links.in_slot(first + u64::from(slot));
                    self.left[slot as usize] = packets;
                    self.free ^= u64::from(packets == 0) << slot;
                }
            }
        }
    }

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
                counter.open(self.next, self.slots, self.batch);
            }
        }
        self.next += u64::from(self.slots);
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
