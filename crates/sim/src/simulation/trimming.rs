//! Packets whose payload a port has cut off, as it had no room for them: from there to the receiver, and back to the sender.
//!
//! Such a packet is an ordinary frame of its flow that weighs less and whose sequence number is in a parcel, so no other frame
//! has to be asked whether it is one. See [`crate::net::trimming`].

use clearway_proto::multipath::PathFeedback;
use clearway_proto::transport::Nack;
use clearway_proto::units::Time;

use super::domain::Domain;
use super::fabric::Fabric;
use super::loss::Reason;
use super::out::Out;
use super::parcels::Parcel;
use super::plan::Plan;
use crate::engine::event::{Frame, Meta};
use crate::net::pfc::NO_PORT;
use crate::net::trimming::Judged;

impl Fabric {
    /// A frame of a class comes to a port that has caught up, and cuts packets for which it has no room.
    pub(super) fn offer_to_trimming(
        &mut self,
        plan: &Plan,
        out: &mut Out,
        at: u32,
        class: usize,
        frame: Frame,
    ) {
        let trimmed = frame.meta.trimmed_after().is_some();
        if trimmed || plan.classes == 0 && frame.meta.contains(Meta::ACK) {
            return self.offer_ahead(plan, out, at, class, frame);
        }
        match self.ports.judge(at, class, &frame, out.calendar.slots()) {
            Judged::Joins => self.join(plan, out, at, class, frame, NO_PORT),
            Judged::IsCut => self.trim(plan, out, at, class, frame),
            Judged::CutsLast => {
                let last = self.ports.replace_last(at, class, frame, out.now, out.calendar.parts().0);
                self.trim(plan, out, at, class, last);
            }
            Judged::HasNoRoom => {
                self.ports.count_drop(at, class, frame.meta.size());
                self.lose(plan, out, at, &frame, Reason::NoRoom);
            }
        }
    }

    /// Cuts the payload of a frame off that comes to a port, or waited there.
    fn trim(&mut self, plan: &Plan, out: &mut Out, at: u32, class: usize, frame: Frame) {
        let size = self.ports.trimmed_size(at);
        if !self.ports.has_header_room(at, size) {
            self.ports.count_drop(at, class, frame.meta.size());
            return self.lose(plan, out, at, &frame, Reason::NoRoom);
        }
        self.ports.count_trim(at, frame.meta.size() - size);
        // What is pooled says its number anyway, and is what the header says too.
        let pooled = frame.meta.contains(Meta::POOLED);
        let place = if pooled { frame.seq() } else { out.parcels.put(Parcel::Trimmed(frame.seq())) };
        let route_seq = u64::from(frame.route()) << 32 | u64::from(place);
        let header = Frame { route_seq, meta: frame.meta.trimmed(size), ..frame };
        let ahead = self.ports.header_queue(at);
        self.join(plan, out, at, ahead, header, NO_PORT);
    }

    /// A header, or an acknowledgement that goes ahead as one, comes to a port that cuts packets.
    fn offer_ahead(&mut self, plan: &Plan, out: &mut Out, at: u32, class: usize, frame: Frame) {
        if self.ports.has_header_room(at, frame.meta.size()) {
            let ahead = self.ports.header_queue(at);
            self.join(plan, out, at, ahead, frame, NO_PORT);
        } else {
            self.ports.count_drop(at, class, frame.meta.size());
            self.lose(plan, out, at, &frame, Reason::NoRoom);
        }
    }
}

impl Domain {
    /// The header of a data packet has reached its destination, whose payload was cut off on the way.
    pub(super) fn take_header_alone(
        &mut self,
        plan: &Plan,
        host: u32,
        end: u32,
        frame: &Frame,
        seq: u32,
        received: Time,
    ) {
        let now = self.out.time();
        let received = self.hosts.arrival_as_read(host, now, received);
        match self.hosts.receivers[end as usize].handle_header(now, received, frame, seq) {
            Some(nack) => self.send_nack(plan, host, end, nack),
            None => self.send_acks(plan, host, end, 0),
        }
    }

    /// A receiver tells the sender of a packet that was cut. That is a frame on the way of acknowledgements, and counts as one.
    fn send_nack(&mut self, plan: &Plan, host: u32, end: u32, nack: Nack) {
        let place = self.out.parcels.put(Parcel::Nack(nack));
        let receiver = &mut self.hosts.receivers[end as usize];
        receiver.acks += 1;
        let size = plan.makers[receiver.transport as usize].ack_frame;
        let route_seq = u64::from(receiver.route) << 32 | u64::from(place);
        let meta = Meta::new(size, Meta::ACK | Meta::POOLED);
        self.release(plan, host, end, Frame { stamp: nack.echo.as_ps(), route_seq, meta });
    }

    /// The sender is told that a packet was cut.
    pub(super) fn take_nack(
        &mut self,
        plan: &Plan,
        host: u32,
        end: u32,
        route: u32,
        nack: Nack,
        received: Time,
    ) {
        let now = self.out.time();
        let (echo, received) = self.hosts.nack_as_read(host, now, received, nack.echo);
        let sender = &mut self.hosts.senders[end as usize];
        sender.acks += 1;
        // At the last switch all paths have met again: the path is not to blame (`processNack` of htsim).
        let feedback = if nack.last_hop { PathFeedback::Good } else { PathFeedback::Trimmed };
        sender.note_path(now, route, feedback);
        sender.sender.handle_nack(now, received, &Nack { echo, ..nack });
        self.serve(plan, host, end);
    }
}
