//! Training jobs against closed forms on an idle network, and how their ranks spend their time.

use crate::experiment::{figure, floats, integers, run, run_on, texts, Outcome};

const FRAME: f64 = 4096.0 + 66.0;
const ACK: f64 = 66.0;

/// A star of 100 Gb/s and 1 us links; frames weigh 66 bytes more than they carry.
fn star(hosts: u32, keys: &str, rest: &str) -> String {
    format!(
        "format = 1\nname = 'training'\nduration = '1s'\nstop_when_complete = true\n[network]\ntopology = 'star'\nhosts = {hosts}\n\
         rate = '100Gbps'\ndelay = '1us'\n[switch.default]\nbuffer = '64MB'\n[transport.t]\nprotocol = 'none'\nheader = '28B'\n\
         [[job]]\nkind = 'training'\n{keys}\n{rest}\n"
    )
}

/// The transmission time in microseconds of a payload, where as much is received at the same time.
fn both_ways_us(payload: f64) -> f64 {
    payload / 4096.0 * (FRAME + ACK) * 8.0 / 1e5
}

/// From the last bit of a frame leaving its host to its arrival at another one.
fn alpha_us() -> f64 {
    2.0 + FRAME * 8.0 / 1e5
}

/// A ring's all-reduce of `bytes` bytes; half of it is a reduce-scatter or an all-gather.
fn ring_us(ranks: f64, bytes: f64) -> f64 {
    2.0 * (ranks - 1.0) * (alpha_us() + both_ways_us(bytes / ranks))
}

#[track_caller]
fn assert_close(found: f64, expected: f64, about: &str) {
    let off = found / expected - 1.0;
    assert!(off.abs() < 0.01, "{about}: found {found} us, expected {expected} us, {:.2} % off", off * 100.0);
}

fn job(outcome: &Outcome, column: &str) -> f64 {
    floats(outcome, "jobs", column)[0]
}

/// 256 frames for each of eight ranks.
const GRADIENTS: f64 = 8.0 * 256.0 * 4096.0;

/// Four layers of eight data-parallel ranks, each with gradients of its own bucket.
fn data_parallel(backward_us: f64, more: &str) -> Outcome {
    let keys = format!(
        "bucket = '{GRADIENTS}B'\niterations = 3\n{more}\n[[job.layer]]\ncount = 4\nforward = '100us'\nbackward = '{backward_us}us'\n\
         gradients = '{GRADIENTS}B'"
    );
    run(&star(8, &keys, ""))
}

#[test]
fn gradients_are_reduced_behind_the_backward_pass_or_after_it() {
    let ring = ring_us(8.0, GRADIENTS);
    // Buckets take longer than layers: from the first on, one follows the other.
    let outcome = data_parallel(200.0, "");
    assert!(ring > 200.0, "{ring}");
    assert_close(job(&outcome, "iteration_mean_us"), 400.0 + 200.0 + 4.0 * ring, "long buckets");
    assert_close(job(&outcome, "compute_mean_us"), 1200.0, "compute");
    assert_close(job(&outcome, "hidden_mean_us"), 600.0, "hidden");
    assert_close(job(&outcome, "exposed_mean_us"), 4.0 * ring - 600.0, "exposed");
    // Layers take longer than buckets: only the last one is exposed.
    let outcome = data_parallel(4000.0, "");
    assert!(ring < 4000.0);
    assert_close(job(&outcome, "iteration_mean_us"), 400.0 + 16_000.0 + ring, "short buckets");
    assert_close(job(&outcome, "hidden_mean_us"), 3.0 * ring, "hidden");
    assert_close(job(&outcome, "exposed_mean_us"), ring, "exposed");
    // Without overlap all are.
    let outcome = data_parallel(200.0, "overlap = false");
    assert_close(job(&outcome, "iteration_mean_us"), 400.0 + 800.0 + 4.0 * ring, "after");
    assert_eq!(job(&outcome, "hidden_mean_us"), 0.0);
    // What the collectives' table says of one is what it took, and no rank is late where all are alike.
    assert_eq!(texts(&outcome, "collectives", "name"), ["gradient all-reduce"]);
    assert_eq!(integers(&outcome, "collectives", "ended"), [3 * 4 * 8]);
    assert_eq!(integers(&outcome, "collectives", "steps"), [14]);
    assert_close(floats(&outcome, "collectives", "time_mean_us")[0], ring, "one");
    assert_close(floats(&outcome, "collectives", "algbw_gb_per_s")[0], GRADIENTS / ring / 1e3, "algbw");
    assert_close(
        floats(&outcome, "collectives", "busbw_gb_per_s")[0],
        GRADIENTS / ring / 1e3 * 1.75,
        "busbw",
    );
    assert!(floats(&outcome, "collectives", "straggler_late_us")[0] < 1.0);
}

