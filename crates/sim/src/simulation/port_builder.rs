//! The ports of a scenario's network: which are plain, what rules the others have, and where their links lead.

use std::collections::BTreeMap;

use clearway_proto::pfc::quanta::lasting;
use clearway_proto::swing::relay::{Port as Side, RelayParams};
use clearway_proto::units::{Bytes, Rate, Span};

use super::flow_control::FlowControl;
use super::outbox::Exits;
use super::plan::Plan;
use crate::engine::event::MAX_FRAME;
use crate::model::{
    self, Buffer, Ecn, Fault, LinkEffect, MarkPoint, Outage, Scenario, SwitchKind, SwitchRole, TrafficClass,
    Xoff,
};
use crate::net::link_changes::LinkChanges;
use crate::net::loss::{Damage, Loss, LossWindow};
use crate::net::marking::{Marking, RedMarking};
use crate::net::memory::{Memory, SharedBuffer, Trimming};
use crate::net::pfc::Pfc;
use crate::net::port::{Port, PortKind};
use crate::net::ports::Ports;
use crate::net::relay::{self, RelayNode};
use crate::net::rules::Rules;
use crate::net::scheduling::{Rule, Scheduler};
use crate::random::{Entity, Stream};

/// Makes the ports of a network, domain by domain.
pub(super) struct PortBuilder<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    kinds: Vec<PortKind>,
    /// The kind of the ports of a link of this rate and delay, at a host or a switch of this role.
    kind_of: BTreeMap<KindKey, u16>,
    /// For each link when it loses frames.
    faults: BTreeMap<u32, Vec<LossWindow>>,
    /// The times, in picoseconds, in which a link has another rate, and that rate.
    rates: BTreeMap<u32, Vec<(u64, u64, Rate)>>,
    /// How each class is served; one class where the scenario has none.
    classes: Vec<Rule>,
}

/// What ports of a node have in common, by its number: the indices of their memories, and of relays by those of their fibres.
#[derive(Default)]
struct Shared {
    memories: BTreeMap<u32, u32>,
    relays: BTreeMap<u32, u32>,
}

/// What tells kinds of port apart: the link, and whose end of it.
type KindKey = (Rate, Span, Option<SwitchRole>);

