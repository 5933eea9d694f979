//! The pool for what does not fit an event, whose frame holds the place in the pool instead.

use clearway_proto::fastpass::fcp::Packet;
use clearway_proto::fastpass::receipts::SlotHeader;
use clearway_proto::transport::Ack;

/// What does not fit an event.
#[derive(Debug)]
pub enum Parcel {
    /// An acknowledgement that says more than that all up to its packet has arrived.
    Ack(Ack),
    /// What a control packet of Fastpass says.
    Control(Box<Packet>),
    /// What the first frame of a timeslot carries: the slot's header, and what else the frame says.
    Slotted(Box<(SlotHeader, Said)>),
}

/// What a frame says that goes in a timeslot.
#[derive(Clone, Copy, Debug)]
pub enum Said {
    /// The sequence number of a packet, or of the one that an acknowledgement is of.
    Seq(u32),
    /// An acknowledgement that says more than that.
    Ack(Ack),
}

/// The parcels of a domain, by place.
#[derive(Debug, Default)]
pub struct Parcels {
    parcels: Vec<Option<Parcel>>,
    free: Vec<u32>,
}

impl Parcels {
    /// How many are in the pool.
    pub fn len(&self) -> usize {
        self.parcels.len() - self.free.len()
    }

    /// Puts one in, and gives its place.
    pub fn put(&mut self, parcel: Parcel) -> u32 {
        if let Some(place) = self.free.pop() {
            self.parcels[place as usize] = Some(parcel);
            return place;
        }
        self.parcels.push(Some(parcel));
        (self.parcels.len() - 1) as u32
    }

    /// Takes one out, which frees its place. Panics if there is none at this place.
    pub fn take(&mut self, place: u32) -> Parcel {
        self.free.push(place);
        self.parcels[place as usize].take().expect("a frame's parcel is in the pool")
    }

    /// Takes an acknowledgement out. Panics if there is something else at this place.
    pub fn take_ack(&mut self, place: u32) -> Ack {
        match self.take(place) {
            Parcel::Ack(ack) => ack,
            Parcel::Control(_) | Parcel::Slotted(_) => {
                unreachable!("it waits for a slot as an acknowledgement")
            }
        }
    }

    /// Takes a control packet out. Panics if there is something else at this place.
    pub fn take_control(&mut self, place: u32) -> Packet {
        match self.take(place) {
            Parcel::Control(packet) => *packet,
            Parcel::Ack(_) | Parcel::Slotted(_) => {
                unreachable!("a control frame has a control packet for its parcel")
            }
        }
    }
}