#[test]
fn a_sharded_update_scatters_sums_and_gathers_parameters() {
    let ring = ring_us(8.0, GRADIENTS);
    let outcome = data_parallel(200.0, "gradients = 'sharded'\noverlap = false\nupdate = '70us'");
    // The four layers' parameters are gathered at once.
    let gather = ring_us(8.0, 4.0 * GRADIENTS) / 2.0;
    let expected = 400.0 + 800.0 + 2.0 * ring + 70.0 + gather;
    assert_close(job(&outcome, "iteration_mean_us"), expected, "sharded");
    assert_eq!(texts(&outcome, "collectives", "name"), ["gradient reduce-scatter", "parameter all-gather"]);
}

#[test]
fn a_pipeline_fills_and_empties_once_an_iteration() {
    // (m + p - 1)(f + b): Narayanan et al. 2021, section 2.2.1. Beside that activations go through the stages once forward and once
    // back, and each micro-batch behind the first waits in each stage for nothing but its turn.
    let keys = "pipeline_parallel = 4\nmicro_batches = 8\nactivations = '4096B'\niterations = 2\n[[job.layer]]\ncount = 8\n\
                forward = '1ms'\nbackward = '2ms'";
    let outcome = run(&star(4, keys, ""));
    assert_close(job(&outcome, "iteration_max_us"), 11.0 * 6000.0, "1F1B");
    assert_close(job(&outcome, "compute_mean_us"), 8.0 * 6000.0, "compute");
    let pipeline = floats(&outcome, "job_ranks", "exposed_pipeline_us");
    let exposed = floats(&outcome, "job_ranks", "exposed_us");
    assert_eq!(pipeline, exposed, "nothing else is exchanged");
    assert_close(exposed[0], 3.0 * 6000.0, "the first stage waits while the pipeline fills and empties");
}

#[test]
fn tensors_and_experts_are_waited_for() {
    let bytes = GRADIENTS / 2.0;
    let tensor = format!(
        "tensor_parallel = 4\nmicro_batches = 2\n[[job.layer]]\ncount = 3\nforward = '100us'\ntensor = '{bytes}B'"
    );
    let outcome = run(&star(4, &tensor, ""));
    let expected = 2.0 * 3.0 * (300.0 + 4.0 * ring_us(4.0, bytes));
    assert_close(job(&outcome, "iteration_mean_us"), expected, "tensor");
    assert_eq!(job(&outcome, "hidden_mean_us"), 0.0);
    // Eight ranks in two groups of four, two all-to-alls in each pass; a rank goes on when what it has sent is acknowledged.
    let experts = format!(
        "expert_parallel = 4\nwindow = 8\n[[job.layer]]\ncount = 3\nforward = '100us'\nexchange = '{bytes}B'"
    );
    let outcome = run(&star(8, &experts, ""));
    let exchange = alpha_us() + both_ways_us(bytes * 0.75) + 2.0 + 2.0 * ACK * 8.0 / 1e5;
    assert_close(job(&outcome, "iteration_mean_us"), 3.0 * (300.0 + 4.0 * exchange), "experts");
    assert_close(floats(&outcome, "job_ranks", "exposed_expert_us")[5], 12.0 * exchange, "exposed");
    assert_eq!(integers(&outcome, "collectives", "ended"), [12 * 8]);
}