impl<'a> PortBuilder<'a> {
    /// The builder of this scenario with this plan.
    pub(super) fn new(scenario: &'a Scenario, plan: &'a Plan) -> PortBuilder<'a> {
        for maker in &plan.makers {
            let heaviest = maker.data_frame.max(maker.ack_frame);
            assert!(heaviest < MAX_FRAME, "a frame heavier than its size field can say");
        }
        let mut builder = PortBuilder {
            scenario,
            plan,
            kinds: Vec::new(),
            kind_of: BTreeMap::new(),
            faults: BTreeMap::new(),
            rates: BTreeMap::new(),
            classes: classes(scenario),
        };
        for link in 0..plan.graph.links().len() as u32 {
            builder.note_kind(link);
        }
        scenario.faults.iter().for_each(|fault| builder.note_fault(fault));
        scenario.outages.iter().for_each(|outage| builder.note_outage(outage));
        builder
    }

    /// Returns how each class is served; one class where the scenario has none.
    pub(super) fn classes(&self) -> &[Rule] {
        &self.classes
    }

    fn key(&self, link: u32) -> KindKey {
        let of = self.plan.graph.link(link);
        (of.rate, of.delay, self.control().role(link))
    }

    fn control(&self) -> FlowControl<'_> {
        FlowControl {
            scenario: self.scenario,
            graph: &self.plan.graph,
            longest_frame: self.plan.longest_frame,
        }
    }

    fn note_kind(&mut self, link: u32) {
        let key = self.key(link);
        if self.kind_of.contains_key(&key) {
            return;
        }
        let (rate, delay, role) = key;
        let number = u16::try_from(self.kinds.len()).expect("fewer kinds of link than 65536");
        self.kind_of.insert(key, number);
        let mut kind = port_kind(rate, delay, role.map(|role| self.scenario.switches.of(role)));
        if !self.plan.makers.iter().any(|maker| maker.ecn_capable) {
            // Nothing can be marked, so nothing need be looked at for that.
            (kind.mark_above, kind.mark_behind) = (u32::MAX, u32::MAX);
        }
        self.kinds.push(kind);
    }

    fn note_fault(&mut self, fault: &Fault) {
        let link = self.plan.graph.link_between(&fault.link.0, &fault.link.1);
        let link = link.expect("a fault's link is in the network");
        let damage = match fault.effect {
            LinkEffect::Loss(probability) => Damage::Loss(probability),
            LinkEffect::BitErrors(wrong) => Damage::RightBits(1.0 - wrong),
            LinkEffect::Rate(rate) => {
                let time = (fault.from.as_ps(), fault.until.as_ps(), rate);
                return self.rates.entry(link).or_default().push(time);
            }
        };
        let window = LossWindow::new(fault.table, fault.from, fault.until, damage);
        self.faults.entry(link).or_default().push(window);
    }

    /// A link dies, and loses what is on it meanwhile.
    fn note_outage(&mut self, outage: &Outage) {
        let window = LossWindow::new(outage.table, outage.from, outage.until, Damage::Dead);
        for &link in &outage.links {
            self.faults.entry(link).or_default().push(window);
        }
    }

    /// Returns when a link changes whose port is of this kind; `None` if it never does.
    fn changes(&self, link: u32, usual: u16) -> Option<LinkChanges> {
        let forwarding = self.plan.forwarding.as_ref();
        let dead = forwarding.map_or(&[][..], |forwarding| forwarding.dead_times(link)).to_vec();
        let rates = self.rates.get(&link).cloned().unwrap_or_default();
        (!dead.is_empty() || !rates.is_empty()).then_some(LinkChanges { dead, rates, usual, under_way: None })
    }

    /// The ports of a domain, whose links to other domains are added to its exits.
    pub(super) fn ports(&mut self, domain: u32, exits: &mut Exits) -> Ports {
        let mut ports = Ports::new(self.kinds.clone(), self.classes.clone());
        let mut shared = Shared::default();
        for (at, &link) in self.plan.partition.links_in(domain).iter().enumerate() {
            let kind = self.kind_of[&self.key(link)];
            let flags = if self.control().role(link).is_none() { Port::NIC } else { 0 };
            let rules = self.rules(link, &mut ports, &mut shared);
            ports.add(Port::new(kind, link, flags), rules);
            if let Some(changes) = self.changes(link, kind) {
                ports.set_rate(at as u32, kind, changes.rate(0));
                ports.changes.insert(at as u32, changes);
            }
            let to = self.plan.partition.node(self.plan.graph.link(link).to);
            let at = at as u32;
            let waits_at = ports.marks_what_waits(at).then_some(at);
            ports.connect(at, if to.domain == domain { to.at } else { exits.add(to, waits_at) });
        }
        for &node in self.plan.partition.nodes_in(domain) {
            let of_node =
                self.plan.graph.outgoing(node).iter().map(|&link| self.plan.partition.port(link).at);
            let (Some(first), count) = (of_node.clone().min(), of_node.count() as u32) else { continue };
            if node >= self.plan.graph.host_count() {
                ports.join_switch(first..first + count);
            }
        }
        ports
    }

    /// The rules of the port that feeds a link, if it is not a plain one.
    fn rules(&self, link: u32, ports: &mut Ports, of_nodes: &mut Shared) -> Option<Rules> {
        let control = self.control();
        let switch = control.switch(link);
        let shared = switch.is_some_and(|switch| matches!(switch.buffer, Buffer::Shared { .. }));
        let trimming = switch.and_then(SwitchKind::trimming);
        let random = switch.is_some_and(|switch| matches!(switch.ecn, Ecn::Red { .. }));
        let faults = self.faults.get(&link);
        let controlled = self.pauses(link) || self.pauses(link ^ 1) || self.leaves_accounts(link);
        // Hosts write no telemetry: how much they send they know themselves.
        let writes = switch.is_some() && self.scenario.has_telemetry();
        let is_whole = faults.is_none() && !self.rates.contains_key(&link);
        let is_plain = !shared && trimming.is_none() && !random && is_whole && !controlled && !writes;
        if self.scenario.classes.is_empty() && is_plain {
            return None;
        }
        let memory = match switch.map(|switch| switch.buffer) {
            Some(Buffer::Shared { size, alpha }) => {
                let node = self.plan.graph.link(link).from;
                let memory = SharedBuffer { size: size.get(), used: 0, alpha };
                Memory::Shared(*of_nodes.memories.entry(node).or_insert_with(|| ports.add_memory(memory)))
            }
            Some(Buffer::PerPort(size)) => Memory::Own(up_to_4_gb(size)),
            Some(Buffer::Trimming(of)) => Memory::Trimming(ports.add_trimming(self.trimming(link, &of))),
            None => Memory::Own(u32::MAX),
        };
        let mut markings: Vec<Marking> =
            (0..self.plan.queues()).map(|class| self.marking(link, class, switch)).collect();
        if trimming.is_some() {
            // Headers are marked nowhere.
            markings.push(Marking::NONE);
        }
        let scheduler = Scheduler::new(&self.classes)
            .yielding_after(trimming.and_then(|of| of.headers_first).unwrap_or(u32::MAX));
        let mut rules = Rules::new(scheduler, markings, memory);
        if let Some(windows) = faults {
            let stream = Stream::new(self.scenario.seed, Entity::LinkLoss, u64::from(link));
            rules.set_loss(Loss { windows: windows.clone(), stream });
        }
        if writes {
            rules.set_writing();
        }
        if controlled {
            let pfc = self.pfc(link, memory);
            rules.set_pfc(self.joined_to_relay(link, pfc, ports, of_nodes));
        }
        Some(rules)
    }

    /// Returns whether frames that leave over a link may be on the account of another port of its switch.
    fn leaves_accounts(&self, link: u32) -> bool {
        let from = self.plan.graph.link(link).from;
        self.scenario.switches.any_pfc()
            && self.plan.graph.outgoing(from).iter().any(|&other| self.pauses(other))
    }

    /// Returns whether the node from which a link leads pauses what sends to it over the way back.
    fn pauses(&self, link: u32) -> bool {
        self.control().pfc(link).is_some()
    }

    /// Flow control of the port that feeds a link of a network that has some.
    fn pfc(&self, link: u32, memory: Memory) -> Pfc {
        let (classes, control) = (self.classes.len(), self.control());
        let Some(pfc) = control.pfc(link) else { return Pfc::new(classes) };
        let thresholds = control.thresholds(link, pfc);
        let memory = match (memory, pfc.xoff) {
            (Memory::Shared(memory), Xoff::Dynamic(_)) => Some(memory),
            _ => None,
        };
        let pause = lasting(pfc.quanta, self.plan.graph.link(link).rate);
        Pfc::pausing(classes, control.lossless(), thresholds, memory, (pause.as_ps(), pfc.response.as_ps()))
            .replacing_unsent(pfc.replaces_unsent)
    }

    /// Gives the port that feeds a link, and comes next, to the relay that it is part of, if it is of one.
    fn joined_to_relay(&self, link: u32, pfc: Pfc, ports: &mut Ports, of_nodes: &mut Shared) -> Pfc {
        let Some(side) = self.control().relay_side(link) else { return pfc };
        let fibre = if side == Side::Remote { link } else { self.other(link) };
        let params = self.relay_params(fibre);
        let relay =
            *of_nodes.relays.entry(fibre).or_insert_with(|| ports.add_relay(self.relay(link, &params)));
        ports.connect_relay(relay, side, ports.len() as u32);
        let room = match side {
            Side::Local => None,
            Side::Remote => Some(params.remote_buffer.get()),
        };
        pfc.of_relay(relay, side, room)
    }

    /// The other link of the relay from which a link leads.
    fn other(&self, link: u32) -> u32 {
        let mut of_relay = self.plan.graph.outgoing(self.plan.graph.link(link).from).iter().copied();
        of_relay.find(|&other| other != link).expect("a relay has two links")
    }

    /// The relay from which a link leads.
    fn relay(&self, link: u32, params: &RelayParams) -> RelayNode {
        let node = self.plan.graph.link(link).from;
        let of_node = self.scenario.bypasses.iter().filter(|bypass| bypass.relay == node);
        RelayNode::new(params).failing_in(of_node.map(|bypass| bypass.from..bypass.until))
    }

    /// Returns what the relay at this end of a fibre is set to.
    fn relay_params(&self, fibre: u32) -> RelayParams {
        let role = self.control().role(fibre).expect("a relay is no host");
        let pfc = self.scenario.switches.of(role).pfc.as_ref().expect("a relay has flow control");
        let headroom = match role {
            SwitchRole::Relay => {
                let local = self.other(fibre);
                let needed = || self.control().lossless_link(local, pfc).headroom().any_sizes();
                Some(pfc.headroom.unwrap_or_else(needed))
            }
            _ => None,
        };
        let priorities = self.control().lossless().count_ones() as usize;
        relay::params(pfc, &self.control().lossless_link(fibre, pfc), headroom, priorities)
    }

    /// Returns how the port that feeds a link cuts packets.
    fn trimming(&self, link: u32, of: &model::Trimming) -> Trimming {
        Trimming {
            room: up_to_4_gb(of.room),
            size: of.size.get() as u32,
            header_room: up_to_4_gb(of.header_room),
            tail: of.tail,
            stream: Stream::new(self.scenario.seed, Entity::Trimming, u64::from(link)),
        }
    }

    /// Returns how a class marks at the port of a switch that feeds a link. No two queues share a random stream.
    fn marking(&self, link: u32, class: usize, switch: Option<&SwitchKind>) -> Marking {
        let Some(switch) = switch else { return Marking::NONE };
        let own = self.scenario.classes.get(class).and_then(|class| class.ecn);
        match own.unwrap_or(switch.ecn) {
            Ecn::Off => Marking::NONE,
            Ecn::Step { threshold, at } => Marking { at, above: up_to_4_gb(threshold), red: None },
            Ecn::Red { min, max, pmax, at } => {
                let id = u64::from(link) | (class as u64) << 32;
                let stream = Stream::new(self.scenario.seed, Entity::Marking, id);
                let red = RedMarking { min: min.get(), max: max.get(), pmax, stream };
                Marking { at, above: up_to_4_gb(min), red: Some(Box::new(red)) }
            }
        }
    }
}

