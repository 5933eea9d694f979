//! The two ends of a flow, each in the domain that owns its host.

use clearway_proto::transport::{Ack, Data};
use clearway_proto::units::Time;

use super::transport::Maker;
use crate::engine::event::{Frame, Meta};
use crate::schemes::{AnyReceiver, AnySender, Wants};

/// The sending end.
#[derive(Debug)]
#[repr(align(64))]
pub struct SendingEnd {
    /// The machine.
    pub sender: AnySender,
    /// The pending entry of its timer.
    pub timer_at: Time,
    /// The pending entry of its pacing.
    pub pace_at: Time,
    /// Acknowledgements received.
    pub acks: u64,
    /// The flow's number in the run.
    pub flow: u32,
    /// The flow's first route.
    pub route: u32,
    /// How many routes the flow has, over which its packets are sprayed.
    pub routes: u32,
    /// The next flow that waits for the same NIC.
    pub next_waiting: u32,
    /// Index of its transport.
    pub transport: u16,
    /// It waits for the NIC.
    pub waiting: bool,
    /// It carries writes, or messages of a job: operations that are done when they are acknowledged.
    pub writes: bool,
}

/// Frames of a conversation that were lost anywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Frames of data, or probes.
    pub data: u64,
    /// Acknowledgements, or answers to probes.
    pub acks: u64,
}

impl SendingEnd {
    /// The next packet's frame, and what the sender wants when it has sent that.
    #[inline(always)]
    pub fn transmit(&mut self, maker: &Maker, now: Time) -> (Frame, Wants) {
        let (data, wants) = self.sender.transmit(now);
        let flags = if maker.ecn_capable { Meta::ECT } else { 0 } | if data.last { Meta::LAST } else { 0 };
        let route = if self.routes == 1 { self.route } else { self.one_of_routes(maker.slotted) };
        let frame = Frame {
            stamp: data.sent.as_ps(),
            route_seq: u64::from(route) << 32 | u64::from(data.seq),
            meta: Meta::new(data.payload + maker.overhead, flags),
        };
        (frame, wants)
    }

    /// The route of the packet that was just sent. A flow whose packets leave in timeslots keeps to one route, unless its
    /// endpoint says otherwise.
    fn one_of_routes(&self, slotted: bool) -> u32 {
        if slotted {
            self.route + self.draw(crate::random::mix(u64::from(self.flow)))
        } else {
            self.spray()
        }
    }

    /// The route of the packet that was just sent: each packet, sent again or not, draws one uniformly from the
    /// flow's, by a hash of the flow and of the packets that it has sent (random packet spraying: Dixit et al., "On the
    /// Impact of Packet Spraying in Data Center Networks", INFOCOM 2013).
    fn spray(&self) -> u32 {
        let hash = crate::random::mix(crate::random::mix(u64::from(self.flow)) ^ self.sender.flight().sent);
        self.route + self.draw(hash)
    }

    /// One of the flow's routes, counted from its first.
    fn draw(&self, hash: u64) -> u32 {
        ((u128::from(hash) * u128::from(self.routes)) >> 64) as u32
    }
}

/// The receiving end. The order of the fields is kept: first, in one line of memory, comes what every packet touches.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct ReceivingEnd {
    /// The machine.
    pub receiver: AnyReceiver,
    /// Data frames that came, new or not.
    pub arrived: u64,
    /// Acknowledgements sent.
    pub acks: u64,
    /// The route of the packet that came last, on which acknowledgements go back.
    pub route: u32,
    /// Index of its transport.
    pub transport: u16,
    /// The flow has a size.
    pub sized: bool,
    /// The pending entry of its timer.
    pub timer_at: Time,
    /// When a sized flow had arrived whole; [`Time::NEVER`] before that.
    pub completed_at: Time,
    /// The flow's number in the run.
    pub flow: u32,
}

impl ReceivingEnd {
    /// Takes a data frame. Returns how many messages are whole with it.
    #[inline(always)]
    pub fn handle(&mut self, maker: &Maker, now: Time, received: Time, frame: &Frame) -> u32 {
        let data = Data {
            seq: frame.seq(),
            payload: frame.meta.size() - maker.overhead,
            last: frame.meta.contains(Meta::LAST),
            sent: Time::from_ps(frame.stamp),
        };
        // The last link leads to a host, not to a switch.
        let switches = frame.meta.hop() - 1;
        self.arrived += 1;
        self.route = frame.route();
        self.receiver.handle_data(now, received, &data, frame.meta.contains(Meta::CE), switches as u8)
    }

    /// The next acknowledgement that is due; there is one.
    #[inline(always)]
    pub fn acknowledgement(&mut self, now: Time) -> Ack {
        self.acks += 1;
        self.receiver.transmit(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn what_every_packet_touches_at_the_receiver_is_one_line_of_memory() {
        assert_eq!(std::mem::offset_of!(ReceivingEnd, timer_at), 64);
        assert_eq!(size_of::<ReceivingEnd>(), 128);
    }
}
