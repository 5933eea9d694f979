//! What a run never changes, and all its domains share: the network, the routes, what the flows are, and which domain
//! owns what.

use clearway_proto::transport::Path;
use clearway_proto::units::{Bytes, Rate, Span, Time};

use super::control_plan::ControlPlan;
use super::cut_off::CutOff;
use super::domain_index::DomainIndex;
use super::job_plan::JobPlan;
use super::partition::Partition;
use crate::engine::event::{Event, Frame, Meta};
use crate::engine::windows::Windows;
use crate::host::transport::Maker;
use crate::net::forwarding::Forwarding;
use crate::net::routes::Routes;
use crate::topology::Graph;
use crate::traffic::{Demand, FlowSpec};

/// Who takes part in a probe.
#[derive(Clone, Copy, Debug)]
pub struct ProbePlan {
    /// The nodes of the prober and of the responder.
    pub nodes: [u32; 2],
    /// Their seats.
    pub seats: [DomainIndex; 2],
    /// What a packet weighs on the wire.
    pub bytes: u32,
}

/// All that is fixed before the first event.
#[derive(Debug)]
pub struct Plan {
    pub graph: Graph,
    pub partition: Partition,
    pub routes: Routes,
    /// How time is cut: no longer than the quickest way from one node to another.
    pub windows: Windows,
    /// What a flow is, by flow number.
    pub specs: Vec<FlowSpec>,
    /// Where each flow's sending end is, by flow number.
    pub senders: Vec<DomainIndex>,
    /// Where each flow's receiving end is, by flow number.
    pub receivers: Vec<DomainIndex>,
    /// The probes, by number. Their conversations follow those of the flows.
    pub probes: Vec<ProbePlan>,
    /// The jobs, by number; their tables of traffic come last.
    pub jobs: Vec<JobPlan>,
    /// When the ranks of each job begin.
    pub job_starts: Vec<Time>,
    /// Who exchanges Fastpass's control packets; none where there is no arbiter.
    pub control: Option<ControlPlan>,
    /// What the flows of each transport have in common.
    pub makers: Vec<Maker>,
    /// The longest frame that anybody sends, on the wire.
    pub longest_frame: Bytes,
    /// Work takes time at some host, so round-trip times have a part that was spent in hosts.
    pub splits_rtt: bool,
    /// More is to be learned from acknowledgements than their senders do: how round trips split, which paths are good, or how
    /// long round trips are of flows that are metered.
    pub watches_acks: bool,
    /// Traffic classes; 0 where the network knows none.
    pub classes: usize,
    /// For each conversation the class of its data and of its acknowledgements; empty where there are no classes.
    pub classes_of: Vec<[u8; 2]>,
    /// How switches choose next hops where they route around dead links; `None` where routes are fixed.
    pub forwarding: Option<Forwarding>,
    /// The flows that faults cut off for good.
    pub cut_off: Vec<CutOff>,
}

impl Plan {
    /// The class of a frame; 0 where there are no classes.
    #[inline]
    pub fn class_of(&self, frame: &Frame) -> usize {
        if self.classes == 0 {
            return 0;
        }
        let conversation = self.routes.conversation(frame.route());
        usize::from(self.classes_of[conversation as usize][usize::from(frame.meta.contains(Meta::ACK))])
    }

    /// The class of a frame that arrives.
    #[inline(always)]
    pub fn class_of_arrival(&self, event: &Event) -> usize {
        if self.classes == 0 {
            return 0;
        }
        self.class_of(&event.frame())
    }

    /// The class of a conversation's data; 0 where there are no classes.
    #[inline]
    pub fn class_of_data(&self, conversation: u32) -> usize {
        self.classes_of.get(conversation as usize).map_or(0, |[data, _]| usize::from(*data))
    }

    /// Queues of a ruled port, and rounds of flows at a host: one a class, or one where there are no classes.
    #[inline]
    pub fn queues(&self) -> usize {
        self.classes.max(1)
    }

    /// Returns how many conversations there are: of flows, of probes, and of Fastpass's agents.
    pub fn conversations(&self) -> usize {
        let of_control = self.control.as_ref().map_or(0, ControlPlan::conversations);
        self.specs.len() + self.probes.len() + of_control as usize
    }

    /// Returns whether the packets of a flow leave in timeslots while there is an arbiter.
    pub fn takes_slots(&self, flow: u32) -> bool {
        let spec = &self.specs[flow as usize];
        let maker = &self.makers[spec.transport as usize];
        maker.slotted && sized(spec).is_none_or(|bytes| bytes.get() > maker.unscheduled)
    }

    /// The job whose messages a flow carries. Panics where it carries none.
    pub fn job_of(&self, flow: u32) -> &JobPlan {
        let table = self.specs[flow as usize].table;
        &self.jobs[(table - self.jobs[0].table) as usize]
    }

    /// Who exchanges control packets. Panics where there is no arbiter.
    pub fn control(&self) -> &ControlPlan {
        self.control.as_ref().expect("control packets where there is an arbiter")
    }

    /// The flow of a frame; `None` if the frame is no flow's.
    pub fn flow_of(&self, frame: &Frame) -> Option<u32> {
        Some(self.routes.conversation(frame.route())).filter(|&flow| (flow as usize) < self.specs.len())
    }

    /// The payload of a frame of a flow, in bytes.
    pub fn payload(&self, transport: usize, frame: &Frame) -> u32 {
        let maker = &self.makers[transport];
        let rest = if frame.meta.contains(Meta::ACK) { maker.ack_frame } else { maker.overhead };
        // A header alone may weigh less than it did before its payload.
        frame.meta.size().saturating_sub(rest)
    }

    /// The links from a flow's sender to its receiver, on each of its routes: the rate and the delay of each.
    pub fn paths_there(&self, flow: u32) -> impl Iterator<Item = Vec<(Rate, Span)>> + '_ {
        let (first, count) = self.routes.of(flow);
        let from = self.specs[flow as usize].from;
        let of = |link| (self.graph.link(link).rate, self.graph.link(link).delay);
        (first..first + count).map(move |route| {
            let links = self.partition.links_of(&self.graph, from, self.routes.steps(route, false));
            links.into_iter().map(of).collect()
        })
    }

    /// Returns what a flow's sender knows of its path, which is the first of its routes.
    pub fn path_of(&self, flow: u32) -> Path {
        let links = self.paths_there(flow).next().expect("a flow has a route");
        self.makers[self.specs[flow as usize].transport as usize].path(&links)
    }
}

/// A flow's size where it has one.
pub fn sized(spec: &FlowSpec) -> Option<Bytes> {
    match spec.demand {
        Demand::Sized(bytes) => Some(bytes),
        _ => None,
    }
}
