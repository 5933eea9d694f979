//! The allocator's order as the module's documentation says it, slot by slot over a plain list: slow and obvious.

use clearway_proto::fastpass::allocator::{AllocatorParams, Carries, Node, Order, Rack, Refusal};

/// A source, a destination, and the slots they wait for (of a grant, after it).
pub type Waiting = (usize, usize, u32);

pub struct Oracle {
    params: AllocatorParams,
    queue: Vec<Waiting>,
    /// What was requested since the last batch.
    requests: Vec<Waiting>,
    /// Slots allocated so far.
    slots: u64,
}

/// Packets that a slot has carried so far.
pub struct Used {
    sent: Vec<u32>,
    received: Vec<u32>,
    up: Vec<u32>,
    down: Vec<u32>,
}

impl Oracle {
    pub fn new(params: &AllocatorParams) -> Oracle {
        Oracle { params: params.clone(), queue: Vec::new(), requests: Vec::new(), slots: 0 }
    }

    pub fn request(&mut self, source: usize, destination: usize, slots: u32) -> Result<(), Refusal> {
        let limit = u64::from(self.params.limit);
        if source >= self.params.nodes {
            return Err(Refusal::UnknownSource);
        }
        if destination >= self.params.nodes {
            return Err(Refusal::UnknownDestination);
        }
        if source == destination {
            return Err(Refusal::OwnAddress);
        }
        if slots == 0 {
            return Err(Refusal::NoSlots);
        }
        if u64::from(slots) > limit {
            return Err(Refusal::OverLimit);
        }
        let same = |waiting: &&Waiting| (waiting.0, waiting.1) == (source, destination);
        let all = self.queue.iter().chain(&self.requests);
        let outstanding: u64 = all.filter(same).map(|waiting| u64::from(waiting.2)).sum();
        if outstanding + u64::from(slots) > limit {
            return Err(Refusal::TooManyOutstanding);
        }
        self.requests.push((source, destination, slots));
        Ok(())
    }

    /// Forgets what a source waits for; the slots that were.
    pub fn forget(&mut self, source: usize) -> u64 {
        let slots = |waiting: &[Waiting]| waiting.iter().map(|waiting| u64::from(waiting.2)).sum::<u64>();
        let before = slots(&self.queue) + slots(&self.requests);
        self.queue.retain(|waiting| waiting.0 != source);
        self.requests.retain(|waiting| waiting.0 != source);
        before - slots(&self.queue) - slots(&self.requests)
    }

    /// Forgets what all sources wait for; the slots that were.
    pub fn forget_all(&mut self) -> u64 {
        (0..self.params.nodes).map(|source| self.forget(source)).sum()
    }

    /// Changes what the racks' links carry.
    pub fn limit_racks(&mut self, racks: &[Rack]) {
        self.params.capacities.as_mut().expect("capacities").racks = racks.to_vec();
    }

    /// The queue with what was requested since the last batch.
    pub fn waiting(&self) -> Vec<Waiting> {
        let mut queue = self.queue.clone();
        for &(source, destination, slots) in &self.requests {
            match queue.iter_mut().find(|pair| (pair.0, pair.1) == (source, destination)) {
                Some(pair) => pair.2 += slots,
                None => queue.push((source, destination, slots)),
            }
        }
        queue
    }

    /// The pairs that are granted each slot of the next batch.
    pub fn allocate(&mut self) -> Vec<Vec<Waiting>> {
        self.queue = self.waiting();
        self.requests.clear();
        if self.params.order == Order::MinFct {
            self.queue.sort_by_key(|pair| pair.2);
        }
        (0..self.params.slots).map(|_| self.allocate_slot()).collect()
    }

    fn allocate_slot(&mut self) -> Vec<Waiting> {
        let mut used = Used::new(&self.params);
        let mut granted = Vec::new();
        let mut queue = Vec::new();
        for &(source, destination, slots) in &self.queue {
            if !used.fits(&self.params, self.slots, source, destination) {
                queue.push((source, destination, slots));
                continue;
            }
            used.take(&self.params, source, destination);
            granted.push((source, destination, slots - 1));
            if self.params.order == Order::MinFct && slots > 1 {
                queue.push((source, destination, slots - 1));
            }
        }
        if self.params.order == Order::MaxMin {
            queue.extend(granted.iter().filter(|pair| pair.2 > 0));
        }
        self.queue = queue;
        self.slots += 1;
        granted
    }
}

impl Used {
    pub fn new(params: &AllocatorParams) -> Used {
        let racks = params.capacities.as_ref().map_or(0, |capacities| capacities.racks.len());
        Used {
            sent: vec![0; params.nodes],
            received: vec![0; params.nodes],
            up: vec![0; racks],
            down: vec![0; racks],
        }
    }

    /// Returns whether the slot of this number can carry one packet more between these two.
    pub fn fits(&self, params: &AllocatorParams, slot: u64, source: usize, destination: usize) -> bool {
        let (from, to) = (node(params, source), node(params, destination));
        let ends =
            self.sent[source] < u32::from(from.sends) && self.received[destination] < u32::from(to.receives);
        let Some(capacities) = &params.capacities else { return ends };
        if from.rack == to.rack {
            return ends;
        }
        let room = |used: &[u32], rack: usize, links: Carries| used[rack] < carried(links, slot);
        let up = from.rack.is_none_or(|rack| room(&self.up, rack, capacities.racks[rack].up));
        let down = to.rack.is_none_or(|rack| room(&self.down, rack, capacities.racks[rack].down));
        ends && up && down
    }

    /// Notes a packet between these two.
    pub fn take(&mut self, params: &AllocatorParams, source: usize, destination: usize) {
        self.sent[source] += 1;
        self.received[destination] += 1;
        let (from, to) = (node(params, source).rack, node(params, destination).rack);
        if from != to {
            if let Some(rack) = from {
                self.up[rack] += 1;
            }
            if let Some(rack) = to {
                self.down[rack] += 1;
            }
        }
    }
}

/// Returns what links have carried by the end of a slot, less what they have by its beginning: whole packets of an even flow.
fn carried(links: Carries, slot: u64) -> u32 {
    let by = |slots: u64| (slots as f64 * links.each.as_f64()).floor();
    u32::from(links.links) * (by(slot + 1) - by(slot)) as u32
}

fn node(params: &AllocatorParams, address: usize) -> Node {
    let one = Node { rack: None, sends: 1, receives: 1 };
    params.capacities.as_ref().map_or(one, |capacities| capacities.nodes[address])
}
