//! A process that lifts limits when the one that set them has died, however it died: sockets keep their rates beyond the program
//! that set them.
//!
//! It reads from a pipe whose other end is held by the process that is watched, and by nobody else: the kernel closes it with the
//! last of that process. The pipe first carries the prefixes of the endpoints, how bursts were set, and the device at which UDP is shaped.

use std::io::{self, BufRead, BufReader, Lines, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::bursts::{self, Bursts};
use super::kernel::{lift, Prefixes};
use super::udp;
use crate::tcp::kernel::{error, KernelError};

/// A line that says that the watcher is there.
const WATCHING: &str = "watching";
/// A line that begins with this says how bursts were set.
const BURSTS: &str = "bursts ";
/// A line that begins with this names the device at which UDP is shaped.
const DEVICE: &str = "device ";
/// A line that ends the prefixes.
const END: &str = "end";

/// Does what the process of [`Settings::watcher`](super::Settings::watcher) is for: returns when the process that has started it is
/// gone and the limits of its sockets are lifted.
///
/// Fails where the kernel does not take the program, or the one that started it says something else than a carriage does.
pub fn run() -> Result<(), KernelError> {
    let failed = |e: String| error(format!("the watcher's standard input: {e}"), "let an endpoint start it");
    let mut lines = io::stdin().lock().lines();
    let (mut prefixes, mut bursts_were, mut device) = (Prefixes::new(), None, None);
    for line in lines.by_ref() {
        let line = line.map_err(|e| failed(e.to_string()))?;
        if line == END {
            break;
        }
        if let Some(were) = line.strip_prefix(BURSTS) {
            bursts_were = Some(were.to_string());
            continue;
        }
        if let Some(named) = line.strip_prefix(DEVICE) {
            device = Some(named.to_string());
            continue;
        }
        let (key, endpoint) = decode(&line).ok_or_else(|| failed(format!("{line}: no prefix")))?;
        prefixes.insert(key, endpoint);
    }
    println!("{WATCHING}");
    let _ = io::stdout().flush();
    // Nothing more is said: this ends with the other process.
    lines.for_each(drop);
    if let Some(device) = device {
        udp::remove(&device);
    }
    if let Some(were) = bursts_were {
        bursts::set(&were)
            .map_err(|e| error(format!("bursts of sockets: {e}"), "see sysctl net.ipv4.tcp_tso_rtt_log"))?;
    }
    lift(&prefixes)
}

fn encode(key: &(u32, [u8; 16]), endpoint: u32) -> String {
    format!("{} {} {endpoint}\n", key.0, u128::from_be_bytes(key.1))
}

fn decode(line: &str) -> Option<((u32, [u8; 16]), u32)> {
    let mut words = line.split(' ');
    let (bits, address, endpoint) = (words.next()?, words.next()?, words.next()?);
    let address: u128 = address.parse().ok()?;
    Some(((bits.parse().ok()?, address.to_be_bytes()), endpoint.parse().ok()?))
}

/// The process that watches this one.
#[derive(Debug)]
pub(super) struct Watcher {
    process: Child,
    input: Option<ChildStdin>,
    /// Its output, held to the end: it would die of a pipe that nobody reads.
    output: Lines<BufReader<ChildStdout>>,
}

impl Watcher {
    /// Starts the watcher, and returns when it watches.
    pub(super) fn start(
        command: &[String],
        prefixes: &Prefixes,
        bursts: &Bursts,
        device: Option<&str>,
    ) -> Result<Option<Watcher>, KernelError> {
        let Some((program, args)) = command.split_first() else { return Ok(None) };
        let failed = |e: &str| {
            let message =
                format!("{program}, which is to lift the limits of sockets if this process dies: {e}");
            error(message, "see that it can be run")
        };
        let mut start = Command::new(program);
        // What ends this process by its group (Ctrl-C) must not end the other.
        start.args(args).process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = start.spawn().map_err(|e| failed(&e.to_string()))?;
        let (mut input, output) = (process.stdin.take(), process.stdout.take());
        let said: String = prefixes.iter().map(|(key, &endpoint)| encode(key, endpoint)).collect();
        let were = bursts.was().map_or(String::new(), |were| format!("{BURSTS}{were}\n"));
        let device = device.map_or(String::new(), |device| format!("{DEVICE}{device}\n"));
        let input_of_it = input.as_mut().expect("it is a pipe");
        let told = input_of_it.write_all(format!("{were}{device}{said}{END}\n").as_bytes());
        let mut output = BufReader::new(output.expect("it is a pipe")).lines();
        let watches = output.any(|line| line.is_ok_and(|line| line == WATCHING));
        let watcher = Watcher { process, input, output };
        match told {
            Ok(()) if watches => Ok(Some(watcher)),
            _ => Err(failed("it ended before it watched")),
        }
    }
}

impl Drop for Watcher {
    /// Has the watcher lift the limits, and waits until that is done.
    fn drop(&mut self) {
        drop(self.input.take());
        self.output.by_ref().for_each(drop);
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_come_back_as_they_went() {
        let key = (120, u128::MAX.to_be_bytes());
        assert_eq!(decode(encode(&key, 7).trim_end()), Some((key, 7)));
        assert_eq!((decode("120"), decode("a b c"), decode("1 2 -3")), (None, None, None));
    }
}
