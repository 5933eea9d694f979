//! Transformers: parameters, floating-point operations and messages of a layer, from its shape.
//!
//! A forward pass takes two operations for each parameter that a token meets, and 4 s h for a token's attention over s tokens of h
//! elements; a backward pass takes twice as many (Narayanan et al. 2021, appendix, whose 24 B s h² (1 + s/6h) for a layer this is).
//! Nothing is computed twice to save memory. Biases and norms are left out: less than a thousandth of the parameters.

use super::layout::Layout;
use super::step::Layer;
use super::workload::{Device, Workload};

/// The shape of a transformer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transformer {
    /// Layers.
    pub layers: u32,
    /// Elements of a token's vector.
    pub hidden: u64,
    /// Attention heads.
    pub heads: u64,
    /// Heads of keys and values, which several heads of queries may share.
    pub key_heads: u64,
    /// Elements between the matrices of a feed-forward part, or of each expert.
    pub feed_forward: u64,
    /// Matrices of a feed-forward part: two, or three where one of them gates.
    pub matrices: u64,
    /// Experts of a layer; one where there is no choice.
    pub experts: u64,
    /// Experts to which each token goes.
    pub experts_a_token: u64,
    /// Tokens that there are.
    pub vocabulary: u64,
    /// Whether the matrix that makes tokens of vectors is the one that makes vectors of tokens.
    pub is_tied: bool,
    /// Tokens of a sequence in training.
    pub sequence: u64,
}

/// GPT-3 175B: Brown et al., "Language Models are Few-Shot Learners", 2020, table 2.1 and section 2.1 (context of 2048 tokens,
/// feed-forward part of 4 times the hidden size); vocabulary and tied matrices as GPT-2 has them.
pub const GPT3_175B: Transformer = Transformer {
    layers: 96,
    hidden: 12_288,
    heads: 96,
    key_heads: 96,
    feed_forward: 4 * 12_288,
    matrices: 2,
    experts: 1,
    experts_a_token: 1,
    vocabulary: 50_257,
    is_tied: true,
    sequence: 2048,
};

/// Llama 2 70B: Touvron et al., "Llama 2: Open Foundation and Fine-Tuned Chat Models", 2023, table 1 and appendix A.2.1 (grouped
/// queries, context of 4096 tokens); sizes as in the configuration that was published with the model.
pub const LLAMA2_70B: Transformer = Transformer {
    layers: 80,
    hidden: 8192,
    heads: 64,
    key_heads: 8,
    feed_forward: 28_672,
    matrices: 3,
    experts: 1,
    experts_a_token: 1,
    vocabulary: 32_000,
    is_tied: false,
    sequence: 4096,
};

/// Mixtral 8x7B: Jiang et al., "Mixtral of Experts", 2024, table 1. Its context is 32,768 tokens; 4096 are the default here, those of
/// the dense model that it is compared with.
pub const MIXTRAL_8X7B: Transformer = Transformer {
    layers: 32,
    hidden: 4096,
    heads: 32,
    key_heads: 8,
    feed_forward: 14_336,
    matrices: 3,
    experts: 8,
    experts_a_token: 2,
    vocabulary: 32_000,
    is_tied: false,
    sequence: 4096,
};

impl Transformer {
    /// Parameters of a layer's attention: of queries and outputs, and of keys and values.
    pub fn attention_parameters(&self) -> u64 {
        let square = self.hidden * self.hidden;
        2 * square + 2 * square * self.key_heads / self.heads
    }

    /// Parameters of a layer's feed-forward part, or of one of its experts.
    pub fn expert_parameters(&self) -> u64 {
        self.matrices * self.hidden * self.feed_forward
    }

    /// Parameters with which a layer chooses experts.
    pub fn router_parameters(&self) -> u64 {
        if self.experts > 1 {
            self.hidden * self.experts
        } else {
            0
        }
    }

    /// Parameters of one of the two matrices between tokens and vectors.
    pub fn vocabulary_parameters(&self) -> u64 {
        self.hidden * self.vocabulary
    }

    /// All parameters.
    pub fn parameters(&self) -> u64 {
        let layer =
            self.attention_parameters() + self.experts * self.expert_parameters() + self.router_parameters();
        let matrices = if self.is_tied { 1 } else { 2 };
        u64::from(self.layers) * layer + matrices * self.vocabulary_parameters()
    }

    /// The layers at a rank, and the bytes between two pipeline stages. The first layer has the matrix of tokens, and the last one computes
    /// and, where it has a matrix of its own, updates their probabilities.
    pub(super) fn at_rank(&self, workload: &Workload, layout: &Layout, device: Device) -> (Vec<Layer>, u64) {
        let Workload { micro_batch, sequence, depth, activation_bytes, gradient_bytes } = *workload;
        let share = u64::from(layout.tensor);
        let tokens = micro_batch * sequence;
        let activations = tokens * self.hidden * activation_bytes;
        let time = |operations: f64| device.time_of(operations / share as f64);
        let attention = (2 * self.attention_parameters() + 4 * sequence * self.hidden) as f64 * tokens as f64;
        let rest = (2 * (self.expert_parameters() * self.experts_a_token + self.router_parameters())) as f64
            * tokens as f64;
        let gradients = |parameters: u64| parameters.div_ceil(share) * gradient_bytes;
        let has_experts = self.experts > 1;
        let own_experts = self.experts.div_ceil(u64::from(layout.expert));
        let dense = if has_experts { self.router_parameters() } else { self.expert_parameters() };
        let layer = Layer {
            gradients: gradients(self.attention_parameters() + dense),
            expert_gradients: if has_experts { gradients(own_experts * self.expert_parameters()) } else { 0 },
            forward: [time(attention), time(rest)],
            backward: [time(2.0 * attention), time(2.0 * rest)],
            tensor: activations,
            // Each rank that shares tensors sends its share of the tokens.
            exchange: if has_experts { (activations * self.experts_a_token).div_ceil(share) } else { 0 },
        };
        let mut layers = vec![layer; depth as usize];
        let matrix = gradients(self.vocabulary_parameters());
        if let Some(first) = layers.first_mut() {
            first.gradients += matrix;
        }
        if let Some(last) = layers.last_mut() {
            let operations = (2 * self.vocabulary_parameters()) as f64 * tokens as f64;
            last.forward[1] = time(rest + operations);
            last.backward[1] = time(2.0 * (rest + operations));
            last.gradients += if self.is_tied { 0 } else { matrix };
        }
        (layers, activations)
    }
}