/// A job that does everything, with all that it records.
fn everything(rest: &str) -> String {
    let keys = "tensor_parallel = 2\npipeline_parallel = 2\nexpert_parallel = 2\nmicro_batches = 4\nactivations = '100kB'\n\
                bucket = '200kB'\nupdate = '20us'\niterations = 3\n[[job.layer]]\ncount = 6\nforward = '40us'\ntensor = '80kB'\n\
                exchange = '60kB'\ngradients = '150kB'\nexpert_gradients = '300kB'";
    star(16, keys, rest)
}

/// For each rank in the timeline the time in which any of its operations of these kinds is under way.
fn covered_us(outcome: &Outcome, kinds: &[&str]) -> Vec<f64> {
    let ranks = integers(outcome, "timeline", "rank");
    let (starts, ends) = (floats(outcome, "timeline", "start_us"), floats(outcome, "timeline", "end_us"));
    let names = texts(outcome, "timeline", "kind");
    let mut covered = vec![0.0; 16];
    for (rank, covered) in (0..).zip(&mut covered) {
        let is_meant = |row: &usize| ranks[*row] == rank && kinds.contains(&names[*row]);
        let mut spans: Vec<_> =
            (0..ranks.len()).filter(is_meant).map(|row| (starts[row], ends[row])).collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut until = 0.0_f64;
        for (start, end) in spans {
            *covered += (end - start.max(until)).max(0.0);
            until = until.max(end);
        }
    }
    covered
}

#[test]
fn what_is_exposed_and_hidden_is_all_communication_and_with_computing_all_time() {
    let outcome = run(&everything("[record]\ntimeline = true\ntimeline_iterations = 3"));
    let of = |column: &str| floats(&outcome, "job_ranks", column).to_vec();
    let (total, compute, hidden, exposed) =
        (of("total_us"), of("compute_us"), of("hidden_us"), of("exposed_us"));
    let parts =
        ["pipeline", "tensor", "expert", "gradients", "other"].map(|part| of(&format!("exposed_{part}_us")));
    // The timeline has been recorded apart from these sums.
    let communication = covered_us(&outcome, &["send", "recv"]);
    let computing = covered_us(&outcome, &["calc"]);
    for rank in 0..16 {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-6 * b;
        assert!(close(3.0 * (exposed[rank] + hidden[rank]), communication[rank]), "rank {rank}");
        assert!(close(3.0 * compute[rank], computing[rank]), "rank {rank}");
        assert!(close(compute[rank] + exposed[rank], total[rank]), "rank {rank}");
        assert!(close(parts.iter().map(|part| part[rank]).sum(), exposed[rank]), "rank {rank}");
        assert!(parts[..4].iter().all(|part| part[rank] > 0.0), "rank {rank}");
    }
    // Means over ranks are those of iterations and of the job.
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    for (part, of_ranks) in [("compute", &compute), ("hidden", &hidden), ("exposed", &exposed)] {
        let expected = mean(of_ranks);
        let of_iterations = mean(floats(&outcome, "iterations", &format!("{part}_mean_us")));
        for found in [
            job(&outcome, &format!("{part}_mean_us")),
            of_iterations,
            figure(&outcome, &format!("{part}_mean_us")),
        ] {
            assert!((found - expected).abs() < 1e-6 * expected, "{part}: {found} and {expected}");
        }
        let longest = floats(&outcome, "iterations", &format!("{part}_max_us"));
        assert!(longest.iter().all(|longest| *longest >= expected * 0.99));
    }
}

