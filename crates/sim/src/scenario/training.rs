//! The keys of a training job.

use clearway_proto::units::{Bytes, Span};

use super::key::Key;
use super::reader::Section;
use crate::job::collective::{needs_power_of_two, Algorithm};
use crate::job::training::{
    most_operations, program, Algorithms, Device, Gradients, Layer, Layout, Model, Training, Workload,
};
use crate::job::{goal, MOST_OPERATIONS};
use crate::model::OperationGraph;

/// The most layers of a job.
const MOST_LAYERS: u32 = 4096;

const LONGEST: Span = Span::from_secs(1000);

const DIRECT: Algorithm = Algorithm::Direct { window: 0 };

/// Where layers come from.
#[derive(Clone, Copy)]
enum Source {
    Listed,
    Named(Model),
}

const SOURCES: [(&str, Source); 5] = [
    ("layers", Source::Listed),
    ("gpt3_175b", Source::Named(Model::Gpt3)),
    ("llama2_70b", Source::Named(Model::Llama2)),
    ("mixtral_8x7b", Source::Named(Model::Mixtral)),
    ("resnet50", Source::Named(Model::ResNet50)),
];

/// A named model and what it is trained with.
struct Named {
    model: Model,
    workload: Workload,
    device: Device,
}

/// Layers as the file has them.
struct Listed {
    layers: Vec<Layer>,
    activations: u64,
}

enum Layers {
    Listed(Listed),
    Named(Named),
}

/// Reads a training job; there is room for `room` ranks. Returns its operations, if its keys are right, and what it is called.
pub(crate) fn read(r: &mut Section, room: u64) -> (Option<OperationGraph>, String) {
    let doc = "What is trained. layers: what [[job.layer]] tables say; else a published model, of which docs/JOBS.md gives the source.";
    let source = r.choice("model", doc, Some("layers"), &SOURCES);
    let layers = match source {
        Source::Listed => read_listed(r).map(Layers::Listed),
        Source::Named(model) => Some(Layers::Named(read_named(r, model))),
    };
    let layout = read_layout(r, room);
    let doc = "Micro-batches of an iteration, of each data-parallel rank: one forward, one backward by turns (1F1B).";
    let micro_batches = r.get(&Key::new("micro_batches", doc, 1u32..=65_536).or(1));
    let gradients = read_gradients(r);
    let algorithms = read_algorithms(r, gradients.are_sharded);
    let named = SOURCES.iter().find(|(_, other)| same(*other, source)).map_or("", |(name, _)| *name);
    let name = format!("training {named}");
    let (Some(layers), Some(layout), true) = (layers, layout, r.sound()) else { return (None, name) };
    let depth = match &layers {
        Layers::Listed(listed) => listed.layers.len(),
        Layers::Named(named) => named.workload.depth as usize,
    };
    if !fits(r, layout, depth, algorithms) || !suits(r, &layers, layout) {
        return (None, name);
    }
    let (layers, activations) = match layers {
        Layers::Listed(Listed { layers, activations }) => (layers, activations),
        Layers::Named(Named { model, workload, device }) => model.layers(&workload, &layout, device),
    };
    let training = Training { layers, layout, micro_batches, activations, gradients, algorithms };
    let operations = most_operations(&training);
    if operations > MOST_OPERATIONS {
        let message = format!(
            "takes up to {operations} operations; the most is {MOST_OPERATIONS}: use fewer ranks, layers, micro_batches or chunks"
        );
        r.conflict("model", message);
        return (None, name);
    }
    match program(&training).build() {
        Ok(graph) => (Some(graph), name),
        Err(problem) => {
            r.conflict("model", problem.message);
            (None, name)
        }
    }
}

fn same(one: Source, other: Source) -> bool {
    match (one, other) {
        (Source::Listed, Source::Listed) => true,
        (Source::Named(one), Source::Named(other)) => one == other,
        _ => false,
    }
}

