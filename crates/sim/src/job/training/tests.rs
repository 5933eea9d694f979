use clearway_proto::units::Span;

use super::schedule::{steps, Step};
use super::*;
use crate::job::collective::Algorithm;
use crate::job::never_ends;
use crate::model::Operation;

fn training(layout: Layout, layers: Vec<Layer>) -> Training {
    Training {
        layers,
        layout,
        micro_batches: 3,
        activations: 5000,
        gradients: Gradients { are_sharded: false, bucket: 1500, overlap: true, update: Span::from_us(1) },
        algorithms: Algorithms {
            gradients: Algorithm::Ring,
            tensor: Algorithm::DoubleTree,
            expert: Algorithm::Direct { window: 2 },
            chunks: 2,
        },
    }
}

fn layer() -> Layer {
    Layer {
        gradients: 1000,
        expert_gradients: 700,
        forward: [Span::from_us(1), Span::from_us(2)],
        backward: [Span::from_us(3), Span::from_us(4)],
        tensor: 300,
        exchange: 400,
    }
}

#[test]
fn ranks_are_numbered_as_megatron_numbers_them() {
    // Two by four by two: ranks of a tensor group are neighbours, then data, then stages; experts are shared by pairs of data ranks.
    let layout = Layout { tensor: 2, data: 4, expert: 2, pipeline: 2 };
    assert_eq!(layout.ranks(), 16);
    assert_eq!(layout.tensor_groups(1), [[8, 9], [10, 11], [12, 13], [14, 15]]);
    assert_eq!(layout.data_groups(0), [[0, 2, 4, 6], [1, 3, 5, 7]]);
    assert_eq!(layout.expert_groups(1), [[8, 10], [9, 11], [12, 14], [13, 15]]);
    assert_eq!(layout.same_expert_groups(0), [[0, 4], [1, 5], [2, 6], [3, 7]]);
}

#[test]
fn a_stage_never_has_more_micro_batches_open_than_there_are_stages_from_it_on() {
    for (stages, micro_batches) in [(1, 1), (4, 8), (4, 2), (3, 3), (8, 64)] {
        for stage in 0..stages {
            let (mut open, mut most, mut done) = (0_i64, 0, 0);
            for step in steps(stage, stages, micro_batches) {
                match step {
                    Step::Forward => open += 1,
                    Step::Backward => {
                        open -= 1;
                        done += 1;
                    }
                }
                assert!(open >= 0, "a backward pass has its forward pass before it");
                most = most.max(open);
            }
            assert_eq!((open, done), (0, micro_batches));
            assert_eq!(most, i64::from((stages - stage).min(micro_batches)));
        }
    }
}

#[test]
fn published_models_have_their_published_parameters() {
    let of = |model: Model| model.transformer().expect("a transformer").parameters();
    // 175B, 70B (68.98 billion in the published weights) and 47B (46.7 billion).
    assert_eq!(of(Model::Gpt3), 174_563_733_504);
    let near = |found: u64, expected: f64| (found as f64 / expected - 1.0).abs() < 0.001;
    assert!(near(of(Model::Llama2), 68.977e9), "{}", of(Model::Llama2));
    assert!(near(of(Model::Mixtral), 46.703e9), "{}", of(Model::Mixtral));
    let blocks = residual::blocks();
    assert_eq!(blocks.len() as u32, Model::ResNet50.depth());
    // Table 1 says 3.8 billion multiplications; 25.56 million parameters are those of the published weights.
    assert_eq!(blocks.iter().map(|block| block.parameters).sum::<u64>(), 25_557_032);
    let multiplications: u64 = blocks.iter().map(|block| block.multiplications).sum();
    assert_eq!(multiplications / 100_000_000, 38);
}

