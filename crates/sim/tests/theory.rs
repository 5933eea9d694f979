//! Queueing theory and control theory against the simulator: fixed seeds, and each bar says what the estimator
//! itself can be off.

use clearway_sim::record::Outcome;

use crate::experiment::{figure, floats, integers, link_value, mean, run, run_seeded, standard_error, texts};

/// Independent runs of each point.
const SEEDS: u64 = 20;

/// The seeds of point number `point`: no two points share one, so that they are independent. (With 300 seeds a point
/// and runs of 20 ms every point is within 2 standard errors, and the largest of these is 0.9 %.)
fn seeds(point: usize) -> std::ops::Range<u64> {
    let first = 1000 * (1 + point as u64);
    first..first + SEEDS
}

/// The points: utilisation, and for how many milliseconds flows arrive. The queue forgets in `1 / (1 - sqrt(rho))^2`
/// services of a microsecond.
const POINTS: [(f64, u32); 3] = [(0.5, 20), (0.8, 40), (0.9, 100)];

/// Poisson arrivals from four hosts whose links are 100 times as fast as the port at which they meet.
///
/// 1 byte takes 1 ns there, so a wait in nanoseconds is one in bytes.
fn poisson((rho, ms): (f64, u32), sizes: &str, mtu: u32, overhead: u32) -> String {
    let end = ms + 5;
    // Packets of 1000 B at the bottleneck bring their header and framing along.
    let load = rho / 400.0 * 1000.0 / f64::from(1000 + overhead);
    let (header, framing) = (overhead / 2, overhead - overhead / 2);
    format!(
        "format = 1\nname = 'poisson'\nduration = '{end}ms'\nmeasure_until = '{end}ms'\n[network]\ntopology = 'dumbbell'\nleft = 4\nright = 1\n\
         rate = '800Gbps'\nbottleneck = '8Gbps'\nmtu = '{mtu}B'\nframing = '{framing}B'\n\
         [switch.default]\nbuffer = '1GB'\n[transport.t]\nprotocol = 'none'\nheader = '{header}B'\nack = '1B'\n\
         [[traffic]]\npattern = 'poisson'\nfrom = '0..4'\nto = 4\nload = {load}\nsizes = '{sizes}'\nstop = '{ms}ms'"
    )
}

/// Mean wait in nanoseconds of a run's packets, each of which is a flow: what it took beyond what it takes alone.
/// As all has left when the run ends, the integral of the bytes waiting says the same (Little's law).
fn mean_wait(outcome: &Outcome, bytes: Option<f64>) -> f64 {
    let took = floats(outcome, "flows", "fct_us");
    let alone = floats(outcome, "flows", "ideal_us");
    assert!(took.iter().all(|fct| fct.is_finite()), "all flows complete");
    let waits: Vec<f64> = took.iter().zip(alone).map(|(took, alone)| (took - alone) * 1e3).collect();
    let wait = mean(&waits);
    if let Some(bytes) = bytes {
        let ns = (figure(outcome, "simulated_us") - figure(outcome, "measured_from_us")) * 1e3;
        let integral = link_value(outcome, "tor0>tor1", "queue_mean_bytes") * ns;
        let by_little = integral / bytes / waits.len() as f64;
        assert!((by_little / wait - 1.0).abs() < 0.005, "{by_little} by Little's law, {wait} by the flows");
    }
    wait
}

/// Asserts that the mean over the seeds is within three standard errors, and that these are small.
fn assert_mean(what: &str, values: &[f64], expected: f64, largest_error: f64) {
    let (mean, error) = (mean(values), standard_error(values));
    let off = (mean - expected) / error;
    println!("{what}: {mean:.2}, expected {expected:.2}, {off:+.2} standard errors of {error:.2}");
    assert!(off.abs() < 3.0, "{what}: {mean}, expected {expected}, {off} standard errors");
    assert!(error < largest_error * expected, "{what}: an error of {error} would not show much");
}

