//! The relay whose place a process takes, as that process sees it.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::handover::{read, Handover};
use super::sockets::address;
use crate::daemon::output::Problem;

/// The kind of the socket at which a relay waits for its successor.
pub(super) const KIND: &str = "clearway-relay-successor";
/// The time that either waits for the other.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The request to store whatever comes.
pub(super) const FREEZE: u8 = b'f';
/// The request for all lanes.
pub(super) const HAND_OVER: u8 = b'h';
/// The answer to [`FREEZE`].
pub(super) const DONE: u8 = b'd';

/// Reads one byte, and fails if it is another.
pub(super) fn expect(from: &mut UnixStream, wanted: u8) -> io::Result<()> {
    let mut found = [0];
    from.read_exact(&mut found)?;
    if found[0] == wanted {
        return Ok(());
    }
    Err(ErrorKind::InvalidData.into())
}

/// The relay whose place is taken.
pub struct Predecessor {
    stream: UnixStream,
}

impl Predecessor {
    /// The relay at work between two interfaces; none if there is none.
    pub fn find(local: &str, remote: &str) -> Result<Option<Predecessor>, Problem> {
        let stream = match address(KIND, local, remote).and_then(|address| UnixStream::connect_addr(&address))
        {
            Ok(stream) => stream,
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let bounded =
            stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        bounded.map_err(|error| failed(&error))?;
        Ok(Some(Predecessor { stream }))
    }

    /// Has it store whatever comes.
    pub(super) fn freeze(&mut self) -> Result<(), Problem> {
        let frozen = self.stream.write_all(&[FREEZE]).and_then(|()| expect(&mut self.stream, DONE));
        frozen.map_err(|error| failed(&error))
    }

    /// Takes its lanes, when the programs have taken the place of its own.
    pub(super) fn hand_over(mut self) -> Result<Handover, Problem> {
        let handover = self.stream.write_all(&[HAND_OVER]).and_then(|()| read(&mut self.stream));
        handover.map_err(|error| failed(&error))
    }
}

fn failed(error: &io::Error) -> Problem {
    let message = format!("the relay that is at work here does not hand over: {error}");
    Problem::new(message, "end it, and start this one without --replace")
}
