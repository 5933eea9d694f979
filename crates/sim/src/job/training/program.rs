//! Makes the operations of a training step.

use std::ops::Range;

use clearway_proto::units::Span;

use super::schedule::{steps, Step};
use super::step::{Layer, Training};
use crate::job::collective::{self, Algorithm, Plan};
use crate::job::{Draft, GraphBuilder};
use crate::model::{CollectiveKind, Label, Mark, Measure, Purpose};

/// The processor that computes.
const COMPUTE: u32 = 0;

/// The processor of operations that take no time: each begins or ends a collective at a rank.
const MARKS: u32 = 1;

/// Tags between those of two sorts of messages: more than any collective needs.
const TAGS: u32 = 1 << 20;

const FORWARD_TAG: u32 = 0;
const BACKWARD_TAG: u32 = TAGS;

/// Collectives of which a rank does one after the other.
#[derive(Clone, Copy)]
struct Sort {
    name: &'static str,
    purpose: Purpose,
    kind: CollectiveKind,
    algorithm: Algorithm,
    tag: u32,
}

/// A rank's operations so far.
#[derive(Clone, Default)]
struct Course {
    /// The operation for which the next one waits.
    at: Option<u32>,
    /// The last collective of gradients, and of those of experts.
    gradients: [Option<u32>; 2],
}

struct Program<'a> {
    training: &'a Training,
    builder: GraphBuilder,
    courses: Vec<Course>,
}

/// The layers of a stage: all are shared out evenly, from the first stage on.
fn layers(training: &Training, stage: u32) -> Range<usize> {
    let first = |stage: u32| {
        (training.layers.len() as u64 * u64::from(stage) / u64::from(training.layout.pipeline)) as usize
    };
    first(stage)..first(stage + 1)
}

/// The number of operations of a training step, at most.
pub fn most_operations(training: &Training) -> u64 {
    let Training { layout, algorithms, gradients, .. } = training;
    let of = |kind, algorithm, size: u32| {
        let chunks = if kind == CollectiveKind::AllToAll { 1 } else { algorithms.chunks };
        let plan = Plan { kind, algorithm, bytes: 0, chunks };
        // Beside its messages, each rank has a beginning and an end.
        if size < 2 {
            0
        } else {
            (collective::most_operations(&plan, size) / u64::from(size)).saturating_add(2)
        }
    };
    let tensor = of(CollectiveKind::AllReduce, algorithms.tensor, layout.tensor);
    let expert = of(CollectiveKind::AllToAll, algorithms.expert, layout.expert);
    let sums = [layout.data, layout.data / layout.expert]
        .map(|size| of(CollectiveKind::AllReduce, algorithms.gradients, size))
        .into_iter()
        .fold(0, u64::saturating_add);
    let mut all = 0_u64;
    for stage in 0..layout.pipeline {
        let mut each = 4_u64;
        let mut bytes = 0_u64;
        for layer in &training.layers[layers(training, stage)] {
            let tensor = if layer.tensor > 0 { tensor } else { 0 };
            let expert = if layer.exchange > 0 { expert } else { 0 };
            each = each.saturating_add(4 + 4 * tensor.saturating_add(expert));
            bytes = bytes.saturating_add(layer.gradients.max(layer.expert_gradients));
        }
        let buckets = (bytes / gradients.bucket + 1).min(training.layers.len() as u64);
        let rank = each
            .saturating_mul(training.micro_batches.into())
            .saturating_add(buckets.saturating_mul(2 * sums));
        all = all.saturating_add(rank.saturating_mul(layout.stage_size().into()));
    }
    all
}

/// The operations of a training step.
pub fn program(training: &Training) -> GraphBuilder {
    let ranks = training.layout.ranks() as u32;
    let mut program = Program {
        training,
        builder: GraphBuilder::new(ranks),
        courses: vec![Course::default(); ranks as usize],
    };
    for stage in 0..training.layout.pipeline {
        program.add_stage(stage);
    }
    program.builder
}

