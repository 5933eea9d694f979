//! Which ranks form groups. Ranks are numbered as Megatron-LM numbers them: ranks of a tensor-parallel group are neighbours, then come
//! expert-parallel and data-parallel ranks, then pipeline stages (`megatron/core/parallel_state.py`, `initialize_model_parallel`,
//! whose default order is "tp-cp-ep-dp-pp").

/// The sizes of all groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Ranks that share the tensors of each layer.
    pub tensor: u32,
    /// Ranks that have the same parameters, experts apart, and different data.
    pub data: u32,
    /// Ranks among those of a data-parallel group that share the experts; a divisor of their number.
    pub expert: u32,
    /// Pipeline stages.
    pub pipeline: u32,
}

impl Layout {
    /// Returns how many ranks there are.
    pub fn ranks(&self) -> u64 {
        u64::from(self.tensor) * u64::from(self.data) * u64::from(self.pipeline)
    }

    /// Returns how many ranks a pipeline stage has.
    pub fn stage_size(&self) -> u32 {
        self.tensor * self.data
    }

    /// The ranks of a pipeline stage.
    pub fn stage(&self, stage: u32) -> std::ops::Range<u32> {
        stage * self.stage_size()..(stage + 1) * self.stage_size()
    }

    /// The tensor-parallel groups of a stage.
    pub fn tensor_groups(&self, stage: u32) -> Vec<Vec<u32>> {
        self.groups(stage, self.tensor, 1)
    }

    /// The data-parallel groups of a stage.
    pub fn data_groups(&self, stage: u32) -> Vec<Vec<u32>> {
        self.groups(stage, self.data, self.tensor)
    }

    /// The groups of a stage that share experts.
    pub fn expert_groups(&self, stage: u32) -> Vec<Vec<u32>> {
        self.groups(stage, self.expert, self.tensor)
    }

    /// The groups of a stage whose ranks have the same experts.
    pub fn same_expert_groups(&self, stage: u32) -> Vec<Vec<u32>> {
        self.groups(stage, self.data / self.expert, self.tensor * self.expert)
    }

    /// The groups of `size` ranks of a stage that are `stride` apart.
    fn groups(&self, stage: u32, size: u32, stride: u32) -> Vec<Vec<u32>> {
        let first = |rank: &u32| (rank - stage * self.stage_size()) / stride % size == 0;
        let members = |rank: u32| (0..size).map(|at| rank + at * stride).collect();
        self.stage(stage).filter(first).map(members).collect()
    }
}
