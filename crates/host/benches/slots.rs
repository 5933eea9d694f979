//! Packets through two endpoints that send in slots, between two network namespaces, beside the same link without them: what
//! iperf3 carries and what a small exchange takes. Needs root, iproute2 and iperf3.
//!
//!     cargo bench -p clearway-host --bench slots [-- --seconds 2 --rounds 2 --queue 8]
//!
//! `--queue` is the time that a link takes for what may wait, in ms
//!
//! Both ends share the cores of this host, so only ratios of one round mean much.

#![allow(clippy::disallowed_methods, reason = "what is measured takes real time")]

use std::net::{SocketAddr, UdpSocket};
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clearway_host::datagram::clock::Clock;
use clearway_host::fastpass::slots::Settings;
use clearway_proto::fastpass::endpoint::Mode;
use clearway_proto::units::{Rate, Span};

#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../tests/slots/bed.rs"]
mod bed;

use bed::{reach, Done, Endpoint, Namespaces, INNER, OUTER};

/// Exchanges of a ping.
const PINGS: usize = 2000;

/// A process that is killed when it is no longer needed.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Gb/s, and retransmissions, of iperf3 to an address.
fn iperf(namespaces: &Namespaces, to: &str, seconds: u64, more: &[&str]) -> (f64, u64) {
    let server = namespaces.run(1, "iperf3", &["-s", "-1", "-B", to]).stdout(Stdio::null()).spawn();
    let server = Running(server.expect("iperf3"));
    std::thread::sleep(Duration::from_millis(300));
    let seconds = seconds.to_string();
    let args = [&["-c", to, "-t", &seconds, "-J"], more].concat();
    let output =
        namespaces.run(0, "timeout", &[&["30", "iperf3"], &args[..]].concat()).output().expect("iperf3");
    drop(server);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let bits = told["end"]["sum_received"]["bits_per_second"].as_f64().unwrap_or(0.0);
    (bits / 1e9, told["end"]["sum_sent"]["retransmits"].as_u64().unwrap_or(0))
}

/// Round trips of 64 bytes of UDP to an echo at an address: the median and the 99th percentile in us.
fn ping(namespaces: &Namespaces, to: &str) -> (f64, f64) {
    std::thread::scope(|scope| {
        let address = SocketAddr::new(to.parse().expect("an address"), 7007);
        scope.spawn(move || {
            namespaces.enter(1);
            let socket = UdpSocket::bind(address).expect("a socket");
            socket.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout");
            let mut bytes = [0; 64];
            while let Ok((length, from)) = socket.recv_from(&mut bytes) {
                let _ = socket.send_to(&bytes[..length], from);
            }
        });
        let thread = scope.spawn(move || {
            namespaces.enter(0);
            std::thread::sleep(Duration::from_millis(100));
            let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
            socket.connect(address).expect("a route");
            socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
            let mut took: Vec<_> = (0..PINGS)
                .filter_map(|_| {
                    let begins = Instant::now();
                    socket.send(&[0; 64]).ok()?;
                    socket.recv(&mut [0; 64]).ok()?;
                    Some(begins.elapsed().as_nanos() as f64 / 1e3)
                })
                .collect();
            took.sort_by(f64::total_cmp);
            let at = |part: f64| took.get((took.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN);
            (at(0.5), at(0.99))
        });
        thread.join().expect("a ping")
    })
}

/// One line with the counts and the lateness of an endpoint.
fn line(done: &Done) -> String {
    let us = |part| done.lateness.quantile(part).map_or(f64::NAN, |ps| ps as f64 / 1e6);
    let slots = (done.slots + done.missed).max(1);
    let more = &done.figures.more;
    format!(
        "late p50 {:.1} p99 {:.1} p99.9 {:.1} us, missed {:.3} % of {slots} slots, real time {}, dropped {}, {:.0} B a read, {:.0} B a write, {more:?}",
        us(0.5),
        us(0.99),
        us(0.999),
        100.0 * done.missed as f64 / slots as f64,
        done.real_time,
        done.figures.dropped_packets,
        (done.figures.scheduled_bytes + done.figures.unscheduled_bytes) as f64 / more["device_reads"].max(1) as f64,
        done.figures.received_bytes as f64 / more["device_writes"].max(1) as f64,
    )
}

fn measure(namespaces: &Namespaces, (seconds, queue): (u64, u64), mode: Mode, rate: Rate, slot: Span) {
    let name = format!("{mode:?}, {} Gb/s, slots of {} us", rate.as_bps() as f64 / 1e9, slot.as_us_f64());
    let clock = Arc::new(Clock::start());
    let endpoints = [0, 1].map(|own| {
        let settings = Settings { queue: Span::from_ms(queue), ..Settings::default() };
        Endpoint::with(namespaces, reach(own, slot, rate), settings, &clock, |_, _| true)
    });
    for endpoint in &endpoints {
        endpoint.mode(mode);
    }
    std::thread::sleep(Duration::from_millis(200));
    let (p50, p99) = ping(namespaces, INNER[1]);
    println!("{name}: round trip p50 {p50:.0} p99 {p99:.0} us");
    for (flows, more) in [(1, &[][..]), (8, &["-P", "8"])] {
        let (gbps, again) = iperf(namespaces, INNER[1], seconds, more);
        println!("{name}: {flows} flows {gbps:.2} Gb/s, {again} retransmissions");
    }
    for endpoint in endpoints {
        println!("  {}", line(&endpoint.end()));
    }
}

/// Lets the link's ends take super-packets, or not.
fn segmentation(namespaces: &Namespaces, on: &str) -> bool {
    (0..2).all(|of| {
        let args = ["-K", "veth0", "tso", on, "gso", on, "gro", on];
        namespaces.run(of, "ethtool", &args).output().is_ok_and(|output| output.status.success())
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)?.parse().ok()).unwrap_or(default)
    };
    let (seconds, rounds) = (number("--seconds", 2), number("--rounds", 1));
    let queue = number("--queue", 8);
    let namespaces = match Namespaces::make("bench") {
        Ok(namespaces) => namespaces,
        Err(reason) => return println!("skipped: {reason}"),
    };
    for _ in 0..rounds {
        let (gbps, _) = iperf(&namespaces, OUTER[1], seconds, &[]);
        let (p50, p99) = ping(&namespaces, OUTER[1]);
        println!("direct: {gbps:.2} Gb/s; round trip p50 {p50:.0} p99 {p99:.0} us");
        if segmentation(&namespaces, "off") {
            let (gbps, _) = iperf(&namespaces, OUTER[1], seconds, &[]);
            println!("direct without TSO: {gbps:.2} Gb/s");
            segmentation(&namespaces, "on");
        } else {
            println!("direct without TSO: not measured, as that needs ethtool");
        }
        let slot = Span::from_us(500);
        measure(&namespaces, (seconds, queue), Mode::Unscheduled, Rate::from_gbps(10), slot);
        measure(&namespaces, (seconds, queue), Mode::Scheduled, Rate::from_gbps(1), slot);
        measure(&namespaces, (seconds, queue), Mode::Scheduled, Rate::from_gbps(10), slot);
        measure(&namespaces, (seconds, queue), Mode::Scheduled, Rate::from_gbps(10), Span::from_us(100));
    }
}
