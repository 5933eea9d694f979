//! A training step as it is asked for: layers, groups, and how collectives are done.

use clearway_proto::units::Span;

use super::layout::Layout;
use crate::job::collective::Algorithm;

/// A layer, as one rank has it: what it computes for a micro-batch and what it moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Bytes of gradients that all data-parallel ranks add up.
    pub gradients: u64,
    /// Bytes of gradients that ranks with the same experts add up.
    pub expert_gradients: u64,
    /// Time of the two parts of a forward pass: attention, and what follows it.
    pub forward: [Span; 2],
    /// Time of the same two parts in a backward pass.
    pub backward: [Span; 2],
    /// Bytes of the all-reduce after each part among ranks that share tensors; none if zero.
    pub tensor: u64,
    /// Bytes that a rank sends in each all-to-all to experts and back; none if zero.
    pub exchange: u64,
}

/// How gradients become updated parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gradients {
    /// Whether ranks share the update: gradients are reduced and scattered, and updated parameters gathered (`ZeRO`). Else they are
    /// all-reduced, and every rank updates all.
    pub are_sharded: bool,
    /// The least bytes of a bucket, which begins to be reduced when it is full.
    pub bucket: u64,
    /// Whether buckets are reduced while the backward pass goes on.
    pub overlap: bool,
    /// Time of the update.
    pub update: Span,
}

/// How each collective is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Algorithms {
    /// The algorithm of gradients' collectives.
    pub gradients: Algorithm,
    /// The algorithm of all-reduces among ranks that share tensors.
    pub tensor: Algorithm,
    /// The algorithm of all-to-alls.
    pub expert: Algorithm,
    /// Chunks into which each part of an array is cut, except in all-to-alls.
    pub chunks: u32,
}

/// A training job: what an iteration of it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Training {
    /// Its layers, from the first on.
    pub layers: Vec<Layer>,
    /// Which ranks do what together.
    pub layout: Layout,
    /// Micro-batches of an iteration.
    pub micro_batches: u32,
    /// Bytes between two pipeline stages for a micro-batch, forward and back alike.
    pub activations: u64,
    /// How gradients become parameters.
    pub gradients: Gradients,
    /// How collectives are done.
    pub algorithms: Algorithms,
}
