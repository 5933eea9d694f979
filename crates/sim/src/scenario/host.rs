//! `[host.default]` and `[host.NAME]`: what a host's work costs, and how wrong its clocks are.

use clearway_proto::units::Span;

use super::form::Form;
use super::host_interrupts;
use super::host_queue::receive_queue;
use super::hosts::{self, HostSet};
use super::key::Key;
use super::link::rate_key;
use super::reader::Section;
use crate::model::{Clock, FlowOrder, HostKind, HostKinds, HostModel, PartsPerBillion, SnapHost, Timestamps};

#[derive(Clone, Copy)]
enum Model {
    Ideal,
    Snap,
    Interrupts,
}

/// The largest number of `[host.NAME]` tables.
const MAX_KINDS: usize = 1000;

/// The hosts as they are known before their tables are read: how many there are, and the named groups. Parts that are wrong
/// in the file are missing.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// How many hosts there are.
    pub(crate) hosts: Option<u32>,
    /// The named groups.
    pub(crate) groups: Option<&'a [(String, HostSet)]>,
}

/// Reads the table. None if anything is wrong in it.
pub(crate) fn read(r: &mut Section, known: Known) -> Option<HostKinds> {
    let default = r.table("default", "Every host that no other table lists.", read_kind);
    let doc = "Hosts that differ; what is not given is as in default.";
    let others = r.heirs(doc, "hosts", ("default", default.as_ref()), |r| {
        let hosts = read_hosts(r, known);
        (hosts, read_kind(r))
    })?;
    check_disjoint(r, &others)?;
    let others = others.into_iter().map(|(name, (hosts, kind))| (HostKind { name, ..kind }, hosts));
    let default = HostKind { name: "default".into(), ..default? };
    Some(HostKinds::new(default, others.map(|(kind, hosts)| (kind, hosts.ranges())).collect()))
}

fn read_hosts(r: &mut Section, known: Known) -> HostSet {
    let form = Form {
        name: "hosts",
        doc: "The hosts that are of this kind; no other table [host.NAME] lists any of them.",
        required: true,
        otherwise: hosts::WANTED,
        schema: hosts::schema("hosts"),
    };
    // Without the groups a name may be that of one.
    let count = known.groups.and(known.hosts);
    let set = r.parsed(&form, |node| hosts::parse(node, count, known.groups.unwrap_or_default()));
    set.unwrap_or_else(HostSet::none)
}

/// Checks the tables of hosts; `None`, with the problem noted, where two tables list one host or there are too many
/// tables.
fn check_disjoint(r: &Section, kinds: &[(String, (HostSet, HostKind))]) -> Option<()> {
    if kinds.len() > MAX_KINDS {
        let message = format!("found {} tables beside default; the most is {MAX_KINDS}", kinds.len());
        r.conflict_at(&kinds[MAX_KINDS].0, message);
        return None;
    }
    let mut listed: Vec<((u32, u32), usize)> = Vec::new();
    for (kind, (_, (hosts, _))) in kinds.iter().enumerate() {
        listed.extend(hosts.ranges().iter().map(|range| ((range.start, range.end), kind)));
    }
    listed.sort_unstable();
    let shared = listed.windows(2).find(|pair| pair[1].0 .0 < pair[0].0 .1);
    let Some([(_, first), ((host, _), second)]) = shared else { return Some(()) };
    let (first, second) = (first.min(second), first.max(second));
    let message = format!("host {host} is listed in [host.{}] too", kinds[*first].0);
    r.conflict_at(&format!("{}.hosts", kinds[*second].0), message);
    None
}

