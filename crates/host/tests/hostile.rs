//! Command lines that nobody means, made from a seed: the daemon ends with a documented status, says what is wrong, and
//! does not panic.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::process::{Command, Stdio};

use crate::network::Random;

const LINES: u64 = 200;
const SEED: u64 = 20_260;

const COMMANDS: [&str; 7] = ["send", "receive", "keys", "help", "sned", "", "--version"];
const OPTIONS: [&str; 28] = [
    "--keys",
    "--name",
    "--peer",
    "--data-port",
    "--to",
    "--file",
    "--operations",
    "--size",
    "--outstanding",
    "--flows",
    "--mtu",
    "--idle-timeout",
    "--listen",
    "--out",
    "-o",
    "--discard",
    "--once",
    "--json",
    "--base-target",
    "--ai",
    "--variant",
    "--pacing",
    "--reach",
    "--max-cwnd",
    "--help",
    "-h",
    "--",
    "--no-such-option",
];
const VALUES: [&str; 40] = [
    "",
    " ",
    "-",
    "--",
    "0",
    "-1",
    "1",
    "1e9",
    "nan",
    "inf",
    "-0.0",
    "1e-400",
    "99999999999999999999999999",
    "0x10",
    "25us",
    "25 us",
    "1.5ps",
    "-5kB",
    "64kB",
    "1PB",
    "18446744073709551616B",
    "0B",
    "65001B",
    "on",
    "yes",
    "parameters",
    "127.0.0.1:9",
    "127.0.0.1:0",
    "127.0.0.1",
    ":9",
    "[::1]:9",
    "[::1",
    "999.1.1.1:9",
    "/",
    "/dev/null",
    "/does/not/exist",
    "a\nb",
    "\u{1b}[31m",
    "ß→🦀",
    "%s%n",
];

fn one_of<'a>(random: &mut Random, of: &[&'a str]) -> &'a str {
    of[random.below(of.len() as u64) as usize]
}

/// A word: an option, a value, both in one, a very long one, or bytes that are no text.
fn word(random: &mut Random) -> OsString {
    match random.below(10) {
        0..4 => one_of(random, &OPTIONS).into(),
        4..8 => one_of(random, &VALUES).into(),
        8 => format!("{}={}", one_of(random, &OPTIONS), one_of(random, &VALUES)).into(),
        _ if random.one(3) => "x".repeat(100_000).into(),
        _ if random.one(2) => OsString::from_vec(vec![b'x', random.next() as u8 | 0x80]),
        _ => OsString::from_vec(vec![b'-', b'-', 0xff, 0xfe, random.next() as u8 | 0x80]),
    }
}

/// A command line: words without a plan, or one that is almost right.
fn line(random: &mut Random) -> Vec<OsString> {
    let mut words: Vec<OsString> = match random.below(4) {
        0 => vec![],
        1 => vec![one_of(random, &COMMANDS).into()],
        2 => ["send", "--to", "127.0.0.1:9", "--operations", "1", "--size", "1kB"].map(OsString::from).into(),
        _ => ["receive", "--listen", "127.0.0.1:0", "--once"].map(OsString::from).into(),
    };
    for _ in 0..=random.below(6) {
        words.push(word(random));
    }
    words
}

/// Runs the line; the time limit ends what waits for a peer.
fn run(words: &[OsString]) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    let mut command = Command::new("timeout");
    let limits = ["--signal=TERM", "--preserve-status", "0.3s", "env", "--default-signal=TERM"];
    command.args(limits).arg(env!("CARGO_BIN_EXE_clearwayd")).args(words);
    let output = command.stdin(Stdio::null()).current_dir("/proc/self").output().unwrap();
    (output.status.code(), output.stdout, output.stderr)
}

#[test]
fn hostile_command_lines_are_answered_with_an_error_that_names_what_is_wrong() {
    let (mut random, mut refused, mut others) = (Random::new(SEED), 0, 0);
    for _ in 0..LINES {
        let words = line(&mut random);
        let (status, out, err) = run(&words);
        let said = String::from_utf8_lossy(&err);
        assert!(!said.contains("panicked"), "{words:?}: {said}");
        if status == Some(2) {
            refused += 1;
            assert!(said.starts_with("error: ") && out.is_empty(), "{words:?}: {said}");
            assert!(names_something(&said, &words), "{words:?}: {said}");
        } else {
            // Help, a transfer to nobody, or a receiver that waits.
            others += 1;
            let documented = [Some(0), Some(1), Some(143)].contains(&status);
            assert!(documented, "{words:?}: {status:?} {said}");
        }
    }
    println!("{refused} refused, {others} others");
    assert!(refused >= LINES / 2);
}

/// The error names a word of the line, an option that is missing, or a command that is.
fn names_something(said: &str, words: &[OsString]) -> bool {
    let shown = |word: &OsStr| {
        let text = word.to_string_lossy();
        let debug = format!("{word:?}");
        let part = text.split('=').next().unwrap_or("").to_string();
        let first_line = text.lines().next().unwrap_or("").to_string();
        [debug, part, first_line].iter().any(|shown| !shown.is_empty() && said.contains(shown.as_str()))
    };
    let missing = [
        "--to <HOST:PORT>",
        "--listen <HOST:PORT>",
        "--size <BYTES>",
        "<--file <FILE>|--operations <N>>",
        "''",
    ];
    words.iter().any(|word| shown(word)) || missing.iter().any(|name| said.contains(name))
}
