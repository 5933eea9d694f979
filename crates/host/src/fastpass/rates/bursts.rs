//! The size of the bursts in which the kernel sends for a socket.
//!
//! A socket's pacing holds back what comes after a burst for as long as the burst lasts at its rate. Linux sizes bursts by the rate (a
//! millisecond's worth), but since 5.18 adds up to 64 kB where round trips are short, as in every data centre: at 6 Mb/s the next packet
//! then comes 87 ms later, whatever has been granted since. While sockets are limited this part is off in their network namespace.

use std::fs;
use std::io::ErrorKind;

use crate::tcp::kernel::{error, KernelError};

/// Bursts grow as round trips shrink below 2^this microseconds; 0 for never. Each network namespace has its own.
const SETTING: &str = "/proc/sys/net/ipv4/tcp_tso_rtt_log";
const NEVER: &str = "0";

/// The setting as it was, which it becomes again when this is dropped.
#[derive(Debug)]
pub(super) struct Bursts(Option<String>);

impl Bursts {
    /// Has bursts sized by the rate alone.
    pub(super) fn by_rate() -> Result<Bursts, KernelError> {
        let was = match fs::read_to_string(SETTING) {
            // An older kernel, which does not add to them.
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Bursts(None)),
            was => was.map_err(|e| refused(&e))?.trim().to_string(),
        };
        if was == NEVER {
            return Ok(Bursts(None));
        }
        set(NEVER).map_err(|e| refused(&e))?;
        Ok(Bursts(Some(was)))
    }

    /// The setting as it was; none where it has not been changed.
    pub(super) fn was(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl Drop for Bursts {
    fn drop(&mut self) {
        if let Some(was) = &self.0 {
            let _ = set(was);
        }
    }
}

/// Changes the setting.
pub(super) fn set(value: &str) -> std::io::Result<()> {
    fs::write(SETTING, value)
}

fn refused(e: &std::io::Error) -> KernelError {
    let remedy = "run it as root, or set it before: sysctl net.ipv4.tcp_tso_rtt_log=0";
    error(format!("{SETTING}, which has to be 0: {e}"), remedy)
}
