//! The pool for what does not fit an event, whose frame holds the place in the pool instead.

use clearway_proto::transport::Ack;

/// The acknowledgements of a domain that say more than that all up to their packet has arrived, by place.
#[derive(Debug, Default)]
pub struct Parcels {
    acks: Vec<Ack>,
    free: Vec<u32>,
}

impl Parcels {
    /// How many are in the pool.
    pub fn len(&self) -> usize {
        self.acks.len() - self.free.len()
    }

    /// Puts one in, and gives its place.
    pub fn put(&mut self, ack: Ack) -> u32 {
        if let Some(place) = self.free.pop() {
            self.acks[place as usize] = ack;
            return place;
        }
        self.acks.push(ack);
        (self.acks.len() - 1) as u32
    }

    /// Takes one out, which frees its place.
    pub fn take(&mut self, place: u32) -> Ack {
        self.free.push(place);
        self.acks[place as usize]
    }
}