fn read_listed(r: &mut Section) -> Option<Listed> {
    let doc =
        "Bytes that a stage sends to the next for each micro-batch, and gets back in the backward pass.";
    let most = Bytes::new(1 << 40);
    let activations = r.get(&Key::new("activations", doc, Bytes::new(0)..=most).or(Bytes::new(0)));
    let doc = "Layers, from the first on: what one rank has and computes of each for a micro-batch.";
    let layers = r.list("layer", doc, true, read_layer)?;
    let count: u64 = layers.iter().map(|(count, _)| u64::from(*count)).sum();
    if r.sound() && (count == 0 || count > u64::from(MOST_LAYERS)) {
        r.conflict("layer", format!("makes {count} layers, expected 1 to {MOST_LAYERS}: lower their count"));
        return None;
    }
    let layers = layers.into_iter().flat_map(|(count, layer)| std::iter::repeat_n(layer, count as usize));
    Some(Listed { layers: layers.collect(), activations: activations.get() })
}

fn read_layer(r: &mut Section) -> (u32, Layer) {
    let count = r.get(&Key::new("count", "How many layers are like this one.", 1..=MOST_LAYERS).or(1));
    let doc = "Time of the forward pass of a micro-batch; the first half is attention, where it matters.";
    let forward = r.get(&Key::new("forward", doc, Span::from_ps(2)..=LONGEST));
    let doc = "Time of the backward pass of a micro-batch.";
    let backward = Key::new("backward", doc, Span::from_ps(2)..=LONGEST);
    let backward = r.optional(&backward, "twice the forward pass").unwrap_or(forward * 2);
    let mut bytes =
        |name, doc| r.get(&Key::new(name, doc, Bytes::new(0)..=Bytes::new(1 << 40)).or(Bytes::new(0))).get();
    let gradients = bytes("gradients", "Bytes of gradients that data-parallel ranks add up.");
    let doc = "Bytes of gradients that the ranks with the same experts add up.";
    let expert_gradients = bytes("expert_gradients", doc);
    let doc = "Bytes of each all-reduce of the ranks that share tensors: two in each pass.";
    let tensor = bytes("tensor", doc);
    let doc = "Bytes that a rank sends in each all-to-all to experts and back, its own part included: two in each pass.";
    let exchange = bytes("exchange", doc);
    let halves = |time: Span| [time / 2, time - time / 2];
    let (forward, backward) = (halves(forward), halves(backward));
    (count, Layer { gradients, expert_gradients, forward, backward, tensor, exchange })
}

fn read_named(r: &mut Section, model: Model) -> Named {
    let transformer = model.transformer();
    let doc = "Peak rate of a rank's accelerator, in 10^12 floating-point operations a second (312 for an A100 in bfloat16, NVIDIA's data sheet).";
    let peak = r.get(&Key::new("peak_tflops", doc, 0.001..=1e6).or(312.0));
    let doc = "Part of the peak rate that is reached while a rank computes.";
    let utilisation = r.get(&Key::new("utilisation", doc, 0.001..=1.0).or(0.4));
    let (unit, most) = if transformer.is_some() { (1, 1 << 16) } else { (32, 1 << 20) };
    let doc = "Sequences, or images, of a micro-batch.";
    let micro_batch = r.get(&Key::new("micro_batch", doc, 1..=most).or(unit));
    let sequence = transformer.map_or(1, |transformer| {
        let doc = "Tokens of a sequence.";
        let default = transformer.sequence;
        r.get(&Key::new("sequence", doc, 1u64..=1 << 24).or_as(default, "as the model was trained"))
    });
    let doc =
        "Layers of the model that are trained, from the first on: transformer layers, or residual blocks.";
    let whole = model.depth();
    let depth = r.get(&Key::new("depth", doc, 1..=whole).or_as(whole, "the whole model"));
    let activation_bytes = if transformer.is_some() {
        let doc = "Bytes of an element of activations (2 in mixed precision).";
        r.get(&Key::new("activation_bytes", doc, 1u64..=8).or(2))
    } else {
        2
    };
    let doc = "Bytes of a gradient, and of a parameter that is gathered (2 in mixed precision, 4 in single).";
    let default = if transformer.is_some() { 2 } else { 4 };
    let gradient_bytes = r.get(&Key::new("gradient_bytes", doc, 1u64..=8).or(default));
    let workload = Workload { micro_batch, sequence, depth, activation_bytes, gradient_bytes };
    Named { model, workload, device: Device { flops: peak * 1e12 * utilisation } }
}

