//! The packets that all domains have written down, put together.

use std::sync::Arc;

use clearway_proto::units::Time;

use super::capture::{Capture, FrameKind, FrameRow, Wanted, NO_CONVERSATION};
use super::control_plan::ControlPlan;
use super::link_history::Links;
use super::simulator::Simulation;
use crate::engine::event::{Frame, Meta};
use crate::model::Packets;

/// The packets of a run that were recorded.
#[derive(Debug)]
pub struct PacketRecord {
    /// The frames, by time and link.
    pub rows: Vec<FrameRow>,
    /// There were more, and the limit was reached.
    pub is_cut: bool,
}

impl Simulation {
    /// Has packets written down from now on, which is before the first event.
    pub fn capture(&mut self, packets: &Packets) {
        assert!(self.time == Time::ZERO, "packets are recorded from the beginning");
        let wanted = Arc::new(Wanted::new(packets, self.links()));
        for domain in &mut self.domains {
            domain.out.notes.get_or_insert_default().capture = Some(Capture::new(Arc::clone(&wanted)));
        }
    }

    /// Returns the packets that were recorded, the first by time, and then by link, that do not weigh more than `limit`.
    pub fn packet_record(&self, limit: u64) -> PacketRecord {
        let captures = || self.notes().filter_map(|notes| notes.capture.as_ref());
        let mut rows: Vec<FrameRow> = captures().flat_map(|capture| &capture.rows).cloned().collect();
        rows.sort_unstable();
        let mut weight = 0;
        let first_too_many = rows.iter().position(|row| {
            weight += row.weight();
            weight > limit
        });
        let is_cut = first_too_many.is_some() || captures().any(|capture| capture.misses_some);
        rows.truncate(first_too_many.unwrap_or(rows.len()));
        PacketRecord { rows, is_cut }
    }

    /// Returns when each of these frames began to be put on its link, in picoseconds; of lost frames the instants of their losses.
    pub fn beginnings(&self, rows: &[FrameRow]) -> Vec<u64> {
        let links = Links::of(self);
        let begun = |row: &FrameRow| {
            if row.lost.is_some() {
                return row.time;
            }
            let is_pause = matches!(row.kind, FrameKind::Pause | FrameKind::Resume);
            let response = if is_pause { self.pause_response(row.link) } else { 0 };
            links.sending(row.link, row.time - response, row.meta().size()).0
        };
        rows.iter().map(begun).collect()
    }

    /// Returns the time from the arrival of a PAUSE that goes over this link to its effect, in picoseconds.
    fn pause_response(&self, link: u32) -> u64 {
        self.flow_control(link).map_or(0, |pfc| pfc.response().as_ps())
    }

    /// Returns for each of these frames the node that it comes from and the one that it goes to.
    pub fn ends_of(&self, rows: &[FrameRow]) -> Vec<[u32; 2]> {
        let of_flows = self.plan.specs.iter().map(|spec| [spec.from, spec.to]);
        let of_probes = self.plan.probes.iter().map(|probe| probe.nodes);
        let of_control = self.plan.control.iter().flat_map(ControlPlan::ends).map(|(nodes, _)| nodes);
        let conversations: Vec<[u32; 2]> = of_flows.chain(of_probes).chain(of_control).collect();
        let ends = |row: &FrameRow| match conversations.get(row.conversation as usize) {
            Some(&[from, to]) if row.meta().contains(Meta::ACK) => [to, from],
            Some(&ends) => ends,
            None => {
                let link = self.plan.graph.link(row.link);
                [link.from, link.to]
            }
        };
        rows.iter().map(ends).collect()
    }

    /// Returns the flow of a frame; none if it is no flow's.
    pub fn flow_of_row(&self, row: &FrameRow) -> Option<u32> {
        Some(row.conversation).filter(|&flow| (flow as usize) < self.plan.specs.len())
    }

    /// Returns the class of a frame; 0 where there are no classes.
    pub fn class_of_row(&self, row: &FrameRow) -> usize {
        if row.conversation == NO_CONVERSATION {
            return row.class.into();
        }
        let classes = self.plan.classes_of.get(row.conversation as usize);
        classes.map_or(0, |classes| classes[usize::from(row.meta().contains(Meta::ACK))].into())
    }

    /// Returns the payload of a frame in bytes; 0 where it is no data packet.
    pub fn payload_of_row(&self, row: &FrameRow) -> u32 {
        match (row.kind, self.flow_of_row(row)) {
            (FrameKind::Data, Some(flow)) => {
                let frame = Frame { stamp: row.stamp, route_seq: 0, meta: row.meta() };
                self.plan.payload(self.plan.specs[flow as usize].transport as usize, &frame)
            }
            _ => 0,
        }
    }
}
