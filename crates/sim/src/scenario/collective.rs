//! The keys of a collective.

use clearway_proto::units::Bytes;

use super::key::{Key, Shown};
use super::reader::Section;
use crate::job::collective::{add, most_operations, needs_power_of_two, steps, Algorithm, Plan};
use crate::job::{goal, GraphBuilder, Problem, MOST_OPERATIONS};
use crate::model::{Collective, CollectiveKind, OperationGraph};

/// Which ranks are a group.
#[derive(Clone, Copy)]
enum Grouping {
    Consecutive,
    Strided,
}

/// A collective that is well formed: what each group does, and which ranks there are.
pub(crate) struct Grouped {
    plan: Plan,
    ranks: u32,
    size: u32,
    grouping: Grouping,
}

impl Grouped {
    /// Its operations.
    pub(crate) fn graph(&self) -> Result<OperationGraph, Problem> {
        let mut builder = GraphBuilder::new(self.ranks);
        let groups = self.ranks / self.size;
        for group in 0..groups {
            let member = |at: u32| match self.grouping {
                Grouping::Consecutive => group * self.size + at,
                Grouping::Strided => group + at * groups,
            };
            add(&mut builder, &(0..self.size).map(member).collect::<Vec<_>>(), &self.plan);
        }
        builder.build()
    }
}

const KINDS: [(&str, CollectiveKind); 7] = [
    ("all_reduce", CollectiveKind::AllReduce),
    ("reduce_scatter", CollectiveKind::ReduceScatter),
    ("all_gather", CollectiveKind::AllGather),
    ("all_to_all", CollectiveKind::AllToAll),
    ("broadcast", CollectiveKind::Broadcast),
    ("reduce", CollectiveKind::Reduce),
    ("barrier", CollectiveKind::Barrier),
];

const DIRECT: Algorithm = Algorithm::Direct { window: 0 };

/// The ways in which a collective can be done, the default first.
fn algorithms(kind: CollectiveKind) -> &'static [(&'static str, Algorithm)] {
    match kind {
        CollectiveKind::AllReduce => &[
            ("ring", Algorithm::Ring),
            ("halving_doubling", Algorithm::HalvingDoubling),
            ("recursive_doubling", Algorithm::RecursiveDoubling),
            ("double_tree", Algorithm::DoubleTree),
        ],
        CollectiveKind::ReduceScatter | CollectiveKind::AllGather => {
            &[("ring", Algorithm::Ring), ("halving_doubling", Algorithm::HalvingDoubling)]
        }
        CollectiveKind::AllToAll => &[("direct", DIRECT), ("pairwise", Algorithm::Pairwise)],
        CollectiveKind::Broadcast | CollectiveKind::Reduce => {
            &[("binomial", Algorithm::Binomial), ("ring", Algorithm::Ring)]
        }
        CollectiveKind::Barrier => &[("dissemination", Algorithm::Dissemination)],
    }
}

