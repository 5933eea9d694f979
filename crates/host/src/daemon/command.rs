//! What the daemon does with a command line.

mod agent;
mod channels;
mod fabric;
mod fastpass;
mod keys;
mod outcome;
mod receiving;
#[cfg(feature = "tcp")]
mod relay;
mod sending;
mod status;
#[cfg(feature = "tcp")]
mod tcp;
mod testbed;

use std::ffi::OsString;

use crate::daemon::args::{self, Command};
use crate::daemon::output::{print, Problem};
use crate::daemon::stops;
use outcome::{trouble, BAD_INPUT};

/// Runs a command line, without the program's name, and returns the exit status. A closed standard output is an error,
/// because nothing could be said.
pub fn run(args: impl IntoIterator<Item = OsString>, closed: bool) -> u8 {
    if closed {
        Problem::new("standard output: closed", "redirect it to a file or to /dev/null").show();
        return BAD_INPUT;
    }
    if let Err(error) = stops::listen() {
        trouble("signals", &error).show();
        return BAD_INPUT;
    }
    let done = match args::read(args) {
        Ok(Command::Show(text)) => print(&text).map(|()| 0),
        Ok(Command::Send(args)) => sending::send(&args),
        Ok(Command::Receive(args)) => receiving::receive(&args),
        Ok(Command::Keys(args)) => keys::keys(&args),
        Ok(Command::Agent(args)) => agent::agent(&args),
        Ok(Command::Testbed(args)) => testbed::testbed(&args),
        Ok(Command::Status(args)) => status::status(&args),
        Ok(Command::Arbiter(args)) => fastpass::arbiter(&args),
        Ok(Command::Endpoint(args)) => fastpass::endpoint(&args),
        Ok(Command::Fabric(args)) => fabric::fabric(&args),
        Ok(Command::LiftLimits) => fastpass::lift_limits(),
        #[cfg(feature = "tcp")]
        Ok(Command::Tcp(command)) => tcp::tcp(&command),
        #[cfg(feature = "tcp")]
        Ok(Command::Relay(args)) => relay::relay(&args),
        #[cfg(not(feature = "tcp"))]
        Ok(Command::Tcp(_) | Command::Relay(_)) => Err(Problem::new(
            "this clearwayd was built without programs in the kernel, for want of libelf",
            "install libelf and zlib with their headers, and pkg-config (Debian and Ubuntu: apt-get install libelf-dev zlib1g-dev pkg-config), and build it anew",
        )),
        Err(problems) => {
            problems.iter().for_each(Problem::show);
            return BAD_INPUT;
        }
    };
    done.unwrap_or_else(|problem| {
        problem.show();
        stops::status().unwrap_or(BAD_INPUT)
    })
}
