//! The daemon as a person calls it, over loopback: what arrives, what is printed, and how it ends.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clearway_host::datagram::socket::Socket;
use rustix::process::{kill_process, Pid, Signal};

use crate::daemon::{clearwayd, generated_file, json, run, send, Receiver, PATIENT};
use crate::network::{self, has_begun, is_generated, scratch, Faults};
use crate::relay::{self, Counts, Relay};

/// An address of loopback where nobody of these tests listens but relays.
const ELSEWHERE: &str = "127.0.0.2";

/// Runs two relays, of a receiver's control channel and of its data port, at the same ports of another address, while `work` runs.
/// Returns what the relay of the data did.
fn relayed(control: SocketAddr, data_port: u16, faults: Faults, work: impl FnOnce(SocketAddr)) -> Counts {
    let at = |port| move || Socket::bind(SocketAddr::new(ELSEWHERE.parse().unwrap(), port)).unwrap();
    let data = Relay::new(SocketAddr::new(control.ip(), data_port), faults, 42);
    let (control, port) = (Relay::new(control, Faults::default(), 43), control.port());
    relay::relayed(data, at(data_port), |_| relay::relayed(control, at(port), work)).1
}

/// A UDP port that was free a moment ago.
fn free_port() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_file_arrives_byte_for_byte_and_both_ends_say_so() {
    let (from, to) = (generated_file("from", 3_000_001), scratch("to"));
    let receiver = Receiver::start(&["--out", to.to_str().unwrap(), "--once"]);
    let sent = send(receiver.address, &["--file", from.to_str().unwrap(), "--json"]);
    assert!(sent.status.success(), "{sent:?}");
    assert!(sent.stderr.is_empty(), "{sent:?}");
    let (code, out, err) = receiver.end();
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(is_generated(&to, 3_000_001));
    assert!(out.contains("goodput") && out.contains("3 MB"), "{out}");
    let json = json(&sent);
    for key in [
        "goodput_gbps",
        "loss_rate",
        "rtt_mean_us",
        "rtt_p50_us",
        "rtt_p99_us",
        "rtt_p999_us",
        "fabric_rtt_mean_us",
        "endpoint_delay_mean_us",
        "cwnd_mean_packets",
        "fcwnd_mean_packets",
        "ecwnd_mean_packets",
        "latency_p99_us",
    ] {
        assert!(json[key].is_number(), "{key}: {json}");
    }
    assert_eq!(json["payload_bytes"], 3_000_001);
    assert_eq!((&json["ok"], &json["flows"], &json["completed"]), (&true.into(), &1.into(), &1.into()));
    assert_eq!((&json["hops"], &json["role"]), (&0.into(), &"send".into()));
    let parts =
        json["fabric_rtt_mean_us"].as_f64().unwrap() + json["endpoint_delay_mean_us"].as_f64().unwrap();
    assert!((parts / json["rtt_mean_us"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{json}");
    for path in [from, to] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_file_arrives_over_a_relay_that_loses_repeats_and_reorders() {
    let (from, to) = (generated_file("rough-from", 2_000_000), scratch("rough-to"));
    let port = free_port();
    let data_port = port.to_string();
    let receiver = Receiver::start(&["--out", to.to_str().unwrap(), "--once", "--data-port", &data_port]);
    let faults = Faults { lost: 50, repeated: 50, delayed: 50, changed: 0 };
    let counts = relayed(receiver.address, port, faults, |relay| {
        let sent = send(relay, &["--file", from.to_str().unwrap(), "--min-rto", "1ms", "--json"]);
        assert!(sent.status.success(), "{sent:?}");
        assert!(json(&sent)["retransmissions"].as_u64().unwrap() > 0);
    });
    assert!(counts.lost > 10 && counts.repeated > 10 && counts.held > 10, "{counts:?}");
    assert_eq!(receiver.end().0, Some(0));
    assert!(is_generated(&to, 2_000_000));
    for path in [from, to] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn operations_are_counted_and_an_empty_file_is_one() {
    let receiver = Receiver::start(&["--idle-timeout", "2s"]);
    let operations = ["--operations", "200", "--size", "64kB", "--outstanding", "4", "--flows", "3"];
    let sent = send(receiver.address, &[&["--json"], &operations[..]].concat());
    let told = json(&sent);
    assert!(sent.status.success(), "{told}");
    assert_eq!((&told["operations"], &told["payload_bytes"]), (&200.into(), &12_800_000.into()));
    let empty = scratch("empty");
    std::fs::write(&empty, "").unwrap();
    let sent = send(receiver.address, &["--file", empty.to_str().unwrap()]);
    assert!(sent.status.success(), "{sent:?}");
    std::fs::remove_file(empty).unwrap();
}

/// Garbage as fast as one thread can send it, at both ports of a receiver: ten transfers arrive all the same.
#[test]
fn garbage_disturbs_nothing() {
    let port = free_port();
    let receiver = Receiver::start(&["--data-port", &port.to_string()]);
    let (address, over) = (receiver.address, Arc::new(AtomicBool::new(false)));
    let stop = over.clone();
    let noise = thread::spawn(move || {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut random = network::Random::new(3);
        let mut bytes: Vec<u8> = (0..1500).map(|_| random.next() as u8).collect();
        let (mut sent, ports) = (0_u64, [address.port(), port]);
        while !stop.load(Ordering::Relaxed) {
            let from = random.below(700) as usize;
            bytes[from] = random.next() as u8;
            let to = SocketAddr::new(address.ip(), ports[sent as usize % 2]);
            // A receiver between two transfers has no data port.
            let _ = socket.send_to(&bytes[from..from + 700], to);
            sent += 1;
        }
        sent
    });
    for _ in 0..10 {
        let sent = send(address, &["--operations", "50", "--size", "100kB"]);
        assert!(sent.status.success(), "{sent:?}");
    }
    over.store(true, Ordering::Relaxed);
    println!("{} datagrams of garbage", noise.join().unwrap());
}

#[test]
fn a_peer_that_is_not_there_or_stops_is_an_error() {
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    let sent = send(address, &["--operations", "1", "--size", "1kB", "--idle-timeout", "150ms"]);
    let err = String::from_utf8(sent.stderr).unwrap();
    assert_eq!(sent.status.code(), Some(1));
    assert!(err.contains("no answer") && err.contains("is it running there"), "{err}");

    // A sender whose data does not get through: whoever has the port of the data is somebody else.
    let port = free_port();
    let receiver = Receiver::start(&["--once", "--idle-timeout", "400ms", "--data-port", &port.to_string()]);
    let lost = Faults { lost: 1, ..Faults::default() };
    relayed(receiver.address, port, lost, |relay| {
        let sent = send(relay, &["--operations", "1", "--size", "1kB", "--idle-timeout", "60s"]);
        let err = String::from_utf8(sent.stderr).unwrap();
        assert!(sent.status.code() == Some(1) && err.contains("it saw no progress"), "{err}");
    });
    let (code, _, err) = receiver.end();
    assert_eq!(code, Some(1));
    assert!(err.contains("made no progress for 400ms"), "{err}");
}

#[test]
fn what_cannot_be_sent_at_all_is_said_at_once() {
    let sent = run(&["send", "--to", "255.255.255.255:9", "--operations", "1", "--size", "1MB"]);
    let err = String::from_utf8(sent.stderr).unwrap();
    assert!(sent.status.code() == Some(1) && err.contains("error: 255.255.255.255:9: "), "{err}");
}

#[test]
fn a_target_below_an_empty_paths_delay_is_warned_of() {
    let receiver = Receiver::start(&["--once"]);
    let low = ["--base-target", "1ns", "--fs-range", "2ns", "--min-cwnd", "1", "--endpoint-target", "20ms"];
    let to = receiver.address.to_string();
    let sent = run(&[&["send", "--to", &to, "--operations", "3000", "--size", "10kB"], &low[..]].concat());
    let err = String::from_utf8(sent.stderr).unwrap();
    assert_eq!(sent.status.code(), Some(0), "{err}");
    assert!(err.starts_with("warning: with one packet on the way, half of them took "), "{err}");
    assert!(
        err.contains("1ns + 2ns = 3ns") && err.contains("--base-target ") && err.contains(" would do"),
        "{err}"
    );
    assert_eq!(err.matches("warning").count(), 1);
}

#[test]
fn bad_input_is_said_with_what_was_expected_and_ends_with_2() {
    let to = ["send", "--to", "127.0.0.1:9"];
    let cases: &[(&[&str], &[&str])] = &[
        (&["sned"], &["'sned'", "a similar subcommand exists: 'send'"]),
        (
            &["send", "--operations", "1", "--size", "1kB"],
            &["required arguments were not provided", "--to <HOST:PORT>"],
        ),
        (
            &["send", "--to", "nowhere", "--operations", "1", "--size", "1kB"],
            &["--to", "'nowhere'", "10.0.0.2:4600"],
        ),
        (&to, &["required arguments were not provided", "<--file <FILE>|--operations <N>>"]),
        (&[&to[..], &["--operations", "1"]].concat(), &["required arguments were not provided", "--size"]),
        (&[&to[..], &["--file", "/does/not/exist"]].concat(), &["/does/not/exist", "No such file"]),
        (
            &[&to[..], &["--file", "/dev/null"]].concat(),
            &["/dev/null", "a device, not a file of a known length"],
        ),
        (
            &[&to[..], &["--file", "x", "--operations", "2"]].concat(),
            &["'--file <FILE>' cannot be used with '--operations <N>'"],
        ),
        (&[&to[..], &["--operations", "1", "--size", "64"]].concat(), &["--size", "64kB"]),
        (&[&to[..], &["--operations", "1", "--size", "1kB", "--base-target", "25"]].concat(), &["25us"]),
        (
            &[&to[..], &["--operations", "1", "--size", "1kB", "--base-taget", "25us"]].concat(),
            &["'--base-taget'", "a similar argument exists: '--base-target'"],
        ),
        (
            &[&to[..], &["--operations", "1", "--size", "1kB", "--max-cwnd", "2000", "--ai", "x"]].concat(),
            &["--max-cwnd, 2000, is above --reach, 1024", "--ai: found \"x\""],
        ),
        (
            &[
                &to[..],
                &["--file", "x", "--cwnd-below-one", "off", "--max-cwnd", "0.5", "--initial-cwnd", "0.5"],
            ]
            .concat(),
            &["--max-cwnd, 0.5, is below one packet"],
        ),
        (
            &[&to[..], &["--operations", "9000000", "--size", "1TB"]].concat(),
            &["packets in a flow where it has at most 4294967294", "raise --mtu"],
        ),
        (&["receive", "--listen", "127.0.0.1:0", "--out", "/dev/null"], &["/dev/null", "--discard"]),
        (
            &["receive", "--listen", "127.0.0.1:0", "--out", "x", "--discard"],
            &["'--out <FILE>' cannot be used with '--discard'"],
        ),
        (&["receive", "--listen", "192.0.2.1:9"], &["192.0.2.1:9", "an address of this host"]),
        (&["send", "--to", "127.0.0.1:0", "--file", "x"], &["--to", "a port from 1 to 65535"]),
        (
            &["send", "--to", "nobody.invalid:9", "--operations", "1", "--size", "1B"],
            &["--to: nobody.invalid:9: ", "is the name right?"],
        ),
        (
            &["receive", "--listen", "nobody.invalid:9"],
            &["--listen: nobody.invalid:9: ", "is the name right?"],
        ),
        // A file that is no plan.
        (&["fabric", "Cargo.toml"], &["error: Cargo.toml: ", "clearway testbed local --lossless writes it"]),
    ];
    for (args, parts) in cases {
        let output = run(args);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {err}");
        for part in *parts {
            assert!(err.starts_with("error: ") && err.contains(part), "{args:?}: {part}: {err}");
        }
    }
}

#[test]
fn help_names_every_option_with_its_default() {
    for (args, parts) in [
        (&["--help"][..], &["Usage: clearwayd", "send", "receive", "Exit status: 0 done"][..]),
        (
            &["send", "--help"],
            &[
                "--base-target <TIME>",
                "[default: 25us]",
                "--mtu <BYTES>",
                "[default: 1384B]",
                "--flow-scaling <on|off>",
                "128 and the signal's number",
            ],
        ),
        (&["receive", "-h"], &["--listen <HOST:PORT>", "-o, --out <FILE>", "[default: 5s]"]),
        (&["--version"], &["clearwayd 0."]),
    ] {
        let output = run(args);
        let out = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(parts.iter().all(|part| out.contains(part)), "{args:?}: {out}");
    }
}

/// Timeouts in a row leave the sender the smallest window, and what the receiver answers first tells of a round trip as
/// long as it was stopped. Were that the pace, the receiver would give up.
#[test]
#[expect(clippy::disallowed_methods, reason = "what stands still here is a process, in real time")]
fn a_transfer_survives_a_receiver_that_is_stopped_for_a_while() {
    let to = scratch("stopped");
    let mut receiver = Receiver::start(&["--out", to.to_str().unwrap(), "--once"]);
    let peer = receiver.address.to_string();
    let operations = ["send", "--to", &peer, "--operations", "200", "--size", "1MB"];
    let mut sender = clearwayd(&[&operations[..], &PATIENT].concat()).spawn().unwrap();
    while !has_begun(receiver.child.id()) {
        assert!(receiver.child.try_wait().unwrap().is_none(), "it cannot be done yet");
        thread::yield_now();
    }
    let id = Pid::from_child(&receiver.child);
    kill_process(id, Signal::STOP).unwrap();
    thread::sleep(Duration::from_millis(300));
    assert!(sender.try_wait().unwrap().is_none(), "it cannot be done yet");
    kill_process(id, Signal::CONT).unwrap();
    let output = sender.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let (code, _, err) = receiver.end();
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(is_generated(&to, 200_000_000));
    std::fs::remove_file(to).unwrap();
}

/// Two receivers cannot listen at one port: the second one names it.
#[test]
fn a_port_in_use_is_said() {
    let first = Receiver::start(&[]);
    let address = first.address.to_string();
    let second = run(&["receive", "--listen", &address]);
    let err = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(err.starts_with(&format!("error: {address}: Address already in use")), "{err}");
    assert!(err.contains("a port that is free"), "{err}");
}

/// A name may have several addresses, of IPv4 and IPv6, and the receiver may listen at any of them.
#[test]
fn a_name_is_tried_at_each_of_its_addresses() {
    let names: clearway_host::daemon::address::HostPort = "localhost:4600".parse().unwrap();
    for address in names.addresses().unwrap() {
        let listen = SocketAddr::new(address.ip(), 0).to_string();
        let receiver = Receiver::spawn(&mut clearwayd(&["receive", "--listen", &listen, "--once"]));
        let to = format!("localhost:{}", receiver.address.port());
        let sent =
            run(&[&["send", "--to", &to, "--operations", "10", "--size", "10kB", "--json"], &PATIENT[..]]
                .concat());
        assert!(sent.status.success(), "{sent:?}");
        assert_eq!(json(&sent)["peer"], receiver.address.to_string());
        assert_eq!(receiver.end().0, Some(0));
    }
}

/// A receiver that listens at all addresses answers from the one at which it was asked; the kernel would choose another.
#[test]
fn a_receiver_at_all_addresses_answers_from_the_one_that_was_asked() {
    for (listen, asked) in [("0.0.0.0:0", "127.0.0.2"), ("[::]:0", "127.0.0.3"), ("[::]:0", "::1")] {
        let any: SocketAddr = listen.parse().unwrap();
        if UdpSocket::bind(any).is_err() || UdpSocket::bind((asked, 0)).is_err() {
            println!("skipped: no {listen} or {asked} here");
            continue;
        }
        let receiver = Receiver::spawn(&mut clearwayd(&["receive", "--listen", listen, "--once"]));
        let to = SocketAddr::new(asked.parse().unwrap(), receiver.address.port());
        let sent = send(to, &["--operations", "10", "--size", "10kB"]);
        assert!(sent.status.success(), "{listen} {asked}: {sent:?}");
        assert_eq!(receiver.end().0, Some(0));
    }
}

/// A sender that is killed in the middle of a file: the receiver keeps nothing of it and serves the next one.
#[test]
fn a_sender_that_vanishes_leaves_nothing_and_the_next_is_served() {
    let out = scratch("vanished");
    let mut receiver = Receiver::start(&["--out", out.to_str().unwrap(), "--idle-timeout", "400ms"]);
    let to = receiver.address.to_string();
    let mut sender =
        clearwayd(&["send", "--to", &to, "--operations", "100000", "--size", "1MB"]).spawn().unwrap();
    while !has_begun(receiver.child.id()) {
        assert!(sender.try_wait().unwrap().is_none(), "it cannot be done yet");
        thread::yield_now();
    }
    sender.kill().unwrap();
    sender.wait().unwrap();
    let busy = send(receiver.address, &["--operations", "1", "--size", "5kB"]);
    let err = String::from_utf8(busy.stderr).unwrap();
    assert!(busy.status.code() == Some(1) && err.contains("it has another sender"), "{err}");
    while has_begun(receiver.child.id()) {
        assert!(receiver.child.try_wait().unwrap().is_none(), "it goes on");
        thread::yield_now();
    }
    let next = send(receiver.address, &["--operations", "1", "--size", "5kB"]);
    assert!(next.status.success(), "{next:?}");
    assert!(is_generated(&out, 5000));
    kill_process(Pid::from_child(&receiver.child), Signal::TERM).unwrap();
    let (code, report, err) = receiver.end();
    assert_eq!(code, Some(143));
    assert!(report.contains("(failed)") && err.contains("made no progress for 400ms"), "{report} {err}");
    std::fs::remove_file(out).unwrap();
}
