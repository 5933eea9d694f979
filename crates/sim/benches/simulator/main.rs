//! The simulator's workloads (docs/PERFORMANCE.md): CPU seconds, packet-hops a second, memory; and what a second thread
//! gains.
//!
//! `cargo bench -p clearway-sim [-- [--runs=N] NAME... | threads]`
//!
//! `cargo bench -p clearway-sim --bench simulator -- --instructions [NAME...]` counts instructions instead, under
//! valgrind.

mod instructions;

use std::ops::ControlFlow;
use std::path::Path;

use clearway_proto::baseline::dctcp::DctcpParams;
use clearway_proto::baseline::rdma::control::{Congestion, CongestionParams};
use clearway_proto::baseline::rdma::dcqcn::DcqcnSet;
use clearway_proto::baseline::rdma::hpcc::HpccParams;
use clearway_proto::baseline::rdma::roce::RoceParams;
use clearway_proto::swift::SwiftParams;
use clearway_proto::units::{Bytes, Rate, Span, Time};
use clearway_sim::check::load_text;
use clearway_sim::model::{
    Buffer, Ecn, HostKind, HostKinds, HostModel, MarkPoint, Network, Pair, Pattern, Pfc, Protocol, Record,
    Scenario, Spray, SwitchKind, SwitchKinds, Topology, TraceFlow, Traffic, Transport, Xoff,
};
use clearway_sim::record::Column;

/// Runs of each workload, if `--runs=N` does not say otherwise; the median is printed.
const RUNS: usize = 5;

fn main() {
    let runs = std::env::args().find_map(|arg| arg.strip_prefix("--runs=")?.parse().ok()).unwrap_or(RUNS);
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    if std::env::args().any(|arg| arg == "--instructions") {
        instructions::count_instructions(&wanted);
        return;
    }
    println!(
        "{:<14} {:>8} {:>8} {:>8} {:>6} {:>6} {:>9} {:>10} {:>11}  digest",
        "workload", "Mhops", "CPU s", "Mhops/s", "must", "htsim", "set-up s", "memory MB", "GB payload"
    );
    for (name, must, htsim, scenario) in workloads() {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            measure(name, [must, htsim], &scenario(), runs);
        }
    }
    for name in ["ft1024", "ft8192", "ft128-pfc"] {
        if wanted.is_empty() || wanted.iter().any(|w| w == "threads") {
            compare_threads(name, runs);
        }
    }
    println!("must and htsim: Mhops/s, htsim's on another machine of the same class; docs/PERFORMANCE.md");
}

/// The parameters with which this benchmark began: figures stay comparable when a default is calibrated anew.
fn swift_params() -> SwiftParams {
    SwiftParams { beta: 0.8, fs_range: Span::from_us(75), fs_min_cwnd: 0.015, ..SwiftParams::default() }
}

fn swift() -> Protocol {
    Protocol::Swift(swift_params())
}

fn dctcp() -> Protocol {
    Protocol::Dctcp(DctcpParams::default())
}

