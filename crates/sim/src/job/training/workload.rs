//! What a model is trained with: a device, and how much of what.

use clearway_proto::units::Span;

/// What a rank computes with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// Floating-point operations a second that it really does: its peak times its utilisation.
    pub flops: f64,
}

impl Device {
    /// The time of this many floating-point operations, at least a picosecond.
    pub fn time_of(self, operations: f64) -> Span {
        Span::from_ps(((operations / self.flops * 1e12) as u64).max(1))
    }
}

/// What a model is trained with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Sequences or images of a micro-batch.
    pub micro_batch: u64,
    /// Tokens of a sequence.
    pub sequence: u64,
    /// Layers of the model that there are, from the first on.
    pub depth: u32,
    /// Bytes of an element of activations.
    pub activation_bytes: u64,
    /// Bytes of a gradient, and of a parameter that is gathered.
    pub gradient_bytes: u64,
}