fn read_layout(r: &mut Section, room: u64) -> Option<Layout> {
    let most = goal::MOST_RANKS;
    let mut size = |name, doc| r.get(&Key::new(name, doc, 1..=most).or(1));
    let tensor = size("tensor_parallel", "Ranks that share the tensors of each layer: neighbours.");
    let pipeline = size("pipeline_parallel", "Pipeline stages; layers are shared out evenly.");
    let doc =
        "Ranks of a data-parallel group that share the experts of each layer: a divisor of data_parallel.";
    let expert = size("expert_parallel", doc);
    let doc = "Ranks that have the same parameters, experts apart. Ranks are tensor_parallel times data_parallel times pipeline_parallel.";
    let data = r.optional(&Key::new("data_parallel", doc, 1..=most), "as many as hosts have room for");
    if !r.sound() {
        return None;
    }
    let others = u64::from(tensor) * u64::from(pipeline);
    let data = data.map_or(room / others, u64::from);
    let Some(data) = u32::try_from(data).ok().filter(|&data| data > 0) else {
        let message = format!(
            "there is room for {room} ranks, and tensor_parallel and pipeline_parallel make {others}: list more hosts, or raise ranks_per_host"
        );
        r.conflict("tensor_parallel", message);
        return None;
    };
    r.settle("data_parallel", data.into());
    let layout = Layout { tensor, data, expert, pipeline };
    if layout.ranks() > u64::from(most) {
        r.conflict("data_parallel", format!("makes {} ranks; the most is {most}: lower it", layout.ranks()));
        return None;
    }
    if data % expert != 0 {
        let message =
            format!("{data} data-parallel ranks make no whole groups of {expert}: give a divisor of {data}");
        r.conflict("expert_parallel", message);
        return None;
    }
    Some(layout)
}

fn read_gradients(r: &mut Section) -> Gradients {
    let doc = "How gradients become parameters. all_reduce: every rank has all sums and updates everything; sharded: they are reduced \
               and scattered, each rank updates its share, and parameters are gathered (ZeRO).";
    let are_sharded =
        r.one_of("gradients", doc, Some("all_reduce"), &[("all_reduce", false), ("sharded", true)]);
    let doc = "The least bytes of gradients that are reduced together (25 MiB, as in PyTorch's DistributedDataParallel).";
    let bucket = Key::new("bucket", doc, Bytes::new(1)..=Bytes::new(1 << 50)).or(Bytes::new(25 << 20));
    let bucket = r.get(&bucket).get();
    let doc = "Reduce each bucket as soon as it is full, while the backward pass goes on.";
    let overlap = r.flag("overlap", doc, true);
    let doc = "Time in which a rank updates its parameters.";
    let update = r.get(&Key::new("update", doc, Span::ZERO..=LONGEST).or(Span::ZERO));
    Gradients { are_sharded, bucket, overlap, update }
}

