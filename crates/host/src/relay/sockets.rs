//! Sockets of a relay that have a name and no file: whoever is in the same network namespace finds them.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

use rustix::event::{poll, Timespec};

/// The time before something is tried again that has just failed.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The name of the socket of a kind that the relay between two interfaces has.
pub(super) fn address(kind: &str, local: &str, remote: &str) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("{kind}/{local}/{remote}"))
}

/// Waits for the next client.
pub(super) fn accept(listener: &UnixListener) -> UnixStream {
    loop {
        match listener.accept() {
            Ok((client, _)) => return client,
            // Too few descriptors, for example: the next one who asks may be lucky.
            Err(_) => pause(),
        }
    }
}

/// Waits before something is tried again.
pub(super) fn pause() {
    let _ = poll(&mut [], Some(&PAUSE));
}