/// Pollaczek and Khinchine for one size: `rho / (2 (1 - rho))` services.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes 20 s in debug builds: make test-release runs it")]
fn md1_waits_are_as_long_as_they_should_be() {
    // Without header and framing, and once with both: they are part of the service.
    let points = POINTS.iter().map(|&point| (point, 0)).chain([(POINTS[1], 66)]);
    for (number, (point, overhead)) in points.enumerate() {
        let service = f64::from(1000 + overhead);
        let waits: Vec<f64> = seeds(number)
            .map(|seed| run_seeded(&poisson(point, "fixed:1000B", 1000, overhead), Some(seed)))
            .map(|outcome| mean_wait(&outcome, Some(service)))
            .collect();
        let expected = point.0 / (2.0 * (1.0 - point.0)) * service;
        assert_mean(&format!("M/D/1 rho {}, overhead {overhead}", point.0), &waits, expected, 0.02);
    }
}

/// The mean residual of an exponential size that was rounded up, hence geometric with p = 1 - exp(-1/mean), is
/// `E(S^2) / 2 E(S) = (2 - p) / 2p`: the mean before rounding, to a part in a million.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes 20 s in debug builds: make test-release runs it")]
fn mm1_waits_are_as_long_as_they_should_be() {
    for (number, point) in POINTS.into_iter().enumerate() {
        let waits: Vec<f64> = seeds(4 + number)
            .map(|seed| run_seeded(&poisson(point, "exponential:1kB", 60_000, 0), Some(seed)))
            .map(|outcome| mean_wait(&outcome, None))
            .collect();
        let expected = point.0 / (1.0 - point.0) * 1000.0;
        assert_mean(&format!("M/M/1 rho {}", point.0), &waits, expected, 0.03);
    }
}

/// N flows, each sending one 100 ns packet every N * 100 ns, of phases drawn uniformly. Measured over five whole
/// periods, from the first on, when the queue repeats itself.
fn paced(flows: u32) -> String {
    let period = flows * 100;
    let (warmup, duration) = (period + 1_000, 6 * period + 1_000);
    let mbps = 100_000.0 / f64::from(flows);
    format!(
        "format = 1\nname = 'paced'\nduration = '{duration}ns'\nwarmup = '{warmup}ns'\n[network]\n\
         topology = 'star'\nhosts = {}\nrate = '100Gbps'\ndelay = '100ns'\nmtu = '1250B'\nframing = '0B'\n\
         [transport.t]\nprotocol = 'none'\nheader = '0B'\nack = '1B'\nrate = '{mbps}Mbps'\n\
         [[traffic]]\npattern = 'incast'\nto = {flows}\nstart = '0us..{period}ns'",
        flows + 1
    )
}

/// Mean number of packets' worth of unfinished work, exactly: N times the mean of the one-sided statistic of
/// Kolmogorov and Smirnov (Birnbaum and Pyke 1958), `N! / (2 N^N) * sum(N^k / k!, k < N)`. It is
/// `sqrt(pi N / 8) - 1/6` to a part in a hundred from N = 100 on.
fn bridge_mean(flows: u32) -> f64 {
    let n = f64::from(flows);
    // The terms from k = N - 1 down, each times N! / N^N.
    let (mut term, mut sum) = (1.0, 0.0);
    for k in (0..flows).rev() {
        sum += term;
        term *= f64::from(k) / n;
    }
    sum / 2.0
}

/// The law of figure 4 is about the delay that a new packet finds: the unfinished work, which is what waits and what
/// is left of the frame in transmission, on average half of it. (Whole frames waiting are half a packet fewer on
/// average, frames at the port half a packet more: at N = 100 both would be off by more than 5 %.)
#[test]
#[cfg_attr(debug_assertions, ignore = "takes 8 s in debug builds: make test-release runs it")]
fn paced_flows_of_random_phase_make_a_queue_of_the_root_of_their_number() {
    for flows in [100, 400] {
        // The law's own spread is half of the mean, so 100 draws are good for 5 % of standard error only.
        let queues: Vec<f64> = (0..1000)
            .map(|seed| {
                let outcome = run_seeded(&paced(flows), Some(seed));
                let port = format!("tor0>h{flows}");
                let busy = link_value(&outcome, &port, "utilisation");
                link_value(&outcome, &port, "queue_mean_bytes") / 1250.0 + busy / 2.0
            })
            .collect();
        assert_mean(&format!("{flows} paced flows"), &queues, bridge_mean(flows), 0.02);
        let law = (std::f64::consts::PI * f64::from(flows) / 8.0).sqrt();
        let all = mean(&queues);
        assert!((all / law - 1.0).abs() < 0.05, "{flows} flows: {all}, sqrt(pi N / 8) = {law}");
        let (first, error) = (mean(&queues[..100]), standard_error(&queues[..100]));
        println!("100 draws: {first:.2} +- {error:.2}, the law {law:.2}");
        assert!((first - law).abs() < 3.0 * error, "{flows} flows, 100 draws: {first}, law {law}");
    }
}

