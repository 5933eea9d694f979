//! Named models as layers: what a rank computes and moves follows from the published shape of the model.

use super::layout::Layout;
use super::residual;
use super::step::Layer;
use super::transformer::{Transformer, GPT3_175B, LLAMA2_70B, MIXTRAL_8X7B};
use super::workload::{Device, Workload};

/// A model that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// GPT-3 with 175 billion parameters (Brown et al. 2020).
    Gpt3,
    /// Llama 2 with 70 billion parameters (Touvron et al. 2023).
    Llama2,
    /// Mixtral of 8 experts, 47 billion parameters in all (Jiang et al. 2024).
    Mixtral,
    /// `ResNet`-50, for images of 224 by 224 pixels (He et al. 2016).
    ResNet50,
}

impl Model {
    /// The transformer that it is, if it is one.
    pub fn transformer(self) -> Option<&'static Transformer> {
        match self {
            Model::Gpt3 => Some(&GPT3_175B),
            Model::Llama2 => Some(&LLAMA2_70B),
            Model::Mixtral => Some(&MIXTRAL_8X7B),
            Model::ResNet50 => None,
        }
    }

    /// How many layers the whole model has: transformer layers, or residual blocks.
    pub fn depth(self) -> u32 {
        self.transformer().map_or(residual::BLOCKS, |transformer| transformer.layers)
    }

    /// Its layers at a rank, and the bytes between two pipeline stages for a micro-batch. A model without experts has no use for
    /// an expert-parallel group, and a network of convolutions neither for tensor-parallel ones.
    pub fn layers(self, workload: &Workload, layout: &Layout, device: Device) -> (Vec<Layer>, u64) {
        match self.transformer() {
            Some(transformer) => transformer.at_rank(workload, layout, device),
            None => (residual::at_rank(workload, device), 0),
        }
    }
}
