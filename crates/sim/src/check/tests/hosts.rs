//! `[host.NAME]`: which hosts are of which kind, and their clocks.

use clearway_proto::units::{Bytes, Rate, Span};
use serde_json::json;

use super::fixture::{good, read, said, set, toml, with, SMALL};
use crate::check::memory;
use crate::model::{Clock, FlowOrder, HostModel, InterruptHost, PartsPerBillion, SnapHost, Timestamps};
use crate::simulation::footprint::FRAME;

/// The small scenario, with four hosts, and this about them.
fn hosts(tables: &str) -> String {
    format!("{SMALL}{tables}")
}

fn models(text: &str) -> Vec<(String, bool)> {
    let kinds = good(text).hosts;
    let describe = |host| {
        let kind = kinds.of(host);
        (kind.name.clone(), kind.model == HostModel::Ideal)
    };
    (0..4).map(describe).collect()
}

#[test]
fn hosts_are_of_the_kind_that_lists_them() {
    let text = hosts("[host.slow]\nhosts = [1, \"2..3\"]\nmodel = \"snap\"\n[host.other]\nhosts = 0\n");
    let expected = [("other", true), ("slow", false), ("slow", false), ("default", true)];
    assert_eq!(models(&text), expected.map(|(name, ideal)| (name.to_string(), ideal)));
    let grouped = with(&text, "[1, \"2..3\"]", "\"some\"");
    let grouped = with(&grouped, "[network]", "[groups]\nsome = [1, 2]\n[network]");
    assert_eq!(models(&grouped), models(&text));
}

#[test]
fn what_a_table_does_not_give_is_as_in_default() {
    let default = "[host.default]\nmodel = \"snap\"\njitter = \"1us\"\nclock_jitter = \"10ns\"\n";
    let text = hosts(&format!(
        "{default}[host.a]\nhosts = 0\ntransmit = \"5ns\"\n[host.b]\nhosts = 1\nmodel = \"ideal\"\nclock_drift = \"20ppm\"\n"
    ));
    let kinds = good(&text).hosts;
    let jittery = SnapHost { jitter: Span::from_us(1), ..SnapHost::default() };
    let clock = Clock { jitter: Span::from_ns(10), ..Clock::default() };
    assert_eq!((&kinds.of(3).model, kinds.of(3).clock), (&HostModel::Snap(jittery.clone()), clock));
    let slower = SnapHost { transmit: Span::from_ns(5), ..jittery };
    assert_eq!((&kinds.of(0).model, kinds.of(0).clock), (&HostModel::Snap(slower), clock));
    let drifting = Clock { drift: PartsPerBillion(20_000), ..clock };
    assert_eq!((&kinds.of(1).model, kinds.of(1).clock), (&HostModel::Ideal, drifting));
}

#[test]
fn hosts_that_wait_for_interrupts_are_read() {
    let keys = "wake_interval = \"68us\"\nwake_spread = 0.2\nsoftirq = \"0us\"\nsoftirq_mean = \"3us\"\n\
                stall_interval = \"20s\"\nstall = \"1ms\"\nsend_delay = \"8us\"\nsend_jitter = \"5us\"\nsend_rate = \"4.5Gbps\"\nsend_spread = 0.02\n\
                receive_queue = \"1MB\"\n";
    let default = format!("[host.default]\nmodel = \"interrupts\"\n{keys}");
    let kinds = good(&hosts(&format!("{default}[host.a]\nhosts = 0\nstall = \"0us\"\n"))).hosts;
    let expected = InterruptHost {
        wake_interval: Span::from_us(68),
        wake_spread: 0.2,
        softirq: Span::ZERO,
        softirq_mean: Span::from_us(3),
        stall_interval: Span::from_secs(20),
        stall: Span::from_ms(1),
        send_delay: Span::from_us(8),
        send_jitter: Span::from_us(5),
        send_rate: Some(Rate::from_bps(4_500_000_000)),
        send_spread: 0.02,
        receive_queue: Bytes::new(1_000_000),
    };
    assert_eq!(kinds.of(1).model, HostModel::Interrupts(expected.clone()));
    let calm = InterruptHost { stall: Span::ZERO, ..expected };
    assert_eq!(kinds.of(0).model, HostModel::Interrupts(calm));
    let bare = good(&hosts("[host.default]\nmodel = \"interrupts\"\n")).hosts;
    assert_eq!(bare.of(0).model, HostModel::Interrupts(InterruptHost::default()));
    let foreign = said(&hosts("[host.a]\nhosts = 0\nmodel = \"snap\"\nwake_interval = \"1us\"\n"));
    assert!(foreign.contains("applies only with model = \"interrupts\"; here"), "{foreign}");
}