/// Marking threshold in packets; the link between the switches is 200 us long there and back, at 1.2 us a packet.
const K: f64 = 200.0;

/// Long flows from hosts whose links are ten times as fast, started at once. The law takes the estimate of the marked
/// fraction to be constant, so the gain is small; by default it is 1/16, and the estimate is still low when the next
/// mark comes: the amplitude is then a fifth below the law.
fn synchronised(flows: u32, point: &str) -> String {
    let threshold = K * 1500.0;
    format!(
        "format = 1\nname = 'dctcp'\nduration = '500ms'\nwarmup = '100ms'\n[network]\ntopology = 'dumbbell'\n\
         left = {flows}\nright = 1\nrate = '100Gbps'\nbottleneck = '10Gbps'\nbottleneck_delay = '98us'\n\
         mtu = '1434B'\nframing = '0B'\n[switch.default]\necn = 'step'\necn_threshold = '{threshold}B'\necn_mark_at = '{point}'\n\
         [transport.t]\nprotocol = 'dctcp'\nheader = '66B'\ninitial_alpha = 0.1\ngain = 0.00390625\n\
         [[traffic]]\npattern = 'incast'\nto = {flows}\n[record]\nqueues = '1.2us'"
    )
}

/// Packets at the bottleneck over time, after the warm-up; the one in transmission is not in the samples.
fn bottleneck_queue(outcome: &Outcome) -> Vec<f64> {
    let (time, link) = (floats(outcome, "queues", "time_us"), texts(outcome, "queues", "link"));
    let bytes = integers(outcome, "queues", "queue_bytes");
    let here = |&at: &usize| time[at] > figure(outcome, "measured_from_us") && link[at] == "tor0>tor1";
    (0..time.len()).filter(here).map(|at| bytes[at] as f64 / 1500.0 + 1.0).collect()
}

/// Mean peak and mean trough of a sawtooth.
fn sawtooth(queue: &[f64]) -> (f64, f64) {
    let (least, most) = queue.iter().fold((f64::MAX, 0.0), |(a, b): (f64, f64), &q| (a.min(q), b.max(q)));
    let middle = f64::midpoint(least, most);
    let extreme = |tooth: &[f64]| {
        tooth
            .iter()
            .copied()
            .max_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()))
            .expect("a sample")
    };
    let teeth: Vec<f64> = queue.chunk_by(|a, b| (*a > middle) == (*b > middle)).map(extreme).collect();
    let (peaks, troughs): (Vec<f64>, Vec<f64>) = teeth.into_iter().partition(|&extreme| extreme > middle);
    assert!(peaks.len() > 20, "{} teeth are too few", peaks.len());
    (mean(&peaks), mean(&troughs))
}

/// Alizadeh et al. (SIGCOMM 2010, §3.3): the queue peaks at `K + N` packets and falls by
/// `sqrt(2 N (C * RTT + K)) / 2`.
///
/// That is the law of marks at the enqueue: a mark comes back when its packet has gone through the queue, so that all packets
/// of a whole window `W = (C * RTT + K) / N` of each flow are marked before it is cut, and
/// `alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2`, about `2 / W`. A mark at the dequeue comes back without that wait, after an
/// empty round trip, in which `C * RTT` packets leave: only this share of `C * RTT / (C * RTT + K)` of a window is marked, and
/// alpha squared is less by that factor. So what the queue falls by, `N W alpha / 2`, is `sqrt(2 N C * RTT) / 2`, whatever K is. The peak
/// stays: it is reached within a packet of each flow's window, as the windows grow by no more before the marks come back.
#[test]
fn synchronised_dctcp_flows_make_the_sawtooth_of_their_law() {
    for (flows, point) in [(1, "enqueue"), (2, "enqueue"), (1, "dequeue"), (2, "dequeue")] {
        let outcome = run(&synchronised(flows, point));
        let (peak, trough) = sawtooth(&bottleneck_queue(&outcome));
        let n = f64::from(flows);
        // Packets that fit into an empty round trip: 200 us of links and what frames take on them.
        let bdp = (200.0 + 1.2 + 2.0 * 0.12 + 0.07) / 1.2;
        let delay = if point == "enqueue" { bdp + K } else { bdp };
        let amplitude = 0.5 * (2.0 * n * delay).sqrt();
        println!("{flows} flows, {point}: {trough:.2} to {peak:.2}, law {:.2} below {:.0}", amplitude, K + n);
        assert!((peak / (K + n) - 1.0).abs() < 0.1, "{flows} flows: peak {peak}");
        assert!(
            ((peak - trough) / amplitude - 1.0).abs() < 0.1,
            "{flows}: {peak} - {trough}, law {amplitude}"
        );
        assert!(link_value(&outcome, "tor0>tor1", "utilisation") > 0.9999);
    }
}

