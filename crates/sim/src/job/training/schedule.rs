//! The order in which a pipeline stage works on micro-batches: one forward, one backward (1F1B), flushed at the end of each iteration
//! (Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", 2021, section 2.2.1).

/// What a stage does with a micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The forward pass.
    Forward,
    /// The backward pass of the oldest micro-batch that has none yet.
    Backward,
}

/// The steps of one of `stages` stages: a forward pass for each stage behind it, then one forward and one backward by turns,
/// then the backward passes that are left.
pub(super) fn steps(stage: u32, stages: u32, micro_batches: u32) -> Vec<Step> {
    let ahead = (stages - 1 - stage).min(micro_batches) as usize;
    let by_turns = micro_batches as usize - ahead;
    let mut steps = vec![Step::Forward; ahead];
    for _ in 0..by_turns {
        steps.extend([Step::Forward, Step::Backward]);
    }
    steps.extend(vec![Step::Backward; ahead]);
    steps
}
