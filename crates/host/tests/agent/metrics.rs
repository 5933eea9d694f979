//! The metrics of an agent, by HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};

use super::Folder;

/// What a request is answered with.
fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn scrape(address: SocketAddr) -> String {
    let answer = ask(address, "GET /metrics HTTP/1.1\r\nHost: agent\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    body.to_string()
}

/// The value of a metric, with its labels.
fn value(page: &str, metric: &str) -> f64 {
    let line = page.lines().find(|line| line.rsplit_once(' ').is_some_and(|(name, _)| name == metric));
    line.unwrap_or_else(|| panic!("{metric}: {page}")).rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn metrics_tell_of_runs_flows_and_refusals() {
    let folder = Folder::new("metrics");
    let mut agent = folder.start(&["--metrics", "127.0.0.1:0"]);
    let address = agent.metrics();
    let idle = scrape(address);
    assert_eq!(value(&idle, "clearway_agent_state{state=\"idle\"}"), 1.0);
    assert_eq!(value(&idle, "clearway_agent_runs_total{outcome=\"completed\"}"), 0.0);
    for carrier in ["tcp:cubic", "quic:swift", "udp:swift"] {
        let done = folder.run(&agent, carrier, &[Some(300_000), Some(1), None]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
    }
    let refused = folder.run(&agent, "tcp:nosuch", &[Some(1)]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let page = scrape(address);
    for (metric, expected) in [
        ("runs_total{outcome=\"completed\"}", 3.0),
        ("runs_total{outcome=\"refused\"}", 1.0),
        ("control_channels_total{purpose=\"testbed\"}", 4.0),
        ("certificate_valid", 1.0),
        ("last_reload_successful", 1.0),
    ] {
        assert_eq!(value(&page, &format!("clearway_agent_{metric}")), expected, "{page}");
    }
    for carrier in ["tcp:cubic", "quic:swift", "udp:swift"] {
        let of = |name: &str| value(&page, &format!("clearway_agent_{name}{{carrier=\"{carrier}\"}}"));
        let ended = |outcome: &str| {
            let labels = format!("carrier=\"{carrier}\",outcome=\"{outcome}\"");
            value(&page, &format!("clearway_agent_flows_total{{{labels}}}"))
        };
        assert_eq!([ended("finished"), ended("failed"), ended("unfinished")], [2.0, 0.0, 1.0], "{carrier}");
        assert!(of("acked_bytes_total") > 300_001.0, "{page}");
        assert!(of("rtt_seconds_count") > 0.0 && of("rtt_seconds_sum") > 0.0, "{page}");
        assert_eq!(of("flows_active"), 0.0);
    }
    let expiry = value(&page, "clearway_agent_certificate_expiry_timestamp_seconds");
    assert!(expiry > value(&page, "process_start_time_seconds") + 86_000.0, "{page}");
    check_by_promtool(&page);
}

/// Prometheus' own check of names, help texts and types.
fn check_by_promtool(page: &str) {
    let mut command = Command::new("promtool");
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut promtool) = command.spawn() else {
        println!("skipped: promtool is not installed");
        return;
    };
    promtool.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let checked = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && said.is_empty(), "{said}\n{page}");
}

/// Clients that say nothing, say too much or are gone keep nobody else from the metrics, nor controllers from the agent.
#[test]
fn bad_clients_of_metrics_starve_nobody() {
    let folder = Folder::new("bad-clients");
    let mut agent = folder.start(&["--metrics", "127.0.0.1:0"]);
    let address = agent.metrics();
    let mut silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(address).unwrap()).collect();
    for (client, said) in silent.iter_mut().zip(["GET /met", "\u{0}\u{1}\r\n\r\n", "x", "GET"]) {
        client.write_all(said.as_bytes()).unwrap();
    }
    assert_eq!(folder.status(&agent)["state"], "idle");
    drop(silent.split_off(8));
    scrape(address);
    drop(silent);
    let long = format!("GET /metrics HTTP/1.1\r\nCookie: {}\r\n\r\n", "a".repeat(20_000));
    assert!(ask(address, &long).starts_with("HTTP/1.1 431 "));
    assert!(ask(address, "GET /etc/passwd HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(ask(address, "PUT /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    scrape(address);
}

#[test]
fn an_address_of_metrics_that_is_taken_is_told_of() {
    let folder = Folder::new("taken");
    let mut agent = folder.start(&["--metrics", "127.0.0.1:0"]);
    let address = agent.metrics().to_string();
    let refused = folder.command(&["--metrics", &address]).output().unwrap();
    let err = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && err.contains(&format!("metrics: {address}: ")), "{err}");
}
