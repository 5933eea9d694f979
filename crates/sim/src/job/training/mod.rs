//! Training steps as operations of ranks: layers that are computed forward and back, by ranks that share tensors, data, experts and
//! pipeline stages, and the collectives between them.

mod layout;
mod model;
mod program;
mod residual;
mod schedule;
mod step;
#[cfg(test)]
mod tests;
mod transformer;
mod workload;

pub use layout::Layout;
pub use model::Model;
pub use program::{most_operations, program};
pub use step::{Algorithms, Gradients, Layer, Training};
pub use transformer::{Transformer, GPT3_175B, LLAMA2_70B, MIXTRAL_8X7B};
pub use workload::{Device, Workload};
