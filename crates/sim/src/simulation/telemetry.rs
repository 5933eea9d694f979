//! Telemetry as it goes: switches write it into data frames, and acknowledgements give it back. See
//! [`clearway_proto::transport::Telemetry`].
//!
//! It travels as a frame's parcel, which the first switch on the way makes: so frames without telemetry cost nothing, and no
//! host has to ask whether there is any. Its box goes there and back, and is used again by the sender's next frames.

use clearway_proto::units::Time;

use super::domain::Domain;
use super::fabric::Fabric;
use super::out::{LinkEnd, Out};
use super::parcels::{Said, Told};
use super::plan::Plan;
use crate::engine::event::{Frame, Meta};
use crate::schemes::AnyTelemetry;

impl Fabric {
    /// A frame has begun to leave a switch over a port that writes telemetry, and arrives at `arrives`.
    #[inline(never)]
    pub(super) fn send_written(&mut self, plan: &Plan, out: &mut Out, at: u32, frame: &Frame, arrives: u64) {
        let mut frame = *frame;
        if !frame.meta.contains(Meta::ACK) {
            self.write_telemetry(plan, out, at, &mut frame, arrives);
        }
        let link = LinkEnd::of(self.ports.port(at));
        out.send_on(link, arrives, &frame);
    }

    fn write_telemetry(&mut self, plan: &Plan, out: &mut Out, at: u32, frame: &mut Frame, arrives: u64) {
        if !frame.meta.contains(Meta::POOLED) {
            let Some(telemetry) = unwritten(plan, frame) else { return };
            let place = out.parcels.put_told(Told { telemetry, said: Said::Seq(frame.seq()) });
            frame.route_seq = u64::from(frame.route()) << 32 | u64::from(place);
            frame.meta = frame.meta.with(Meta::POOLED);
        }
        let state = self.ports.state_at_beginning(at, frame, arrives);
        // The parcels of other frames are none of telemetry.
        if let Some(telemetry) = out.parcels.telemetry(frame.seq()) {
            telemetry.write(&state);
        }
    }
}

impl Domain {
    /// A host's stack takes a frame with telemetry.
    pub(super) fn take_told(
        &mut self,
        plan: &Plan,
        host: u32,
        end: u32,
        frame: &Frame,
        received: Time,
        told: Box<Told>,
    ) {
        match told.said {
            Said::Seq(seq) => {
                let route_seq = u64::from(frame.route()) << 32 | u64::from(seq);
                let frame = Frame { route_seq, meta: frame.meta.without(Meta::POOLED), ..*frame };
                self.out.parcels.told = Some(told);
                self.receive_data(plan, host, end, &frame, received);
                // No acknowledgement was due at once.
                if let Some(told) = self.out.parcels.told.take() {
                    self.out.parcels.keep(told);
                }
            }
            Said::Ack(ack) => {
                let now = self.out.time();
                self.hosts.senders[end as usize].sender.handle_telemetry(now, &ack, &told.telemetry);
                self.out.parcels.keep(told);
                self.acknowledge_pooled(plan, host, end, frame.route(), ack, received);
            }
        }
    }
}

/// The telemetry of a frame into which no switch has written yet; none if its transport has none.
fn unwritten(plan: &Plan, frame: &Frame) -> Option<AnyTelemetry> {
    let flow = plan.flow_of(frame)?;
    let maker = &plan.makers[plan.specs[flow as usize].transport as usize];
    maker.has_telemetry().then(|| maker.telemetry())
}
