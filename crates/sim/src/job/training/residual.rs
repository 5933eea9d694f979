//! ResNet-50: He et al., "Deep Residual Learning for Image Recognition", 2016, table 1, for images of 224 by 224 pixels. A layer here is
//! a block of three convolutions; the first one has the 7 by 7 convolution before it, the last one the classifier behind it.
//!
//! Each convolution is followed by a batch normalisation of two parameters a channel. Each parameter of a convolution takes a
//! multiplication and an addition for each pixel, and twice as much in the backward pass.

use super::step::Layer;
use super::workload::{Device, Workload};

/// Blocks.
pub(super) const BLOCKS: u32 = 16;

/// Blocks of each stage, with the channels of their 3 by 3 convolution and the pixels of a side of what they make.
const STAGES: [(u64, u64, u64); 4] = [(3, 64, 56), (4, 128, 28), (6, 256, 14), (3, 512, 7)];

/// Channels out of a block for each channel of its 3 by 3 convolution.
const EXPANSION: u64 = 4;

const CLASSES: u64 = 1000;

/// The size of a block or a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub parameters: u64,
    /// Multiplications, each with its addition, of a forward pass of an image.
    pub multiplications: u64,
}

impl Size {
    fn add_convolution(&mut self, from: u64, to: u64, side: u64, pixels: u64) {
        let weights = from * to * side * side;
        self.parameters += weights + 2 * to;
        self.multiplications += weights * pixels * pixels;
    }
}

/// The sizes of all blocks.
pub(super) fn blocks() -> Vec<Size> {
    let mut blocks = Vec::new();
    let mut channels = 64;
    for (count, width, pixels) in STAGES {
        for _ in 0..count {
            let mut block = Size::default();
            if blocks.is_empty() {
                block.add_convolution(3, 64, 7, 112);
            }
            // The first 1 by 1 convolution of a stage takes every second pixel.
            block.add_convolution(channels, width, 1, pixels);
            block.add_convolution(width, width, 3, pixels);
            block.add_convolution(width, EXPANSION * width, 1, pixels);
            if channels != EXPANSION * width {
                block.add_convolution(channels, EXPANSION * width, 1, pixels);
            }
            channels = EXPANSION * width;
            blocks.push(block);
        }
    }
    if let Some(last) = blocks.last_mut() {
        last.parameters += channels * CLASSES + CLASSES;
        last.multiplications += channels * CLASSES;
    }
    blocks
}

/// The blocks as layers of a rank.
pub(super) fn at_rank(workload: &Workload, device: Device) -> Vec<Layer> {
    let none = clearway_proto::units::Span::ZERO;
    let layer = |size: Size| {
        let operations = 2.0 * size.multiplications as f64 * workload.micro_batch as f64;
        Layer {
            gradients: size.parameters * workload.gradient_bytes,
            forward: [none, device.time_of(operations)],
            backward: [none, device.time_of(2.0 * operations)],
            ..Layer::default()
        }
    };
    blocks().into_iter().take(workload.depth as usize).map(layer).collect()
}
