//! Signals that end the daemon: SIGINT, SIGTERM and SIGHUP are noted, so that it cleans up before it ends. Each end
//! looks for them in every pass of its loop. An agent reads its settings again at SIGHUP instead.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

/// The exit status after a signal is this and the signal's number, as shells have it.
pub const STATUS: u8 = 128;
/// The latest signal that was noted; zero stands for none.
static NOTED: AtomicUsize = AtomicUsize::new(0);
/// Whether SIGHUP has come, which is noted by itself: it must not hide a signal that ends the process.
static HUNG_UP: AtomicBool = AtomicBool::new(false);
/// Whether SIGHUP asks for a reload, and not for an end.
static HANGUP_RELOADS: AtomicBool = AtomicBool::new(false);
/// Whether there is nothing to clean up, so that a signal may end the process at once.
static NOTHING_TO_CLEAN: AtomicBool = AtomicBool::new(false);
/// The signal that stands for a limit of a file's length is noted nowhere: the write that met the limit fails.
static LIMIT: AtomicBool = AtomicBool::new(false);

/// Notes the signals from here on; those that were ignored before (`nohup`) still are.
pub fn listen() -> io::Result<()> {
    let ignored = ignored();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        if ignored >> (signal - 1) & 1 == 0 {
            flag::register_conditional_shutdown(signal, i32::from(STATUS) + signal, &NOTHING_TO_CLEAN)?;
            if signal == SIGHUP {
                flag::register(signal, &HUNG_UP)?;
            } else {
                flag::register_usize(signal, &NOTED, signal as usize)?;
            }
        }
    }
    flag::register(SIGXFSZ, &LIMIT)?;
    Ok(())
}

/// The exit status that a signal asks for, if one has come.
pub fn status() -> Option<u8> {
    let ends = !HANGUP_RELOADS.load(Ordering::Relaxed) && HUNG_UP.load(Ordering::Relaxed);
    match NOTED.load(Ordering::Relaxed) {
        0 => ends.then_some(STATUS + SIGHUP as u8),
        signal => Some(STATUS + signal as u8),
    }
}

/// Takes SIGHUP for a wish to reload from here on.
pub fn reload_at_hangup() {
    HANGUP_RELOADS.store(true, Ordering::Relaxed);
}

/// Returns whether SIGHUP has come since this was asked last.
pub fn take_reload() -> bool {
    HUNG_UP.swap(false, Ordering::Relaxed)
}

/// Lets a signal end the process at once while `work` runs, which waits for others and leaves nothing to clean up.
pub fn unless_stopped<T>(work: impl FnOnce() -> T) -> T {
    NOTHING_TO_CLEAN.store(true, Ordering::SeqCst);
    let done = work();
    NOTHING_TO_CLEAN.store(false, Ordering::SeqCst);
    done
}

/// The signals that this process ignores, as the kernel tells: bit `n - 1` stands for signal `n`. Where it does not tell,
/// no signal is taken to be ignored.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