fn read_algorithms(r: &mut Section, are_sharded: bool) -> Algorithms {
    let all = [
        ("ring", Algorithm::Ring),
        ("halving_doubling", Algorithm::HalvingDoubling),
        ("recursive_doubling", Algorithm::RecursiveDoubling),
        ("double_tree", Algorithm::DoubleTree),
    ];
    let doc = "How gradients are reduced: docs/JOBS.md says what each sends. With gradients = \"sharded\", ring or halving_doubling.";
    let gradients = r.one_of("gradient_algorithm", doc, Some("ring"), &all);
    if are_sharded && !matches!(gradients, Algorithm::Ring | Algorithm::HalvingDoubling) {
        r.conflict(
            "gradient_algorithm",
            "cannot scatter sums: use ring or halving_doubling, or gradients = \"all_reduce\"",
        );
    }
    let doc = "How the ranks that share tensors reduce what each has.";
    let tensor = r.one_of("tensor_algorithm", doc, Some("ring"), &all);
    let doc = "How tokens go to experts and back.";
    let ways = [("direct", DIRECT), ("pairwise", Algorithm::Pairwise)];
    let expert = r.one_of("expert_algorithm", doc, Some("direct"), &ways);
    let doc = "Messages of a rank that may be under way, with expert_algorithm = \"direct\".";
    let window = r.get(&Key::new("window", doc, 1u32..=1_000_000).or(8));
    let expert = if expert == DIRECT { Algorithm::Direct { window } } else { expert };
    let doc = "Chunks into which each part of an array is cut, so that one is passed on while the next comes; all-to-alls have none.";
    let chunks = r.get(&Key::new("chunks", doc, 1u32..=65_536).or(1));
    Algorithms { gradients, tensor, expert, chunks }
}

/// Checks that each stage has a layer, and that every algorithm can do with the ranks of its groups.
fn fits(r: &Section, layout: Layout, depth: usize, algorithms: Algorithms) -> bool {
    if layout.pipeline as usize > depth {
        r.conflict(
            "pipeline_parallel",
            format!("there are {depth} layers for {} stages: lower it", layout.pipeline),
        );
        return false;
    }
    let sizes = [
        ("gradient_algorithm", algorithms.gradients, layout.data),
        ("gradient_algorithm", algorithms.gradients, layout.data / layout.expert),
        ("tensor_algorithm", algorithms.tensor, layout.tensor),
    ];
    for (key, algorithm, size) in sizes {
        if needs_power_of_two(algorithm) && !size.is_power_of_two() {
            let message = format!("needs a power of two of ranks, and a group has {size}: use ring");
            r.conflict(key, message);
            return false;
        }
    }
    true
}

/// Checks that the model has what groups share.
fn suits(r: &Section, layers: &Layers, layout: Layout) -> bool {
    let said = match layers {
        Layers::Named(Named { model, .. }) => match model.transformer() {
            None if layout.tensor > 1 || layout.pipeline > 1 || layout.expert > 1 => {
                Some(("model", "resnet50 is trained data-parallel only: leave tensor_parallel, pipeline_parallel and expert_parallel out".into()))
            }
            Some(shape) if layout.expert > 1 && shape.experts % u64::from(layout.expert) != 0 => {
                let experts = shape.experts;
                Some(("expert_parallel", format!("the model has {experts} experts a layer: give a divisor of {experts}")))
            }
            Some(shape) if shape.key_heads % u64::from(layout.tensor) != 0 && layout.tensor > 1 => {
                let heads = shape.key_heads;
                Some(("tensor_parallel", format!("the model has {heads} heads of keys and values: give a divisor of {heads}")))
            }
            _ => None,
        },
        Layers::Listed(listed) => {
            let lacks = |of: &dyn Fn(&Layer) -> u64| listed.layers.iter().all(|layer| of(layer) == 0);
            if layout.expert > 1 && lacks(&|layer| layer.exchange + layer.expert_gradients) {
                Some(("expert_parallel", "no layer has exchange or expert_gradients: give them, or leave it out".into()))
            } else if layout.tensor > 1 && lacks(&|layer| layer.tensor) {
                Some(("tensor_parallel", "no layer has tensor: give it, or leave this out".into()))
            } else {
                None
            }
        }
    };
    r.holds_unless(said)
}