#[test]
fn a_layer_of_a_rank_has_its_share_of_what_the_paper_s_formula_gives() {
    let workload =
        Workload { micro_batch: 2, sequence: 2048, depth: 3, activation_bytes: 2, gradient_bytes: 4 };
    let layout = Layout { tensor: 8, data: 2, expert: 1, pipeline: 1 };
    let device = Device { flops: 1e14 };
    let (layers, activations) = Model::Gpt3.layers(&workload, &layout, device);
    // 24 B s h^2 (1 + s/6h), a forward pass of a layer (Narayanan et al. 2021).
    let (batch, sequence, hidden) = (2.0, 2048.0, 12_288.0);
    let operations = 24.0 * batch * sequence * hidden * hidden * (1.0 + sequence / (6.0 * hidden));
    let seconds = operations / 8.0 / 1e14;
    let found = (layers[1].forward[0] + layers[1].forward[1]).as_secs_f64();
    assert!((found / seconds - 1.0).abs() < 1e-6, "{found} and {seconds}");
    let back = (layers[1].backward[0] + layers[1].backward[1]).as_secs_f64();
    assert!((back / seconds / 2.0 - 1.0).abs() < 1e-6);
    assert_eq!(layers[1].gradients, 12 * 12_288 * 12_288 / 8 * 4);
    assert_eq!((activations, layers[1].tensor), (2 * 2048 * 12_288 * 2, 2 * 2048 * 12_288 * 2));
    // The matrix of tokens is the first layer's, and its product the last one's.
    assert_eq!(layers[0].gradients - layers[1].gradients, 50_257_u64 * 12_288 / 8 * 4);
    assert!(layers[2].forward[1] > layers[1].forward[1] && layers[2].gradients == layers[1].gradients);
    // A token of Mixtral meets two of eight experts: 12.9 billion parameters of 46.7 (Jiang et al. 2024).
    let mixtral = Model::Mixtral.transformer().expect("a transformer");
    let passive = u64::from(mixtral.layers) * 6 * mixtral.expert_parameters();
    assert_eq!((mixtral.parameters() - passive) / 100_000_000, 128);
}

#[test]
fn a_step_ends_and_every_rank_does_all_of_it() {
    let layouts = [
        Layout { tensor: 1, data: 4, expert: 1, pipeline: 1 },
        Layout { tensor: 2, data: 1, expert: 1, pipeline: 3 },
        Layout { tensor: 1, data: 1, expert: 1, pipeline: 4 },
        Layout { tensor: 2, data: 4, expert: 2, pipeline: 2 },
        Layout { tensor: 1, data: 3, expert: 3, pipeline: 5 },
    ];
    for layout in layouts {
        for are_sharded in [false, true] {
            for overlap in [false, true] {
                let mut training = training(layout, vec![layer(); 5]);
                training.gradients = Gradients { are_sharded, overlap, ..training.gradients };
                let graph = program(&training).build().expect("messages have their receives");
                assert_eq!(never_ends(&graph), None, "{layout:?}");
                assert!(graph.operations.len() as u64 <= most_operations(&training), "{layout:?}");
                // What ranks of all stages compute is each layer, forward and back, for each micro-batch.
                let time: u64 = graph
                    .operations
                    .iter()
                    .map(|operation| match operation {
                        Operation::Calc { time, .. } => time.as_ps(),
                        _ => 0,
                    })
                    .sum();
                let layers = Span::from_us(10) * 5 * 3 * u64::from(layout.stage_size());
                assert_eq!(time, (layers + Span::from_us(1) * layout.ranks()).as_ps());
            }
        }
    }
}

#[test]
fn gradients_are_summed_once_however_they_are_cut() {
    // A ring of n ranks sends 2(n-1)/n of all gradients from each rank, or as much by reduce-scatter and all-gather; that of
    // experts goes round those with the same ones.
    let bytes = 64_000;
    for (are_sharded, overlap, bucket) in
        [(false, true, 1), (false, false, 128_000), (true, true, 150_000), (true, false, 1)]
    {
        let layout = Layout { tensor: 1, data: 8, expert: 2, pipeline: 1 };
        let own = Layer { gradients: bytes, expert_gradients: 2 * bytes, tensor: 0, exchange: 0, ..layer() };
        let mut training = training(layout, vec![own; 4]);
        training.gradients = Gradients { are_sharded, bucket, overlap, ..training.gradients };
        let graph = program(&training).build().expect("a graph");
        for rank in 0..8 {
            let sent: u64 = graph.pairs_from(rank).map(|pair| graph.pairs[pair as usize].bytes).sum();
            assert_eq!(
                sent,
                4 * (2 * bytes / 8 * 7 + 2 * 2 * bytes / 4 * 3),
                "{are_sharded} {overlap} {bucket}"
            );
        }
    }
}