impl Program<'_> {
    fn add_stage(&mut self, stage: u32) {
        let stages = self.training.layout.pipeline;
        let mut backward_left = self.training.micro_batches;
        for step in steps(stage, stages, self.training.micro_batches) {
            match step {
                Step::Forward => {
                    self.receive(stage, stage.checked_sub(1), FORWARD_TAG);
                    for at in layers(self.training, stage) {
                        self.forward(stage, &self.training.layers[at]);
                    }
                    self.send(stage, Some(stage + 1).filter(|&next| next < stages), FORWARD_TAG);
                }
                Step::Backward => {
                    self.receive(stage, Some(stage + 1).filter(|&next| next < stages), BACKWARD_TAG);
                    backward_left -= 1;
                    self.backward_pass(stage, backward_left == 0);
                    self.send(stage, stage.checked_sub(1), BACKWARD_TAG);
                }
            }
        }
        self.update(stage);
    }

    /// A backward pass through the layers of a stage, of which the last one gives the gradients.
    fn backward_pass(&mut self, stage: u32, is_last: bool) {
        let Training { gradients, .. } = self.training;
        let mut full = [0_u64; 2];
        for at in layers(self.training, stage).rev() {
            let layer = &self.training.layers[at];
            self.backward(stage, layer);
            if is_last {
                for (of_experts, bytes) in [layer.gradients, layer.expert_gradients].into_iter().enumerate() {
                    full[of_experts] += bytes;
                    if gradients.overlap && full[of_experts] >= gradients.bucket {
                        self.reduce(stage, of_experts, std::mem::take(&mut full[of_experts]));
                    }
                }
            }
        }
        // Without overlap, everything is cut into as many buckets when the pass is over.
        for (of_experts, bytes) in full.into_iter().enumerate() {
            let buckets = bytes.div_ceil(gradients.bucket).min(self.training.layers.len() as u64);
            for bucket in 0..buckets {
                let upto =
                    |bucket: u64| (u128::from(bytes) * u128::from(bucket) / u128::from(buckets)) as u64;
                self.reduce(stage, of_experts, upto(bucket + 1) - upto(bucket));
            }
        }
    }

    fn forward(&mut self, stage: u32, layer: &Layer) {
        let [attention, rest] = layer.forward;
        self.compute(stage, "forward", attention);
        self.share_tensors(stage, layer);
        self.exchange(stage, layer);
        self.compute(stage, "forward", rest);
        self.exchange(stage, layer);
        self.share_tensors(stage, layer);
    }

    /// What a forward pass does, from the last part to the first.
    fn backward(&mut self, stage: u32, layer: &Layer) {
        let [attention, rest] = layer.backward;
        self.exchange(stage, layer);
        self.compute(stage, "backward", rest);
        self.exchange(stage, layer);
        self.share_tensors(stage, layer);
        self.compute(stage, "backward", attention);
        self.share_tensors(stage, layer);
    }

    fn compute(&mut self, stage: u32, name: &'static str, time: Span) {
        if time == Span::ZERO {
            return;
        }
        let label = self.label(name, Purpose::Other, None);
        for rank in self.training.layout.stage(stage) {
            self.add(rank, label, Draft::Calc { cpu: COMPUTE, time });
        }
    }

    /// Adds an operation to a rank that waits for the one before, and for which the next one waits.
    fn add(&mut self, rank: u32, label: u16, draft: Draft) {
        let at = self.courses[rank as usize].at;
        let own = &mut self.builder.ranks[rank as usize];
        own.label = Some(label);
        let operation = own.add(draft);
        own.require_all(operation, at);
        self.courses[rank as usize].at = Some(operation);
    }

    fn receive(&mut self, stage: u32, from: Option<u32>, tag: u32) {
        let Some(from) = from else { return };
        let label = self.label("activations", Purpose::Pipeline, None);
        let (size, bytes) = (self.training.layout.stage_size(), self.training.activations);
        for rank in self.training.layout.stage(stage) {
            let from = from * size + rank % size;
            self.add(rank, label, Draft::Recv { from, tag, bytes });
        }
    }

    /// Sends what was computed last; what follows does not wait for it.
    fn send(&mut self, stage: u32, to: Option<u32>, tag: u32) {
        let Some(to) = to else { return };
        let label = self.label("activations", Purpose::Pipeline, None);
        let (size, bytes) = (self.training.layout.stage_size(), self.training.activations);
        for rank in self.training.layout.stage(stage) {
            let before = self.courses[rank as usize].at;
            self.add(rank, label, Draft::Send { to: to * size + rank % size, tag, bytes });
            self.courses[rank as usize].at = before;
        }
    }

    fn share_tensors(&mut self, stage: u32, layer: &Layer) {
        let sort = Sort {
            name: "tensor all-reduce",
            purpose: Purpose::Tensor,
            kind: CollectiveKind::AllReduce,
            algorithm: self.training.algorithms.tensor,
            tag: 2 * TAGS,
        };
        self.blocking(self.training.layout.tensor_groups(stage), sort, layer.tensor);
    }

    fn exchange(&mut self, stage: u32, layer: &Layer) {
        let sort = Sort {
            name: "expert all-to-all",
            purpose: Purpose::Expert,
            kind: CollectiveKind::AllToAll,
            algorithm: self.training.algorithms.expert,
            tag: 3 * TAGS,
        };
        self.blocking(self.training.layout.expert_groups(stage), sort, layer.exchange);
    }

    /// A collective after which ranks go on.
    fn blocking(&mut self, groups: Vec<Vec<u32>>, sort: Sort, bytes: u64) {
        for group in groups {
            let gates = |course: &Course| course.at.into_iter().collect();
            for (rank, end) in self.collective(&group, sort, bytes, &gates) {
                self.courses[rank as usize].at = Some(end);
            }
        }
    }

    /// Sums up a bucket of gradients beside what ranks compute: when it is full, and the bucket before is done.
    fn reduce(&mut self, stage: u32, of_experts: usize, bytes: u64) {
        let kind = if self.training.gradients.are_sharded {
            CollectiveKind::ReduceScatter
        } else {
            CollectiveKind::AllReduce
        };
        let name = match (kind, of_experts) {
            (CollectiveKind::AllReduce, 0) => "gradient all-reduce",
            (CollectiveKind::AllReduce, _) => "expert gradient all-reduce",
            (_, 0) => "gradient reduce-scatter",
            _ => "expert gradient reduce-scatter",
        };
        self.beside(stage, of_experts, name, kind, bytes);
    }

    /// A collective of gradients or parameters that is done beside what ranks compute.
    fn beside(
        &mut self,
        stage: u32,
        of_experts: usize,
        name: &'static str,
        kind: CollectiveKind,
        bytes: u64,
    ) {
        let layout = &self.training.layout;
        let groups =
            if of_experts == 0 { layout.data_groups(stage) } else { layout.same_expert_groups(stage) };
        let algorithm = self.training.algorithms.gradients;
        let tag = (4 + of_experts as u32) * TAGS;
        let sort = Sort { name, purpose: Purpose::Gradients, kind, algorithm, tag };
        for group in groups {
            let gates =
                |course: &Course| [course.at, course.gradients[of_experts]].into_iter().flatten().collect();
            for (rank, end) in self.collective(&group, sort, bytes, &gates) {
                self.courses[rank as usize].gradients[of_experts] = Some(end);
            }
        }
    }

    /// Ranks that have all gradients update their parameters, and gather those of others where each updates its share.
    fn update(&mut self, stage: u32) {
        let Training { gradients, .. } = self.training;
        if gradients.update == Span::ZERO && !gradients.are_sharded {
            return;
        }
        let label = self.label("update", Purpose::Other, None);
        for rank in self.training.layout.stage(stage) {
            let sums = self.courses[rank as usize].gradients;
            self.add(rank, label, Draft::Calc { cpu: COMPUTE, time: gradients.update });
            let update = self.courses[rank as usize].at.expect("the update was added");
            self.builder.ranks[rank as usize].require_all(update, sums.into_iter().flatten());
        }
        if !gradients.are_sharded {
            return;
        }
        let own = &self.training.layers[layers(self.training, stage)];
        let sums = [
            own.iter().map(|layer| layer.gradients).sum(),
            own.iter().map(|layer| layer.expert_gradients).sum(),
        ];
        for (of_experts, bytes) in sums.into_iter().enumerate() {
            let name = ["parameter all-gather", "expert parameter all-gather"][of_experts];
            self.beside(stage, of_experts, name, CollectiveKind::AllGather, bytes);
        }
    }

    /// Adds a collective of a group. At each rank it begins when all its gates have ended; returns with what it ends at each.
    fn collective(
        &mut self,
        group: &[u32],
        sort: Sort,
        bytes: u64,
        gates: &dyn Fn(&Course) -> Vec<u32>,
    ) -> Vec<(u32, u32)> {
        if group.len() < 2 || bytes == 0 {
            return Vec::new();
        }
        let ranks = group.len() as u32;
        let measure = self.measure(&sort, ranks);
        let mark = |is_end| Some(Mark { measure, lane: 0, is_end, bytes: if is_end { bytes } else { 0 } });
        let [begins, ends] = [false, true].map(|is_end| self.label(sort.name, sort.purpose, mark(is_end)));
        let label = self.label(sort.name, sort.purpose, None);
        let instant = Draft::Calc { cpu: MARKS, time: Span::ZERO };
        let mut begun = Vec::new();
        for &rank in group {
            let own = &mut self.builder.ranks[rank as usize];
            own.label = Some(begins);
            let begin = own.add(instant);
            own.require_all(begin, gates(&self.courses[rank as usize]));
            own.label = Some(label);
            own.first_tag = sort.tag;
            begun.push((begin, own.position()));
        }
        let chunks = if sort.kind == CollectiveKind::AllToAll { 1 } else { self.training.algorithms.chunks };
        let plan = Plan { kind: sort.kind, algorithm: sort.algorithm, bytes, chunks };
        collective::add(&mut self.builder, group, &plan);
        let ended = group.iter().zip(begun).map(|(&rank, (begin, position))| {
            let own = &mut self.builder.ranks[rank as usize];
            own.begin_with(begin, position);
            let parts = own.since(position);
            own.label = Some(ends);
            let end = own.add(instant);
            own.require_all(end, parts);
            (rank, end)
        });
        ended.collect()
    }

    fn measure(&mut self, sort: &Sort, ranks: u32) -> u16 {
        let steps = collective::steps(sort.kind, sort.algorithm, ranks);
        let collective = Some(sort.kind);
        let measure = Measure { name: sort.name, collective, request: None, ranks, steps, lanes: 1 };
        place(&mut self.builder.measures, measure)
    }

    fn label(&mut self, name: &'static str, purpose: Purpose, mark: Option<Mark>) -> u16 {
        place(&mut self.builder.labels, Label { name, purpose, mark })
    }
}

/// The place of an item in a list, to which it is added where it is not there.
fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> u16 {
    let at = list.iter().position(|other| *other == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    });
    u16::try_from(at).expect("few sorts of operations")
}
