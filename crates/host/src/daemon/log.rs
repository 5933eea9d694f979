//! The log of a daemon: lines for people, or a JSON object a line, on standard error.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{fmt, Registry};

use crate::daemon::args::LogForm;
use crate::daemon::output::Problem;

/// The time in which a [`Sparing`] lets so few lines through, in nanoseconds.
const WINDOW_NS: u64 = 10_000_000_000;
/// Lines that a [`Sparing`] lets through in that time.
const MOST_LINES: u32 = 10;

/// Starts the log of this process. Other crates' own lines are left off unless they are errors.
pub fn start(form: LogForm) -> Result<(), Problem> {
    let ours =
        Targets::new().with_default(LevelFilter::ERROR).with_target("clearway_host", LevelFilter::INFO);
    let lines = fmt::layer().with_writer(io::stderr).with_target(false);
    let started = match form {
        LogForm::Text => {
            let lines = lines.with_ansi(false);
            tracing::subscriber::set_global_default(Registry::default().with(ours).with(lines))
        }
        LogForm::Json => {
            let lines = lines.json().flatten_event(true).with_current_span(false).with_span_list(false);
            tracing::subscriber::set_global_default(Registry::default().with(ours).with(lines))
        }
    };
    started.map_err(|error| Problem::bare(format!("the log: {error}")))
}

/// Writes a problem to the log, with the remedy in a field of its own.
pub fn problem(what: &str, problem: &Problem) {
    let remedy = problem.remedy.as_deref().unwrap_or_default();
    tracing::error!(problem = problem.message, remedy, "{what}");
}

/// Lets some lines through and counts the others, so that strangers who dial cannot fill a disk.
#[derive(Debug, Default)]
pub struct Sparing {
    from_ns: u64,
    lines: u32,
    left_off: u64,
}

impl Sparing {
    /// Returns whether a line may be written at an instant of the monotonic clock, in nanoseconds: then with the number of those that were
    /// left off before it.
    pub fn let_through(&mut self, now_ns: u64) -> Option<u64> {
        if now_ns.saturating_sub(self.from_ns) >= WINDOW_NS {
            (self.from_ns, self.lines) = (now_ns, 0);
        }
        if self.lines == MOST_LINES {
            self.left_off += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.left_off))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_lines_is_counted_and_some_are_written() {
        let mut sparing = Sparing::default();
        let start = 5 * WINDOW_NS;
        let written = (0..1000).filter(|at| sparing.let_through(start + at).is_some()).count();
        assert_eq!(written, MOST_LINES as usize);
        assert_eq!(sparing.let_through(start + WINDOW_NS), Some(1000 - u64::from(MOST_LINES)));
        assert_eq!(sparing.let_through(start + WINDOW_NS), Some(0));
    }
}
