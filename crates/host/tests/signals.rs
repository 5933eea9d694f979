//! Signals to the daemon, at many instants: it ends with the documented status and leaves no half-written file.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::process::{kill_process, Pid, Signal};

use crate::daemon::{clearwayd, json, with_keys, Receiver, PATIENT};
use crate::network::{has_begun, is_generated, partials, scratch, Random};

const SIGNALS: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::HUP];
/// The number of instants at which each end is interrupted.
const INSTANTS: u64 = 50;
/// The latest instant, in microseconds after the transfer's start.
const LATEST_US: u64 = 150_000;
/// A size whose transfer ends at about the latest instant: some transfers are interrupted, others are not.
const BYTES: u64 = 30_000_000;

fn interrupt(child: &Child, signal: Signal) {
    // It may have ended, and then there is nobody to tell; who it was is kept until it is waited for.
    let _ = kill_process(Pid::from_child(child), signal);
}

#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
fn sleep(random: &mut Random, latest_us: u64) {
    thread::sleep(Duration::from_micros(random.below(latest_us)));
}

/// The end of a process that got a signal: it was done already, or it ended as shells say of a signal. Before its first
/// instruction the signal itself ends it.
fn assert_documented(status: ExitStatus, signal: Signal, err: &str) -> bool {
    let number = signal.as_raw();
    let documented =
        [Some(0), Some(128 + number)].contains(&status.code()) || status.signal() == Some(number);
    assert!(documented, "{status} after {signal:?}: {err}");
    status.success()
}

#[test]
#[ignore = "takes 13 s: make test-slow runs it"]
fn a_receiver_that_is_interrupted_at_any_instant_leaves_the_old_file_or_the_new_one() {
    let (mut random, mut whole, mut early) = (Random::new(7), 0, 0);
    for instant in 0..INSTANTS {
        let signal = SIGNALS[instant as usize % SIGNALS.len()];
        let out = scratch(&format!("instant-{instant}"));
        std::fs::write(&out, "old").unwrap();
        let mut receiver = Receiver::start(&["--once", "--out", out.to_str().unwrap()]);
        let (to, size) = (receiver.address.to_string(), format!("{BYTES}B"));
        let send = ["send", "--to", &to, "--operations", "1", "--size", &size, "--idle-timeout", "2s"];
        let sender = clearwayd(&[&send[..], &PATIENT].concat()).spawn().unwrap();
        sleep(&mut random, LATEST_US);
        interrupt(&receiver.child, signal);
        let status = receiver.child.wait().unwrap();
        let mut err = String::new();
        receiver.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        if assert_documented(status, signal, &err) {
            assert!(is_generated(&out, BYTES));
            whole += 1;
        } else {
            assert_eq!(std::fs::read_to_string(&out).unwrap(), "old", "{err}");
            assert!(err.starts_with("error: interrupted"), "{err}");
            early += 1;
        }
        assert_eq!(partials(&out), []);
        let sent = sender.wait_with_output().unwrap();
        assert!(matches!(sent.status.code(), Some(0 | 1)), "{sent:?}");
        std::fs::remove_file(out).unwrap();
    }
    println!("{whole} whole, {early} interrupted");
    assert!(early > 0);
}

#[test]
#[ignore = "takes 11 s: make test-slow runs it"]
fn a_sender_that_is_interrupted_at_any_instant_leaves_the_receiver_nothing_half_done() {
    let (mut random, mut whole) = (Random::new(8), 0);
    let out = scratch("interrupted-sends");
    let receiver = Receiver::start(&["--out", out.to_str().unwrap(), "--idle-timeout", "60s"]);
    let to = receiver.address.to_string();
    for instant in 0..INSTANTS {
        let signal = SIGNALS[instant as usize % SIGNALS.len()];
        let size = format!("{BYTES}B");
        let send = ["send", "--to", &to, "--operations", "1", "--size", &size, "--json"];
        let child = clearwayd(&[&send[..], &PATIENT].concat()).spawn().unwrap();
        sleep(&mut random, LATEST_US);
        interrupt(&child, signal);
        let sent = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&sent.stderr);
        // The receiver heard at once that the sender has gone, or it would turn the next one away.
        assert!(!err.contains("another sender"), "{err}");
        if assert_documented(sent.status, signal, &err) {
            whole += 1;
        } else if sent.status.code().is_some() && !sent.stdout.is_empty() {
            let told = json(&sent);
            assert_eq!(told["ok"], false, "{told}");
            assert!(told["error"].as_str().unwrap().starts_with("interrupted: "), "{told}");
        }
    }
    println!("{whole} whole");
    interrupt(&receiver.child, Signal::TERM);
    let (code, _, err) = receiver.end();
    assert_eq!(code, Some(128 + Signal::TERM.as_raw()), "{err}");
    assert_eq!(partials(&out), []);
    assert_eq!(out.exists(), whole > 0);
    if whole > 0 {
        assert!(is_generated(&out, BYTES));
        std::fs::remove_file(out).unwrap();
    }
}