#[test]
fn hosts_serve_their_flows_in_one_of_two_orders() {
    let kinds = good(&hosts(
        "[host.default]\nflow_order = \"fifo\"\n[host.a]\nhosts = 0\nflow_order = \"round_robin\"\n",
    ))
    .hosts;
    assert_eq!([0, 1].map(|host| kinds.of(host).flow_order), [FlowOrder::RoundRobin, FlowOrder::Fifo]);
    assert_eq!(good(SMALL).hosts.of(0).flow_order, FlowOrder::RoundRobin);
    let said = said(&hosts("[host.default]\nflow_order = \"lifo\"\n"));
    assert!(said.starts_with("x.toml:14: host.default.flow_order: found \"lifo\", expected"), "{said}");
}

#[test]
fn hosts_of_both_models_take_time_to_serve_reads() {
    let default = "[host.default]\noperation_service = \"90us\"\n";
    let others =
        "[host.a]\nhosts = 0\nmodel = \"snap\"\n[host.b]\nhosts = 1\nmodel = \"snap\"\noperation_service = \"10s\"\n";
    let kinds = good(&hosts(&format!("{default}{others}"))).hosts;
    let service = |host| kinds.of(host).operation_service;
    assert_eq!([0, 1, 2].map(service), [Span::from_us(90), Span::from_secs(10), Span::from_us(90)]);
    assert_eq!(good(SMALL).hosts.of(0).operation_service, Span::ZERO);
    let said = said(&hosts("[host.default]\noperation_service = \"11s\"\n"));
    let expected =
        "x.toml:14: host.default.operation_service: found \"11s\", expected a time from 0us to 10s";
    assert_eq!(said, expected);
}

#[test]
fn clocks_are_read() {
    let clock =
        "clock_offset = \"5us\"\nclock_drift = \"0.5ppm\"\nclock_jitter = \"1ns\"\ntimestamps = \"clock\"\n";
    let kinds = good(&hosts(&format!("[host.default]\n{clock}"))).hosts;
    let expected = Clock {
        offset: Span::from_us(5),
        drift: PartsPerBillion(500),
        jitter: Span::from_ns(1),
        timestamps: Timestamps::Clock,
    };
    assert_eq!(kinds.of(0).clock, expected);
    assert!(!expected.is_exact());
    assert!(good(SMALL).hosts.of(0).clock.is_exact());
    let said = said(&hosts("[host.default]\nclock_drift = \"20\"\n"));
    let expected = "found \"20\", expected a rate error with its unit, such as \"20ppm\"";
    assert!(said.ends_with(expected), "{said}");
}

#[test]
fn no_host_is_listed_twice() {
    let text = hosts("[host.a]\nhosts = \"1..3\"\n[host.b]\nhosts = [0, \"2..4\"]\n");
    assert_eq!(said(&text), "x.toml:16: host.b.hosts: host 2 is listed in [host.a] too");
    let nested = hosts("[host.b]\nhosts = 2\n[host.a]\nhosts = \"0..4\"\n");
    assert_eq!(said(&nested), "x.toml:16: host.a.hosts: host 2 is listed in [host.b] too");
}

