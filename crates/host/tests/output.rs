//! What the daemon says where it cannot say it, and of a transfer that failed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::UdpSocket;
use std::process::{Command, Output};
use std::time::Duration;

use rustix::process::{kill_process, Pid, Signal};
use serde_json::Value;

use crate::daemon::{clearwayd, json, send, with_keys, Receiver};
use crate::network;

/// Runs the daemon with its standard output redirected by these words of a shell.
fn redirected(words: &str, args: &[&str]) -> Output {
    let script = format!("exec \"$@\" {words}");
    let mut command = Command::new("bash");
    command
        .args(["-c", &script, "bash", env!("CARGO_BIN_EXE_clearwayd")])
        .args(with_keys(args))
        .output()
        .unwrap()
}

#[test]
fn a_standard_output_that_takes_nothing_is_an_error() {
    let receive = ["receive", "--listen", "127.0.0.1:0"];
    for args in [&["--help"][..], &["send", "--help"], &["--version"], &receive] {
        for (words, message) in [
            (">/dev/full", "standard output: No space left on device"),
            (">&-", "standard output: closed"),
            // Standard error alone is open.
            (">&- <&-", "standard output: closed"),
        ] {
            let output = redirected(words, args);
            let err = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{args:?} {words}: {err}");
            assert!(err.starts_with(&format!("error: {message}")), "{args:?} {words}: {err}");
        }
        if args != receive {
            let output = redirected(">/dev/null", args);
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        }
    }
    // There is nobody to tell, and the status says it.
    assert_eq!(redirected(">&- 2>&-", &["--help"]).status.code(), Some(2));
}

/// A reader that has seen enough is no error of anyone's.
#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    drop(reader);
    let output = clearwayd(&["--help"]).stdout(writer).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// A transfer that went well, whose report finds no room.
#[test]
fn a_report_that_cannot_be_written_is_said() {
    let receiver = Receiver::start(&["--once"]);
    let to = receiver.address.to_string();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let send = ["send", "--to", &to, "--operations", "1", "--size", "10B"];
    let sent = clearwayd(&send).stdout(full).output().unwrap();
    let err = String::from_utf8(sent.stderr).unwrap();
    assert_eq!(sent.status.code(), Some(2), "{err}");
    assert!(err.starts_with("error: standard output: No space left"), "{err}");
    assert_eq!(receiver.end().0, Some(0));
}

/// A transfer that never began has no figures but what the process itself has counted.
#[test]
fn a_transfer_that_never_began_has_no_figures() {
    let nobody = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    let empty = network::scratch("never-began");
    File::create(&empty).unwrap();
    for what in [&["--operations", "3", "--size", "1kB"][..], &["--file", empty.to_str().unwrap()]] {
        let sent = send(address, &[what, &["--idle-timeout", "120ms", "--json"]].concat());
        let told = json(&sent);
        assert_eq!((sent.status.code(), &told["ok"]), (Some(1), &false.into()));
        for (key, value) in told.as_object().unwrap() {
            let known = ["role", "peer", "flows", "cpu_us", "socket_drops", "unsendable"];
            let known = known.contains(&key.as_str()) || ["ignored", "ok", "error"].contains(&key.as_str());
            assert!(known != value.is_null(), "{key}: {value}");
        }
        let sent = send(address, &[what, &["--idle-timeout", "120ms"]].concat());
        assert_eq!((sent.status.code(), sent.stdout.as_slice()), (Some(1), &b""[..]));
    }
    std::fs::remove_file(empty).unwrap();
}

/// A transfer that stops half-way: its time and its goodput are those of what was acknowledged.
#[test]
fn a_transfer_that_failed_half_way_has_the_figures_of_that_half() {
    let out = network::scratch("half-way");
    let mut receiver = Receiver::start(&["--out", out.to_str().unwrap()]);
    let to = receiver.address.to_string();
    let send = ["send", "--to", &to, "--operations", "100000", "--size", "1MB", "--idle-timeout", "300ms"];
    let sender = clearwayd(&[&send[..], &["--json"]].concat()).spawn().unwrap();
    // More than a sender sends before its first acknowledgement.
    while network::written(receiver.child.id()) < 16_000_000 {
        std::thread::yield_now();
    }
    receiver.child.kill().unwrap();
    let sent = sender.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&sent.stdout).unwrap();
    assert_eq!(sent.status.code(), Some(1), "{told}");
    let (time, bytes) = (told["elapsed_us"].as_f64().unwrap(), told["payload_bytes"].as_f64().unwrap());
    let goodput = told["goodput_gbps"].as_f64().unwrap();
    assert!(time > 0.0 && bytes > 0.0 && (goodput / (bytes * 8.0 / time / 1e3) - 1.0).abs() < 1e-9, "{told}");
    assert_eq!((&told["loss_rate"], &told["completed"]), (&Value::Null, &0.into()), "{told}");
    for (partial, _) in network::partials(&out) {
        std::fs::remove_file(partial).unwrap();
    }
}

/// A pipe that is full and that nobody reads: the daemon waits, and a signal ends it all the same.
#[test]
#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
fn an_output_that_nobody_reads_does_not_keep_the_daemon() {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let mut writer = File::from(writer);
    let capacity = rustix::pipe::fcntl_getpipe_size(&writer).unwrap();
    writer.write_all(&vec![b'x'; capacity]).unwrap();
    let mut child = clearwayd(&["send", "--help"]).stdout(writer).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "there is no room");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(143), "{err}");
    assert!(err.starts_with("error: standard output: interrupted"), "{err}");
    drop(reader);
}
