//! What the daemon writes: results on standard output; errors, warnings and progress on standard error.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use clearway_proto::units::{Span, Time};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::daemon::report::goodput_gbps;
use crate::daemon::stops;

/// The time between two lines of progress.
const PROGRESS: Span = Span::from_ms(200);
/// The most bytes that a pipe takes without blocking when it says that it takes some (`PIPE_BUF`).
const AT_ONCE: usize = 4096;
/// The time between two looks whether a signal has come while nobody reads.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// A problem as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The problem, with the option, the file or the address that has it.
    pub message: String,
    /// The remedy.
    pub remedy: Option<String>,
}

impl Problem {
    /// A problem with the remedy for it.
    pub fn new(message: impl Into<String>, remedy: &str) -> Problem {
        Problem { message: message.into(), remedy: Some(remedy.to_string()) }
    }

    /// A problem whose message says all there is to say.
    pub fn bare(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), remedy: None }
    }

    /// The problem as one of a file.
    #[must_use]
    pub fn of_file(self, path: &Path) -> Problem {
        Problem { message: format!("{}: {}", path.display(), self.message), ..self }
    }

    /// Writes the problem to standard error.
    pub fn show(&self) {
        let remedy = self.remedy.as_ref().map_or(String::new(), |remedy| format!("  {remedy}\n"));
        write_error(&format!("error: {}\n{remedy}", self.message));
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        Problem::bare(error.to_string())
    }
}

/// Writes to standard error. Where that is impossible there is nowhere to say so.
pub fn write_error(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes a text to standard output and flushes it, as a reader at a pipe wants it at once. A reader that has gone away
/// is no error.
pub fn print(text: &str) -> Result<(), Problem> {
    for piece in text.as_bytes().chunks(AT_ONCE) {
        match wait_for_reader().and_then(|()| write(piece)) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => {
                let remedy = "write it where there is room, or to /dev/null";
                return Err(Problem::new(format!("standard output: {error}"), remedy));
            }
            Ok(()) => {}
        }
    }
    Ok(())
}

fn write(piece: &[u8]) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(piece)?;
    out.flush()
}

/// Waits until standard output takes something, or a signal has come: a pipe that nobody reads never does.
fn wait_for_reader() -> io::Result<()> {
    loop {
        match poll(&mut [PollFd::new(&io::stdout(), PollFlags::OUT)], Some(&LOOK)) {
            Ok(0) | Err(Errno::INTR) if stops::status().is_some() => {
                return Err(io::Error::other("interrupted, nobody reads it"));
            }
            Ok(0) | Err(Errno::INTR) => {}
            // What is not right shows when it is written to.
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

/// Shows one line of progress on a terminal, over the one before; shows nothing elsewhere.
#[derive(Debug)]
pub struct Progress {
    shown: bool,
    next: Time,
    last: (Time, u64),
    drawn: bool,
}

impl Progress {
    /// The progress of transfers whose result is one JSON object, or a table.
    pub fn new(json: bool) -> Progress {
        let shown = !json && io::stdout().is_terminal() && io::stderr().is_terminal();
        Progress { shown, next: Time::ZERO, last: (Time::ZERO, 0), drawn: false }
    }

    /// Returns whether it is time for another line of progress.
    pub fn is_due(&self, now: Time) -> bool {
        self.shown && now >= self.next
    }

    /// Shows how many bytes of how many have been transferred, and more about them.
    pub fn show(&mut self, now: Time, bytes: u64, of: u64, more: &str) {
        let speed = goodput_gbps(bytes.saturating_sub(self.last.1), now.since(self.last.0)).unwrap_or(0.0);
        let (done, whole) = (bytes as f64 / 1e6, of as f64 / 1e6);
        write_error(&format!("\r\x1b[K{done:.0} of {whole:.0} MB, {speed:.2} Gb/s{more}"));
        (self.last, self.next, self.drawn) = ((now, bytes), now + PROGRESS, true);
    }

    /// Removes the line of progress from the terminal.
    pub fn clear(&mut self) {
        if self.drawn {
            write_error("\r\x1b[K");
            self.drawn = false;
        }
    }
}
