//! The two ends of a flow, each in the domain that owns its host.

use clearway_proto::multipath::{drawn, in_turn, PathFeedback, PathSelector};
use clearway_proto::transport::{Ack, Data, Header, Nack};
use clearway_proto::units::Time;

use super::transport::Maker;
use crate::engine::event::{Frame, Meta};
use crate::model::Spray;
use crate::random::mix;
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
    /// How many routes the flow has, over which its packets are sprayed; with [`Self::ASKS`].
    pub routes: u32,
    /// The next flow that waits for the same NIC.
    pub next_waiting: u32,
    /// Index of its transport.
    pub transport: u16,
    /// It waits for the NIC.
    pub waiting: bool,
    /// The memory of the paths of its packets; most flows have none.
    pub selector: Option<Box<PathSelector>>,
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
    /// The bit of `routes` that says that the flow's packets ask its receiver for credit. It stands there so that one comparison
    /// tells that there is neither a route to choose nor anything to ask for.
    pub const ASKS: u32 = 1 << 31;

    /// Returns whether its packets all take one route, and ask for nothing.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.routes == 1
    }

    /// Returns whether its packets ask its receiver for credit.
    pub fn asks(&self) -> bool {
        self.routes & SendingEnd::ASKS != 0
    }

    /// The next packet's frame, on the flow's first route, and what the sender wants when it has sent that.
    #[inline(always)]
    pub fn transmit(&mut self, maker: &Maker, now: Time) -> (Frame, Wants) {
        let (data, wants) = self.sender.transmit(now);
        let flags = maker.data_flags | if data.last { Meta::LAST } else { 0 };
        let frame = Frame {
            stamp: data.sent.as_ps(),
            route_seq: u64::from(self.route) << 32 | u64::from(data.seq),
            meta: Meta::new(data.payload + maker.overhead, flags),
        };
        (frame, wants)
    }

    /// The route of the packet that was just sent. A flow whose packets leave in timeslots keeps to one route, unless its
    /// endpoint says otherwise, and one whose switches choose begins with any.
    pub fn one_of_routes(&mut self, maker: &Maker, now: Time) -> u32 {
        let routes = self.routes & !SendingEnd::ASKS;
        // A packet that is sent again draws anew: by a hash of the flow and of the packets that it has sent.
        let hash = |this: &SendingEnd| mix(mix(u64::from(this.flow)) ^ this.sender.flight().sent);
        let path = match &maker.spray {
            _ if maker.slotted => drawn(mix(u64::from(self.flow)), routes),
            Spray::Flow | Spray::Adaptive => 0,
            // Random packet spraying (Dixit et al., "On the Impact of Packet Spraying in Data Center Networks", INFOCOM 2013).
            Spray::Packet => drawn(hash(self), routes),
            Spray::RoundRobin => {
                let of_flow = mix(u64::from(self.flow));
                in_turn(self.sender.flight().sent - 1, routes, |cycle| mix(of_flow ^ cycle))
            }
            Spray::Reps | Spray::Mixed | Spray::Flowlet => {
                let random = hash(self);
                let selector = self.selector.as_mut().expect("such a flow remembers its paths");
                selector.choose(now, routes, random)
            }
        };
        self.route + path
    }

    /// The timer has run out, the congestion control's or the one for retransmission: which paths are taken, only the latter says.
    pub fn handle_timeout(&mut self, now: Time) {
        let Some(selector) = &mut self.selector else { return self.sender.handle_timeout(now) };
        let before = self.sender.flight().timeouts;
        self.sender.handle_timeout(now);
        if self.sender.flight().timeouts > before {
            selector.handle_timeout(now);
        }
    }

    /// Tells what remembers paths what a packet says of the route that it took.
    pub fn note_path(&mut self, now: Time, route: u32, feedback: PathFeedback) {
        if let Some(selector) = &mut self.selector {
            selector.handle_feedback(now, route - self.route, feedback);
        }
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

    /// Takes the header of a data frame whose payload was cut off; `seq` is the packet's sequence number. Returns what the sender
    /// is to be told at once.
    pub fn handle_header(&mut self, now: Time, received: Time, frame: &Frame, seq: u32) -> Option<Nack> {
        let (sent, last) = (Time::from_ps(frame.stamp), frame.meta.contains(Meta::LAST));
        let switches = frame.meta.hop() - 1;
        let header = Header {
            data: Data { seq, payload: 0, last, sent },
            hops: switches as u8,
            last_hop: frame.meta.trimmed_after() == Some(switches),
        };
        self.arrived += 1;
        self.route = frame.route();
        self.receiver.handle_header(now, received, &header)
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
