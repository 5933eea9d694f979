//! Instructions, mispredicted branches and cache misses a packet-hop, which are the same on every machine.

use std::ops::ControlFlow;

use super::workloads;

/// The workloads that are counted if none is named.
const COUNTED: [&str; 8] =
    ["ft1024", "star", "star-pfc", "ft128-pfc", "ft128-dcqcn", "dc-pfc", "dc-relay", "dc-irn"];
/// The caches that cachegrind is to assume, so that its figures do not depend on the machine: bytes, ways, bytes of a
/// line.
const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=49152,12,64", "--LL=2097152,16,64"];

/// Prints what a packet-hop costs in figures that are the same on every machine.
pub fn count_instructions(wanted: &[String]) {
    println!("per packet-hop, set-up and tables included; caches of 48 kB and 2 MB without prefetching");
    println!(
        "{:<14} {:>12} {:>12} {:>14} {:>14}",
        "workload", "instructions", "mispredicted", "misses of 48 kB", "misses of 2 MB"
    );
    for (name, _, _, scenario) in workloads() {
        let counted =
            if wanted.is_empty() { COUNTED.contains(&name) } else { wanted.iter().any(|w| w == name) };
        if counted {
            let outcome = clearway_sim::run(&scenario(), &mut |_| ControlFlow::Continue(()));
            let hops = outcome.expect("nothing interrupts it").packet_hops as f64;
            let report = cachegrind(name);
            let figure = |label| count(&report, label) / hops;
            println!(
                "{name:<14} {:>12.1} {:>12.2} {:>14.2} {:>14.2}",
                figure("I refs:"),
                figure("Mispredicts:"),
                figure("D1 misses:"),
                figure("LLd misses:")
            );
        }
    }
}

/// Returns what cachegrind says at the end of one run of a workload by this very program.
fn cachegrind(workload: &str) -> String {
    let program = std::env::current_exe().expect("this program has a path");
    let output = std::process::Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes", "--cachegrind-out-file=/dev/null"])
        .args(CACHES)
        .arg(program)
        .args(["--runs=1", workload])
        .output();
    let output = output.unwrap_or_else(|error| {
        fail(&format!(
            "cannot start valgrind ({error}): install it (Debian and Ubuntu: apt-get install valgrind)"
        ))
    });
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        fail(&format!("valgrind failed:\n{report}"));
    }
    report
}

/// The first number of the line of a report that begins with these words.
fn count(report: &str, label: &str) -> f64 {
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let rest = words.join(" ");
        rest.strip_prefix(label)?.split_whitespace().next()?.replace(',', "").parse().ok()
    };
    report
        .lines()
        .find_map(of_line)
        .unwrap_or_else(|| fail(&format!("cachegrind said nothing of {label:?}:\n{report}")))
}

fn fail(message: &str) -> ! {
    eprintln!("bench: {message}");
    std::process::exit(1);
}