/// Both ends while a transfer is under way: they say what was done by then, with the status that shells give a signal.
#[test]
fn an_interrupted_end_says_how_far_it_came() {
    for signal in SIGNALS {
        let to = scratch(&format!("interrupted-{}", signal.as_raw()));
        let mut receiver = Receiver::start(&["--out", to.to_str().unwrap()]);
        let peer = receiver.address.to_string();
        let mut sender =
            clearwayd(&["send", "--to", &peer, "--operations", "100000", "--size", "1MB"]).spawn().unwrap();
        while !has_begun(receiver.child.id()) {
            assert!(sender.try_wait().unwrap().is_none(), "it cannot be done yet");
            thread::yield_now();
        }
        // Both are told before either can tell the other; a second signal changes nothing.
        for signal in [Signal::STOP, signal, Signal::CONT, signal] {
            interrupt(&sender, signal);
            interrupt(&receiver.child, signal);
        }
        let status = Some(128 + signal.as_raw());
        let sent = sender.wait_with_output().unwrap();
        let said = String::from_utf8(sent.stderr).unwrap();
        assert_eq!(sent.status.code(), status, "{said}");
        assert!(
            said.starts_with("error: interrupted: ") && said.contains(" of 100000000000 bytes are"),
            "{said}"
        );
        let mut said = String::new();
        receiver.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(receiver.child.wait().unwrap().code(), status, "{said}");
        assert!(said.starts_with("error: interrupted") && said.contains("nothing is kept"), "{said}");
        assert!(partials(&to).is_empty() && !to.exists(), "nothing is kept");
    }
}

/// An interrupted end tells its peer, which does not wait for its idle timeout.
#[test]
fn the_peer_of_an_interrupted_end_hears_of_it() {
    let patience = ["--idle-timeout", "60s"];
    for sender_stops in [true, false] {
        let out = scratch(&format!("heard-{sender_stops}"));
        let receiver =
            Receiver::start(&[&["--once", "--out", out.to_str().unwrap()], &patience[..]].concat());
        let to = receiver.address.to_string();
        let send = ["send", "--to", &to, "--operations", "100000", "--size", "1MB"];
        let sender = clearwayd(&[&send[..], &patience, &PATIENT].concat()).spawn().unwrap();
        while !has_begun(receiver.child.id()) {
            thread::yield_now();
        }
        interrupt(if sender_stops { &sender } else { &receiver.child }, Signal::INT);
        let sent = sender.wait_with_output().unwrap();
        let (code, _, err) = receiver.end();
        let said = String::from_utf8(sent.stderr).unwrap();
        let (codes, hears) = if sender_stops { ([130, 1], err) } else { ([1, 130], said) };
        assert_eq!([sent.status.code(), code], codes.map(Some));
        assert!(hears.contains("ended the transfer: it was interrupted"), "{hears}");
        assert!(partials(&out).is_empty() && !out.exists());
    }
}

/// `nohup` makes a process ignore SIGHUP, and it goes on doing so.
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let daemon = env!("CARGO_BIN_EXE_clearwayd");
    let mut command = Command::new("env");
    command.args(["--default-signal=TERM", "--ignore-signal=HUP", daemon]);
    let receiver =
        Receiver::spawn(command.args(with_keys(&["receive", "--listen", "127.0.0.1:0", "--once"])));
    interrupt(&receiver.child, Signal::HUP);
    let to = receiver.address.to_string();
    let sent = clearwayd(&["send", "--to", &to, "--operations", "10", "--size", "10kB"]).output().unwrap();
    assert!(sent.status.success(), "{sent:?}");
    assert_eq!(receiver.end().0, Some(0));
}