#[test]
fn a_timeline_has_the_ranks_and_iterations_that_are_asked_for_and_changes_nothing() {
    let without = run(&everything(""));
    let asked = "[record]\ntimeline = true\ntimeline_iterations = 2\ntimeline_ranks = 5";
    let with = run(&everything(asked));
    assert_eq!(without.digest, with.digest);
    assert!(without.tables.iter().all(|table| table.name != "timeline"));
    let seen = |column: &str| {
        let mut seen = integers(&with, "timeline", column).to_vec();
        seen.sort_unstable();
        seen.dedup();
        seen
    };
    assert_eq!((seen("rank"), seen("iteration")), ((0..5).collect(), vec![0, 1]));
    let names = texts(&with, "timeline", "name");
    for name in ["forward", "backward", "update", "activations", "tensor all-reduce", "expert all-to-all"] {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn a_training_job_is_the_same_on_any_number_of_threads() {
    let text = everything(
        "[record]\ntimeline = true\nalone = true\n[[traffic]]\npattern = 'incast'\nfrom = [1, 2, 3]\nto = 9\nbytes = '3MB'",
    );
    let alone = run_on(&text, None, 1);
    for threads in [2, 3] {
        let together = run_on(&text, None, threads);
        assert_eq!(alone.digest, together.digest, "{threads} threads");
        assert_eq!(format!("{:?}", alone.tables), format!("{:?}", together.tables), "{threads} threads");
    }
}

#[test]
fn a_job_is_as_much_slower_as_its_neighbour_takes() {
    // Two rings over the same hosts: each has half of every link.
    let ring = "kind = 'collective'\ncollective = 'all_reduce'\nbytes = '32MB'\nchunks = 4\niterations = 4";
    let text = star(8, "REST", "[record]\nalone = true")
        .replace("kind = 'training'\nREST", &format!("{ring}\n[[job]]\n{ring}"));
    let outcome = run(&text);
    for slowdown in floats(&outcome, "jobs", "slowdown") {
        assert!((1.7..2.1).contains(slowdown), "{slowdown}");
    }
    let alone = run(&text.replacen(&format!("\n[[job]]\n{ring}"), "", 1));
    assert_eq!(floats(&alone, "jobs", "slowdown"), [1.0]);
    assert_eq!(floats(&alone, "jobs", "alone_us")[0], floats(&outcome, "jobs", "alone_us")[0]);
    // A fault is not there in the run of the job alone.
    let fault = "[[fault]]\nlink = 'h3-tor0'\nkind = 'down'\nat = '1ms'\nuntil = '9ms'";
    let faulty = run(&format!("{}\n{fault}", text.replacen(&format!("\n[[job]]\n{ring}"), "", 1)));
    assert_eq!(floats(&faulty, "jobs", "alone_us"), floats(&alone, "jobs", "alone_us"));
    assert!(floats(&faulty, "jobs", "slowdown")[0] > 1.2);
}

#[test]
fn published_models_train() {
    // A layer of Mixtral over 8 experts: what a rank computes is what its parameters say.
    let keys = "model = 'mixtral_8x7b'\ndepth = 1\nexpert_parallel = 8\nsequence = 128\npeak_tflops = 100.0\nutilisation = 0.5\n\
                bucket = '1GB'\ngradient_bytes = 1";
    let outcome = run(&star(8, keys, "").replace("'1s'", "'10s'"));
    let attention = 2.0 * (2.5 * 4096.0_f64.powi(2)) + 4.0 * 128.0 * 4096.0;
    let rest = 2.0 * (2.0 * 3.0 * 4096.0 * 14_336.0 + 8.0 * 4096.0) + 2.0 * 32_000.0 * 4096.0;
    let seconds = 3.0 * 128.0 * (attention + rest) / 50e12;
    assert_close(job(&outcome, "compute_mean_us"), seconds * 1e6, "compute");
    // Two 128-token halves go to two of eight experts: 2 bytes an element.
    let exchange = 128.0 * 2.0 * 4096.0 * 2.0;
    let row = texts(&outcome, "collectives", "name").iter().position(|name| *name == "expert all-to-all");
    assert_eq!(floats(&outcome, "collectives", "bytes_mean")[row.expect("an all-to-all")], exchange);
    for (model, more) in [
        ("gpt3_175b", "tensor_parallel = 4\npipeline_parallel = 2\ndepth = 2\nsequence = 64"),
        ("llama2_70b", "tensor_parallel = 8\ndepth = 1\nsequence = 64\ngradients = 'sharded'"),
        ("resnet50", "iterations = 2"),
    ] {
        let outcome = run(&star(8, &format!("model = '{model}'\n{more}"), "").replace("'1s'", "'10s'"));
        assert!(job(&outcome, "end_us") > 0.0, "{model}");
    }
}