/// Bytes and fraction of flows not larger, as in the file.
fn distribution(text: &str) -> Vec<(f64, f64)> {
    let number = |word: &str| word.parse::<f64>().expect("a number");
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split_whitespace().map(number).collect::<Vec<f64>>())
        .map(|words| (words[0], words[1] / 100.0))
        .collect()
}

/// First and second moment of a distribution that is linear between its points; none starts with a mass.
fn moments(points: &[(f64, f64)]) -> (f64, f64) {
    points.windows(2).fold((0.0, 0.0), |(first, second), ends| {
        let ((a, from), (b, to)) = (ends[0], ends[1]);
        let share = to - from;
        (first + share * (a + b) / 2.0, second + share * (a * a + a * b + b * b) / 3.0)
    })
}

/// Offered bytes, number of flows and the share of them up to each point of the file, through a whole run.
#[test]
fn the_load_generator_offers_what_the_distributions_say() {
    let files = [
        ("websearch", include_str!("../src/scenario/sizes/websearch.txt"), "60ms"),
        ("fb_hadoop", include_str!("../src/scenario/sizes/fb_hadoop.txt"), "10ms"),
        ("ali_storage", include_str!("../src/scenario/sizes/ali_storage.txt"), "4ms"),
        ("google_rpc", include_str!("../src/scenario/sizes/google_rpc.txt"), "1ms"),
    ];
    for (name, text, duration) in files {
        let outcome = run(&format!(
            "format = 1\nname = 'load'\nseed = 5\nduration = '{duration}'\n[network]\ntopology = 'star'\nhosts = 16\n\
             mtu = '60000B'\n[switch.default]\nbuffer = '1GB'\n[transport.t]\nprotocol = 'none'\n[[traffic]]\n\
             pattern = 'poisson'\nload = 0.4\nsizes = '{name}'"
        ));
        let bytes = integers(&outcome, "flows", "bytes");
        let points = distribution(text);
        let (first, second) = moments(&points);
        let seconds = figure(&outcome, "simulated_us") * 1e-6;
        let expected = 0.4 * 16.0 * 100e9 / 8.0 * seconds;
        let arrivals = expected / first;
        let off = |measured: f64, expected: f64, error: f64| (measured - expected) / error;
        let count = off(bytes.len() as f64, arrivals, arrivals.sqrt());
        let offered = off(bytes.iter().sum::<u64>() as f64, expected, (arrivals * second).sqrt());
        println!("{name}: {} flows, {count:+.2} and {offered:+.2} standard errors", bytes.len());
        assert!(count.abs() < 3.0 && offered.abs() < 3.0, "{name}: {count} {offered}");
        assert!(arrivals > 2000.0, "{name}: {arrivals} flows would not show much");
        // The largest of the distances at all points (Kolmogorov, Smirnov): 1.818 is as likely as 3 standard errors.
        let n = bytes.len() as f64;
        let share =
            |point: f64| bytes.iter().filter(|&&size| size as f64 <= point.round()).count() as f64 / n;
        // Sizes are whole bytes, so a point counts only where a byte is little.
        let distance = points
            .iter()
            .filter(|(size, _)| *size >= 1000.0)
            .map(|(size, part)| (share(*size) - part).abs())
            .fold(0.0, f64::max);
        assert!(distance * n.sqrt() < 1.818, "{name}: {distance}");
    }
}
