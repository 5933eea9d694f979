//! The pool for what does not fit an event, whose frame holds the place in the pool instead.

use clearway_proto::fastpass::fcp::Packet;
use clearway_proto::fastpass::receipts::SlotHeader;
use clearway_proto::transport::{Ack, Ask, Nack};

use crate::schemes::AnyTelemetry;

/// Boxes that are kept for later: where frames are lost in one domain and made in another, they would heap up.
const MOST_SPARE: usize = 4096;

/// What does not fit an event.
#[derive(Debug)]
pub enum Parcel {
    /// An acknowledgement that says more than that all up to its packet has arrived.
    Ack(Ack),
    /// What a control packet of Fastpass says.
    Control(Box<Packet>),
    /// What the first frame of a timeslot carries: the slot's header, and what else the frame says.
    Slotted(Box<(SlotHeader, Said)>),
    /// What switches have written into a data frame on its way, or what its acknowledgement gives back.
    Told(Box<Told>),
    /// The sequence number of a packet whose payload a switch has cut off.
    Trimmed(u32),
    /// What a receiver says of such a packet.
    Nack(Nack),
    /// The sequence number of a data packet, whole or cut, and what its sender asks its receiver for.
    Asking(Asking),
    /// How much credit a receiver has granted since the flow began, in quanta.
    Pull(u64),
}

/// What a data packet says of a flow whose receiver grants credit.
#[derive(Clone, Copy, Debug)]
pub struct Asking {
    /// The packet's sequence number.
    pub seq: u32,
    /// What the sender asks for.
    pub ask: Ask,
}

/// Telemetry, and what else its frame says.
#[derive(Debug)]
pub struct Told {
    /// What switches have written.
    pub telemetry: AnyTelemetry,
    /// The rest.
    pub said: Said,
}

/// What a frame says beside what its parcel is for.
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
    places: Vec<Option<Parcel>>,
    free: Vec<u32>,
    /// Boxes of telemetry that came back to its sender, for the next packets.
    #[allow(clippy::vec_box, reason = "it is the boxes that are kept")]
    spare: Vec<Box<Told>>,
    /// The telemetry of the packet that a host's stack takes now, until its acknowledgement gives it back.
    pub told: Option<Box<Told>>,
}

impl Parcels {
    /// How many are in the pool.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Puts one in, and gives its place.
    pub fn put(&mut self, parcel: Parcel) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(parcel);
            return place;
        }
        self.places.push(Some(parcel));
        (self.places.len() - 1) as u32
    }

    /// The sequence number of the data packet whose parcel is at this place. Panics if what is there is no data packet's.
    pub fn seq_of_packet(&self, place: u32) -> u32 {
        let said = match self.places[place as usize].as_ref().expect("a frame's parcel is in the pool") {
            Parcel::Trimmed(seq) => return *seq,
            Parcel::Asking(asking) => return asking.seq,
            Parcel::Slotted(slotted) => slotted.1,
            Parcel::Told(told) => told.said,
            other => unreachable!("{other:?} is no data packet's"),
        };
        match said {
            Said::Seq(seq) => seq,
            Said::Ack(_) => unreachable!("a data packet acknowledges nothing"),
        }
    }

    /// The parcel at this place. Panics if there is none.
    pub fn at(&self, place: u32) -> &Parcel {
        self.places[place as usize].as_ref().expect("a frame's parcel is in the pool")
    }

    /// Takes one out, which frees its place. Panics if there is none at this place.
    pub fn take(&mut self, place: u32) -> Parcel {
        self.free.push(place);
        self.places[place as usize].take().expect("a frame's parcel is in the pool")
    }

    /// Puts an acknowledgement that does not fit its event into the pool, and gives its place: with telemetry, where the packet
    /// that is taken now came with some. A notification is no acknowledgement, and gives nothing back.
    #[inline(never)]
    pub fn put_ack(&mut self, ack: Ack) -> u32 {
        let parcel = match self.told.take_if(|_| !ack.is_notification()) {
            Some(mut told) => {
                told.said = Said::Ack(ack);
                Parcel::Told(told)
            }
            None => Parcel::Ack(ack),
        };
        self.put(parcel)
    }

    /// Puts telemetry in, and gives its place.
    pub fn put_told(&mut self, told: Told) -> u32 {
        let told = match self.spare.pop() {
            Some(mut spare) => {
                *spare = told;
                spare
            }
            None => Box::new(told),
        };
        self.put(Parcel::Told(told))
    }

    /// The telemetry at this place; none if there is something else.
    pub fn telemetry(&mut self, place: u32) -> Option<&mut AnyTelemetry> {
        match self.places[place as usize].as_mut()? {
            Parcel::Told(told) => Some(&mut told.telemetry),
            _ => None,
        }
    }

    /// Keeps the box of telemetry that nobody needs any more.
    pub fn keep(&mut self, told: Box<Told>) {
        if self.spare.len() < MOST_SPARE {
            self.spare.push(told);
        }
    }

    /// Throws away what is at this place, which is free then. Panics if there is none.
    pub fn discard(&mut self, place: u32) {
        if let Parcel::Told(told) = self.take(place) {
            self.keep(told);
        }
    }

    /// Takes an acknowledgement out. Panics if there is something else at this place.
    pub fn take_ack(&mut self, place: u32) -> Ack {
        match self.take(place) {
            Parcel::Ack(ack) => ack,
            _ => {
                unreachable!("it waits for a slot as an acknowledgement")
            }
        }
    }

    /// Takes a control packet out. Panics if there is something else at this place.
    pub fn take_control(&mut self, place: u32) -> Packet {
        match self.take(place) {
            Parcel::Control(packet) => *packet,
            _ => {
                unreachable!("a control frame has a control packet for its parcel")
            }
        }
    }
}