/// Reads a collective; there is room for `room` ranks, which are all by default. Returns what it is measured by, how it is done if its keys are right,
/// and what it is called.
pub(crate) fn read(r: &mut Section, room: u64) -> (Collective, Option<Grouped>, String) {
    let kind = r.choice("collective", "What the ranks do together.", None, &KINDS);
    let known = algorithms(kind);
    let doc = "How they do it: docs/JOBS.md says what each sends.";
    let algorithm = r.one_of("algorithm", doc, Some(known[0].0), known);
    let bytes = if kind == CollectiveKind::Barrier {
        Bytes::new(0)
    } else {
        let doc = "The size of the whole array, as nccl-tests has it: of an all-gather what each rank has at the end, of a \
                   reduce-scatter what each has at the beginning, of an all-to-all what each sends, its own part included.";
        r.get(&Key::new("bytes", doc, Bytes::new(1)..=Bytes::new(1 << 50)))
    };
    let chunks = match kind {
        CollectiveKind::AllToAll | CollectiveKind::Barrier => 1,
        _ => {
            let doc = "Chunks into which each part of the array is cut, so that one is passed on while the next comes.";
            r.get(&Key::new("chunks", doc, 1u32..=65_536).or(1))
        }
    };
    let algorithm = if kind == CollectiveKind::AllToAll {
        let doc = "Messages of a rank that may be under way, with algorithm = \"direct\".";
        let window = r.optional(&Key::new("window", doc, 1u32..=1_000_000), "8, with algorithm = \"direct\"");
        if algorithm == DIRECT {
            let window = window.unwrap_or(8);
            r.settle("window", window.into());
            Algorithm::Direct { window }
        } else {
            if window.is_some() {
                r.conflict("window", "only algorithm = \"direct\" has one: leave it out");
            }
            algorithm
        }
    } else {
        algorithm
    };
    let plan = Plan { kind, algorithm, bytes: bytes.get(), chunks };
    let grouped = read_groups(r, plan, room);
    let size = grouped.as_ref().map_or(2, |grouped| grouped.size);
    let name = |of: &[(&str, Algorithm)]| {
        let same = |other: Algorithm| std::mem::discriminant(&other) == std::mem::discriminant(&algorithm);
        of.iter().find(|(_, other)| same(*other)).map_or("", |(name, _)| *name).to_string()
    };
    let kind_name = KINDS.iter().find(|(_, other)| *other == kind).map_or("", |(name, _)| *name);
    let name = format!("{kind_name} {}", name(known));
    let steps = steps(kind, algorithm, size);
    (Collective { kind, bytes, ranks: size, steps }, grouped, name)
}

/// Reads how many ranks there are, and which of them do the collective together.
fn read_groups(r: &mut Section, plan: Plan, room: u64) -> Option<Grouped> {
    let most = goal::MOST_RANKS;
    let ranks = Key::new("ranks", "How many ranks there are.", 2u32..=most);
    let ranks = r.optional(&ranks, "as many as hosts have room for").map_or(room, u64::from);
    let size = Key::new("group_size", "Ranks of each group that does the collective by itself.", 2u32..=most);
    let size = r.optional(&size, "all ranks are one group").map_or(ranks, u64::from);
    let doc = "Which ranks are a group. consecutive: 0, 1, 2, ..., as those of a server; strided: the first of each such group, the \
               second of each, and so on.";
    let groupings = [("consecutive", Grouping::Consecutive), ("strided", Grouping::Strided)];
    let grouping = r.one_of("groups", doc, Some("consecutive"), &groupings);
    if !r.sound() {
        return None;
    }
    if ranks < 2 || ranks > u64::from(most) {
        r.conflict("ranks", format!("found {ranks} ranks, expected 2 to {most}: list hosts, or give ranks"));
        return None;
    }
    if ranks % size != 0 {
        r.conflict(
            "group_size",
            format!("{ranks} ranks make no whole groups of {size}: give a divisor of {ranks}"),
        );
        return None;
    }
    if needs_power_of_two(plan.algorithm) && !size.is_power_of_two() {
        let message = format!(
            "needs a power of two of ranks, and there are {size}: give ranks or group_size, or algorithm = \"ring\""
        );
        let key = if r.given("algorithm") { "algorithm" } else { "collective" };
        r.conflict(key, message);
        return None;
    }
    let operations = most_operations(&plan, size as u32).saturating_mul(ranks / size);
    if operations > MOST_OPERATIONS {
        let message = format!(
            "takes {operations} operations; the most is {MOST_OPERATIONS}: use fewer ranks, smaller groups or fewer chunks"
        );
        r.conflict("collective", message);
        return None;
    }
    if u64::from(plan.chunks) > plan.bytes.max(1) {
        let bytes = Bytes::new(plan.bytes).shown();
        r.conflict("chunks", format!("makes more chunks than there are bytes, {bytes}: lower it"));
        return None;
    }
    Some(Grouped { plan, ranks: ranks as u32, size: size as u32, grouping })
}
