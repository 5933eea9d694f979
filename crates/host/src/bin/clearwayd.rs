//! The daemon: `clearwayd send` and `clearwayd receive`.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    ExitCode::from(clearway_host::command::run(std::env::args_os().skip(1)))
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("error: clearwayd uses Linux's timestamps and batched system calls\n  run it on Linux");
    ExitCode::from(2)
}
