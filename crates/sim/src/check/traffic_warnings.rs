//! Warnings about traffic: flows that never start, and a load that the network cannot carry.

use clearway_proto::units::{Rate, Time};

use crate::model::Scenario;
use crate::scenario::key::Shown;
use crate::topology::shape::{self, Cut};
use crate::traffic::pattern::{self, OfferedLoad};
use crate::traffic::Table;

/// A sentence for each thing that is unlikely to be meant.
pub(super) fn of(scenario: &Scenario) -> Vec<String> {
    let mut warnings: Vec<String> = Table::all(scenario).filter_map(|table| late_flows(&table)).collect();
    warnings.extend(overloaded_cut(scenario));
    warnings
}

/// Warns of flows that would start when the run is over.
fn late_flows(table: &Table<'_>) -> Option<String> {
    let pattern = pattern::of(&table.traffic.pattern);
    let (members, end) = (pattern.members(table) as u32, Time::ZERO + table.scenario.duration);
    let latest = table.traffic.start.1 + table.traffic.stagger * u64::from(members.saturating_sub(1));
    let starts = |member: u32| table.start(member) + pattern.delay(member);
    let late = (0..members).filter(|&member| latest + pattern.delay(member) >= end && starts(member) >= end);
    let late: Vec<u32> = late.collect();
    let first = late.iter().map(|&member| starts(member)).min()?;
    Some(format!(
        "{}: {} of {members} never start: the run ends at {}, and the first of them would start at {}; lengthen \
         duration, or let them start earlier",
        table.path(),
        late.len(),
        table.scenario.duration.shown(),
        first.since(Time::ZERO).shown(),
    ))
}

/// Payload that crosses a cut, in bits per second: from its hosts to others, and from others to its hosts.
#[derive(Clone, Copy, Debug, Default)]
struct Crossing {
    leaves: f64,
    comes: f64,
}

/// A table's load, and the sum over its sources of what each offers to one receiver.
struct Load {
    offered: OfferedLoad,
    to_each: f64,
}

impl Load {
    fn new(offered: OfferedLoad) -> Load {
        let to_each = (0..offered.from.len()).map(|source| to_each(&offered, source)).sum();
        Load { offered, to_each }
    }

    /// Returns what of it crosses a cut.
    fn crossing(&self, cut: &Cut) -> Crossing {
        let OfferedLoad { from, to, comes_back, .. } = &self.offered;
        let receivers = cut.hosts.iter().filter(|host| to.binary_search(host).is_ok()).count() as f64;
        let (mut of_sources, mut leaves) = (0.0, 0.0);
        for host in &cut.hosts {
            let Ok(source) = from.binary_search(host) else { continue };
            let to_each = to_each(&self.offered, source);
            of_sources += to_each;
            leaves += to_each * (to.len() as f64 - receivers);
        }
        let comes = (self.to_each - of_sources) * receivers;
        if *comes_back {
            Crossing { leaves: comes, comes: leaves }
        } else {
            Crossing { leaves, comes }
        }
    }
}

/// Returns what a source offers to one receiver, in bits per second; it does not talk to itself.
fn to_each(offered: &OfferedLoad, source: usize) -> f64 {
    let own = usize::from(offered.to.binary_search(&offered.from[source]).is_ok());
    match offered.to.len() - own {
        0 => 0.0,
        others => offered.bps[source] / others as f64,
    }
}

/// Warns of links between switches that are asked to carry more than they can: of all such the ones that are asked the most.
fn overloaded_cut(scenario: &Scenario) -> Option<String> {
    let loads: Vec<(u32, Load)> = Table::all(scenario).filter_map(|table| together(&table)).collect();
    let &(first, _) = loads.first()?;
    let shape = shape::of(&scenario.network.topology);
    let asked = |cut: &Cut| {
        let all = loads.iter().map(|(_, load)| load.crossing(cut));
        all.fold(Crossing::default(), |a, b| Crossing {
            leaves: a.leaves + b.leaves,
            comes: a.comes + b.comes,
        })
    };
    // Of several alike, the first is named.
    let shares = shape.cuts().into_iter().rev().filter(|cut| cut.bps > 0.0).map(|cut| {
        let Crossing { leaves, comes } = asked(&cut);
        (cut, leaves.max(comes), if leaves >= comes { "send to others" } else { "are sent by others" })
    });
    let (cut, asked, what) =
        shares.max_by(|(a, asked_a, _), (b, asked_b, _)| (asked_a / a.bps).total_cmp(&(asked_b / b.bps)))?;
    let share = asked / cut.bps;
    let key = if loads.len() == 1 { format!("traffic[{first}].load") } else { "traffic".into() };
    (share > 1.0).then(|| {
        let shown = |bps: f64| Rate::from_bps(bps as u64).shown();
        format!(
            "{key}: the {} hosts behind {} {what} {} of payload, {share:.2} times the {} that these carry: queues grow until the \
             run ends; offer at most {:.2} of it, or {}",
            cut.hosts.len(),
            cut.links,
            shown(rounded(asked)),
            shown(cut.bps),
            1.0 / share,
            cut.remedy,
        )
    })
}

/// A number of bits in five digits.
fn rounded(bits: f64) -> f64 {
    let step = 10_f64.powi(bits.log10() as i32 - 4).max(1.0);
    (bits / step).round() * step
}

/// The load of a table, if it goes on when the last table of all has started.
fn together(table: &Table<'_>) -> Option<(u32, Load)> {
    let all = Table::all(table.scenario);
    let last = all.map(|table| table.traffic.start.1).max()?;
    if table.traffic.stop.is_some_and(|stop| stop <= last) {
        return None;
    }
    let offered = pattern::of(&table.traffic.pattern).offered(table)?;
    Some((table.number, Load::new(offered)))
}
