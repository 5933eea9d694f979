//! Hosts of several kinds in one network, and transports that read clocks.

use crate::experiment::{figure, floats, integers, run, run_on};

fn star(hosts: &str, transport: &str) -> String {
    format!(
        "format = 1\nname = 'kinds'\nduration = '2ms'\n[network]\ntopology = 'star'\nhosts = 4\nrate = '50Gbps'\n\
         delay = '2us'\nmtu = '4096B'\nframing = '0B'\n{hosts}\n[transport.t]\nheader = '64B'\nack = '84B'\n\
         {transport}\n[[traffic]]\npattern = 'closed_loop'\nfrom = '0..2'\nto = '2..4'\nbytes = '4096B'\n\
         outstanding = 1\n[record]\noperations = true\n"
    )
}

const SLOW: &str = "model = 'snap'\nreceive_packet = '300ns'\ncopy_rate = '128Gbps'\noperation = '250ns'\n\
                    receive_ack = '100ns'\ncompletion = '900ns'\ntransmit = '40ns'\njitter = '0us'\npause = '0us'";

/// Picoseconds there and back on the empty path, and what the ends of an operation cost a slow host.
const PATH: f64 = 9.358_08;
const INITIATING: f64 = 0.04 + 0.1 + 0.9;
const TAKING: f64 = 0.3 + 0.256 + 0.25;

#[test]
fn each_host_costs_what_its_kind_says() {
    let hosts = format!("[host.default]\nmodel = 'ideal'\n[host.slow]\nhosts = [1, 3]\n{SLOW}");
    let outcome = run(&star(&hosts, "protocol = 'none'\nwindow = 1"));
    let (from, to) =
        (integers(&outcome, "operations", "initiator"), integers(&outcome, "operations", "target"));
    let latency = floats(&outcome, "operations", "latency_us");
    let mut seen = 0;
    for ((from, to), latency) in from.iter().zip(to).zip(latency).filter(|(_, latency)| !latency.is_nan()) {
        let least = PATH + if *from == 1 { INITIATING } else { 0.0 } + if *to == 3 { TAKING } else { 0.0 };
        // Two operations at a time go to each target and come from each initiator: they may wait for one another.
        assert!(*latency > least - 1e-6 && *latency < least + 3.0, "{from} to {to}: {latency}, not {least}");
        seen += u32::from((latency - least).abs() < 1e-6);
    }
    assert!(seen > 100, "{seen} met nothing on their way");
    assert_eq!(integers(&outcome, "hosts", "host"), [1, 3]);
}

#[test]
fn hosts_named_one_by_one_are_as_hosts_by_default() {
    let all = run(&star(&format!("[host.default]\n{SLOW}"), "protocol = 'swift'"));
    let each = run(&star(
        &format!("[host.a]\nhosts = '0..2'\n{SLOW}\n[host.b]\nhosts = '2..4'\n{SLOW}"),
        "protocol = 'swift'",
    ));
    assert_eq!(all.digest, each.digest);
}

#[test]
fn clocks_that_are_wrong_by_a_constant_change_nothing() {
    let with = |clock: &str| {
        let text =
            star(&format!("[host.default]\n{SLOW}\n{clock}"), "protocol = 'swift'\nbase_target = '10us'");
        run(&text.replace("bytes = '4096B'\noutstanding = 1", "bytes = '1MB'\noutstanding = 4"))
    };
    let exact = with("");
    assert_eq!(exact.digest, with("timestamps = 'clock'").digest);
    assert_eq!(exact.digest, with("timestamps = 'clock'\nclock_offset = '1s'").digest);
    // Errors of 5 us in what it takes for a round trip of 11 us are felt, where the windows hang on it.
    assert_ne!(exact.digest, with("timestamps = 'clock'\nclock_jitter = '5us'").digest);
    assert_eq!(exact.digest, with("clock_jitter = '5us'").digest, "nothing reads the clocks");
}

#[test]
fn mixed_hosts_are_the_same_on_any_number_of_threads() {
    let hosts =
        format!("[host.slow]\nhosts = [1, 3]\n{SLOW}\ntimestamps = 'clock'\nclock_jitter = '100ns'\nclock_drift = '50ppm'");
    let text = star(&hosts, "protocol = 'swift'");
    let alone = run_on(&text, None, 1);
    assert!(figure(&alone, "operations") > 100.0);
    for threads in [2, 3, 7] {
        assert_eq!(alone.digest, run_on(&text, None, threads).digest);
    }
}