fn read_kind(r: &mut Section) -> HostKind {
    let model = read_model(r);
    let doc = "Time that a target takes to serve a read, as a disk does: from the request's last packet, as the application has it, \
         until the answer is handed to the transport. It costs the processor nothing, and any number of reads are served at \
         once. A write is done when it is acknowledged, without it.";
    let service = Key::new("operation_service", doc, Span::ZERO..=Span::from_secs(10));
    let operation_service = r.get(&service.or(Span::ZERO));
    let doc = "In which order the flows of a class send that are ready: round_robin, a packet each in turn, as adapters for RDMA do; \
         fifo, the one that was ready first until it has nothing more to send or has to wait, as where all packets join one \
         queue. Flows that wait for Fastpass's timeslots take turns by those.";
    let flow_order = r.one_of(
        "flow_order",
        doc,
        Some("round_robin"),
        &[("round_robin", FlowOrder::RoundRobin), ("fifo", FlowOrder::Fifo)],
    );
    HostKind { name: String::new(), model, operation_service, flow_order, clock: read_clock(r) }
}

fn read_clock(r: &mut Section) -> Clock {
    let doc = "Most by which a host's clock is ahead or behind; each draws its offset uniformly.";
    let offset = Key::new("clock_offset", doc, Span::ZERO..=Span::from_secs(1));
    let doc = "Most by which a host's clock is too fast or too slow; each draws its rate error uniformly.";
    let drift = Key::new("clock_drift", doc, PartsPerBillion(0)..=PartsPerBillion(1_000_000));
    let doc = "Most by which one reading of a host's clock errs, either way, uniformly.";
    let jitter = Key::new("clock_jitter", doc, Span::ZERO..=Span::from_ms(1));
    let d = Clock::default();
    Clock {
        offset: r.get(&offset.or(d.offset)),
        drift: r.get(&drift.or(d.drift)),
        jitter: r.get(&jitter.or(d.jitter)),
        timestamps: r.one_of(
            "timestamps",
            "What transports stamp packets with: exact times, or readings of the clocks of host and NIC, the NIC's mapped \
             onto the host's as in appendix A of Swift.",
            Some("exact"),
            &[("exact", Timestamps::Exact), ("clock", Timestamps::Clock)],
        ),
    }
}

fn read_model(r: &mut Section) -> HostModel {
    let doc = "What a host's work costs: ideal, nothing; snap, one processor serves all that comes and goes, as Swift's hosts have; \
         interrupts, received frames wait until the NIC interrupts, as under Linux.";
    let model = r.choice(
        "model",
        doc,
        Some("ideal"),
        &[("ideal", Model::Ideal), ("snap", Model::Snap), ("interrupts", Model::Interrupts)],
    );
    match model {
        Model::Ideal => HostModel::Ideal,
        Model::Snap => HostModel::Snap(read_snap(r)),
        Model::Interrupts => HostModel::Interrupts(host_interrupts::read(r)),
    }
}

fn read_snap(r: &mut Section) -> SnapHost {
    let d = SnapHost::default();
    let cost = |name, doc| Key::new(name, doc, Span::ZERO..=Span::from_ms(10));
    let copy = rate_key("copy_rate", "Speed at which the processor copies payload.");
    let doc = "Mean time between two pauses, in which the processor does not run.";
    let interval = Key::new("pause_interval", doc, Span::from_us(1)..=Span::from_secs(1000));
    SnapHost {
        receive_packet: r
            .get(&cost("receive_packet", "The processor's time for a data packet.").or(d.receive_packet)),
        copy_rate: r.get(&copy.or(d.copy_rate)),
        operation: r.get(
            &cost("operation", "What an operation's last packet takes beside, at its target.")
                .or(d.operation),
        ),
        receive_ack: r
            .get(&cost("receive_ack", "The processor's time for an acknowledgement.").or(d.receive_ack)),
        completion: r.get(
            &cost("completion", "What the acknowledgement of an operation's last packet takes beside.")
                .or(d.completion),
        ),
        transmit: r.get(&cost("transmit", "The processor's time to send a data packet.").or(d.transmit)),
        jitter: r.get(
            &cost(
                "jitter",
                "Most that a batch of frames takes from the stack to the NIC, uniform from nothing; frames that leave the \
                 stack meanwhile go with it.",
            )
            .or(d.jitter),
        ),
        pause_interval: r.get(&interval.or(d.pause_interval)),
        pause: r.get(&cost("pause", "Mean length of a pause, exponential; 0us: none.").or(d.pause)),
        receive_queue: receive_queue(r, d.receive_queue),
    }
}
