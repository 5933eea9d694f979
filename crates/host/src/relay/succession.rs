//! A process takes the place of the relay that is at work between two interfaces, and nothing passes by what waits there.
//!
//! | the new one | the old one |
//! |---|---|
//! | loads its programs, all lanes closed, and connects | goes on |
//! | asks it to freeze | stores whatever comes, and sends PFC frames alone |
//! | attaches its programs: whatever comes waits in its devices | |
//! | asks for what there is | reads what was on its way here, sends all that waits, and ends |
//! | lets that wait before all else | |
//!
//! Both speak over a socket without a file, beside that of the status. Only root, or the user that the relay runs as, is answered.

use std::io::{self, ErrorKind, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;
use tracing::error;

use super::handle::{Handle, Succession};
use super::handover::write;
use super::predecessor::{expect, DONE, FREEZE, HAND_OVER, KIND, PATIENCE};
use super::sockets::{accept, address};

/// Waits for a successor, for as long as the process lives.
pub fn serve(local: &str, remote: &str, handle: Arc<Handle>) -> io::Result<()> {
    let listener = UnixListener::bind_addr(&address(KIND, local, remote)?)?;
    let work = move || loop {
        let successor = accept(&listener);
        if may_succeed(&successor) && hand_over(successor, &handle).is_err() {
            handle.thaw();
        }
        if handle.succession() == Succession::HandedOver {
            return;
        }
    };
    std::thread::Builder::new().name("successor".into()).spawn(work).map(|_| ())
}

/// Returns whether a successor is a process of root, or of the user that this one runs as.
fn may_succeed(successor: &UnixStream) -> bool {
    socket_peercred(successor).is_ok_and(|peer| peer.uid.is_root() || peer.uid == geteuid())
}

/// Hands over to a successor. Fails if the successor has given up before it was told everything.
fn hand_over(mut successor: UnixStream, handle: &Handle) -> io::Result<()> {
    successor.set_read_timeout(Some(PATIENCE))?;
    successor.set_write_timeout(Some(PATIENCE))?;
    let gone = || io::Error::from(ErrorKind::BrokenPipe);
    expect(&mut successor, FREEZE)?;
    if !handle.freeze() {
        return Err(gone());
    }
    successor.write_all(&[DONE])?;
    expect(&mut successor, HAND_OVER)?;
    let lanes = handle.hand_over().ok_or_else(gone)?;
    // There is no way back from here: the other's programs have the frames.
    if let Err(error) = write(&mut successor, &lanes) {
        let frames: usize = lanes.iter().map(|lane| lane.frames.len()).sum();
        error!(frames, "frames that waited are lost: the successor has gone ({error})");
    }
    handle.handed_over();
    Ok(())
}
