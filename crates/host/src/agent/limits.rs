//! What this host's kernel has and allows.

use std::fs;
use std::io;

use rustix::process::{getrlimit, setrlimit, Resource, Rlimit};

use super::refusal::Refusal;

/// Descriptors that an agent needs beside its connections.
const SPARE: u64 = 64;

/// Raises the limit of open files as far as this process may, and returns it.
pub fn raise_open_files() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    now.unwrap_or(u64::MAX)
}

/// Refuses a number of connections at once for which there are too few descriptors.
pub fn check_open_files(connections: u64) -> Result<(), Refusal> {
    let limit = raise_open_files();
    if connections.saturating_add(SPARE) <= limit {
        return Ok(());
    }
    let message = format!(
        "{connections} connections at once, and this process may have {limit} files open (RLIMIT_NOFILE)"
    );
    Err(Refusal::input(
        message,
        "raise it: ulimit -Hn before the agent starts, or LimitNOFILE of its systemd unit",
    ))
}

/// Returns whether an error says that no more files can be opened.
pub fn is_out_of_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// The kernel's release.
pub fn kernel() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// The congestion controls that the kernel has loaded.
pub fn congestion_controls() -> Vec<String> {
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    names.split_whitespace().map(str::to_string).collect()
}