/// Name, what it must reach, what htsim reached with the same transport (both Mhops/s), and what makes the scenario: some take long.
type Workload = (&'static str, Option<f64>, Option<f64>, fn() -> Scenario);

fn workloads() -> Vec<Workload> {
    vec![
        ("star", Some(18.0), Some(4.0), || star(swift())),
        ("star-dctcp", Some(18.0), Some(6.1), || star(dctcp())),
        ("ft1024", Some(18.0), Some(0.52), || fat_tree(16, swift(), true)),
        ("ft128", None, None, || {
            let mut s = fat_tree(8, swift(), true);
            if let Pattern::Permutation { bytes, .. } = &mut s.traffic[0].pattern {
                *bytes = Some(Bytes::new(16_000_000));
            }
            s
        }),
        ("ft16", None, None, || {
            let mut s = fat_tree(4, swift(), true);
            if let Pattern::Permutation { bytes, .. } = &mut s.traffic[0].pattern {
                *bytes = Some(Bytes::new(64_000_000));
            }
            s
        }),
        ("ft1024-dctcp", Some(18.0), None, || fat_tree(16, dctcp(), true)),
        ("ft1024-sync", None, None, || fat_tree(16, swift(), false)),
        ("ft8192", Some(10.0), None, || fat_tree(32, swift(), true)),
        ("ft8192-dctcp", Some(10.0), None, || fat_tree(32, dctcp(), true)),
        ("ft8192-sync", None, None, || fat_tree(32, swift(), false)),
        ("star5000", None, None, || star5000()),
        ("star-pfc", None, None, || lossless(star(roce(Congestion::None)))),
        ("ft128-pfc", None, None, || lossless(rdma_fat_tree(8, roce(Congestion::None)))),
        ("ft128-dcqcn", None, None, || lossless(rdma_fat_tree(8, roce(Congestion::Dcqcn)))),
        ("ft1024-dcqcn", None, None, || lossless(rdma_fat_tree(16, roce(Congestion::Dcqcn)))),
        ("ft1024-pfc", None, None, || lossless(rdma_fat_tree(16, roce(Congestion::None)))),
        ("ft128-hpcc", None, None, || lossless(rdma_fat_tree(8, Protocol::Hpcc(HpccParams::default())))),
        // The same without flow control, whose share of the cost can so be told.
        ("ft128-roce", None, None, || rdma_fat_tree(8, roce(Congestion::None))),
        ("dc-pfc", None, None, || of_file(include_str!("dc-pfc.toml"))),
        ("dc-relay", None, None, || of_file(include_str!("dc-relay.toml"))),
        ("dc-irn", None, None, || of_file(include_str!("dc-irn.toml"))),
        ("ring1024", None, None, || ring()),
        ("ring1024-flows", None, None, || ring_as_flows()),
    ]
}

/// Returns what a scenario's file says.
fn of_file(text: &str) -> Scenario {
    load_text(text, "bench", Path::new(""), &[], None).expect("a scenario without mistakes").scenario
}

fn ring() -> Scenario {
    of_file(include_str!("ring1024.toml"))
}

/// The bytes of [`ring`] between the same hosts, as a flow from each to the next.
fn ring_as_flows() -> Scenario {
    let mut scenario = ring();
    let Pattern::Job(job) = &scenario.traffic[0].pattern else { panic!("a job") };
    let flow = |pair: &Pair| TraceFlow {
        start: Time::ZERO,
        from: job.hosts[pair.from as usize],
        to: job.hosts[pair.to as usize],
        bytes: Bytes::new(pair.bytes),
    };
    scenario.traffic[0].pattern = Pattern::Trace { flows: job.graph.pairs.iter().map(flow).collect() };
    scenario
}

/// 4000-byte frames with a 64-byte acknowledgement each; switches of 12.7 MB a port that mark above 65 packets.
fn scenario(
    topology: Topology,
    rate: Rate,
    protocol: Protocol,
    pattern: Pattern,
    duration: Span,
) -> Scenario {
    let kind = SwitchKind {
        buffer: Buffer::PerPort(Bytes::new(12_700_000)),
        ecn: Ecn::Step { threshold: Bytes::new(65 * 4000), at: MarkPoint::Dequeue },
        pfc: None,
    };
    Scenario {
        name: "bench".into(),
        seed: 1,
        duration,
        warmup: Span::ZERO,
        measure_until: duration,
        stop_when_complete: false,
        allow_loss: false,
        network: Network { topology, rate, delay: Span::from_us(1), mtu: 3936, framing: 0 },
        switches: SwitchKinds::alike(kind),
        hosts: HostKinds::alike(HostKind::default_of(HostModel::Ideal)),
        classes: Vec::new(),
        transports: vec![Transport {
            name: "bench".into(),
            protocol,
            header: 64,
            ack: 64,
            class: 0,
            ack_class: 0,
            spray: Spray::Flow,
            paths: None,
        }],
        traffic: vec![Traffic {
            pattern,
            transport: 0,
            start: (Time::ZERO, Time::ZERO),
            stagger: Span::ZERO,
            stop: None,
        }],
        probes: Vec::new(),
        arbiters: None,
        faults: Vec::new(),
        bypasses: Vec::new(),
        outages: Vec::new(),
        fault_tables: Vec::new(),
        routing: None,
        record: Record { fairness: Span::from_ms(10), ..Record::default() },
    }
}

fn incast(senders: u32, flows_per_pair: u32) -> (Topology, Pattern) {
    let from = (0..senders).collect();
    (
        Topology::Star { hosts: senders + 1 },
        Pattern::Incast { from, to: senders, flows_per_pair, bytes: None },
    )
}

fn star(protocol: Protocol) -> Scenario {
    let (topology, pattern) = incast(100, 1);
    scenario(topology, Rate::from_gbps(100), protocol, pattern, Span::from_ms(200))
}

fn star5000() -> Scenario {
    let (topology, pattern) = incast(50, 100);
    let swift = Protocol::Swift(SwiftParams { initial_cwnd: Some(0.05), ..swift_params() });
    let mut scenario = scenario(topology, Rate::from_gbps(50), swift, pattern, Span::from_ms(200));
    scenario.traffic[0].start = (Time::ZERO, Time::ZERO + Span::from_ms(4));
    scenario
}

/// One 2 MB flow a host; starts spread over 100 us, or all in one picosecond, where every event is a tie.
fn fat_tree(k: u32, protocol: Protocol, spread: bool) -> Scenario {
    let hosts = (0..k * k * k / 4).collect();
    let pattern = Pattern::Permutation { hosts, flows_per_pair: 1, bytes: Some(Bytes::new(2_000_000)) };
    let topology = Topology::FatTree { k };
    let mut scenario = scenario(topology, Rate::from_gbps(100), protocol, pattern, Span::from_ms(100));
    scenario.stop_when_complete = true;
    if spread {
        scenario.traffic[0].start.1 = Time::ZERO + Span::from_us(100);
    }
    scenario
}

fn roce(congestion: Congestion) -> Protocol {
    let congestion =
        CongestionParams { congestion, dcqcn: DcqcnSet::Mellanox.params(), ..CongestionParams::default() };
    Protocol::Roce(RoceParams { congestion, ..RoceParams::default() })
}

/// A fat tree with 8 MB a flow, or 2 MB where there are more than 128 hosts. Marking is by RED, at a queue of 100 to 400 kB.
fn rdma_fat_tree(k: u32, protocol: Protocol) -> Scenario {
    let marks = protocol.ecn_capable();
    let mut scenario = fat_tree(k, protocol, true);
    if let Pattern::Permutation { bytes, .. } = &mut scenario.traffic[0].pattern {
        *bytes = Some(Bytes::new(if k == 8 { 8_000_000 } else { 2_000_000 }));
    }
    let buffer = Buffer::PerPort(Bytes::new(12_700_000));
    let ecn = if marks {
        Ecn::Red { min: Bytes::new(100_000), max: Bytes::new(400_000), pmax: 0.2, at: MarkPoint::Dequeue }
    } else {
        Ecn::Off
    };
    scenario.switches = SwitchKinds::alike(SwitchKind { buffer, ecn, pfc: None });
    scenario
}

/// Returns the scenario with flow control at every switch, as in Swing's experiments: each link is paused above 288 kB.
fn lossless(mut scenario: Scenario) -> Scenario {
    let pfc = Pfc {
        xoff: Xoff::Static(Bytes::new(288_000)),
        hysteresis: Bytes::new(8_000),
        headroom: None,
        quanta: u16::MAX,
        response: Span::ZERO,
        replaces_unsent: false,
        relay: None,
    };
    scenario.switches = SwitchKinds::alike(SwitchKind { pfc: Some(pfc), ..scenario.switches.tor.clone() });
    scenario
}

fn measure(name: &str, yardsticks: [Option<f64>; 2], scenario: &Scenario, count: usize) {
    let mut runs: Vec<(f64, f64)> = Vec::new();
    let mut last = None;
    for _ in 0..count {
        let before = cpu_seconds();
        let mut first_look = None;
        let outcome = clearway_sim::run(scenario, &mut |_| {
            first_look.get_or_insert_with(cpu_seconds);
            ControlFlow::Continue(())
        })
        .expect("nothing interrupts it");
        runs.push((cpu_seconds() - before, first_look.unwrap_or(before) - before));
        last = Some(outcome);
    }
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (seconds, set_up) = runs[count / 2];
    let outcome = last.expect("there was a run");
    let hops = outcome.packet_hops as f64 / 1e6;
    let payload: u64 = outcome.tables[0].columns.iter().find(|(name, _)| *name == "delivered_bytes").map_or(
        0,
        |(_, column)| match column {
            Column::Integers(values) => values.iter().sum(),
            _ => 0,
        },
    );
    let [must, htsim] = yardsticks.map(|figure| figure.map_or("-".into(), |figure| figure.to_string()));
    println!(
        "{name:<14} {hops:>8.2} {seconds:>8.3} {:>8.1} {must:>6} {htsim:>6} {set_up:>9.3} {:>10.1} {:>11.2}  {}",
        hops / seconds,
        peak_memory_mb(),
        payload as f64 / 1e9,
        outcome.digest
    );
}

/// Wall time of a workload on one thread and on two, in turn, so that what else the machine does weighs on both.
fn compare_threads(wanted: &str, count: usize) {
    let (name, _, _, scenario) =
        workloads().into_iter().find(|(name, ..)| *name == wanted).expect("a workload of this name");
    let scenario = scenario();
    let mut ratios = Vec::new();
    let mut walls = [Vec::new(), Vec::new()];
    for _ in 0..count {
        let [one, two] = [1, 2].map(|threads| {
            let started = wall_clock();
            let outcome = clearway_sim::run_on(&scenario, threads, &mut |_| ControlFlow::Continue(()));
            let digest = outcome.expect("nothing interrupts it").digest;
            (started.elapsed().as_secs_f64(), digest)
        });
        assert_eq!(one.1, two.1, "the number of threads changes nothing");
        ratios.push(one.0 / two.0);
        walls[0].push(one.0);
        walls[1].push(two.0);
    }
    for all in walls.iter_mut().chain([&mut ratios]) {
        all.sort_by(f64::total_cmp);
    }
    let [one, two] = walls.map(|all| all[count / 2]);
    println!(
        "{name:<14} on one thread {one:.3} s, on two {two:.3} s: {:.2} times as fast",
        ratios[count / 2]
    );
}

/// Benchmarks may look at the clock.
#[allow(clippy::disallowed_methods)]
fn wall_clock() -> std::time::Instant {
    std::time::Instant::now()
}

/// CPU time of this process, in seconds; nearly all of it in user mode.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

/// Largest resident set of this process so far.
fn peak_memory_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN)
        / 1024.0
}