#[test]
fn wrong_tables_are_named() {
    let expected =
        "x.toml:13: host.fast.hosts: missing, expected hosts, such as 7, \"0..50\", [1, 2, \"5..9\"] or a \
                    group's name";
    assert_eq!(said(&hosts("[host.fast]\nmodel = \"snap\"\n")), expected);
    let beyond = said(&hosts("[host.fast]\nhosts = \"2..5\"\n"));
    assert!(beyond.contains("host.fast.hosts: found 2..5, but hosts are numbered from 0 to 3"), "{beyond}");
    let misspelt = said(&hosts("[host.defualt]\nmodel = \"snap\"\n"));
    assert_eq!(misspelt, "x.toml:13: host.defualt: unknown key; did you mean default? (known keys: default)");
    let value = said(&hosts("[host]\nmodel = \"snap\"\n"));
    assert_eq!(value, "x.toml:14: host.model: found \"snap\", expected a table");
    let number = said(&hosts("[host.5]\nhosts = 0\n"));
    assert!(number.contains("host.5: found 5, expected a name of letters, digits"), "{number}");
    let idle = said(&hosts("[host.fast]\nhosts = 0\ncopy_rate = \"1Gbps\"\n"));
    assert!(idle.contains("host.fast.copy_rate: applies only with model = \"snap\"; here"), "{idle}");
    let own = said(&hosts("[host.default]\nhosts = 0\n"));
    assert!(own.contains("host.default.hosts: unknown key"), "{own}");
    // The receive queue of a kind is blamed where it stands.
    let snap = "[host.default]\nmodel = \"snap\"\nreceive_queue = \"1kB\"\n[host.a]\nhosts = 0\n";
    assert_eq!(
        said(&hosts(snap)),
        "x.toml:15: host.default.receive_queue: holds 1kB, less than one full frame, 4162B"
    );
    for model in ["snap", "interrupts"] {
        let small = format!("[host.a]\nhosts = 0\nmodel = \"{model}\"\nreceive_queue = \"1kB\"\n");
        assert!(said(&hosts(&small)).starts_with("x.toml:16: host.a.receive_queue: holds 1kB"));
    }
}

#[test]
fn tables_of_hosts_are_bounded() {
    let many = |count: usize| {
        let table = |i: usize| format!("[host.h{i}]\nhosts = {i}\n");
        let tables: String = (0..count).map(table).collect();
        format!("{}{tables}", with(SMALL, "hosts = 4", "hosts = 2000"))
    };
    assert_eq!(good(&many(1000)).hosts.kinds.len(), 1001);
    let said = said(&many(1001));
    assert!(said.ends_with("host.h1000: found 1001 tables beside default; the most is 1000"), "{said}");
}

#[test]
fn resolved_hosts_are_the_same_hosts() {
    let default = "[host.default]\nmodel = \"snap\"\nclock_drift = \"1ppb\"\n";
    let text = hosts(&format!("{default}[host.a]\nhosts = [3, 0]\nmodel = \"ideal\"\n"));
    let loaded = read(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.resolved["host"]["a"]["hosts"], json!([0, 3]));
    assert_eq!(loaded.resolved["host"]["a"]["clock_drift"], json!("1ppb"));
    assert_eq!(loaded.resolved["host"]["default"]["clock_offset"], json!("0us"));
    let again = read(&toml(&loaded.resolved)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, loaded);
    let overridden = set(&text, &[("host.a.model", "snap"), ("host.b.hosts", "1..3")]);
    let kinds = overridden.unwrap_or_else(|error| panic!("{error}")).scenario.hosts;
    assert_eq!((kinds.index_of(1), kinds.index_of(3)), (2, 1));
    assert_ne!(kinds.of(0).model, HostModel::Ideal);
}

/// 10,000 frames of 4162 B wait at each of two hosts more.
#[test]
fn only_hosts_that_have_a_receive_queue_need_room_for_it() {
    let needed = |model: &str, queue: &str| {
        let many = with(SMALL, "to = 0", "to = 0\nflows_per_pair = 100000");
        let table = format!("[host.a]\nhosts = \"1..3\"\nmodel = \"{model}\"\nreceive_queue = \"{queue}\"\n");
        good(&format!("{many}{table}"))
    };
    for model in ["snap", "interrupts"] {
        let (small, large) = (needed(model, "100MB"), needed(model, "141.62MB"));
        let more = memory::estimate_bytes(&large) - memory::estimate_bytes(&small);
        assert_eq!(more, 2 * 10_000 * FRAME as u64);
        let blamed = memory::check(&needed(model, "4GB"), 1_000_000).expect_err("more than a megabyte").0;
        assert_eq!(blamed, "traffic[0].flows_per_pair");
        assert_eq!(large.hosts.of(2).model.receive_queue(), Some(Bytes::new(141_620_000)));
    }
}