/// Returns how each class of a scenario is served; one class where it has none. Where ports cut packets the headers come last,
/// and go before all else.
fn classes(scenario: &Scenario) -> Vec<Rule> {
    let mut rules = rules_of_classes(scenario);
    if scenario.switches.any_trimming() {
        for rule in &mut rules {
            rule.level += 1;
        }
        rules.push(Rule { level: 0, weight: 1 });
    }
    rules
}

fn rules_of_classes(scenario: &Scenario) -> Vec<Rule> {
    if scenario.classes.is_empty() {
        return vec![Rule { level: 0, weight: 1 }];
    }
    let mut priorities: Vec<u32> = scenario.classes.iter().map(|class| class.priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    let level = |class: &TrafficClass| priorities.partition_point(|&above| above < class.priority) as u8;
    scenario.classes.iter().map(|class| Rule { level: level(class), weight: class.weight }).collect()
}

/// A host's NIC has no queue of data but what its processor is ahead of the wire, and room for 4 GiB: only
/// acknowledgements far heavier than the packets that they answer find none.
fn port_kind(rate: Rate, delay: Span, switch: Option<&SwitchKind>) -> PortKind {
    let capacity = match switch.map(|switch| switch.buffer) {
        Some(Buffer::PerPort(size) | Buffer::Trimming(model::Trimming { room: size, .. })) => {
            up_to_4_gb(size)
        }
        Some(Buffer::Shared { .. }) | None => u32::MAX,
    };
    let mut kind = PortKind::new(rate, delay, capacity);
    match switch.map(|switch| switch.ecn) {
        Some(Ecn::Step { threshold, at: MarkPoint::Dequeue }) => kind.mark_behind = up_to_4_gb(threshold),
        Some(Ecn::Step { threshold, at: MarkPoint::Enqueue }) => kind.mark_above = up_to_4_gb(threshold),
        Some(Ecn::Off | Ecn::Red { .. }) | None => (),
    }
    kind
}

fn up_to_4_gb(size: Bytes) -> u32 {
    u32::try_from(size.get()).unwrap_or(u32::MAX)
}
